//! Which part of the system calls an input function.

/// Which part of the system calls an `input_fn`, and what one call delivers. TensorFlow: `InputPipelineConfig`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InputPipelineConfig {
    /// One call per core, each for its shard. TensorFlow: `PER_SHARD_V1`, or `False`.
    PerShardV1 = 1,
    /// One call per host, which splits the batch over its cores. TensorFlow: `PER_HOST_V1`, or `True`.
    #[default]
    PerHostV1 = 2,
    /// One dataset per host, which each of its cores asks for a shard in turn. TensorFlow: `PER_HOST_V2`.
    PerHostV2 = 3,
    /// One call in all; every core gets the whole batch. TensorFlow: `BROADCAST`.
    Broadcast = 4,
    /// One call in all, to evaluate or predict; every core gets its slice of the batch. TensorFlow: `SLICED`.
    Sliced = 5,
}
