//! How a value shows itself, logs, progress and the stop flag, in plain text that any front end can read.
//!
//! Knows the text protocol of evcxr, but depends on neither evcxr nor a kernel.

mod content;
mod host;
mod show;
mod stop;
mod table;
pub mod logging;

pub(crate) use content::printable;
pub use content::{display, escape_html};
pub use host::{tpulab_attach, tpulab_flush};
pub use show::Show;
pub use stop::{StopFlag, tpulab_set_stop};
pub use table::Table;
