//! What can go wrong while an estimator trains, evaluates or predicts.

use crate::core::{Exception, Explain, Explanation, nearest};

/// What can go wrong while an estimator trains, evaluates or predicts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// A number of steps that is not positive.
    Steps {
        /// Which one.
        name: &'static str,
    },
    /// The loss became NaN.
    NanLoss {
        /// The step whose loss it is.
        step: u64,
        /// Where the first NaN or infinity appeared, if it could be found.
        origin: Option<NanOrigin>,
    },
    /// A checkpoint lacks a variable of the graph.
    MissingVariable {
        /// The variable.
        name: String,
        /// The checkpoint.
        checkpoint: String,
        /// What the checkpoint holds.
        known: Vec<String>,
    },
    /// A checkpoint's variable has another shape than the graph's.
    VariableShape {
        /// The variable.
        name: String,
        /// The checkpoint.
        checkpoint: String,
        /// The shape in the graph.
        expected: Vec<usize>,
        /// The shape in the checkpoint.
        found: Vec<usize>,
    },
    /// No batch came at all.
    NoInput {
        /// What was to be done: train, evaluate, predict.
        mode: &'static str,
    },
    /// Both places name a model folder, and they differ.
    ModelDirs {
        /// The argument.
        argument: String,
        /// The configuration.
        config: String,
    },
    /// A hook or a caller asked for a key that there is not.
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that there are.
        known: Vec<String>,
    },
    /// A saver, hook or timer was given numbers that make no sense.
    Hook {
        /// Which hook.
        hook: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// No checkpoint was found where one is needed.
    NoCheckpoint {
        /// The folder.
        model_dir: String,
    },
    /// The training operation did not count its step.
    GlobalStep,
    /// The user interrupted.
    Interrupted {
        /// What was being done: train, evaluate, predict.
        mode: &'static str,
        /// The step that was done last.
        step: u64,
        /// The folder in which training has saved that step.
        saved: Option<String>,
    },
    /// Predictions that do not have one entry for each example.
    PredictionRows {
        /// The prediction's name.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The batch's rows.
        rows: usize,
    },
    /// Predictions were asked for, and the model gives none of them.
    PredictKeys {
        /// What was asked for.
        keys: Vec<String>,
        /// What the model predicts.
        known: Vec<String>,
    },
}

/// Where a NaN or infinity first appeared.
#[derive(Clone, Debug, PartialEq)]
pub struct NanOrigin {
    /// The step in which it appeared: the one whose loss is NaN, or an earlier one that spoilt a variable.
    pub step: u64,
    /// The replica, in TPU runs its core.
    pub replica: usize,
    /// The tensor, such as `dense/MatMul:0`.
    pub tensor: String,
    /// What it held: `NaN` or `infinity`.
    pub found: &'static str,
}

impl Explain for RunError {
    fn explain(&self) -> Explanation {
        use Exception::{
            InvalidArgumentError, KeyError, KeyboardInterrupt, NanLossDuringTrainingError, NotFoundError,
            OutOfRangeError, ValueError,
        };
        match self {
            RunError::Steps { name } => {
                Explanation::new("RUN001", ValueError, format!("{name} must be positive, found 0"))
                    .help("leave the call out where there is nothing to do")
            }
            RunError::NanLoss { step, origin } => {
                let message = match origin {
                    Some(NanOrigin { step: first, replica, tensor, found }) => format!(
                        "the loss of step {step} is NaN; the first {found} appeared in step {first}, in `{tensor}` on \
                         replica {replica}"
                    ),
                    None => format!("the loss of step {step} is NaN"),
                };
                Explanation::new("RUN002", NanLossDuringTrainingError, message)
                    .help("lower the learning rate, clip the gradients, or check the features of that step")
            }
            RunError::MissingVariable { name, checkpoint, known } => {
                let near = nearest(name, known.iter().map(String::as_str));
                let message = format!("checkpoint {checkpoint} has no variable `{name}`");
                let help = "give this model a model_dir of its own, or build the model that was saved";
                Explanation::new(
                    "RUN003",
                    NotFoundError,
                    match near {
                        Some(near) => format!("{message}; the nearest is `{near}`"),
                        None => message,
                    },
                )
                .help(help)
            }
            RunError::VariableShape { name, checkpoint, expected, found } => Explanation::new(
                "RUN004",
                InvalidArgumentError,
                format!("variable `{name}` is {expected:?} in this model and {found:?} in checkpoint {checkpoint}"),
            )
            .help("give this model a model_dir of its own, or build the model that was saved"),
            RunError::NoInput { mode } => {
                Explanation::new("RUN005", OutOfRangeError, format!("the dataset had no batch to {mode}"))
                    .help("check that it holds at least one whole batch: `Remainder::Drop` drops a smaller one")
            }
            RunError::ModelDirs { argument, config } => Explanation::new(
                "RUN006",
                ValueError,
                format!("model_dir is {argument:?} and the config's model_dir is {config:?}"),
            )
            .help("give one of them"),
            RunError::UnknownKey { key, known } => {
                Explanation::new("RUN007", KeyError, format!("no key `{key}`; there are {}", known.join(", ")))
            }
            RunError::Hook { hook, problem } => Explanation::new("RUN008", ValueError, format!("{hook}: {problem}")),
            RunError::NoCheckpoint { model_dir } => {
                Explanation::new("RUN009", ValueError, format!("no checkpoint in {model_dir:?}"))
                    .help("call `train` first, or name the model_dir of a trained model")
            }
            RunError::GlobalStep => Explanation::new(
                "RUN011",
                ValueError,
                "train_op ran, and the global step stayed the same, so the training would never end",
            )
            .help("give `minimize` the global step: `minimize(&loss, Some(&features.graph().global_step()))`"),
            RunError::Interrupted { mode, step, saved: Some(folder) } => Explanation::new(
                "RUN013",
                KeyboardInterrupt,
                format!("{mode} was interrupted after step {step}, which is saved in {folder}"),
            )
            .help("run the cell again: it goes on from there"),
            RunError::Interrupted { mode, step, saved: None } => {
                Explanation::new("RUN013", KeyboardInterrupt, format!("{mode} was interrupted after step {step}"))
                    .help("run the cell again")
            }
            RunError::PredictionRows { name, found, rows } => Explanation::new(
                "RUN010",
                ValueError,
                format!("prediction `{name}` has shape {found:?}; expected {rows} rows, one for each example"),
            )
            .help("keep the batch as the first dimension of every prediction"),
            RunError::PredictKeys { keys, known } => {
                let listed = |names: &[String]| format!("`{}`", names.join("`, `"));
                Explanation::new("RUN012", ValueError, format!("none of the keys {} is predicted", listed(keys)))
                    .help(format!("use one of {}", listed(known)))
            }
        }
    }
}
