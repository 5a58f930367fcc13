//! What a cell prints, on its way from bytes to messages.

mod bundle;
mod outlet;
mod splitter;
mod text;

pub use bundle::Bundle;
pub use outlet::{Outlet, Sink};
pub use splitter::{Piece, Splitter};
pub use text::Text;

use crate::runtime::streams::Report;

/// One thing that a cell put out.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Text on standard output.
    Stdout(String),
    /// Text on standard error.
    Stderr(String),
    /// A value in several forms.
    Display(Bundle),
    /// The value of the expression that the cell ended in.
    Result(Bundle),
    /// What was shown so far is taken away; if `wait`, only when the next output comes.
    Clear {
        /// Whether to wait for the next output.
        wait: bool,
    },
    /// What the kernel must know about the cell.
    Report(Report),
}
