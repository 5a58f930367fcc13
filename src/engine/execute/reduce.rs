//! Reductions over dimensions, always in the order of the elements.

use super::Context;
use super::elementwise::{Float, Walk};
use crate::engine::bank::{Dims, Kind, Stored, for_kind};
use crate::engine::plan::Step;
use crate::graph::ops::Reduction;

impl Context<'_> {
    pub(super) fn reduce(&mut self, reduction: Reduction, axes: &[usize], step: &Step) {
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.reduce_float::<f32>(reduction, axes, step),
            Kind::F64 => self.reduce_float::<f64>(reduction, axes, step),
            Kind::I32 => match reduction {
                Reduction::Max => self.accumulate(axes, step, i32::MIN, i32::max),
                Reduction::Min => self.accumulate(axes, step, i32::MAX, i32::min),
                Reduction::Prod => self.accumulate(axes, step, 1, i32::wrapping_mul),
                _ => self.accumulate(axes, step, 0, i32::wrapping_add),
            },
            Kind::I64 => match reduction {
                Reduction::Max => self.accumulate(axes, step, i64::MIN, i64::max),
                Reduction::Min => self.accumulate(axes, step, i64::MAX, i64::min),
                Reduction::Prod => self.accumulate(axes, step, 1, i64::wrapping_mul),
                _ => self.accumulate(axes, step, 0, i64::wrapping_add),
            },
            Kind::Bool => match reduction {
                Reduction::All => self.accumulate(axes, step, true, |a, b| a && b),
                _ => self.accumulate(axes, step, false, |a, b| a || b),
            },
        }
    }

    /// The sum over the dimensions along which the output's shape broadcasts to the input's.
    pub(super) fn sum_like(&mut self, step: &Step) {
        let (from, to) = (self.dims(step.inputs[0]), self.dims(step.outputs[0]));
        if from == to {
            return self.copy(step);
        }
        let missing = from.sizes().len() - to.sizes().len();
        let (mut axes, mut count) = ([0; Dims::MAX_RANK], 0);
        for axis in 0..from.sizes().len() {
            if axis < missing || to.sizes()[axis - missing] == 1 {
                axes[count] = axis;
                count += 1;
            }
        }
        self.reduce(Reduction::Sum, &axes[..count], step);
    }

    fn reduce_float<T: Float>(&mut self, reduction: Reduction, axes: &[usize], step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        match reduction {
            Reduction::Max => {
                self.accumulate(
                    axes,
                    step,
                    T::from_f64(f64::NEG_INFINITY),
                    |a: T, b| if a > b || a.is_nan() { a } else { b },
                );
            }
            Reduction::Min => {
                self.accumulate(
                    axes,
                    step,
                    T::from_f64(f64::INFINITY),
                    |a: T, b| if a < b || a.is_nan() { a } else { b },
                );
            }
            Reduction::Prod => self.accumulate(axes, step, T::from_f64(1.0), |a: T, b| a * b),
            _ => {
                if self.dims(output).elements() == 1 {
                    self.write::<T, _>(output, |out, inputs| out[0] = sum(inputs.read(input)));
                } else {
                    self.accumulate(axes, step, T::from_f64(0.0), |a: T, b| a + b);
                }
                if reduction == Reduction::Mean {
                    self.write::<T, _>(output, |out, inputs| {
                        let count = inputs.dims(input).elements() as f64 / out.len() as f64;
                        let count = T::from_f64(count);
                        out.iter_mut().for_each(|out| *out = *out / count);
                    });
                }
            }
        }
    }

    /// Folds every element into its place in the output.
    fn accumulate<T: Stored>(&mut self, axes: &[usize], step: &Step, start: T, f: impl Fn(T, T) -> T) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        self.write::<T, _>(output, |out, inputs| {
            out.fill(start);
            let sizes = inputs.dims(input).sizes();
            let mut walk = Walk::with_strides(sizes, &kept_strides(sizes, axes), 0);
            for &x in inputs.read::<T>(input) {
                let out = &mut out[walk.offset];
                *out = f(*out, x);
                walk.next();
            }
        });
    }

    #[allow(clippy::bool_comparison, reason = "the same words stand for all element types")]
    pub(super) fn argmax(&mut self, axis: usize, step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        for_kind!(self.kind(input), T => self.write::<i64, _>(output, |out, inputs| {
            let sizes = inputs.dims(input).sizes();
            let x = inputs.read::<T>(input);
            let inner: usize = sizes[axis + 1..].iter().product();
            let count = sizes[axis];
            for (index, out) in out.iter_mut().enumerate() {
                let base = index / inner * count * inner + index % inner;
                let mut best = 0;
                for candidate in 1..count {
                    let (x, largest) = (x[base + candidate * inner], x[base + best * inner]);
                    // As in TensorFlow, NaN is never the largest.
                    if x > largest || (is_nan(largest) && !is_nan(x)) {
                        best = candidate;
                    }
                }
                *out = best as i64;
            }
        }));
    }

    pub(super) fn l2_loss(&mut self, step: &Step) {
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.half_squares::<f32>(step),
            _ => self.half_squares::<f64>(step),
        }
    }

    fn half_squares<T: Float>(&mut self, step: &Step) {
        self.write::<T, _>(step.outputs[0], |out, inputs| {
            let mut lanes = [T::from_f64(0.0); LANES];
            for (index, &x) in inputs.read::<T>(step.inputs[0]).iter().enumerate() {
                lanes[index % LANES] += x * x;
            }
            out[0] = lanes.iter().fold(T::from_f64(0.0), |total, &lane| total + lane) * T::from_f64(0.5);
        });
    }
}

/// Whether a value has no order even to itself.
fn is_nan<T: PartialOrd>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
}

const LANES: usize = 16;

/// The sum in a fixed order: lanes of sixteen, then lane by lane.
pub(super) fn sum<T: Float>(values: &[T]) -> T {
    let mut lanes = [T::from_f64(0.0); LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    let total = lanes.iter().fold(T::from_f64(0.0), |total, &lane| total + lane);
    rest.iter().fold(total, |total, &value| total + value)
}

/// For each dimension of the input, how far apart its elements lie in the output: 0 where it is reduced.
fn kept_strides(sizes: &[usize], axes: &[usize]) -> [usize; Dims::MAX_RANK] {
    let mut strides = [0; Dims::MAX_RANK];
    let mut stride = 1;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        if !axes.contains(&axis) {
            strides[axis] = stride;
            stride *= size;
        }
    }
    strides
}
