//! What can be wrong with a program that is to run on a TPU: its model, its optimizer, its loops.

use crate::core::{Exception, Explain, Explanation, Shape};
use crate::estimator::ModeKeys;

/// What can be wrong with a program that is to run on a TPU: its model, its optimizer, its loops.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProgramError {
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
    /// Summaries in a model function for the TPU.
    Summaries {
        /// Their names.
        names: Vec<String>,
    },
    /// An op that a TPU cannot run and that may not go elsewhere.
    NoDevice {
        /// Its name.
        op: String,
    },
    /// A question that only an `input_fn` may ask.
    NotInInputFn {
        /// What was asked.
        question: &'static str,
    },
}

impl Explain for ProgramError {
    fn explain(&self) -> Explanation {
        use Exception::{InvalidArgumentError, OutOfRangeError, RuntimeError, ValueError};
        match self {
            ProgramError::NoLoss { mode } => {
                Explanation::new("TPU017", ValueError, format!("the {mode:?} spec has no loss or no train_op"))
                    .help("make it with `TpuEstimatorSpec::train`, `::eval` or `::predict`")
                    .section(MODEL_FUNCTION)
            }
            ProgramError::CrossShardOffTpu => Explanation::new(
                "TPU018",
                InvalidArgumentError,
                "`CrossShardOptimizer` was used where no TPU is involved: CPUs have no kernel for CrossReplicaSum",
            )
            .help("wrap the optimizer only where `params.use_tpu()` is true")
            .section(MODEL_FUNCTION),
            ProgramError::Reduction { found } => {
                Explanation::new("TPU019", ValueError, format!("`CrossShardOptimizer` cannot reduce by {found}"))
                    .help("use `Reduction::Mean` or `Reduction::Sum`")
                    .section(MODEL_FUNCTION)
            }
            ProgramError::EndOfInput { done, needed } => Explanation::new(
                "TPU020",
                OutOfRangeError,
                format!("the dataset ended after {done} batches of a loop that needed {needed}"),
            )
            .help("add `.repeat()` to the dataset, or ask for fewer steps")
            .section(INPUT_FUNCTIONS),
            ProgramError::NoCrossShard { replicas } => Explanation::new(
                "TPU026",
                ValueError,
                format!("nothing is summed over the {replicas} cores, so their models would drift apart"),
            )
            .help("wrap the optimizer: `CrossShardOptimizer::new(optimizer)`")
            .section(MODEL_FUNCTION),
            ProgramError::PlainSpec { mode } => Explanation::new(
                "TPU023",
                RuntimeError,
                format!("model_fn returned an `EstimatorSpec` to {}; the TPU takes a `TpuEstimatorSpec`", mode.verb()),
            )
            .help(format!(
                "return `TpuEstimatorSpec::{}`",
                match mode {
                    ModeKeys::Train => "train(loss, train_op)",
                    ModeKeys::Eval => "eval(loss, metric_fn, outputs)",
                    ModeKeys::Predict => "predict(predictions)",
                }
            ))
            .section(MODEL_FUNCTION),
            ProgramError::NoSteps { mode, batches } => {
                let (call, steps) = match mode {
                    ModeKeys::Train => ("Call the train method", "`MaxSteps(n)` or `Steps(n)`"),
                    _ => ("Call the evaluate method", "`Steps(n)`"),
                };
                let help = match batches {
                    Some(batches) => format!("give {steps}; the input has {batches} batches"),
                    None => format!("give {steps}"),
                };
                let message =
                    format!("a TPU cannot {} to the end of the input: its loops have a fixed length", mode.verb());
                Explanation::new("TPU027", ValueError, message).help(help).section(call)
            }
            ProgramError::ScalarOutput { name, found, rows } => Explanation::new(
                "TPU028",
                RuntimeError,
                format!(
                    "output `{name}` has shape {found}; expected {rows} rows first: one for each example of a shard"
                ),
            )
            .help("give the metric function tensors of the batch, and let it reduce them")
            .section("Add an evaluation metric function"),
            ProgramError::Summaries { names } => {
                let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let message = format!("the model function has summaries that no TPU can write: {names}");
                Explanation::new("TPU030", ValueError, message)
                    .help(
                        "remove `tf::summary::scalar` where `params.use_tpu()` is true; loss and speed are written \
                         all the same, and what `metric_fn` counts when you evaluate",
                    )
                    .section(MODEL_FUNCTION)
            }
            ProgramError::NoDevice { op } => Explanation::new(
                "TPU031",
                InvalidArgumentError,
                format!(
                    "no device can run `{op}` (ScalarSummary): a TPU has no kernel for it, and it may not go elsewhere"
                ),
            )
            .help("remove it, or set `allow_soft_placement(true)`")
            .section("Configure the TPU"),
            ProgramError::NotInInputFn { question } => {
                Explanation::new("TPU016", RuntimeError, format!("`{question}` has no answer inside model_fn"))
                    .help("ask it in `input_fn`, which each host calls for itself")
                    .section("Define the input functions")
            }
        }
    }
}

const MODEL_FUNCTION: &str = "Update the custom model function";
const INPUT_FUNCTIONS: &str = "Define the input functions";
