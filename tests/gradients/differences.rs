//! Compares gradients with central differences.

use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::graph::{gradients, ops};
use tpulab::prelude::*;

/// Central differences of step 1e-5 err by about 1e-10 from curvature and 1e-11 from rounding; 1e-6 leaves room for
/// steep functions, and a wrong rule misses by far more.
const TOLERANCE: f64 = 1e-6;

const STEP: f64 = 1e-5;

pub fn values(shape: &[usize], values: &[f64]) -> Array {
    Array::from_vec(shape, values.to_vec()).expect("the test's own numbers fill the shape")
}

/// Numbers of both signs without ties, different for each `phase`.
pub fn ramp(shape: &[usize], phase: f64) -> Array {
    let count: usize = shape.iter().product();
    values(shape, &(0..count).map(|index| (phase + 1.7 * index as f64).sin() + 0.1 * phase).collect::<Vec<_>>())
}

pub fn check_binary(pair: impl Fn() -> [Array; 2]) {
    type Binary = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let functions: [(&str, Binary); 9] = [
        ("add", ops::add),
        ("subtract", ops::subtract),
        ("multiply", ops::multiply),
        ("divide", ops::divide),
        ("div_no_nan", ops::div_no_nan),
        ("maximum", ops::maximum),
        ("minimum", ops::minimum),
        ("pow", ops::pow),
        ("squared_difference", ops::squared_difference),
    ];
    for (name, function) in functions {
        let place = format!("{name} of {:?} and {:?}", pair()[0].shape(), pair()[1].shape());
        check(&place, &pair(), move |v| function(&v[0], &v[1]));
    }
}

/// Compares the gradients of `build` with central differences, for a loss that weighs every element otherwise.
pub fn check(place: &str, inputs: &[Array], build: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let run = || -> Result<()> {
        let graph = Graph::new();
        let variables = variables(&graph, inputs)?;
        let result = build(&variables.iter().map(Variable::value).collect::<Vec<_>>())?;
        compare(place, &graph, &variables, &result, inputs, None)
    };
    run().unwrap_or_else(|error| panic!("{place}: {error}"));
}

/// The same for a function of a batch `[?, 4]` of three rows.
pub fn check_on_batch(place: &str, inputs: &[Array], build: impl Fn(&Tensor, &[Tensor]) -> Result<Tensor>) {
    let run = || -> Result<()> {
        let graph = Graph::new();
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let variables = variables(&graph, inputs)?;
        let result = build(&x, &variables.iter().map(Variable::value).collect::<Vec<_>>())?;
        compare(place, &graph, &variables, &result, inputs, Some((x, ramp(&[3, 4], 0.9))))
    };
    run().unwrap_or_else(|error| panic!("{place}: {error}"));
}

fn compare(
    place: &str,
    graph: &Graph,
    variables: &[Variable],
    result: &Tensor,
    inputs: &[Array],
    batch: Option<(Tensor, Array)>,
) -> Result<()> {
    let loss = ops::reduce_sum(&ops::square(&(result + 0.5)?)?, &[])?;
    let gradients = gradients(&loss, variables)?;
    let places: Vec<Option<usize>> = gradients
        .iter()
        .scan(0, |next, gradient| {
            *next += usize::from(gradient.is_some());
            Some(gradient.as_ref().map(|_| *next))
        })
        .collect();
    let mut executor = float64(graph)?;
    let fetches = std::iter::once(loss).chain(gradients.into_iter().flatten()).collect();
    let (feeds, feed): (Vec<Tensor>, Vec<Array>) = batch.into_iter().unzip();
    let plan = executor.prepare(&Request { feeds, fetches, ..Request::default() })?;
    let mut loss_at = |name: &str, value: &Array| -> Result<f64> {
        executor.store_mut().set(name, value)?;
        executor.set_step(0);
        executor.run(plan, feed.as_slice())?;
        Ok(executor.scalar(plan, 0, 0))
    };
    let mut expected = Vec::new();
    for (variable, input) in variables.iter().zip(inputs) {
        let name = variable.name();
        let numbers = input.to_f64_vec()?;
        let mut differences = Vec::with_capacity(numbers.len());
        for index in 0..numbers.len() {
            let mut moved = |step: f64| -> Result<f64> {
                let mut numbers = numbers.clone();
                numbers[index] += step;
                loss_at(&name, &values(input.shape(), &numbers))
            };
            differences.push((moved(STEP)? - moved(-STEP)?) / (2.0 * STEP));
        }
        loss_at(&name, input)?;
        expected.push(differences);
    }
    for ((variable, position), (expected, input)) in variables.iter().zip(places).zip(expected.iter().zip(inputs)) {
        let found = match position {
            Some(position) => {
                let found = executor.output(plan, position, 0);
                assert_eq!(found.shape(), input.shape(), "{place}: shape of the gradient to {}", variable.name());
                found.to_f64_vec()?
            }
            None => vec![0.0; expected.len()],
        };
        for (found, expected) in found.iter().zip(expected) {
            let near = (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0);
            assert!(near, "{place}: gradient to {} is {found}, by differences {expected}", variable.name());
        }
    }
    Ok(())
}

/// The gradients of a scalar function, `None` where there is none.
pub fn analytic(inputs: &[Array], build: impl Fn(&[Tensor]) -> Result<Tensor>) -> Result<Vec<Option<Vec<f64>>>> {
    let graph = Graph::new();
    let variables = variables(&graph, inputs)?;
    let loss = build(&variables.iter().map(Variable::value).collect::<Vec<_>>())?;
    let gradients = gradients(&loss, &variables)?;
    let mut executor = float64(&graph)?;
    gradients
        .into_iter()
        .map(|gradient| {
            let Some(gradient) = gradient else { return Ok(None) };
            let plan = executor.prepare(&Request { fetches: vec![gradient], ..Request::default() })?;
            executor.run(plan, &[])?;
            executor.output(plan, 0, 0).to_f64_vec().map(Some)
        })
        .collect()
}

pub fn variables(graph: &Graph, inputs: &[Array]) -> Result<Vec<Variable>> {
    let variable = |(index, input): (usize, &Array)| {
        let options =
            VariableOptions { initializer: Initializer::Constant(input.clone()), ..VariableOptions::default() };
        graph.get_variable(&format!("v{index}"), input.shape(), options)
    };
    inputs.iter().enumerate().map(variable).collect()
}

pub fn float64(graph: &Graph) -> Result<Executor> {
    Executor::new(graph, ExecutorOptions { precision: Precision::Float64, ..ExecutorOptions::default() })
}
