//! Each op's values, with NaN, infinities, ties, nothing at all and integers that wrap around.
//!
//! All expected numbers were computed by TensorFlow 2.15 on a CPU.

use std::f32::{INFINITY as INF, NAN};
use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::graph::ops;
use tpulab::prelude::*;

const MIN: i32 = i32::MIN;
const MAX: i32 = i32::MAX;

#[test]
fn one_element_in_one_out() {
    type Unary = fn(&Tensor) -> Result<Tensor>;
    let x = [-2.5, 0.0, 0.5, 3.0, NAN, INF, -INF];
    let table: [(&str, Unary, [f32; 7]); 15] = [
        ("negative", ops::negative, [2.5, 0.0, -0.5, -3.0, NAN, -INF, INF]),
        ("abs", ops::abs, [2.5, 0.0, 0.5, 3.0, NAN, INF, INF]),
        ("sign", ops::sign, [-1.0, 0.0, 1.0, 1.0, NAN, 1.0, -1.0]),
        ("floor", ops::floor, [-3.0, 0.0, 0.0, 3.0, NAN, INF, -INF]),
        ("exp", ops::exp, [0.082085, 1.0, 1.6487212, 20.085537, NAN, INF, 0.0]),
        ("log", ops::log, [NAN, -INF, -0.6931472, 1.0986123, NAN, INF, NAN]),
        ("log1p", ops::log1p, [NAN, 0.0, 0.4054651, 1.3862944, NAN, INF, NAN]),
        ("sqrt", ops::sqrt, [NAN, 0.0, 0.70710677, 1.7320508, NAN, INF, NAN]),
        ("rsqrt", ops::rsqrt, [NAN, INF, 1.4142135, 0.57735026, NAN, 0.0, NAN]),
        ("square", ops::square, [6.25, 0.0, 0.25, 9.0, NAN, INF, INF]),
        ("relu", ops::relu, [0.0, 0.0, 0.5, 3.0, NAN, INF, 0.0]),
        ("sigmoid", ops::sigmoid, [0.075858176, 0.5, 0.62245935, 0.95257413, NAN, 1.0, 0.0]),
        ("tanh", ops::tanh, [-0.9866143, 0.0, 0.46211717, 0.9950547, NAN, 1.0, -1.0]),
        ("elu", ops::elu, [-0.917915, 0.0, 0.5, 3.0, NAN, INF, -1.0]),
        ("softplus", ops::softplus, [0.078889735, 0.6931472, 0.9740770, 3.0485873, NAN, INF, 0.0]),
    ];
    for (name, op, expected) in table {
        gives(name, expected.to_vec(), |graph| op(&graph.constant(x.to_vec())));
    }
    let whole: [(&str, Unary, [i32; 5]); 4] = [
        ("negative", ops::negative, [MIN, 3, 0, -2, -65536]),
        ("abs", ops::abs, [MIN, 3, 0, 2, 65536]),
        ("sign", ops::sign, [-1, -1, 0, 1, 1]),
        ("square", ops::square, [0, 9, 0, 4, 0]),
    ];
    for (name, op, expected) in whole {
        gives(name, expected.to_vec(), |graph| op(&graph.constant(vec![MIN, -3, 0, 2, 65536])));
    }
}

#[test]
fn two_elements_in_one_out() {
    type Binary = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let a = [1.0, -7.0, 0.0, NAN, INF, 2.0, 0.0];
    let b = [2.0, 0.0, 0.0, 1.0, INF, NAN, -3.0];
    let table: [(&str, Binary, [f32; 7]); 9] = [
        ("add", ops::add, [3.0, -7.0, 0.0, NAN, INF, NAN, -3.0]),
        ("subtract", ops::subtract, [-1.0, -7.0, 0.0, NAN, NAN, NAN, 3.0]),
        ("multiply", ops::multiply, [2.0, 0.0, 0.0, NAN, INF, NAN, 0.0]),
        ("divide", ops::divide, [0.5, -INF, NAN, NAN, NAN, NAN, 0.0]),
        ("div_no_nan", ops::div_no_nan, [0.5, 0.0, 0.0, NAN, NAN, NAN, 0.0]),
        ("maximum", ops::maximum, [2.0, 0.0, 0.0, NAN, INF, NAN, 0.0]),
        ("minimum", ops::minimum, [1.0, -7.0, 0.0, NAN, INF, NAN, -3.0]),
        ("pow", ops::pow, [1.0, 1.0, 1.0, NAN, INF, NAN, INF]),
        ("squared_difference", ops::squared_difference, [1.0, 49.0, 0.0, NAN, NAN, NAN, 9.0]),
    ];
    for (name, op, expected) in table {
        gives(name, expected.to_vec(), |graph| op(&graph.constant(a.to_vec()), &graph.constant(b.to_vec())));
    }
    let truths: [(&str, Binary, [u8; 7]); 6] = [
        ("equal", ops::equal, [0, 0, 1, 0, 1, 0, 0]),
        ("not_equal", ops::not_equal, [1, 1, 0, 1, 0, 1, 1]),
        ("less", ops::less, [1, 1, 0, 0, 0, 0, 0]),
        ("less_equal", ops::less_equal, [1, 1, 1, 0, 1, 0, 0]),
        ("greater", ops::greater, [0, 0, 0, 0, 0, 0, 1]),
        ("greater_equal", ops::greater_equal, [0, 0, 1, 0, 1, 0, 1]),
    ];
    for (name, op, expected) in truths {
        let expected: Vec<bool> = expected.iter().map(|&truth| truth == 1).collect();
        gives(name, expected, |graph| op(&graph.constant(a.to_vec()), &graph.constant(b.to_vec())));
    }
    let whole: [(&str, Binary, [i32; 3]); 6] = [
        ("add", ops::add, [MIN, MIN + 1, -2]),
        ("subtract", ops::subtract, [MAX - 1, MAX, 12]),
        ("multiply", ops::multiply, [MAX, MIN, -35]),
        ("maximum", ops::maximum, [MAX, 1, 5]),
        ("minimum", ops::minimum, [1, MIN, -7]),
        ("squared_difference", ops::squared_difference, [4, 1, 144]),
    ];
    for (name, op, expected) in whole {
        gives(name, expected.to_vec(), |graph| op(&graph.constant(vec![MAX, MIN, 5]), &graph.constant(vec![1, 1, -7])));
    }
    gives("multiply, no rows", shaped(&[0, 3], Vec::<f32>::new()), |graph| {
        ops::multiply(&graph.constant(shaped(&[0, 1], Vec::<f32>::new())), &graph.constant(vec![1.0f32, 2.0, 3.0]))
    });
    gives("add_n", vec![3.0, NAN], |graph| {
        ops::add_n(&[graph.constant(vec![1.0, NAN]), graph.constant(vec![2.0f32, 3.0])])
    });
    gives("where", vec![1.0, NAN], |graph| {
        let condition = graph.constant(vec![true, false]);
        ops::where_(&condition, &graph.constant(vec![1.0f32, 2.0]), &graph.constant(vec![NAN, NAN]))
    });
}

#[test]
fn many_elements_in_one_out() {
    type Reduction = fn(&Tensor, &[isize]) -> Result<Tensor>;
    // Along each row, along each column, and over [0, 3] along dimension 0.
    let table: [(&str, Reduction, [f32; 2], [f32; 3], f32); 5] = [
        ("reduce_sum", ops::reduce_sum, [NAN, -INF], [5.0, NAN, -INF], 0.0),
        ("reduce_mean", ops::reduce_mean, [NAN, -INF], [2.5, NAN, -INF], NAN),
        ("reduce_max", ops::reduce_max, [NAN, 4.0], [4.0, NAN, 3.0], -INF),
        ("reduce_min", ops::reduce_min, [NAN, -INF], [1.0, NAN, -INF], INF),
        ("reduce_prod", ops::reduce_prod, [NAN, -INF], [4.0, NAN, -INF], 1.0),
    ];
    for (name, op, rows, columns, nothing) in table {
        let matrix = || shaped(&[2, 3], vec![1.0, NAN, 3.0, 4.0, 4.0, -INF]);
        let empty = || shaped(&[0, 3], Vec::<f32>::new());
        gives(name, rows.to_vec(), |graph| op(&graph.constant(matrix()), &[1]));
        gives(name, columns.to_vec(), |graph| op(&graph.constant(matrix()), &[0]));
        gives(name, nothing, |graph| op(&graph.constant(empty()), &[]));
        gives(name, vec![nothing; 3], |graph| op(&graph.constant(empty()), &[0]));
        gives(name, Vec::<f32>::new(), |graph| op(&graph.constant(empty()), &[1]));
    }
    let whole: [(&str, Reduction, [i32; 2], i32); 4] = [
        ("reduce_sum", ops::reduce_sum, [MIN, 2], 0),
        ("reduce_max", ops::reduce_max, [MAX, 7], MIN),
        ("reduce_min", ops::reduce_min, [1, -5], MAX),
        ("reduce_prod", ops::reduce_prod, [MAX, -35], 1),
    ];
    for (name, op, rows, nothing) in whole {
        gives(name, rows.to_vec(), |graph| op(&graph.constant(shaped(&[2, 2], vec![MAX, 1, -5, 7])), &[1]));
        gives(name, vec![nothing; 2], |graph| op(&graph.constant(shaped(&[0, 2], Vec::<i32>::new())), &[0]));
    }
    gives("reduce_all", vec![false, true], |graph| {
        ops::reduce_all(&graph.constant(shaped(&[2, 2], vec![true, false, true, true])), &[1])
    });
    gives("reduce_any of nothing", false, |graph| ops::reduce_any(&graph.constant(Vec::<bool>::new()), &[]));
    gives("reduce_all of nothing", true, |graph| ops::reduce_all(&graph.constant(Vec::<bool>::new()), &[]));
    gives("argmax, the first of equals, never NaN", vec![1i64, 0, 2, 2, 0], |graph| {
        let rows = [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [NAN, 1.0, 2.0], [1.0, NAN, 2.0], [-INF, -INF, -INF]];
        ops::argmax(&graph.constant(shaped(&[5, 3], rows.concat())), 1)
    });
    gives("argmax of columns", vec![1i64, 0, 0], |graph| {
        ops::argmax(&graph.constant(shaped(&[2, 3], vec![1, 3, 3, 2, 2, 3])), 0)
    });
    gives("l2_loss", 12.5f32, |graph| ops::l2_loss(&graph.constant(vec![3.0f32, 4.0])));
    gives("l2_loss of nothing", 0.0f32, |graph| ops::l2_loss(&graph.constant(Vec::<f32>::new())));
    gives("size of nothing", 0, |graph| ops::size(&graph.constant(shaped(&[0, 3], Vec::<f32>::new()))));
}

#[test]
fn softmax_and_entropies() {
    let rows = [[1000.0, 1001.0, 999.0], [0.0, -INF, 0.0], [NAN, 0.0, 1.0], [0.1, 0.2, 0.7]];
    let logits = |graph: &Graph| graph.constant(shaped(&[4, 3], rows.concat()));
    let softmax =
        [[0.24472848, 0.66524094, 0.09003057], [0.5, 0.0, 0.5], [NAN, NAN, NAN], [0.25462854, 0.28140804, 0.46396342]];
    let log_softmax = [
        [-1.4076059, -0.40760595, -2.4076059],
        [-0.6931472, -INF, -0.6931472],
        [NAN, NAN, NAN],
        [-1.3679495, -1.2679496, -0.76794958],
    ];
    gives("softmax", shaped(&[4, 3], softmax.concat()), |graph| ops::softmax(&logits(graph)));
    gives("log_softmax", shaped(&[4, 3], log_softmax.concat()), |graph| ops::log_softmax(&logits(graph)));
    gives("sparse entropy", vec![1.4076059, 0.6931472, NAN, 0.76794958], |graph| {
        ops::sparse_softmax_cross_entropy_with_logits(&graph.constant(vec![0, 0, 1, 2]), &logits(graph))
    });
    gives("entropy, where 0 · -∞ is no number", vec![0.9076059, NAN, NAN, 1.0379496], |graph| {
        let labels = [[0.5f32, 0.5, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]];
        ops::softmax_cross_entropy_with_logits(&graph.constant(shaped(&[4, 3], labels.concat())), &logits(graph))
    });
    gives("sigmoid entropy", vec![100.0, 100.0, 0.70435524, NAN], |graph| {
        let labels = graph.constant(vec![0.0f32, 1.0, 0.5, 1.0]);
        tpulab::nn::sigmoid_cross_entropy_with_logits(&labels, &graph.constant(vec![100.0, -100.0, 0.3, INF]))
    });
}

#[test]
fn conversions() {
    gives("float to whole", vec![-2, 2, 0], |graph| ops::cast(&graph.constant(vec![-2.7f32, 2.7, -0.5]), DType::Int32));
    gives("float to long", vec![3_000_000_000i64, -3_000_000_000], |graph| {
        ops::cast(&graph.constant(vec![3e9f32, -3e9]), DType::Int64)
    });
    gives("float to truth", vec![false, false, true, true], |graph| {
        ops::cast(&graph.constant(vec![0.0, -0.0, 0.3, NAN]), DType::Bool)
    });
    gives("long to whole", vec![MIN, 5, -1], |graph| {
        ops::cast(&graph.constant(vec![1i64 << 31, (1 << 32) + 5, -1]), DType::Int32)
    });
    gives("whole to float", vec![16_777_216.0f32, -3.0], |graph| {
        ops::cast(&graph.constant(vec![16_777_217, -3]), DType::Float32)
    });
    gives("truth to float", vec![1.0f32, 0.0], |graph| ops::cast(&graph.constant(vec![true, false]), DType::Float32));
    gives("whole to truth", vec![false, true, true], |graph| ops::cast(&graph.constant(vec![0, 5, -1]), DType::Bool));
    gives("one_hot", shaped(&[4, 3], vec![0.0f32, 1., 0., 0., 0., 0., 0., 0., 0., 1., 0., 0.]), |graph| {
        ops::one_hot(&graph.constant(vec![1, -1, 3, 0]), 3, DType::Float32)
    });
    gives("one_hot of a matrix", shaped(&[2, 1, 3], vec![1, 0, 0, 0, 0, 1]), |graph| {
        ops::one_hot(&graph.constant(shaped(&[2, 1], vec![0, 2])), 3, DType::Int32)
    });
}

#[test]
fn moves() {
    let square = |graph: &Graph| graph.constant(shaped(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0]));
    gives("unsorted_segment_sum", vec![4.0f32, 0.0, 4.0], |graph| {
        let x = graph.constant(vec![1.0f32, 2.0, 3.0, 4.0]);
        ops::unsorted_segment_sum(&x, &graph.constant(vec![2, -1, 2, 0]), 3)
    });
    gives("gather", shaped(&[2, 3], vec![2.0f32, 1.0, 2.0, 4.0, 3.0, 4.0]), |graph| {
        ops::gather(&square(graph), &graph.constant(vec![1, 0, 1]), 1)
    });
    gives("gather of nothing", shaped(&[0, 2], Vec::<f32>::new()), |graph| {
        ops::gather(&square(graph), &graph.constant(Vec::<i32>::new()), 0)
    });
    gives("pad", shaped(&[2, 4], vec![0.0f32, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0]), |graph| {
        ops::pad(&graph.constant(shaped(&[1, 2], vec![1.0f32, 2.0])), &[(1, 0), (0, 2)])
    });
    gives("concat with nothing", shaped(&[1, 3], vec![1.0f32; 3]), |graph| {
        let nothing = graph.constant(shaped(&[0, 3], Vec::<f32>::new()));
        ops::concat(&[nothing, graph.constant(shaped(&[1, 3], vec![1.0f32; 3]))], 0)
    });
    gives("slice", shaped(&[1, 2], vec![4, 5]), |graph| {
        ops::slice(&graph.constant(shaped(&[2, 3], vec![1, 2, 3, 4, 5, 6])), &[1, 0], &[-1, 2])
    });
    gives("transpose", shaped(&[2, 2, 2], vec![1, 3, 5, 7, 2, 4, 6, 8]), |graph| {
        ops::transpose(&graph.constant(shaped(&[2, 2, 2], vec![1, 2, 3, 4, 5, 6, 7, 8])), &[2, 0, 1])
    });
    gives("squeeze", vec![1, 2], |graph| ops::squeeze(&graph.constant(shaped(&[2, 1], vec![1, 2])), &[1]));
    gives("matmul", shaped(&[2, 2], vec![26.0f32, 30.0, 38.0, 44.0]), |graph| {
        let b = graph.constant(shaped(&[2, 2], vec![5.0f32, 6.0, 7.0, 8.0]));
        ops::matmul_transposed(&square(graph), true, &b, false)
    });
    gives("matmul over nothing", shaped(&[2, 3], vec![0.0f32; 6]), |graph| {
        let a = graph.constant(shaped(&[2, 0], Vec::<f32>::new()));
        ops::matmul(&a, &graph.constant(shaped(&[0, 3], Vec::<f32>::new())))
    });
    gives("bias_add", shaped(&[2, 2], vec![11.0f32, 22.0, 13.0, 24.0]), |graph| {
        ops::bias_add(&square(graph), &graph.constant(vec![10.0f32, 20.0]))
    });
}

#[test]
fn clipping() {
    gives("clip_by_value", vec![-1.0, 0.0, 1.0, NAN], |graph| {
        ops::clip_by_value(&graph.constant(vec![-5.0, 0.0, 5.0, NAN]), -1.0, 1.0)
    });
    let table: [([f32; 2], [f32; 2]); 3] =
        [([3.0, 4.0], [0.6, 0.8]), ([0.0, 0.0], [0.0, 0.0]), ([3.0, INF], [NAN, NAN])];
    for (x, expected) in table {
        gives("clip_by_global_norm", expected.to_vec(), |graph| {
            let (mut clipped, _) = ops::clip_by_global_norm(&[graph.constant(x.to_vec())], 1.0)?;
            Ok(clipped.remove(0))
        });
    }
}

/// TensorFlow's own vector code errs by some units in the last place.
const TOLERANCE: f64 = 1e-6;

/// Compares dtype, shape and numbers of what a run computes.
fn gives(name: &str, expected: impl Into<Array>, build: impl FnOnce(&Graph) -> Result<Tensor>) {
    let run = || -> Result<Array> {
        let graph = Graph::new();
        let fetches = vec![build(&graph)?];
        let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
        let plan = executor.prepare(&Request { fetches, ..Request::default() })?;
        executor.run(plan, &[])?;
        Ok(executor.output(plan, 0, 0))
    };
    let (expected, found) = (expected.into(), run().unwrap_or_else(|error| panic!("{name}: {error}")));
    assert_eq!((found.dtype(), found.shape()), (expected.dtype(), expected.shape()), "{name}");
    let numbers = |array: &Array| match array.dtype() {
        DType::Bool => array.cast(DType::Int32).and_then(|array| array.to_f64_vec()),
        _ => array.to_f64_vec(),
    };
    let pairs = numbers(&found).into_iter().flatten().zip(numbers(&expected).into_iter().flatten());
    for (index, (found, expected)) in pairs.enumerate() {
        let equal = found == expected
            || (found.is_nan() && expected.is_nan())
            || (found - expected).abs() <= TOLERANCE * expected.abs();
        assert!(equal, "{name}, element {index}: {found} instead of {expected}");
    }
}

fn shaped<T: tpulab::core::Element>(shape: &[usize], values: Vec<T>) -> Array {
    Array::from_vec(shape, values).expect("the test's own values fill the shape")
}
