//! Optimizers and learning rate schedules change variables as TensorFlow's do.
//!
//! Expected values come from `tf.compat.v1` 2.15: four steps from the same start, float32.

use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::prelude::*;
use tpulab::train::{
    AdagradOptimizer, AdamOptimizer, Decay, FtrlOptimizer, GradientDescentOptimizer, MomentumOptimizer, Optimizer,
    RmsPropOptimizer, exponential_decay, piecewise_constant,
};

/// A variable's name and its elements.
type Expected<'a> = (&'a str, &'a [f32]);

#[test]
fn gradient_descent() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(GradientDescentOptimizer::new(0.1))),
        &[("w", &[0.44555226, -0.38344932, 0.26516506, 0.1805193]), ("b", &[0.12824756, 0.19011672])],
    )
}

#[test]
fn momentum() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(MomentumOptimizer::new(0.1, 0.9))),
        &[
            ("w", &[0.38374236, -0.4890188, -0.36417922, 0.2763501]),
            ("b", &[0.2921632, 0.17740117]),
            ("w/Momentum", &[0.20757592, 0.69156265, 2.7732556, -0.45548874]),
            ("b/Momentum", &[-1.0926706, 0.08437109]),
        ],
    )
}

#[test]
fn nesterov_momentum() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(MomentumOptimizer::new(0.1, 0.9).use_nesterov(true))),
        &[
            ("w", &[0.4139873, -0.540353, -0.25346774, 0.2697391]),
            ("b", &[0.37365764, 0.17158608]),
            ("w/Momentum", &[0.06289685, 0.64690983, 1.671843, -0.30828905]),
            ("b/Momentum", &[-1.0122248, 0.075713366]),
        ],
    )
}

#[test]
fn adagrad() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(AdagradOptimizer::new(0.1))),
        &[
            ("w", &[0.35357344, -0.47297356, 0.5444907, 0.21881816]),
            ("b", &[0.19786146, 0.17590299]),
            ("w/Adagrad", &[0.20688528, 0.24482757, 11.823145, 0.20660445]),
            ("b/Adagrad", &[0.38010406, 0.101594955]),
        ],
    )
}

#[test]
fn adam() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(AdamOptimizer::new(0.1))),
        &[
            ("w", &[0.15762134, -0.6874745, 0.40700638, 0.30610293]),
            ("b", &[0.38278997, 0.2083714]),
            ("beta1_power", &[0.5904899]),
            ("beta2_power", &[0.9950101]),
            ("w/Adam", &[0.030033972, 0.05119126, 0.5372262, 0.0049928576]),
            ("w/Adam_1", &[7.88884e-05, 0.000104802806, 0.010630851, 0.00014564113]),
            ("b/Adam", &[-0.070211135, -0.0019046364]),
            ("b/Adam_1", &[0.00020950925, 6.2042154e-06]),
        ],
    )
}

#[test]
fn rms_prop_with_momentum() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(RmsPropOptimizer::new(0.1).momentum(0.5))),
        &[
            ("w", &[0.4096657, -0.44190317, 0.082151994, 0.225217]),
            ("b", &[0.21296221, 0.1829671]),
            ("w/RMSProp", &[0.66274744, 0.67030615, 1.2479414, 0.6675577]),
            ("w/RMSProp_1", &[0.011651566, 0.04295361, 0.1326282, -0.022003481]),
            ("b/RMSProp", &[0.68871045, 0.6563037]),
            ("b/RMSProp_1", &[-0.06471622, 0.0052375817]),
        ],
    )
}

#[test]
fn centered_rms_prop() -> Result<()> {
    after_four_steps(
        |_| Ok(Box::new(RmsPropOptimizer::new(0.01).centered(true))),
        &[
            ("w", &[0.489811, -0.3099003, 0.73423094, 0.112664305]),
            ("b", &[0.014646331, 0.19885403]),
            ("w/RMSProp", &[0.6733399, 0.67240393, 1.972793, 0.68291104]),
            ("w/RMSProp_1", &[0.07695206, 0.0748791, 0.672679, -0.095976606]),
            ("w/RMSProp_2", &[0.002623226, 0.0026553662, 0.015360679, -0.003269844]),
            ("b/RMSProp_2", &[-0.0039211796, 0.00031016654]),
        ],
    )
}

#[test]
fn ftrl_with_both_regularizations() -> Result<()> {
    after_four_steps(
        |_| {
            let optimizer = FtrlOptimizer::new(0.1);
            Ok(Box::new(optimizer.l1_regularization_strength(0.05).l2_regularization_strength(0.1)))
        },
        &[
            ("w", &[0.121572465, -0.24915603, 0.44047707, 0.18337943]),
            ("b", &[0.19637422, 0.08092213]),
            ("w/Ftrl", &[0.22357538, 0.44707307, 8.1593075, 0.32456392]),
            ("w/Ftrl_1", &[-0.6491548, 1.765776, -12.720103, -1.1313977]),
            ("b/Ftrl", &[0.47318828, 0.15432897]),
            ("b/Ftrl_1", &[-1.4401071, -0.38408482]),
        ],
    )
}

#[test]
fn a_learning_rate_that_decays_at_each_step() -> Result<()> {
    after_four_steps(
        |step| Ok(Box::new(GradientDescentOptimizer::new(exponential_decay(0.1, step, 2, 0.5, Decay::Continuous)?))),
        &[("w", &[0.45662382, -0.35454634, 0.39712238, 0.15943386]), ("b", &[0.08311509, 0.19357662])],
    )
}

#[test]
fn a_learning_rate_that_decays_in_stairs() -> Result<()> {
    after_four_steps(
        |step| Ok(Box::new(GradientDescentOptimizer::new(exponential_decay(0.1, step, 2, 0.5, Decay::Staircase)?))),
        &[("w", &[0.45230755, -0.36354336, 0.35004392, 0.16676377]), ("b", &[0.09712966, 0.19249581])],
    )
}

#[test]
fn a_learning_rate_in_pieces_includes_each_boundary() -> Result<()> {
    after_four_steps(
        |step| Ok(Box::new(GradientDescentOptimizer::new(piecewise_constant(step, &[0, 2], &[0.1, 0.05, 0.01])?))),
        &[("w", &[0.46144938, -0.34506184, 0.448647, 0.15146478]), ("b", &[0.06835656, 0.1947164])],
    )
}

#[test]
fn clipped_gradients_are_the_ones_applied() -> Result<()> {
    let graph = Graph::new();
    let loss = loss(&graph)?;
    let optimizer = GradientDescentOptimizer::new(1.0);
    let pairs = optimizer.compute_gradients(&loss, None)?;
    let gradients: Vec<Tensor> = pairs.iter().filter_map(|(gradient, _)| gradient.clone()).collect();
    let (clipped, _) = tf::clip_by_global_norm(&gradients, 0.5)?;
    let pairs: Vec<_> = clipped.into_iter().map(Some).zip(pairs.into_iter().map(|(_, variable)| variable)).collect();
    let train_op = optimizer.apply_gradients(&pairs, None)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let before = values(&executor.store().get("w")?, &executor.store().get("b")?)?;
    let plan = executor.prepare(&Request { targets: vec![train_op], ..Request::default() })?;
    executor.run(plan, &[])?;
    let after = values(&executor.store().get("w")?, &executor.store().get("b")?)?;
    let squares = before.iter().zip(&after).map(|(before, after)| f64::from(before - after).powi(2));
    // One step of length 1 moves the variables by the clipped gradient; rounding is that of float32.
    assert!((squares.sum::<f64>().sqrt() - 0.5).abs() < 1e-6);
    Ok(())
}

fn values(left: &Array, right: &Array) -> Result<Vec<f32>> {
    Ok([left.as_slice::<f32>()?, right.as_slice::<f32>()?].concat())
}

/// The mean squared error of one layer on three fixed examples.
fn loss(graph: &Graph) -> Result<Tensor> {
    let variable = |name: &str, shape: &[usize], first: Vec<f32>| {
        let initializer = Initializer::Constant(Array::from_vec(shape, first)?);
        graph.get_variable(name, shape, VariableOptions { initializer, ..VariableOptions::default() })
    };
    let w = variable("w", &[2, 2], vec![0.5, -0.3, 0.8, 0.1])?;
    let b = variable("b", &[2], vec![0.0, 0.2])?;
    let x = graph.constant(Array::from_vec(&[3, 2], vec![1.0f32, 2.0, -1.0, 0.5, 0.25, -2.0])?);
    let y = graph.constant(Array::from_vec(&[3, 2], vec![1.0f32, 0.0, 0.0, 1.0, 0.5, -0.5])?);
    let predictions = tf::nn::bias_add(&tf::matmul(&x, &w.value())?, &b.value())?;
    tf::losses::mean_squared_error(&y, &predictions)
}

/// Trains four steps and compares variables and slots.
fn after_four_steps(
    optimizer: impl FnOnce(&Variable) -> Result<Box<dyn Optimizer>>,
    expected: &[Expected<'_>],
) -> Result<()> {
    let graph = Graph::new();
    let global_step = graph.global_step();
    let loss = loss(&graph)?;
    let train_op = optimizer(&global_step)?.minimize(&loss, Some(&global_step))?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { targets: vec![train_op], ..Request::default() })?;
    for _ in 0..4 {
        executor.run(plan, &[])?;
    }
    assert_eq!(executor.store().get("global_step")?, Array::from(4i64));
    for (name, expected) in expected {
        let found = executor.store().get(name)?;
        let largest = expected.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        for (found, expected) in found.as_slice::<f32>()?.iter().zip(*expected) {
            // Four steps of float32 in another order of summation.
            assert!((found - expected).abs() <= 4e-6 * largest, "{name}: {found} is not {expected}");
        }
    }
    Ok(())
}
