//! Random graphs of ops, layers, losses, collectives and changes of variables.

use tpulab as tf;
use tpulab::engine::{Precision, Split};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

/// A random graph with what to ask of it.
pub struct Case {
    pub graph: Graph,
    numbers: Numbers,
    pub replicas: usize,
    pub precision: Precision,
    pub split: Split,
    pub feeds: Vec<Tensor>,
    /// What may be fetched.
    pool: Vec<Tensor>,
    pub fetches: Vec<Tensor>,
    pub updates: Vec<Operation>,
    /// Whether replicas meet.
    pub meets: bool,
    pub draws: bool,
}

impl Case {
    /// The graph of number `seed`.
    pub fn new(seed: u64) -> Result<Case> {
        let mut numbers = Numbers(seed);
        let replicas = 1 + numbers.below(8);
        let graph = Graph::with_replicas(replicas);
        let batch = |name: &str, columns| graph.placeholder(name, DType::Float32, Shape::new(&[None, Some(columns)]));
        // More than sixteen are summed in lanes.
        let columns = if numbers.one_in(4) { 19 } else { 3 };
        let feeds = vec![
            batch("x", 3),
            batch("z", columns),
            graph.placeholder("labels", DType::Int32, Shape::new(&[None])),
            graph.placeholder("row", DType::Float32, Shape::new(&[Some(1), Some(3)])),
            graph.placeholder("number", DType::Float32, Shape::scalar()),
        ];
        let mut pool = feeds.clone();
        for shape in [&[][..], &[1], &[3], &[1, 3], &[1, 1], &[3, 3], &[3, 1]] {
            pool.push(graph.constant(numbers.array(shape)?));
        }
        pool.push(graph.constant(vec![2i32, 0, 1]));
        let precision = if numbers.one_in(4) { Precision::Float64 } else { Precision::Float32 };
        let split = if numbers.one_in(4) { Split::Whole } else { Split::Rows };
        let (fetches, updates) = (Vec::new(), Vec::new());
        let (meets, draws) = (false, false);
        let mut case = Case { graph, numbers, replicas, precision, split, feeds, pool, fetches, updates, meets, draws };
        case.build()?;
        Ok(case)
    }

    fn build(&mut self) -> Result<()> {
        let wide = if self.numbers.one_in(8) { 3000 } else { 3 };
        let shapes = [("w", vec![3, 4]), ("v", vec![3, wide]), ("b", vec![3]), ("s", vec![])];
        for (name, shape) in &shapes {
            let initializer = Initializer::Constant(self.numbers.array(shape)?);
            let options = VariableOptions { initializer, ..VariableOptions::default() };
            self.pool.push(self.graph.get_variable(name, shape, options)?.value());
        }
        for _ in 0..6 + self.numbers.below(24) {
            // What the graph refuses is not built.
            if let Ok(Some(tensor)) = self.add_op() {
                self.pool.push(tensor);
            }
        }
        for _ in 0..1 + self.numbers.below(6) {
            // Rather late than early ones.
            let index = self.pool.len() - 1 - self.numbers.below(12);
            self.fetches.push(self.pool[index].clone());
        }
        if self.numbers.one_in(2) {
            self.train()?;
        }
        if self.numbers.one_in(3) {
            for variable in self.graph.trainable_variables() {
                let value = self.graph.constant(self.numbers.array(&variable.shape())?);
                let scaled = ops::multiply(&value, &self.graph.tensor("number:0")?)?;
                let value = if self.numbers.one_in(2) { scaled } else { value };
                // The order of two changes of one variable is not defined otherwise.
                let add = self.graph.control_dependencies(&self.updates, || variable.assign_add(&value))?;
                self.updates.push(add);
            }
        }
        let numbers = &mut self.numbers;
        let read = self.graph.trainable_variables().into_iter().filter(|_| numbers.one_in(2));
        self.fetches.extend(read.map(|variable| variable.value()));
        Ok(())
    }

    /// Some float tensor.
    fn float(&mut self) -> Tensor {
        self.of(DType::Float32)
    }

    fn of(&mut self, dtype: DType) -> Tensor {
        let own: Vec<_> = self.pool.iter().filter(|tensor| tensor.dtype() == dtype).cloned().collect();
        // Half of all from among the latest, so that graphs grow deep.
        let latest = if self.numbers.one_in(2) { own.len().saturating_sub(6) } else { 0 };
        match own.len() {
            0 => self.pool[0].clone(),
            length => own[latest + self.numbers.below(length - latest)].clone(),
        }
    }

    fn axis(&mut self) -> isize {
        self.numbers.below(3) as isize - 1
    }

    fn add_op(&mut self) -> Result<Option<Tensor>> {
        let (x, y) = (self.float(), self.float());
        let axis = self.axis();
        Ok(Some(match self.numbers.below(40) {
            0 => ops::relu(&x)?,
            1 => ops::sigmoid(&x)?,
            2 => ops::tanh(&x)?,
            3 => ops::softplus(&x)?,
            4 => ops::add(&x, &y)?,
            5 => ops::multiply(&x, &y)?,
            6 => ops::subtract(&x, &y)?,
            7 => ops::maximum(&x, &y)?,
            8 => ops::squared_difference(&x, &y)?,
            9 => ops::div_no_nan(&x, &y)?,
            10 => ops::less(&x, &y)?,
            11 => ops::where_(&self.of(DType::Bool), &x, &y)?,
            12 => ops::cast(&x, DType::Int32)?,
            13 => ops::cast(&self.of(DType::Bool), DType::Float32)?,
            14 => ops::reduce_sum(&x, &[axis])?,
            15 => ops::reduce_mean(&x, &[axis])?,
            16 => ops::reduce_max(&x, &[axis])?,
            17 => ops::reduce_mean(&x, &[])?,
            18 => ops::reshape(&x, &[-1])?,
            19 => ops::reshape(&x, &[-1, 3])?,
            20 => ops::reshape(&x, &[1, -1])?,
            21 => ops::expand_dims(&x, axis)?,
            22 => ops::concat(&[x, y], axis)?,
            23 => ops::slice(&x, &[0, 1], &[-1, 2])?,
            24 => ops::gather(&x, &self.of(DType::Int32), axis)?,
            25 => ops::one_hot(&self.of(DType::Int32), 3, DType::Float32)?,
            26 => ops::softmax(&x)?,
            27 => ops::log_softmax(&x)?,
            28 => ops::sparse_softmax_cross_entropy_with_logits(&self.of(DType::Int32), &x)?,
            29 => ops::softmax_cross_entropy_with_logits(&y, &x)?,
            30 => ops::cast(&ops::argmax(&x, axis)?, DType::Int32)?,
            31 => ops::matmul_transposed(&x, self.numbers.one_in(4), &y, self.numbers.one_in(3))?,
            32 => ops::bias_add(&x, &y)?,
            33 => ops::add(&ops::zeros_like(&x)?, &ops::fill_like(&y, 2.0)?)?,
            34 => ops::broadcast_like(&x, &y)?,
            35 => ops::add_n(&[x.clone(), ops::identity(&x)?, ops::stop_gradient(&x)?])?,
            36 => ops::cast(&ops::size(&x)?, DType::Float32)?,
            37 => {
                let activation = [tf::nn::relu, tf::nn::sigmoid, tf::nn::tanh, tf::nn::elu][self.numbers.below(4)];
                tf::layers::dense(&x, 3, Some(activation))?
            }
            38 if self.numbers.one_in(2) => {
                self.draws = true;
                ops::dropout(&x, 0.5)?
            }
            39 if self.numbers.one_in(2) => {
                let groups = self.groups();
                self.meets = true;
                ops::cross_replica_sum(&x, groups)?
            }
            _ => return Ok(None),
        }))
    }

    /// All replicas together, or in two groups.
    fn groups(&mut self) -> Option<Vec<Vec<usize>>> {
        let two = self.replicas.is_multiple_of(2) && self.numbers.one_in(2);
        let of = |rest| (0..self.replicas).filter(|replica| replica % 2 == rest).collect();
        two.then(|| vec![of(0), of(1)])
    }

    /// Minimizes some loss; replicas exchange gradients or drift.
    fn train(&mut self) -> Result<()> {
        let x = self.float();
        let target = match self.numbers.below(3) {
            0 => {
                let logits = tf::layers::dense(&x, 3, None).unwrap_or(x);
                let labels = self.graph.tensor("labels:0")?;
                match ops::sparse_softmax_cross_entropy_with_logits(&labels, &logits) {
                    Ok(losses) => ops::multiply(&losses, &self.float()).unwrap_or(losses),
                    Err(_) => logits,
                }
            }
            1 => {
                let activation = if self.numbers.one_in(2) { Some(tf::nn::relu as _) } else { None };
                tf::layers::dense(&x, 2, activation).unwrap_or(x)
            }
            _ => x,
        };
        let loss =
            if self.numbers.one_in(2) { ops::reduce_sum(&target, &[])? } else { ops::reduce_mean(&target, &[])? };
        let variables = self.graph.trainable_variables();
        let exchange = self.numbers.below(3);
        let Ok(found) = gradients(&loss, &variables) else { return Ok(()) };
        let mut pairs = Vec::new();
        for (variable, gradient) in variables.into_iter().zip(found) {
            let Some(mut gradient) = gradient else { continue };
            if exchange > 0 {
                let groups = if exchange == 1 { None } else { self.groups() };
                gradient = ops::cross_replica_sum(&gradient, groups)?;
                self.meets = true;
            }
            self.fetches.push(gradient.clone());
            pairs.push((variable, gradient));
        }
        for (variable, gradient) in pairs {
            self.updates.push(variable.assign_sub(&(&gradient * 0.1)?)?);
        }
        self.fetches.push(loss);
        Ok(())
    }
}

/// splitmix64.
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn array(&mut self, shape: &[usize]) -> Result<Array> {
        let count = shape.iter().product();
        Array::from_vec(shape, (0..count).map(|_| self.below(2001) as f32 / 1000.0 - 1.0).collect())
    }
}
