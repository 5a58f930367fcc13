//! Dense layers and their gradients.

use super::elementwise::{Float, elu, relu, sigmoid};
use super::{Context, Inputs};
use crate::engine::bank::Kind;
use crate::engine::kernels::{self, Finish, Right, vectorised};
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
        let factors = |transpose_a, transpose_b| Factors {
            left: (inputs_of[0], transpose_a),
            right: (inputs_of[1], transpose_b),
            bias: None,
            then: Then::Nothing,
        };
        match &step.kernel {
            Kernel::Op(Op::MatMul { transpose_a, transpose_b }) => {
                self.product::<T>(output, factors(*transpose_a, *transpose_b));
            }
            Kernel::Op(Op::BiasAdd) => self.write::<T, _>(output, |out, inputs| {
                out.copy_from_slice(inputs.read(inputs_of[0]));
                add_bias(out, inputs.read(inputs_of[1]));
            }),
            Kernel::Op(Op::BiasAddGrad) => self.column_sums::<T>(inputs_of[0], output),
            Kernel::Dense { transpose_b, bias, activation } => {
                let bias = bias.then(|| inputs_of[2]);
                let then = Then::Activate(*activation);
                self.product::<T>(output, Factors { bias, then, ..factors(false, *transpose_b) });
            }
            Kernel::DenseInputGradient { transpose_b, activation } => {
                let then = Then::Differentiate(*activation, inputs_of[2]);
                self.product::<T>(output, Factors { then, ..factors(false, *transpose_b) });
            }
            Kernel::DenseParameterGradients => self.parameter_gradients::<T>(step),
            _ => {}
        }
    }

    /// Writes the product of two values, plus the bias, and what comes of it.
    fn product<T: Float>(&mut self, output: usize, factors: Factors) {
        let Factors { left, right, bias, then } = factors;
        self.with_scratch::<T, _>(|context, [scratch, _]| {
            context.write::<T, _>(output, |out, inputs| {
                let bias = bias.map(|bias| inputs.read::<T>(bias));
                let (a, b) = (inputs.read::<T>(left.0), inputs.read::<T>(right.0));
                let (rows, columns) = inputs.dims(right.0).matrix();
                if !left.1 && rows * columns <= SMALL_RIGHT {
                    let (inner, columns) = if right.1 { (columns, rows) } else { (rows, columns) };
                    let right = Right { values: b, inner, columns, transposed: right.1 };
                    let finish = then.finish(&inputs);
                    kernels::product(out, a, right, bias, finish.unwrap_or(Finish::Nothing), scratch);
                    if finish.is_none() {
                        then.run(out, &inputs);
                    }
                    return;
                }
                if left.1 && !right.1 && is_narrow(columns, out.len()) {
                    let (_, inner) = inputs.dims(left.0).matrix();
                    kernels::weight_gradients(out, None, a, b, (inner, columns));
                } else {
                    large_product(out, &inputs, output, left, right);
                }
                if let Some(bias) = bias {
                    add_bias(out, bias);
                }
                then.run(out, &inputs);
            });
        });
    }

    /// Writes `xᵀ · dy` and the sums of dy's rows.
    fn parameter_gradients<T: Float>(&mut self, step: &Step) {
        let &[x, dy] = step.inputs.as_slice() else { return };
        let &[weights, bias] = step.outputs.as_slice() else { return };
        let (_, inner) = self.dims(x).matrix();
        let (_, columns) = self.dims(dy).matrix();
        if !is_narrow(columns, self.dims(weights).elements()) {
            let then = Then::Nothing;
            self.product::<T>(weights, Factors { left: (x, true), right: (dy, false), bias: None, then });
            return self.column_sums::<T>(dy, bias);
        }
        self.with_scratch::<T, _>(|context, [sums, _]| {
            sums.resize(columns.max(sums.len()), T::from_f64(0.0));
            let sums = &mut sums[..columns];
            context.write::<T, _>(weights, |out, inputs| {
                kernels::weight_gradients(out, Some(sums), inputs.read(x), inputs.read(dy), (inner, columns));
            });
            context.write::<T, _>(bias, |out, _| out.copy_from_slice(sums));
        });
    }

    fn column_sums<T: Float>(&mut self, input: usize, output: usize) {
        self.write::<T, _>(output, |out, inputs| kernels::column_sums(out, inputs.read(input)));
    }
}

/// The largest right factor that our kernel multiplies by: it stays in the first cache, packed. Only the right factor
/// counts, so that a row gives the same bits in a batch of any size.
const SMALL_RIGHT: usize = 8192;

/// Whether our kernel beats the general one for `xᵀ · dy`: for few columns at any height, for small results at any width.
fn is_narrow(columns: usize, result: usize) -> bool {
    columns <= 16 || result <= 512
}

/// A product to be written: its two factors, each transposed or not, the bias, and what follows.
#[derive(Clone, Copy)]
struct Factors {
    left: (usize, bool),
    right: (usize, bool),
    bias: Option<usize>,
    then: Then,
}

/// What becomes of a product.
#[derive(Clone, Copy)]
enum Then {
    Nothing,
    Activate(Activation),
    /// Times the derivative of the activation that gave this value.
    Differentiate(Activation, usize),
}

impl Then {
    /// How the kernel itself does it, if it can.
    fn finish<'a, T: Float>(self, inputs: &Inputs<'a>) -> Option<Finish<'a, T>> {
        match self {
            Then::Nothing | Then::Activate(Activation::None) | Then::Differentiate(Activation::None, _) => {
                Some(Finish::Nothing)
            }
            Then::Activate(Activation::Relu) => Some(Finish::Relu),
            Then::Differentiate(Activation::Relu, y) => Some(Finish::ReluGradient(inputs.read(y))),
            _ => None,
        }
    }

    fn run<T: Float>(self, out: &mut [T], inputs: &Inputs<'_>) {
        match self {
            Then::Nothing => {}
            Then::Activate(activation) => activate(activation, out),
            Then::Differentiate(activation, y) => differentiate(activation, out, inputs.read(y)),
        }
    }
}

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
