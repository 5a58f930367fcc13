//! What a run refuses, with its whole text; and that a refused run can be repeated with better values.

use tpulab::engine::{Executor, ExecutorOptions, PlanId, Request};
use tpulab::graph::ops;
use tpulab::prelude::*;

#[test]
fn a_column_that_is_not_given_is_named() -> Result<()> {
    let (mut executor, plan) = classifier(1)?;
    let error = executor.run(plan, &[features(2)?]).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str(), error.help()),
        (
            "ENGINE005",
            "ENGINE005: input `labels` was given no value; run it with a batch that has this column",
            Some("run it with a batch that has this column"),
        )
    );
    executor.run(plan, &[features(2)?, Array::from(vec![0, 1])])
}

#[test]
fn a_placeholder_that_no_feed_fills_is_found_before_the_run() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let error = executor.prepare(&Request { fetches: vec![x], ..Request::default() }).unwrap_err();
    assert_eq!(error.message(), "input `x` was given no value");
    Ok(())
}

#[test]
fn another_dtype_is_refused() -> Result<()> {
    let (mut executor, plan) = classifier(1)?;
    let error = executor.run(plan, &[features(2)?, Array::from(vec![0.0f32, 1.0])]).unwrap_err();
    assert_eq!(error.to_string(), "ENGINE004: input `labels`: expected int32 [?], found float32 [2]");
    executor.run(plan, &[features(2)?, Array::from(vec![0, 1])])
}

#[test]
fn another_shape_is_refused() -> Result<()> {
    let (mut executor, plan) = classifier(1)?;
    let wide = Array::from_vec(&[2, 3], vec![0.0f32; 6])?;
    let error = executor.run(plan, &[wide, Array::from(vec![0, 1])]).unwrap_err();
    assert_eq!(error.to_string(), "ENGINE004: input `features`: expected float32 [?, 2], found float32 [2, 3]");
    let flat = Array::from(vec![0.0f32; 4]);
    let error = executor.run(plan, &[flat, Array::from(vec![0, 1])]).unwrap_err();
    assert_eq!(error.to_string(), "ENGINE004: input `features`: expected float32 [?, 2], found float32 [4]");
    executor.run(plan, &[features(2)?, Array::from(vec![0, 1])])
}

#[test]
fn columns_of_different_length_are_refused() -> Result<()> {
    let (mut executor, plan) = classifier(1)?;
    let error = executor.run(plan, &[features(2)?, Array::from(vec![0, 1, 2])]).unwrap_err();
    assert!(error.code().starts_with("GRAPH") || error.code().starts_with("ENGINE"), "{error}");
    assert!(error.message().contains('2') && error.message().contains('3'), "{error}");
    executor.run(plan, &[features(2)?, Array::from(vec![0, 1])])
}

#[test]
fn rows_that_the_replicas_cannot_share_are_refused() -> Result<()> {
    let (mut executor, plan) = classifier(8)?;
    let error = executor.run(plan, &[features(12)?, Array::from(vec![0; 12])]).unwrap_err();
    assert_eq!(error.to_string(), "ENGINE006: 12 rows cannot be shared by 8 replicas; use a multiple of 8");
    executor.run(plan, &[features(16)?, Array::from(vec![0; 16])])
}

#[test]
fn a_label_that_is_no_class_is_named_with_its_row() -> Result<()> {
    let (mut executor, plan) = classifier(1)?;
    for label in [3, -1] {
        let error = executor.run(plan, &[features(4)?, Array::from(vec![0, 1, label, 2])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "ENGINE001: SparseSoftmaxCrossEntropyWithLogits `SparseSoftmaxCrossEntropyWithLogits`: row 2 of the \
                 batch has label {label}, but there are classes 0 to 2; check the labels, and that the last layer has \
                 one unit for each class"
            )
        );
    }
    executor.run(plan, &[features(4)?, Array::from(vec![0, 1, 2, 2])])
}

#[test]
fn the_first_replicas_failure_is_reported_whatever_the_number_of_threads() -> Result<()> {
    for threads in [1, 2, 4] {
        let (mut executor, plan) = classifier_on(4, Some(threads))?;
        // Rows 3 (replica 1) and 7 (replica 3) are wrong.
        let labels = Array::from(vec![0, 0, 0, 7, 0, 0, 0, 9]);
        let error = executor.run(plan, &[features(8)?, labels]).unwrap_err();
        assert!(error.message().contains("label 7"), "{threads} threads: {error}");
        executor.run(plan, &[features(8)?, Array::from(vec![0; 8])])?;
    }
    Ok(())
}

#[test]
fn an_index_outside_is_refused() -> Result<()> {
    let graph = Graph::new();
    let index = graph.placeholder("index", DType::Int32, Shape::new(&[None]));
    let table = graph.constant(vec![1.0f32, 2.0]);
    let gathered = ops::gather(&table, &index, 0)?;
    let summed = ops::unsorted_segment_sum(&table, &index, 2)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    for (fetch, op) in [(gathered, "GatherV2"), (summed, "UnsortedSegmentSum")] {
        let request = Request { feeds: vec![index.clone()], fetches: vec![fetch], ..Request::default() };
        let plan = executor.prepare(&request)?;
        let error = executor.run(plan, &[Array::from(vec![0, 2])]).unwrap_err();
        assert_eq!(error.to_string(), format!("ENGINE002: {op} `{op}`: index 2 is outside 0 to 1"));
        executor.run(plan, &[Array::from(vec![0, 1])])?;
    }
    Ok(())
}

#[test]
fn checked_numbers_must_be_finite() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
    let checked = ops::check_numerics(&x, "the loss")?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![x], fetches: vec![checked], ..Request::default() })?;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = executor.run(plan, &[Array::from(vec![1.0, bad])]).unwrap_err();
        assert_eq!(error.to_string(), "ENGINE003: CheckNumerics `CheckNumerics`: the loss: found NaN or infinity");
    }
    executor.run(plan, &[Array::from(vec![1.0f32, 2.0])])?;
    assert_eq!(executor.output(plan, 0, 0), Array::from(vec![1.0f32, 2.0]));
    Ok(())
}

#[test]
fn texts_are_not_computed_with() -> Result<()> {
    let graph = Graph::new();
    let text = graph.constant("setosa".to_string());
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let error = executor.prepare(&Request { fetches: vec![text], ..Request::default() }).unwrap_err();
    assert_eq!(error.to_string(), "ENGINE007: Const: the engine does not compute with string");
    Ok(())
}

#[test]
fn a_value_of_too_many_dimensions_is_refused() -> Result<()> {
    let graph = Graph::new();
    let deep = graph.constant(Array::from_vec(&[1; 9], vec![1.0f32])?);
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches: vec![ops::square(&deep)?], ..Request::default() });
    let error = plan.and_then(|plan| executor.run(plan, &[])).unwrap_err();
    assert_eq!(error.code(), "ENGINE007", "{error}");
    Ok(())
}

#[test]
fn a_step_that_fails_before_its_updates_leaves_the_variables() -> Result<()> {
    let graph = Graph::new();
    let x = graph.placeholder("x", DType::Float32, Shape::scalar());
    let options = VariableOptions { initializer: Initializer::Zeros, ..VariableOptions::default() };
    let w = graph.get_variable("w", &[], options)?;
    let add = w.assign_add(&ops::check_numerics(&x, "x")?)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { feeds: vec![x], targets: vec![add], ..Request::default() })?;
    executor.run(plan, &[Array::from(1.0f32)])?;
    assert!(executor.run(plan, &[Array::from(f32::NAN)]).is_err());
    assert_eq!(executor.store().get("w")?, Array::from(1.0f32));
    executor.run(plan, &[Array::from(2.0f32)])?;
    assert_eq!(executor.store().get("w")?, Array::from(3.0f32));
    Ok(())
}

fn classifier(replicas: usize) -> Result<(Executor, PlanId)> {
    classifier_on(replicas, None)
}

fn classifier_on(replicas: usize, worker_threads: Option<usize>) -> Result<(Executor, PlanId)> {
    let graph = Graph::new();
    let x = graph.placeholder("features", DType::Float32, Shape::new(&[None, Some(2)]));
    let y = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
    let w = graph.get_variable("w", &[2, 3], VariableOptions::default())?;
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&y, &ops::matmul(&x, &w.value())?)?;
    let options = ExecutorOptions { replicas, worker_threads, ..ExecutorOptions::default() };
    let mut executor = Executor::new(&graph, options)?;
    let plan = executor.prepare(&Request { feeds: vec![x, y], fetches: vec![losses], ..Request::default() })?;
    Ok((executor, plan))
}

fn features(rows: usize) -> Result<Array> {
    Array::from_vec(&[rows, 2], (0..rows * 2).map(|index| index as f32 * 0.1).collect())
}
