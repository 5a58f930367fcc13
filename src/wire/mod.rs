//! Bytes on the wire: protobuf fields, masked crc32c, TFRecord framing.
//!
//! Knows no file and no message: only how they are spelled. Every decoder here takes bytes from anywhere:
//! what is cut, oversized or damaged comes back as an error with its offset.

mod crc32c;
mod error;
mod field;
mod message;
mod record;
mod varint;

pub use crc32c::{crc32c, extend_crc32c, mask_crc32c, masked_crc32c, unmask_crc32c};
pub use error::WireError;
pub use field::{Field, FieldValue, Fields};
pub use message::MessageWriter;
pub use record::{Records, write_record};
pub(crate) use varint::{take_varint, write_varint};
