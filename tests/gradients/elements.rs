//! Arithmetic and activations, element by element.

use crate::differences::{analytic, check, check_binary, check_on_batch, ramp, values};
use tpulab::graph::ops;
use tpulab::prelude::*;

#[test]
fn elements_have_their_derivatives() {
    let any = || values(&[2, 3], &[-1.3, -0.4, 0.2, 0.7, 1.1, 2.4]);
    let positive = || values(&[2, 3], &[0.2, 0.5, 0.9, 1.4, 2.2, 3.1]);
    check("negative", &[any()], |v| ops::negative(&v[0]));
    check("abs", &[any()], |v| ops::abs(&v[0]));
    check("exp", &[any()], |v| ops::exp(&v[0]));
    check("log", &[positive()], |v| ops::log(&v[0]));
    check("log1p", &[positive()], |v| ops::log1p(&v[0]));
    check("sqrt", &[positive()], |v| ops::sqrt(&v[0]));
    check("rsqrt", &[positive()], |v| ops::rsqrt(&v[0]));
    check("square", &[any()], |v| ops::square(&v[0]));
    check("relu", &[any()], |v| ops::relu(&v[0]));
    check("sigmoid", &[any()], |v| ops::sigmoid(&v[0]));
    check("tanh", &[any()], |v| ops::tanh(&v[0]));
    check("elu", &[any()], |v| ops::elu(&v[0]));
    check("softplus", &[any()], |v| ops::softplus(&v[0]));
}

#[test]
fn pairs_of_elements_have_their_derivatives() {
    let pair = || [values(&[2, 3], &[0.4, 1.5, 2.6, 3.7, 0.8, 1.9]), values(&[2, 3], &[1.2, 0.3, 3.1, 2.2, 0.6, 2.8])];
    check_binary(pair);
}

#[test]
fn broadcast_elements_collect_the_sum_of_their_derivatives() {
    let matrix = || values(&[2, 3], &[0.4, 1.5, 2.6, 3.7, 0.8, 1.9]);
    check_binary(|| [matrix(), values(&[3], &[1.2, 0.3, 3.1])]);
    check_binary(|| [values(&[3], &[1.2, 0.3, 3.1]), matrix()]);
    check_binary(|| [matrix(), values(&[1, 3], &[1.2, 0.3, 3.1])]);
    check_binary(|| [matrix(), values(&[2, 1], &[1.2, 2.3])]);
    check_binary(|| [values(&[2, 1], &[1.2, 2.3]), values(&[1, 3], &[0.4, 1.5, 2.6])]);
    check_binary(|| [matrix(), values(&[], &[1.7])]);
    check_binary(|| [values(&[], &[1.7]), matrix()]);
    check_binary(|| [values(&[2, 2, 2], &[0.4, 1.5, 2.6, 3.7, 0.8, 1.9, 2.2, 0.3]), values(&[2, 1], &[1.2, 2.3])]);
}

#[test]
fn unknown_sizes_that_turn_out_to_be_1_collect_the_sum() {
    let weights = || [ramp(&[4, 4], 0.3), ramp(&[4], 0.8)];
    // Of a batch of three rows, the last alone beside all: the graph knows neither number.
    let check = |place: &str, build: &dyn Fn(&Tensor, &Tensor) -> Result<Tensor>| {
        check_on_batch(place, &weights(), |x, v| {
            let last = ops::slice(x, &[2, 0], &[-1, -1])?;
            build(&ops::matmul(&last, &v[0])?, &ops::multiply(x, &v[1])?)
        });
    };
    check("multiply, left", &ops::multiply);
    check("multiply, right", &|last, all| ops::multiply(all, last));
    check("subtract, left", &ops::subtract);
    check("subtract, right", &|last, all| ops::subtract(all, last));
    check("squared_difference", &ops::squared_difference);
    check("maximum", &ops::maximum);
    check("where", &|last, all| ops::where_(&ops::greater(all, &ops::negative(all)?)?, all, last));
    check("broadcast_like", &|last, all| ops::multiply(&ops::broadcast_like(last, all)?, all));
    check("equal sizes", &|_, all| ops::multiply(&ops::tanh(all)?, all));
    check("a size less", &|last, all| ops::multiply(&ops::reduce_sum(last, &[1])?, &ops::reduce_sum(all, &[1])?));
    check("all dimensions", &|last, all| {
        let columns = ops::slice(all, &[0, 3], &[-1, -1])?;
        ops::multiply(&ops::slice(last, &[0, 3], &[-1, 1])?, &ops::multiply(&columns, all)?)
    });
}

#[test]
fn an_unknown_size_beside_a_known_one_collects_the_sum() {
    check_on_batch("one row, known to be of 3", &[ramp(&[4], 0.3), ramp(&[3, 4], 0.8)], |x, v| {
        let last = ops::slice(x, &[2, 0], &[-1, -1])?;
        ops::multiply(&ops::multiply(&last, &v[0])?, &v[1])
    });
}

#[test]
fn a_quotient_by_zero_sends_no_gradient() -> Result<()> {
    let inputs = [values(&[2], &[3.0, 4.0]), values(&[2], &[0.0, 2.0])];
    let found = analytic(&inputs, |v| ops::reduce_sum(&ops::div_no_nan(&v[0], &v[1])?, &[]))?;
    assert_eq!(found, [Some(vec![0.0, 0.5]), Some(vec![0.0, -1.0])]);
    Ok(())
}

#[test]
fn a_power_of_zero_has_a_gradient() -> Result<()> {
    // TensorFlow 2.15: d(0²) = 0 to the base, and nothing to the exponent where the base is not positive.
    let inputs = [values(&[2], &[0.0, -2.0]), values(&[2], &[2.0, 2.0])];
    let found = analytic(&inputs, |v| ops::reduce_sum(&ops::pow(&v[0], &v[1])?, &[]))?;
    assert_eq!(found, [Some(vec![0.0, -4.0]), Some(vec![0.0, 0.0])]);
    Ok(())
}

#[test]
fn of_equal_values_the_left_one_takes_the_gradient() -> Result<()> {
    let inputs = [values(&[2], &[1.0, 2.0]), values(&[2], &[1.0, 3.0])];
    let found = analytic(&inputs, |v| ops::reduce_sum(&ops::maximum(&v[0], &v[1])?, &[]))?;
    assert_eq!(found, [Some(vec![1.0, 0.0]), Some(vec![0.0, 1.0])]);
    let found = analytic(&inputs, |v| ops::reduce_sum(&ops::minimum(&v[0], &v[1])?, &[]))?;
    assert_eq!(found, [Some(vec![1.0, 1.0]), Some(vec![0.0, 0.0])]);
    Ok(())
}

#[test]
fn sums_and_choices_pass_gradients_on() {
    let three = || [ramp(&[2, 2], 0.3), ramp(&[2, 2], 0.7), ramp(&[2, 2], 1.1)];
    check("add_n", &three(), ops::add_n);
    check("add_n of one tensor twice", &[ramp(&[2, 2], 0.3)], |v| ops::add_n(&[v[0].clone(), v[0].clone()]));
    check("where", &three(), |v| ops::where_(&ops::greater(&v[2], &v[0])?, &v[0], &v[1]));
    let row_and_column = [ramp(&[3], 0.3), ramp(&[2, 1], 0.7)];
    check("where, broadcast", &row_and_column, |v| {
        let condition = v[0].graph().constant(Array::from_vec(&[2, 3], vec![true, false, true, false, false, true])?);
        ops::where_(&condition, &v[0], &v[1])
    });
    check("clip_by_value", &[values(&[4], &[-2.0, -0.5, 0.5, 2.0])], |v| ops::clip_by_value(&v[0], -1.0, 1.0));
    check("l2_loss", &[ramp(&[2, 3], 0.3)], |v| ops::l2_loss(&v[0]));
    check("global_norm", &three(), ops::global_norm);
    let scaled = |clip_norm: f64| {
        move |v: &[Tensor]| {
            let (clipped, _) = ops::clip_by_global_norm(v, clip_norm)?;
            ops::add_n(&clipped)
        }
    };
    check("clip_by_global_norm, clipped", &three(), scaled(0.5));
    check("clip_by_global_norm, not clipped", &three(), scaled(100.0));
}
