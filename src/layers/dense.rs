//! The fully connected layer.

use super::Regularizer;
use crate::core::{Result, Shape};
use crate::graph::{GraphError, Initializer, Tensor, VariableOptions, ops};
use crate::nn::Activation;

/// `activation(x · kernel + bias)`: from `[batch, inputs]` to `[batch, units]`. TensorFlow: `tf.layers.dense`.
///
/// Makes the variables `dense/kernel` `[inputs, units]`, glorot uniform, and `dense/bias` `[units]`, zeros; a second
/// layer's are called `dense_1/…`. [`Dense`] takes further options.
///
/// # Errors
/// `GRAPH002` if `x` has another rank or an unknown last size, `GRAPH004` if it is not floating point, `GRAPH006` for
/// no units.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
/// let hidden = tf::layers::dense(&x, 10, Some(tf::nn::relu))?;
/// let logits = tf::layers::dense(&hidden, 3, None)?;
/// assert_eq!((logits.name().as_str(), logits.shape().to_string().as_str()), ("dense_1/BiasAdd:0", "[?, 3]"));
/// assert_eq!(graph.variable("dense/kernel")?.shape(), [4, 10]);
/// # Ok::<(), Error>(())
/// ```
pub fn dense(x: &Tensor, units: usize, activation: Option<Activation>) -> Result<Tensor> {
    Dense { activation, ..Dense::new(units) }.apply(x)
}

/// A fully connected layer with options. TensorFlow: `tf.layers.Dense`.
///
/// Each [`apply`](Dense::apply) makes variables of its own.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
/// let embedding = tf::layers::Dense::new(2).name("embedding").activation(tf::nn::tanh).use_bias(false).apply(&x)?;
/// assert_eq!(embedding.name(), "embedding/Tanh:0");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dense {
    units: usize,
    name: Option<String>,
    activation: Option<Activation>,
    use_bias: bool,
    kernel_initializer: Initializer,
    bias_initializer: Initializer,
    kernel_regularizer: Option<Regularizer>,
    trainable: bool,
}

impl Dense {
    /// A layer of `units` outputs.
    pub fn new(units: usize) -> Self {
        Dense {
            units,
            name: None,
            activation: None,
            use_bias: true,
            kernel_initializer: Initializer::GlorotUniform,
            bias_initializer: Initializer::Zeros,
            kernel_regularizer: None,
            trainable: true,
        }
    }

    /// The name that its variables and ops start with. Default: `dense`, `dense_1`, …
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_string());
        self
    }

    /// What is applied to the result. Default: nothing.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = Some(activation);
        self
    }

    /// Whether a bias is added. Default: true.
    pub fn use_bias(mut self, use_bias: bool) -> Self {
        self.use_bias = use_bias;
        self
    }

    /// How the kernel gets its first value. Default: glorot uniform.
    pub fn kernel_initializer(mut self, initializer: Initializer) -> Self {
        self.kernel_initializer = initializer;
        self
    }

    /// How the bias gets its first value. Default: zeros.
    pub fn bias_initializer(mut self, initializer: Initializer) -> Self {
        self.bias_initializer = initializer;
        self
    }

    /// The penalty on the kernel, which goes into the collection `regularization_losses`: see
    /// [`get_regularization_loss`](crate::losses::get_regularization_loss). Default: none.
    pub fn kernel_regularizer(mut self, regularizer: Regularizer) -> Self {
        self.kernel_regularizer = Some(regularizer);
        self
    }

    /// Whether optimizers change its variables. Default: true.
    pub fn trainable(mut self, trainable: bool) -> Self {
        self.trainable = trainable;
        self
    }

    /// Makes the variables and gives the layer's result for `x` `[batch, inputs]`: `[batch, units]`.
    ///
    /// # Errors
    /// As for [`dense`], and `GRAPH007` if the layer's name is taken.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let graph = x.graph();
        let inputs = self.inputs(x)?;
        let unique = graph.unique_variable_scope(self.name.as_deref().unwrap_or("dense"));
        let scope = self.name.clone().unwrap_or(unique);
        let variable = |name: &str, shape: &[usize], initializer: &Initializer| {
            let options = VariableOptions {
                dtype: x.dtype(),
                initializer: initializer.clone(),
                trainable: self.trainable,
                ..VariableOptions::default()
            };
            graph.get_variable(&format!("{scope}/{name}"), shape, options)
        };
        let kernel = variable("kernel", &[inputs, self.units], &self.kernel_initializer)?;
        let bias = match self.use_bias {
            true => Some(variable("bias", &[self.units], &self.bias_initializer)?),
            false => None,
        };
        graph.name_scope(&scope, || {
            if let Some(regularizer) = &self.kernel_regularizer {
                regularizer.apply("kernel", &kernel.value())?;
            }
            let mut y = ops::matmul(x, &kernel.value())?;
            if let Some(bias) = bias {
                y = ops::bias_add(&y, &bias.value())?;
            }
            match self.activation {
                Some(activation) => activation(&y),
                None => Ok(y),
            }
        })
    }

    /// Checks `x`, and gives the number of its columns.
    fn inputs(&self, x: &Tensor) -> Result<usize> {
        let op = || self.name.clone().unwrap_or_else(|| "dense".to_string());
        if self.units == 0 {
            let problem = "a layer of 0 units gives nothing".to_string();
            return Err(GraphError::Argument { op: op(), problem, help: "give at least 1 unit".to_string() }.into());
        }
        if !x.dtype().is_floating() {
            let expected = "floating point".to_string();
            return Err(GraphError::DType { op: op(), found: x.dtype(), expected }.into());
        }
        let shape: Shape = x.shape();
        match (shape.rank(), shape.size(1)) {
            (2, Some(inputs)) => Ok(inputs),
            (2, None) => {
                let expected = "a known number of columns, since the kernel has one row for each".to_string();
                Err(GraphError::Shape { op: op(), found: shape, expected }.into())
            }
            _ => {
                let expected = "shape [batch, inputs], which `layers::flatten` makes of more dimensions".to_string();
                Err(GraphError::Shape { op: op(), found: shape, expected }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::DType;
    use crate::graph::Graph;
    use crate::nn;

    fn input(graph: &Graph, sizes: &[Option<usize>]) -> Tensor {
        graph.placeholder("x", DType::Float32, Shape::new(sizes))
    }

    #[test]
    fn names_are_those_of_a_checkpoint_that_tensorflow_writes() {
        let graph = Graph::new();
        let x = input(&graph, &[None, Some(4)]);
        let hidden = dense(&x, 10, Some(nn::relu)).unwrap();
        let logits = dense(&hidden, 3, None).unwrap();
        let names: Vec<String> = graph.variables().iter().map(|variable| variable.name()).collect();
        assert_eq!(names, ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]);
        assert_eq!((hidden.name(), logits.name()), ("dense/Relu:0".to_string(), "dense_1/BiasAdd:0".to_string()));
        assert!(graph.tensor("dense/MatMul").is_ok());
    }

    #[test]
    fn automatic_names_step_over_given_ones() {
        let graph = Graph::new();
        let x = input(&graph, &[None, Some(4)]);
        dense(&x, 2, None).unwrap();
        Dense::new(2).name("dense_1").apply(&x).unwrap();
        dense(&x, 2, None).unwrap();
        assert!(graph.variable("dense_2/kernel").is_ok());
        let error = Dense::new(2).name("dense_1").apply(&x).unwrap_err();
        assert_eq!(
            error.to_string(),
            "GRAPH007: variable `dense_1/kernel` exists already; give the second one a name of its own"
        );
    }

    #[test]
    fn a_name_scope_is_in_front_of_ops_and_not_of_variables() {
        let graph = Graph::new();
        let x = input(&graph, &[None, Some(4)]);
        let y = graph.name_scope("tower", || dense(&x, 2, None)).unwrap();
        assert_eq!(y.name(), "tower/dense/BiasAdd:0");
        assert!(graph.variable("dense/kernel").is_ok());
    }

    #[test]
    fn options_reach_the_variables() {
        let graph = Graph::new();
        let x = input(&graph, &[Some(8), Some(4)]);
        let layer = Dense::new(2).name("frozen").use_bias(false).trainable(false);
        layer.kernel_initializer(Initializer::Ones).apply(&x).unwrap();
        assert_eq!(graph.variables().len(), 1);
        assert!(graph.trainable_variables().is_empty());
        assert!(graph.tensor("frozen/kernel/Initializer/ones").is_ok());
    }

    #[test]
    fn inputs_without_a_place_in_the_layer_are_refused() {
        let graph = Graph::new();
        let refusal = |x: &Tensor, units| dense(x, units, None).unwrap_err().to_string();
        assert_eq!(
            refusal(&input(&graph, &[None, Some(28), Some(28)]), 2),
            "GRAPH002: dense: expected shape [batch, inputs], which `layers::flatten` makes of more dimensions, found \
             shape [?, 28, 28]"
        );
        assert_eq!(
            refusal(&input(&graph, &[None, None]), 2),
            "GRAPH002: dense: expected a known number of columns, since the kernel has one row for each, found shape \
             [?, ?]"
        );
        assert_eq!(
            refusal(&input(&graph, &[None, Some(4)]), 0),
            "GRAPH006: dense: a layer of 0 units gives nothing; give at least 1 unit"
        );
        let integers = graph.placeholder("x", DType::Int32, Shape::new(&[None, Some(4)]));
        assert_eq!(refusal(&integers, 2), "GRAPH004: dense: expected floating point, found int32; `cast` it first");
        assert!(graph.variables().is_empty());
    }
}
