//! After its first steps a loop allocates nothing, the input included.
#![allow(unsafe_code, reason = "a counting allocator stands for the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, PlanId, Request};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

/// One test, since the counters see every thread of the process.
#[test]
fn after_its_first_step_a_loop_allocates_nothing() -> Result<()> {
    one_batch_again_and_again(1, 1)?;
    one_batch_again_and_again(8, 1)?;
    one_batch_again_and_again(8, 2)?;
    batches_of_an_iterator(1, 1)?;
    batches_of_an_iterator(8, 2)?;
    longer_and_shorter_batches()?;
    a_loop_with_its_infeed()
}

fn one_batch_again_and_again(replicas: usize, threads: usize) -> Result<()> {
    let (mut executor, plan) = training(replicas, threads)?;
    let batch = batch(128)?;
    executor.run(plan, &batch)?;
    let counted = count(|| (0..100).try_for_each(|_| executor.run(plan, &batch)))?;
    assert_eq!(counted.allocations, 0, "{replicas} replicas on {threads} threads");
    Ok(())
}

fn batches_of_an_iterator(replicas: usize, threads: usize) -> Result<()> {
    let (mut executor, plan) = training(replicas, threads)?;
    let frame = Frame::new([
        ("a", Column::from((0..120).map(|row| row as f32).collect::<Vec<_>>())),
        ("b", Column::from((0..120).map(|row| row as f32 * 0.5).collect::<Vec<_>>())),
    ])?;
    let labels = Column::from((0..120).map(|row| row % 3).collect::<Vec<i32>>());
    let dataset = Dataset::from_tensor_slices((&frame, &labels))?.shuffle(1000).repeat().batch(64, Remainder::Drop);
    let mut iterator = dataset.iterator(7)?;
    let mut batch = Batch::default();
    let mut step = || -> Result<()> {
        assert!(iterator.next_into(&mut batch)?);
        executor.run(plan, &batch)
    };
    step()?;
    let counted = count(|| (0..100).try_for_each(|_| step()))?;
    assert_eq!(counted.allocations, 0, "with an iterator, {replicas} replicas on {threads} threads");
    Ok(())
}

fn longer_and_shorter_batches() -> Result<()> {
    let (mut executor, plan) = training(1, 1)?;
    let batches = [batch(1280)?, batch(320)?];
    batches.iter().try_for_each(|batch| executor.run(plan, batch))?;
    // Each buffer is as large as it must be: a change of rows costs the shapes alone.
    let counted = count(|| batches.iter().try_for_each(|batch| executor.run(plan, batch)))?;
    assert!(counted.bytes < 1280 * 10 * 4, "{} bytes are more than a layer's output", counted.bytes);
    Ok(())
}

/// A longer loop of the TPU, the infeed's thread included, allocates no more than a shorter one.
fn a_loop_with_its_infeed() -> Result<()> {
    tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
    let frame = Frame::new([("x", Column::from((0..120).map(|row| row as f32).collect::<Vec<_>>()))])?;
    let labels = Column::from((0..120).map(|row| row % 3).collect::<Vec<i32>>());
    let train = |steps: u64| -> Result<usize> {
        let config =
            tf::tpu::RunConfig::new().tpu_config(TpuConfig::new().iterations_per_loop(steps)).tf_random_seed(1);
        let estimator = TpuEstimator::new(small_model).train_batch_size(64).config(config).build()?;
        let input_fn = |params: &Params| {
            let dataset = Dataset::from_tensor_slices((&frame, &labels))?;
            Ok(dataset.shuffle(1000).repeat().batch(params.batch_size(), Remainder::Drop))
        };
        Ok(count(|| estimator.train(input_fn, Steps(steps)).map(drop))?.allocations)
    };
    train(500)?;
    let (shorter, longer) = (train(500)?, train(1500)?);
    // Queues may still allocate when a thread waits for the first time.
    assert!(longer <= shorter + 20, "500 steps made {shorter} allocations, 1500 made {longer}");
    Ok(())
}

fn small_model(
    features: &Tensors,
    labels: Option<&Tensor>,
    _mode: ModeKeys,
    _params: &Params,
) -> Result<TpuEstimatorSpec> {
    let net = tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column("x")])?;
    let logits = tf::layers::dense(&tf::layers::dense(&net, 10, Some(tf::nn::relu))?, 3, None)?;
    let loss = tf::losses::sparse_softmax_cross_entropy(labels.expect("training has labels"), &logits)?;
    let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

/// Two layers over columns `a` and `b` with dropout, under Adagrad; the loss is fetched.
fn training(replicas: usize, threads: usize) -> Result<(Executor, PlanId)> {
    let graph = Graph::with_replicas(replicas);
    let column = |name| graph.placeholder(name, DType::Float32, Shape::new(&[None]));
    let (a, b) = (column("a"), column("b"));
    let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
    let columns = [ops::expand_dims(&a, 1)?, ops::expand_dims(&b, 1)?];
    let hidden = tpulab::layers::dense(&ops::concat(&columns, 1)?, 10, Some(tpulab::nn::relu))?;
    let logits = tpulab::layers::dense(&ops::dropout(&hidden, 0.5)?, 3, None)?;
    let losses = ops::sparse_softmax_cross_entropy_with_logits(&labels, &logits)?;
    let loss = ops::reduce_mean(&losses, &[])?;
    let variables = graph.trainable_variables();
    let mut updates = Vec::new();
    for (variable, gradient) in variables.iter().zip(gradients(&loss, &variables)?) {
        let gradient = ops::cross_replica_sum(&gradient.expect("the loss depends on every variable"), None)?;
        updates.push(variable.assign_sub(&(&gradient * 0.01)?)?);
    }
    let train_op = graph.group(&updates, "train")?;
    let options = ExecutorOptions { replicas, worker_threads: Some(threads), ..ExecutorOptions::default() };
    let mut executor = Executor::new(&graph, options)?;
    let plan = executor.prepare(&Request {
        feeds: vec![a, b, labels],
        fetches: vec![loss],
        targets: vec![train_op],
        ..Request::default()
    })?;
    Ok((executor, plan))
}

fn batch(rows: usize) -> Result<Batch> {
    let column = |scale: f32| Array::from((0..rows).map(|row| (row as f32 * scale).sin()).collect::<Vec<_>>());
    let labels = Array::from((0..rows as i32).map(|row| row % 3).collect::<Vec<_>>());
    Ok(Batch::new(vec![("a".to_string(), column(0.3)), ("b".to_string(), column(0.7))], Some(labels)))
}

struct Counted {
    allocations: usize,
    bytes: usize,
}

fn count(run: impl FnOnce() -> Result<()>) -> Result<Counted> {
    let (allocations, bytes) = (ALLOCATIONS.load(Ordering::SeqCst), BYTES.load(Ordering::SeqCst));
    run()?;
    Ok(Counted {
        allocations: ALLOCATIONS.load(Ordering::SeqCst) - allocations,
        bytes: BYTES.load(Ordering::SeqCst) - bytes,
    })
}

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: each call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        BYTES.fetch_add(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
