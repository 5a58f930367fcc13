//! What was read from a file.

use super::Header;
use crate::data::Frame;

/// A frame read from a file, and what the file's first line said.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    pub(super) frame: Frame,
    pub(super) header: Header,
    pub(super) class_names: Vec<String>,
}

impl CsvTable {
    /// The columns.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The columns, without the rest.
    pub fn into_frame(self) -> Frame {
        self.frame
    }

    /// What the first line was: never [`Header::Infer`].
    pub fn header(&self) -> Header {
        self.header
    }

    /// The classes in the order of their labels, if the first line named them; else none.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// Shows the first rows in a notebook.
    pub fn evcxr_display(&self) {
        self.frame.evcxr_display();
    }
}
