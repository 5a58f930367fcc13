//! Products of matrices and biases.

use super::{Backward, Gradients, Op, Outputs, Signature, require_floating, require_rank, require_same_dtype};
use crate::core::{Result, Shape};
use crate::graph::{GraphError, Tensor};

/// The product of `a` `[n, k]` and `b` `[k, m]`: `[n, m]`. TensorFlow: `tf.matmul`, for rank 2.
///
/// # Errors
/// `GRAPH001` if the inner sizes differ, `GRAPH002` for another rank, `GRAPH003` or `GRAPH004` for the dtypes.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    matmul_transposed(a, false, b, false)
}

/// The product of two matrices, each read transposed if so asked. TensorFlow: `tf.matmul(…, transpose_a, transpose_b)`.
///
/// # Errors
/// As for [`matmul`].
pub fn matmul_transposed(a: &Tensor, transpose_a: bool, b: &Tensor, transpose_b: bool) -> Result<Tensor> {
    a.graph.add(Op::MatMul { transpose_a, transpose_b }, "MatMul", &[a, b])
}

/// Adds the vector `bias` `[m]` along the last dimension of `x` `[…, m]`. TensorFlow: `tf.nn.bias_add`.
///
/// # Errors
/// `GRAPH001` if the sizes differ, `GRAPH002` for another rank, `GRAPH003` or `GRAPH004` for the dtypes.
pub fn bias_add(x: &Tensor, bias: &Tensor) -> Result<Tensor> {
    x.graph.add(Op::BiasAdd, "BiasAdd", &[x, bias])
}

pub(super) fn infer_matmul(transpose_a: bool, transpose_b: bool, inputs: &[Signature<'_>]) -> Result<Outputs> {
    let (a, b) = (inputs[0], inputs[1]);
    require_rank("MatMul", a, 2)?;
    require_rank("MatMul", b, 2)?;
    require_same_dtype("MatMul", a, b)?;
    require_floating("MatMul", a)?;
    let (rows, inner_a) = if transpose_a { (1, 0) } else { (0, 1) };
    let (inner_b, columns) = if transpose_b { (1, 0) } else { (0, 1) };
    if let (Some(left), Some(right)) = (a.shape.size(inner_a), b.shape.size(inner_b))
        && left != right
    {
        let rule = format!("inner sizes {left} and {right} must be equal");
        let (left, right) = (a.shape.clone(), b.shape.clone());
        return Err(GraphError::Shapes { op: "MatMul".to_string(), left, right, rule }.into());
    }
    Ok(vec![(a.dtype, Shape::new(&[a.shape.size(rows), b.shape.size(columns)]))])
}

pub(super) fn gradient_matmul(transpose_a: bool, transpose_b: bool, node: &Backward<'_>) -> Result<Gradients> {
    let (a, b, dy) = (node.input(0), node.input(1), node.gradient(0)?);
    let (da, db) = match (transpose_a, transpose_b) {
        (false, false) => (matmul_transposed(dy, false, &b, true)?, matmul_transposed(&a, true, dy, false)?),
        (false, true) => (matmul_transposed(dy, false, &b, false)?, matmul_transposed(dy, true, &a, false)?),
        (true, false) => (matmul_transposed(&b, false, dy, true)?, matmul_transposed(&a, false, dy, false)?),
        (true, true) => (matmul_transposed(&b, true, dy, true)?, matmul_transposed(dy, true, &a, true)?),
    };
    Ok(vec![Some(da), Some(db)])
}

pub(super) fn infer_bias_add(inputs: &[Signature<'_>]) -> Result<Outputs> {
    let (x, bias) = (inputs[0], inputs[1]);
    require_rank("BiasAdd", bias, 1)?;
    require_same_dtype("BiasAdd", x, bias)?;
    require_floating("BiasAdd", x)?;
    let Some(last) = x.shape.rank().checked_sub(1).filter(|last| *last > 0) else {
        let expected = "at least two dimensions".to_string();
        return Err(GraphError::Shape { op: "BiasAdd".to_string(), found: x.shape.clone(), expected }.into());
    };
    if let (Some(width), Some(size)) = (x.shape.size(last), bias.shape.size(0))
        && width != size
    {
        let rule = format!("the last size {width} and the bias's size {size} must be equal");
        let (left, right) = (x.shape.clone(), bias.shape.clone());
        return Err(GraphError::Shapes { op: "BiasAdd".to_string(), left, right, rule }.into());
    }
    let mut sizes = x.shape.sizes().to_vec();
    sizes[last] = sizes[last].or(bias.shape.size(0));
    Ok(vec![(x.dtype, Shape::new(&sizes))])
}

pub(super) fn infer_bias_add_grad(inputs: &[Signature<'_>]) -> Result<Outputs> {
    let x = inputs[0];
    require_floating("BiasAddGrad", x)?;
    let Some(last) = x.shape.sizes().last() else {
        let expected = "at least one dimension".to_string();
        return Err(GraphError::Shape { op: "BiasAddGrad".to_string(), found: x.shape.clone(), expected }.into());
    };
    Ok(vec![(x.dtype, Shape::new(&[*last]))])
}

pub(super) fn gradient_bias_add(node: &Backward<'_>) -> Result<Gradients> {
    let dy = node.gradient(0)?;
    let bias = dy.graph.add(Op::BiasAddGrad, "BiasAddGrad", &[dy])?;
    Ok(vec![Some(dy.clone()), Some(bias)])
}
