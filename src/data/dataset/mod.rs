//! Streams of elements: rows at first, batches later.

mod batch;
mod cardinality;
mod gather;
mod iterator;
mod position;
mod rows;

pub use batch::Batch;
pub use cardinality::Cardinality;
pub use iterator::DatasetIterator;
pub use position::Position;

use super::{Column, DataError, Frame};
use crate::core::{DType, Result, Shape};
use rows::{Batched, Repeated, RowStream, Shuffled, ShuffledRows, Skipped, SourceRows, Taken};
use std::fmt;
use std::sync::Arc;

/// What becomes of rows that do not fill a last batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remainder {
    /// They form a smaller batch. TensorFlow: `drop_remainder=False`.
    Keep,
    /// They are dropped, so every batch has the same size. TensorFlow: `drop_remainder=True`.
    Drop,
}

/// Dtypes and shapes of a dataset's elements. TensorFlow: `dataset.element_spec`.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementSpec {
    /// Name, dtype and shape of each feature. After `batch` the first size is the batch's: known only with
    /// [`Remainder::Drop`].
    pub features: Vec<(String, DType, Shape)>,
    /// Dtype and shape of the labels, if there are any.
    pub labels: Option<(DType, Shape)>,
}

/// A stream of elements, described but not yet read. TensorFlow: `tf.data.Dataset`.
///
/// Each method gives a new dataset; cloning is cheap. Elements are single examples until `batch`. Everything but `map`
/// works on row numbers, and a batch is gathered once, when it is asked for.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let features = Frame::new([("x", Column::from(vec![1.0f32, 2.0, 3.0]))])?;
/// let labels = Column::from(vec![0i32, 1, 0]);
/// let dataset = Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(2, Remainder::Drop);
/// let mut iterator = dataset.iterator(0)?;
/// let first = iterator.next().expect("it never ends")?;
/// assert_eq!(first.feature("x")?.to_string(), "[1.0, 2.0]");
/// let second = iterator.next().expect("it never ends")?;
/// assert_eq!(second.source_rows(), [2, 0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset {
    source: Arc<Slices>,
    stages: Vec<Stage>,
    problem: Option<DataError>,
}

/// What [`Dataset::from_tensor_slices`] slices: features under names, and labels if there are any.
#[derive(Clone, Debug)]
pub struct Slices {
    features: Vec<(String, Column)>,
    labels: Option<Column>,
}

type MapFn = Arc<dyn Fn(Batch) -> Result<Batch> + Send + Sync>;

/// One step of a pipeline.
#[derive(Clone)]
enum Stage {
    Shuffle { buffer: usize, seed: Option<u64>, reshuffle: bool },
    Repeat(Option<u64>),
    Take(u64),
    Skip(u64),
    Batch(usize, Remainder),
    Map(MapFn),
}

impl From<(&Frame, &Column)> for Slices {
    fn from((features, labels): (&Frame, &Column)) -> Self {
        Slices { features: features.columns().to_vec(), labels: Some(labels.clone()) }
    }
}

impl From<(Frame, Column)> for Slices {
    fn from((features, labels): (Frame, Column)) -> Self {
        Slices::from((&features, &labels))
    }
}

impl From<&Frame> for Slices {
    fn from(features: &Frame) -> Self {
        Slices { features: features.columns().to_vec(), labels: None }
    }
}

impl From<Frame> for Slices {
    fn from(features: Frame) -> Self {
        Slices::from(&features)
    }
}

impl Dataset {
    /// One element for each row: of features alone, or of features and labels.
    ///
    /// # Errors
    /// `DATA003` if the labels are more or fewer than the rows, `DATA004` if there is nothing to slice.
    pub fn from_tensor_slices(slices: impl Into<Slices>) -> Result<Self> {
        let source: Slices = slices.into();
        if let (Some((name, column)), Some(labels)) = (source.features.first(), &source.labels)
            && column.len() != labels.len()
        {
            let (left, right) = ((name.clone(), column.len()), ("labels".to_string(), labels.len()));
            return Err(DataError::Lengths { left, right }.into());
        }
        if source.features.is_empty() {
            let problem = "there are no features".to_string();
            let help = "give a frame with at least one column";
            return Err(DataError::Dataset { method: "from_tensor_slices", problem, help }.into());
        }
        if u32::try_from(source.rows()).is_err() {
            let problem = format!("{} rows are more than {}", source.rows(), u32::MAX);
            return Err(DataError::Dataset { method: "from_tensor_slices", problem, help: "split the data" }.into());
        }
        Ok(Dataset { source: Arc::new(source), stages: Vec::new(), problem: None })
    }

    fn with(mut self, stage: Stage) -> Self {
        self.stages.push(stage);
        self
    }

    /// What is asked for makes no sense: reading the dataset will say so.
    fn refused(mut self, method: &'static str, problem: impl Into<String>, help: &'static str) -> Self {
        self.problem.get_or_insert(DataError::Dataset { method, problem: problem.into(), help });
        self
    }

    /// Elements in random order, drawn from a buffer of `buffer` elements, in another order at each repetition.
    ///
    /// With a buffer as large as the dataset all orders are equally likely; a larger one takes no more memory. The order
    /// follows from the iterator's seed.
    pub fn shuffle(self, buffer: usize) -> Self {
        self.shuffled(buffer, None, true)
    }

    /// The same from a seed of its own.
    pub fn shuffle_with_seed(self, buffer: usize, seed: u64) -> Self {
        self.shuffled(buffer, Some(seed), true)
    }

    /// The same in the same order at each repetition. TensorFlow: `reshuffle_each_iteration=False`.
    pub fn shuffle_once(self, buffer: usize, seed: Option<u64>) -> Self {
        self.shuffled(buffer, seed, false)
    }

    fn shuffled(self, buffer: usize, seed: Option<u64>, reshuffle: bool) -> Self {
        if buffer == 0 {
            return self.refused("shuffle", "the buffer holds 0 elements", "use a buffer of 1 or more");
        }
        if !self.extent().may_buffer(buffer) {
            let problem = format!("a buffer of {buffer} elements takes more than 4 GiB");
            return self.refused("shuffle", problem, "use a smaller buffer, or shuffle before `repeat`");
        }
        self.with(Stage::Shuffle { buffer, seed, reshuffle })
    }

    /// All elements again and again, without end. A dataset without elements ends at once.
    pub fn repeat(self) -> Self {
        self.with(Stage::Repeat(None))
    }

    /// All elements `count` times.
    pub fn repeat_times(self, count: u64) -> Self {
        self.with(Stage::Repeat(Some(count)))
    }

    /// The first `count` elements.
    pub fn take(self, count: u64) -> Self {
        self.with(Stage::Take(count))
    }

    /// All but the first `count` elements.
    pub fn skip(self, count: u64) -> Self {
        if !self.extent().may_pass_over(count) {
            let problem = format!("{count} elements to pass over are more than {}", u32::MAX);
            return self.refused("skip", problem, "skip fewer elements");
        }
        self.with(Stage::Skip(count))
    }

    /// `size` elements as one, stacked along a new first dimension.
    pub fn batch(self, size: usize, remainder: Remainder) -> Self {
        if size == 0 {
            return self.refused("batch", "the batch size is 0", "use a batch size of 1 or more");
        }
        if !self.extent().may_stack(size) {
            let problem = format!("a batch of {size} elements takes more than 4 GiB");
            return self.refused("batch", problem, "use a smaller batch size");
        }
        self.with(Stage::Batch(size, remainder))
    }

    /// Each element changed by a function: one element in, one out. Before `batch` it sees single examples, after it
    /// batches. The function must give equal results for equal elements: it runs when an element is gathered.
    pub fn map(self, function: impl Fn(Batch) -> Result<Batch> + Send + Sync + 'static) -> Self {
        self.with(Stage::Map(Arc::new(function)))
    }

    /// The same elements: how far ahead a dataset is read is up to who reads it, such as the TPU's infeed.
    pub fn prefetch(self, _count: usize) -> Self {
        self
    }

    /// Dtypes and shapes of the elements. Where there is a `map`, it is tried on the first element.
    ///
    /// # Errors
    /// `DATA004` for a pipeline that makes no sense, and what a `map` fails with.
    pub fn element_spec(&self) -> Result<ElementSpec> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone().into());
        }
        let mut leading: Vec<Option<usize>> = Vec::new();
        for stage in &self.stages {
            if let Stage::Batch(size, remainder) = stage {
                leading.insert(0, (*remainder == Remainder::Drop).then_some(*size));
            }
        }
        let shape = |inner: &[usize]| {
            Shape::new(&leading.iter().copied().chain(inner.iter().copied().map(Some)).collect::<Vec<_>>())
        };
        if !self.stages.iter().any(|stage| matches!(stage, Stage::Map(_))) {
            let features = self.source.features.iter();
            return Ok(ElementSpec {
                features: features
                    .map(|(name, column)| (name.clone(), column.dtype(), shape(column.inner_shape())))
                    .collect(),
                labels: self.source.labels.as_ref().map(|labels| (labels.dtype(), shape(labels.inner_shape()))),
            });
        }
        let Some(first) = self.iterator(0)?.next() else {
            return Ok(ElementSpec { features: Vec::new(), labels: None });
        };
        let first = first?;
        // A size that the pipeline leaves open stays open, wherever the map put it.
        let of = |sizes: &[usize]| {
            let sizes = sizes.iter().enumerate();
            Shape::new(&sizes.map(|(axis, size)| leading.get(axis).copied().unwrap_or(Some(*size))).collect::<Vec<_>>())
        };
        Ok(ElementSpec {
            features: first
                .features()
                .iter()
                .map(|(name, array)| (name.clone(), array.dtype(), of(array.shape())))
                .collect(),
            labels: first.labels().map(|labels| (labels.dtype(), of(labels.shape()))),
        })
    }

    /// Reads the dataset from its beginning. `seed` is for shuffles that have none of their own: equal seeds give
    /// equal orders.
    ///
    /// # Errors
    /// `DATA004` for a pipeline that makes no sense.
    pub fn iterator(&self, seed: u64) -> Result<DatasetIterator> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone().into());
        }
        Ok(DatasetIterator::new(self.clone(), seed))
    }

    /// Reads the dataset from a saved position on.
    ///
    /// # Errors
    /// `DATA004` for a pipeline that makes no sense, `DATA005` if the position belongs to another one.
    pub fn iterator_from(&self, position: &Position) -> Result<DatasetIterator> {
        let mut iterator = self.iterator(position.seed())?;
        iterator.restore(position)?;
        Ok(iterator)
    }

    /// The row numbers of the elements, in their order.
    fn row_stream(&self, seed: u64) -> Box<dyn RowStream> {
        let mut stream: Box<dyn RowStream> = Box::new(SourceRows::new(self.source.rows() as u32));
        let mut of_rows = true;
        for (number, stage) in self.stages.iter().enumerate() {
            stream = match stage {
                Stage::Shuffle { buffer, seed: own, reshuffle } => {
                    // Each shuffle of a pipeline draws from a stream of its own.
                    let key = own.unwrap_or(seed ^ (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                    if of_rows {
                        Box::new(ShuffledRows::new(stream, *buffer, key, *reshuffle))
                    } else {
                        Box::new(Shuffled::new(stream, *buffer, key, *reshuffle))
                    }
                }
                Stage::Repeat(times) => Box::new(Repeated::new(stream, *times)),
                Stage::Take(count) => Box::new(Taken::new(stream, *count)),
                Stage::Skip(count) => Box::new(Skipped::new(stream, *count)),
                Stage::Batch(size, remainder) => {
                    Box::new(Batched::new(stream, *size, *remainder, std::mem::take(&mut of_rows)))
                }
                Stage::Map(_) => stream,
            };
        }
        stream
    }

    /// What the pipeline does, as a text: a position belongs to datasets with the same one.
    fn description(&self) -> String {
        let mut text = format!("{} rows", self.source.rows());
        for stage in &self.stages {
            text.push_str(&match stage {
                Stage::Shuffle { buffer, seed, reshuffle } => format!(", shuffle {buffer} {seed:?} {reshuffle}"),
                Stage::Repeat(Some(times)) => format!(", repeat {times}"),
                Stage::Repeat(None) => ", repeat".to_string(),
                Stage::Take(count) => format!(", take {count}"),
                Stage::Skip(count) => format!(", skip {count}"),
                Stage::Batch(size, remainder) => format!(", batch {size} {remainder:?}"),
                Stage::Map(_) => ", map".to_string(),
            });
        }
        text
    }
}

impl Slices {
    fn rows(&self) -> usize {
        self.features.first().map_or(0, |(_, column)| column.len())
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.source.features.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "Dataset({}; {names:?}, {:?})", self.description(), self.cardinality())
    }
}
