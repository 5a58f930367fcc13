//! One step for variables or gradients that lie one after the other.
//!
//! A model has many small variables, and a step for each costs more than the arithmetic.

use super::bank::{Part, Slot};
use super::compile::gradient_input;
use super::plan::{Collective, Kernel, Step, Value};
use crate::graph::ops::Op;

/// Turns optimizers' ops into [`Kernel::Update`], and neighbours that change and read adjacent memory into one.
/// `length` tells how many elements a value that is a variable has.
pub(super) fn join_updates(steps: Vec<Step>, values: &[Value], length: impl Fn(usize) -> usize) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps {
        if let Kernel::Op(Op::State(op)) = &step.kernel
            && gradient_input(op).is_some()
        {
            let length = length(step.inputs[0]);
            step.kernel = Kernel::Update { op: op.clone(), length };
            if let Some(before) = joined.last_mut()
                && let Some(sum) = joined_length(before, &step, values)
            {
                before.kernel = step.kernel;
                if let Kernel::Update { length, .. } = &mut before.kernel {
                    *length = sum;
                }
                continue;
            }
        }
        joined.push(step);
    }
    joined
}

/// Turns sums over the same replicas of values that lie one after the other into one.
pub(super) fn join_collectives(collectives: Vec<Collective>, values: &[Value]) -> Vec<Collective> {
    let mut joined: Vec<Collective> = Vec::with_capacity(collectives.len());
    for next in collectives {
        if let Some(before) = joined.last_mut()
            && let (Some(length), Some(more)) = (before.length, next.length)
            && before.groups == next.groups
            && follows(values[before.input].slot, values[next.input].slot, length)
            && follows(values[before.output].slot, values[next.output].slot, length)
        {
            before.length = Some(length + more);
            continue;
        }
        joined.push(next);
    }
    joined
}

/// How many elements two updates change together, if the second one goes on where the first one ends.
fn joined_length(first: &Step, second: &Step, values: &[Value]) -> Option<usize> {
    let (Kernel::Update { op, length }, Kernel::Update { op: second_op, length: second_length }) =
        (&first.kernel, &second.kernel)
    else {
        return None;
    };
    let goes_on = |input: usize| {
        let (before, after) = (values[first.inputs[input]].slot, values[second.inputs[input]].slot);
        if input < op.changed_variables() || Some(input) == gradient_input(op) {
            follows(before, after, *length)
        } else {
            before == after
        }
    };
    (op == second_op && (0..first.inputs.len()).all(goes_on)).then_some(length + second_length)
}

fn follows(before: Slot, after: Slot, length: usize) -> bool {
    let adjacent = match (before.part, after.part) {
        (Part::Flat(before), Part::Flat(after)) | (Part::Variable(before), Part::Variable(after)) => {
            before + length == after
        }
        _ => false,
    };
    adjacent && before.kind == after.kind && before.shared == after.shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::bank::Kind;
    use crate::graph::ops::StateOp;

    const LENGTH: usize = 10;

    /// Adagrad on a variable at `variable`, whose slot lies at `slot` and gradient at `gradient`, with rate `rate`.
    fn update(values: &mut Vec<Value>, variable: usize, slot: usize, rate: usize, gradient: usize) -> Step {
        let parts = [Part::Variable(variable), Part::Variable(slot), Part::Buffer(rate), Part::Flat(gradient)];
        let first = values.len();
        let value = |part| Value { slot: Slot { kind: Kind::F32, shared: false, part }, name: 0, output: 0 };
        values.extend(parts.map(value));
        let kernel = Kernel::Op(Op::State(StateOp::ResourceApplyAdagrad));
        Step { kernel, inputs: (first..first + 4).collect(), outputs: Vec::new(), name: 0 }
    }

    fn lengths(updates: &[(usize, usize, usize, usize)]) -> Vec<usize> {
        let mut values = Vec::new();
        let steps = updates.iter().map(|&(w, slot, rate, g)| update(&mut values, w, slot, rate, g)).collect();
        let joined = join_updates(steps, &values, |_| LENGTH);
        let length = |step: &Step| match step.kernel {
            Kernel::Update { length, .. } => length,
            _ => 0,
        };
        joined.iter().map(length).collect()
    }

    #[test]
    fn neighbours_become_one_step() {
        assert_eq!(lengths(&[(0, 50, 1, 0)]), [10]);
        assert_eq!(lengths(&[(0, 50, 1, 0), (10, 60, 1, 10), (20, 70, 1, 20)]), [30]);
    }

    #[test]
    fn gaps_and_other_rates_keep_steps_apart() {
        assert_eq!(lengths(&[(0, 50, 1, 0), (20, 60, 1, 10)]), [10, 10], "another variable between");
        assert_eq!(lengths(&[(0, 50, 1, 0), (10, 70, 1, 10)]), [10, 10], "another slot between");
        assert_eq!(lengths(&[(0, 50, 1, 0), (10, 60, 1, 20)]), [10, 10], "another gradient between");
        assert_eq!(lengths(&[(0, 50, 1, 0), (10, 60, 2, 10)]), [10, 10], "another learning rate");
    }
}
