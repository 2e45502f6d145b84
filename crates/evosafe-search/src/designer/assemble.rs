//! Putting a harness together from what each mechanism does alone: greedy cover of the rehearsed
//! attacks, twice where that is worth it, at the least cost in rehearsed work. It takes mechanisms for independent, which
//! they are not quite; the rehearsal of the draft and its episodes correct that.

use std::collections::BTreeMap;

use evosafe_types::MechanismUse;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::front::{Standing, Yardstick, count, escape};

/// Chance that a mechanism is on offer in one draft, so that drafts differ.
const ON_OFFER: f64 = 0.85;

/// The attack sessions, then the benign ones, that something steps into.
pub type StepsIn = (Vec<bool>, Vec<bool>);

/// What every mechanism does alone, with its default parameters: the rehearsed sessions that it
/// steps into.
#[derive(Debug, Clone, Default)]
pub struct Palette {
    /// By mechanism.
    pub steps_in: BTreeMap<String, StepsIn>,
    /// Attacker's goals that were reached undefended.
    pub kinds: usize,
}

/// What a set of mechanisms does together, if they are independent.
#[derive(Clone, Default)]
struct Cover {
    /// Mechanisms that step in, by attack session.
    lines: Vec<usize>,
    /// Whether one does, by benign session.
    disturbed: Vec<bool>,
    rules: usize,
}

impl Cover {
    fn with(&self, one: &StepsIn) -> Self {
        let mut next = self.clone();
        next.lines.resize(one.0.len(), 0);
        next.disturbed.resize(one.1.len(), false);
        next.lines.iter_mut().zip(&one.0).for_each(|(lines, hit)| *lines += usize::from(*hit));
        next.disturbed.iter_mut().zip(&one.1).for_each(|(all, hit)| *all |= hit);
        next.rules += 1;
        next
    }

    /// Predicted gain over H0 in points of merit.
    fn gain(&self, yardstick: &Yardstick, kinds: usize) -> f64 {
        let stopped: Vec<usize> = self.lines.iter().copied().filter(|lines| *lines > 0).collect();
        let disturbed = self.disturbed.iter().filter(|hit| **hit).count();
        let share = yardstick.asr() * count(stopped.len()) / count(self.lines.len().max(1));
        let lost = yardstick.utility() * count(disturbed) / count(self.disturbed.len().max(1));
        let standing = Standing { rules: count(self.rules), escape: escape(kinds, &stopped) };
        100.0 * (share - lost) - yardstick.cost(share, standing)
    }
}

impl Palette {
    /// Adds mechanisms to `genome` while one is worth it: while it adds to the predicted merit. That
    /// is so if it stops enough that nothing stops, or enough that only one rule stops, for what it
    /// disturbs and the price of a rule. Returns the names added.
    pub(super) fn assemble(
        &self,
        genome: &mut Vec<MechanismUse>,
        yardstick: &Yardstick,
        most: usize,
        rng: &mut ChaCha8Rng,
    ) -> Vec<String> {
        let mut cover = Cover::default();
        for used in genome.iter() {
            if let Some(one) = self.steps_in.get(&used.name) {
                cover = cover.with(one);
            }
        }
        // Drawn in name order, whatever comes of it: the same stream, the same offer.
        let mut offer: Vec<(&String, &StepsIn)> = self
            .steps_in
            .iter()
            .filter(|_| rng.random_bool(ON_OFFER))
            .filter(|(name, _)| genome.iter().all(|used| used.name != **name))
            .collect();
        let mut added = Vec::new();
        while genome.len() < most {
            let now = cover.gain(yardstick, self.kinds);
            let gains = offer.iter().map(|(_, one)| cover.with(one).gain(yardstick, self.kinds));
            let best = gains.enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a });
            let Some((at, _)) = best.filter(|(_, gain)| *gain > now) else { break };
            let (name, one) = offer.remove(at);
            cover = cover.with(one);
            genome.push(MechanismUse { name: name.clone(), params: BTreeMap::new() });
            added.push(name.clone());
        }
        added
    }
}

#[cfg(test)]
mod tests {
    use evosafe_types::{Rate, Score};
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn bits(text: &str) -> Vec<bool> {
        text.chars().map(|c| c == '1').collect()
    }

    fn palette() -> Palette {
        let rows = [
            ("wide", "111100", "0000"),
            ("other", "000011", "0000"),
            ("costly", "111111", "1111"),
            ("spare", "110000", "0000"),
            ("idle", "000000", "0000"),
        ];
        let steps_in = rows.map(|(name, a, b)| (name.to_owned(), (bits(a), bits(b))));
        Palette { steps_in: steps_in.into(), kinds: 18 }
    }

    /// All drafts that occur, over many streams.
    fn drafts(start: &[&str], rule_price: f64) -> std::collections::BTreeSet<Vec<String>> {
        let rate = |hits| Rate { hits, n: 10 };
        let reference = Score { utility: rate(9), indirect: rate(6), ..Score::default() };
        let yardstick = Yardstick { reference, rule_price, ..Yardstick::default() };
        (0..200)
            .map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let of = |name: &&str| MechanismUse {
                    name: (*name).to_owned(),
                    params: BTreeMap::new(),
                };
                let mut genome: Vec<MechanismUse> = start.iter().map(of).collect();
                palette().assemble(&mut genome, &yardstick, 4, &mut rng);
                genome.into_iter().map(|used| used.name).collect()
            })
            .collect()
    }

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).to_vec()
    }

    #[test]
    fn what_costs_more_than_it_stops_is_left_out() {
        let found = drafts(&[], 1.5);
        assert!(found.contains(&names(["wide", "other"])), "{found:?}");
        for draft in &found {
            assert!(!draft.iter().any(|name| name == "costly" || name == "idle"), "{draft:?}");
        }
        // Not on offer, something else takes its place.
        assert!(found.contains(&names(["other", "spare"])), "{found:?}");
    }

    #[test]
    fn a_rule_that_stops_less_than_its_price_is_left_out() {
        // `other` stops a third of 60 points, `wide` two thirds.
        let found = drafts(&[], 25.0);
        assert!(found.contains(&names(["wide"])), "{found:?}");
        assert!(!found.iter().flatten().any(|name| name == "other"), "{found:?}");
    }

    #[test]
    fn a_second_line_is_added_for_less_than_new_goals_would_take() {
        // `spare` stops a third of 60 points once more, of which a twentieth would have slipped.
        let all = names(["wide", "other", "spare"]);
        assert!(drafts(&["wide"], 0.9).contains(&all));
        assert!(!drafts(&["wide"], 1.0).contains(&all));
    }
}
