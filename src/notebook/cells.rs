//! What the code that a kernel generates around a cell calls.
//!
//! evcxr writes all of this into the source of every cell, where it is compiled anew each time. The `tpulab` kernel
//! lets its cells call it here, where it is compiled already: that halves the time that a small cell takes. Only
//! what depends on a variable's type is left to the cell.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use super::host;

/// The variables of a session while no cell runs.
///
/// The first cell of a session is compiled before this library is there and leaves evcxr's own store, so the one
/// field has the type that it has there.
///
/// ```
/// use tpulab::notebook::cells::VariableStore;
///
/// let mut store = VariableStore::default();
/// store.put_variable("steps", 100_i32);
/// assert!(store.check_variable::<i32>("steps"));
/// assert_eq!(store.take_variable::<i32>("steps"), 100);
/// ```
#[derive(Debug, Default)]
pub struct VariableStore {
    variables: HashMap<String, Box<dyn Any>>,
}

impl VariableStore {
    /// Keeps a variable; one of the same name is dropped.
    pub fn put_variable<T: 'static>(&mut self, name: &str, value: T) {
        self.put(name, Box::new(value));
    }

    /// Whether the variable may be taken as a `T`: it has that type, or there is none of that name. Another type is
    /// reported to the kernel, and evcxr drops the variable.
    pub fn check_variable<T: 'static>(&mut self, name: &str) -> bool {
        self.check(name, TypeId::of::<T>())
    }

    /// Takes a variable out.
    ///
    /// # Panics
    ///
    /// If there is no variable of that name and type, which [`check_variable`](Self::check_variable) rules out.
    pub fn take_variable<T: 'static>(&mut self, name: &str) -> T {
        match self.take(name).downcast() {
            Ok(value) => *value,
            Err(_) => other_type(name),
        }
    }

    /// The shared value of that name, made at its first use.
    ///
    /// # Panics
    ///
    /// If a variable of that name has another type.
    pub fn lazy_arc<T: 'static, F: FnOnce() -> T>(&mut self, name: &str, create: F) -> Arc<T> {
        let value = self.variables.entry(name.to_owned()).or_insert_with(|| Box::new(Arc::new(create())));
        match value.downcast_ref::<Arc<T>>() {
            Some(value) => value.clone(),
            None => other_type(name),
        }
    }

    /// Takes over all variables of `other`.
    pub fn merge(&mut self, other: VariableStore) {
        self.variables.extend(other.variables);
    }

    fn put(&mut self, name: &str, value: Box<dyn Any>) {
        self.variables.insert(name.to_owned(), value);
    }

    fn take(&mut self, name: &str) -> Box<dyn Any> {
        match self.variables.remove(name) {
            Some(value) => value,
            None => panic!("the variable `{name}` is not there"),
        }
    }

    fn check(&self, name: &str, wanted: TypeId) -> bool {
        let fits = self.variables.get(name).is_none_or(|value| (**value).type_id() == wanted);
        if !fits {
            report("lost", name);
            answer(&format!("EVCXR_VARIABLE_CHANGED_TYPE:{name}\n"));
        }
        fits
    }
}

fn other_type(name: &str) -> ! {
    panic!("the variable `{name}` has another type")
}

/// An empty store, for a session without one.
pub fn create_variable_store() -> *mut VariableStore {
    Box::into_raw(Box::default())
}

/// Reports to the kernel what became of the cell. Nothing happens without one.
pub fn report(word: &str, body: &str) {
    if host::is_attached() {
        host::report(word, body);
    }
}

/// Writes a line for evcxr. Nothing happens without the kernel.
pub fn answer(line: &str) {
    host::answer(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_comes_back_as_the_type_that_it_was_put_with() {
        let mut store = VariableStore::default();
        store.put_variable("a", 3_i32);
        store.put_variable("a", 4_i32);
        assert!(store.check_variable::<i32>("a") && store.check_variable::<i32>("absent"));
        assert!(!store.check_variable::<u32>("a"));
        assert_eq!(store.take_variable::<i32>("a"), 4);
        assert!(store.variables.is_empty());
    }

    #[test]
    fn a_shared_value_is_made_once() {
        let mut store = VariableStore::default();
        let first = store.lazy_arc("runtime", || String::from("first"));
        let mut other = VariableStore::default();
        other.merge(store);
        assert!(Arc::ptr_eq(&first, &other.lazy_arc("runtime", || String::from("second"))));
    }
}
