//! What the index says about the bundle (its header) and about each tensor (its entry).

use super::{CheckpointError, tensor};
use crate::core::{Array, DType, Result};
use crate::wire::{Field, Fields, MessageWriter, masked_crc32c};

/// The format's version in files written here, and the newest that is read.
const VERSION: u64 = 1;

/// The header of a bundle with one data file. TensorFlow: `BundleHeaderProto`.
pub(super) fn encode_header() -> Vec<u8> {
    let mut header = MessageWriter::new();
    header.varint(1, 1).message(3, |version| version.varint(1, VERSION));
    header.into_bytes()
}

/// The number of data files that the header promises.
pub(super) fn decode_header(bytes: &[u8]) -> Result<u64> {
    let mut num_shards = 0;
    for field in Fields::new(bytes) {
        let field = field?;
        match field.number {
            1 => num_shards = field.varint()?,
            2 if field.varint()? != 0 => return Err(unsupported("the byte order of a big-endian machine")),
            3 => check_version(&field)?,
            _ => {}
        }
    }
    Ok(num_shards)
}

fn check_version(version: &Field<'_>) -> Result<()> {
    for field in version.message()? {
        let field = field?;
        // Field 2 is the oldest version that a reader must know.
        if field.number == 2 && field.varint()? > VERSION {
            return Err(unsupported("a newer version of the format"));
        }
    }
    Ok(())
}

/// Where a tensor's bytes lie and what they are. TensorFlow: `BundleEntryProto`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub(super) dtype: u64,
    pub(super) shape: Vec<usize>,
    pub(super) shard: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) checksum: u32,
}

impl Entry {
    /// The entry of `array`, whose `bytes` begin at `offset` of the data file.
    pub(super) fn new(array: &Array, offset: u64, bytes: &[u8]) -> Self {
        Entry {
            dtype: u64::from(array.dtype().number()),
            shape: array.shape().to_vec(),
            shard: 0,
            offset,
            size: bytes.len() as u64,
            checksum: masked_crc32c(bytes),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut entry = MessageWriter::new();
        entry.varint(1, self.dtype);
        entry.message(2, |shape| {
            self.shape.iter().fold(shape, |shape, &size| shape.message(2, |one| one.nonzero(1, size as u64)))
        });
        entry.nonzero(3, self.shard).nonzero(4, self.offset).nonzero(5, self.size).fixed32(6, self.checksum);
        entry.into_bytes()
    }

    pub(super) fn decode(bytes: &[u8], tensor: &str) -> Result<Self> {
        let mut entry = Entry::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match field.number {
                1 => entry.dtype = field.varint()?,
                2 => entry.shape = decode_shape(&field, tensor)?,
                3 => entry.shard = field.varint()?,
                4 => entry.offset = field.varint()?,
                5 => entry.size = field.varint()?,
                6 => entry.checksum = field.fixed32()?,
                7 => return Err(unsupported("partitioned variables")),
                _ => {}
            }
        }
        Ok(entry)
    }

    /// The dtype, if it is one that is read here.
    pub(super) fn readable_dtype(&self) -> Option<DType> {
        let dtype = u32::try_from(self.dtype).ok().and_then(DType::from_number)?;
        tensor::element_size(dtype).map(|_| dtype)
    }

    /// The number of bytes that dtype and shape ask for.
    pub(super) fn expected_size(&self, dtype: DType) -> Option<u64> {
        let size = tensor::element_size(dtype)?;
        // A size of 0 makes the product 0, whatever the other sizes are.
        let elements = match self.shape.contains(&0) {
            true => 0,
            false => self.shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))?,
        };
        elements.checked_mul(size).map(|size| size as u64)
    }
}

fn decode_shape(shape: &Field<'_>, tensor: &str) -> Result<Vec<usize>> {
    let invalid = |reason| CheckpointError::InvalidEntry { tensor: tensor.to_owned(), reason };
    let mut sizes = Vec::new();
    for field in shape.message()? {
        let field = field?;
        match field.number {
            2 => {
                let mut size = 0;
                for part in field.message()? {
                    let part = part?;
                    if part.number == 1 {
                        size = usize::try_from(part.int()?).map_err(|_| invalid("has a dimension of unknown size"))?;
                    }
                }
                sizes.push(size);
            }
            3 if field.bool()? => return Err(invalid("has an unknown shape").into()),
            _ => {}
        }
    }
    Ok(sizes)
}

pub(super) fn unsupported(feature: &'static str) -> crate::core::Error {
    CheckpointError::Unsupported { feature }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_big_endian_or_newer_bundle_is_refused() {
        let message = |fill: fn(&mut MessageWriter) -> &mut MessageWriter| {
            let mut header = MessageWriter::new();
            fill(&mut header);
            decode_header(&header.into_bytes()).unwrap_err().to_string()
        };
        assert_eq!(
            message(|header| header.varint(2, 1)),
            "CKPT006: the checkpoint has the byte order of a big-endian machine, which cannot be read here"
        );
        assert_eq!(
            message(|header| header.message(3, |version| version.varint(1, 9).varint(2, 2))),
            "CKPT006: the checkpoint has a newer version of the format, which cannot be read here"
        );
        assert_eq!(decode_header(&encode_header()).unwrap(), 1);
    }

    #[test]
    fn shapes_that_no_tensor_has_are_refused() {
        let message = |size: i64, is_unknown: bool| {
            let mut entry = MessageWriter::new();
            entry.message(2, |shape| shape.message(2, |one| one.int(1, size)).bool(3, is_unknown));
            Entry::decode(&entry.into_bytes(), "x").unwrap_err().to_string()
        };
        assert_eq!(message(-1, false), "CKPT003: tensor `x` has a dimension of unknown size");
        assert_eq!(message(1, true), "CKPT003: tensor `x` has an unknown shape");
        let entry = Entry { dtype: 1, shape: vec![usize::MAX, 2], ..Entry::default() };
        assert_eq!(entry.expected_size(DType::Float32), None);
        let entry = Entry { dtype: 1, shape: vec![usize::MAX, 2, 0], ..Entry::default() };
        assert_eq!(entry.expected_size(DType::Float32), Some(0));
    }

    proptest! {
        #[test]
        fn entries_come_back(dtype in 0u64..30, shape: Vec<u32>, offset: u64, size: u64, checksum: u32) {
            let shape = shape.into_iter().map(|size| size as usize).collect();
            let entry = Entry { dtype, shape, shard: 0, offset, size, checksum };
            prop_assert_eq!(Entry::decode(&entry.encode(), "x").unwrap(), entry);
        }

        #[test]
        fn arbitrary_bytes_end_in_a_value_or_an_error(bytes: Vec<u8>) {
            let _ = (Entry::decode(&bytes, "x"), decode_header(&bytes));
        }
    }
}
