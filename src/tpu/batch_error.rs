//! What can be wrong with the batches that the cores share.

use super::Topology;
use crate::core::{DType, Exception, Explain, Explanation, Shape};
use crate::estimator::ModeKeys;

/// What can be wrong with the batches that the cores share.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BatchError {
    /// The batch size of a mode is not set.
    NoBatchSize {
        /// The mode.
        mode: ModeKeys,
    },
    /// A batch of no rows.
    EmptyBatch {
        /// The mode.
        mode: ModeKeys,
    },
    /// Sliced input without a TPU.
    SlicedOnCpu,
    /// `num_shards` is not the number of replicas.
    NumShards {
        /// The value.
        found: usize,
        /// The number of replicas.
        num_replicas: usize,
        /// The slice.
        slice: Topology,
    },
    /// A replica spans more cores than there are.
    CoresPerReplica {
        /// The value.
        found: usize,
        /// The most that is possible.
        limit: usize,
        /// The slice.
        slice: Topology,
        /// Whether a replica may span hosts.
        per_host_v2: bool,
    },
    /// Evaluation or prediction on several hosts that each call `input_fn`.
    SeveralHosts {
        /// The mode.
        mode: ModeKeys,
        /// The number of hosts.
        num_hosts: usize,
    },
    /// A batch that the replicas cannot share.
    UnevenBatch {
        /// The mode.
        mode: ModeKeys,
        /// The global batch size.
        batch_size: usize,
        /// The number of replicas.
        num_replicas: usize,
        /// The cores of each.
        cores_per_replica: usize,
    },
    /// More rows than the batch that the cores predict for.
    PredictRows {
        /// The rows.
        rows: usize,
        /// The batch size.
        size: usize,
    },
    /// A batch dimension that is known only when data come.
    DynamicBatch {
        /// The mode.
        mode: ModeKeys,
        /// The columns, with their shapes.
        columns: Vec<(String, Shape)>,
    },
    /// Rows that a dataset delivers and the cores cannot share.
    UnevenRows {
        /// The column.
        column: String,
        /// The rows.
        rows: usize,
        /// The shards.
        shards: usize,
    },
    /// Dtypes that the infeed does not carry.
    InfeedDTypes {
        /// The columns, with their dtypes.
        columns: Vec<(String, DType)>,
    },
}

impl Explain for BatchError {
    fn explain(&self) -> Explanation {
        use Exception::{InvalidArgumentError, TypeError, ValueError};
        match self {
            BatchError::NoBatchSize { mode } => {
                let field = batch_size_field(*mode);
                Explanation::new("TPU006", ValueError, format!("{field} is not set, and `{}` needs it", mode.verb()))
                    .help(format!("give `TpuEstimator` the global batch size, such as `.{field}(128)`"))
                    .section(CLASSIFIER)
            }
            BatchError::EmptyBatch { mode } => {
                let message = format!("{} is 0; expected 1 or more", batch_size_field(*mode));
                Explanation::new("TPU007", ValueError, message)
                    .help("give the global batch size, such as 128")
                    .section(CLASSIFIER)
            }
            BatchError::SlicedOnCpu => Explanation::new("TPU008", ValueError, "sliced input works on a TPU only")
                .help("leave `eval_training_input_configuration` out where `use_tpu` is false")
                .section(CONFIGURE),
            BatchError::NumShards { found, num_replicas, slice } => Explanation::new(
                "TPU009",
                ValueError,
                format!("num_shards is {found}, and {} has {num_replicas} replicas", slice.accelerator_type()),
            )
            .help(format!("leave `num_shards` out, or set it to {num_replicas}"))
            .section(CONFIGURE),
            BatchError::CoresPerReplica { found, limit, slice, per_host_v2 } => {
                let name = slice.accelerator_type();
                let place = if *per_host_v2 { name } else { format!("a host of {name}") };
                let across_hosts = !per_host_v2 && *found <= slice.num_cores();
                let or = if across_hosts { ", or `InputPipelineConfig::PerHostV2`" } else { "" };
                let message = format!("num_cores_per_replica is {found}, and {place} has {limit} cores");
                Explanation::new("TPU010", ValueError, message)
                    .help(format!("use {limit} or fewer{or}"))
                    .section(CONFIGURE)
            }
            BatchError::SeveralHosts { mode, num_hosts } => {
                let message = format!("cannot {} on {num_hosts} hosts that each call input_fn", mode.verb());
                let per_host = match mode {
                    ModeKeys::Predict => " or `InputPipelineConfig::Broadcast`",
                    _ => ", `InputPipelineConfig::Broadcast` or `InputPipelineConfig::PerHostV2`",
                };
                Explanation::new("TPU011", ValueError, message)
                    .help(format!("use a slice of one host such as v3-8{per_host}"))
                    .section(if *mode == ModeKeys::Predict {
                        "Call the predict method"
                    } else {
                        "Call the evaluate method"
                    })
            }
            BatchError::UnevenBatch { mode, batch_size, num_replicas, cores_per_replica } => {
                let parts = if *cores_per_replica == 1 { "cores" } else { "replicas" };
                let field = batch_size_field(*mode);
                let message = format!("{field} {batch_size} cannot be split over {num_replicas} {parts}");
                let near = near_multiples(*batch_size, *num_replicas);
                Explanation::new("TPU012", ValueError, message)
                    .help(format!("use a multiple of {num_replicas}, such as {near}"))
                    .section(CLASSIFIER)
            }
            BatchError::PredictRows { rows, size } => Explanation::new(
                "TPU021",
                InvalidArgumentError,
                format!("a batch of {rows} rows is larger than predict_batch_size {size}"),
            )
            .help("batch the dataset with `params.batch_size()`")
            .section("Call the predict method"),
            BatchError::DynamicBatch { mode, columns } => {
                let shapes: Vec<String> = columns.iter().map(|(name, shape)| format!("`{name}` {shape}")).collect();
                Explanation::new(
                    "TPU022",
                    ValueError,
                    format!(
                        "the input_fn to {} gives batches of unknown size ({}), and a TPU program has fixed shapes",
                        mode.verb(),
                        shapes.join(", ")
                    ),
                )
                .help("use `.batch(params.batch_size(), Remainder::Drop)`")
                .section(INPUT_FUNCTIONS)
            }
            BatchError::UnevenRows { column, rows, shards } => Explanation::new(
                "TPU024",
                ValueError,
                format!("column `{column}` has {rows} rows, which cannot be sharded {shards} ways along dimension 0"),
            )
            .help("batch the dataset with `params.batch_size()`")
            .section(INPUT_FUNCTIONS),
            BatchError::InfeedDTypes { columns } => {
                let found: Vec<String> = columns.iter().map(|(name, dtype)| format!("`{name}` is {dtype}")).collect();
                Explanation::new(
                    "TPU025",
                    TypeError,
                    format!(
                        "the infeed carries float32, int32, complex64, int64, bool, bfloat16 and uint32; {}",
                        found.join(", ")
                    ),
                )
                .help("load numbers as float32 and labels as int32, or `cast` the columns in the input_fn")
                .section("Load the data")
            }
        }
    }
}

const INPUT_FUNCTIONS: &str = "Define the input functions";
const CONFIGURE: &str = "Configure TPUs";
const CLASSIFIER: &str = "Add TPU-specific parameters to the classifier";

fn batch_size_field(mode: ModeKeys) -> &'static str {
    match mode {
        ModeKeys::Train => "train_batch_size",
        ModeKeys::Eval => "eval_batch_size",
        ModeKeys::Predict => "predict_batch_size",
    }
}

/// The multiples of `divisor` on either side of `number`, which is none itself.
fn near_multiples(number: usize, divisor: usize) -> String {
    let below = number - number % divisor;
    match (below, below.checked_add(divisor)) {
        (0, _) => divisor.to_string(),
        (below, None) => below.to_string(),
        (below, Some(above)) => format!("{below} or {above}"),
    }
}
