//! Which of several Designers is given a slot: what they earn per dollar decides.

use evosafe_types::{Origin, Usd};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::SearchError;
use crate::designer::DesignerKind;
use crate::rng;
use crate::search::Search;

/// Dollars that are added to the mean cost of an attempt. It stands for what it takes to evaluate
/// a proposal, which costs whoever made it; and nothing is infinitely worth its price.
const FLOOR: f64 = 0.05;

/// What one Designer of a mixed search did and earned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DesignerShare {
    /// Which.
    pub designer: DesignerKind,
    /// Slots it was given, failed attempts and flagged proposals included.
    pub attempts: u32,
    /// Its candidates that beat their parents.
    pub improved: u32,
    /// What its attempts and repairs cost, as far as that is known, in billionths of a dollar.
    #[serde(rename = "nano_usd")]
    pub usd: Usd,
}

impl DesignerShare {
    /// How much it is drawn, against the others: the share of its attempts that paid off
    /// (one success and one failure are assumed) by its mean cost.
    fn weight(&self) -> f64 {
        let attempts = f64::from(self.attempts);
        let share = (f64::from(self.improved) + 1.0) / (attempts + 2.0);
        share / (self.usd.dollars() / attempts.max(1.0) + FLOOR)
    }
}

/// The Designers of a mixed search. What they did since the last batch is not counted before
/// the next one.
#[derive(Debug)]
pub(super) struct Mix {
    shares: Vec<DesignerShare>,
    /// Of the batch under way: who, whether it is another attempt, and what it cost.
    running: Vec<(DesignerKind, bool, Usd)>,
}

impl Mix {
    /// `None` if there is nothing to mix.
    pub(super) fn new(of: &[DesignerKind]) -> Option<Self> {
        let fresh =
            |&designer| DesignerShare { designer, attempts: 0, improved: 0, usd: Usd::ZERO };
        let shares: Vec<_> = of.iter().map(fresh).collect();
        (!shares.is_empty()).then_some(Self { shares, running: Vec::new() })
    }

    /// The Designer of a slot.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng) -> DesignerKind {
        let weights: Vec<f64> = self.shares.iter().map(DesignerShare::weight).collect();
        let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
        for (share, weight) in self.shares.iter().zip(&weights) {
            left -= weight;
            if left < 0.0 {
                return share.designer;
            }
        }
        // Rounding may leave a little.
        self.shares[self.shares.len() - 1].designer
    }

    /// Notes an attempt, or more cost of the last one.
    pub(super) fn tried(&mut self, designer: DesignerKind, another: bool, usd: Usd) {
        self.running.push((designer, another, usd));
    }

    /// Counts the batch: what was tried, and whose candidates beat their parents.
    pub(super) fn settle(&mut self, improved: impl IntoIterator<Item = DesignerKind>) {
        for (designer, another, usd) in std::mem::take(&mut self.running) {
            if let Some(share) = self.of(designer) {
                share.attempts += u32::from(another);
                share.usd += usd;
            }
        }
        for designer in improved {
            if let Some(share) = self.of(designer) {
                share.improved += 1;
            }
        }
    }

    fn of(&mut self, designer: DesignerKind) -> Option<&mut DesignerShare> {
        self.shares.iter_mut().find(|share| share.designer == designer)
    }

    /// What was counted so far.
    pub(super) fn shares(&self) -> &[DesignerShare] {
        &self.shares
    }
}

impl Search {
    /// The Designer of a slot: the search's, or the one that is drawn where several are mixed.
    pub(crate) fn designer_of(&self, index: u64) -> DesignerKind {
        match (self.config.designer, self.outer.as_ref().and_then(|outer| outer.mix.as_ref())) {
            (DesignerKind::Mixed, Some(mix)) => {
                mix.draw(&mut rng::stream(self.config.seed, "mixed", index))
            }
            (kind, _) => kind,
        }
    }

    /// Notes an attempt where several Designers are mixed, or more cost of the last one.
    pub(crate) fn tried(&mut self, by: DesignerKind, another: bool, usd: Usd) {
        if let Some(mix) = self.outer.as_mut().and_then(|outer| outer.mix.as_mut()) {
            mix.tried(by, another, usd);
        }
    }

    /// Counts what the Designers of a mixed search did in a batch.
    pub(super) fn settle_mix(&mut self, from: usize) -> Result<(), SearchError> {
        let beat = (from..self.members.len()).filter(|&index| self.members[index].improved);
        let by = beat.filter_map(|index| match &self.members[index].bundle.manifest.origin {
            Origin::Designer(name) => DesignerKind::named(name),
            Origin::Seed => None,
        });
        let improved: Vec<DesignerKind> = by.collect();
        let Some(mix) = self.outer.as_mut().and_then(|outer| outer.mix.as_mut()) else {
            return Ok(());
        };
        mix.settle(improved);
        self.record.designers = mix.shares().to_vec();
        self.save_record()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    const OF: [DesignerKind; 3] = [DesignerKind::Offline, DesignerKind::Llm, DesignerKind::Command];

    fn usd(dollars: f64) -> Usd {
        Usd::from_dollars(dollars).expect("an amount")
    }

    #[test]
    fn weights_are_success_by_cost() {
        let share = |attempts, improved, dollars| DesignerShare {
            designer: DesignerKind::Llm,
            attempts,
            improved,
            usd: usd(dollars),
        };
        // (improved + 1) / (attempts + 2) / (dollars / attempts + 0.05), by hand.
        for (share, expected) in [
            (share(0, 0, 0.0), 10.0),
            (share(8, 1, 0.0), 4.0),
            (share(2, 1, 0.3), 2.5),
            (share(8, 4, 3.6), 1.0),
            (share(4, 0, 1.8), 1.0 / 3.0),
        ] {
            assert!((share.weight() - expected).abs() < 1e-9, "{share:?}: {}", share.weight());
        }
    }

    #[test]
    fn a_batch_counts_when_it_is_over() {
        let mut mix = Mix::new(&OF).expect("three");
        let equal: Vec<f64> = mix.shares().iter().map(DesignerShare::weight).collect();
        mix.tried(DesignerKind::Llm, true, usd(0.2));
        mix.tried(DesignerKind::Llm, false, usd(0.3));
        mix.tried(DesignerKind::Offline, true, Usd::ZERO);
        let now: Vec<f64> = mix.shares().iter().map(DesignerShare::weight).collect();
        assert_eq!(now, equal);
        mix.settle([DesignerKind::Llm]);
        let counted: Vec<(u32, u32, Usd)> =
            mix.shares().iter().map(|s| (s.attempts, s.improved, s.usd)).collect();
        assert_eq!(counted, [(1, 0, Usd::ZERO), (1, 1, usd(0.5)), (0, 0, Usd::ZERO)]);
    }

    #[test]
    fn draws_follow_weights_and_repeat() {
        let mut mix = Mix::new(&OF).expect("three");
        // 4.0, 2.5 and 10.0 as above.
        for n in 0..8 {
            mix.tried(DesignerKind::Offline, true, Usd::ZERO);
            mix.tried(DesignerKind::Llm, n < 2, usd(0.3 / 8.0));
        }
        mix.settle([DesignerKind::Offline, DesignerKind::Llm]);
        let draw = |n| mix.draw(&mut stream(1, "test", n));
        let hits = |of| (0..3300).filter(|&n| draw(n) == of).count();
        let [offline, llm, command] = OF.map(hits);
        assert!((700..900).contains(&offline), "{offline}");
        assert!((420..580).contains(&llm), "{llm}");
        assert!((1900..2100).contains(&command), "{command}");
        assert_eq!(draw(7), draw(7));
    }
}
