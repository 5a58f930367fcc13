//! The engine runs graphs: values, variables, gradients, replicas.

use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::prelude::*;

#[test]
fn a_training_step_lowers_the_loss() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(2)]));
    let y = graph.placeholder("y", DType::Int32, Shape::new(&[None]));
    let w = graph.get_variable("w", &[2, 3], VariableOptions::default())?;
    let b = graph.get_variable(
        "b",
        &[3],
        VariableOptions { initializer: Initializer::Zeros, ..VariableOptions::default() },
    )?;
    let logits = tf::graph::ops::bias_add(&tf::matmul(&x, &w.value())?, &b.value())?;
    let losses = tf::graph::ops::sparse_softmax_cross_entropy_with_logits(&y, &logits)?;
    let loss = tf::reduce_mean(&losses, &[])?;
    let gradients = tf::graph::gradients(&loss, &[w.clone(), b.clone()])?;
    let mut updates = Vec::new();
    for (variable, gradient) in [&w, &b].into_iter().zip(gradients) {
        let change = (&gradient.expect("the loss depends on it") * 0.5)?;
        updates.push(variable.assign_sub(&change)?);
    }
    let train_op = graph.group(&updates, "train")?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request {
        feeds: vec![x, y],
        fetches: vec![loss],
        targets: vec![train_op],
        ..Request::default()
    })?;
    println!("{:?}", executor.plan(plan));
    let feed =
        [Array::from_vec(&[4, 2], vec![1.0f32, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0])?, Array::from(vec![0i32, 1, 2, 1])];
    let mut losses = Vec::new();
    for _ in 0..50 {
        executor.run(plan, &feed)?;
        losses.push(executor.scalar(plan, 0, 0));
    }
    assert!(losses[49] < losses[0] * 0.5, "{losses:?}");
    Ok(())
}
