//! Softmax and the cross entropies, row by row.

use super::Context;
use super::elementwise::Float;
use crate::core::Result;
use crate::engine::bank::Kind;
use crate::engine::error::EngineError;
use crate::engine::kernels::{self, Examples, WrongLabel};
use crate::engine::plan::Step;
use crate::graph::ops::Entropy;

impl Context<'_> {
    pub(super) fn entropy(&mut self, op: Entropy, step: &Step) -> Result<()> {
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.entropy_float::<f32>(op, step),
            _ => self.entropy_float::<f64>(op, step),
        }
    }

    fn entropy_float<T: Float>(&mut self, op: Entropy, step: &Step) -> Result<()> {
        let logits = step.inputs[0];
        let (_, classes) = self.dims(logits).matrix();
        let first = step.outputs[0];
        match op {
            Entropy::Softmax => self.with_scratch::<T, _>(|context, [scratch, _]| {
                context.write::<T, _>(first, |out, inputs| {
                    kernels::softmax(out, inputs.read(logits), classes, scratch);
                });
            }),
            Entropy::LogSoftmax => self.with_scratch::<T, _>(|context, [scratch, _]| {
                context.write::<T, _>(first, |out, inputs| {
                    kernels::log_softmax(out, inputs.read(logits), classes, scratch);
                });
            }),
            Entropy::SparseSoftmaxCrossEntropyWithLogits => return self.sparse_cross_entropy::<T>(step),
            Entropy::SoftmaxCrossEntropyWithLogits => {
                let labels = step.inputs[1];
                self.write::<T, _>(first, |out, inputs| {
                    let (x, labels) = (inputs.read::<T>(logits), inputs.read::<T>(labels));
                    out.fill(T::from_f64(0.0));
                    let pairs = x.chunks_exact(classes.max(1)).zip(labels.chunks_exact(classes.max(1)));
                    for (out, (x, labels)) in out.iter_mut().zip(pairs) {
                        let (largest, total) = largest_and_total(x);
                        let log_total = total.ln();
                        let terms = x.iter().zip(labels).map(|(&x, &label)| label * (log_total - (x - largest)));
                        *out = terms.fold(T::from_f64(0.0), |sum, term| sum + term);
                    }
                });
                self.write::<T, _>(step.outputs[1], |out, inputs| {
                    let labels = inputs.read::<T>(labels).chunks_exact(classes.max(1));
                    for ((out, x), labels) in rows(out, inputs.read::<T>(logits), classes).zip(labels) {
                        softmax(out, x);
                        out.iter_mut().zip(labels).for_each(|(out, &label)| *out = *out - label);
                    }
                });
            }
        }
        Ok(())
    }

    /// Inputs: logits, labels, and what the derivative is multiplied by, if anything.
    pub(super) fn sparse_cross_entropy<T: Float>(&mut self, step: &Step) -> Result<()> {
        let &[logits, labels, ref scale @ ..] = step.inputs.as_slice() else { return Ok(()) };
        let (_, classes) = self.dims(logits).matrix();
        let wide = self.kind(labels) == Kind::I64;
        let (loss, backprop) = (step.outputs[0], step.outputs[1]);
        let rows = self.dims(loss).elements();
        let outcome = self.with_scratch::<T, _>(|context, [scratch, losses]| {
            losses.resize(rows.max(losses.len()), T::from_f64(0.0));
            let losses = &mut losses[..rows];
            let outcome = context.write::<T, _>(backprop, |out, inputs| {
                let logits = inputs.read(logits);
                let scale = scale.first().map_or(&[][..], |&scale| inputs.read(scale));
                if wide {
                    let examples = Examples { logits, labels: inputs.read::<i64>(labels), classes, scale };
                    kernels::sparse_cross_entropy(losses, out, examples, scratch)
                } else {
                    let examples = Examples { logits, labels: inputs.read::<i32>(labels), classes, scale };
                    kernels::sparse_cross_entropy(losses, out, examples, scratch)
                }
            });
            context.write::<T, _>(loss, |out, _| out.copy_from_slice(losses));
            outcome
        });
        outcome.map_err(|WrongLabel { row, label }| {
            let op = format!("SparseSoftmaxCrossEntropyWithLogits `{}`", self.plan.names[step.name]);
            let row = self.stream.replica * (rows / self.replicas) + row;
            EngineError::Label { op, row, label, classes }.into()
        })
    }

    /// Lends the memory that kernels use while they run.
    pub(super) fn with_scratch<T: Float, R>(&mut self, run: impl FnOnce(&mut Self, &mut [Vec<T>; 2]) -> R) -> R {
        let mut scratch = std::mem::take(&mut T::typed_mut(self.bank).scratch);
        let result = run(self, &mut scratch);
        T::typed_mut(self.bank).scratch = scratch;
        result
    }
}

fn rows<'a, T>(out: &'a mut [T], x: &'a [T], classes: usize) -> impl Iterator<Item = (&'a mut [T], &'a [T])> {
    out.chunks_exact_mut(classes.max(1)).zip(x.chunks_exact(classes.max(1)))
}

/// The largest logit of a row, and the sum of `e^(x - largest)`.
fn largest_and_total<T: Float>(x: &[T]) -> (T, T) {
    let largest = x
        .iter()
        .fold(T::from_f64(f64::NEG_INFINITY), |largest, &x| if x > largest || x.is_nan() { x } else { largest });
    (largest, x.iter().fold(T::from_f64(0.0), |total, &x| total + (x - largest).exp()))
}

fn softmax<T: Float>(out: &mut [T], x: &[T]) {
    let largest = x
        .iter()
        .fold(T::from_f64(f64::NEG_INFINITY), |largest, &x| if x > largest || x.is_nan() { x } else { largest });
    let mut total = T::from_f64(0.0);
    for (out, &x) in out.iter_mut().zip(x) {
        *out = (x - largest).exp();
        total += *out;
    }
    out.iter_mut().for_each(|out| *out = *out / total);
}
