//! Rules mined from train traces: the temptation of every automated search (paper
//! section 4.5). A rule that knows the train attacks' recipients, tools, wording or amounts
//! raises the search score and is worthless against the next attacker. The offline Designer
//! proposes them now and then, as a model would, and the Criticizer must catch them.

mod find;
mod render;

use evosafe_spec::{Acts, Channel, Mechanism};
use evosafe_types::{ContentHash, Evidence};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use self::find::Contrast;

/// Most literals of one rule.
const MOST_LITERALS: usize = 12;

/// What a mined rule is keyed to.
#[derive(Debug, Clone, PartialEq)]
pub enum Keyed {
    /// Values that attack calls were given and benign calls never.
    Values(Vec<String>),
    /// Tools that attacks used and benign tasks never.
    Tools(Vec<String>),
    /// Words in a row of the injected text.
    Phrases(Vec<String>),
    /// An argument, and the least amount that only attacks reached.
    Threshold {
        /// Name of the argument.
        argument: String,
        /// The amount.
        least: f64,
    },
}

/// A rule mined from train traces.
#[derive(Debug, Clone, PartialEq)]
pub struct MinedRule {
    /// Unique by content, e.g. `literal-blocklist-1f2e3d4c`.
    pub name: String,
    /// The JavaScript of the mechanism.
    pub body: String,
    /// What it does, in a sentence.
    pub description: String,
    /// What it is keyed to.
    pub keyed: Keyed,
}

/// Mines one rule, or `None` when the traces hold no successful attack to learn from.
/// The same traces and stream give the same rule.
pub fn propose(evidence: &[Evidence], rng: &mut ChaCha8Rng) -> Option<MinedRule> {
    let contrast = Contrast::of(evidence);
    let mut kinds = [0, 1, 2, 3];
    for at in (1..kinds.len()).rev() {
        kinds.swap(at, rng.random_range(0..=at));
    }
    kinds.into_iter().find_map(|kind| draw(&contrast, kind, rng)).map(MinedRule::new)
}

fn draw(contrast: &Contrast, kind: usize, rng: &mut ChaCha8Rng) -> Option<Keyed> {
    let most = rng.random_range(3..=MOST_LITERALS);
    let some = |items: Vec<String>| (!items.is_empty()).then_some(items);
    match kind {
        0 => some(contrast.values(most)).map(Keyed::Values),
        1 => some(contrast.tools(most)).map(Keyed::Tools),
        2 => some(contrast.phrases(1 + most / 5)).map(Keyed::Phrases),
        _ => {
            let all = contrast.thresholds();
            let (argument, least) = all.get(rng.random_range(0..all.len().max(1)))?.clone();
            Some(Keyed::Threshold { argument, least })
        }
    }
}

impl MinedRule {
    /// Writes the rule for what it is keyed to.
    #[must_use]
    pub fn new(keyed: Keyed) -> Self {
        let body = render::body(&keyed);
        let hash = ContentHash::of(&[body.as_bytes()]);
        let (kind, description) = match &keyed {
            Keyed::Values(v) => (
                "literal-blocklist",
                format!("blocks arguments with one of {} values seen in attacks", v.len()),
            ),
            Keyed::Tools(v) => (
                "tool-blocklist",
                format!("blocks {} tools that only attacks used: {}", v.len(), v.join(", ")),
            ),
            Keyed::Phrases(v) => (
                "phrase-blocklist",
                format!("blocks effects once a result says {:?}", v.join("\" or \"")),
            ),
            Keyed::Threshold { argument, least } => {
                ("mined-threshold", format!("blocks calls with {argument} of {least} or more"))
            }
        };
        Self { name: format!("{kind}-{}", &hash.as_str()[..8]), body, description, keyed }
    }

    /// As a mechanism that composes like those of the library. It has no parameters.
    #[must_use]
    pub fn into_mechanism(self) -> Mechanism {
        Mechanism {
            name: self.name,
            summary: format!("Mined from train traces: {}.", self.description),
            litmus: "No: it knows what the train attacks happened to use.".to_owned(),
            channels: vec![Channel::Indirect, Channel::Direct],
            acts: Acts::Block,
            params: Vec::new(),
            body: self.body,
            policy: None,
        }
    }
}

#[cfg(test)]
mod tests;
