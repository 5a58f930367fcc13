//! Reads protobuf messages, field by field.

use super::{WireError, take_varint};
use crate::core::Result;

/// One field of a protobuf message, as it stands in the bytes it was read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// The number that the message's definition gives the field.
    pub number: u32,
    /// The value, by wire type.
    pub value: FieldValue<'a>,
}

/// A field's value as the wire knows it; the message's definition says what it means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// An integer, truth value or enum.
    Varint(u64),
    /// Eight bytes: `fixed64`, `double`.
    Fixed64(u64),
    /// Bytes with a length before them: text, message, packed numbers.
    Bytes(&'a [u8]),
    /// Four bytes: `fixed32`, `float`.
    Fixed32(u32),
}

/// The fields of a protobuf message, in the order of the bytes; the first error ends them.
///
/// # Examples
/// ```
/// use tpulab::wire::Fields;
/// let mut sizes = Vec::new();
/// for field in Fields::new(&[0x08, 10, 0x08, 3, 0x12, 1, b'x']) {
///     let field = field?;
///     match field.number {
///         1 => sizes.push(field.varint()?),
///         _ => {} // a reader passes over what it does not know
///     }
/// }
/// assert_eq!(sizes, [10, 3]);
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Fields<'a> {
    /// The fields of the message in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, offset: 0 }
    }

    fn take_field(&mut self) -> Result<Field<'a>, WireError> {
        let offset = self.offset;
        let tag = take_varint(self.bytes, &mut self.offset)?;
        let invalid_tag = WireError::InvalidTag { offset, tag };
        let number = match u32::try_from(tag >> 3) {
            Ok(number @ 1..0x2000_0000) => number,
            _ => return Err(invalid_tag),
        };
        let value = match tag & 7 {
            0 => FieldValue::Varint(take_varint(self.bytes, &mut self.offset)?),
            1 => FieldValue::Fixed64(u64::from_le_bytes(self.take_array()?)),
            2 => {
                let length = take_varint(self.bytes, &mut self.offset)?;
                FieldValue::Bytes(self.take(length)?)
            }
            5 => FieldValue::Fixed32(u32::from_le_bytes(self.take_array()?)),
            _ => return Err(invalid_tag),
        };
        Ok(Field { number, value })
    }

    fn take(&mut self, needed: u64) -> Result<&'a [u8], WireError> {
        let rest = &self.bytes[self.offset..];
        match usize::try_from(needed).ok().and_then(|length| rest.get(..length)) {
            Some(taken) => {
                self.offset += taken.len();
                Ok(taken)
            }
            None => Err(WireError::Truncated { offset: self.offset, needed, found: rest.len() }),
        }
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        Ok(self.take(N as u64)?.try_into().expect("`take` gives as many bytes as asked"))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.bytes.len() {
            return None;
        }
        let field = self.take_field();
        if field.is_err() {
            self.offset = self.bytes.len();
        }
        Some(field.map_err(Into::into))
    }
}

impl<'a> Field<'a> {
    /// The unsigned integer that the field holds.
    ///
    /// # Errors
    /// `WIRE004` for another wire type; so do all readers below.
    pub fn varint(&self) -> Result<u64> {
        match self.value {
            FieldValue::Varint(value) => Ok(value),
            _ => self.wrong("varint"),
        }
    }

    /// The signed integer that the field holds.
    pub fn int(&self) -> Result<i64> {
        self.varint().map(|value| value as i64)
    }

    /// The truth value that the field holds.
    pub fn bool(&self) -> Result<bool> {
        self.varint().map(|value| value != 0)
    }

    /// The four bytes that the field holds.
    pub fn fixed32(&self) -> Result<u32> {
        match self.value {
            FieldValue::Fixed32(value) => Ok(value),
            _ => self.wrong("fixed32"),
        }
    }

    /// The eight bytes that the field holds.
    pub fn fixed64(&self) -> Result<u64> {
        match self.value {
            FieldValue::Fixed64(value) => Ok(value),
            _ => self.wrong("fixed64"),
        }
    }

    /// The `float` that the field holds.
    pub fn float(&self) -> Result<f32> {
        self.fixed32().map(f32::from_bits)
    }

    /// The `double` that the field holds.
    pub fn double(&self) -> Result<f64> {
        self.fixed64().map(f64::from_bits)
    }

    /// The bytes that the field holds.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        match self.value {
            FieldValue::Bytes(bytes) => Ok(bytes),
            _ => self.wrong("bytes"),
        }
    }

    /// The text that the field holds.
    ///
    /// # Errors
    /// `WIRE005` if it is not UTF-8.
    pub fn text(&self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| WireError::NotUtf8 { number: self.number }.into())
    }

    /// The fields of the message that the field holds.
    pub fn message(&self) -> Result<Fields<'a>> {
        self.bytes().map(Fields::new)
    }

    /// The integers of a repeated field, packed or one by one.
    pub fn ints(&self) -> Result<Vec<i64>> {
        let FieldValue::Bytes(bytes) = self.value else { return Ok(vec![self.int()?]) };
        let (mut values, mut offset) = (Vec::new(), 0);
        while offset < bytes.len() {
            values.push(take_varint(bytes, &mut offset)? as i64);
        }
        Ok(values)
    }

    /// The `float` values of a repeated field, packed or one by one.
    pub fn floats(&self) -> Result<Vec<f32>> {
        let FieldValue::Bytes(bytes) = self.value else { return Ok(vec![self.float()?]) };
        Ok(whole_chunks(bytes)?.iter().map(|&chunk| f32::from_le_bytes(chunk)).collect())
    }

    /// The `double` values of a repeated field, packed or one by one.
    pub fn doubles(&self) -> Result<Vec<f64>> {
        let FieldValue::Bytes(bytes) = self.value else { return Ok(vec![self.double()?]) };
        Ok(whole_chunks(bytes)?.iter().map(|&chunk| f64::from_le_bytes(chunk)).collect())
    }

    fn wrong<T>(&self, expected: &'static str) -> Result<T> {
        let found = match self.value {
            FieldValue::Varint(_) => "varint",
            FieldValue::Fixed64(_) => "fixed64",
            FieldValue::Bytes(_) => "bytes",
            FieldValue::Fixed32(_) => "fixed32",
        };
        Err(WireError::WrongWireType { number: self.number, expected, found }.into())
    }
}

fn whole_chunks<const N: usize>(bytes: &[u8]) -> Result<&[[u8; N]], WireError> {
    match bytes.as_chunks::<N>() {
        (chunks, []) => Ok(chunks),
        (chunks, rest) => Err(WireError::Truncated { offset: chunks.len() * N, needed: N as u64, found: rest.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::MessageWriter;
    use super::*;
    use proptest::prelude::*;

    fn error_of(bytes: &[u8]) -> String {
        let mut fields = Fields::new(bytes);
        let error = fields.find_map(Result::err).expect("bytes are wrong");
        assert!(fields.next().is_none(), "the first error ends the fields");
        error.to_string()
    }

    #[test]
    fn a_length_past_the_end_is_refused() {
        assert_eq!(error_of(&[0x12, 5, b'a']), "WIRE001: value at byte 2 needs 5 bytes, found 1");
        let huge = [&[0x12][..], &[0xFF; 9], &[0x01, b'a']].concat();
        assert_eq!(error_of(&huge), "WIRE001: value at byte 11 needs 18446744073709551615 bytes, found 1");
        assert_eq!(error_of(&[0x0D, 1, 2, 3]), "WIRE001: value at byte 1 needs 4 bytes, found 3");
    }

    #[test]
    fn field_0_groups_and_unknown_wire_types_are_refused() {
        assert_eq!(error_of(&[0x00, 0]), "WIRE003: no protobuf field has tag 0, found at byte 0");
        assert_eq!(error_of(&[0x0B]), "WIRE003: no protobuf field has tag 11, found at byte 0");
        assert_eq!(error_of(&[0x08, 1, 0x0F]), "WIRE003: no protobuf field has tag 15, found at byte 2");
    }

    #[test]
    fn a_field_read_as_another_type_says_both() {
        let field = Field { number: 4, value: FieldValue::Varint(1) };
        assert_eq!(field.text().unwrap_err().to_string(), "WIRE004: field 4: expected bytes, found varint");
        let field = Field { number: 4, value: FieldValue::Bytes(&[0xFF]) };
        assert_eq!(field.text().unwrap_err().to_string(), "WIRE005: field 4: expected text, found invalid UTF-8");
        assert_eq!(field.floats().unwrap_err().to_string(), "WIRE001: value at byte 0 needs 4 bytes, found 1");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_end_in_fields_or_one_error(bytes: Vec<u8>) {
            for field in Fields::new(&bytes).filter_map(Result::ok) {
                let _ = (field.ints(), field.floats(), field.doubles(), field.text(), field.message().map(Iterator::count));
            }
        }

        #[test]
        fn what_was_written_is_read(number in 1u32..1 << 29, int: i64, double: f64, text: String, ints: Vec<i64>, floats: Vec<f32>) {
            let mut message = MessageWriter::new();
            message.int(number, int).double(number, double).text(number, &text);
            message.message(number, |inner| inner.packed_ints(1, &ints).packed_floats(2, &floats));
            let bytes = message.into_bytes();
            let fields = Fields::new(&bytes).collect::<Result<Vec<_>>>().unwrap();
            prop_assert!(fields.iter().all(|field| field.number == number));
            prop_assert_eq!(fields[0].int().unwrap(), int);
            prop_assert_eq!(fields[1].double().unwrap().to_bits(), double.to_bits());
            prop_assert_eq!(fields[2].text().unwrap(), text);
            for field in fields[3].message().unwrap() {
                let field = field.unwrap();
                match field.number {
                    1 => prop_assert_eq!(field.ints().unwrap(), ints.clone()),
                    _ => prop_assert_eq!(
                        field.floats().unwrap().iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
                        floats.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
                    ),
                }
            }
        }
    }
}
