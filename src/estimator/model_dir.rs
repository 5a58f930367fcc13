//! Where a model is kept: checkpoints, and what a resumed training needs beside them.

use super::{Fidelity, RunConfig, RunError};
use crate::checkpoint::{Checkpoint, Saver, latest_checkpoint, step_of};
use crate::core::{Clock, Result};
use crate::data::Position;
use crate::engine::{Executor, VariableStore};
use crate::notebook::logging;
use crate::storage::Location;
use serde_json::{Value, json};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

/// Where a model is kept. A temporary folder is removed with the last handle of it.
#[derive(Clone, Debug)]
pub(crate) struct ModelDir {
    location: Location,
    _temporary: Option<Arc<Temporary>>,
}

#[derive(Debug)]
struct Temporary(Location);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nobody is left to be told that a temporary folder could not be removed.
        let _ = self.0.remove_all();
    }
}

impl ModelDir {
    /// The folder of the configuration, or a temporary one.
    pub fn new(config: &RunConfig) -> Result<Self> {
        if let Some(path) = config.model_path() {
            return Ok(ModelDir { location: Location::parse(path)?, _temporary: None });
        }
        let name = format!("tpulab-{}-{:016x}", std::process::id(), random_seed());
        let location = Location::local(std::env::temp_dir().join(name));
        logging::warn(format!("Using temporary folder as model directory: {location}"));
        Ok(ModelDir { location: location.clone(), _temporary: Some(Arc::new(Temporary(location))) })
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The newest checkpoint, if there is one, and its global step.
    pub fn latest(&self) -> Result<Option<(Location, u64)>> {
        let Some(prefix) = latest_checkpoint(&self.location)? else { return Ok(None) };
        let step = match step_of(&prefix.to_string()) {
            Some(step) => step,
            None => Checkpoint::read(&prefix)?.get("global_step")?.to_scalar::<i64>()?.max(0) as u64,
        };
        Ok(Some((prefix, step)))
    }

    /// Saves the variables as the checkpoint of `step`, with what a resumed training needs beside it.
    pub fn save(&self, config: &RunConfig, variables: &VariableStore, step: u64) -> Result<Location> {
        let mut checkpoint = Checkpoint::new();
        for name in variables.saved_names() {
            let value = variables.get(&name)?;
            checkpoint.insert(name, value);
        }
        let prefix = Saver::new().max_to_keep(config.keep_checkpoint_max).save(&self.location, step, &checkpoint)?;
        logging::info(format!("Saving checkpoints for {step} into {prefix}."));
        Ok(prefix)
    }

    /// Keeps seed and input position beside a checkpoint; TensorFlow takes no notice of the file.
    pub fn save_input(&self, prefix: &Location, seed: u64, position: &Position) -> Result<()> {
        let text = json!({"seed": seed, "position": position.to_json()}).to_string();
        prefix.with_suffix(INPUT_SUFFIX)?.write_atomic(text.as_bytes())
    }

    /// The seed and the input position that were kept beside a checkpoint, if they were.
    fn saved_input(&self, prefix: &Location) -> Option<(u64, Position)> {
        let bytes = prefix.with_suffix(INPUT_SUFFIX).ok()?.read().ok()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        Some((value.get("seed")?.as_u64()?, Position::from_json(value.get("position")?).ok()?))
    }

    /// The seed of a run, and where its input goes on: the configuration's seed, else the model's own, else a new one.
    /// Faithful runs start their input again, as the original does.
    pub fn resume(&self, config: &RunConfig, latest: Option<&Location>) -> (u64, Option<Position>) {
        let saved = latest.and_then(|prefix| self.saved_input(prefix));
        let seed = config.tf_random_seed.or(saved.as_ref().map(|(seed, _)| *seed)).unwrap_or_else(random_seed);
        let position = saved.filter(|(own, _)| *own == seed && config.fidelity == Fidelity::Friendly);
        (seed, position.map(|(_, position)| position))
    }
}

const INPUT_SUFFIX: &str = ".input";

/// Gives variables the values of a checkpoint; those of a metric keep their own.
pub(crate) fn restore(executor: &mut Executor, prefix: &Location) -> Result<()> {
    let checkpoint = Checkpoint::read(prefix)?;
    let store = executor.store_mut();
    for name in store.saved_names() {
        if !checkpoint.contains(&name) {
            let known = checkpoint.names().into_iter().map(|name| name.to_string()).collect();
            return Err(RunError::MissingVariable { name, checkpoint: prefix.to_string(), known }.into());
        }
        let value = checkpoint.get(&name)?;
        let expected = store.shape(&name)?.to_vec();
        if value.shape() != expected {
            let found = value.shape().to_vec();
            return Err(RunError::VariableShape { name, checkpoint: prefix.to_string(), expected, found }.into());
        }
        store.set(&name, value)?;
    }
    logging::info(format!("Restoring parameters from {prefix}"));
    Ok(())
}

/// A number that differs from run to run.
fn random_seed() -> u64 {
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u128(Clock::system().now().as_nanos());
    // JSON readers keep whole numbers up to 2^53.
    hasher.finish() >> 11
}
