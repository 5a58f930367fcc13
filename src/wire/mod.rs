//! Bytes on the wire: protobuf fields, masked crc32c, TFRecord framing.
//!
//! Knows no file and no message: only how they are spelled.
