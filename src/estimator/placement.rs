//! Which device runs which op.

use super::RunConfig;
use crate::graph::Graph;
use crate::graph::ops::Op;
use crate::notebook::{Table, logging};
use std::fmt;

/// The device of each op of a graph, as `log_device_placement` asks for it.
///
/// A training keeps it in its report, [`TrainReport::placement`](super::TrainReport::placement).
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::estimator::RunConfig;
/// use tpulab::prelude::*;
/// # tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
/// fn model(features: &Tensors, _: Option<&Tensor>, _: ModeKeys, _: &Params) -> Result<EstimatorSpec> {
///     let net = tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column("x")])?;
///     let loss = tf::reduce_mean(&tf::layers::dense(&net, 1, None)?, &[])?;
///     let step = features.graph().global_step();
///     let train_op = tf::train::GradientDescentOptimizer::new(0.1).minimize(&loss, Some(&step))?;
///     Ok(EstimatorSpec::train(loss, train_op))
/// }
/// let session_config = ConfigProto::new().log_device_placement(true);
/// let estimator = Estimator::new(model).config(RunConfig::new().session_config(session_config)).build()?;
/// let x = Frame::new([("x", Column::from(vec![1.0f32, 2.0]))])?;
/// let report = estimator.train(|| Ok(Dataset::from_tensor_slices(&x)?.batch(2, Remainder::Keep)), Steps(1))?;
/// let placement = report.placement().expect("it was asked for");
/// let matmul = placement.ops().iter().find(|placed| placed.op == "dense/MatMul").expect("the layer");
/// assert_eq!(matmul.to_string(), "dense/MatMul: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    ops: Vec<PlacedOp>,
}

/// One op and its device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlacedOp {
    /// Its name, such as `dense/MatMul`.
    pub op: String,
    /// Its type in TensorFlow's registry, such as `MatMul`.
    pub op_type: &'static str,
    /// Its device, such as `/job:worker/replica:0/task:0/device:TPU:0`.
    pub device: String,
    /// Why it is not where the rest is, if it is not.
    pub reason: Option<&'static str>,
}

/// Where an op goes, and why if it falls back.
pub(crate) type DeviceOf = fn(&Op) -> (&'static str, Option<&'static str>);

/// The only device of an `Estimator`.
pub(crate) fn local_device(_: &Op) -> (&'static str, Option<&'static str>) {
    ("/job:localhost/replica:0/task:0/device:CPU:0", None)
}

impl Placement {
    /// The devices of the ops of `graph`; logged too. Nothing unless the configuration asks for it.
    pub(crate) fn logged(config: &RunConfig, graph: &Graph, device_of: DeviceOf) -> Option<Self> {
        config.session_config.as_ref().filter(|config| config.log_device_placement)?;
        let place = |node: crate::graph::Node| {
            let (device, reason) = device_of(&node.op);
            PlacedOp { op_type: node.op.type_name(), op: node.name, device: device.to_string(), reason }
        };
        let ops: Vec<PlacedOp> = graph.nodes().into_iter().map(place).collect();
        ops.iter().for_each(logging::info);
        Some(Placement { ops })
    }

    /// All ops, in the order in which the graph was built.
    pub fn ops(&self) -> &[PlacedOp] {
        &self.ops
    }

    /// How many ops each device has, in the order of their first op.
    pub fn devices(&self) -> Vec<(String, usize)> {
        let mut devices: Vec<(String, usize)> = Vec::new();
        for placed in &self.ops {
            match devices.iter_mut().find(|(device, _)| *device == placed.device) {
                Some((_, count)) => *count += 1,
                None => devices.push((placed.device.clone(), 1)),
            }
        }
        devices
    }

    fn table(&self) -> Table {
        let row = |table: Table, placed: &PlacedOp| {
            table.row([placed.op.as_str(), placed.op_type, &placed.device, placed.reason.unwrap_or_default()])
        };
        let counts: Vec<String> =
            self.devices().into_iter().map(|(device, count)| format!("{count} on {device}")).collect();
        self.ops.iter().fold(Table::new(["op", "type", "device", "why there"]), row).caption(counts.join(", "))
    }

    /// Shows it in a notebook.
    pub fn evcxr_display(&self) {
        self.table().evcxr_display();
    }
}

/// TensorFlow's log line.
impl fmt::Display for PlacedOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ({}): {}", self.op, self.op_type, self.device)
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}
