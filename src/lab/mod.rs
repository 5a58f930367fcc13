//! The laboratory: checks and reports.
