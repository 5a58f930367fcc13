//! What all optimizers do alike: slots, one update for each variable, the global step.

use super::slot::make_slots;
use super::{GradientAndVariable, TrainError};
use crate::core::{Array, Result, Shape};
use crate::graph::ops::{self, Op, StateOp};
use crate::graph::{Graph, GraphError, Initializer, Operation, Tensor, Variable};

/// What one optimizer does differently from the others.
pub(super) trait UpdateRule {
    /// The scalars that all updates read.
    type Numbers;

    /// What is kept for each variable: TensorFlow's word for it and the first value.
    fn slots(&self) -> Vec<(&'static str, Initializer)>;

    /// Refuses numbers that have no meaning.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Makes the optimizer's numbers nodes.
    fn prepare(&self, graph: &Graph) -> Result<Self::Numbers>;

    /// The op that changes one variable.
    fn update(&self, numbers: &Self::Numbers, target: &Target<'_>) -> Result<Operation>;

    /// What follows once all variables are changed.
    fn finish(&self, _numbers: &Self::Numbers, _updates: &[Operation]) -> Result<Vec<Operation>> {
        Ok(Vec::new())
    }
}

/// Makes an [`UpdateRule`] an optimizer under its name.
macro_rules! impl_optimizer {
    ($optimizer:ty, $name:literal) => {
        impl $crate::train::Optimizer for $optimizer {
            fn name(&self) -> &str {
                $name
            }

            fn slot_names(&self) -> Vec<&'static str> {
                $crate::train::update::UpdateRule::slots(self).into_iter().map(|(name, _)| name).collect()
            }

            fn apply_gradients(
                &self,
                gradients_and_variables: &[$crate::train::GradientAndVariable],
                global_step: Option<&$crate::graph::Variable>,
            ) -> $crate::core::Result<$crate::graph::Operation> {
                $crate::train::update::apply_rule(self, $name, gradients_and_variables, global_step)
            }
        }
    };
}
pub(super) use impl_optimizer;

/// A variable to change, with its gradient and its slots in the rule's order.
pub(super) struct Target<'a> {
    variable: &'a Variable,
    pub gradient: &'a Tensor,
    pub slots: Vec<Tensor>,
}

impl Target<'_> {
    /// A scalar in the variable's dtype.
    pub fn number(&self, number: &Tensor) -> Result<Tensor> {
        ops::cast(number, self.variable.dtype())
    }

    /// Adds the op, which reads the variable itself before `inputs`.
    pub fn apply(&self, op: StateOp, inputs: &[&Tensor]) -> Result<Operation> {
        let variable = self.variable.handle();
        let inputs: Vec<&Tensor> = std::iter::once(&variable).chain(inputs.iter().copied()).collect();
        let name = op.type_name();
        self.variable.graph().add_operation(Op::State(op), name, &inputs)
    }
}

/// The one operation that applies `rule` to each variable that has a gradient, then counts the step.
pub(super) fn apply_rule<R: UpdateRule>(
    rule: &R,
    name: &str,
    gradients_and_variables: &[GradientAndVariable],
    global_step: Option<&Variable>,
) -> Result<Operation> {
    rule.check()?;
    let targets = targets(rule, name, gradients_and_variables)?;
    let graph = targets[0].variable.graph();
    graph.name_scope(name, || {
        let numbers = rule.prepare(&graph)?;
        let mut updates = Vec::with_capacity(targets.len());
        for target in &targets {
            let scope = format!("update_{}", target.variable.name());
            updates.push(graph.name_scope(&scope, || rule.update(&numbers, target))?);
        }
        updates.extend(rule.finish(&numbers, &updates)?);
        match global_step {
            None => graph.control_dependencies(&updates, || graph.add_scope_operation(Op::NoOp, &[])),
            Some(global_step) => {
                let update = graph.group(&updates, "update")?;
                graph.control_dependencies(&[update], || count_step(&graph, global_step))
            }
        }
    })
}

/// Adds 1 to the step counter.
fn count_step(graph: &Graph, global_step: &Variable) -> Result<Operation> {
    if !global_step.shape().is_empty() || !global_step.dtype().is_integer() {
        let problem = format!("global_step is {global_step:?}, expected one integer");
        let help = "use `graph.global_step()`".to_string();
        return Err(GraphError::Argument { op: "apply_gradients".to_string(), problem, help }.into());
    }
    let one = graph.named_constant("Const", Array::from(1i64).cast(global_step.dtype())?);
    graph.add_scope_operation(Op::State(StateOp::AssignAddVariableOp), &[&global_step.handle(), &one])
}

/// The variables that have a gradient; at least one.
fn targets<'a, R: UpdateRule>(
    rule: &R,
    name: &str,
    gradients_and_variables: &'a [GradientAndVariable],
) -> Result<Vec<Target<'a>>> {
    if gradients_and_variables.is_empty() {
        return Err(TrainError::NoVariables.into());
    }
    let mut present = Vec::new();
    for (gradient, variable) in gradients_and_variables {
        if let Some(gradient) = gradient {
            check_gradient(gradient, variable)?;
            present.push((gradient, variable));
        }
    }
    if present.is_empty() {
        let variables = gradients_and_variables.iter().map(|(_, variable)| variable.name()).collect();
        return Err(TrainError::NoGradients { variables }.into());
    }
    present
        .into_iter()
        .map(|(gradient, variable)| Ok(Target { variable, gradient, slots: make_slots(variable, name, rule.slots())? }))
        .collect()
}

fn check_gradient(gradient: &Tensor, variable: &Variable) -> Result<()> {
    let expected = (Shape::known(&variable.shape()), variable.dtype());
    let found = (gradient.shape(), gradient.dtype());
    if found.0.is_compatible(&expected.0) && found.1 == expected.1 {
        return Ok(());
    }
    Err(TrainError::Gradient { variable: variable.name(), expected, found }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::DType;
    use crate::graph::{VariableOptions, ops};
    use crate::layers;
    use crate::train::{
        AdagradOptimizer, AdamOptimizer, FtrlOptimizer, GradientDescentOptimizer, LearningRate, MomentumOptimizer,
        Optimizer, RmsPropOptimizer,
    };

    /// A loss of one dense layer without bias.
    fn loss(graph: &Graph) -> Tensor {
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let y = layers::Dense::new(1).use_bias(false).apply(&x).unwrap();
        ops::reduce_mean(&y, &[]).unwrap()
    }

    fn input_names(graph: &Graph, node: &str) -> Vec<String> {
        let nodes = graph.nodes();
        let found = nodes.iter().find(|candidate| candidate.name == node).expect(node);
        found.inputs.iter().map(|&(input, _)| nodes[input].name.clone()).collect()
    }

    fn control_names(graph: &Graph, operation: &Operation) -> Vec<String> {
        let nodes = graph.nodes();
        let found = nodes.iter().find(|candidate| candidate.name == operation.name()).expect("it was just added");
        found.control_inputs.iter().map(|&input| nodes[input].name.clone()).collect()
    }

    #[test]
    fn updates_read_what_tensorflows_read() {
        let optimizers: [(Box<dyn Optimizer>, &str, &[&str]); 7] = [
            (
                Box::new(GradientDescentOptimizer::new(0.1)),
                "GradientDescent/update_dense/kernel/ResourceApplyGradientDescent",
                &["dense/kernel", "GradientDescent/learning_rate", "gradient"],
            ),
            (
                Box::new(MomentumOptimizer::new(0.1, 0.9)),
                "Momentum/update_dense/kernel/ResourceApplyMomentum",
                &["dense/kernel", "dense/kernel/Momentum", "Momentum/learning_rate", "gradient", "Momentum/momentum"],
            ),
            (
                Box::new(AdagradOptimizer::new(0.1)),
                "Adagrad/update_dense/kernel/ResourceApplyAdagrad",
                &["dense/kernel", "dense/kernel/Adagrad", "Adagrad/learning_rate", "gradient"],
            ),
            (
                Box::new(AdamOptimizer::new(0.1)),
                "Adam/update_dense/kernel/ResourceApplyAdam",
                &[
                    "dense/kernel",
                    "dense/kernel/Adam",
                    "dense/kernel/Adam_1",
                    "beta1_power/Read/ReadVariableOp",
                    "beta2_power/Read/ReadVariableOp",
                    "Adam/learning_rate",
                    "Adam/beta1",
                    "Adam/beta2",
                    "Adam/epsilon",
                    "gradient",
                ],
            ),
            (
                Box::new(RmsPropOptimizer::new(0.1)),
                "RMSProp/update_dense/kernel/ResourceApplyRMSProp",
                &[
                    "dense/kernel",
                    "dense/kernel/RMSProp",
                    "dense/kernel/RMSProp_1",
                    "RMSProp/learning_rate",
                    "RMSProp/decay",
                    "RMSProp/momentum",
                    "RMSProp/epsilon",
                    "gradient",
                ],
            ),
            (
                Box::new(RmsPropOptimizer::new(0.1).centered(true)),
                "RMSProp/update_dense/kernel/ResourceApplyCenteredRMSProp",
                &[
                    "dense/kernel",
                    "dense/kernel/RMSProp_1",
                    "dense/kernel/RMSProp",
                    "dense/kernel/RMSProp_2",
                    "RMSProp/learning_rate",
                    "RMSProp/decay",
                    "RMSProp/momentum",
                    "RMSProp/epsilon",
                    "gradient",
                ],
            ),
            (
                Box::new(FtrlOptimizer::new(0.1)),
                "Ftrl/update_dense/kernel/ResourceApplyFtrl",
                &[
                    "dense/kernel",
                    "dense/kernel/Ftrl",
                    "dense/kernel/Ftrl_1",
                    "gradient",
                    "Ftrl/learning_rate",
                    "Ftrl/l1_regularization_strength",
                    "Ftrl/l2_regularization_strength",
                    "Ftrl/learning_rate_power",
                ],
            ),
        ];
        for (optimizer, node, inputs) in optimizers {
            let graph = Graph::new();
            loss(&graph);
            let variable = graph.variable("dense/kernel").unwrap();
            let gradient = graph.placeholder("gradient", DType::Float32, Shape::known(&[4, 1]));
            optimizer.apply_gradients(&[(Some(gradient), variable)], None).unwrap();
            assert_eq!(input_names(&graph, node), inputs, "{}", optimizer.name());
        }
    }

    #[test]
    fn the_step_is_counted_after_the_updates() {
        let graph = Graph::new();
        let train_op = AdagradOptimizer::new(0.1).minimize(&loss(&graph), Some(&graph.global_step())).unwrap();
        assert_eq!((train_op.name().as_str(), train_op.type_name()), ("Adagrad", "AssignAddVariableOp"));
        assert_eq!(control_names(&graph, &train_op), ["Adagrad/update"]);
        let update = graph.nodes().into_iter().find(|node| node.name == "Adagrad/update").unwrap();
        let waits_for: Vec<String> = update.control_inputs.iter().map(|&id| graph.node_name(id)).collect();
        assert_eq!(waits_for, ["Adagrad/update_dense/kernel/ResourceApplyAdagrad"]);
    }

    #[test]
    fn without_a_step_the_operation_waits_for_all_updates() {
        let graph = Graph::new();
        let train_op = AdagradOptimizer::new(0.1).minimize(&loss(&graph), None).unwrap();
        assert_eq!((train_op.name().as_str(), train_op.type_name()), ("Adagrad", "NoOp"));
        assert_eq!(control_names(&graph, &train_op), ["Adagrad/update_dense/kernel/ResourceApplyAdagrad"]);
    }

    #[test]
    fn a_second_optimizer_has_slots_and_names_of_its_own() {
        let graph = Graph::new();
        let loss = loss(&graph);
        AdamOptimizer::new(0.1).minimize(&loss, None).unwrap();
        let second = AdamOptimizer::new(0.1).minimize(&loss, None).unwrap();
        assert_eq!(second.name(), "Adam_1");
        assert!(graph.variable("dense/kernel/Adam_3").is_ok());
        assert!(graph.variable("beta1_power_1").is_ok());
    }

    #[test]
    fn slots_do_not_wait_for_what_training_waits_for() {
        let graph = Graph::new();
        let loss = loss(&graph);
        let before = graph.group(&[], "before").unwrap();
        let optimizer = AdagradOptimizer::new(0.1);
        let train_op = graph.control_dependencies(&[before], || optimizer.minimize(&loss, None)).unwrap();
        let slot = graph.nodes().into_iter().find(|node| node.name == "dense/kernel/Adagrad").unwrap();
        assert!(slot.control_inputs.is_empty());
        assert_eq!(control_names(&graph, &train_op)[0], "before");
    }

    #[test]
    fn variables_without_a_gradient_are_left_alone() {
        let graph = Graph::new();
        let loss = loss(&graph);
        graph.get_variable("idle", &[2], VariableOptions::default()).unwrap();
        AdagradOptimizer::new(0.1).minimize(&loss, None).unwrap();
        assert!(graph.variable("idle/Adagrad").is_err());
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let graph = Graph::new();
        let loss = loss(&graph);
        let optimizer = AdagradOptimizer::new(0.1);
        let empty = Graph::new();
        assert_eq!(
            optimizer.minimize(&empty.constant(1.0f32), None).unwrap_err().to_string(),
            "TRAIN001: there are no trainable variables to optimize; make them, as `layers::dense` does, in the graph \
             of the loss and before the optimizer"
        );
        assert_eq!(
            optimizer.minimize(&graph.constant(1.0f32), None).unwrap_err().to_string(),
            "TRAIN002: no gradient reaches any of `dense/kernel`; compute the loss from them, through ops that have \
             gradients: `argmax` and `equal` have none"
        );
        assert_eq!(
            optimizer.minimize(&graph.constant(1i32), None).unwrap_err().to_string(),
            "GRAPH004: loss `Const_1:0`: expected floating point, found int32; `cast` it first"
        );
        let kernel = graph.variable("dense/kernel").unwrap();
        assert_eq!(
            optimizer.apply_gradients(&[(Some(loss.clone()), kernel)], None).unwrap_err().to_string(),
            "TRAIN003: variable `dense/kernel`: expected a gradient of shape [4, 1] and float32, found [] and float32; \
             keep each gradient beside the variable that `compute_gradients` gave with it"
        );
        let step = graph.get_variable("step", &[2], VariableOptions::default()).unwrap();
        assert_eq!(
            optimizer.minimize(&loss, Some(&step)).unwrap_err().to_string(),
            "GRAPH006: apply_gradients: global_step is Variable(\"step\", shape=[2], dtype=float32), expected one \
             integer; use `graph.global_step()`"
        );
    }

    #[test]
    fn numbers_without_meaning_are_refused() {
        let refusal = |optimizer: &dyn Optimizer| {
            let graph = Graph::new();
            optimizer.minimize(&loss(&graph), None).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(&AdagradOptimizer::new(0.1).initial_accumulator_value(0.0)),
            "TRAIN004: AdagradOptimizer: initial_accumulator_value must be positive, found 0"
        );
        assert_eq!(
            refusal(&FtrlOptimizer::new(0.1).learning_rate_power(0.5)),
            "TRAIN004: FtrlOptimizer: learning_rate_power must be 0 or less, found 0.5"
        );
        assert_eq!(
            refusal(&FtrlOptimizer::new(0.1).l1_regularization_strength(-1.0)),
            "TRAIN004: FtrlOptimizer: l1_regularization_strength must be 0 or more, found -1"
        );
        let vector = LearningRate::from(Graph::new().constant(vec![0.1f32, 0.2]));
        assert_eq!(
            refusal(&AdagradOptimizer::new(vector)),
            "TRAIN005: expected a learning rate of shape [], found `Const:0` of shape [2]; reduce it to one number"
        );
    }
}
