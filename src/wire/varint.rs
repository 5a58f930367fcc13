//! Integers of one to ten bytes, seven bits a byte.

use super::WireError;

/// Appends `value`, low bits first.
pub(crate) fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The varint at `offset`, which moves behind it.
pub(crate) fn take_varint(bytes: &[u8], offset: &mut usize) -> Result<u64, WireError> {
    let start = *offset;
    let mut value = 0u64;
    for (index, &byte) in bytes.get(start..).unwrap_or_default().iter().take(10).enumerate() {
        // The tenth byte holds bit 63 alone.
        if index == 9 && byte > 1 {
            return Err(WireError::OverlongVarint { offset: start });
        }
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            *offset = start + index + 1;
            return Ok(value);
        }
    }
    let found = bytes.len().saturating_sub(start);
    Err(WireError::Truncated { offset: start, needed: found as u64 + 1, found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_bytes_hold_64_bits_and_no_more() {
        let mut bytes = vec![0xFF; 9];
        bytes.push(0x01);
        assert_eq!(take_varint(&bytes, &mut 0), Ok(u64::MAX));
        bytes[9] = 0x02;
        assert_eq!(take_varint(&bytes, &mut 0), Err(WireError::OverlongVarint { offset: 0 }));
        bytes[9] = 0x80;
        assert_eq!(take_varint(&bytes, &mut 0), Err(WireError::OverlongVarint { offset: 0 }));
    }

    #[test]
    fn a_varint_without_its_last_byte_is_truncated() {
        assert_eq!(take_varint(&[7, 0x80], &mut 1), Err(WireError::Truncated { offset: 1, needed: 2, found: 1 }));
        assert_eq!(take_varint(&[7], &mut 9), Err(WireError::Truncated { offset: 9, needed: 1, found: 0 }));
    }

    proptest! {
        #[test]
        fn every_integer_comes_back(value: u64, shift in 0..64u32) {
            let mut bytes = Vec::new();
            write_varint(&mut bytes, value >> shift);
            let mut offset = 0;
            prop_assert_eq!(take_varint(&bytes, &mut offset), Ok(value >> shift));
            prop_assert_eq!(offset, bytes.len());
        }
    }
}
