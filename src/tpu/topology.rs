//! The shape of a TPU slice.

use super::TpuError;
use crate::core::Result;
use std::fmt;
use std::str::FromStr;

/// The cores that one host feeds: four chips of two cores each.
const CORES_PER_HOST: usize = 8;

/// The slices that Cloud TPU offers: generation, and the numbers of cores it comes in.
const SLICES: [(&str, &[usize]); 2] =
    [("v2", &[8, 32, 128, 256, 512]), ("v3", &[8, 32, 64, 128, 256, 512, 1024, 2048])];

/// The shape of a TPU slice: how many cores it has, and on how many hosts. `v3-8` unless another one is asked for.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::tpu::Topology;
/// let slice = Topology::new("v3-32")?;
/// assert_eq!((slice.num_cores(), slice.num_chips(), slice.num_hosts()), (32, 16, 4));
/// assert_eq!(slice.device_name(9), "/job:worker/replica:0/task:1/device:TPU:1");
/// assert!(Topology::new("v3-9").unwrap_err().to_string().contains("no accelerator type `v3-9`"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Topology {
    generation: &'static str,
    num_cores: usize,
}

impl Topology {
    /// The slice of an accelerator type, such as `v2-8` or `v3-32`; the number counts cores.
    ///
    /// # Errors
    /// `TPU001` if Cloud TPU has no such type.
    pub fn new(accelerator_type: &str) -> Result<Self> {
        let found = Topology::all().find(|slice| slice.accelerator_type() == accelerator_type);
        found.ok_or_else(|| {
            let known = Topology::all().map(|slice| slice.accelerator_type()).collect();
            TpuError::AcceleratorType { found: accelerator_type.to_string(), known }.into()
        })
    }

    fn all() -> impl Iterator<Item = Topology> {
        SLICES
            .into_iter()
            .flat_map(|(generation, sizes)| sizes.iter().map(move |&num_cores| Topology { generation, num_cores }))
    }

    /// The v3 slice with this many hosts, if Cloud TPU has one.
    pub(crate) fn with_hosts(num_hosts: usize) -> Option<Self> {
        Topology::all().filter(|slice| slice.generation == "v3").find(|slice| slice.num_hosts() == num_hosts)
    }

    /// The accelerator type, such as `v3-8`.
    pub fn accelerator_type(&self) -> String {
        format!("{}-{}", self.generation, self.num_cores)
    }

    /// The generation of the chips: `v2` or `v3`.
    pub fn generation(&self) -> &'static str {
        self.generation
    }

    /// The cores, each of which runs a replica.
    pub fn num_cores(&self) -> usize {
        self.num_cores
    }

    /// The chips, two cores each.
    pub fn num_chips(&self) -> usize {
        self.num_cores / 2
    }

    /// The hosts, each of which feeds [`cores_per_host`](Topology::cores_per_host) cores.
    pub fn num_hosts(&self) -> usize {
        self.num_cores / CORES_PER_HOST
    }

    /// The cores that one host feeds.
    pub fn cores_per_host(&self) -> usize {
        CORES_PER_HOST
    }

    /// TensorFlow's name for core `core`, counted over all hosts from 0.
    pub fn device_name(&self, core: usize) -> String {
        format!("/job:worker/replica:0/task:{}/device:TPU:{}", core / CORES_PER_HOST, core % CORES_PER_HOST)
    }
}

impl Default for Topology {
    fn default() -> Self {
        Topology { generation: "v3", num_cores: 8 }
    }
}

impl FromStr for Topology {
    type Err = crate::core::Error;

    fn from_str(accelerator_type: &str) -> Result<Self> {
        Topology::new(accelerator_type)
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cores, chips, hosts) = (self.num_cores(), self.num_chips(), self.num_hosts());
        let plural = if hosts == 1 { "host" } else { "hosts" };
        write!(f, "{}: {cores} cores on {chips} chips, {hosts} {plural}", self.accelerator_type())
    }
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_has_two_cores_a_chip_and_eight_a_host() -> Result<()> {
        // Cloud TPU's table of types: cores, chips, hosts.
        for (name, cores, chips, hosts) in [
            ("v2-8", 8, 4, 1),
            ("v2-32", 32, 16, 4),
            ("v2-512", 512, 256, 64),
            ("v3-8", 8, 4, 1),
            ("v3-32", 32, 16, 4),
            ("v3-64", 64, 32, 8),
            ("v3-2048", 2048, 1024, 256),
        ] {
            let slice: Topology = name.parse()?;
            assert_eq!((slice.num_cores(), slice.num_chips(), slice.num_hosts()), (cores, chips, hosts), "{name}");
            assert_eq!(slice.accelerator_type(), name);
        }
        assert_eq!(Topology::default(), Topology::new("v3-8")?);
        assert_eq!(Topology::new("v3-32")?.to_string(), "v3-32: 32 cores on 16 chips, 4 hosts");
        Ok(())
    }

    #[test]
    fn an_unknown_slice_is_refused_with_the_nearest_one() {
        let known = "there are v2-8, v2-32, v2-128, v2-256, v2-512, v3-8, v3-32, v3-64, v3-128, v3-256, v3-512, \
                     v3-1024, v3-2048";
        let error = Topology::new("v3-16").unwrap_err();
        assert_eq!(error.to_string(), format!("TPU001: no accelerator type `v3-16`; {known}"));
        let error = Topology::new("V3_8").unwrap_err();
        assert_eq!(error.to_string(), format!("TPU001: no accelerator type `V3_8`; {known}; did you mean `v3-8`?"));
        for name in ["", "v3", "v3-", "v3-08", "v3-0", "v4-8", "8"] {
            assert_eq!(Topology::new(name).unwrap_err().code(), "TPU001", "{name}");
        }
    }

    #[test]
    fn devices_are_named_by_host_and_core() -> Result<()> {
        let slice = Topology::new("v2-32")?;
        assert_eq!(slice.device_name(0), "/job:worker/replica:0/task:0/device:TPU:0");
        assert_eq!(slice.device_name(31), "/job:worker/replica:0/task:3/device:TPU:7");
        Ok(())
    }

    #[test]
    fn hosts_choose_a_v3_slice() {
        assert_eq!(Topology::with_hosts(4).map(|slice| slice.accelerator_type()).as_deref(), Some("v3-32"));
        assert_eq!(Topology::with_hosts(3), None);
    }
}
