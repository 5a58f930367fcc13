//! Writes protobuf messages, field by field.

use super::varint::write_varint;

/// A protobuf message being written, field by field.
///
/// Fields stand in the order of the calls. Each call writes its field, defaults included; [`nonzero`](Self::nonzero)
/// leaves out a 0, as protobuf's own writers do where a field has no presence.
///
/// # Examples
/// ```
/// use tpulab::wire::{Fields, MessageWriter};
/// let mut shape = MessageWriter::new();
/// shape.message(2, |dimension| dimension.varint(1, 10)).message(2, |dimension| dimension.varint(1, 3));
/// assert_eq!(shape.into_bytes(), [0x12, 2, 8, 10, 0x12, 2, 8, 3]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageWriter {
    bytes: Vec<u8>,
}

impl MessageWriter {
    /// A message without fields.
    pub fn new() -> Self {
        MessageWriter::default()
    }

    /// The message's bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes an unsigned integer (`uint32`, `uint64`, enums).
    pub fn varint(&mut self, number: u32, value: u64) -> &mut Self {
        self.tag(number, 0);
        write_varint(&mut self.bytes, value);
        self
    }

    /// Writes an unsigned integer unless it is 0, which readers assume.
    pub fn nonzero(&mut self, number: u32, value: u64) -> &mut Self {
        if value == 0 { self } else { self.varint(number, value) }
    }

    /// Writes a signed integer (`int32`, `int64`); negative ones take ten bytes.
    pub fn int(&mut self, number: u32, value: i64) -> &mut Self {
        self.varint(number, value as u64)
    }

    /// Writes a truth value.
    pub fn bool(&mut self, number: u32, value: bool) -> &mut Self {
        self.varint(number, u64::from(value))
    }

    /// Writes four bytes as they are (`fixed32`).
    pub fn fixed32(&mut self, number: u32, value: u32) -> &mut Self {
        self.tag(number, 5);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Writes eight bytes as they are (`fixed64`).
    pub fn fixed64(&mut self, number: u32, value: u64) -> &mut Self {
        self.tag(number, 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Writes a `float`.
    pub fn float(&mut self, number: u32, value: f32) -> &mut Self {
        self.fixed32(number, value.to_bits())
    }

    /// Writes a `double`.
    pub fn double(&mut self, number: u32, value: f64) -> &mut Self {
        self.fixed64(number, value.to_bits())
    }

    /// Writes bytes, or a message that is already encoded.
    pub fn bytes(&mut self, number: u32, value: &[u8]) -> &mut Self {
        self.tag(number, 2);
        write_varint(&mut self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(value);
        self
    }

    /// Writes a text (`string`).
    pub fn text(&mut self, number: u32, value: &str) -> &mut Self {
        self.bytes(number, value.as_bytes())
    }

    /// Writes the message that `fill` fills.
    pub fn message(&mut self, number: u32, fill: impl FnOnce(&mut Self) -> &mut Self) -> &mut Self {
        let mut inner = MessageWriter::new();
        fill(&mut inner);
        self.bytes(number, &inner.bytes)
    }

    /// Writes repeated integers as one packed field; nothing if there are none.
    pub fn packed_ints(&mut self, number: u32, values: &[i64]) -> &mut Self {
        let mut packed = Vec::with_capacity(values.len());
        values.iter().for_each(|&value| write_varint(&mut packed, value as u64));
        self.packed(number, &packed)
    }

    /// Writes repeated `float` as one packed field; nothing if there are none.
    pub fn packed_floats(&mut self, number: u32, values: &[f32]) -> &mut Self {
        self.packed(number, values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>().as_flattened())
    }

    /// Writes repeated `double` as one packed field; nothing if there are none.
    pub fn packed_doubles(&mut self, number: u32, values: &[f64]) -> &mut Self {
        self.packed(number, values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>().as_flattened())
    }

    fn packed(&mut self, number: u32, packed: &[u8]) -> &mut Self {
        if packed.is_empty() { self } else { self.bytes(number, packed) }
    }

    fn tag(&mut self, number: u32, wire_type: u64) {
        debug_assert!((1..1 << 29).contains(&number), "protobuf has no field {number}");
        write_varint(&mut self.bytes, u64::from(number) << 3 | wire_type);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_written_unless_asked_otherwise() {
        let mut message = MessageWriter::new();
        message.varint(1, 0).nonzero(2, 0).nonzero(3, 300).bool(4, false).text(5, "").packed_ints(6, &[]);
        assert_eq!(message.into_bytes(), [0x08, 0, 0x18, 0xAC, 0x02, 0x20, 0, 0x2A, 0]);
    }

    #[test]
    fn numbers_are_little_endian_and_negative_ones_take_ten_bytes() {
        let mut message = MessageWriter::new();
        message.int(1, -1).float(2, 1.0).double(16, -2.0);
        let expected: &[u8] =
            &[&[0x08][..], &[0xFF; 9], &[0x01, 0x15, 0, 0, 0x80, 0x3F, 0x81, 0x01, 0, 0, 0, 0, 0, 0, 0, 0xC0]].concat();
        assert_eq!(message.into_bytes(), expected);
    }
}
