//! Variables: values that live from step to step.

use super::graph::VariableNode;
use super::ops::{self, Op, RandomKind, StateOp};
use super::{Graph, GraphError, Operation, Tensor};
use crate::core::{Array, DType, Result, Shape};
use std::fmt;

/// A value that lives from step to step, under a name that checkpoints use. TensorFlow: a resource variable.
#[derive(Clone)]
pub struct Variable {
    graph: Graph,
    index: usize,
}

/// How a variable gets its first value. TensorFlow: `tf.initializers`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Initializer {
    /// Uniform in ±√(6 / (fan_in + fan_out)), where the last two sizes are fan_in and fan_out.
    GlorotUniform,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// These values; one number fills the whole shape.
    Constant(Array),
    /// Uniform in `[minimum, maximum)`.
    RandomUniform {
        /// The lower bound.
        minimum: f64,
        /// The upper bound.
        maximum: f64,
    },
    /// Normal with this mean and standard deviation.
    RandomNormal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        stddev: f64,
    },
    /// Normal, drawn again where it falls further than two standard deviations from the mean.
    TruncatedNormal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        stddev: f64,
    },
}

/// What [`Graph::get_variable`] may be told beyond name and shape. Default: float32, glorot uniform, trainable.
#[derive(Clone, Debug)]
pub struct VariableOptions {
    /// The type of the elements.
    pub dtype: DType,
    /// How the first value is made.
    pub initializer: Initializer,
    /// Whether optimizers change it.
    pub trainable: bool,
    /// Further collections that it belongs to. One that contains `local_variables` is not saved in checkpoints.
    pub collections: Vec<String>,
}

impl Default for VariableOptions {
    fn default() -> Self {
        VariableOptions {
            dtype: DType::Float32,
            initializer: Initializer::GlorotUniform,
            trainable: true,
            collections: Vec::new(),
        }
    }
}

/// The collection of variables that no checkpoint saves, such as a metric's counters.
pub(crate) const LOCAL_VARIABLES: &str = "local_variables";

impl Graph {
    /// A new variable called `name`. TensorFlow: `tf.get_variable`.
    ///
    /// # Errors
    /// `GRAPH007` if there is one of that name, `GRAPH006` if the initializer's value has another shape.
    pub fn get_variable(&self, name: &str, shape: &[usize], options: VariableOptions) -> Result<Variable> {
        let initializer = options.initializer.clone();
        let (dtype, sizes) = (options.dtype, shape.to_vec());
        self.variable_from(name, options, move |graph| initializer.build(graph, dtype, &sizes))
    }

    /// A new variable whose first value `initial_value` builds, inside the scope `name/Initializer`.
    pub(crate) fn variable_from(
        &self,
        name: &str,
        options: VariableOptions,
        initial_value: impl FnOnce(&Graph) -> Result<Tensor>,
    ) -> Result<Variable> {
        // A variable is there before the step begins, whatever the code around it waits for.
        self.without_control_dependencies(|| self.unconditional_variable(name, options, initial_value))
    }

    fn unconditional_variable(
        &self,
        name: &str,
        options: VariableOptions,
        initial_value: impl FnOnce(&Graph) -> Result<Tensor>,
    ) -> Result<Variable> {
        if self.variable_index(name).is_some() {
            return Err(GraphError::VariableExists { name: name.to_string() }.into());
        }
        let initial_value = self.in_scope(format!("{name}/Initializer"), || initial_value(self))?;
        let shape = initial_value.shape().to_known().ok_or_else(|| GraphError::Shape {
            op: format!("variable `{name}`"),
            found: initial_value.shape(),
            expected: "an initial value whose sizes are all known".to_string(),
        })?;
        let (dtype, handle, read) = self.in_scope(String::new(), || -> Result<_> {
            let op = StateOp::VarHandleOp { dtype: options.dtype, shape: shape.clone() };
            let handle = self.add_operation(Op::State(op), name, &[])?.output(0);
            let read = StateOp::ReadVariableOp { dtype: options.dtype, shape: shape.clone() };
            let read = self.add(Op::State(read), &format!("{name}/Read/ReadVariableOp"), &[&handle])?;
            Ok((options.dtype, handle.node, read.node))
        })?;
        let index = self.add_variable(VariableNode {
            name: name.to_string(),
            dtype,
            shape,
            trainable: options.trainable,
            collections: options.collections,
            handle,
            initial_value: (initial_value.node, initial_value.output),
            read,
        });
        Ok(Variable { graph: self.clone(), index })
    }

    /// All variables, in the order in which they were made.
    pub fn variables(&self) -> Vec<Variable> {
        (0..self.variable_nodes().len()).map(|index| Variable { graph: self.clone(), index }).collect()
    }

    /// The variables that optimizers change. TensorFlow: `tf.trainable_variables`.
    pub fn trainable_variables(&self) -> Vec<Variable> {
        self.variables().into_iter().filter(Variable::is_trainable).collect()
    }

    /// The variable called `name`.
    ///
    /// # Errors
    /// `GRAPH008` if there is none.
    pub fn variable(&self, name: &str) -> Result<Variable> {
        match self.variable_index(name) {
            Some(index) => Ok(Variable { graph: self.clone(), index }),
            None => {
                let known = self.variable_nodes().into_iter().map(|variable| variable.name).collect();
                Err(GraphError::Unknown { kind: "variable", name: name.to_string(), known }.into())
            }
        }
    }

    /// The count of training steps, an int64 variable that starts at 0; made when first asked for.
    /// TensorFlow: `tf.train.get_or_create_global_step`.
    pub fn global_step(&self) -> Variable {
        match self.variable_index(GLOBAL_STEP) {
            Some(index) => Variable { graph: self.clone(), index },
            None => {
                let options = VariableOptions {
                    dtype: DType::Int64,
                    initializer: Initializer::Zeros,
                    trainable: false,
                    collections: vec![GLOBAL_STEP.to_string()],
                };
                self.get_variable(GLOBAL_STEP, &[], options).expect("the name is free and zeros fit every shape")
            }
        }
    }
}

/// The name of the variable that counts training steps.
pub(crate) const GLOBAL_STEP: &str = "global_step";

impl Initializer {
    fn build(&self, graph: &Graph, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        match self {
            Initializer::Zeros => Ok(graph.named_constant("zeros", Array::zeros(dtype, shape)?)),
            Initializer::Ones => {
                let ones = Array::full(shape, 1f64).cast(dtype)?;
                Ok(graph.named_constant("ones", ones))
            }
            Initializer::Constant(value) => {
                let value = if value.len() == 1 && value.shape() != shape {
                    Array::full(shape, value.to_f64_vec()?[0])
                } else {
                    value.clone()
                };
                if value.shape() != shape {
                    let problem = format!("the initial value has shape {:?}, the variable {shape:?}", value.shape());
                    let help = "give values of the variable's shape, or one number".to_string();
                    return Err(GraphError::Argument { op: "get_variable".to_string(), problem, help }.into());
                }
                graph.typed_constant("Const", value, dtype)
            }
            Initializer::GlorotUniform => {
                let (fan_in, fan_out) = fans(shape);
                let limit = (6.0 / (fan_in + fan_out)).sqrt();
                uniform(graph, dtype, shape, -limit, limit)
            }
            Initializer::RandomUniform { minimum, maximum } => uniform(graph, dtype, shape, *minimum, *maximum),
            Initializer::RandomNormal { mean, stddev } => {
                normal(graph, RandomKind::Normal, "random_normal", dtype, shape, *mean, *stddev)
            }
            Initializer::TruncatedNormal { mean, stddev } => {
                normal(graph, RandomKind::TruncatedNormal, "truncated_normal", dtype, shape, *mean, *stddev)
            }
        }
    }
}

/// How many values feed one output, and how many outputs one value feeds.
fn fans(shape: &[usize]) -> (f64, f64) {
    match *shape {
        [] => (1.0, 1.0),
        [size] => (size as f64, size as f64),
        [.., rows, columns] => {
            let receptive_field: usize = shape[..shape.len() - 2].iter().product();
            ((receptive_field * rows) as f64, (receptive_field * columns) as f64)
        }
    }
}

fn uniform(graph: &Graph, dtype: DType, shape: &[usize], minimum: f64, maximum: f64) -> Result<Tensor> {
    let drawn = ops::random(graph, RandomKind::Uniform, dtype, shape, "random_uniform/RandomUniform")?;
    let range = graph.number_like("random_uniform/range", maximum - minimum, &drawn)?;
    let minimum = graph.number_like("random_uniform/min", minimum, &drawn)?;
    let scaled = graph.add(Op::Binary(ops::Binary::Mul), "random_uniform/mul", &[&drawn, &range])?;
    graph.add(Op::Binary(ops::Binary::AddV2), "random_uniform", &[&scaled, &minimum])
}

fn normal(
    graph: &Graph,
    kind: RandomKind,
    name: &str,
    dtype: DType,
    shape: &[usize],
    mean: f64,
    stddev: f64,
) -> Result<Tensor> {
    let drawn = ops::random(graph, kind, dtype, shape, &format!("{name}/{}", kind.type_name()))?;
    let stddev = graph.number_like(&format!("{name}/stddev"), stddev, &drawn)?;
    let mean = graph.number_like(&format!("{name}/mean"), mean, &drawn)?;
    let scaled = graph.add(Op::Binary(ops::Binary::Mul), &format!("{name}/mul"), &[&drawn, &stddev])?;
    graph.add(Op::Binary(ops::Binary::AddV2), name, &[&scaled, &mean])
}

impl Variable {
    /// The name, such as `dense/kernel`.
    pub fn name(&self) -> String {
        self.node().name
    }

    /// The shape.
    pub fn shape(&self) -> Vec<usize> {
        self.node().shape
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.node().dtype
    }

    /// Whether optimizers change it.
    pub fn is_trainable(&self) -> bool {
        self.node().trainable
    }

    /// Whether no checkpoint saves it.
    pub fn is_local(&self) -> bool {
        self.node().collections.iter().any(|collection| collection == LOCAL_VARIABLES)
    }

    /// The graph it belongs to.
    pub fn graph(&self) -> Graph {
        self.graph.clone()
    }

    /// Its value: as it was when the step began, unless control dependencies say otherwise.
    pub fn value(&self) -> Tensor {
        let node = self.node();
        let read = StateOp::ReadVariableOp { dtype: node.dtype, shape: node.shape.clone() };
        let shared = Tensor { graph: self.graph.clone(), node: node.read, output: 0 };
        if !self.graph.has_control_dependencies() {
            return shared;
        }
        let handle = self.handle();
        self.graph
            .in_scope(String::new(), || {
                self.graph.add(Op::State(read), &format!("{}/ReadVariableOp", node.name), &[&handle])
            })
            .unwrap_or(shared)
    }

    /// Replaces its value.
    ///
    /// # Errors
    /// `GRAPH001` or `GRAPH003` if shape or dtype differ.
    pub fn assign(&self, value: &Tensor) -> Result<Operation> {
        self.update(StateOp::AssignVariableOp, "Assign", value)
    }

    /// Adds to its value.
    ///
    /// # Errors
    /// `GRAPH001` or `GRAPH003` if shape or dtype differ.
    pub fn assign_add(&self, value: &Tensor) -> Result<Operation> {
        self.update(StateOp::AssignAddVariableOp, "AssignAddVariableOp", value)
    }

    /// Subtracts from its value.
    ///
    /// # Errors
    /// `GRAPH001` or `GRAPH003` if shape or dtype differ.
    pub fn assign_sub(&self, value: &Tensor) -> Result<Operation> {
        self.update(StateOp::AssignSubVariableOp, "AssignSubVariableOp", value)
    }

    fn update(&self, op: StateOp, name: &str, value: &Tensor) -> Result<Operation> {
        let (own, given) = (Shape::known(&self.shape()), value.shape());
        let place = format!("{} to variable `{}`", op.type_name(), self.name());
        if !own.is_compatible(&given) {
            let rule = "a variable keeps its shape".to_string();
            return Err(GraphError::Shapes { op: place, left: own, right: given, rule }.into());
        }
        if self.dtype() != value.dtype() {
            return Err(GraphError::DTypes { op: place, left: self.dtype(), right: value.dtype() }.into());
        }
        if op != StateOp::AssignVariableOp && self.dtype() == DType::Bool {
            let expected = "a variable of numbers".to_string();
            return Err(GraphError::DType { op: place, found: DType::Bool, expected }.into());
        }
        self.graph.add_operation(Op::State(op), name, &[&self.handle(), value])
    }

    pub(crate) fn initial_value(&self) -> Tensor {
        let (node, output) = self.node().initial_value;
        Tensor { graph: self.graph.clone(), node, output }
    }

    /// The handle that state operations read.
    pub(crate) fn handle(&self) -> Tensor {
        Tensor { graph: self.graph.clone(), node: self.node().handle, output: 0 }
    }

    fn node(&self) -> VariableNode {
        self.graph.variable_node(self.index)
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variable({:?}, shape={:?}, dtype={})", self.name(), self.shape(), self.dtype())
    }
}
