//! The Castagnoli checksum, and the mask under which TensorFlow stores it.

/// The Castagnoli polynomial, bits reversed.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// `TABLES[k][byte]`: the checksum's share of `byte` with `k` bytes after it.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut slice = 1;
    while slice < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        slice += 1;
    }
    tables
}

/// The crc32c of `bytes`.
///
/// # Examples
/// ```
/// assert_eq!(tpulab::wire::crc32c(b"123456789"), 0xE306_9283);
/// ```
pub fn crc32c(bytes: &[u8]) -> u32 {
    extend_crc32c(0, bytes)
}

/// The crc32c of what had checksum `crc` with `bytes` after it.
pub fn extend_crc32c(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    // Eight bytes a turn: their table look-ups do not wait for each other.
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word) ^ u64::from(crc);
        let share = |byte: usize| TABLES[7 - byte][(word >> (8 * byte)) as usize & 0xFF];
        crc = share(0) ^ share(1) ^ share(2) ^ share(3) ^ share(4) ^ share(5) ^ share(6) ^ share(7);
    }
    for &byte in rest {
        crc = (crc >> 8) ^ TABLES[0][((crc ^ u32::from(byte)) & 0xFF) as usize];
    }
    !crc
}

const MASK: u32 = 0xA282_EAD8;

/// The form in which TensorFlow stores a checksum: checksums of bytes that hold checksums are weak, so the
/// stored one is rotated and offset.
pub fn mask_crc32c(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK)
}

/// The checksum whose stored form is `masked`.
pub fn unmask_crc32c(masked: u32) -> u32 {
    masked.wrapping_sub(MASK).rotate_left(15)
}

/// The crc32c of `bytes` in the form in which TensorFlow stores it.
pub fn masked_crc32c(bytes: &[u8]) -> u32 {
    mask_crc32c(crc32c(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn check_values_of_rfc_3720_hold() {
        assert_eq!(crc32c(b""), 0);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(&[0xFF; 32]), 0x62A8_AB43);
    }

    proptest! {
        #[test]
        fn pieces_have_the_checksum_of_the_whole(bytes: Vec<u8>, cut: prop::sample::Index) {
            let (left, right) = bytes.split_at(cut.index(bytes.len() + 1));
            prop_assert_eq!(extend_crc32c(crc32c(left), right), crc32c(&bytes));
        }

        #[test]
        fn the_mask_comes_off_again(crc: u32) {
            prop_assert_ne!(mask_crc32c(crc), crc);
            prop_assert_eq!(unmask_crc32c(mask_crc32c(crc)), crc);
        }
    }
}
