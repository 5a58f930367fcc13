//! One record of an event file. TensorFlow: the message `Event`.

use super::SummaryError;
use crate::core::Result;
use crate::wire::{Fields, MessageWriter};
use std::time::Duration;

/// What every event file says of itself in its first record.
const VERSION: &str = "brain.Event:2";

/// One record of an event file.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When it was written, since 1970.
    pub wall_time: Duration,
    /// The global step.
    pub step: i64,
    /// What it says.
    pub what: What,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// The file's version: its first record.
    FileVersion(String),
    /// Numbers under their tags.
    Scalars(Vec<(String, f32)>),
    /// A text under its tag.
    Text(String, String),
    /// Something about the training: its start, a checkpoint and where it is.
    Session(SessionStatus, String),
    /// Anything else that TensorFlow writes.
    Other,
}

/// What happened to a training. TensorFlow: `SessionLog.SessionStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionStatus {
    /// It started.
    Start,
    /// It stopped.
    Stop,
    /// It saved a checkpoint.
    Checkpoint,
}

// TensorFlow's number for the dtype of texts.
const DT_STRING: u64 = 7;

impl Event {
    pub(super) fn version(wall_time: Duration) -> Self {
        Event { wall_time, step: 0, what: What::FileVersion(VERSION.to_string()) }
    }

    /// Whether it can be the first record of a file.
    pub(super) fn is_version(&self) -> bool {
        matches!(&self.what, What::FileVersion(version) if version.starts_with("brain.Event:"))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut message = MessageWriter::new();
        message.double(1, self.wall_time.as_secs_f64());
        if self.step != 0 {
            message.int(2, self.step);
        }
        match &self.what {
            What::FileVersion(version) => {
                message.text(3, version);
            }
            What::Scalars(values) => {
                message.message(5, |summary| {
                    values.iter().fold(summary, |summary, (tag, value)| {
                        summary.message(1, |entry| entry.text(1, tag).float(2, *value))
                    })
                });
            }
            What::Text(tag, text) => {
                let tensor = |tensor: &mut MessageWriter| {
                    // A text without dimensions.
                    tensor.varint(1, DT_STRING).bytes(2, &[]).text(8, text);
                };
                message.message(5, |summary| {
                    summary.message(1, |entry| {
                        entry.text(1, tag).message(8, |message| {
                            tensor(message);
                            message
                        })
                    })
                });
            }
            What::Session(status, checkpoint) => {
                let number = match status {
                    SessionStatus::Start => 1,
                    SessionStatus::Stop => 2,
                    SessionStatus::Checkpoint => 3,
                };
                message.message(7, |log| {
                    log.varint(1, number);
                    if checkpoint.is_empty() { log } else { log.text(2, checkpoint) }
                });
            }
            What::Other => {}
        }
        message.into_bytes()
    }

    /// # Errors
    /// WIRE codes for bytes that are no such message.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut event = Event { wall_time: Duration::ZERO, step: 0, what: What::Other };
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                1 => event.wall_time = Duration::try_from_secs_f64(field.double()?).unwrap_or_default(),
                2 => event.step = field.int()?,
                3 => event.what = What::FileVersion(field.text()?.to_string()),
                5 => event.what = summary(field.message()?)?,
                7 => event.what = session(field.message()?)?,
                _ => {}
            }
        }
        Ok(event)
    }
}

fn summary(values: Fields<'_>) -> Result<What> {
    let mut scalars = Vec::new();
    let mut other = What::Other;
    for value in values {
        let value = value?;
        if value.number != 1 {
            continue;
        }
        let (mut tag, mut number) = (String::new(), None);
        for field in value.message()? {
            let field = field?;
            match field.number {
                1 => tag = field.text()?.to_string(),
                2 => number = Some(field.float()?),
                8 => match tensor(field.message()?)? {
                    TensorValue::Number(value) => number = Some(value),
                    TensorValue::Text(text) => other = What::Text(tag.clone(), text),
                    TensorValue::Other => {}
                },
                _ => {}
            }
        }
        scalars.extend(number.map(|number| (tag, number)));
    }
    Ok(if scalars.is_empty() { other } else { What::Scalars(scalars) })
}

enum TensorValue {
    Number(f32),
    Text(String),
    Other,
}

/// The one value of a tensor: TensorFlow 2 writes scalars so.
fn tensor(fields: Fields<'_>) -> Result<TensorValue> {
    let mut value = TensorValue::Other;
    for field in fields {
        let field = field?;
        match field.number {
            4 => {
                if let Some(bytes) = field.bytes()?.first_chunk::<4>() {
                    value = TensorValue::Number(f32::from_le_bytes(*bytes));
                }
            }
            5 => value = field.floats()?.first().map_or(TensorValue::Other, |&number| TensorValue::Number(number)),
            8 => value = TensorValue::Text(String::from_utf8_lossy(field.bytes()?).into_owned()),
            _ => {}
        }
    }
    Ok(value)
}

fn session(fields: Fields<'_>) -> Result<What> {
    let (mut status, mut checkpoint) = (SessionStatus::Start, String::new());
    for field in fields {
        let field = field?;
        match field.number {
            1 => {
                status = match field.varint()? {
                    1 => SessionStatus::Start,
                    2 => SessionStatus::Stop,
                    3 => SessionStatus::Checkpoint,
                    _ => return Ok(What::Other),
                }
            }
            2 => checkpoint = field.text()?.to_string(),
            _ => {}
        }
    }
    Ok(What::Session(status, checkpoint))
}

/// The error for a record that cannot be read.
pub(super) fn damaged(file: &str, problem: impl ToString) -> crate::core::Error {
    SummaryError::Damaged { file: file.to_string(), problem: problem.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_written() {
        let kinds = [
            What::FileVersion(VERSION.to_string()),
            What::Scalars(vec![("loss".to_string(), 1.5), ("accuracy_1".to_string(), f32::MIN_POSITIVE)]),
            What::Text("checkpoint_path".to_string(), "model.ckpt-5".to_string()),
            What::Session(SessionStatus::Start, String::new()),
            What::Session(SessionStatus::Checkpoint, "gs://bucket/model.ckpt-5".to_string()),
        ];
        for (step, what) in kinds.into_iter().enumerate() {
            let event = Event { wall_time: Duration::from_millis(1500), step: step as i64, what };
            assert_eq!(Event::decode(&event.encode()).unwrap(), event);
        }
    }

    #[test]
    fn a_nan_is_written_as_it_is() {
        let what = What::Scalars(vec![("loss".to_string(), f32::NAN)]);
        let event = Event::decode(&Event { wall_time: Duration::ZERO, step: 3, what }.encode()).unwrap();
        let What::Scalars(values) = event.what else { panic!("a summary of numbers") };
        assert!(values[0].1.is_nan());
    }
}
