//! When values are read and written, what fetching does, and what plans share.

use tpulab::engine::{Executor, ExecutorOptions, PlanId, Request};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

#[test]
fn a_read_sees_the_value_from_the_start_of_the_step() -> Result<()> {
    let graph = Graph::new();
    let w = scalar(&graph, "w", 1.0)?;
    let assign = w.assign(&graph.constant(5.0f32))?;
    let read = w.value();
    let mut run = Run::new(&graph, vec![read], vec![assign])?;
    assert_eq!(run.step()?, [1.0]);
    assert_eq!(run.variable("w")?, [5.0]);
    assert_eq!(run.step()?, [5.0]);
    Ok(())
}

#[test]
fn what_is_computed_from_a_read_sees_the_old_value_too() -> Result<()> {
    let graph = Graph::new();
    let w = scalar(&graph, "w", 3.0)?;
    let assign = w.assign(&graph.constant(5.0f32))?;
    let squared = ops::square(&w.value())?;
    let identity = ops::identity(&w.value())?;
    let mut run = Run::new(&graph, vec![squared, identity], vec![assign])?;
    assert_eq!(run.step()?, [9.0, 3.0]);
    assert_eq!(run.step()?, [25.0, 5.0]);
    Ok(())
}

#[test]
fn control_dependencies_make_a_read_see_the_new_value() -> Result<()> {
    let graph = Graph::new();
    let w = scalar(&graph, "w", 1.0)?;
    let before = w.value();
    let add = w.assign_add(&graph.constant(2.0f32))?;
    let after = graph.control_dependencies(&[add], || w.value());
    let difference = ops::subtract(&after, &before)?;
    // Fetching the later read alone runs what it waits for.
    let mut run = Run::new(&graph, vec![before, after, difference], vec![])?;
    assert_eq!(run.step()?, [1.0, 3.0, 2.0]);
    assert_eq!(run.step()?, [3.0, 5.0, 2.0]);
    Ok(())
}

#[test]
fn a_chain_of_control_dependencies_runs_in_its_order() -> Result<()> {
    let graph = Graph::new();
    let w = scalar(&graph, "w", 1.0)?;
    let double = w.assign(&(&w.value() * 2.0)?)?;
    let after_double = graph.control_dependencies(&[double], || w.value());
    let increment = w.assign(&(&after_double + 1.0)?)?;
    let after_both = graph.control_dependencies(&[increment], || w.value());
    let mut run = Run::new(&graph, vec![after_both, after_double, w.value()], vec![])?;
    assert_eq!(run.step()?, [3.0, 2.0, 1.0]);
    assert_eq!(run.step()?, [7.0, 6.0, 3.0]);
    Ok(())
}

#[test]
fn reads_that_wait_for_each_others_changes_run() -> Result<()> {
    let graph = Graph::new();
    let (a, b) = (scalar(&graph, "a", 1.0)?, scalar(&graph, "b", 10.0)?);
    let (old_a, old_b) = (a.value(), b.value());
    let one = graph.constant(1.0f32);
    let (change_a, change_b) = ([a.assign_add(&one)?], [b.assign_add(&one)?]);
    // Old values used behind the other variable's change.
    let left = graph.control_dependencies(&change_b, || ops::square(&old_a))?;
    let right = graph.control_dependencies(&change_a, || ops::square(&old_b))?;
    assert_eq!(Run::new(&graph, vec![left, right], vec![])?.step()?, [1.0, 100.0]);
    // Reads behind the other's change: not both can come before their own.
    let later_a = graph.control_dependencies(&change_b, || a.value());
    let later_b = graph.control_dependencies(&change_a, || b.value());
    assert_eq!(Run::new(&graph, vec![later_a, later_b], vec![])?.step()?, [1.0, 11.0]);
    Ok(())
}

#[test]
fn adding_to_a_variable_and_taking_away_count_in_every_dtype() -> Result<()> {
    let graph = Graph::new();
    let whole = variable(&graph, "whole", Array::from(vec![i32::MAX, 1]))?;
    let long = variable(&graph, "long", Array::from(vec![1i64, 2]))?;
    let targets =
        vec![whole.assign_add(&graph.constant(vec![1, 1]))?, long.assign_sub(&graph.constant(vec![5i64, i64::MAX]))?];
    let mut run = Run::new(&graph, vec![], targets)?;
    run.step()?;
    assert_eq!(run.executor.store().get("whole")?, Array::from(vec![i32::MIN, 2]));
    assert_eq!(run.executor.store().get("long")?, Array::from(vec![-4i64, 2 - i64::MAX]));
    Ok(())
}

#[test]
fn a_variable_can_be_assigned_from_another() -> Result<()> {
    let graph = Graph::new();
    let a = scalar(&graph, "a", 1.0)?;
    let b = scalar(&graph, "b", 10.0)?;
    let targets = vec![a.assign(&b.value())?, b.assign_add(&graph.constant(1.0f32))?];
    let mut run = Run::new(&graph, vec![], targets)?;
    run.step()?;
    assert_eq!((run.variable("a")?, run.variable("b")?), (vec![10.0], vec![11.0]));
    run.step()?;
    assert_eq!((run.variable("a")?, run.variable("b")?), (vec![11.0], vec![12.0]));
    Ok(())
}

#[test]
fn two_variables_exchange_their_values() -> Result<()> {
    let graph = Graph::new();
    let a = scalar(&graph, "a", 1.0)?;
    let b = scalar(&graph, "b", 2.0)?;
    let targets = vec![a.assign(&b.value())?, b.assign(&a.value())?];
    let mut run = Run::new(&graph, vec![], targets)?;
    run.step()?;
    assert_eq!((run.variable("a")?, run.variable("b")?), (vec![2.0], vec![1.0]));
    Ok(())
}

#[test]
fn a_variable_is_added_to_itself() -> Result<()> {
    let graph = Graph::new();
    let a = variable(&graph, "a", Array::from(vec![1.0f32, 2.0]))?;
    let mut run = Run::new(&graph, vec![], vec![a.assign_add(&a.value())?])?;
    run.step()?;
    assert_eq!(run.variable("a")?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn a_metric_fetched_with_its_update_gives_the_value_before() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let total = scalar(&graph, "total", 0.0)?;
    let count = scalar(&graph, "count", 0.0)?;
    let value = ops::div_no_nan(&total.value(), &count.value())?;
    let rows = ops::cast(&ops::size(&x)?, DType::Float32)?;
    let updates = [total.assign_add(&ops::reduce_sum(&x, &[])?)?, count.assign_add(&rows)?];
    let update = graph.control_dependencies(&updates, || ops::div_no_nan(&total.value(), &count.value()))?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let request = Request { feeds: vec![x], fetches: vec![value, update], ..Request::default() };
    let plan = executor.prepare(&request)?;
    for (batch, before, after) in [(vec![1.0f32, 3.0], 0.0, 2.0), (vec![8.0], 2.0, 4.0), (vec![], 4.0, 4.0)] {
        executor.run(plan, &[Array::from(batch)])?;
        assert_eq!((executor.scalar(plan, 0, 0), executor.scalar(plan, 1, 0)), (before, after));
    }
    Ok(())
}

#[test]
fn a_group_runs_all_that_it_holds() -> Result<()> {
    let graph = Graph::new();
    let a = scalar(&graph, "a", 1.0)?;
    let b = scalar(&graph, "b", 1.0)?;
    let one = graph.constant(1.0f32);
    let updates = graph.group(&[a.assign_add(&one)?, b.assign_sub(&one)?], "updates")?;
    graph.add_update_op(&updates);
    let train = graph.control_dependencies(&graph.update_ops(), || a.assign_add(&one))?;
    let mut run = Run::new(&graph, vec![], vec![graph.group(&[train], "train")?])?;
    run.step()?;
    assert_eq!((run.variable("a")?, run.variable("b")?), (vec![3.0], vec![0.0]));
    Ok(())
}

#[test]
fn a_batch_may_be_shorter_or_longer_than_the_last_one() -> Result<()> {
    let model = Model::new()?;
    let mut executor = Executor::new(&model.graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&model.request(false))?;
    for rows in [6, 2, 5, 1, 6, 9] {
        let feed = model.batch(rows)?;
        executor.run(plan, &feed)?;
        let mut fresh = Executor::new(&model.graph, ExecutorOptions::default())?;
        let fresh_plan = fresh.prepare(&model.request(false))?;
        fresh.run(fresh_plan, &feed)?;
        for fetch in 0..executor.plan(plan).fetch_count() {
            assert_eq!(
                executor.output(plan, fetch, 0),
                fresh.output(fresh_plan, fetch, 0),
                "fetch {fetch}, {rows} rows"
            );
        }
    }
    Ok(())
}

#[test]
fn a_batch_without_rows_has_a_sum_of_zero() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(2)]));
    let fetches = vec![ops::reduce_sum(&x, &[])?, ops::reduce_mean(&x, &[])?, ops::reduce_max(&x, &[])?];
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches, ..Request::default() })?;
    executor.run(plan, &[Array::from_vec(&[0, 2], Vec::<f32>::new())?])?;
    let found: Vec<f64> = (0..3).map(|fetch| executor.scalar(plan, fetch, 0)).collect();
    assert!(found[0] == 0.0 && found[1].is_nan() && found[2] == f64::NEG_INFINITY, "{found:?}");
    Ok(())
}

#[test]
fn fused_and_unfused_plans_give_the_same_bits() -> Result<()> {
    let model = Model::new()?;
    let mut executor = Executor::new(&model.graph, ExecutorOptions::default())?;
    let [fused, unfused] = [false, true].map(|unfused| executor.prepare(&model.request(unfused)));
    let (fused, unfused) = (fused?, unfused?);
    assert!(executor.plan(fused).step_count() < executor.plan(unfused).step_count());
    let feed = model.batch(7)?;
    executor.run(fused, &feed)?;
    executor.run(unfused, &feed)?;
    for fetch in 0..executor.plan(fused).fetch_count() {
        assert_eq!(bits(&executor, fused, fetch)?, bits(&executor, unfused, fetch)?, "fetch {fetch}");
    }
    Ok(())
}

#[test]
fn a_fetched_intermediate_value_undoes_the_fusion_and_changes_nothing() -> Result<()> {
    let model = Model::new()?;
    let mut executor = Executor::new(&model.graph, ExecutorOptions::default())?;
    let fused = executor.prepare(&model.request(false))?;
    let mut request = model.request(false);
    request.fetches.extend(model.between.clone());
    let kept = executor.prepare(&request)?;
    let feed = model.batch(7)?;
    executor.run(fused, &feed)?;
    executor.run(kept, &feed)?;
    assert!(executor.plan(fused).step_count() < executor.plan(kept).step_count());
    for fetch in 0..executor.plan(fused).fetch_count() {
        assert_eq!(bits(&executor, fused, fetch)?, bits(&executor, kept, fetch)?, "fetch {fetch}");
    }
    let [product, sum] = [0, 1].map(|index| executor.output(kept, executor.plan(fused).fetch_count() + index, 0));
    // The bias is [0.5, -0.25, 0.125].
    for (product, sum) in product.to_f64_vec()?.chunks(3).zip(sum.to_f64_vec()?.chunks(3)) {
        for (column, bias) in [0.5f32, -0.25, 0.125].into_iter().enumerate() {
            assert_eq!(product[column] as f32 + bias, sum[column] as f32);
        }
    }
    Ok(())
}

#[test]
fn the_same_request_finds_its_plan_again() -> Result<()> {
    let model = Model::new()?;
    let mut executor = Executor::new(&model.graph, ExecutorOptions::default())?;
    let first = executor.prepare(&model.request(false))?;
    assert_ne!(executor.prepare(&model.request(true))?, first);
    assert_eq!(executor.prepare(&model.request(false))?, first);
    Ok(())
}

#[test]
fn plans_over_one_store_see_each_others_variables() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let w = scalar(&graph, "w", 1.0)?;
    let product = ops::reduce_sum(&ops::multiply(&x, &w.value())?, &[])?;
    let train = w.assign_add(&graph.constant(1.0f32))?;
    for replicas in [1, 4] {
        let mut executor = Executor::new(&graph, ExecutorOptions { replicas, ..ExecutorOptions::default() })?;
        let train = executor.prepare(&Request { targets: vec![train.clone()], ..Request::default() })?;
        let evaluate = executor.prepare(&Request {
            feeds: vec![x.clone()],
            fetches: vec![product.clone()],
            ..Request::default()
        })?;
        let feed = [Array::from(vec![1.0f32; 4])];
        for expected in [2.0, 3.0] {
            executor.run(train, &[])?;
            executor.run(evaluate, &feed)?;
            assert_eq!(executor.scalar(evaluate, 0, 0), expected * 4.0 / replicas as f64);
        }
        executor.store_mut().set("w", &Array::from(7.0f32))?;
        executor.run(evaluate, &feed)?;
        assert_eq!(executor.scalar(evaluate, 0, 0), 28.0 / replicas as f64);
        executor.run(train, &[])?;
        assert_eq!(executor.store().get("w")?, Array::from(8.0f32));
    }
    Ok(())
}

#[test]
fn an_optimizers_gradient_may_be_a_variable() -> Result<()> {
    let graph = Graph::new();
    let w = variable(&graph, "w", Array::from(vec![1.0f32, 2.0]))?;
    let loss = ops::l2_loss(&w.value())?;
    let train = tpulab::train::GradientDescentOptimizer::new(0.5).minimize(&loss, None)?;
    // d(Σ w² / 2) is w itself.
    let mut run = Run::new(&graph, vec![], vec![train])?;
    run.step()?;
    assert_eq!(run.variable("w")?, [0.5, 1.0]);
    Ok(())
}

/// Two layers with their gradients, and the values that fusion would hide.
struct Model {
    graph: Graph,
    feeds: Vec<Tensor>,
    fetches: Vec<Tensor>,
    between: Vec<Tensor>,
}

impl Model {
    fn new() -> Result<Self> {
        let graph = Graph::new();
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let y = graph.placeholder("y", DType::Int32, Shape::new(&[None]));
        let weights = graph.get_variable("w", &[4, 3], VariableOptions::default())?;
        let bias = variable(&graph, "b", Array::from(vec![0.5f32, -0.25, 0.125]))?;
        let last = graph.get_variable("v", &[3, 3], VariableOptions::default())?;
        let product = ops::matmul(&x, &weights.value())?;
        let sum = ops::bias_add(&product, &bias.value())?;
        let hidden = ops::relu(&sum)?;
        let logits = ops::matmul(&hidden, &last.value())?;
        let losses = ops::sparse_softmax_cross_entropy_with_logits(&y, &logits)?;
        let loss = ops::reduce_mean(&losses, &[])?;
        let gradients = gradients(&loss, &[weights, bias, last])?;
        let fetches = [loss, logits].into_iter().chain(gradients.into_iter().flatten()).collect();
        Ok(Model { graph, feeds: vec![x, y], fetches, between: vec![product, sum] })
    }

    fn request(&self, unfused: bool) -> Request {
        Request { feeds: self.feeds.clone(), fetches: self.fetches.clone(), unfused, ..Request::default() }
    }

    fn batch(&self, rows: usize) -> Result<[Array; 2]> {
        let features = (0..rows * 4).map(|index| (index as f32 * 0.7 + rows as f32).sin()).collect();
        let labels: Vec<i32> = (0..rows as i32).map(|row| row % 3).collect();
        Ok([Array::from_vec(&[rows, 4], features)?, Array::from(labels)])
    }
}

/// A plan that is fed nothing and fetches numbers.
struct Run {
    executor: Executor,
    plan: PlanId,
    fetches: usize,
}

impl Run {
    fn new(graph: &Graph, fetches: Vec<Tensor>, targets: Vec<Operation>) -> Result<Self> {
        let mut executor = Executor::new(graph, ExecutorOptions::default())?;
        let count = fetches.len();
        let plan = executor.prepare(&Request { fetches, targets, ..Request::default() })?;
        Ok(Run { executor, plan, fetches: count })
    }

    fn step(&mut self) -> Result<Vec<f64>> {
        self.executor.run(self.plan, &[])?;
        Ok((0..self.fetches).map(|fetch| self.executor.scalar(self.plan, fetch, 0)).collect())
    }

    fn variable(&mut self, name: &str) -> Result<Vec<f64>> {
        self.executor.store().get(name)?.to_f64_vec()
    }
}

fn scalar(graph: &Graph, name: &str, value: f32) -> Result<Variable> {
    variable(graph, name, Array::from(value))
}

fn variable(graph: &Graph, name: &str, value: Array) -> Result<Variable> {
    let shape = value.shape().to_vec();
    let options = VariableOptions {
        dtype: value.dtype(),
        initializer: Initializer::Constant(value),
        ..VariableOptions::default()
    };
    graph.get_variable(name, &shape, options)
}

fn bits(executor: &Executor, plan: PlanId, fetch: usize) -> Result<Vec<u32>> {
    Ok(executor.output(plan, fetch, 0).as_slice::<f32>()?.iter().map(|value| value.to_bits()).collect())
}
