//! Corners in which the engine once went astray.

use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

fn replicated(replicas: usize) -> ExecutorOptions {
    ExecutorOptions { replicas, worker_threads: Some(1), ..ExecutorOptions::default() }
}

fn variable(graph: &Graph, name: &str, value: Array) -> Result<Variable> {
    let shape = value.shape().to_vec();
    let options = VariableOptions { initializer: Initializer::Constant(value), ..VariableOptions::default() };
    graph.get_variable(name, &shape, options)
}

fn zeros(shape: &[usize], graph: &Graph, name: &str) -> Result<Variable> {
    graph.get_variable(name, shape, VariableOptions { initializer: Initializer::Zeros, ..VariableOptions::default() })
}

#[test]
fn what_failed_before_the_first_step_fails_again() -> Result<()> {
    let graph = Graph::new();
    let values = graph.constant(vec![1.0f32, 2.0, 3.0]);
    let outside = tf::graph::ops::gather(&values, &graph.constant(vec![7i32]), 0)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches: vec![outside], ..Request::default() })?;
    for _ in 0..2 {
        assert_eq!(executor.run(plan, &[]).unwrap_err().code(), "ENGINE002");
    }
    Ok(())
}

#[test]
fn a_value_that_turns_out_to_be_shorter_than_its_variable_is_refused() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let assign = zeros(&[3], &graph, "v")?.assign(&x)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![x], targets: vec![assign], ..Request::default() })?;
    let error = executor.run(plan, &[Array::from(vec![1.0f32, 2.0])]).unwrap_err();
    assert_eq!(error.to_string(), "GRAPH001: Assign: left is [3], right is [2]; a variable keeps its shape");
    executor.run(plan, &[Array::from(vec![1.0f32, 2.0, 3.0])])?;
    assert_eq!(executor.store().get("v")?, Array::from(vec![1.0f32, 2.0, 3.0]));
    Ok(())
}

#[test]
fn a_change_for_all_replicas_reaches_their_own_copies() -> Result<()> {
    let graph = Graph::with_replicas(2);
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[Some(1)]));
    let v = zeros(&[], &graph, "v")?;
    let add = v.assign_add(&tf::reduce_sum(&x, &[])?)?;
    let reset = v.assign(&graph.constant(0.0f32))?;
    let mut executor = Executor::new(&graph, replicated(2))?;
    let add = executor.prepare(&Request { feeds: vec![x], targets: vec![add], ..Request::default() })?;
    let reset = executor.prepare(&Request { targets: vec![reset], ..Request::default() })?;
    let feed = [Array::from(vec![1.0f32, 10.0])];
    executor.run(add, &feed)?;
    executor.run(reset, &[])?;
    executor.run(add, &feed)?;
    assert_eq!(executor.store().get("v")?, Array::from(1.0f32));
    Ok(())
}

#[test]
fn a_sum_over_replicas_can_be_summed_again() -> Result<()> {
    let graph = Graph::with_replicas(4);
    let x = graph.placeholder("x", DType::Float32, Shape::known(&[1]));
    let twice = ops::cross_replica_sum(&ops::cross_replica_sum(&x, None)?, None)?;
    let mut executor = Executor::new(&graph, replicated(4))?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches: vec![twice], ..Request::default() })?;
    executor.run(plan, &[Array::from(vec![1.0f32, 2.0, 3.0, 4.0])])?;
    assert_eq!(executor.output(plan, 0, 0), Array::from(vec![40.0f32]));
    Ok(())
}

#[test]
fn a_variable_without_elements_leaves_its_neighbour_alone() -> Result<()> {
    let graph = Graph::new();
    let (empty, full) = (zeros(&[0, 2], &graph, "empty")?, zeros(&[2], &graph, "full")?);
    let loss = tf::add(&tf::reduce_sum(&empty.value(), &[])?, &tf::reduce_sum(&full.value(), &[])?)?;
    let train_op = tf::train::GradientDescentOptimizer::new(0.5).minimize(&loss, None)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { targets: vec![train_op], ..Request::default() })?;
    executor.run(plan, &[])?;
    assert_eq!(executor.store().get("full")?, Array::from(vec![-0.5f32, -0.5]));
    Ok(())
}

#[test]
fn sizes_beyond_all_bounds_are_refused() -> Result<()> {
    let graph = Graph::new();
    let x = graph.constant(vec![1.0f32, 2.0]);
    assert_eq!(tf::slice(&x, &[usize::MAX], &[1]).unwrap_err().code(), "GRAPH006");
    assert_eq!(tf::reshape(&x, &[isize::MAX, 4]).unwrap_err().code(), "GRAPH001");
    let ids = graph.constant(vec![0i32, 1]);
    let rows = graph.constant(Array::from_vec(&[4, 3], vec![0.0f32; 12])?);
    assert_eq!(tf::unsorted_segment_sum(&rows, &ids, 2).unwrap_err().code(), "GRAPH001");
    let none = ExecutorOptions { replicas: 0, ..ExecutorOptions::default() };
    assert_eq!(Executor::new(&graph, none).unwrap_err().code(), "ENGINE007");
    Ok(())
}

#[test]
fn a_truth_value_cannot_be_added_to() -> Result<()> {
    let graph = Graph::new();
    let options = VariableOptions {
        dtype: DType::Bool,
        initializer: Initializer::Zeros,
        trainable: false,
        ..VariableOptions::default()
    };
    let flag = graph.get_variable("flag", &[], options)?;
    assert_eq!(flag.assign_add(&graph.constant(true)).unwrap_err().code(), "GRAPH004");
    flag.assign(&graph.constant(true))?;
    Ok(())
}

#[test]
fn large_whole_numbers_are_rounded_once() -> Result<()> {
    let number = 9_007_199_791_611_905i64;
    assert_eq!(Array::from(number).cast(DType::Float32)?, Array::from(number as f32));
    Ok(())
}

#[test]
fn what_no_integer_is_near_becomes_the_smallest_one() -> Result<()> {
    let graph = Graph::new();
    let x = graph.constant(vec![f64::NAN, f64::INFINITY, -1e300, 2147483647.9, -2147483648.9, 2147483648.0, -1.9]);
    let fetches = vec![tf::cast(&x, DType::Int32)?, tf::cast(&x, DType::Int64)?];
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches, ..Request::default() })?;
    executor.run(plan, &[])?;
    let (small, large) = (i32::MIN, i64::MIN);
    assert_eq!(executor.output(plan, 0, 0), Array::from(vec![small, small, small, i32::MAX, small, small, -1]));
    let expected = vec![large, large, large, 2147483647, -2147483648, 2147483648, -1];
    assert_eq!(executor.output(plan, 1, 0), Array::from(expected));
    Ok(())
}

#[test]
fn a_bias_s_gradient_that_all_replicas_share_reaches_each() -> Result<()> {
    let graph = Graph::with_replicas(2);
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(2)]));
    let (w, b) = (zeros(&[2, 3], &graph, "w")?, zeros(&[3], &graph, "b")?);
    let y = ops::bias_add(&ops::matmul(&x, &w.value())?, &b.value())?;
    // The loss's derivative by `y` is 1 everywhere, the kernel's gradient each replica's own.
    let fetches = gradients(&ops::reduce_sum(&y, &[])?, &[w, b])?.into_iter().flatten().collect();
    let mut executor = Executor::new(&graph, replicated(2))?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches, ..Request::default() })?;
    executor.run(plan, &[Array::from_vec(&[4, 2], (0..8).map(|index| index as f32).collect())?])?;
    for (replica, sums) in [[2.0f32, 4.0], [10.0, 12.0]].into_iter().enumerate() {
        let of_kernel = sums.iter().flat_map(|&sum| [sum; 3]).collect();
        assert_eq!(executor.output(plan, 0, replica), Array::from_vec(&[2, 3], of_kernel)?);
        assert_eq!(executor.output(plan, 1, replica), Array::from(vec![2.0f32; 3]));
    }
    Ok(())
}

#[test]
fn losses_that_all_replicas_share_may_be_weighted_by_each() -> Result<()> {
    let graph = Graph::with_replicas(2);
    let weights = graph.placeholder("weights", DType::Float32, Shape::new(&[None]));
    let logits = zeros(&[2, 2], &graph, "logits")?;
    let labels = graph.constant(vec![0i32, 1]);
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&labels, &logits.value())?;
    let loss = ops::reduce_sum(&ops::multiply(&losses, &weights)?, &[])?;
    let gradient = gradients(&loss, &[logits])?[0].clone().expect("the loss depends on it");
    let mut executor = Executor::new(&graph, replicated(2))?;
    let request = Request { feeds: vec![weights], fetches: vec![losses, gradient], ..Request::default() };
    let plan = executor.prepare(&request)?;
    executor.run(plan, &[Array::from(vec![2.0f32, 4.0, 6.0, 8.0])])?;
    for (replica, [first, second]) in [[1.0f32, 2.0], [3.0, 4.0]].into_iter().enumerate() {
        assert_eq!(executor.output(plan, 0, replica), Array::from(vec![2.0f32.ln(); 2]));
        let expected = Array::from_vec(&[2, 2], vec![-first, first, second, -second])?;
        assert_eq!(executor.output(plan, 1, replica), expected);
    }
    Ok(())
}

#[test]
fn a_single_number_is_fed_to_every_replica() -> Result<()> {
    let graph = Graph::with_replicas(2);
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let factor = graph.placeholder("factor", DType::Float32, Shape::scalar());
    let product = (&x * &factor)?;
    let mut executor = Executor::new(&graph, replicated(2))?;
    let plan = executor.prepare(&Request { feeds: vec![x, factor], fetches: vec![product], ..Request::default() })?;
    executor.run(plan, &[Array::from(vec![1.0f32, 2.0, 3.0, 4.0]), Array::from(2.0f32)])?;
    assert_eq!(executor.concatenated(plan, 0), Array::from(vec![2.0f32, 4.0, 6.0, 8.0]));
    Ok(())
}

#[test]
fn one_row_s_derivative_may_be_multiplied_by_many_factors() -> Result<()> {
    let graph = Graph::new();
    let logits = graph.placeholder("logits", DType::Float32, Shape::new(&[Some(1), Some(2)]));
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&graph.constant(vec![0i32]), &logits)?;
    let derivative = graph.tensor(&losses.name().replace(":0", ":1"))?;
    let product = ops::multiply(&derivative, &graph.constant(Array::from_vec(&[2, 1], vec![2.0f32, 4.0])?))?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![logits], fetches: vec![product], ..Request::default() })?;
    executor.run(plan, &[Array::from_vec(&[1, 2], vec![0.0f32; 2])?])?;
    assert_eq!(executor.output(plan, 0, 0), Array::from_vec(&[2, 2], vec![-1.0f32, 1.0, -2.0, 2.0])?);
    Ok(())
}

#[test]
fn a_bias_may_change_between_the_product_and_its_sum() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(1)]));
    let w = variable(&graph, "w", Array::from_vec(&[1, 1], vec![3.0f32])?)?;
    let b = zeros(&[1], &graph, "b")?;
    let product = ops::matmul(&x, &w.value())?;
    let change = graph.control_dependencies(&[product.op()], || b.assign_add(&graph.constant(vec![1.0f32])))?;
    let changed = graph.control_dependencies(&[change], || ops::identity(&b.value()))?;
    let y = ops::bias_add(&product, &changed)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches: vec![y], ..Request::default() })?;
    executor.run(plan, &[Array::from_vec(&[1, 1], vec![2.0f32])?])?;
    assert_eq!(executor.output(plan, 0, 0), Array::from_vec(&[1, 1], vec![7.0f32])?);
    Ok(())
}

#[test]
fn a_second_relu_may_wait_for_the_first_one_s_gradient() -> Result<()> {
    let graph = Graph::new();
    let w = variable(&graph, "w", Array::from(vec![1.0f32, -2.0]))?;
    let doubled = (&w.value() * 2.0)?;
    let loss = ops::reduce_sum(&ops::relu(&doubled)?, &[])?;
    let gradient = gradients(&loss, std::slice::from_ref(&w))?[0].clone().expect("the loss depends on it");
    let update = w.assign_sub(&gradient)?;
    let again = graph.control_dependencies(&[update], || ops::relu(&doubled))?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches: vec![again], ..Request::default() })?;
    executor.run(plan, &[])?;
    assert_eq!(executor.output(plan, 0, 0), Array::from(vec![2.0f32, 0.0]));
    assert_eq!(executor.store().get("w")?, Array::from(vec![-1.0f32, -2.0]));
    Ok(())
}

#[test]
fn arithmetic_on_constants_passes_control_dependencies_on() -> Result<()> {
    let graph = Graph::with_replicas(2);
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[Some(1)]));
    let checked = ops::check_numerics(&x, "first")?;
    let two = graph.constant(2.0f32);
    let four = graph.control_dependencies(&[checked.op()], || ops::multiply(&two, &two))?;
    let count = zeros(&[], &graph, "count")?;
    let add = graph.control_dependencies(&[four.op()], || count.assign_add(&graph.constant(1.0f32)))?;
    let mut executor = Executor::new(&graph, replicated(2))?;
    let plan = executor.prepare(&Request { feeds: vec![x], targets: vec![add], ..Request::default() })?;
    executor.run(plan, &[Array::from(vec![1.0f32, f32::NAN])]).unwrap_err();
    assert_eq!(executor.store().get("count")?, Array::from(0.0f32), "the check comes first");
    Ok(())
}

#[test]
fn the_cross_entropy_over_no_classes_is_zero() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, None]));
    let losses = ops::softmax_cross_entropy_with_logits(&x, &x)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches: vec![losses], ..Request::default() })?;
    executor.run(plan, &[Array::full(&[2, 3], 1.0f32)])?;
    executor.run(plan, &[Array::from_vec(&[2, 0], Vec::<f32>::new())?])?;
    assert_eq!(executor.output(plan, 0, 0), Array::from(vec![0.0f32; 2]));
    Ok(())
}
