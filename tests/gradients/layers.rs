//! Products, layers, entropies and what stands between them.

use crate::differences::{analytic, check, check_on_batch, ramp, values};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

#[test]
fn products_of_matrices_in_all_transpositions() {
    for (transpose_a, transpose_b) in [(false, false), (false, true), (true, false), (true, true)] {
        let a = if transpose_a { [3, 2] } else { [2, 3] };
        let b = if transpose_b { [4, 3] } else { [3, 4] };
        let place = format!("matmul, transposed {transpose_a} {transpose_b}");
        check(&place, &[ramp(&a, 0.3), ramp(&b, 0.7)], move |v| {
            ops::matmul_transposed(&v[0], transpose_a, &v[1], transpose_b)
        });
    }
    check("a matrix times itself", &[ramp(&[3, 3], 0.3)], |v| ops::matmul(&v[0], &v[0]));
    check("bias_add of rank 2", &[ramp(&[2, 3], 0.3), ramp(&[3], 0.7)], |v| ops::bias_add(&v[0], &v[1]));
    check("bias_add of rank 3", &[ramp(&[2, 2, 3], 0.3), ramp(&[3], 0.7)], |v| ops::bias_add(&v[0], &v[1]));
}

#[test]
fn layers_of_every_activation_have_their_derivatives_when_fused() {
    type Activation = fn(&Tensor) -> Result<Tensor>;
    let activations: [(&str, Activation); 5] = [
        ("relu", ops::relu),
        ("sigmoid", ops::sigmoid),
        ("tanh", ops::tanh),
        ("elu", ops::elu),
        ("softplus", ops::softplus),
    ];
    for (name, activation) in activations {
        let variables = [ramp(&[5, 4], 0.3), ramp(&[4, 3], 0.7), ramp(&[3], 0.2), ramp(&[3, 2], 1.1), ramp(&[2], 0.5)];
        check(&format!("two layers of {name}"), &variables, move |v| {
            let hidden = activation(&ops::bias_add(&ops::matmul(&v[0], &v[1])?, &v[2])?)?;
            activation(&ops::bias_add(&ops::matmul(&hidden, &v[3])?, &v[4])?)
        });
    }
}

#[test]
fn softmax_and_entropies_have_their_derivatives() {
    let logits = || values(&[3, 4], &[0.3, -1.2, 2.1, 0.4, 1.5, 0.2, -0.6, 0.9, -2.0, 0.1, 0.8, 1.7]);
    check("softmax", &[logits()], |v| ops::softmax(&v[0]));
    check("softmax of a vector", &[ramp(&[4], 0.3)], |v| ops::softmax(&v[0]));
    check("log_softmax", &[logits()], |v| ops::log_softmax(&v[0]));
    check("sparse_softmax_cross_entropy_with_logits", &[logits()], |v| {
        ops::sparse_softmax_cross_entropy_with_logits(&v[0].graph().constant(vec![2, 0, 3]), &v[0])
    });
    check("softmax_cross_entropy_with_logits, labels too", &[ramp(&[3, 4], 0.1), logits()], |v| {
        ops::softmax_cross_entropy_with_logits(&ops::softmax(&v[0])?, &v[1])
    });
    check("sigmoid_cross_entropy_with_logits", &[ramp(&[3, 4], 0.1), logits()], |v| {
        tpulab::nn::sigmoid_cross_entropy_with_logits(&v[0], &v[1])
    });
    check("losses.sparse_softmax_cross_entropy", &[logits()], |v| {
        tpulab::losses::sparse_softmax_cross_entropy(&v[0].graph().constant(vec![2, 0, 3]), &v[0])
    });
    check("losses.mean_squared_error", &[ramp(&[3, 4], 0.1), logits()], |v| {
        tpulab::losses::mean_squared_error(&v[0], &v[1])
    });
}

#[test]
fn dropout_drops_the_gradient_of_what_it_drops() {
    // Each run stands at step 0, so that all draw one stream.
    check("dropout", &[ramp(&[4, 5], 0.3)], |v| ops::dropout(&v[0], 0.4));
}

#[test]
fn every_use_of_a_variable_counts() {
    check("read several times", &[ramp(&[2, 2], 0.3)], |v| {
        let product = ops::matmul(&v[0], &ops::tanh(&v[0])?)?;
        ops::add(&ops::multiply(&product, &v[0])?, &ops::exp(&v[0])?)
    });
}

#[test]
fn no_gradient_comes_where_none_can_flow() -> Result<()> {
    let inputs = [ramp(&[2], 0.3), ramp(&[2], 0.7)];
    let second_is_none = |build: fn(&[Tensor]) -> Result<Tensor>| -> Result<()> {
        let found = analytic(&inputs, build)?;
        assert_eq!((found[0].is_some(), &found[1]), (true, &None));
        Ok(())
    };
    second_is_none(|v| ops::reduce_sum(&v[0], &[]))?;
    second_is_none(|v| ops::reduce_sum(&ops::multiply(&v[0], &ops::stop_gradient(&v[1])?)?, &[]))?;
    second_is_none(|v| ops::reduce_sum(&ops::multiply(&v[0], &ops::sign(&v[1])?)?, &[]))?;
    second_is_none(|v| ops::reduce_sum(&ops::multiply(&v[0], &ops::floor(&v[1])?)?, &[]))?;
    second_is_none(|v| ops::reduce_sum(&ops::multiply(&v[0], &ops::zeros_like(&v[1])?)?, &[]))?;
    second_is_none(|v| {
        let whole = ops::cast(&ops::cast(&v[1], DType::Int32)?, DType::Float32)?;
        ops::reduce_sum(&ops::multiply(&v[0], &whole)?, &[])
    })
}

#[test]
fn a_batch_of_unknown_size_has_the_same_gradients() {
    let four = || [ramp(&[4], 0.3), ramp(&[4, 2], 0.7), ramp(&[2], 0.2)];
    check_on_batch("sums over rows", &four(), |x, v| {
        let y = ops::multiply(&ops::add(x, &v[0])?, &v[0])?;
        ops::reduce_mean(&ops::matmul(&y, &v[1])?, &[0])
    });
    check_on_batch("a layer", &four(), |x, v| {
        ops::tanh(&ops::bias_add(&ops::matmul(&ops::multiply(x, &v[0])?, &v[1])?, &v[2])?)
    });
    check_on_batch("reshape, slice, concat", &four(), |x, v| {
        let y = ops::multiply(x, &v[0])?;
        let flat = ops::reshape(&y, &[-1, 2])?;
        let left = ops::slice(&flat, &[0, 0], &[-1, 1])?;
        ops::concat(&[flat, left.clone(), left], 1)
    });
    check_on_batch("softmax over unknown rows", &four(), |x, v| {
        let logits = ops::matmul(&ops::multiply(x, &v[0])?, &v[1])?;
        ops::add(&ops::softmax(&logits)?, &ops::log_softmax(&logits)?)
    });
    check_on_batch("largest per row and column", &four(), |x, v| {
        let y = ops::multiply(x, &v[0])?;
        ops::add(&ops::expand_dims(&ops::reduce_max(&y, &[1])?, 1)?, &ops::reduce_min(&y, &[0])?)
    });
    check_on_batch("a row for the whole batch", &four(), |x, v| {
        let rows = ops::expand_dims(&ops::reduce_sum(&ops::multiply(x, &v[0])?, &[1])?, 1)?;
        ops::subtract(&ops::broadcast_like(&v[2], &ops::matmul(x, &v[1])?)?, &rows)
    });
}

#[test]
fn a_loss_of_many_numbers_is_refused() -> Result<()> {
    let graph = Graph::new();
    let w = graph.get_variable("w", &[2], VariableOptions::default())?;
    let error = gradients(&w.value(), std::slice::from_ref(&w)).unwrap_err();
    assert_eq!(error.to_string(), "GRAPH002: gradients: expected a loss of shape [], found shape [2]");
    Ok(())
}
