//! How closely the original is followed where it is harmful.

/// Whether the original's traps are reproduced or avoided.
///
/// Friendly runs do what a learner expects where the original refuses or stays silent: an empty `model_dir` means a
/// temporary folder, a TPU without a name is a simulated one. Numbers are the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// Avoids the traps and says so.
    #[default]
    Friendly,
    /// Behaves as TensorFlow does, traps included.
    Faithful,
}
