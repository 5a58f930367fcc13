//! Dense layers and their gradients.

use super::elementwise::{Float, elu, relu, sigmoid};
use super::{Context, Inputs};
use crate::engine::bank::Kind;
use crate::engine::kernels::{self, Right, vectorised};
use crate::engine::plan::{Activation, Kernel, Step};
use crate::graph::ops::Op;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

impl Context<'_> {
    pub(super) fn dense(&mut self, step: &Step) {
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.dense_float::<f32>(step),
            _ => self.dense_float::<f64>(step),
        }
    }

    fn dense_float<T: Float>(&mut self, step: &Step) {
        let (inputs_of, output) = (&step.inputs, step.outputs[0]);
        match &step.kernel {
            Kernel::Op(Op::MatMul { transpose_a, transpose_b }) => {
                self.product::<T>(output, (inputs_of[0], *transpose_a), (inputs_of[1], *transpose_b), None, |_, _| {});
            }
            Kernel::Op(Op::BiasAdd) => self.write::<T, _>(output, |out, inputs| {
                out.copy_from_slice(inputs.read(inputs_of[0]));
                add_bias(out, inputs.read(inputs_of[1]));
            }),
            Kernel::Op(Op::BiasAddGrad) => self.column_sums::<T>(inputs_of[0], output),
            Kernel::Dense { transpose_b, bias, activation } => {
                let bias = bias.then(|| inputs_of[2]);
                let (left, right) = ((inputs_of[0], false), (inputs_of[1], *transpose_b));
                self.product::<T>(output, left, right, bias, |out, _| activate(*activation, out));
            }
            Kernel::DenseInputGradient { transpose_b, activation } => {
                let (left, right) = ((inputs_of[0], false), (inputs_of[1], *transpose_b));
                self.product::<T>(output, left, right, None, |out, inputs| {
                    differentiate(*activation, out, inputs.read(inputs_of[2]));
                });
            }
            Kernel::DenseParameterGradients => {
                self.product::<T>(output, (inputs_of[0], true), (inputs_of[1], false), None, |_, _| {});
                self.column_sums::<T>(inputs_of[1], step.outputs[1]);
            }
            _ => {}
        }
    }

    /// Writes the product of two values, each transposed or not, plus the bias; `then` sees it while it is in the caches.
    fn product<T: Float>(
        &mut self,
        output: usize,
        left: (usize, bool),
        right: (usize, bool),
        bias: Option<usize>,
        then: impl FnOnce(&mut [T], Inputs<'_>),
    ) {
        self.with_scratch::<T, _>(|context, [scratch, _]| {
            context.write::<T, _>(output, |out, inputs| {
                let bias = bias.map(|bias| inputs.read::<T>(bias));
                let (a, b) = (inputs.read::<T>(left.0), inputs.read::<T>(right.0));
                let (rows, columns) = inputs.dims(right.0).matrix();
                let small = rows * columns <= SMALL_RIGHT;
                match (left.1, right.1) {
                    (false, false) if small => {
                        let right = Right { values: b, inner: rows, columns, transposed: false };
                        kernels::product(out, a, right, bias, scratch);
                    }
                    (false, true) if small => {
                        let right = Right { values: b, inner: columns, columns: rows, transposed: true };
                        kernels::product(out, a, right, bias, scratch);
                    }
                    (true, false) if columns <= NARROW_RESULT || out.len() <= SMALL_RESULT => {
                        let (_, inner) = inputs.dims(left.0).matrix();
                        kernels::weight_gradients(out, a, b, inner, columns);
                    }
                    _ => {
                        large_product(out, &inputs, output, left, right);
                        if let Some(bias) = bias {
                            add_bias(out, bias);
                        }
                    }
                }
                then(out, inputs);
            })
        });
    }

    fn column_sums<T: Float>(&mut self, input: usize, output: usize) {
        self.write::<T, _>(output, |out, inputs| kernels::column_sums(out, inputs.read(input)));
    }
}

/// The largest right factor that our kernel multiplies by: it stays in the first cache, packed. Only the right factor
/// counts, so that a row gives the same bits in a batch of any size.
const SMALL_RIGHT: usize = 8192;

/// The most columns with which our kernel beats the general one for `xᵀ · dy` of any height.
const NARROW_RESULT: usize = 16;

/// The largest result up to which it does so for any width.
const SMALL_RESULT: usize = 512;

fn activate<T: Float>(activation: Activation, out: &mut [T]) {
    match activation {
        Activation::None => {}
        Activation::Relu => vectorised(|| out.iter_mut().for_each(|x| *x = relu(*x))),
        Activation::Sigmoid => out.iter_mut().for_each(|x| *x = sigmoid(*x)),
        Activation::Tanh => out.iter_mut().for_each(|x| *x = x.tanh()),
        Activation::Elu => out.iter_mut().for_each(|x| *x = elu(*x)),
    }
}

/// Multiplies each gradient by the derivative of the activation that gave `y`.
fn differentiate<T: Float>(activation: Activation, gradients: &mut [T], y: &[T]) {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    let pairs = gradients.iter_mut().zip(y);
    match activation {
        Activation::None => {}
        Activation::Relu => vectorised(|| pairs.for_each(|(dx, &y)| *dx = if y > zero { *dx } else { zero })),
        Activation::Sigmoid => vectorised(|| pairs.for_each(|(dx, &y)| *dx = *dx * y * (one - y))),
        Activation::Tanh => vectorised(|| pairs.for_each(|(dx, &y)| *dx *= one - y * y)),
        Activation::Elu => vectorised(|| pairs.for_each(|(dx, &y)| *dx = if y < zero { *dx * (y + one) } else { *dx })),
    }
}

fn add_bias<T: Float>(out: &mut [T], bias: &[T]) {
    if !bias.is_empty() {
        for row in out.chunks_exact_mut(bias.len()) {
            row.iter_mut().zip(bias).for_each(|(out, &bias)| *out += bias);
        }
    }
}

fn large_product<T: Float>(
    out: &mut [T],
    inputs: &Inputs<'_>,
    output: usize,
    left: (usize, bool),
    right: (usize, bool),
) {
    let view = |(value, transposed): (usize, bool)| {
        let view = ArrayView2::from_shape(inputs.dims(value).matrix(), inputs.read::<T>(value));
        let view = view.expect("the length is the shape's product");
        if transposed { view.reversed_axes() } else { view }
    };
    let out = ArrayViewMut2::from_shape(inputs.dims(output).matrix(), out);
    let mut out = out.expect("the length is the shape's product");
    general_mat_mul(T::from_f64(1.0), &view(left), &view(right), T::from_f64(0.0), &mut out);
}
