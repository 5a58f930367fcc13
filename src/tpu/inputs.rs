//! What a dataset must be for a TPU, checked before anything runs.

use super::{BatchError, BatchPlan};
use crate::core::{DType, Result, Shape};
use crate::data::ElementSpec;
use crate::engine::Precision;
use crate::estimator::ModeKeys;

/// The dtypes that a TPU's infeed carries in TensorFlow 1.15. TensorFlow 2 adds int8 and uint8.
pub const INFEED_DTYPES: [DType; 7] =
    [DType::Float32, DType::Int32, DType::Complex64, DType::Int64, DType::Bool, DType::Bfloat16, DType::Uint32];

/// The spec of one shard of what `spec` delivers.
///
/// `pulls` is how many elements of the dataset make up the part that `readers` replicas share; on several hosts and
/// with one input for each core, each part is shared alike.
///
/// # Errors
/// `TPU022` for batches of unknown size, `TPU025` for dtypes that the infeed does not carry, `TPU024` for rows that the
/// replicas cannot share.
pub(super) fn shard_spec(
    spec: &ElementSpec,
    mode: ModeKeys,
    plan: &BatchPlan,
    pulls: usize,
    whole: bool,
    precision: Precision,
) -> Result<ElementSpec> {
    let labels = spec.labels.iter().map(|(dtype, shape)| ("labels".to_string(), *dtype, shape.clone()));
    let columns: Vec<(String, DType, Shape)> = spec.features.iter().cloned().chain(labels).collect();
    let carried = |dtype: DType| {
        // A run in float64 is a proof, not a TPU: its features are float64.
        INFEED_DTYPES.contains(&dtype) || (precision == Precision::Float64 && dtype == DType::Float64)
    };
    let refused: Vec<_> = columns
        .iter()
        .filter(|(_, dtype, _)| !carried(*dtype))
        .map(|(name, dtype, _)| (name.clone(), *dtype))
        .collect();
    if !refused.is_empty() {
        return Err(BatchError::InfeedDTypes { columns: refused }.into());
    }
    let dynamic: Vec<_> = columns
        .iter()
        .filter(|(_, _, shape)| shape.rank() == 0 || shape.to_known().is_none())
        .map(|(name, _, shape)| (name.clone(), shape.clone()))
        .collect();
    if mode != ModeKeys::Predict && !dynamic.is_empty() {
        return Err(BatchError::DynamicBatch { mode, columns: dynamic }.into());
    }
    let readers = if whole { 1 } else { plan.num_replicas / plan.feeding_inputs() };
    let shard = |name: &str, shape: &Shape| -> Result<Shape> {
        let mut sizes = shape.sizes().to_vec();
        let Some(first) = sizes.first_mut() else { return Ok(shape.clone()) };
        *first = Some(match *first {
            _ if mode == ModeKeys::Predict => plan.model_fn_batch_size,
            Some(rows) if (rows * pulls).is_multiple_of(readers) => rows * pulls / readers,
            Some(rows) => {
                return Err(BatchError::UnevenRows { column: name.to_string(), rows, shards: readers }.into());
            }
            None => return Ok(shape.clone()),
        });
        Ok(Shape::new(&sizes))
    };
    let features = spec.features.iter();
    Ok(ElementSpec {
        features: features
            .map(|(name, dtype, shape)| Ok((name.clone(), *dtype, shard(name, shape)?)))
            .collect::<Result<Vec<_>>>()?,
        labels: match &spec.labels {
            Some((dtype, shape)) => Some((*dtype, shard("labels", shape)?)),
            None => None,
        },
    })
}
