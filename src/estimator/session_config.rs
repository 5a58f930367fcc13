//! What a session is told about devices.

/// What a session is told about devices. TensorFlow: `tf.ConfigProto`, of which two fields matter here.
///
/// # Examples
/// ```
/// use tpulab::estimator::ConfigProto;
/// let config = ConfigProto::new().allow_soft_placement(true).log_device_placement(true);
/// assert!(config.allow_soft_placement && config.log_device_placement);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigProto {
    /// Whether an op that its device cannot run goes to the CPU instead; false unless set.
    pub allow_soft_placement: bool,
    /// Whether a run logs the device of each op; false unless set.
    pub log_device_placement: bool,
}

impl ConfigProto {
    /// Both switches off, as in a fresh `tf.ConfigProto()`.
    pub fn new() -> Self {
        ConfigProto::default()
    }

    /// Lets an op that its device cannot run go to the CPU instead.
    ///
    /// This concerns single ops: it does not turn a TPU program into one for a GPU.
    pub fn allow_soft_placement(mut self, allow: bool) -> Self {
        self.allow_soft_placement = allow;
        self
    }

    /// Logs the device of each op.
    pub fn log_device_placement(mut self, log: bool) -> Self {
        self.log_device_placement = log;
        self
    }
}
