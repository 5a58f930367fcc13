//! Lets a notebook show any value that has a `Debug` form.

use std::fmt;

/// Gives every `Debug` value the method that evcxr calls on the value a cell ends in.
///
/// Bring it in as `use tpulab::prelude::*`. With it evcxr builds such a cell once instead of twice. A type's own
/// `evcxr_display` comes first, so tables and charts still show themselves; `()` shows nothing.
pub trait Show {
    /// Shows the value as plain text.
    fn evcxr_display(&self);
}

impl<T: fmt::Debug + ?Sized> Show for T {
    fn evcxr_display(&self) {
        match shown(self) {
            Some(text) => super::display(&[("text/plain", &text)]),
            None => super::host::shows_nothing(),
        }
    }
}

fn shown(value: &(impl fmt::Debug + ?Sized)) -> Option<String> {
    let text = format!("{value:?}");
    (text != "()").then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_debug_value_shows_itself_and_the_unit_shows_nothing() {
        assert_eq!(shown(&Some(1.5)).as_deref(), Some("Some(1.5)"));
        assert_eq!(shown("text").as_deref(), Some("\"text\""));
        assert_eq!(shown(&()), None);
    }

    #[test]
    fn a_types_own_method_comes_first() {
        #[derive(Debug)]
        struct Chart(std::cell::Cell<bool>);
        impl Chart {
            fn evcxr_display(&self) {
                self.0.set(true);
            }
        }
        let chart = Chart(false.into());
        chart.evcxr_display();
        assert!(chart.0.get());
    }
}
