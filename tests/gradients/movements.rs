//! Elements that are moved, gathered and reduced.

use crate::differences::{analytic, check, ramp, values};
use tpulab::graph::ops;
use tpulab::prelude::*;

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
