//! A block of a table: sorted keys with their values, each key without what it shares with the one before.

use super::CheckpointError;
use crate::core::Result;
use crate::wire::{take_varint, write_varint};

/// A longer key is refused on reading: keys are stored without what they share, and a few bytes could otherwise
/// ask for much memory.
const LONGEST_KEY: usize = 4096;

/// Writes a block's entries, which must come in the order of their keys.
#[derive(Debug)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
    /// Where a key stands in full, every `interval` entries.
    restarts: Vec<u32>,
    interval: usize,
    entries: usize,
    last_key: Vec<u8>,
}

impl BlockWriter {
    pub(super) fn new(interval: usize) -> Self {
        BlockWriter { bytes: Vec::new(), restarts: vec![0], interval, entries: 0, last_key: Vec::new() }
    }

    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut shared = 0;
        if self.entries > 0 && self.entries.is_multiple_of(self.interval) {
            self.restarts.push(self.bytes.len() as u32);
        } else {
            shared = shared_length(&self.last_key, key);
        }
        write_varint(&mut self.bytes, shared as u64);
        write_varint(&mut self.bytes, (key.len() - shared) as u64);
        write_varint(&mut self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(&key[shared..]);
        self.bytes.extend_from_slice(value);
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(super) fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// The length that [`finish`](Self::finish) would give.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + 4 * self.restarts.len() + 4
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        for restart in &self.restarts {
            self.bytes.extend_from_slice(&restart.to_le_bytes());
        }
        self.bytes.extend_from_slice(&(self.restarts.len() as u32).to_le_bytes());
        self.bytes
    }
}

/// How many bytes two keys begin with alike.
pub(super) fn shared_length(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Calls `visit` with each key and value of a block. `last_key` is the last key of the block before, if there is
/// one, and then that of this block: keys must ascend through all of a table.
pub(super) fn for_each_entry(
    block: &[u8],
    last_key: &mut Option<Vec<u8>>,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let entries = without_restarts(block).ok_or(CheckpointError::DamagedIndex {
        offset: block.len(),
        reason: "the block is shorter than its list of restarts",
    })?;
    let mut offset = 0;
    while offset < entries.len() {
        let damaged = |reason| CheckpointError::DamagedIndex { offset, reason };
        let is_first = offset == 0;
        let mut next = offset;
        let shared = usize::try_from(take_varint(entries, &mut next)?).unwrap_or(usize::MAX);
        let unshared = usize::try_from(take_varint(entries, &mut next)?).unwrap_or(usize::MAX);
        let length = usize::try_from(take_varint(entries, &mut next)?).unwrap_or(usize::MAX);
        let (end, rest) =
            entries[next..].split_at_checked(unshared).ok_or_else(|| damaged("the key is longer than its block"))?;
        let (value, _) = rest.split_at_checked(length).ok_or_else(|| damaged("the value is longer than its block"))?;
        let key = match last_key {
            Some(key) => {
                if shared > key.len() || is_first && shared > 0 {
                    return Err(damaged("the key shares more than the key before it has").into());
                }
                if end <= &key[shared..] {
                    return Err(damaged("the keys are not in order").into());
                }
                key
            }
            None if shared > 0 => return Err(damaged("the first key shares a beginning").into()),
            None => last_key.insert(Vec::new()),
        };
        if shared + end.len() > LONGEST_KEY {
            return Err(damaged("the key is longer than 4096 bytes").into());
        }
        key.truncate(shared);
        key.extend_from_slice(end);
        visit(key, value)?;
        offset = next + unshared + length;
    }
    Ok(())
}

fn without_restarts(block: &[u8]) -> Option<&[u8]> {
    let (block, count) = block.split_last_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*count)).ok()?.checked_mul(4)?;
    block.get(..block.len().checked_sub(length)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn entries_of(block: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut entries = Vec::new();
        for_each_entry(block, &mut None, |key, value| {
            entries.push((key.to_vec(), value.to_vec()));
            Ok(())
        })?;
        Ok(entries)
    }

    #[test]
    fn every_sixteenth_key_stands_in_full() {
        let mut block = BlockWriter::new(16);
        (b'a'..=b'q').for_each(|letter| block.add(&[b'x', letter], b""));
        assert_eq!(block.restarts, [0, 5 + 15 * 4]);
        let length = block.len();
        let bytes = block.finish();
        assert_eq!(bytes.len(), length);
        assert_eq!(&bytes[bytes.len() - 12..], [0, 0, 0, 0, 65, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn keys_out_of_order_and_false_lengths_are_refused() {
        let end = [0, 0, 0, 0, 1, 0, 0, 0];
        let message = |entries: &[u8]| entries_of(&[entries, &end].concat()).unwrap_err().message().to_owned();
        assert_eq!(message(&[0, 1, 0, b'b', 0, 1, 0, b'a']), "byte 4: the keys are not in order");
        assert_eq!(message(&[0, 1, 0, b'b', 1, 0, 0]), "byte 4: the keys are not in order");
        assert_eq!(message(&[0, 1, 0, b'b', 2, 1, 0, b'a']), "byte 4: the key shares more than the key before it has");
        assert_eq!(message(&[1, 1, 0, b'b']), "byte 0: the first key shares a beginning");
        assert_eq!(message(&[0, 9, 0, b'b']), "byte 0: the key is longer than its block");
        assert_eq!(message(&[0, 1, 9, b'b']), "byte 0: the value is longer than its block");
        let error = entries_of(&[9, 0, 0, 0]).unwrap_err();
        assert_eq!(error.message(), "byte 4: the block is shorter than its list of restarts");
    }

    proptest! {
        #[test]
        fn sorted_entries_come_back(entries: BTreeMap<Vec<u8>, Vec<u8>>, interval in 1..20usize) {
            let mut block = BlockWriter::new(interval);
            entries.iter().for_each(|(key, value)| block.add(key, value));
            prop_assert_eq!(entries_of(&block.finish()).unwrap(), Vec::from_iter(entries));
        }

        #[test]
        fn arbitrary_bytes_end_in_entries_or_an_error(bytes: Vec<u8>) {
            let _ = entries_of(&bytes);
        }
    }
}
