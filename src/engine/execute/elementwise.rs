//! Element by element, with broadcasting.

use super::Context;
use crate::engine::bank::{Dims, Kind, Stored, for_kind};
use crate::engine::plan::Step;
use crate::graph::ops::{Binary, Compare, Unary};

/// A type with the arithmetic of real numbers.
pub(crate) trait Float: Stored + ndarray::LinalgScalar + num::Real + crate::engine::kernels::Real {}
impl Float for f32 {}
impl Float for f64 {}

/// The arithmetic that kernels need of float32 and float64.
pub(crate) mod num {
    macro_rules! real {
        ($($method:ident),*) => {
            pub(crate) trait Real:
                Copy + PartialOrd + std::ops::Neg<Output = Self> + std::ops::AddAssign + std::ops::MulAssign
            {
                $(fn $method(self) -> Self;)*
                fn powf(self, exponent: Self) -> Self;
                fn signum_or_zero(self) -> Self;
            }
            real!(@impl f32, $($method),*);
            real!(@impl f64, $($method),*);
        };
        (@impl $type:ty, $($method:ident),*) => {
            impl Real for $type {
                $(#[inline(always)] fn $method(self) -> Self { <$type>::$method(self) })*
                #[inline(always)]
                fn powf(self, exponent: Self) -> Self { <$type>::powf(self, exponent) }
                #[inline(always)]
                fn signum_or_zero(self) -> Self {
                    if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { self }
                }
            }
        };
    }
    real!(abs, floor, exp, exp_m1, ln, ln_1p, sqrt, tanh);
}

/// `1 / (1 + e⁻ˣ)` without overflow.
#[inline(always)]
pub(crate) fn sigmoid<T: Float>(x: T) -> T {
    let one = T::from_f64(1.0);
    one / (one + (-x).exp())
}

/// `log(1 + eˣ)`, exact at both ends.
#[inline(always)]
fn softplus<T: Float>(x: T) -> T {
    let zero = T::from_f64(0.0);
    (if x > zero { x } else { zero }) + (-x.abs()).exp().ln_1p()
}

/// `max(x, 0)`; NaN stays NaN.
#[inline(always)]
pub(crate) fn relu<T: Float>(x: T) -> T {
    let zero = T::from_f64(0.0);
    if x <= zero { zero } else { x }
}

#[inline(always)]
pub(crate) fn elu<T: Float>(x: T) -> T {
    if x < T::from_f64(0.0) { x.exp_m1() } else { x }
}

impl Context<'_> {
    pub(super) fn unary(&mut self, op: Unary, step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        match self.kind(output) {
            Kind::F32 => self.unary_float::<f32>(op, input, output),
            Kind::F64 => self.unary_float::<f64>(op, input, output),
            Kind::I32 => self.map(input, output, |x: i32| match op {
                Unary::Neg => x.wrapping_neg(),
                Unary::Abs => x.wrapping_abs(),
                Unary::Sign => x.signum(),
                _ => x.wrapping_mul(x),
            }),
            Kind::I64 => self.map(input, output, |x: i64| match op {
                Unary::Neg => x.wrapping_neg(),
                Unary::Abs => x.wrapping_abs(),
                Unary::Sign => x.signum(),
                _ => x.wrapping_mul(x),
            }),
            Kind::Bool => self.map(input, output, |x: bool| !x),
        }
    }

    fn unary_float<T: Float>(&mut self, op: Unary, input: usize, output: usize) {
        let one = T::from_f64(1.0);
        match op {
            Unary::Neg => self.map(input, output, |x: T| -x),
            Unary::Abs => self.map(input, output, |x: T| x.abs()),
            Unary::Sign => self.map(input, output, |x: T| x.signum_or_zero()),
            Unary::Floor => self.map(input, output, |x: T| x.floor()),
            Unary::Exp => self.map(input, output, |x: T| x.exp()),
            Unary::Log => self.map(input, output, |x: T| x.ln()),
            Unary::Log1p => self.map(input, output, |x: T| x.ln_1p()),
            Unary::Sqrt => self.map(input, output, |x: T| x.sqrt()),
            Unary::Rsqrt => self.map(input, output, |x: T| one / x.sqrt()),
            Unary::Square => self.map(input, output, |x: T| x * x),
            Unary::Relu => self.map(input, output, relu::<T>),
            Unary::Sigmoid => self.map(input, output, sigmoid::<T>),
            Unary::Tanh => self.map(input, output, |x: T| x.tanh()),
            Unary::Elu => self.map(input, output, elu::<T>),
            Unary::Softplus => self.map(input, output, softplus::<T>),
            Unary::LogicalNot => {}
        }
    }

    fn map<A: Stored, B: Stored>(&mut self, input: usize, output: usize, f: impl Fn(A) -> B) {
        self.write::<B, _>(output, |out, inputs| {
            for (out, &x) in out.iter_mut().zip(inputs.read::<A>(input)) {
                *out = f(x);
            }
        });
    }

    pub(super) fn binary(&mut self, op: Binary, step: &Step) {
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.binary_float::<f32>(op, step),
            Kind::F64 => self.binary_float::<f64>(op, step),
            Kind::I32 => self.zip(step, |a: i32, b: i32| match op {
                Binary::AddV2 => a.wrapping_add(b),
                Binary::Sub => a.wrapping_sub(b),
                Binary::Mul => a.wrapping_mul(b),
                Binary::Maximum => a.max(b),
                Binary::Minimum => a.min(b),
                _ => a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b)),
            }),
            Kind::I64 => self.zip(step, |a: i64, b: i64| match op {
                Binary::AddV2 => a.wrapping_add(b),
                Binary::Sub => a.wrapping_sub(b),
                Binary::Mul => a.wrapping_mul(b),
                Binary::Maximum => a.max(b),
                Binary::Minimum => a.min(b),
                _ => a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b)),
            }),
            Kind::Bool => {}
        }
    }

    fn binary_float<T: Float>(&mut self, op: Binary, step: &Step) {
        let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
        match op {
            Binary::AddV2 => self.zip(step, |a: T, b: T| a + b),
            Binary::Sub => self.zip(step, |a: T, b: T| a - b),
            Binary::Mul => self.zip(step, |a: T, b: T| a * b),
            Binary::RealDiv => self.zip(step, |a: T, b: T| a / b),
            Binary::DivNoNan => self.zip(step, |a: T, b: T| if b == zero { zero } else { a / b }),
            // NaN on either side stays NaN.
            Binary::Maximum => self.zip(step, |a: T, b: T| if a > b || a.is_nan() { a } else { b }),
            Binary::Minimum => self.zip(step, |a: T, b: T| if a < b || a.is_nan() { a } else { b }),
            Binary::Pow => self.zip(step, |a: T, b: T| a.powf(b)),
            Binary::SquaredDifference => self.zip(step, |a: T, b: T| (a - b) * (a - b)),
            Binary::ReluGrad => self.zip(step, |dy: T, x: T| if x > zero { dy } else { zero }),
            Binary::SigmoidGrad => self.zip(step, |y: T, dy: T| dy * y * (one - y)),
            Binary::TanhGrad => self.zip(step, |y: T, dy: T| dy * (one - y * y)),
            Binary::EluGrad => self.zip(step, |dy: T, y: T| if y < zero { dy * (y + one) } else { dy }),
            Binary::SoftplusGrad => self.zip(step, |dy: T, x: T| dy / (one + (-x).exp())),
        }
    }

    fn zip<A: Stored, B: Stored>(&mut self, step: &Step, f: impl Fn(A, A) -> B) {
        let (left, right, output) = (step.inputs[0], step.inputs[1], step.outputs[0]);
        self.write::<B, _>(output, |out, inputs| {
            let (a, b) = (inputs.read::<A>(left), inputs.read::<A>(right));
            let (a_dims, b_dims, dims) = (inputs.dims(left), inputs.dims(right), inputs.dims(output));
            if a_dims == b_dims {
                for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                    *out = f(a, b);
                }
            } else if let Some(columns) = b_dims.one_for_each_row_of(a_dims) {
                for ((out, a), &b) in out.chunks_exact_mut(columns).zip(a.chunks_exact(columns)).zip(b) {
                    out.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a, b));
                }
            } else if let Some(columns) = a_dims.one_for_each_row_of(b_dims) {
                for ((out, &a), b) in out.chunks_exact_mut(columns).zip(a).zip(b.chunks_exact(columns)) {
                    out.iter_mut().zip(b).for_each(|(out, &b)| *out = f(a, b));
                }
            } else if let [b] = *b {
                for (out, &a) in out.iter_mut().zip(a) {
                    *out = f(a, b);
                }
            } else if let [a] = *a {
                for (out, &b) in out.iter_mut().zip(b) {
                    *out = f(a, b);
                }
            } else {
                let (mut a_at, mut b_at) = (Walk::new(a_dims, dims), Walk::new(b_dims, dims));
                for out in out {
                    *out = f(a[a_at.offset], b[b_at.offset]);
                    a_at.next();
                    b_at.next();
                }
            }
        });
    }

    pub(super) fn add_n(&mut self, step: &Step) {
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.fold(step, |a: f32, b| a + b),
            Kind::F64 => self.fold(step, |a: f64, b| a + b),
            Kind::I32 => self.fold(step, i32::wrapping_add),
            Kind::I64 => self.fold(step, i64::wrapping_add),
            Kind::Bool => {}
        }
    }

    fn fold<T: Stored>(&mut self, step: &Step, f: impl Fn(T, T) -> T) {
        self.write::<T, _>(step.outputs[0], |out, inputs| {
            out.copy_from_slice(inputs.read(step.inputs[0]));
            for &input in &step.inputs[1..] {
                for (out, &x) in out.iter_mut().zip(inputs.read::<T>(input)) {
                    *out = f(*out, x);
                }
            }
        });
    }

    #[allow(clippy::bool_comparison, reason = "the same words stand for all element types")]
    pub(super) fn compare(&mut self, op: Compare, step: &Step) {
        if op == Compare::SelectV2 {
            return for_kind!(self.kind(step.outputs[0]), T => self.select::<T>(step));
        }
        for_kind!(self.kind(step.inputs[0]), T => match op {
            Compare::Equal => self.zip(step, |a: T, b: T| a == b),
            Compare::NotEqual => self.zip(step, |a: T, b: T| a != b),
            Compare::Less => self.zip(step, |a: T, b: T| a < b),
            Compare::LessEqual => self.zip(step, |a: T, b: T| a <= b),
            Compare::Greater => self.zip(step, |a: T, b: T| a > b),
            Compare::GreaterEqual => self.zip(step, |a: T, b: T| a >= b),
            Compare::LogicalAnd => self.zip(step, |a: bool, b: bool| a && b),
            Compare::LogicalOr => self.zip(step, |a: bool, b: bool| a || b),
            Compare::SelectV2 => {}
        });
    }

    fn select<T: Stored>(&mut self, step: &Step) {
        let &[condition, x, y] = step.inputs.as_slice() else { return };
        let output = step.outputs[0];
        self.write::<T, _>(output, |out, inputs| {
            let dims = inputs.dims(output);
            let mut walks = [condition, x, y].map(|input| Walk::new(inputs.dims(input), dims));
            let (condition, x, y) = (inputs.read::<bool>(condition), inputs.read::<T>(x), inputs.read::<T>(y));
            for out in out {
                let [condition_at, x_at, y_at] = &mut walks;
                *out = if condition[condition_at.offset] { x[x_at.offset] } else { y[y_at.offset] };
                walks.iter_mut().for_each(Walk::next);
            }
        });
    }
}

/// Goes through the elements of a value in the order of a larger shape that it broadcasts to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Where the current element lies.
    pub offset: usize,
    index: [usize; Dims::MAX_RANK],
    sizes: [usize; Dims::MAX_RANK],
    strides: [usize; Dims::MAX_RANK],
    rank: usize,
}

impl Walk {
    pub fn new(own: &Dims, whole: &Dims) -> Self {
        let rank = whole.sizes().len();
        let mut walk = Walk {
            offset: 0,
            index: [0; Dims::MAX_RANK],
            sizes: [1; Dims::MAX_RANK],
            strides: [0; Dims::MAX_RANK],
            rank,
        };
        walk.sizes[..rank].copy_from_slice(whole.sizes());
        let missing = rank - own.sizes().len();
        let mut stride = 1;
        for (axis, &size) in own.sizes().iter().enumerate().rev() {
            if size != 1 {
                walk.strides[missing + axis] = stride;
            }
            stride *= size;
        }
        walk
    }

    /// A walk with explicit strides over `sizes`, as transposes and slices need it.
    pub fn with_strides(sizes: &[usize], strides: &[usize], offset: usize) -> Self {
        let mut walk = Walk {
            offset,
            index: [0; Dims::MAX_RANK],
            sizes: [1; Dims::MAX_RANK],
            strides: [0; Dims::MAX_RANK],
            rank: sizes.len(),
        };
        walk.sizes[..sizes.len()].copy_from_slice(sizes);
        walk.strides[..strides.len()].copy_from_slice(strides);
        walk
    }

    #[inline]
    pub fn next(&mut self) {
        for axis in (0..self.rank).rev() {
            self.index[axis] += 1;
            self.offset += self.strides[axis];
            if self.index[axis] < self.sizes[axis] {
                return;
            }
            self.offset -= self.strides[axis] * self.sizes[axis];
            self.index[axis] = 0;
        }
    }
}
