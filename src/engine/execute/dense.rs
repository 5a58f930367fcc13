//! Dense layers and their gradients.

use super::elementwise::{Float, elu, relu, sigmoid};
use super::{Context, Inputs};
use crate::engine::bank::Kind;
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
                self.write::<T, _>(output, |out, inputs| {
                    product(out, &inputs, output, (inputs_of[0], *transpose_a), (inputs_of[1], *transpose_b));
                });
            }
            Kernel::Op(Op::BiasAdd) => self.write::<T, _>(output, |out, inputs| {
                out.copy_from_slice(inputs.read(inputs_of[0]));
                add_bias(out, inputs.read(inputs_of[1]));
            }),
            Kernel::Op(Op::BiasAddGrad) => self.column_sums::<T>(inputs_of[0], output),
            Kernel::Dense { transpose_b, bias, activation } => self.write::<T, _>(output, |out, inputs| {
                product(out, &inputs, output, (inputs_of[0], false), (inputs_of[1], *transpose_b));
                if *bias {
                    add_bias(out, inputs.read(inputs_of[2]));
                }
                match activation {
                    Activation::None => {}
                    Activation::Relu => out.iter_mut().for_each(|x| *x = relu(*x)),
                    Activation::Sigmoid => out.iter_mut().for_each(|x| *x = sigmoid(*x)),
                    Activation::Tanh => out.iter_mut().for_each(|x| *x = x.tanh()),
                    Activation::Elu => out.iter_mut().for_each(|x| *x = elu(*x)),
                }
            }),
            Kernel::DenseInputGradient { transpose_b, activation } => self.write::<T, _>(output, |out, inputs| {
                product(out, &inputs, output, (inputs_of[0], false), (inputs_of[1], *transpose_b));
                let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
                let pairs = out.iter_mut().zip(inputs.read::<T>(inputs_of[2]));
                match activation {
                    Activation::None => {}
                    Activation::Relu => pairs.for_each(|(dx, &y)| *dx = if y > zero { *dx } else { zero }),
                    Activation::Sigmoid => pairs.for_each(|(dx, &y)| *dx = *dx * y * (one - y)),
                    Activation::Tanh => pairs.for_each(|(dx, &y)| *dx = *dx * (one - y * y)),
                    Activation::Elu => pairs.for_each(|(dx, &y)| *dx = if y < zero { *dx * (y + one) } else { *dx }),
                }
            }),
            Kernel::DenseParameterGradients => {
                self.write::<T, _>(output, |out, inputs| {
                    product(out, &inputs, output, (inputs_of[0], true), (inputs_of[1], false));
                });
                self.column_sums::<T>(inputs_of[1], step.outputs[1]);
            }
            _ => {}
        }
    }

    fn column_sums<T: Float>(&mut self, input: usize, output: usize) {
        self.write::<T, _>(output, |out, inputs| {
            out.fill(T::from_f64(0.0));
            if out.is_empty() {
                return;
            }
            for row in inputs.read::<T>(input).chunks_exact(out.len()) {
                out.iter_mut().zip(row).for_each(|(out, &x)| *out += x);
            }
        });
    }
}

fn add_bias<T: Float>(out: &mut [T], bias: &[T]) {
    if !bias.is_empty() {
        for row in out.chunks_exact_mut(bias.len()) {
            row.iter_mut().zip(bias).for_each(|(out, &bias)| *out += bias);
        }
    }
}

fn product<T: Float>(out: &mut [T], inputs: &Inputs<'_>, output: usize, left: (usize, bool), right: (usize, bool)) {
    let view = |(value, transposed): (usize, bool)| {
        let view = ArrayView2::from_shape(inputs.dims(value).matrix(), inputs.read::<T>(value));
        let view = view.expect("the length is the shape's product");
        if transposed { view.reversed_axes() } else { view }
    };
    let out = ArrayViewMut2::from_shape(inputs.dims(output).matrix(), out);
    let mut out = out.expect("the length is the shape's product");
    general_mat_mul(T::from_f64(1.0), &view(left), &view(right), T::from_f64(0.0), &mut out);
}
