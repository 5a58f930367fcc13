//! Tensors under names.

use super::{Graph, GraphError, Tensor};
use crate::core::Result;
use std::fmt;

/// Tensors under names, in order: what Python code passes as a dict of tensors.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let outputs = Tensors::from([("labels", graph.constant(1)), ("logits", graph.constant(2))]);
/// assert_eq!(outputs.names(), ["labels", "logits"]);
/// assert!(outputs.get("label").unwrap_err().to_string().starts_with("GRAPH008: no tensor `label`"));
/// ```
#[derive(Clone)]
pub struct Tensors {
    graph: Option<Graph>,
    entries: Vec<(String, Tensor)>,
}

impl Tensors {
    /// Tensors under names; a later entry replaces an earlier one of its name.
    pub fn new(entries: Vec<(String, Tensor)>) -> Self {
        let mut tensors = Tensors { graph: None, entries: Vec::new() };
        for (name, tensor) in entries {
            tensors.insert(name, tensor);
        }
        tensors
    }

    /// No tensors yet, in `graph`.
    pub fn empty(graph: &Graph) -> Self {
        Tensors { graph: Some(graph.clone()), entries: Vec::new() }
    }

    /// Adds a tensor, or replaces the one of that name.
    pub fn insert(&mut self, name: impl Into<String>, tensor: Tensor) {
        let name = name.into();
        self.graph.get_or_insert_with(|| tensor.graph());
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = tensor,
            None => self.entries.push((name, tensor)),
        }
    }

    /// The graph that the tensors belong to; an empty one if there is no tensor.
    pub fn graph(&self) -> Graph {
        self.graph.clone().unwrap_or_default()
    }

    /// The tensor called `name`.
    ///
    /// # Errors
    /// `GRAPH008` if there is none.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, tensor)| tensor).ok_or_else(|| {
            let known = self.names().into_iter().map(str::to_string).collect();
            GraphError::Unknown { kind: "tensor", name: name.to_string(), known }.into()
        })
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.entries.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[(String, Tensor)] {
        &self.entries
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<const N: usize> From<[(&str, Tensor); N]> for Tensors {
    fn from(entries: [(&str, Tensor); N]) -> Self {
        Tensors::new(entries.into_iter().map(|(name, tensor)| (name.to_string(), tensor)).collect())
    }
}

impl<const N: usize> From<[(&str, &Tensor); N]> for Tensors {
    fn from(entries: [(&str, &Tensor); N]) -> Self {
        Tensors::new(entries.into_iter().map(|(name, tensor)| (name.to_string(), tensor.clone())).collect())
    }
}

impl fmt::Debug for Tensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(name, tensor)| (name, tensor))).finish()
    }
}
