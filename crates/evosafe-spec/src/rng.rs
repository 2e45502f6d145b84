//! Seeded draws that stay the same for good: a split is part of every result, so
//! neither the stream nor the way it is used may change with a library version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One stream for one purpose.
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `seed` for `purpose`; other purposes have independent streams.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("evosafe-spec stream 1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        Self(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// A whole number below `n`, each equally likely.
    fn below(&mut self, n: u64) -> u64 {
        // The top of the range that `n` does not divide evenly is drawn again.
        let fair = u64::MAX - u64::MAX % n;
        loop {
            let drawn = self.0.next_u64();
            if drawn < fair {
                return drawn % n;
            }
        }
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits: every value is exact.
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Fisher-Yates from the end.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1);
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut items: Vec<u32> = (0..8).collect();
        Stream::new(42, "test").shuffle(&mut items);
        assert_eq!(items, STREAM_42);
        assert_ne!(Stream::new(42, "a").unit(), Stream::new(42, "b").unit());
        assert_ne!(Stream::new(1, "a").unit(), Stream::new(2, "a").unit());
    }

    const STREAM_42: [u32; 8] = [0, 2, 6, 3, 7, 4, 5, 1];

    #[test]
    fn every_order_of_three_comes_up_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            let mut items = [0, 1, 2];
            Stream::new(seed, "three").shuffle(&mut items);
            *counts.entry(items).or_insert(0_i32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|n| (n - 1000).abs() < 150), "{counts:?}");
    }
}
