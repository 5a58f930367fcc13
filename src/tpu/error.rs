//! What can go wrong on a TPU.

use super::Topology;
use crate::core::{DType, Exception, Explain, Explanation, Shape, nearest};
use crate::estimator::ModeKeys;

/// What can go wrong on a TPU.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TpuError {
    /// Cloud TPU has no such slice.
    AcceleratorType {
        /// What was asked for.
        found: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A loop without steps, or a text that is neither a number nor a time.
    IterationsPerLoop {
        /// The value.
        found: String,
    },
    /// A setting is outside its range.
    Config {
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What the field accepts.
        expected: &'static str,
        /// The way out.
        help: &'static str,
    },
    /// A text that can be neither a TPU's name nor its address.
    Name {
        /// The text.
        found: String,
    },
    /// The addresses are not as many as the hosts.
    Workers {
        /// The number of addresses.
        found: usize,
        /// The slice that they should be the hosts of.
        slice: String,
        /// Its hosts, if it is one slice.
        hosts: Option<usize>,
    },
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
    /// A faithful run that names no TPU.
    Unnamed,
    /// Both a master and a cluster are given.
    MasterAndCluster {
        /// The master.
        master: String,
    },
    /// A parameter that only the framework may set.
    ReservedParam {
        /// The parameter's name.
        name: &'static str,
    },
    /// A spec without the parts that its mode needs.
    NoLoss {
        /// The mode.
        mode: ModeKeys,
    },
    /// `CrossShardOptimizer` where no TPU is involved.
    CrossShardOffTpu,
    /// A reduction that the cores cannot do.
    Reduction {
        /// Which.
        found: String,
    },
    /// The input ended in the middle of a loop.
    EndOfInput {
        /// The batches that the loop had.
        done: u64,
        /// The batches that it needed.
        needed: u64,
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
    /// No gradient is shared between the cores.
    NoCrossShard {
        /// The number of cores.
        replicas: usize,
    },
    /// The spec of an `Estimator`, on the TPU.
    PlainSpec {
        /// The mode.
        mode: ModeKeys,
    },
    /// An endless training or evaluation.
    NoSteps {
        /// The mode.
        mode: ModeKeys,
        /// How many batches the input has, if that is known.
        batches: Option<u64>,
    },
    /// An output that is no batch.
    ScalarOutput {
        /// Its name.
        name: String,
        /// Its shape.
        found: Shape,
        /// The rows of a shard.
        rows: usize,
    },
    /// A faithful run on a TPU that keeps its model on this machine.
    LocalModelDir {
        /// The folder.
        model_dir: String,
    },
    /// A question that only an `input_fn` may ask.
    NotInInputFn {
        /// What was asked.
        question: &'static str,
    },
}

impl Explain for TpuError {
    fn explain(&self) -> Explanation {
        use Exception::{InvalidArgumentError, OutOfRangeError, RuntimeError, TypeError, ValueError};
        match self {
            TpuError::AcceleratorType { found, known } => {
                let message = format!("no accelerator type `{found}`; there are {}", known.join(", "));
                let explanation = Explanation::new("TPU001", ValueError, message).section("Create a TPU and a VM");
                match nearest(found, known.iter().map(String::as_str)) {
                    Some(near) => explanation.help(format!("did you mean `{near}`?")),
                    None => explanation,
                }
            }
            TpuError::IterationsPerLoop { found } => Explanation::new(
                "TPU002",
                ValueError,
                format!("iterations_per_loop is {found}; expected a number of steps, 1 or more, or a time"),
            )
            .help("write it as `500`, `300s`, `5m` or `1h`")
            .section(HYPERPARAMETERS),
            TpuError::Config { field, found, expected, help } => {
                Explanation::new("TPU003", ValueError, format!("{field} is {found}; expected {expected}"))
                    .help(*help)
                    .section(CONFIGURE)
            }
            TpuError::Name { found } => {
                Explanation::new("TPU004", ValueError, format!("TPU `{found}` is neither a name nor an address"))
                    .help("write a name such as `tpu-name` or an address such as `grpc://10.240.1.2:8470`")
                    .section(HYPERPARAMETERS)
            }
            TpuError::Workers { found, slice, hosts } => {
                let addresses = if *found == 1 { "address" } else { "addresses" };
                let message = match hosts {
                    Some(1) => format!("found {found} {addresses} for {slice}, which has 1 host"),
                    Some(hosts) => format!("found {found} {addresses} for {slice}, which has {hosts} hosts"),
                    None => format!("found {found} {addresses}, which are not the hosts of {slice}"),
                };
                Explanation::new("TPU005", ValueError, message)
                    .help("give one address per host, or the TPU's name")
                    .section(CONFIGURE)
            }
            TpuError::NoBatchSize { mode } => {
                let field = batch_size_field(*mode);
                Explanation::new("TPU006", ValueError, format!("{field} is not set, and `{}` needs it", mode.verb()))
                    .help(format!("give `TpuEstimator` the global batch size, such as `.{field}(128)`"))
                    .section(CLASSIFIER)
            }
            TpuError::EmptyBatch { mode } => {
                let message = format!("{} is 0; expected 1 or more", batch_size_field(*mode));
                Explanation::new("TPU007", ValueError, message)
                    .help("give the global batch size, such as 128")
                    .section(CLASSIFIER)
            }
            TpuError::SlicedOnCpu => Explanation::new("TPU008", ValueError, "sliced input works on a TPU only")
                .help("leave `eval_training_input_configuration` out where `use_tpu` is false")
                .section(CONFIGURE),
            TpuError::NumShards { found, num_replicas, slice } => Explanation::new(
                "TPU009",
                ValueError,
                format!("num_shards is {found}, and {} has {num_replicas} replicas", slice.accelerator_type()),
            )
            .help(format!("leave `num_shards` out, or set it to {num_replicas}"))
            .section(CONFIGURE),
            TpuError::CoresPerReplica { found, limit, slice, per_host_v2 } => {
                let name = slice.accelerator_type();
                let place = if *per_host_v2 { name } else { format!("a host of {name}") };
                let across_hosts = !per_host_v2 && *found <= slice.num_cores();
                let or = if across_hosts { ", or `InputPipelineConfig::PerHostV2`" } else { "" };
                let message = format!("num_cores_per_replica is {found}, and {place} has {limit} cores");
                Explanation::new("TPU010", ValueError, message)
                    .help(format!("use {limit} or fewer{or}"))
                    .section(CONFIGURE)
            }
            TpuError::SeveralHosts { mode, num_hosts } => {
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
            TpuError::UnevenBatch { mode, batch_size, num_replicas, cores_per_replica } => {
                let parts = if *cores_per_replica == 1 { "cores" } else { "replicas" };
                let field = batch_size_field(*mode);
                let message = format!("{field} {batch_size} cannot be split over {num_replicas} {parts}");
                let near = near_multiples(*batch_size, *num_replicas);
                Explanation::new("TPU012", ValueError, message)
                    .help(format!("use a multiple of {num_replicas}, such as {near}"))
                    .section(CLASSIFIER)
            }
            TpuError::Unnamed => Explanation::new("TPU013", ValueError, "no TPU is named, here or in the environment")
                .help("give the flag `tpu` a name, or leave the cluster out where `use_tpu` is false")
                .section(CONFIGURE),
            TpuError::MasterAndCluster { master } => {
                Explanation::new("TPU014", ValueError, format!("master `{master}` and a cluster are both given"))
                    .help("leave `master` out: the cluster knows it")
                    .section(CONFIGURE)
            }
            TpuError::ReservedParam { name } => {
                Explanation::new("TPU015", ValueError, format!("parameter `{name}` is set by `TpuEstimator` itself"))
                    .help(match *name {
                        "batch_size" => "leave it out, and give the global size as `train_batch_size`".to_string(),
                        _ => format!("rename it, such as to `my_{name}`"),
                    })
                    .section(CLASSIFIER)
            }
            TpuError::NoLoss { mode } => {
                Explanation::new("TPU017", ValueError, format!("the {mode:?} spec has no loss or no train_op"))
                    .help("make it with `TpuEstimatorSpec::train`, `::eval` or `::predict`")
                    .section(MODEL_FUNCTION)
            }
            TpuError::CrossShardOffTpu => Explanation::new(
                "TPU018",
                InvalidArgumentError,
                "`CrossShardOptimizer` was used where no TPU is involved: CPUs have no kernel for CrossReplicaSum",
            )
            .help("wrap the optimizer only where `params.use_tpu()` is true")
            .section(MODEL_FUNCTION),
            TpuError::Reduction { found } => Explanation::new(
                "TPU019",
                ValueError,
                format!("`CrossShardOptimizer` cannot reduce by {found}"),
            )
            .help("use `Reduction::Mean` or `Reduction::Sum`")
            .section(MODEL_FUNCTION),
            TpuError::EndOfInput { done, needed } => Explanation::new(
                "TPU020",
                OutOfRangeError,
                format!("the dataset ended after {done} batches of a loop that needed {needed}"),
            )
            .help("add `.repeat()` to the dataset, or ask for fewer steps")
            .section(INPUT_FUNCTIONS),
            TpuError::PredictRows { rows, size } => Explanation::new(
                "TPU021",
                InvalidArgumentError,
                format!("a batch of {rows} rows is larger than predict_batch_size {size}"),
            )
            .help("batch the dataset with `params.batch_size()`")
            .section("Call the predict method"),
            TpuError::DynamicBatch { mode, columns } => {
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
            TpuError::PlainSpec { mode } => Explanation::new(
                "TPU023",
                RuntimeError,
                format!("model_fn returned an `EstimatorSpec` to {}; the TPU takes a `TpuEstimatorSpec`", mode.verb()),
            )
            .help(format!("return `TpuEstimatorSpec::{}`", match mode {
                ModeKeys::Train => "train(loss, train_op)",
                ModeKeys::Eval => "eval(loss, metric_fn, outputs)",
                ModeKeys::Predict => "predict(predictions)",
            }))
            .section(MODEL_FUNCTION),
            TpuError::UnevenRows { column, rows, shards } => Explanation::new(
                "TPU024",
                ValueError,
                format!("column `{column}` has {rows} rows, which cannot be sharded {shards} ways along dimension 0"),
            )
            .help("batch the dataset with `params.batch_size()`")
            .section(INPUT_FUNCTIONS),
            TpuError::InfeedDTypes { columns } => {
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
            TpuError::NoCrossShard { replicas } => Explanation::new(
                "TPU026",
                ValueError,
                format!("nothing is summed over the {replicas} cores, so their models would drift apart"),
            )
            .help("wrap the optimizer: `CrossShardOptimizer::new(optimizer)`")
            .section(MODEL_FUNCTION),
            TpuError::NoSteps { mode, batches } => {
                let (call, steps) = match mode {
                    ModeKeys::Train => ("Call the train method", "`MaxSteps(n)` or `Steps(n)`"),
                    _ => ("Call the evaluate method", "`Steps(n)`"),
                };
                let help = match batches {
                    Some(batches) => format!("give {steps}; the input has {batches} batches"),
                    None => format!("give {steps}"),
                };
                let message = format!("a TPU cannot {} to the end of the input: its loops have a fixed length", mode.verb());
                Explanation::new("TPU027", ValueError, message).help(help).section(call)
            }
            TpuError::ScalarOutput { name, found, rows } => Explanation::new(
                "TPU028",
                RuntimeError,
                format!("output `{name}` has shape {found}; expected {rows} rows first: one for each example of a shard"),
            )
            .help("give the metric function tensors of the batch, and let it reduce them")
            .section("Add an evaluation metric function"),
            TpuError::LocalModelDir { model_dir } => Explanation::new(
                "TPU029",
                InvalidArgumentError,
                format!("model_dir {model_dir:?} is a folder of this machine, and the TPU's workers write checkpoints themselves"),
            )
            .help("give a bucket, such as `gs://bucket-name/iris`")
            .section(HYPERPARAMETERS),
            TpuError::NotInInputFn { question } => {
                Explanation::new("TPU016", RuntimeError, format!("`{question}` has no answer inside model_fn"))
                    .help("ask it in `input_fn`, which each host calls for itself")
                    .section("Define the input functions")
            }
        }
    }
}

const HYPERPARAMETERS: &str = "Define hyperparameters";
const MODEL_FUNCTION: &str = "Update the custom model function";
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Error;
    use crate::estimator::Params;

    fn text(name: &str) -> (String, String, Option<&'static str>) {
        let name = Params::new().set(name, 128).reserved_name().unwrap();
        let error = Error::from(TpuError::ReservedParam { name });
        (error.to_string(), error.exception().to_string(), error.section())
    }

    #[test]
    fn a_parameter_that_only_the_framework_sets_is_refused() {
        let expected = "TPU015: parameter `batch_size` is set by `TpuEstimator` itself; \
                        leave it out, and give the global size as `train_batch_size`";
        let section = Some("Add TPU-specific parameters to the classifier");
        assert_eq!(text("batch_size"), (expected.to_string(), "ValueError".to_string(), section));
        let expected =
            "TPU015: parameter `context` is set by `TpuEstimator` itself; rename it, such as to `my_context`";
        assert_eq!(text("context"), (expected.to_string(), "ValueError".to_string(), section));
    }
}
