//! A shown value whose place can change.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{content, host};

/// A shown value that can be shown anew in its place. IPython: `DisplayHandle`.
///
/// In the kernel of this project the place changes; under any other, each update is shown below the last.
///
/// # Examples
/// ```
/// use tpulab::notebook::DisplayHandle;
///
/// let handle = DisplayHandle::display(&[("text/plain", "working")]);
/// handle.update(&[("text/plain", "done")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayHandle {
    id: String,
    /// Whether it is gone when the work is: runners leave it out of what they save.
    passing: bool,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl DisplayHandle {
    /// Shows a value, given as in [`display`](super::display).
    pub fn display(forms: &[(&str, &str)]) -> Self {
        Self::begin(forms, false)
    }

    /// Shows what does not belong into a saved notebook.
    pub(super) fn passing(forms: &[(&str, &str)]) -> Self {
        Self::begin(forms, true)
    }

    fn begin(forms: &[(&str, &str)], passing: bool) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let handle = DisplayHandle { id: format!("tpulab-{}-{number}", std::process::id()), passing };
        handle.show(forms, false);
        handle
    }

    /// Shows another value in its place.
    pub fn update(&self, forms: &[(&str, &str)]) {
        self.show(forms, true);
    }

    fn show(&self, forms: &[(&str, &str)], update: bool) {
        let Some(mark) = host::frame_mark() else { return super::display(forms) };
        let metadata =
            if self.passing { serde_json::json!({ "tpulab": { "passing": true } }) } else { serde_json::json!({}) };
        content::write(&content::frame(
            mark,
            &serde_json::json!({ "data": content::data(forms), "display_id": self.id, "update": update,
                                 "metadata": metadata }),
        ));
    }
}
