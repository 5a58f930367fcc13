//! Reads event files.

use super::SummaryError;
use super::event::{Event, What, damaged};
use crate::core::Result;
use crate::notebook::Table;
use crate::storage::Location;
use crate::wire::{Records, WireError};
use std::fmt;

/// How many rows the table shows.
const SHOWN: usize = 20;

/// What event files say, in the order of their records.
///
/// # Examples
/// See [`EventWriter`](super::EventWriter).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventLog {
    events: Vec<Event>,
}

impl EventLog {
    /// Reads one event file, or all those of a folder by their names. A last record that was not written to its end,
    /// as when a training was killed, is left out.
    ///
    /// # Errors
    /// `SUM001` for a damaged file, `SUM002` for a folder without event files, STOR codes for what cannot be read.
    pub fn read(place: &Location) -> Result<Self> {
        let mut log = EventLog::default();
        if !place.is_folder()? {
            log.read_file(place)?;
            return Ok(log);
        }
        let mut names = place.list()?;
        names.retain(|name| name.contains("tfevents"));
        names.sort();
        if names.is_empty() {
            return Err(SummaryError::NoEvents { folder: place.to_string() }.into());
        }
        names.iter().try_for_each(|name| log.read_file(&place.join(name)?))?;
        Ok(log)
    }

    fn read_file(&mut self, file: &Location) -> Result<()> {
        let (bytes, name) = (file.read()?, file.to_string());
        for (number, record) in Records::new(&bytes).enumerate() {
            let record = match record {
                Ok(record) => record,
                Err(error) if matches!(error.downcast_ref(), Some(WireError::TruncatedRecord { .. })) => break,
                Err(error) => return Err(damaged(&name, error)),
            };
            let event = Event::decode(record).map_err(|error| damaged(&name, error))?;
            if number == 0 && !event.is_version() {
                return Err(damaged(&name, "its first record is not a version"));
            }
            self.events.push(event);
        }
        Ok(())
    }

    /// All records.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The tags of all numbers, each once, in the order of their first record.
    pub fn tags(&self) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for (_, tag, _) in self.numbers() {
            if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_string());
            }
        }
        tags
    }

    /// Steps and values of the numbers under `tag`; empty where there are none.
    pub fn scalars(&self, tag: &str) -> Vec<(i64, f32)> {
        self.numbers().filter(|(_, other, _)| *other == tag).map(|(step, _, value)| (step, value)).collect()
    }

    fn numbers(&self) -> impl Iterator<Item = (i64, &str, f32)> {
        self.events.iter().flat_map(|event| {
            let values: &[(String, f32)] = match &event.what {
                What::Scalars(values) => values,
                _ => &[],
            };
            values.iter().map(|(tag, value)| (event.step, tag.as_str(), *value))
        })
    }

    fn table(&self) -> Table {
        let count = self.numbers().count();
        let rows = self.numbers().take(SHOWN);
        let row = |table: Table, (step, tag, value): (i64, &str, f32)| {
            table.row([step.to_string(), tag.to_string(), value.to_string()])
        };
        let table = rows.fold(Table::new(["step", "tag", "value"]), row);
        if count > SHOWN { table.caption(format!("the first {SHOWN} of {count} values")) } else { table }
    }

    /// Shows the numbers in a notebook.
    pub fn evcxr_display(&self) {
        self.table().evcxr_display();
    }
}

/// A table of the numbers.
impl fmt::Display for EventLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::EventWriter;
    use super::*;
    use proptest::prelude::*;

    fn written() -> (tempfile::TempDir, Location, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = EventWriter::create(&Location::local(folder.path())).unwrap();
        writer.scalars(&[("loss", 0.25), ("accuracy", 1.0)], 7).unwrap();
        writer.text("checkpoint_path", "model.ckpt-7", 7).unwrap();
        let file = writer.file().clone();
        let bytes = file.read().unwrap();
        (folder, file, bytes)
    }

    #[test]
    fn numbers_show_as_a_table() {
        let (_folder, file, _) = written();
        let log = EventLog::read(&file).unwrap();
        assert_eq!(log.tags(), ["loss", "accuracy"]);
        assert_eq!(log.to_string(), "step  tag       value\n   7  loss       0.25\n   7  accuracy      1");
        assert_eq!(log.scalars("no such tag"), []);
    }

    #[test]
    fn a_cut_last_record_is_left_out() {
        let (_folder, file, bytes) = written();
        file.write_atomic(&bytes[..bytes.len() - 3]).unwrap();
        assert_eq!(EventLog::read(&file).unwrap().scalars("loss"), [(7, 0.25)]);
    }

    #[test]
    fn other_files_and_empty_folders_are_refused() {
        let (folder, file, bytes) = written();
        file.write_atomic(&bytes[41..]).unwrap();
        assert_eq!(EventLog::read(&file).unwrap_err().code(), "SUM001");
        let empty = Location::local(folder.path().join("eval"));
        empty.create_dir_all().unwrap();
        let error = EventLog::read(&empty).unwrap_err();
        assert_eq!(error.code(), "SUM002");
        assert!(error.message().ends_with("eval` holds no event file"), "{error}");
    }

    proptest! {
        #[test]
        fn bytes_that_were_changed_never_pass_unnoticed(place in 0usize..120, flip in 1u8..) {
            let (_folder, file, mut bytes) = written();
            let whole = EventLog::read(&file).unwrap();
            let place = place % bytes.len();
            bytes[place] ^= flip;
            file.write_atomic(&bytes).unwrap();
            // A changed length may reach beyond the end, which looks like a cut record.
            if let Ok(log) = EventLog::read(&file) {
                prop_assert!(log.events().len() < whole.events().len());
            }
        }
    }
}
