//! Which TPU a program runs on.

use super::address::Address;
use super::{Topology, TpuError};
use crate::core::Result;
use std::collections::BTreeMap;
use std::fmt;

/// What a program may find in its surroundings when it names no TPU, in this order.
const ENVIRONMENT: [&str; 2] = ["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME"];

/// Which TPU a program runs on, and where its workers are. TensorFlow: `TPUClusterResolver`.
///
/// The TPU is simulated: a name or an address stands for a slice, `v3-8` unless
/// [`accelerator_type`](TpuClusterResolver::accelerator_type) says otherwise.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::tpu::TpuClusterResolver;
/// let resolver = TpuClusterResolver::new(Some("grpc://10.240.1.2"))?;
/// assert_eq!(resolver.master(), "grpc://10.240.1.2:8470");
/// assert_eq!(resolver.topology().accelerator_type(), "v3-8");
///
/// let pod = TpuClusterResolver::new(Some("tpu-name"))?.accelerator_type("v3-32")?;
/// assert_eq!((pod.cluster_spec()["worker"].len(), pod.num_accelerators()), (4, 8));
/// # Ok::<(), Error>(())
/// ```
#[doc(alias = "TPUClusterResolver")]
#[derive(Clone, PartialEq)]
pub struct TpuClusterResolver {
    target: Target,
    topology: Topology,
}

#[derive(Clone, Debug, PartialEq)]
enum Target {
    /// Nobody named a TPU.
    Unnamed,
    /// A TPU in this machine.
    Local,
    /// A TPU of the control plane.
    Name(String),
    /// A TPU that is reached directly, by the addresses of its workers.
    Workers(Vec<Address>),
}

impl TpuClusterResolver {
    /// The TPU called `tpu`: a name, an address such as `10.240.1.2` or `grpc://10.240.1.2:8470`, several addresses
    /// with commas between them, or `local`.
    ///
    /// Without a name, or with an empty one, the environment variables `KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS` and
    /// `TPU_NAME` are asked; if they are silent too, the TPU is a local one, which faithful runs refuse. The port is
    /// 8470 unless given.
    ///
    /// # Errors
    /// `TPU004` for what can be neither a name nor an address, `TPU005` for a number of addresses that no v3 slice has
    /// hosts.
    pub fn new(tpu: Option<&str>) -> Result<Self> {
        TpuClusterResolver::within(tpu, |variable| std::env::var(variable).ok())
    }

    /// The same, with these surroundings instead of the process's.
    pub(super) fn within(tpu: Option<&str>, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let given = tpu.map(str::to_string);
        let found = std::iter::once(given).chain(ENVIRONMENT.iter().map(|variable| environment(variable)));
        let target = match found.flatten().find(|name| !name.is_empty()) {
            Some(name) => Target::read(&name)?,
            None => Target::Unnamed,
        };
        let topology = match &target {
            Target::Workers(workers) => Topology::with_hosts(workers.len()).ok_or_else(|| {
                let slice = "any v3 slice".to_string();
                TpuError::Workers { found: workers.len(), slice, hosts: None }
            })?,
            _ => Topology::default(),
        };
        Ok(TpuClusterResolver { target, topology })
    }

    /// The same TPU as a slice of this type, such as `v2-8` or `v3-32`.
    ///
    /// # Errors
    /// `TPU001` for a type that Cloud TPU does not have, `TPU005` if its hosts are not as many as the addresses given.
    pub fn accelerator_type(mut self, accelerator_type: &str) -> Result<Self> {
        self.topology = Topology::new(accelerator_type)?;
        match &self.target {
            Target::Workers(workers) if workers.len() != self.topology.num_hosts() => {
                let hosts = Some(self.topology.num_hosts());
                Err(TpuError::Workers { found: workers.len(), slice: accelerator_type.to_string(), hosts }.into())
            }
            _ => Ok(self),
        }
    }

    /// The slice that the name stands for.
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// The name that the control plane knows the TPU by; `None` for a local one or an address.
    pub fn name(&self) -> Option<&str> {
        match &self.target {
            Target::Name(name) => Some(name),
            _ => None,
        }
    }

    /// What [`new`](TpuClusterResolver::new) takes for this TPU; `None` where nobody named one.
    pub(super) fn address(&self) -> Option<String> {
        match &self.target {
            Target::Unnamed => None,
            Target::Local => Some("local".to_string()),
            Target::Name(name) => Some(name.clone()),
            Target::Workers(workers) => {
                Some(workers.iter().map(|worker| format!("grpc://{worker}")).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The address of the first worker, such as `grpc://10.240.1.2:8470`; empty for a local TPU.
    pub fn master(&self) -> String {
        self.workers().first().map(|worker| format!("grpc://{worker}")).unwrap_or_default()
    }

    /// The addresses of all workers under `worker`; empty for a local TPU.
    pub fn cluster_spec(&self) -> BTreeMap<String, Vec<String>> {
        let workers: Vec<String> = self.workers().iter().map(Address::to_string).collect();
        if workers.is_empty() { BTreeMap::new() } else { BTreeMap::from([("worker".to_string(), workers)]) }
    }

    /// The cores of each worker.
    pub fn num_accelerators(&self) -> usize {
        self.topology.cores_per_host()
    }

    /// Whether somebody named a TPU, here or in the environment.
    pub(crate) fn is_named(&self) -> bool {
        self.target != Target::Unnamed
    }

    fn workers(&self) -> Vec<Address> {
        match &self.target {
            Target::Unnamed | Target::Local => Vec::new(),
            Target::Name(_) => (0..self.topology.num_hosts()).map(Address::simulated).collect(),
            Target::Workers(workers) => workers.clone(),
        }
    }
}

impl Target {
    fn read(text: &str) -> Result<Self> {
        if text == "local" {
            return Ok(Target::Local);
        }
        let is_address = |part: &str| part.contains(['.', ':', '/', ',']);
        if is_address(text) {
            return Ok(Target::Workers(text.split(',').map(Address::read).collect::<Result<_>>()?));
        }
        let in_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) || !text.chars().all(in_name) {
            return Err(TpuError::Name { found: text.to_string() }.into());
        }
        Ok(Target::Name(text.to_string()))
    }
}

impl fmt::Debug for TpuClusterResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Unnamed | Target::Local => f.write_str("local TPU")?,
            Target::Name(name) => write!(f, "TPU `{name}` at {}", self.master())?,
            Target::Workers(_) => write!(f, "TPU at {}", self.master())?,
        }
        write!(f, " ({})", self.topology)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(tpu: &str) -> Result<TpuClusterResolver> {
        TpuClusterResolver::within(Some(tpu), |_| None)
    }

    fn refused(tpu: &str) -> (String, String) {
        let error = resolve(tpu).unwrap_err();
        (error.to_string(), error.exception().to_string())
    }

    #[test]
    fn no_name_is_a_local_slice() -> Result<()> {
        for tpu in [None, Some("")] {
            let resolver = TpuClusterResolver::within(tpu, |_| None)?;
            assert!(!resolver.is_named());
            assert_eq!((resolver.master().as_str(), resolver.cluster_spec().len()), ("", 0));
            assert_eq!(resolver.topology(), Topology::default());
        }
        Ok(())
    }

    #[test]
    fn the_environment_names_the_tpu_that_the_program_does_not() -> Result<()> {
        let environment = |variable: &str| match variable {
            "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS" => Some("grpc://10.0.0.2".to_string()),
            "TPU_NAME" => Some("from-environment".to_string()),
            _ => None,
        };
        let named_only = |variable: &str| environment(variable).filter(|_| variable == "TPU_NAME");
        assert_eq!(TpuClusterResolver::within(None, environment)?.master(), "grpc://10.0.0.2:8470");
        assert_eq!(TpuClusterResolver::within(Some(""), named_only)?.name(), Some("from-environment"));
        assert_eq!(TpuClusterResolver::within(Some("mine"), environment)?.name(), Some("mine"));
        Ok(())
    }

    #[test]
    fn local_is_a_cluster_of_nobody() -> Result<()> {
        let resolver = resolve("local")?;
        assert!(resolver.is_named());
        assert_eq!((resolver.name(), resolver.master().as_str(), resolver.cluster_spec().len()), (None, "", 0));
        assert_eq!(format!("{resolver:?}"), "local TPU (v3-8: 8 cores on 4 chips, 1 host)");
        Ok(())
    }

    #[test]
    fn addresses_are_used_as_they_are() -> Result<()> {
        // TensorFlow gives the same masters for the three that start with grpc.
        for (tpu, master) in [
            ("grpc://10.240.1.2", "grpc://10.240.1.2:8470"),
            ("grpc://10.240.1.2:8471", "grpc://10.240.1.2:8471"),
            ("grpc://tpu.example", "grpc://tpu.example:8470"),
            ("10.240.1.2", "grpc://10.240.1.2:8470"),
            ("10.240.1.2:8471", "grpc://10.240.1.2:8471"),
        ] {
            assert_eq!(resolve(tpu)?.master(), master, "{tpu}");
        }
        Ok(())
    }

    #[test]
    fn several_addresses_are_the_hosts_of_a_slice() -> Result<()> {
        let resolver = resolve("grpc://10.0.0.1,grpc://10.0.0.2,10.0.0.3:1,10.0.0.4")?;
        assert_eq!(resolver.topology().accelerator_type(), "v3-32");
        let workers = ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:1", "10.0.0.4:8470"];
        assert_eq!(resolver.cluster_spec()["worker"], workers);
        assert_eq!(resolver.accelerator_type("v2-32")?.topology().num_cores(), 32);
        Ok(())
    }

    #[test]
    fn addresses_and_hosts_are_as_many() {
        let expected = "TPU005: found 2 addresses, which are not the hosts of any v3 slice; \
                        give one address per host, or the TPU's name";
        assert_eq!(refused("10.0.0.1,10.0.0.2"), (expected.to_string(), "ValueError".to_string()));
        let error = resolve("10.0.0.1").and_then(|resolver| resolver.accelerator_type("v3-32")).unwrap_err();
        let expected =
            "TPU005: found 1 address for v3-32, which has 4 hosts; give one address per host, or the TPU's name";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_name_stands_for_simulated_workers() -> Result<()> {
        let resolver = resolve("tpu-name")?.accelerator_type("v2-32")?;
        assert_eq!((resolver.name(), resolver.master().as_str()), (Some("tpu-name"), "grpc://10.240.1.2:8470"));
        assert_eq!(resolver.cluster_spec()["worker"][3], "10.240.1.5:8470");
        assert_eq!(resolver.num_accelerators(), 8);
        assert_eq!(
            format!("{resolver:?}"),
            "TPU `tpu-name` at grpc://10.240.1.2:8470 (v2-32: 32 cores on 16 chips, 4 hosts)"
        );
        let pod = resolve("tpu-name")?.accelerator_type("v3-2048")?;
        assert_eq!(pod.cluster_spec()["worker"][255], "10.240.2.1:8470");
        Ok(())
    }

    #[test]
    fn an_unknown_accelerator_type_is_refused() -> Result<()> {
        assert_eq!(resolve("tpu-name")?.accelerator_type("v3-9").unwrap_err().code(), "TPU001");
        Ok(())
    }

    #[test]
    fn what_is_neither_name_nor_address_is_refused() {
        let expected = "TPU004: TPU `my tpu` is neither a name nor an address; \
                        write a name such as `tpu-name` or an address such as `grpc://10.240.1.2:8470`";
        assert_eq!(refused("my tpu"), (expected.to_string(), "ValueError".to_string()));
        for tpu in [
            " ",
            "8470",
            "-tpu",
            "tpu/name",
            "tpu.name",
            "tpu:8470",
            "grpc://",
            "grpc://:8470",
            "grpc://10.0.0.2:",
            "grpc://10.0.0.2:port",
            "grpc://10.0.0.2:0",
            "grpc://10.0.0.2:65536",
            "grpc://10.0.0.2:+1",
            "grpc://10.0.0.2:1:2",
            "grpc://10.0.0.2/path",
            "grpc://10.0.0.300",
            "grpc://-host",
            "http://10.0.0.2",
            "10.0.0.300",
            "10.0.0",
            ",",
            "10.0.0.2,",
        ] {
            assert_eq!(resolve(tpu).map(|_| ()).map_err(|error| error.code()), Err("TPU004"), "{tpu}");
        }
    }
}
