//! Randomness: every use draws from its own stream (design section 6).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream for (`run_seed`, `purpose`, `index`). Streams of different purposes or
/// indices are independent, so adding a draw in one place moves nothing elsewhere.
#[must_use]
pub fn stream(run_seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let hash = evosafe_types::ContentHash::of(&[
        &run_seed.to_le_bytes(),
        purpose.as_bytes(),
        &index.to_le_bytes(),
    ]);
    let mut seed = [0u8; 32];
    for (byte, pair) in seed.iter_mut().zip(hash.as_str().as_bytes().chunks(2)) {
        let digit = |c: u8| char::from(c).to_digit(16).unwrap_or(0) as u8;
        *byte = digit(pair[0]) << 4 | digit(pair[1]);
    }
    ChaCha8Rng::from_seed(seed)
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use super::stream;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(draw(1, "edit", 3), draw(1, "edit", 3));
        let others = [draw(2, "edit", 3), draw(1, "probe", 3), draw(1, "edit", 4)];
        assert!(others.iter().all(|&x| x != draw(1, "edit", 3)));
    }
}
