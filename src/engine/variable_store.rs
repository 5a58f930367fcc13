//! The values of all variables of a graph.

use super::Precision;
use super::bank::{Bank, Kind, Part};
use super::compile::kind_of;
use crate::core::{Array, DType, Result};
use crate::graph::{Graph, GraphError};
use std::collections::HashMap;

/// Where one variable lies, and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub name: String,
    pub dtype: DType,
    pub kind: Kind,
    pub part: Part,
    pub shape: Vec<usize>,
    /// Whether no checkpoint saves it.
    pub local: bool,
}

/// The values of all variables of a graph, contiguous by type: first those that are trained, in their order, then the
/// optimizer's slots in the same order, then the rest.
///
/// One call of `train`, `evaluate` or `predict` owns it; plans borrow it, so several plans and batch sizes share one.
#[derive(Clone, Debug)]
pub struct VariableStore {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    pub(super) bank: Bank,
}

impl VariableStore {
    /// Room for all variables of `graph`, zeros at first.
    ///
    /// # Errors
    /// `ENGINE007` if a variable has a dtype that the engine does not compute with.
    pub fn new(graph: &Graph, precision: Precision) -> Result<Self> {
        let variables = graph.variables();
        let trainable: Vec<String> =
            variables.iter().filter(|variable| variable.is_trainable()).map(|variable| variable.name()).collect();
        // A slot is called like its variable with a suffix; slots of one suffix stand together.
        let family = |name: &str| -> (usize, String, usize) {
            if let Some(order) = trainable.iter().position(|trained| trained == name) {
                return (0, String::new(), order);
            }
            let slot = trainable.iter().enumerate().find_map(|(order, trained)| {
                name.strip_prefix(trained.as_str())?.strip_prefix('/').map(|suffix| (1, suffix.to_string(), order))
            });
            slot.unwrap_or((2, String::new(), 0))
        };
        let mut order: Vec<usize> = (0..variables.len()).collect();
        order.sort_by_cached_key(|&index| (family(&variables[index].name()), index));

        let mut lengths: HashMap<Kind, usize> = HashMap::new();
        let mut entries: Vec<Option<Entry>> = vec![None; variables.len()];
        let mut bank = Bank::default();
        for index in order {
            let variable = &variables[index];
            let kind = kind_of(variable.dtype(), precision, &variable.name())?;
            let shape = variable.shape();
            let end = lengths.entry(kind).or_insert(0);
            let part = Part::Variable(*end);
            let length: usize = shape.iter().product();
            *end += length;
            super::bank::for_kind!(kind, T => bank.reserve::<T>(part, 1, length));
            entries[index] = Some(Entry {
                name: variable.name(),
                dtype: variable.dtype(),
                kind,
                part,
                shape,
                local: variable.is_local(),
            });
        }
        let entries: Vec<Entry> =
            entries.into_iter().map(|entry| entry.expect("every variable got its place")).collect();
        let by_name = entries.iter().enumerate().map(|(index, entry)| (entry.name.clone(), index)).collect();
        Ok(VariableStore { entries, by_name, bank })
    }

    /// The names of all variables, in the order in which they were made.
    pub fn names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.name.clone()).collect()
    }

    /// The names of the variables that checkpoints save.
    pub fn saved_names(&self) -> Vec<String> {
        self.entries.iter().filter(|entry| !entry.local).map(|entry| entry.name.clone()).collect()
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn entry(&self, name: &str) -> Result<&Entry> {
        match self.by_name.get(name) {
            Some(&index) => Ok(&self.entries[index]),
            None => Err(GraphError::Unknown { kind: "variable", name: name.to_string(), known: self.names() }.into()),
        }
    }

    /// The value of the variable called `name`, in the engine's precision.
    ///
    /// # Errors
    /// `GRAPH008` if there is none.
    pub fn get(&self, name: &str) -> Result<Array> {
        let entry = self.entry(name)?;
        Ok(self.bank.to_array(entry.kind, entry.part, 0, &entry.shape))
    }

    /// The shape of the variable called `name`.
    ///
    /// # Errors
    /// `GRAPH008` if there is none.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        Ok(&self.entry(name)?.shape)
    }

    /// Replaces the value of the variable called `name`; numbers are converted to its dtype.
    ///
    /// # Errors
    /// `GRAPH008` if there is none, `CORE001` if the shape differs.
    pub fn set(&mut self, name: &str, value: &Array) -> Result<()> {
        let entry = self.entry(name)?;
        if value.shape() != entry.shape {
            let (shape, found) = (entry.shape.clone(), value.len());
            return Err(crate::core::Error::from(crate::core::ValueError::WrongLength { shape, found }).at(name));
        }
        let (kind, part) = (entry.kind, entry.part);
        self.bank.write_array(kind, part, value)
    }
}
