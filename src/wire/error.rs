//! What can be wrong with bytes on the wire.

use crate::core::{Exception, Explain, Explanation};

/// What can be wrong with bytes on the wire. Offsets count bytes from the start of what was decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// `WIRE001`: the bytes end inside a value.
    Truncated {
        /// Where the value starts.
        offset: usize,
        /// How many bytes it needs from there on.
        needed: u64,
        /// How many bytes there are.
        found: usize,
    },
    /// `WIRE002`: a varint of more than 64 bits.
    OverlongVarint {
        /// Where the varint starts.
        offset: usize,
    },
    /// `WIRE003`: a field number or wire type that protobuf does not have.
    InvalidTag {
        /// Where the tag starts.
        offset: usize,
        /// The tag's value: field number times 8 plus wire type.
        tag: u64,
    },
    /// `WIRE004`: a field of another wire type than its reader expects.
    WrongWireType {
        /// The field's number.
        number: u32,
        /// What the reader expects, such as `varint`.
        expected: &'static str,
        /// What the field holds.
        found: &'static str,
    },
    /// `WIRE005`: a text field that is not UTF-8.
    NotUtf8 {
        /// The field's number.
        number: u32,
    },
    /// `WIRE006`: a record whose bytes do not have the checksum written beside them.
    RecordChecksum {
        /// Where the record starts.
        offset: usize,
        /// What is damaged: `length` or `data`.
        part: &'static str,
    },
    /// `WIRE007`: the bytes end inside a record, as when its writer was interrupted.
    TruncatedRecord {
        /// Where the record starts: all before it is whole.
        offset: usize,
    },
}

impl Explain for WireError {
    fn explain(&self) -> Explanation {
        use Exception::DataLossError;
        match self {
            WireError::Truncated { offset, needed, found } => Explanation::new(
                "WIRE001",
                DataLossError,
                format!("value at byte {offset} needs {needed} bytes, found {found}"),
            ),
            WireError::OverlongVarint { offset } => {
                Explanation::new("WIRE002", DataLossError, format!("varint at byte {offset} does not fit 64 bits"))
            }
            WireError::InvalidTag { offset, tag } => Explanation::new(
                "WIRE003",
                DataLossError,
                format!("no protobuf field has tag {tag}, found at byte {offset}"),
            ),
            WireError::WrongWireType { number, expected, found } => Explanation::new(
                "WIRE004",
                DataLossError,
                format!("field {number}: expected {expected}, found {found}"),
            ),
            WireError::NotUtf8 { number } => Explanation::new(
                "WIRE005",
                DataLossError,
                format!("field {number}: expected text, found invalid UTF-8"),
            ),
            WireError::RecordChecksum { offset, part } => Explanation::new(
                "WIRE006",
                DataLossError,
                format!("record at byte {offset}: the checksum of its {part} does not match"),
            )
            .help("the file was damaged after it was written; all records before this one are whole"),
            WireError::TruncatedRecord { offset } => {
                Explanation::new("WIRE007", DataLossError, format!("record at byte {offset} is cut off"))
                    .help("its writer was interrupted; all records before this one are whole")
            }
        }
    }
}
