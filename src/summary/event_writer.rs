//! Writes event files.

use super::event::{Event, SessionStatus, What};
use crate::core::{Clock, Result};
use crate::storage::Location;
use crate::wire::write_record;

/// Writes an event file, `events.out.tfevents.<seconds>.<host>`, which TensorBoard shows as curves. TensorFlow:
/// `tf.summary.FileWriter`.
///
/// Each call adds whole records, so a reader sees all that was written before, at any time.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::summary::{EventLog, EventWriter};
/// # let folder = std::env::temp_dir().join(format!("tpulab-doc-events-{}", std::process::id()));
/// # let folder = Location::local(folder);
/// let mut events = EventWriter::create(&folder)?;
/// events.scalars(&[("loss", 0.5)], 100)?;
/// assert_eq!(EventLog::read(&folder)?.scalars("loss"), [(100, 0.5)]);
/// # folder.remove_all()?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventWriter {
    file: Location,
    clock: Clock,
    bytes: Vec<u8>,
}

impl EventWriter {
    /// Begins a new file in `folder`.
    ///
    /// # Errors
    /// STOR codes if it cannot be written.
    pub fn create(folder: &Location) -> Result<Self> {
        EventWriter::with_clock(folder, Clock::system())
    }

    pub(crate) fn with_clock(folder: &Location, clock: Clock) -> Result<Self> {
        let now = clock.now();
        let name = format!("events.out.tfevents.{:010}.{}", now.as_secs(), host());
        // Another training in the same second gets a file of its own.
        let mut file = folder.join(&name)?;
        for number in 1.. {
            if !file.exists()? {
                break;
            }
            file = folder.join(&format!("{name}.{number}"))?;
        }
        let mut writer = EventWriter { file, clock, bytes: Vec::new() };
        writer.add(&Event::version(now))?;
        Ok(writer)
    }

    /// The file.
    pub fn file(&self) -> &Location {
        &self.file
    }

    /// Adds numbers under their tags.
    ///
    /// # Errors
    /// STOR codes if the file cannot be written.
    pub fn scalars(&mut self, values: &[(&str, f32)], step: u64) -> Result<()> {
        let values = values.iter().map(|(tag, value)| (tag.to_string(), *value)).collect();
        self.say(What::Scalars(values), step)
    }

    /// Adds a text under a tag.
    ///
    /// # Errors
    /// STOR codes if the file cannot be written.
    pub fn text(&mut self, tag: &str, text: &str, step: u64) -> Result<()> {
        self.say(What::Text(tag.to_string(), text.to_string()), step)
    }

    /// Notes what happened to the training; `checkpoint` is empty but for one that was saved.
    ///
    /// # Errors
    /// STOR codes if the file cannot be written.
    pub fn session(&mut self, status: SessionStatus, checkpoint: &str, step: u64) -> Result<()> {
        self.say(What::Session(status, checkpoint.to_string()), step)
    }

    fn say(&mut self, what: What, step: u64) -> Result<()> {
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        self.add(&Event { wall_time: self.clock.now(), step, what })
    }

    fn add(&mut self, event: &Event) -> Result<()> {
        self.bytes.clear();
        write_record(&mut self.bytes, &event.encode());
        self.file.append(&self.bytes)
    }
}

/// This machine's name, as far as a file can be called so.
fn host() -> String {
    let name = std::fs::read_to_string("/etc/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.');
    let name: String = name.unwrap_or_default().trim().chars().filter(is_plain).take(63).collect();
    if name.is_empty() { "localhost".to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::EventLog;
    use super::*;
    use std::time::Duration;

    #[test]
    fn two_writers_in_one_second_have_a_file_each() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Location::local(folder.path());
        let clock = Clock::manual(Duration::from_secs(12));
        let mut writers = [(); 3].map(|()| EventWriter::with_clock(&folder, clock.clone()).unwrap());
        for (writer, step) in writers.iter_mut().zip(1..) {
            writer.scalars(&[("loss", step as f32)], step).unwrap();
        }
        let names = folder.list().unwrap();
        assert_eq!(names.len(), 3);
        assert!(names[0].starts_with("events.out.tfevents.0000000012."), "{names:?}");
        assert_eq!(EventLog::read(&folder).unwrap().scalars("loss"), [(1, 1.0), (2, 2.0), (3, 3.0)]);
    }
}
