//! Between values by name and the bytes of a bundle's files.

use super::entry::{Entry, decode_header, encode_header, unsupported};
use super::table::{TableWriter, for_each_in_table};
use super::{CheckpointError, tensor};
use crate::core::{Array, Result};
use crate::wire::masked_crc32c;
use std::collections::BTreeMap;

/// What follows a prefix in the name of data file `shard` of `num_shards`.
pub(super) fn shard_suffix(shard: u64, num_shards: u64) -> String {
    format!(".data-{shard:05}-of-{num_shards:05}")
}

/// The bytes of the index file and of the one data file.
pub(super) fn encode(values: &BTreeMap<String, Array>) -> Result<(Vec<u8>, Vec<u8>)> {
    let not_writable = |name: &str, reason| CheckpointError::NotWritable { tensor: name.to_owned(), reason };
    let mut index = TableWriter::new();
    index.add(b"", &encode_header());
    let mut data = Vec::new();
    for (name, array) in values {
        // The empty key is the header's, and a key with a leading NUL that of a partitioned variable's slice.
        if name.is_empty() || name.starts_with('\0') {
            return Err(not_writable(name, "the name is empty or begins with NUL").into());
        }
        let Some(bytes) = tensor::to_bytes(array) else {
            return Err(
                not_writable(name, "it holds strings, and checkpoints here hold numbers and truth values").into()
            );
        };
        index.add(name.as_bytes(), &Entry::new(array, data.len() as u64, &bytes).encode());
        data.extend_from_slice(&bytes);
    }
    Ok((index.finish(), data))
}

/// What an index file says.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) num_shards: u64,
    /// Entries by data file, each file's by offset.
    pub(super) shards: BTreeMap<u64, Vec<(String, Entry)>>,
    pub(super) skipped: Vec<String>,
}

/// What the bytes of an index file say.
pub(super) fn decode_index(bytes: &[u8]) -> Result<Index> {
    let mut num_shards = None;
    let mut shards = BTreeMap::<u64, Vec<(String, Entry)>>::new();
    let mut skipped = Vec::new();
    for_each_in_table(bytes, |key, value| {
        let Some(num_shards) = num_shards else {
            if !key.is_empty() {
                return Err(CheckpointError::DamagedIndex { offset: 0, reason: "the table has no header" }.into());
            }
            num_shards = Some(decode_header(value)?);
            return Ok(());
        };
        if key[0] == 0 {
            return Err(unsupported("partitioned variables"));
        }
        let invalid = |reason| {
            let tensor = String::from_utf8_lossy(key).into_owned();
            Err(CheckpointError::InvalidEntry { tensor, reason }.into())
        };
        let Ok(name) = str::from_utf8(key) else { return invalid("has a name that is not UTF-8") };
        let entry = Entry::decode(value, name).map_err(|error| error.at(format_args!("entry of `{name}`")))?;
        if entry.shard >= num_shards {
            return invalid("lies in a data file that the header does not promise");
        }
        match entry.readable_dtype() {
            Some(dtype) if entry.expected_size(dtype) != Some(entry.size) => {
                return invalid("has another size than its dtype and shape ask for");
            }
            Some(_) => {}
            None => skipped.push(name.to_owned()),
        }
        shards.entry(entry.shard).or_default().push((name.to_owned(), entry));
        Ok(())
    })?;
    let num_shards =
        num_shards.ok_or(CheckpointError::DamagedIndex { offset: 0, reason: "the table has no header" })?;
    shards.values_mut().for_each(|entries| entries.sort_by_key(|(_, entry)| (entry.offset, entry.size)));
    Ok(Index { num_shards, shards, skipped })
}

/// Adds the values of the data file with the bytes `data` to `values`.
pub(super) fn decode_shard(
    data: &[u8],
    entries: Vec<(String, Entry)>,
    values: &mut BTreeMap<String, Array>,
) -> Result<()> {
    let end = entries.iter().map(|(_, entry)| entry.offset.saturating_add(entry.size)).max().unwrap_or(0);
    if end != data.len() as u64 {
        return Err(CheckpointError::WrongDataLength { expected: end, found: data.len() }.into());
    }
    let mut last_end = 0;
    for (name, entry) in entries {
        // Tensors that overlap would make a small file large in memory.
        if entry.offset < last_end {
            return Err(CheckpointError::InvalidEntry { tensor: name, reason: "overlaps another tensor" }.into());
        }
        last_end = entry.offset + entry.size;
        let Some(dtype) = entry.readable_dtype() else { continue };
        let bytes = &data[entry.offset as usize..last_end as usize];
        if masked_crc32c(bytes) != entry.checksum {
            return Err(CheckpointError::TensorChecksum { tensor: name }.into());
        }
        let value = tensor::from_bytes(dtype, &entry.shape, bytes)?;
        values.insert(name, value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Values = BTreeMap<String, Array>;

    fn decode(index: &[u8], data: &[u8]) -> Result<Values> {
        let mut values = Values::new();
        for entries in decode_index(index)?.shards.into_values() {
            decode_shard(data, entries, &mut values)?;
        }
        Ok(values)
    }

    fn small() -> Values {
        Values::from([
            ("dense/bias".to_owned(), Array::from(vec![0.5f32, -0.5, 0.0])),
            ("dense/kernel".to_owned(), Array::from_vec(&[1, 2], vec![1.0f64, 2.0]).unwrap()),
            ("empty".to_owned(), Array::from_vec(&[0, 7], Vec::<i32>::new()).unwrap()),
            ("global_step".to_owned(), Array::from(1000i64)),
            ("mask".to_owned(), Array::from(vec![true, false])),
        ])
    }

    #[test]
    fn every_flip_of_a_byte_is_an_error_or_changes_nothing() {
        let values = small();
        let (index, data) = encode(&values).unwrap();
        assert_eq!(decode(&index, &data).unwrap(), values);
        let files = [index, data];
        for (file, position) in (0..2).flat_map(|file| (0..files[file].len()).map(move |position| (file, position))) {
            for flip in 1..=255 {
                let mut files = files.clone();
                files[file][position] ^= flip;
                if let Ok(decoded) = decode(&files[0], &files[1]) {
                    assert_eq!(decoded, values, "file {file}, byte {position}, flip {flip}");
                }
            }
        }
    }

    #[test]
    fn every_cut_and_every_added_byte_is_an_error() {
        let (index, data) = encode(&small()).unwrap();
        (0..index.len()).for_each(|length| assert!(decode(&index[..length], &data).is_err(), "index of {length}"));
        (0..data.len()).for_each(|length| assert!(decode(&index, &data[..length]).is_err(), "data of {length}"));
        assert!(decode(&[&index[..], &[0]].concat(), &data).is_err());
        let error = decode(&index, &[&data[..], &[0]].concat()).unwrap_err();
        let expected = "CKPT005: expected 38 bytes by the index, found 39; \
                        index and data are of two checkpoints, or the file was cut; use another checkpoint";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_the_format_does_not_hold_is_not_written() {
        let strings = Values::from([("words".to_owned(), Array::from(vec!["a".to_owned()]))]);
        let expected = "CKPT007: tensor `words` cannot be saved: \
                        it holds strings, and checkpoints here hold numbers and truth values";
        assert_eq!(encode(&strings).unwrap_err().to_string(), expected);
        let unnamed = Values::from([(String::new(), Array::from(1i32))]);
        assert_eq!(encode(&unnamed).unwrap_err().code(), "CKPT007");
    }

    /// An index that says what `encode` would never say.
    fn index_of(entries: &[(&[u8], Entry)]) -> Vec<u8> {
        let mut table = TableWriter::new();
        table.add(b"", &encode_header());
        entries.iter().for_each(|(name, entry)| table.add(name, &entry.encode()));
        table.finish()
    }

    #[test]
    fn entries_that_contradict_the_files_are_refused() {
        let array = Array::from(vec![1i32, 2]);
        let bytes = tensor::to_bytes(&array).unwrap();
        let entry = Entry::new(&array, 0, &bytes);
        let message = |entries: &[(&[u8], Entry)]| decode(&index_of(entries), &bytes).unwrap_err().message().to_owned();
        assert_eq!(message(&[(b"a", entry.clone()), (b"b", entry.clone())]), "tensor `b` overlaps another tensor");
        let wrong = Entry { shape: vec![3], ..entry.clone() };
        assert_eq!(message(&[(b"a", wrong)]), "tensor `a` has another size than its dtype and shape ask for");
        let wrong = Entry { shard: 1, ..entry.clone() };
        assert_eq!(message(&[(b"a", wrong)]), "tensor `a` lies in a data file that the header does not promise");
        let wrong = Entry { offset: u64::MAX, ..entry.clone() };
        assert_eq!(message(&[(b"a", wrong)]), "expected 18446744073709551615 bytes by the index, found 8");
        assert_eq!(message(&[(&[0xFF], entry.clone())]), "tensor `\u{FFFD}` has a name that is not UTF-8");
        assert_eq!(message(&[(&[0, 1], entry)]), "the checkpoint has partitioned variables, which cannot be read here");
        let error = decode_index(&TableWriter::new().finish()).unwrap_err();
        assert_eq!(error.message(), "byte 0: the table has no header");
    }

    fn arrays() -> impl Strategy<Value = Array> {
        prop_oneof![
            any::<Vec<f32>>().prop_map(Array::from),
            any::<Vec<f64>>().prop_map(Array::from),
            any::<Vec<i32>>().prop_map(Array::from),
            any::<Vec<i64>>().prop_map(Array::from),
            any::<Vec<bool>>().prop_map(Array::from),
            any::<f32>().prop_map(Array::from),
            any::<[i64; 6]>().prop_map(|values| Array::from_vec(&[2, 1, 3], values.to_vec()).unwrap()),
        ]
    }

    proptest! {
        #[test]
        fn values_come_back(values in prop::collection::btree_map("[a-z/é]{1,12}", arrays(), 0..60)) {
            let (index, data) = encode(&values).unwrap();
            let decoded = decode(&index, &data).unwrap();
            // Bytes, since a NaN does not equal itself.
            prop_assert_eq!(encode(&decoded).unwrap(), (index, data));
            prop_assert!(decoded.keys().eq(values.keys()));
        }

        #[test]
        fn arbitrary_entries_end_in_values_or_an_error(value: Vec<u8>, data: Vec<u8>) {
            let mut table = TableWriter::new();
            table.add(b"", &encode_header());
            table.add(b"x", &value);
            let _ = decode(&table.finish(), &data);
        }
    }
}
