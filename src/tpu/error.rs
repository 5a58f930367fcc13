//! What can go wrong on a TPU before a program runs on it: names and settings.

use crate::core::{Exception, Explain, Explanation, nearest};

/// What can go wrong on a TPU before a program runs on it: names and settings.
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
    /// A faithful run on a TPU that keeps its model on this machine.
    LocalModelDir {
        /// The folder.
        model_dir: String,
    },
}

impl Explain for TpuError {
    fn explain(&self) -> Explanation {
        use Exception::{InvalidArgumentError, ValueError};
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
            TpuError::LocalModelDir { model_dir } => Explanation::new(
                "TPU029",
                InvalidArgumentError,
                format!("model_dir {model_dir:?} is a folder of this machine, and the TPU's workers write checkpoints themselves"),
            )
            .help("give a bucket, such as `gs://bucket-name/iris`")
            .section(HYPERPARAMETERS),
        }
    }
}

const HYPERPARAMETERS: &str = "Define hyperparameters";
const CONFIGURE: &str = "Configure TPUs";
const CLASSIFIER: &str = "Add TPU-specific parameters to the classifier";

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
