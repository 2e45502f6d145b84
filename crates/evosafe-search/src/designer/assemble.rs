//! Putting a harness together from what each mechanism does alone: greedy cover of the rehearsed
//! attacks at the least cost in rehearsed work. It takes mechanisms for independent, which
//! they are not quite; the rehearsal of the draft and its episodes correct that.

use std::collections::BTreeMap;

use evosafe_types::MechanismUse;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::front::Yardstick;

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
}

impl Palette {
    /// Adds mechanisms to `genome` while one is worth it: the part of H0's ASR that it newly
    /// stops exceeds the part of H0's utility that it newly disturbs and the price of a rule. With `deep`, also those
    /// that disturb nothing and stop what is stopped already: a second line for what the
    /// first sees only in these sessions. Returns the names added.
    pub(super) fn assemble(
        &self,
        genome: &mut Vec<MechanismUse>,
        yardstick: &Yardstick,
        most: usize,
        deep: bool,
        rng: &mut ChaCha8Rng,
    ) -> Vec<String> {
        let h0 = &yardstick.reference;
        let (asr, utility) = (h0.asr().value().unwrap_or(0.0), h0.utility.value().unwrap_or(0.0));
        let mut covered: Option<StepsIn> = None;
        for used in genome.iter() {
            if let Some(one) = self.steps_in.get(&used.name) {
                covered = Some(covered.map_or(one.clone(), |all| join(&all, one)));
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
        let mut add = |genome: &mut Vec<MechanismUse>, name: &str| {
            genome.push(MechanismUse { name: name.to_owned(), params: BTreeMap::new() });
            added.push(name.to_owned());
        };
        while genome.len() < most {
            let worth = |one: &StepsIn| {
                let new = |all: &[bool], one: &[bool]| {
                    let hits = all.iter().zip(one).filter(|(all, one)| **one && !**all).count();
                    share(hits, one.len())
                };
                let nothing = (vec![false; one.0.len()], vec![false; one.1.len()]);
                let all = covered.as_ref().unwrap_or(&nothing);
                asr * new(&all.0, &one.0)
                    - utility * new(&all.1, &one.1)
                    - yardstick.rule_price / 100.0
            };
            let best = offer
                .iter()
                .enumerate()
                .map(|(at, (_, one))| (at, worth(one)))
                .reduce(|a, b| if b.1 > a.1 { b } else { a });
            let Some((at, _)) = best.filter(|(_, worth)| *worth > 0.0) else { break };
            let (name, one) = offer.remove(at);
            covered = Some(covered.map_or(one.clone(), |all| join(&all, one)));
            add(genome, name);
        }
        if deep {
            let hits = |one: &[bool]| one.iter().filter(|hit| **hit).count();
            offer.retain(|(_, one)| hits(&one.1) == 0 && hits(&one.0) > 0);
            offer.sort_by_key(|(_, one)| std::cmp::Reverse(hits(&one.0)));
            for (name, _) in offer {
                if genome.len() < most {
                    add(genome, name);
                }
            }
        }
        added
    }
}

fn join(a: &StepsIn, b: &StepsIn) -> StepsIn {
    let or = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(x, y)| *x || *y).collect();
    (or(&a.0, &b.0), or(&a.1, &b.1))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn share(hits: usize, of: usize) -> f64 {
    hits as f64 / of.max(1) as f64
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
        Palette { steps_in: steps_in.into() }
    }

    /// All drafts that occur, over many streams.
    fn drafts(start: &[&str], deep: bool) -> std::collections::BTreeSet<Vec<String>> {
        priced(start, deep, 1.0)
    }

    fn priced(
        start: &[&str],
        deep: bool,
        rule_price: f64,
    ) -> std::collections::BTreeSet<Vec<String>> {
        let rate = |hits| Rate { hits, n: 10 };
        let reference = Score { utility: rate(9), indirect: rate(5), ..Score::default() };
        let yardstick = Yardstick { reference, rule_price, ..Yardstick::default() };
        (0..200)
            .map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let of = |name: &&str| MechanismUse {
                    name: (*name).to_owned(),
                    params: BTreeMap::new(),
                };
                let mut genome: Vec<MechanismUse> = start.iter().map(of).collect();
                palette().assemble(&mut genome, &yardstick, 4, deep, &mut rng);
                genome.into_iter().map(|used| used.name).collect()
            })
            .collect()
    }

    #[test]
    fn what_costs_more_than_it_stops_is_left_out() {
        let found = drafts(&[], false);
        assert!(found.contains(&vec!["wide".to_owned(), "other".to_owned()]), "{found:?}");
        for draft in &found {
            assert!(!draft.iter().any(|name| name == "costly" || name == "idle"), "{draft:?}");
        }
        // Not on offer, something else takes its place.
        assert!(found.contains(&vec!["other".to_owned(), "spare".to_owned()]), "{found:?}");
    }

    #[test]
    fn a_rule_that_stops_less_than_its_price_is_left_out() {
        // `other` stops a third of 50 points, `wide` two thirds.
        let found = priced(&[], false, 20.0);
        assert!(found.contains(&vec!["wide".to_owned()]), "{found:?}");
        assert!(!found.iter().flatten().any(|name| name == "other"), "{found:?}");
    }

    #[test]
    fn a_second_line_costs_nothing_and_is_asked_for() {
        let with = |deep| drafts(&["wide"], deep);
        assert!(!with(false).iter().any(|draft| draft.iter().any(|name| name == "spare")));
        let all = ["wide", "other", "spare"].map(str::to_owned).to_vec();
        assert!(with(true).contains(&all), "{:?}", with(true));
    }
}
