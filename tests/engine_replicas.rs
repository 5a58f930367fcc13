//! Many replicas: equal to one on the whole batch, drifting where they should, and the same bits on any threads.

use tpulab::engine::{Executor, ExecutorOptions, PlanId, Precision, Request};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

#[test]
fn eight_replicas_equal_one_on_the_whole_batch() -> Result<()> {
    let mut one = Training::new(Kind::Plain, 1, None, Precision::Float64)?;
    let mut eight = Training::new(Kind::Summed, 8, None, Precision::Float64)?;
    for step in 0..20 {
        one.step(step)?;
        eight.step(step)?;
    }
    for name in ["w", "b"] {
        let (one, eight) = (one.variable(name)?.to_f64_vec()?, eight.variable(name)?.to_f64_vec()?);
        for (one, eight) in one.iter().zip(&eight) {
            // The order of a sum of 16 numbers matters by 1e-16 a step.
            assert!((one - eight).abs() < 1e-12, "{name}: {one} and {eight}");
        }
    }
    Ok(())
}

#[test]
fn each_replica_sees_its_own_rows_in_order() -> Result<()> {
    let graph = Graph::with_replicas(4);
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let local = ops::reduce_sum(&x, &[])?;
    let total = ops::cross_replica_sum(&local, None)?;
    let pairs = ops::cross_replica_sum(&local, Some(vec![vec![0, 2], vec![1, 3]]))?;
    let mut executor = Executor::new(&graph, ExecutorOptions { replicas: 4, ..ExecutorOptions::default() })?;
    let request = Request { feeds: vec![x.clone()], fetches: vec![local, total, pairs, x], ..Request::default() };
    let plan = executor.prepare(&request)?;
    executor.run(plan, &[Array::from((1..=8).map(|row| row as f32).collect::<Vec<_>>())])?;
    let of_each = |fetch| (0..4).map(|replica| executor.scalar(plan, fetch, replica)).collect::<Vec<_>>();
    assert_eq!(of_each(0), [3.0, 7.0, 11.0, 15.0]);
    assert_eq!(of_each(1), [36.0; 4]);
    assert_eq!(of_each(2), [14.0, 22.0, 14.0, 22.0]);
    assert_eq!(executor.concatenated(plan, 3).to_f64_vec()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(executor.concatenated(plan, 0).shape(), [4]);
    Ok(())
}

#[test]
fn groups_drift_apart_and_the_first_replica_is_kept() -> Result<()> {
    let mut grouped = Training::new(Kind::Grouped, 8, None, Precision::Float32)?;
    for step in 0..5 {
        grouped.step(step)?;
    }
    let kept = grouped.variable("w")?;
    let of_each = grouped.weights_of_each(5)?;
    for replica in 0..8 {
        assert_eq!(of_each[replica], of_each[replica % 2], "replica {replica} follows its group");
    }
    assert_ne!(of_each[0], of_each[1]);
    assert_eq!(kept, of_each[0]);
    Ok(())
}

#[test]
fn replicas_without_a_sum_all_drift() -> Result<()> {
    let mut alone = Training::new(Kind::Plain, 8, None, Precision::Float32)?;
    for step in 0..3 {
        alone.step(step)?;
    }
    let kept = alone.variable("w")?;
    let of_each = alone.weights_of_each(3)?;
    for (replica, weights) in of_each.iter().enumerate() {
        assert!(!of_each[..replica].contains(weights), "replica {replica} has weights of its own");
    }
    assert_eq!(kept, of_each[0]);
    Ok(())
}

#[test]
fn replicas_with_a_sum_stay_one() -> Result<()> {
    let mut summed = Training::new(Kind::Summed, 8, None, Precision::Float32)?;
    for step in 0..3 {
        summed.step(step)?;
    }
    let of_each = summed.weights_of_each(3)?;
    assert!(of_each.iter().all(|weights| *weights == of_each[0]));
    Ok(())
}

#[test]
fn a_group_of_all_replicas_is_the_sum_over_all() -> Result<()> {
    let mut summed = Training::new(Kind::Summed, 8, None, Precision::Float32)?;
    let mut whole = Training::new(Kind::WholeGroup, 8, None, Precision::Float32)?;
    for step in 0..3 {
        summed.step(step)?;
        whole.step(step)?;
    }
    assert_eq!(summed.variable("w")?, whole.variable("w")?);
    Ok(())
}

#[test]
fn setting_a_variable_ends_the_drift() -> Result<()> {
    let mut alone = Training::new(Kind::Plain, 8, None, Precision::Float32)?;
    alone.step(0)?;
    let zeros = Array::from_vec(&[4, 3], vec![0.0f32; 12])?;
    alone.executor.store_mut().set("w", &zeros)?;
    let of_each = alone.weights_of_each(1)?;
    assert!(of_each.iter().all(|weights| *weights == zeros), "{of_each:?}");
    Ok(())
}

#[test]
fn threads_change_no_bit() -> Result<()> {
    for kind in [Kind::Plain, Kind::Summed, Kind::Grouped, Kind::Dropout] {
        let run = |threads: usize| -> Result<(Vec<u64>, Vec<Array>)> {
            let mut training = Training::new(kind, 8, Some(threads), Precision::Float32)?;
            let mut losses = Vec::new();
            for step in 0..50 {
                training.step(step)?;
                losses.extend(training.losses().iter().map(|loss| loss.to_bits()));
            }
            let weights = training.weights_of_each(50)?;
            Ok((losses, weights))
        };
        let one = run(1)?;
        for threads in [2, 4, 8, 20] {
            assert!(run(threads)? == one, "{kind:?}: {threads} threads give other bits than one");
        }
    }
    Ok(())
}

#[test]
fn dropout_draws_another_stream_on_each_replica_and_at_each_step() -> Result<()> {
    let graph = Graph::with_replicas(4);
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let dropped = ops::dropout(&x, 0.5)?;
    let mut executor = Executor::new(&graph, ExecutorOptions { replicas: 4, ..ExecutorOptions::default() })?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches: vec![dropped], ..Request::default() })?;
    let feed = [Array::full(&[4 * 64], 1.0f32)];
    let mut draw = |step| -> Result<Vec<Array>> {
        executor.set_step(step);
        executor.run(plan, &feed)?;
        Ok((0..4).map(|replica| executor.output(plan, 0, replica)).collect())
    };
    let (first, second, again) = (draw(7)?, draw(8)?, draw(7)?);
    assert_eq!(first, again);
    let mut seen: Vec<&Array> = Vec::new();
    for array in first.iter().chain(&second) {
        assert!(!seen.contains(&array), "64 coins fell alike twice");
        seen.push(array);
    }
    Ok(())
}

#[test]
fn an_evaluation_between_steps_sees_the_first_replica_and_disturbs_none() -> Result<()> {
    let mut watched = Training::new(Kind::Grouped, 4, Some(2), Precision::Float32)?;
    let mut unwatched = Training::new(Kind::Grouped, 4, Some(2), Precision::Float32)?;
    for step in 0..6 {
        watched.step(step)?;
        let kept = watched.variable("w")?;
        watched.executor.run(watched.evaluate, &[])?;
        assert_eq!(watched.executor.output(watched.evaluate, 0, 3), kept);
        unwatched.step(step)?;
    }
    assert_eq!(watched.weights_of_each(6)?, unwatched.weights_of_each(6)?);
    Ok(())
}

/// How the gradients of replicas meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// They do not.
    Plain,
    /// As `CrossShardOptimizer` has it.
    Summed,
    /// The same inside the even and the odd replicas.
    Grouped,
    /// One group of all.
    WholeGroup,
    /// Summed, with dropout before.
    Dropout,
}

/// A layer under gradient descent with momentum, written out.
struct Training {
    executor: Executor,
    train: PlanId,
    /// Fetches the weights alone.
    evaluate: PlanId,
    replicas: usize,
}

impl Training {
    fn new(kind: Kind, replicas: usize, worker_threads: Option<usize>, precision: Precision) -> Result<Self> {
        let graph = Graph::with_replicas(replicas);
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let y = graph.placeholder("y", DType::Int32, Shape::new(&[None]));
        let start = (0..12).map(|index| (index as f32).sin()).collect();
        let w = variable(&graph, "w", Array::from_vec(&[4, 3], start)?)?;
        let b = variable(&graph, "b", Array::from(vec![0.0f32; 3]))?;
        let input = if kind == Kind::Dropout { ops::dropout(&x, 0.3)? } else { x.clone() };
        let logits = ops::bias_add(&ops::matmul(&input, &w.value())?, &b.value())?;
        let loss = ops::reduce_mean(&ops::sparse_softmax_cross_entropy_with_logits(&y, &logits)?, &[])?;
        let (groups, members) = match kind {
            Kind::Plain => (None, 1),
            Kind::Summed | Kind::Dropout => (None, replicas),
            Kind::Grouped => {
                let of = |rest| (0..replicas).filter(|replica| replica % 2 == rest).collect::<Vec<_>>();
                (Some(vec![of(0), of(1)]), replicas / 2)
            }
            Kind::WholeGroup => (Some(vec![(0..replicas).collect()]), replicas),
        };
        let scaled = (&loss * (1.0 / members as f64))?;
        let mut updates = Vec::new();
        for (variable, gradient) in [&w, &b].into_iter().zip(gradients(&scaled, &[w.clone(), b.clone()])?) {
            let mut gradient = gradient.expect("the loss depends on both");
            if kind != Kind::Plain {
                gradient = ops::cross_replica_sum(&gradient, groups.clone())?;
            }
            updates.push(variable.assign_sub(&(&gradient * 0.1)?)?);
        }
        let train_op = graph.group(&updates, "train")?;
        let options = ExecutorOptions { replicas, worker_threads, precision, ..ExecutorOptions::default() };
        let mut executor = Executor::new(&graph, options)?;
        let train = executor.prepare(&Request {
            feeds: vec![x, y],
            fetches: vec![loss, w.value()],
            targets: vec![train_op],
            ..Request::default()
        })?;
        let evaluate = executor.prepare(&Request { fetches: vec![w.value()], ..Request::default() })?;
        Ok(Training { executor, train, evaluate, replicas })
    }

    fn step(&mut self, step: u64) -> Result<()> {
        let rows = 16;
        let number = |index: usize| ((index as f32) * 0.37 + step as f32).sin();
        let features = Array::from_vec(&[rows, 4], (0..rows * 4).map(number).collect())?;
        let labels: Vec<i32> = (0..rows as i32).map(|row| (row * 7 + step as i32) % 3).collect();
        self.executor.set_step(step);
        self.executor.run(self.train, &[features, Array::from(labels)])
    }

    fn losses(&self) -> Vec<f64> {
        (0..self.replicas).map(|replica| self.executor.scalar(self.train, 0, replica)).collect()
    }

    /// The weights of each replica, as the step `step` finds them.
    fn weights_of_each(&mut self, step: u64) -> Result<Vec<Array>> {
        self.step(step)?;
        Ok((0..self.replicas).map(|replica| self.executor.output(self.train, 1, replica)).collect())
    }

    fn variable(&mut self, name: &str) -> Result<Array> {
        self.executor.store().get(name)
    }
}

fn variable(graph: &Graph, name: &str, value: Array) -> Result<Variable> {
    let shape = value.shape().to_vec();
    let options = VariableOptions { initializer: Initializer::Constant(value), ..VariableOptions::default() };
    graph.get_variable(name, &shape, options)
}
