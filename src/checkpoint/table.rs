//! The index file's outer form: a sorted table of keys and values, in blocks, as LevelDB lays it out.

use super::CheckpointError;
use super::block::{BlockWriter, for_each_entry, shared_length};
use crate::core::Result;
use crate::wire::{crc32c, extend_crc32c, mask_crc32c, take_varint, write_varint};

/// The last eight bytes of every table.
const MAGIC: u64 = 0xDB47_7524_8B80_FB57;
/// Two handles with room for four varints of ten bytes, and the magic number.
const FOOTER: usize = 48;
/// One byte of compression type and four of checksum behind each block.
const TRAILER: usize = 5;
/// A block that has grown to this length is closed.
const BLOCK_SIZE: usize = 256 * 1024;

/// Where a block lies, its trailer not counted.
#[derive(Clone, Copy, Debug)]
struct Handle {
    offset: usize,
    size: usize,
}

impl Handle {
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, self.offset as u64);
        write_varint(&mut bytes, self.size as u64);
        bytes
    }

    fn take(bytes: &[u8], offset: &mut usize) -> Result<Self> {
        let number = |value| usize::try_from(value).unwrap_or(usize::MAX);
        let start = number(take_varint(bytes, offset)?);
        Ok(Handle { offset: start, size: number(take_varint(bytes, offset)?) })
    }
}

/// Writes a table's entries, which must come in the order of their keys.
#[derive(Debug)]
pub(super) struct TableWriter {
    bytes: Vec<u8>,
    block: BlockWriter,
    index: BlockWriter,
    /// Handle and last key of a block whose entry in the index waits for the next key.
    closed: Option<(Handle, Vec<u8>)>,
}

impl TableWriter {
    pub(super) fn new() -> Self {
        TableWriter { bytes: Vec::new(), block: BlockWriter::new(16), index: BlockWriter::new(1), closed: None }
    }

    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        if let Some((handle, last_key)) = self.closed.take() {
            self.index.add(&separator(&last_key, key), &handle.to_bytes());
        }
        self.block.add(key, value);
        if self.block.len() >= BLOCK_SIZE {
            self.close_block();
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.block.is_empty() {
            self.close_block();
        }
        let meta_index = write_block(&mut self.bytes, &BlockWriter::new(16).finish());
        if let Some((handle, last_key)) = self.closed.take() {
            self.index.add(&successor(&last_key), &handle.to_bytes());
        }
        let index = write_block(&mut self.bytes, &self.index.finish());
        let mut footer = [meta_index.to_bytes(), index.to_bytes()].concat();
        footer.resize(FOOTER - 8, 0);
        self.bytes.extend_from_slice(&footer);
        self.bytes.extend_from_slice(&MAGIC.to_le_bytes());
        self.bytes
    }

    fn close_block(&mut self) {
        let block = std::mem::replace(&mut self.block, BlockWriter::new(16));
        let last_key = block.last_key().to_vec();
        self.closed = Some((write_block(&mut self.bytes, &block.finish()), last_key));
    }
}

fn write_block(bytes: &mut Vec<u8>, block: &[u8]) -> Handle {
    let handle = Handle { offset: bytes.len(), size: block.len() };
    bytes.extend_from_slice(block);
    bytes.push(0);
    bytes.extend_from_slice(&mask_crc32c(extend_crc32c(crc32c(block), &[0])).to_le_bytes());
    handle
}

/// A short key from `last` on and before `next`.
fn separator(last: &[u8], next: &[u8]) -> Vec<u8> {
    let shared = shared_length(last, next);
    match (last.get(shared), next.get(shared)) {
        (Some(&low), Some(&high)) if low < 0xFF && low + 1 < high => [&last[..shared], &[low + 1]].concat(),
        _ => last.to_vec(),
    }
}

/// A short key from `last` on.
fn successor(last: &[u8]) -> Vec<u8> {
    match last.iter().position(|&byte| byte < 0xFF) {
        Some(index) => [&last[..index], &[last[index] + 1]].concat(),
        None => last.to_vec(),
    }
}

/// Calls `visit` with each key and value of the table in `bytes`, in the order of the keys.
pub(super) fn for_each_in_table(bytes: &[u8], mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    let (meta_index, index) = take_footer(bytes)?;
    // Nothing in the meta index concerns tensors, but it is part of a whole file.
    block_at(bytes, meta_index)?;
    let mut last_key = None;
    let mut end = 0;
    for_each_entry(block_at(bytes, index)?, &mut None, |_, handle| {
        let handle = Handle::take(handle, &mut 0)?;
        // Blocks that overlap would make a small file long to read.
        if handle.offset < end {
            return Err(damaged(handle.offset, "the block overlaps the one before it"));
        }
        let block = block_at(bytes, handle)?;
        end = handle.offset + handle.size + TRAILER;
        for_each_entry(block, &mut last_key, &mut visit)
    })
}

fn take_footer(bytes: &[u8]) -> Result<(Handle, Handle)> {
    let start = bytes.len().checked_sub(FOOTER).ok_or_else(|| damaged(0, "the file is shorter than a footer"))?;
    let (handles, magic) = bytes[start..].split_at(FOOTER - 8);
    if magic != MAGIC.to_le_bytes() {
        return Err(damaged(start + handles.len(), "the file does not end in a table's magic number"));
    }
    let mut offset = 0;
    let meta_index = Handle::take(handles, &mut offset)?;
    let index = Handle::take(handles, &mut offset)?;
    if handles[offset..].iter().any(|&byte| byte != 0) {
        return Err(damaged(start + offset, "the footer has more than two handles"));
    }
    Ok((meta_index, index))
}

/// The block at `handle`, its checksum verified.
fn block_at(bytes: &[u8], handle: Handle) -> Result<&[u8]> {
    let Handle { offset, size } = handle;
    let block = bytes[..bytes.len() - FOOTER]
        .get(offset..)
        .and_then(|rest| rest.split_at_checked(size))
        .and_then(|(block, rest)| Some((block, rest.first_chunk::<TRAILER>()?)));
    let Some((block, [kind, checksum @ ..])) = block else {
        return Err(damaged(offset, "the block lies past the file's end"));
    };
    if mask_crc32c(extend_crc32c(crc32c(block), &[*kind])) != u32::from_le_bytes(*checksum) {
        return Err(CheckpointError::BlockChecksum { offset }.into());
    }
    match kind {
        0 => Ok(block),
        _ => Err(CheckpointError::Unsupported { feature: "a compressed index" }.into()),
    }
}

fn damaged(offset: usize, reason: &'static str) -> crate::core::Error {
    CheckpointError::DamagedIndex { offset, reason }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn separators_are_short_and_in_between() {
        assert_eq!(separator(b"dense/bias", b"dense/kernel"), b"dense/c");
        assert_eq!(separator(b"a/1", b"a/2"), b"a/1");
        assert_eq!(separator(b"a", b"ab"), b"a");
        assert_eq!(successor(b"global_step"), b"h");
        assert_eq!(successor(&[0xFF, 0x01]), [0xFF, 0x02]);
        assert_eq!(successor(&[0xFF]), [0xFF]);
    }

    #[test]
    fn a_table_of_several_blocks_comes_back_in_order() {
        let mut table = TableWriter::new();
        let value = vec![7; 100_000];
        let keys: Vec<String> = (0..10).map(|number| format!("key {number}")).collect();
        keys.iter().for_each(|key| table.add(key.as_bytes(), &value));
        let bytes = table.finish();
        let mut found = Vec::new();
        for_each_in_table(&bytes, |key, value| {
            found.push(String::from_utf8(key.to_vec()).unwrap());
            assert_eq!(value, [7; 100_000]);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, keys);
    }

    #[test]
    fn a_compressed_block_is_refused_by_name() {
        let mut bytes = Vec::new();
        let handle = write_block(&mut bytes, b"snappy");
        let kind = bytes.len() - TRAILER;
        bytes[kind] = 1;
        let checksum = mask_crc32c(crc32c(&bytes[..=kind]));
        bytes[kind + 1..].copy_from_slice(&checksum.to_le_bytes());
        bytes.extend([0; FOOTER]);
        let error = block_at(&bytes, handle).unwrap_err();
        assert_eq!(error.to_string(), "CKPT006: the checkpoint has a compressed index, which cannot be read here");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_end_in_an_error(mut bytes: Vec<u8>, is_table: bool) {
            if is_table {
                bytes.extend(MAGIC.to_le_bytes());
            }
            prop_assert!(for_each_in_table(&bytes, |_, _| Ok(())).is_err());
        }
    }
}
