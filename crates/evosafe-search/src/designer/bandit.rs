//! Operator choice learnt from what paid off: Thompson sampling on Beta posteriors.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Operator;

/// Wins and losses.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    wins: u32,
    losses: u32,
}

impl Record {
    fn push(&mut self, won: bool) {
        if won {
            self.wins += 1;
        } else {
            self.losses += 1;
        }
    }

    /// One draw from Beta(1 + wins, 1 + losses): the (wins + 1)-th smallest of
    /// wins + losses + 1 uniforms. Exact, and these counts are small.
    fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        let n = (self.wins + self.losses + 1) as usize;
        let mut uniforms: Vec<f64> = (0..n).map(|_| rng.random::<f64>()).collect();
        uniforms.sort_by(f64::total_cmp);
        uniforms[self.wins as usize]
    }
}

/// What has paid off so far, by operator and by mechanism.
#[derive(Debug, Clone, Default)]
pub struct Bandit {
    operators: BTreeMap<Operator, Record>,
    mechanisms: BTreeMap<String, Record>,
}

impl Bandit {
    /// Records whether an edit beat its parent.
    pub fn learn(&mut self, operator: Operator, touched: &[String], improved: bool) {
        self.operators.entry(operator).or_default().push(improved);
        for name in touched {
            self.mechanisms.entry(name.clone()).or_default().push(improved);
        }
    }

    /// The operator with the largest weighted draw. Operators of weight 0 are not
    /// available.
    pub fn operator(&self, weights: &[(Operator, f64)], rng: &mut ChaCha8Rng) -> Option<Operator> {
        best(weights.iter().map(|&(op, weight)| (op, weight, self.operators.get(&op))), rng)
    }

    /// The mechanism with the largest weighted draw.
    pub fn mechanism(&self, weights: &[(String, f64)], rng: &mut ChaCha8Rng) -> Option<String> {
        best(
            weights.iter().map(|(name, weight)| (name.clone(), *weight, self.mechanisms.get(name))),
            rng,
        )
    }
}

fn best<'a, T>(
    arms: impl Iterator<Item = (T, f64, Option<&'a Record>)>,
    rng: &mut ChaCha8Rng,
) -> Option<T> {
    let mut best: Option<(f64, T)> = None;
    for (arm, weight, record) in arms {
        let value = weight * record.copied().unwrap_or_default().draw(rng);
        if weight > 0.0 && best.as_ref().is_none_or(|(top, _)| value > *top) {
            best = Some((value, arm));
        }
    }
    best.map(|(_, arm)| arm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn what_pays_off_is_chosen_more_often() {
        let mut bandit = Bandit::default();
        for _ in 0..20 {
            bandit.learn(Operator::Tune, &[], true);
            bandit.learn(Operator::Drop, &[], false);
        }
        let weights = [(Operator::Tune, 1.0), (Operator::Drop, 1.0)];
        let tuned = (0..200)
            .filter(|&i| {
                bandit.operator(&weights, &mut stream(1, "test", i)) == Some(Operator::Tune)
            })
            .count();
        assert!(tuned > 190, "{tuned} of 200");
    }

    #[test]
    fn weight_zero_is_unavailable() {
        let bandit = Bandit::default();
        let mut rng = stream(1, "test", 0);
        assert_eq!(bandit.operator(&[(Operator::Add, 0.0)], &mut rng), None);
    }
}
