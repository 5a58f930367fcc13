//! TFRecord framing: length, checksum of the length, data, checksum of the data.

use super::{WireError, masked_crc32c};
use crate::core::Result;

/// Eight bytes of length and four of checksum.
const HEADER: usize = 12;
/// Four bytes of checksum.
const FOOTER: usize = 4;

/// Appends `data` to `bytes` as one record. TensorFlow: `tf.io.TFRecordWriter.write`.
///
/// # Examples
/// ```
/// use tpulab::wire::{Records, write_record};
/// let mut bytes = Vec::new();
/// write_record(&mut bytes, b"first");
/// write_record(&mut bytes, b"");
/// let records = Records::new(&bytes).collect::<tpulab::core::Result<Vec<_>>>()?;
/// assert_eq!(records, [&b"first"[..], b""]);
/// # Ok::<(), tpulab::core::Error>(())
/// ```
pub fn write_record(bytes: &mut Vec<u8>, data: &[u8]) {
    let length = (data.len() as u64).to_le_bytes();
    bytes.reserve(HEADER + data.len() + FOOTER);
    bytes.extend_from_slice(&length);
    bytes.extend_from_slice(&masked_crc32c(&length).to_le_bytes());
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(&masked_crc32c(data).to_le_bytes());
}

/// The records in a file's bytes, both checksums verified; the first error ends them.
///
/// # Errors
/// `WIRE006` for a record that was damaged, `WIRE007` for a last record that was not written to its end.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Records<'a> {
    /// The records in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Records { bytes, offset: 0 }
    }

    /// Where the next record starts: all before it is whole.
    pub fn offset(&self) -> usize {
        self.offset
    }

    fn take_record(&self) -> Result<&'a [u8], WireError> {
        let offset = self.offset;
        let truncated = WireError::TruncatedRecord { offset };
        let Some((length, rest)) = self.bytes[offset..].split_first_chunk::<8>() else { return Err(truncated) };
        let Some((checksum, rest)) = rest.split_first_chunk::<4>() else { return Err(truncated) };
        if masked_crc32c(length) != u32::from_le_bytes(*checksum) {
            return Err(WireError::RecordChecksum { offset, part: "length" });
        }
        let data = usize::try_from(u64::from_le_bytes(*length)).ok().and_then(|length| rest.split_at_checked(length));
        let Some((data, rest)) = data else { return Err(truncated) };
        let Some((checksum, _)) = rest.split_first_chunk::<4>() else { return Err(truncated) };
        if masked_crc32c(data) != u32::from_le_bytes(*checksum) {
            return Err(WireError::RecordChecksum { offset, part: "data" });
        }
        Ok(data)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.bytes.len() {
            return None;
        }
        let record = self.take_record();
        match record {
            Ok(data) => self.offset += HEADER + data.len() + FOOTER,
            Err(_) => self.bytes = &self.bytes[..self.offset],
        }
        Some(record.map_err(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn two_records() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_record(&mut bytes, b"step 1");
        write_record(&mut bytes, b"step 2");
        bytes
    }

    #[test]
    fn a_cut_record_is_an_error_with_its_offset_after_the_whole_ones() {
        let bytes = two_records();
        for length in 23..bytes.len() {
            let mut records = Records::new(&bytes[..length]);
            assert_eq!(records.next().unwrap().unwrap(), b"step 1");
            let error = records.next().unwrap().unwrap_err();
            assert_eq!(error.downcast_ref(), Some(&WireError::TruncatedRecord { offset: 22 }));
            assert!(records.next().is_none());
            assert_eq!(records.offset(), 22);
        }
        let error = Records::new(&bytes[..7]).next().unwrap().unwrap_err();
        let expected = "WIRE007: record at byte 0 is cut off; \
                        its writer was interrupted; all records before this one are whole";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let bytes = two_records();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x10;
            assert!(Records::new(&damaged).any(|record| record.is_err()), "byte {index}");
        }
    }

    proptest! {
        #[test]
        fn records_come_back(datas: Vec<Vec<u8>>) {
            let mut bytes = Vec::new();
            datas.iter().for_each(|data| write_record(&mut bytes, data));
            let records = Records::new(&bytes).collect::<Result<Vec<_>>>().unwrap();
            prop_assert_eq!(records, datas);
        }

        #[test]
        fn arbitrary_bytes_end_in_records_or_one_error(bytes: Vec<u8>) {
            prop_assert!(Records::new(&bytes).filter(Result::is_err).count() <= 1);
        }
    }
}
