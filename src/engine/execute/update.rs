//! Assignments, and the updates that optimizers make.

use super::Context;
use super::elementwise::Float;
use crate::engine::bank::{Kind, Part, Stored, for_kind};
use crate::engine::kernels::vectorised;
use crate::engine::plan::Step;
use crate::graph::ops::StateOp;

impl Context<'_> {
    pub(super) fn assign(&mut self, op: &StateOp, step: &Step) {
        let (variable, value) = (step.inputs[0], step.inputs[1]);
        if let StateOp::AssignVariableOp = op {
            return for_kind!(self.kind(variable), T => self.change::<T>(variable, value, |_, new| new));
        }
        let subtract = *op == StateOp::AssignSubVariableOp;
        match self.kind(variable) {
            Kind::F32 => self.change(variable, value, |old: f32, x| if subtract { old - x } else { old + x }),
            Kind::F64 => self.change(variable, value, |old: f64, x| if subtract { old - x } else { old + x }),
            Kind::I32 => {
                self.change(
                    variable,
                    value,
                    |old: i32, x| if subtract { old.wrapping_sub(x) } else { old.wrapping_add(x) },
                );
            }
            Kind::I64 => {
                self.change(
                    variable,
                    value,
                    |old: i64, x| if subtract { old.wrapping_sub(x) } else { old.wrapping_add(x) },
                );
            }
            Kind::Bool => {}
        }
    }

    fn change<T: Stored>(&mut self, variable: usize, value: usize, f: impl Fn(T, T) -> T) {
        // A value that is itself a variable lies in the memory that is taken out for writing.
        if let Part::Variable(from) = self.plan.values[value].slot.part {
            let Part::Variable(to) = self.plan.values[variable].slot.part else { return };
            let length = self.dims(variable).elements();
            let shared_value = self.plan.values[value].slot.shared && self.shared.is_some();
            let foreign = self.shared.filter(|_| shared_value);
            let own = &mut T::typed_mut(self.bank).variables[self.replica];
            for index in 0..length {
                let new = match foreign {
                    Some(shared) => T::typed(shared).variables[0][from + index],
                    None => own[from + index],
                };
                own[to + index] = f(own[to + index], new);
            }
            return;
        }
        self.write::<T, _>(variable, |out, inputs| {
            for (out, &x) in out.iter_mut().zip(inputs.read::<T>(value)) {
                *out = f(*out, x);
            }
        });
    }

    /// Runs an optimizer's update on `length` elements of its variables and slots, in their places.
    pub(super) fn apply_gradient<T: Float>(&mut self, op: &StateOp, length: usize, step: &Step) {
        let offset = |index: usize| match self.plan.values[step.inputs[index]].slot.part {
            Part::Variable(offset) => offset,
            Part::Buffer(_) | Part::Flat(_) => unreachable!("the first inputs are variables"),
        };
        let slots = op.changed_variables();
        let mut ranges = [0..0, 0..0, 0..0, 0..0];
        for (index, range) in ranges.iter_mut().enumerate().take(slots) {
            *range = offset(index)..offset(index) + length;
        }
        let part = self.plan.values[step.inputs[0]].slot.part;
        let mut memory = self.bank.take::<T>(part, self.replica);
        let inputs = self.inputs();
        let scalar = |index: usize| -> T {
            let value = step.inputs[index];
            match self.plan.values[value].slot.part {
                // A scalar variable, such as Adam's powers, lies in the memory that was taken out.
                Part::Variable(offset) if inputs.shared.is_none() || !self.plan.values[value].slot.shared => {
                    memory[offset]
                }
                _ => inputs.scalar(value),
            }
        };
        let gradient = |index: usize| inputs.read_on::<T>(step.inputs[index], length);
        let one = T::from_f64(1.0);
        match op {
            StateOp::ResourceApplyGradientDescent => {
                let rate = scalar(1);
                let gradient = gradient(2);
                vectorised(|| {
                    for (w, &g) in memory[ranges[0].clone()].iter_mut().zip(gradient) {
                        *w = *w - rate * g;
                    }
                });
            }
            StateOp::ResourceApplyMomentum { use_nesterov } => {
                let (rate, momentum, gradient) = (scalar(2), scalar(4), gradient(3));
                let [w, accumulator] = disjoint(&mut memory, [ranges[0].clone(), ranges[1].clone()]);
                vectorised(|| {
                    for ((w, accumulator), &g) in w.iter_mut().zip(accumulator).zip(gradient) {
                        *accumulator = *accumulator * momentum + g;
                        *w = if *use_nesterov {
                            *w - (g * rate + *accumulator * momentum * rate)
                        } else {
                            *w - *accumulator * rate
                        };
                    }
                });
            }
            StateOp::ResourceApplyAdagrad => {
                let (rate, gradient) = (scalar(2), gradient(3));
                let [w, accumulator] = disjoint(&mut memory, [ranges[0].clone(), ranges[1].clone()]);
                vectorised(|| {
                    for ((w, accumulator), &g) in w.iter_mut().zip(accumulator).zip(gradient) {
                        *accumulator += g * g;
                        *w = *w - rate * g / accumulator.sqrt();
                    }
                });
            }
            StateOp::ResourceApplyAdam => {
                let (beta1_power, beta2_power, rate) = (scalar(3), scalar(4), scalar(5));
                let (beta1, beta2, epsilon, gradient) = (scalar(6), scalar(7), scalar(8), gradient(9));
                let rate = rate * (one - beta2_power).sqrt() / (one - beta1_power);
                let [w, m, v] = disjoint(&mut memory, [ranges[0].clone(), ranges[1].clone(), ranges[2].clone()]);
                vectorised(|| {
                    for (((w, m), v), &g) in w.iter_mut().zip(m).zip(v).zip(gradient) {
                        *m += (g - *m) * (one - beta1);
                        *v += (g * g - *v) * (one - beta2);
                        *w = *w - *m * rate / (v.sqrt() + epsilon);
                    }
                });
            }
            StateOp::ResourceApplyRMSProp => {
                let (rate, rho, momentum) = (scalar(3), scalar(4), scalar(5));
                let (epsilon, gradient) = (scalar(6), gradient(7));
                let [w, mean_square, moment] =
                    disjoint(&mut memory, [ranges[0].clone(), ranges[1].clone(), ranges[2].clone()]);
                vectorised(|| {
                    for (((w, mean_square), moment), &g) in w.iter_mut().zip(mean_square).zip(moment).zip(gradient) {
                        *mean_square += (g * g - *mean_square) * (one - rho);
                        *moment = *moment * momentum + g * rate / (*mean_square + epsilon).sqrt();
                        *w = *w - *moment;
                    }
                });
            }
            StateOp::ResourceApplyCenteredRMSProp => {
                let (rate, rho, momentum) = (scalar(4), scalar(5), scalar(6));
                let (epsilon, gradient) = (scalar(7), gradient(8));
                let [w, mean, mean_square, moment] = disjoint(&mut memory, ranges);
                let slots = mean.iter_mut().zip(mean_square).zip(moment);
                vectorised(|| {
                    for ((w, ((mean, mean_square), moment)), &g) in w.iter_mut().zip(slots).zip(gradient) {
                        *mean_square += (g * g - *mean_square) * (one - rho);
                        *mean += (g - *mean) * (one - rho);
                        let denominator = (*mean_square - *mean * *mean) + epsilon;
                        *moment = *moment * momentum + g * rate / denominator.sqrt();
                        *w = *w - *moment;
                    }
                });
            }
            StateOp::ResourceApplyFtrl => {
                let (gradient, rate, l1, l2, power) = (gradient(3), scalar(4), scalar(5), scalar(6), scalar(7));
                let two = T::from_f64(2.0);
                let [w, accumulator, linear] =
                    disjoint(&mut memory, [ranges[0].clone(), ranges[1].clone(), ranges[2].clone()]);
                vectorised(|| {
                    for (((w, accumulator), linear), &g) in w.iter_mut().zip(accumulator).zip(linear).zip(gradient) {
                        let next = *accumulator + g * g;
                        let (old_root, new_root) = (accumulator.powf(-power), next.powf(-power));
                        *linear += g - (new_root - old_root) / rate * *w;
                        let quadratic = new_root / rate + two * l2;
                        *w = if linear.abs() > l1 {
                            (l1 * linear.signum_or_zero() - *linear) / quadratic
                        } else {
                            T::from_f64(0.0)
                        };
                        *accumulator = next;
                    }
                });
            }
            _ => {}
        }
        self.bank.put(part, self.replica, memory);
    }
}

fn disjoint<T, const N: usize>(memory: &mut [T], ranges: [std::ops::Range<usize>; N]) -> [&mut [T]; N] {
    memory.get_disjoint_mut(ranges).expect("variables do not overlap")
}
