//! Moves, shapes and converts elements.

use super::Context;
use super::elementwise::Walk;
use crate::core::Result;
use crate::engine::bank::{Dims, Kind, Stored, for_kind};
use crate::engine::error::EngineError;
use crate::engine::plan::Step;
use crate::graph::ops::ArrayOp;

impl Context<'_> {
    pub(super) fn layout(&mut self, op: &ArrayOp, step: &Step) -> Result<()> {
        let output = step.outputs[0];
        let kind = self.kind(output);
        match op {
            // These share their input's memory; they are steps only where something forces a copy.
            ArrayOp::Identity
            | ArrayOp::StopGradient
            | ArrayOp::Reshape { .. }
            | ArrayOp::ReshapeLike
            | ArrayOp::ExpandDims { .. }
            | ArrayOp::Squeeze { .. } => self.copy(step),
            ArrayOp::Cast { .. } => self.cast(step),
            ArrayOp::ZerosLike => for_kind!(kind, T => self.fill::<T>(output, 0.0)),
            ArrayOp::FillLike { value } => for_kind!(kind, T => self.fill::<T>(output, *value)),
            ArrayOp::Size => {
                let elements = self.dims(step.inputs[0]).elements();
                for_kind!(kind, T => self.fill::<T>(output, elements as f64));
            }
            ArrayOp::BroadcastLike => for_kind!(kind, T => self.broadcast::<T>(step)),
            ArrayOp::SumLike => self.sum_like(step),
            ArrayOp::Transpose { permutation } => for_kind!(kind, T => self.transpose::<T>(permutation, step)),
            ArrayOp::ConcatV2 { axis } => for_kind!(kind, T => self.concat::<T>(*axis, step)),
            ArrayOp::Slice { begin, .. } => {
                let mut start = [0; Dims::MAX_RANK];
                start[..begin.len()].copy_from_slice(begin);
                for_kind!(kind, T => self.slice::<T>(start, step));
            }
            ArrayOp::ConcatPart { axis, index } => {
                let mut start = [0; Dims::MAX_RANK];
                start[*axis] = step.inputs[1..1 + index].iter().map(|&part| self.dims(part).sizes()[*axis]).sum();
                for_kind!(kind, T => self.slice::<T>(start, step));
            }
            ArrayOp::Pad { paddings } => {
                let mut start = [0; Dims::MAX_RANK];
                start.iter_mut().zip(paddings).for_each(|(start, (before, _))| *start = *before);
                for_kind!(kind, T => self.pad::<T>(start, step));
            }
            ArrayOp::PadLike { begin } => {
                let mut start = [0; Dims::MAX_RANK];
                start[..begin.len()].copy_from_slice(begin);
                for_kind!(kind, T => self.pad::<T>(start, step));
            }
            ArrayOp::GatherV2 { axis } => return for_kind!(kind, T => self.gather::<T>(*axis, step)),
            ArrayOp::UnsortedSegmentSum { .. } => match kind {
                Kind::F32 => return self.segment_sum(step, |a: f32, b| a + b),
                Kind::F64 => return self.segment_sum(step, |a: f64, b| a + b),
                Kind::I32 => return self.segment_sum(step, i32::wrapping_add),
                Kind::I64 => return self.segment_sum(step, i64::wrapping_add),
                Kind::Bool => {}
            },
            ArrayOp::OneHot { depth, .. } => for_kind!(kind, T => self.one_hot::<T>(*depth, step)),
        }
        Ok(())
    }

    fn fill<T: Stored>(&mut self, output: usize, value: f64) {
        self.write::<T, _>(output, |out, _| out.fill(T::from_f64(value)));
    }

    fn cast(&mut self, step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        for_kind!(self.kind(input), A => for_kind!(self.kind(output), B => {
            self.write::<B, _>(output, |out, inputs| {
                for (out, &x) in out.iter_mut().zip(inputs.read::<A>(input)) {
                    *out = convert::<A, B>(x);
                }
            });
        }));
    }

    fn broadcast<T: Stored>(&mut self, step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        self.write::<T, _>(output, |out, inputs| {
            let x = inputs.read::<T>(input);
            if let [x] = *x {
                return out.fill(x);
            }
            let mut walk = Walk::new(inputs.dims(input), inputs.dims(output));
            for out in out {
                *out = x[walk.offset];
                walk.next();
            }
        });
    }

    fn transpose<T: Stored>(&mut self, permutation: &[usize], step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        self.write::<T, _>(output, |out, inputs| {
            let own = strides(inputs.dims(input).sizes());
            let mut permuted = [0; Dims::MAX_RANK];
            permuted.iter_mut().zip(permutation).for_each(|(stride, &axis)| *stride = own[axis]);
            let sizes = inputs.dims(output).sizes();
            let mut walk = Walk::with_strides(sizes, &permuted[..sizes.len()], 0);
            let x = inputs.read::<T>(input);
            for out in out {
                *out = x[walk.offset];
                walk.next();
            }
        });
    }

    fn concat<T: Stored>(&mut self, axis: usize, step: &Step) {
        let output = step.outputs[0];
        self.write::<T, _>(output, |out, inputs| {
            let sizes = inputs.dims(output).sizes();
            let width: usize = sizes[axis..].iter().product();
            let mut start = 0;
            for &input in &step.inputs {
                let part: usize = inputs.dims(input).sizes()[axis..].iter().product();
                if part == 1 {
                    let column = out.iter_mut().skip(start).step_by(width.max(1));
                    column.zip(inputs.read::<T>(input)).for_each(|(out, &x)| *out = x);
                } else if part > 0 {
                    for (row, x) in out.chunks_exact_mut(width).zip(inputs.read::<T>(input).chunks_exact(part)) {
                        row[start..start + part].copy_from_slice(x);
                    }
                }
                start += part;
            }
        });
    }

    /// The part of the input that starts at `start` and has the output's sizes.
    fn slice<T: Stored>(&mut self, start: [usize; Dims::MAX_RANK], step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        self.write::<T, _>(output, |out, inputs| {
            let sizes = inputs.dims(output).sizes();
            let strides = strides(inputs.dims(input).sizes());
            let offset = start.iter().zip(&strides).map(|(start, stride)| start * stride).sum();
            let mut walk = Walk::with_strides(sizes, &strides[..sizes.len()], offset);
            let x = inputs.read::<T>(input);
            for out in out {
                *out = x[walk.offset];
                walk.next();
            }
        });
    }

    /// Zeros, and the input's elements from `start` on.
    fn pad<T: Stored>(&mut self, start: [usize; Dims::MAX_RANK], step: &Step) {
        let (input, output) = (step.inputs[0], step.outputs[0]);
        self.write::<T, _>(output, |out, inputs| {
            out.fill(T::default());
            let sizes = inputs.dims(input).sizes();
            let strides = strides(inputs.dims(output).sizes());
            let offset = start.iter().zip(&strides).map(|(start, stride)| start * stride).sum();
            let mut walk = Walk::with_strides(sizes, &strides[..sizes.len()], offset);
            for &x in inputs.read::<T>(input) {
                out[walk.offset] = x;
                walk.next();
            }
        });
    }

    fn gather<T: Stored>(&mut self, axis: usize, step: &Step) -> Result<()> {
        let (input, indices, output) = (step.inputs[0], step.inputs[1], step.outputs[0]);
        let index_kind = self.kind(indices);
        let outside = self.write::<T, _>(output, |out, inputs| {
            let sizes = inputs.dims(input).sizes();
            let (count, inner) = (sizes[axis], sizes[axis + 1..].iter().product::<usize>());
            let outer: usize = sizes[..axis].iter().product();
            let x = inputs.read::<T>(input);
            let number = inputs.dims(indices).elements();
            for place in 0..number {
                let index = index_at(&inputs, indices, index_kind, place);
                let Some(index) = usize::try_from(index).ok().filter(|index| *index < count) else {
                    return Some((index, count));
                };
                for block in 0..outer {
                    let from = (block * count + index) * inner;
                    let to = (block * number + place) * inner;
                    out[to..to + inner].copy_from_slice(&x[from..from + inner]);
                }
            }
            None
        });
        self.require_inside("GatherV2", outside, step)
    }

    fn segment_sum<T: Stored>(&mut self, step: &Step, add: impl Fn(T, T) -> T) -> Result<()> {
        let (input, segments, output) = (step.inputs[0], step.inputs[1], step.outputs[0]);
        let index_kind = self.kind(segments);
        let outside = self.write::<T, _>(output, |out, inputs| {
            out.fill(T::default());
            let count = inputs.dims(output).sizes()[0];
            let number = inputs.dims(segments).elements();
            let x = inputs.read::<T>(input);
            let width = x.len().checked_div(number).unwrap_or(0);
            for place in 0..number {
                let number = index_at(&inputs, segments, index_kind, place);
                // As in TensorFlow, a negative number drops its slice.
                let Ok(index) = usize::try_from(number) else { continue };
                if index >= count {
                    return Some((number, count));
                }
                let from = &x[place * width..(place + 1) * width];
                for (out, &x) in out[index * width..(index + 1) * width].iter_mut().zip(from) {
                    *out = add(*out, x);
                }
            }
            None
        });
        self.require_inside("UnsortedSegmentSum", outside, step)
    }

    fn require_inside(&self, op: &str, outside: Option<(i64, usize)>, step: &Step) -> Result<()> {
        let Some((index, size)) = outside else { return Ok(()) };
        let op = format!("{op} `{}`", self.plan.names[step.name]);
        Err(EngineError::Index { op, index, size }.into())
    }

    fn one_hot<T: Stored>(&mut self, depth: usize, step: &Step) {
        let (indices, output) = (step.inputs[0], step.outputs[0]);
        let index_kind = self.kind(indices);
        self.write::<T, _>(output, |out, inputs| {
            out.fill(T::from_f64(0.0));
            if depth == 0 {
                return;
            }
            for (place, row) in out.chunks_exact_mut(depth).enumerate() {
                let index = usize::try_from(index_at(&inputs, indices, index_kind, place));
                if let Some(hot) = index.ok().and_then(|index| row.get_mut(index)) {
                    *hot = T::from_f64(1.0);
                }
            }
        });
    }
}

fn index_at(inputs: &super::Inputs<'_>, value: usize, kind: Kind, place: usize) -> i64 {
    match kind {
        Kind::I32 => i64::from(inputs.read::<i32>(value)[place]),
        _ => inputs.read::<i64>(value)[place],
    }
}

/// Converts as C does: towards zero from floating point to integers, bit by bit among integers. What no integer is near,
/// NaN included, becomes the smallest one, as TensorFlow has it on x86.
fn convert<A: Stored, B: Stored>(x: A) -> B {
    if matches!(A::KIND, Kind::I32 | Kind::I64 | Kind::Bool) {
        return B::from_i64(x.to_i64());
    }
    let x = x.to_f64();
    match B::KIND {
        Kind::I32 if !(x > f64::from(i32::MIN) - 1.0 && x < f64::from(i32::MAX) + 1.0) => {
            B::from_i64(i64::from(i32::MIN))
        }
        // The largest int64 is no float64; the next one up is 2^63.
        Kind::I64 if !(x >= i64::MIN as f64 && x < i64::MAX as f64) => B::from_i64(i64::MIN),
        _ => B::from_f64(x),
    }
}

/// How far apart neighbours lie along each dimension.
fn strides(sizes: &[usize]) -> [usize; Dims::MAX_RANK] {
    let mut strides = [0; Dims::MAX_RANK];
    let mut stride = 1;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        strides[axis] = stride;
        stride *= size;
    }
    strides
}
