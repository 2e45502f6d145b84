//! Seeded draws for task generators. Every task has its own stream, so that adding a
//! template never changes the tasks that are there already.

use evosafe_types::Side;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A list of words or phrases for each side of the split. The two never share an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sided {
    /// What train tasks draw from.
    pub train: &'static [&'static str],
    /// What held-out tasks draw from.
    pub held: &'static [&'static str],
}

impl Sided {
    /// The list of a side.
    pub(crate) fn of(&self, side: Side) -> &'static [&'static str] {
        match side {
            Side::Train => self.train,
            Side::HeldOut => self.held,
        }
    }
}

/// A task's own stream of draws.
#[derive(Debug)]
pub(crate) struct Draw {
    rng: ChaCha8Rng,
    side: Side,
    turn: usize,
}

impl Draw {
    /// The stream named by `parts`.
    pub(crate) fn new(side: Side, parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self { rng: ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()), side, turn: 0 }
    }

    /// The same stream for the task that is number `turn` of its template, from 0.
    pub(crate) fn at_turn(self, turn: usize) -> Self {
        Self { turn, ..self }
    }

    /// Side of the split that is drawn for.
    pub(crate) fn side(&self) -> Side {
        self.side
    }

    /// Uniform in `0..n`; 0 for an empty range.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.rng.next_u64()) * (n as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// Uniform in `low..=high`, a multiple of `step` above `low`.
    pub(crate) fn range(&mut self, low: i64, high: i64, step: i64) -> i64 {
        let slots = usize::try_from((high - low) / step.max(1) + 1).unwrap_or(1);
        low + step * i64::try_from(self.below(slots)).unwrap_or(0)
    }

    /// One of the entries; the empty text for an empty list.
    pub(crate) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let index = self.below(list.len());
        list.get(index).copied().unwrap_or("")
    }

    /// One entry of this side's list.
    pub(crate) fn sided(&mut self, lists: &Sided) -> &'static str {
        self.pick(lists.of(self.side))
    }

    /// This side's list in a drawn order.
    pub(crate) fn shuffled(&mut self, lists: &Sided) -> Vec<&'static str> {
        let mut list = lists.of(self.side).to_vec();
        for i in (1..list.len()).rev() {
            let j = self.below(i + 1);
            list.swap(i, j);
        }
        list
    }

    /// The entry of this side's list whose turn it is, so that the tasks of a template
    /// differ as long as there are entries.
    pub(crate) fn in_turn(&self, lists: &Sided) -> &'static str {
        let list = lists.of(self.side);
        list.get(self.turn % list.len().max(1)).copied().unwrap_or("")
    }

    /// `n` decimal digits, the first not zero.
    pub(crate) fn digits(&mut self, n: usize) -> String {
        let first = 1 + self.below(9);
        let mut text = first.to_string();
        for _ in 1..n {
            text.push_str(&self.below(10).to_string());
        }
        text
    }
}

/// Fills `{key}` placeholders. Unknown placeholders stay, and a test finds them.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (key, value) in values {
        text = text.replace(&format!("{{{key}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_name() {
        let take = |parts: &[&str]| {
            let mut draw = Draw::new(Side::Train, parts);
            (0..8).map(|_| draw.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(take(&["a", "b"]), take(&["a", "b"]));
        assert_ne!(take(&["a", "b"]), take(&["ab", ""]));
    }

    #[test]
    fn ranges_hold_their_bounds() {
        let mut draw = Draw::new(Side::HeldOut, &["range"]);
        for _ in 0..500 {
            let n = draw.range(20, 60, 5);
            assert!((20..=60).contains(&n) && n % 5 == 0, "{n}");
        }
        assert_eq!(draw.below(0), 0);
        assert_eq!(draw.pick(&[]), "");
    }

    #[test]
    fn placeholders_are_filled() {
        assert_eq!(fill("buy {n} {s}", &[("n", "3"), ("s", "X")]), "buy 3 X");
    }
}
