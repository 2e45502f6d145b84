//! Luck: draws keyed by (profile, task, seed, purpose), so that two candidates meet the
//! same luck in the same task, whatever happened before.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The draws of one episode.
#[derive(Debug, Clone)]
pub(super) struct Luck {
    key: [u8; 32],
}

fn add(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

impl Luck {
    /// The draws named by these parts.
    pub(super) fn new(profile: &str, task: &str, seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        add(&mut hasher, b"luck");
        add(&mut hasher, profile.as_bytes());
        add(&mut hasher, task.as_bytes());
        add(&mut hasher, &seed.to_le_bytes());
        Self { key: *hasher.finalize().as_bytes() }
    }

    /// Uniform in [0, 1), always the same for the same purpose.
    pub(super) fn draw(&self, purpose: &str) -> f64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        add(&mut hasher, purpose.as_bytes());
        let word = ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()).next_u32();
        f64::from(word) / 4_294_967_296.0
    }

    /// Whether something of this chance happens.
    pub(super) fn happens(&self, purpose: &str, chance: f64) -> bool {
        self.draw(purpose) < chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_do_not_depend_on_what_was_drawn_before() {
        let luck = Luck::new("p", "t", 1);
        let first = luck.draw("attack");
        luck.draw("other");
        assert!((luck.draw("attack") - first).abs() < f64::EPSILON);
        assert!((Luck::new("p", "t", 2).draw("attack") - first).abs() > f64::EPSILON);
    }

    #[test]
    fn chances_are_met() {
        let hits = (0..4000).filter(|s| Luck::new("p", "t", *s).happens("x", 0.3)).count();
        assert!((1100..1300).contains(&hits), "{hits}");
    }
}
