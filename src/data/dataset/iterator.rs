//! Reads a dataset.

use super::gather::{gather, gather_mapped};
use super::rows::{Item, RowStream};
use super::{Batch, Dataset, MapFn, Position, Stage};
use crate::core::Result;
use crate::data::DataError;
use std::fmt;

/// Reads a dataset, element by element.
pub struct DatasetIterator {
    dataset: Dataset,
    seed: u64,
    stream: Box<dyn RowStream>,
    item: Item,
    /// For each number of batch stages before them: the functions of `map`.
    maps: Vec<Vec<MapFn>>,
    elements: u64,
}

impl DatasetIterator {
    pub(super) fn new(dataset: Dataset, seed: u64) -> Self {
        let mut maps = vec![Vec::new()];
        for stage in &dataset.stages {
            match stage {
                Stage::Batch(..) => maps.push(Vec::new()),
                Stage::Map(function) => maps.last_mut().expect("there is a first level").push(function.clone()),
                _ => {}
            }
        }
        let stream = dataset.row_stream(seed);
        DatasetIterator { dataset, seed, stream, item: Item::default(), maps, elements: 0 }
    }

    /// Writes the next element into `batch`, in the memory that it has; false at the end.
    ///
    /// Without a `map` nothing is allocated once `batch` has seen an element of the same size.
    ///
    /// # Errors
    /// What a `map` fails with, and `DATA004` if elements of different shapes are to be one batch.
    pub fn next_into(&mut self, batch: &mut Batch) -> Result<bool> {
        if !self.advance() {
            return Ok(false);
        }
        if self.item.ragged {
            let problem = "elements of different sizes cannot be one batch".to_string();
            let help = "use `Remainder::Drop` for the inner batches";
            return Err(DataError::Dataset { method: "batch", problem, help }.into());
        }
        if self.maps.iter().all(Vec::is_empty) {
            gather(&self.dataset.source, &self.item, batch);
        } else {
            *batch = gather_mapped(&self.dataset.source, &self.item, &self.maps)?;
        }
        Ok(true)
    }

    fn advance(&mut self) -> bool {
        self.item.rows.clear();
        self.item.sizes.clear();
        self.item.ragged = false;
        let any = self.stream.next(&mut self.item);
        self.elements += u64::from(any);
        any
    }

    /// Where it stands.
    pub fn position(&self) -> Position {
        Position::new(self.seed, self.elements, self.dataset.description())
    }

    /// Goes to a saved position; elements on the way are counted, not gathered.
    ///
    /// # Errors
    /// `DATA005` if the position belongs to another dataset.
    pub fn restore(&mut self, position: &Position) -> Result<()> {
        position.check(&self.dataset.description())?;
        self.seed = position.seed();
        self.stream = self.dataset.row_stream(self.seed);
        self.elements = 0;
        while self.elements < position.elements() && self.advance() {}
        Ok(())
    }
}

impl Iterator for DatasetIterator {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = Batch::default();
        match self.next_into(&mut batch) {
            Ok(true) => Some(Ok(batch)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl fmt::Debug for DatasetIterator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatasetIterator({:?}, behind element {})", self.dataset, self.elements)
    }
}
