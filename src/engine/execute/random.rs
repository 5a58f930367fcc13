//! Random numbers from the stream of this op, replica and step.

use super::Context;
use crate::core::Philox;
use crate::engine::bank::{Kind, Stored};
use crate::engine::plan::Step;
use crate::graph::ops::RandomKind;

impl Context<'_> {
    pub(super) fn random(&mut self, kind: RandomKind, step: &Step) {
        let key = self.stream.seed ^ fingerprint(&self.plan.names[step.name]);
        let stream = (self.stream.replica as u64) << 40 ^ self.stream.step;
        let random = Philox::new(key, stream);
        match self.kind(step.outputs[0]) {
            Kind::F32 => self.draw::<f32>(kind, step, random, |random| f64::from(random.next_f32())),
            _ => self.draw::<f64>(kind, step, random, Philox::next_f64),
        }
    }

    fn draw<T: Stored>(&mut self, kind: RandomKind, step: &Step, mut random: Philox, uniform: fn(&mut Philox) -> f64) {
        self.write::<T, _>(step.outputs[0], |out, _| {
            for out in out {
                *out = T::from_f64(match kind {
                    RandomKind::Uniform => uniform(&mut random),
                    RandomKind::Normal => normal(&mut random),
                    RandomKind::TruncatedNormal => loop {
                        let value = normal(&mut random);
                        if value.abs() < 2.0 {
                            break value;
                        }
                    },
                });
            }
        });
    }
}

/// Box and Muller's method (1958), one of its two numbers.
fn normal(random: &mut Philox) -> f64 {
    let radius = (-2.0 * (1.0 - random.next_f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.next_f64()).cos()
}

/// FNV-1a: the same number for the same name on every machine.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
