//! What separates successful attacks from benign episodes, literally.

use std::collections::{BTreeMap, BTreeSet};

use evosafe_types::{Evidence, Family};
use serde_json::Value;

use crate::criticizer::vocabulary::words;

/// Words of a mined phrase.
const PHRASE_WORDS: usize = 5;

/// Lengths of a value worth knowing, in characters.
const VALUE_LENGTH: std::ops::RangeInclusive<usize> = 4..=80;

/// Counts over successful attacks, and what benign episodes hold.
#[derive(Debug, Default)]
pub(super) struct Contrast {
    values: BTreeMap<String, usize>,
    tools: BTreeMap<String, usize>,
    phrases: BTreeMap<String, usize>,
    numbers: BTreeMap<String, Vec<f64>>,
    benign: Benign,
}

#[derive(Debug, Default)]
struct Benign {
    values: BTreeSet<String>,
    tools: BTreeSet<String>,
    phrases: BTreeSet<String>,
    most: BTreeMap<String, f64>,
}

impl Contrast {
    pub(super) fn of(evidence: &[Evidence]) -> Self {
        let mut contrast = Self::default();
        for episode in evidence.iter().filter(|e| e.family == Family::Benign) {
            contrast.benign(episode);
        }
        for episode in evidence.iter().filter(|e| e.outcome.attack_success() == Some(true)) {
            contrast.attack(episode);
        }
        contrast
    }

    fn benign(&mut self, episode: &Evidence) {
        self.benign.values.insert(episode.transcript.instruction.to_lowercase());
        for call in episode.transcript.calls() {
            self.benign.tools.insert(call.proposed.tool.clone());
            for (name, value) in &call.proposed.arguments {
                leaves(value, &mut |leaf| match leaf {
                    Leaf::Text(text) => {
                        self.benign.values.insert(text.to_lowercase());
                    }
                    Leaf::Number(n) => {
                        let most = self.benign.most.entry(name.clone()).or_insert(f64::MIN);
                        *most = most.max(n);
                    }
                });
            }
            if let Some(result) = &call.result {
                self.benign.phrases.extend(phrases(&result.content));
            }
        }
    }

    /// Each thing counts once an episode.
    fn attack(&mut self, episode: &Evidence) {
        let mut values = BTreeSet::new();
        let mut tools = BTreeSet::new();
        let mut said = BTreeSet::new();
        for call in episode.transcript.calls() {
            tools.insert(call.proposed.tool.clone());
            for (name, value) in &call.proposed.arguments {
                leaves(value, &mut |leaf| match leaf {
                    Leaf::Text(text) if VALUE_LENGTH.contains(&text.chars().count()) => {
                        values.insert(text.to_owned());
                    }
                    Leaf::Text(_) => {}
                    Leaf::Number(n) => self.numbers.entry(name.clone()).or_default().push(n),
                });
            }
            if let Some(result) = &call.result {
                said.extend(phrases(&result.content));
            }
        }
        for (map, found) in
            [(&mut self.values, values), (&mut self.tools, tools), (&mut self.phrases, said)]
        {
            for item in found {
                *map.entry(item).or_default() += 1;
            }
        }
    }

    /// The most frequent values that no benign call or request holds.
    pub(super) fn values(&self, most: usize) -> Vec<String> {
        let known = |value: &str| {
            let lower = value.to_lowercase();
            self.benign.values.iter().any(|b| b.contains(&lower))
        };
        top(&self.values, most, |value| !known(value))
    }

    /// The most frequent tools that no benign episode uses.
    pub(super) fn tools(&self, most: usize) -> Vec<String> {
        top(&self.tools, most, |tool| !self.benign.tools.contains(tool))
    }

    /// The most frequent phrases of results that no benign result holds.
    pub(super) fn phrases(&self, most: usize) -> Vec<String> {
        top(&self.phrases, most, |phrase| !self.benign.phrases.contains(phrase))
    }

    /// Arguments with the least number that attacks and not benign episodes reach.
    pub(super) fn thresholds(&self) -> Vec<(String, f64)> {
        self.numbers
            .iter()
            .filter_map(|(name, numbers)| {
                let most = self.benign.most.get(name).copied().unwrap_or(0.0);
                let above = numbers.iter().copied().filter(|n| *n > most);
                Some((name.clone(), above.min_by(f64::total_cmp)?))
            })
            .collect()
    }
}

enum Leaf<'a> {
    Text(&'a str),
    Number(f64),
}

fn leaves<'a>(value: &'a Value, visit: &mut impl FnMut(Leaf<'a>)) {
    match value {
        Value::String(text) => visit(Leaf::Text(text)),
        Value::Number(n) => n.as_f64().into_iter().for_each(|n| visit(Leaf::Number(n))),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, visit)),
        Value::Object(map) => map.values().for_each(|item| leaves(item, visit)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn phrases(text: &str) -> Vec<String> {
    words(text).windows(PHRASE_WORDS).map(|w| w.join(" ")).collect()
}

fn top(
    counts: &BTreeMap<String, usize>,
    most: usize,
    wanted: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut found: Vec<(&String, usize)> =
        counts.iter().filter(|(item, _)| wanted(item)).map(|(item, n)| (item, *n)).collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    found.into_iter().take(most).map(|(item, _)| item.clone()).collect()
}
