//! How closely the original is followed where it is harmful.

/// Whether the original's traps are reproduced or avoided. Numbers are the same in both.
///
/// | what | friendly | faithful, as TensorFlow 1.15 | code |
/// |---|---|---|---|
/// | an empty `model_dir` | a temporary folder | refused | `EST003` |
/// | a TPU without name or address | a simulated one | refused | `TPU013` |
/// | a local `model_dir` on a TPU | used | refused | `TPU029` |
/// | no `train_batch_size` on a TPU | missed when training starts | missed when the estimator is built | `TPU006` |
/// | `loss` of a TPU's evaluation and logs | the mean over all shards, shard 0's as `loss_shard_0` | shard 0's, the mean as `loss_all_shards` | |
/// | logs of a `TpuEstimator` with `use_tpu` false | loss and speed every `log_step_count_steps` | speed after every step, no loss | |
/// | `summary::scalar` in a model function on a TPU | refused, with the way out | dropped with a warning; refused without soft placement | `TPU030`, `TPU031` |
/// | the input of a resumed training | goes on where it stood | starts again | |
///
/// Each row is tested in both columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// Avoids the traps and says so.
    #[default]
    Friendly,
    /// Behaves as TensorFlow does, traps included.
    Faithful,
}
