//! How a value shows itself, logs, progress, input and the stop flag, in plain text that any front end can read.
//!
//! Knows the text protocol of evcxr, but depends on neither evcxr nor a kernel.

mod content;
mod display_handle;
mod host;
mod input;
mod progress;
mod show;
mod stop;
mod table;
pub mod cells;
pub mod logging;

pub(crate) use content::printable;
pub use content::{clear_output, display, escape_html};
pub use display_handle::DisplayHandle;
pub use host::{tpulab_attach, tpulab_attach_input, tpulab_flush};
pub use input::{InputError, getpass, input};
pub use progress::Progress;
pub use show::Show;
pub use stop::{StopFlag, tpulab_set_stop};
pub use table::Table;
