//! Every gradient against central differences, in float64.

use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::graph::{gradients, ops};
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
    check("add_n", &three(), |v| ops::add_n(v));
    check("add_n of one tensor twice", &[ramp(&[2, 2], 0.3)], |v| ops::add_n(&[v[0].clone(), v[0].clone()]));
    check("where", &three(), |v| ops::where_(&ops::greater(&v[2], &v[0])?, &v[0], &v[1]));
    let row_and_column = [ramp(&[3], 0.3), ramp(&[2, 1], 0.7)];
    check("where, broadcast", &row_and_column, |v| {
        let condition = v[0].graph().constant(Array::from_vec(&[2, 3], vec![true, false, true, false, false, true])?);
        ops::where_(&condition, &v[0], &v[1])
    });
    check("clip_by_value", &[values(&[4], &[-2.0, -0.5, 0.5, 2.0])], |v| ops::clip_by_value(&v[0], -1.0, 1.0));
    check("l2_loss", &[ramp(&[2, 3], 0.3)], |v| ops::l2_loss(&v[0]));
    check("global_norm", &three(), |v| ops::global_norm(v));
    let scaled = |clip_norm: f64| {
        move |v: &[Tensor]| {
            let (clipped, _) = ops::clip_by_global_norm(v, clip_norm)?;
            ops::add_n(&clipped)
        }
    };
    check("clip_by_global_norm, clipped", &three(), scaled(0.5));
    check("clip_by_global_norm, not clipped", &three(), scaled(100.0));
}

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
fn moved_elements_keep_their_gradients() {
    let cube = || [ramp(&[2, 3, 2], 0.3)];
    check("identity", &cube(), |v| ops::identity(&v[0]));
    check("cast", &cube(), |v| ops::cast(&ops::cast(&v[0], DType::Float64)?, DType::Float32));
    check("reshape", &cube(), |v| ops::matmul(&ops::reshape(&v[0], &[4, -1])?, &ops::reshape(&v[0], &[3, 4])?));
    check("reshape_like", &[ramp(&[6], 0.3), ramp(&[2, 3], 0.5)], |v| ops::reshape_like(&v[0], &v[1]));
    check("expand_dims", &[ramp(&[3], 0.3)], |v| {
        ops::multiply(&ops::expand_dims(&v[0], 0)?, &ops::expand_dims(&v[0], -1)?)
    });
    check("squeeze", &[ramp(&[1, 3, 1], 0.3)], |v| ops::squeeze(&v[0], &[0, -1]));
    check("transpose", &cube(), |v| ops::transpose(&v[0], &[2, 0, 1]));
    for axis in [0, 1, -1] {
        check(&format!("concat along {axis}"), &[ramp(&[2, 3, 2], 0.3), ramp(&[2, 3, 2], 0.7)], move |v| {
            ops::concat(&[v[0].clone(), v[1].clone(), v[0].clone()], axis)
        });
    }
    check("concat of unequal parts", &[ramp(&[2, 3], 0.3), ramp(&[2, 1], 0.7), ramp(&[2, 2], 0.9)], |v| {
        ops::concat(v, 1)
    });
    check("slice", &cube(), |v| ops::slice(&v[0], &[1, 0, 1], &[1, -1, 1]));
    check("pad", &cube(), |v| ops::pad(&v[0], &[(1, 0), (0, 2), (1, 1)]));
    check("broadcast_like, row", &[ramp(&[3], 0.3), ramp(&[2, 3], 0.7)], |v| ops::broadcast_like(&v[0], &v[1]));
    check("broadcast_like, number", &[ramp(&[], 0.3), ramp(&[2, 3], 0.7)], |v| ops::broadcast_like(&v[0], &v[1]));
}

#[test]
fn gathered_rows_collect_their_gradients() {
    check("gather, repeated", &[ramp(&[4, 2], 0.3)], |v| {
        ops::gather(&v[0], &v[0].graph().constant(vec![2, 0, 2, 2]), 0)
    });
    check("gather, a matrix of indices", &[ramp(&[4, 2], 0.3)], |v| {
        ops::gather(&v[0], &v[0].graph().constant(Array::from_vec(&[2, 2], vec![3i64, 1, 1, 3])?), 0)
    });
    check("gather, one number", &[ramp(&[4, 2], 0.3)], |v| ops::gather(&v[0], &v[0].graph().constant(3), 0));
    for axis in [1, 2] {
        check(&format!("gather along {axis}"), &[ramp(&[2, 3, 3], 0.3)], move |v| {
            let indices = Array::from_vec(&[2, 2], vec![2, 0, 2, 2])?;
            ops::gather(&v[0], &v[0].graph().constant(indices), axis)
        });
    }
    check("unsorted_segment_sum", &[ramp(&[4, 2], 0.3)], |v| {
        ops::unsorted_segment_sum(&v[0], &v[0].graph().constant(vec![2, 0, 2, 1]), 4)
    });
    check("unsorted_segment_sum, dropped slices", &[ramp(&[4, 2], 0.3)], |v| {
        ops::unsorted_segment_sum(&v[0], &v[0].graph().constant(vec![2, -1, 2, 1]), 3)
    });
    check("unsorted_segment_sum, single elements", &[ramp(&[2, 2], 0.3)], |v| {
        let segments = Array::from_vec(&[2, 2], vec![0, 1, 1, 1])?;
        ops::unsorted_segment_sum(&v[0], &v[0].graph().constant(segments), 2)
    });
}

#[test]
fn reductions_spread_their_gradients() {
    type Reduction = fn(&Tensor, &[isize]) -> Result<Tensor>;
    let reductions: [(&str, Reduction); 5] = [
        ("sum", ops::reduce_sum),
        ("mean", ops::reduce_mean),
        ("max", ops::reduce_max),
        ("min", ops::reduce_min),
        ("prod", ops::reduce_prod),
    ];
    for (name, reduction) in reductions {
        for axes in [&[][..], &[0], &[1], &[-1], &[0, 2], &[0, 1, 2]] {
            check(&format!("reduce_{name} over {axes:?}"), &[ramp(&[2, 3, 2], 0.3)], move |v| reduction(&v[0], axes));
        }
        check(&format!("reduce_{name} of one number"), &[ramp(&[], 0.3)], move |v| reduction(&v[0], &[]));
    }
    check("reduce_mean of a broadcast sum", &[ramp(&[2, 1], 0.3), ramp(&[3], 0.7)], |v| {
        ops::reduce_mean(&ops::add(&v[0], &v[1])?, &[0])
    });
}

#[test]
fn equal_extremes_share_the_gradient() -> Result<()> {
    let ties = [values(&[2, 3], &[1.0, 3.0, 3.0, 2.0, 2.0, 2.0])];
    let found = analytic(&ties, |v| ops::reduce_sum(&ops::reduce_max(&v[0], &[1])?, &[]))?;
    let third = 1.0 / 3.0;
    assert_eq!(found, [Some(vec![0.0, 0.5, 0.5, third, third, third])]);
    let found = analytic(&ties, |v| ops::reduce_sum(&ops::reduce_min(&v[0], &[1])?, &[]))?;
    assert_eq!(found, [Some(vec![1.0, 0.0, 0.0, third, third, third])]);
    Ok(())
}

#[test]
fn a_product_with_a_zero_has_the_derivative_of_the_others() {
    check("one zero", &[values(&[2, 3], &[2.0, 0.0, 3.0, 1.5, 2.5, 0.5])], |v| ops::reduce_prod(&v[0], &[1]));
    check("two zeros", &[values(&[3], &[0.0, 0.0, 3.0])], |v| ops::reduce_prod(&v[0], &[]));
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

/// Central differences of step 1e-5 err by about 1e-10 from curvature and 1e-11 from rounding; 1e-6 leaves room for
/// steep functions, and a wrong rule misses by far more.
const TOLERANCE: f64 = 1e-6;
const STEP: f64 = 1e-5;

fn values(shape: &[usize], values: &[f64]) -> Array {
    Array::from_vec(shape, values.to_vec()).expect("the test's own numbers fill the shape")
}

/// Numbers of both signs without ties, different for each `phase`.
fn ramp(shape: &[usize], phase: f64) -> Array {
    let count: usize = shape.iter().product();
    values(shape, &(0..count).map(|index| (phase + 1.7 * index as f64).sin() + 0.1 * phase).collect::<Vec<_>>())
}

fn check_binary(pair: impl Fn() -> [Array; 2]) {
    type Binary = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let functions: [(&str, Binary); 9] = [
        ("add", ops::add),
        ("subtract", ops::subtract),
        ("multiply", ops::multiply),
        ("divide", ops::divide),
        ("div_no_nan", ops::div_no_nan),
        ("maximum", ops::maximum),
        ("minimum", ops::minimum),
        ("pow", ops::pow),
        ("squared_difference", ops::squared_difference),
    ];
    for (name, function) in functions {
        let place = format!("{name} of {:?} and {:?}", pair()[0].shape(), pair()[1].shape());
        check(&place, &pair(), move |v| function(&v[0], &v[1]));
    }
}

/// Compares the gradients of `build` with central differences, for a loss that weighs every element otherwise.
fn check(place: &str, inputs: &[Array], build: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let run = || -> Result<()> {
        let graph = Graph::new();
        let variables = variables(&graph, inputs)?;
        let result = build(&variables.iter().map(Variable::value).collect::<Vec<_>>())?;
        compare(place, &graph, &variables, &result, inputs, None)
    };
    run().unwrap_or_else(|error| panic!("{place}: {error}"));
}

/// The same for a function of a batch `[?, 4]` of three rows.
fn check_on_batch(place: &str, inputs: &[Array], build: impl Fn(&Tensor, &[Tensor]) -> Result<Tensor>) {
    let run = || -> Result<()> {
        let graph = Graph::new();
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let variables = variables(&graph, inputs)?;
        let result = build(&x, &variables.iter().map(Variable::value).collect::<Vec<_>>())?;
        compare(place, &graph, &variables, &result, inputs, Some((x, ramp(&[3, 4], 0.9))))
    };
    run().unwrap_or_else(|error| panic!("{place}: {error}"));
}

fn compare(
    place: &str,
    graph: &Graph,
    variables: &[Variable],
    result: &Tensor,
    inputs: &[Array],
    batch: Option<(Tensor, Array)>,
) -> Result<()> {
    let loss = ops::reduce_sum(&ops::square(&(result + 0.5)?)?, &[])?;
    let gradients = gradients(&loss, variables)?;
    let places: Vec<Option<usize>> = gradients
        .iter()
        .scan(0, |next, gradient| {
            *next += usize::from(gradient.is_some());
            Some(gradient.as_ref().map(|_| *next))
        })
        .collect();
    let mut executor = float64(graph)?;
    let fetches = std::iter::once(loss).chain(gradients.into_iter().flatten()).collect();
    let (feeds, feed): (Vec<Tensor>, Vec<Array>) = batch.into_iter().unzip();
    let plan = executor.prepare(&Request { feeds, fetches, ..Request::default() })?;
    let mut loss_at = |name: &str, value: &Array| -> Result<f64> {
        executor.store_mut().set(name, value)?;
        executor.set_step(0);
        executor.run(plan, feed.as_slice())?;
        Ok(executor.scalar(plan, 0, 0))
    };
    let mut expected = Vec::new();
    for (variable, input) in variables.iter().zip(inputs) {
        let name = variable.name();
        let numbers = input.to_f64_vec()?;
        let mut differences = Vec::with_capacity(numbers.len());
        for index in 0..numbers.len() {
            let mut moved = |step: f64| -> Result<f64> {
                let mut numbers = numbers.clone();
                numbers[index] += step;
                loss_at(&name, &values(input.shape(), &numbers))
            };
            differences.push((moved(STEP)? - moved(-STEP)?) / (2.0 * STEP));
        }
        loss_at(&name, input)?;
        expected.push(differences);
    }
    for ((variable, position), (expected, input)) in variables.iter().zip(places).zip(expected.iter().zip(inputs)) {
        let found = match position {
            Some(position) => {
                let found = executor.output(plan, position, 0);
                assert_eq!(found.shape(), input.shape(), "{place}: shape of the gradient to {}", variable.name());
                found.to_f64_vec()?
            }
            None => vec![0.0; expected.len()],
        };
        for (found, expected) in found.iter().zip(expected) {
            let near = (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0);
            assert!(near, "{place}: gradient to {} is {found}, by differences {expected}", variable.name());
        }
    }
    Ok(())
}

/// The gradients of a scalar function, `None` where there is none.
fn analytic(inputs: &[Array], build: impl Fn(&[Tensor]) -> Result<Tensor>) -> Result<Vec<Option<Vec<f64>>>> {
    let graph = Graph::new();
    let variables = variables(&graph, inputs)?;
    let loss = build(&variables.iter().map(Variable::value).collect::<Vec<_>>())?;
    let gradients = gradients(&loss, &variables)?;
    let mut executor = float64(&graph)?;
    gradients
        .into_iter()
        .map(|gradient| {
            let Some(gradient) = gradient else { return Ok(None) };
            let plan = executor.prepare(&Request { fetches: vec![gradient], ..Request::default() })?;
            executor.run(plan, &[])?;
            executor.output(plan, 0, 0).to_f64_vec().map(Some)
        })
        .collect()
}

fn variables(graph: &Graph, inputs: &[Array]) -> Result<Vec<Variable>> {
    let variable = |(index, input): (usize, &Array)| {
        let options =
            VariableOptions { initializer: Initializer::Constant(input.clone()), ..VariableOptions::default() };
        graph.get_variable(&format!("v{index}"), input.shape(), options)
    };
    inputs.iter().enumerate().map(variable).collect()
}

fn float64(graph: &Graph) -> Result<Executor> {
    Executor::new(graph, ExecutorOptions { precision: Precision::Float64, ..ExecutorOptions::default() })
}
