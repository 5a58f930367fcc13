//! Random numbers that depend on a key, a stream and a count, and on nothing else.

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), the family of
/// TensorFlow's own generators.
///
/// Streams of one key never overlap, so every shuffle, variable and replica draws from a stream of its
/// own, and no number depends on how many threads there are.
#[derive(Clone, Debug)]
pub(crate) struct Philox {
    key: [u32; 2],
    stream: [u32; 2],
    block: u64,
    words: [u32; WORDS],
    used: usize,
}

/// Words computed at a time: independent blocks, which the processor works on side by side.
const WORDS: usize = 4 * BLOCKS;
const BLOCKS: usize = 4;

impl Philox {
    /// The stream `stream` of the key `key`, from its start.
    pub(crate) fn new(key: u64, stream: u64) -> Self {
        Philox { key: halves(key), stream: halves(stream), block: 0, words: [0; WORDS], used: WORDS }
    }

    /// A whole number, all of the 2³² equally likely.
    #[inline]
    pub(crate) fn next_u32(&mut self) -> u32 {
        if self.used == WORDS {
            self.refill();
        }
        let word = self.words[self.used];
        self.used += 1;
        word
    }

    /// A whole number, all of the 2⁶⁴ equally likely.
    pub(crate) fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) | u64::from(self.next_u32()) << 32
    }

    /// A whole number below `bound`, all equally likely; 0 if `bound` is 0.
    ///
    /// Lemire's method ("Fast random integer generation in an interval", 2019): the high half of a product,
    /// where the few low halves that would favour some numbers are drawn again.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        if let Ok(bound) = u32::try_from(bound) {
            loop {
                let product = u64::from(self.next_u32()) * u64::from(bound);
                let low = product as u32;
                if low >= bound || low >= bound.wrapping_neg().checked_rem(bound).unwrap_or(0) {
                    return product >> 32;
                }
            }
        }
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number in `[0, 1)`, a multiple of 2⁻²⁴.
    pub(crate) fn next_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// A number in `[0, 1)`, a multiple of 2⁻⁵³.
    pub(crate) fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn refill(&mut self) {
        let [stream_low, stream_high] = self.stream;
        for (index, words) in self.words.chunks_exact_mut(4).enumerate() {
            let [low, high] = halves(self.block.wrapping_add(index as u64));
            words.copy_from_slice(&philox([low, high, stream_low, stream_high], self.key));
        }
        self.block = self.block.wrapping_add(BLOCKS as u64);
        self.used = 0;
    }
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Ten rounds over one counter.
#[inline(always)]
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [low0, high0] = halves(u64::from(counter[0]) * 0xD251_1F53);
        let [low1, high1] = halves(u64::from(counter[2]) * 0xCD9E_8D57);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_equal_the_test_vectors_of_random123() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn a_stream_runs_through_its_blocks_in_order() {
        let mut random = Philox::new(7, 9);
        for block in 0..2 * BLOCKS as u32 {
            for word in philox([block, 0, 9, 0], [7, 0]) {
                assert_eq!(random.next_u32(), word);
            }
        }
    }

    #[test]
    fn below_is_even_and_stays_below() {
        let mut random = Philox::new(1, 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        // 10000 expected each, standard deviation 91; five of them.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 460), "{counts:?}");
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
        let large = (1u64 << 40) + 1;
        assert!((0..1000).all(|_| random.below(large) < large));
    }

    #[test]
    fn fractions_stay_below_one_and_average_a_half() {
        let mut random = Philox::new(3, 5);
        let (mut sum32, mut sum64) = (0.0, 0.0);
        for _ in 0..10_000 {
            let (single, double) = (random.next_f32(), random.next_f64());
            assert!((0.0..1.0).contains(&single) && (0.0..1.0).contains(&double));
            sum32 += f64::from(single);
            sum64 += double;
        }
        // The mean's standard deviation is 0.0029.
        assert!((sum32 / 1e4 - 0.5).abs() < 0.015 && (sum64 / 1e4 - 0.5).abs() < 0.015);
    }
}
