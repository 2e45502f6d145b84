//! Which attacks are made again in other words: those that no defence lets through and that a
//! mechanism stopped which the survivor adds.

use std::collections::BTreeSet;
use std::sync::Arc;

use evosafe_agent::Variant;
use evosafe_types::{Bundle, ContentHash, Evidence, TaskId};

use super::VariantRecord;
use crate::SearchError;
use crate::analyzer;
use crate::criticizer::corpus_of;
use crate::criticizer::probe::{Change, Session};
use crate::criticizer::vocabulary::CorpusTokens;
use crate::search::Search;
use crate::verdict::{Verdict, by_episode};

/// Attacks that are put otherwise for one mechanism, each in every way that has something to change.
const ATTACKS: usize = 2;

/// A variant that was just made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) variant: Arc<Variant>,
    pub(super) change: Change,
    /// What it is aimed at.
    pub(super) against: String,
}

impl Made {
    pub(super) fn record(&self) -> VariantRecord {
        VariantRecord {
            task: self.variant.task().id.clone(),
            base: self.variant.base().clone(),
            change: self.change,
            against: self.against.clone(),
            variation: self.variant.variation().clone(),
        }
    }
}

/// What a survivor adds.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    name: String,
    /// The rule that its refusals name; any, where a harness is code without named mechanisms.
    rule: Option<String>,
}

impl Target {
    fn stopped(&self, rules: &BTreeSet<&str>) -> bool {
        self.rule.as_deref().map_or(!rules.is_empty(), |rule| rules.contains(rule))
    }
}

/// What a harness has that its first parent has not.
fn added(bundle: &Bundle, parent: Option<&Bundle>) -> Vec<Target> {
    let mechanisms = &bundle.manifest.mechanisms;
    if mechanisms.is_empty() {
        let name = format!("code of {}", bundle.id().short());
        let own = bundle.code.is_some() || bundle.component.is_some();
        return own.then_some(Target { name, rule: None }).into_iter().collect();
    }
    let had = |name: &String| {
        parent.is_some_and(|p| p.manifest.mechanisms.iter().any(|m| m.name == *name))
    };
    let new = mechanisms.iter().map(|m| &m.name).filter(|name| !had(name));
    new.map(|name| Target { name: name.clone(), rule: Some(name.clone()) }).collect()
}

impl Search {
    /// At most `most` new variants of attacks that the survivor's mechanisms stopped.
    pub(super) fn variants_against(
        &self,
        survivor: usize,
        verdicts: &[Verdict],
        most: usize,
    ) -> Result<Vec<Made>, SearchError> {
        let member = &self.members[survivor];
        let parent = member.bundle.manifest.parents.first();
        let parent = self.members.iter().find(|m| Some(&m.id) == parent).map(|m| &m.bundle);
        let mut targets = added(&member.bundle, parent);
        targets.retain(|target| !self.adaptive.answered.contains(&target.name));
        let mut stopped: Vec<Vec<&TaskId>> = targets.iter().map(|_| Vec::new()).collect();
        let undefended = by_episode(&self.cascade.reference);
        for ours in verdicts {
            let open = undefended.get(&ours.episode()).and_then(|v| v.outcome.attack_success());
            if open != Some(true) || ours.outcome.attack_success() != Some(false) {
                continue;
            }
            let evidence = self.evaluator.evidence(&member.id, &ours.task, ours.seed)?;
            let Some(evidence) = evidence else { continue };
            let rules: BTreeSet<&str> = analyzer::blocks(&evidence).map(|(rule, _)| rule).collect();
            for (target, tasks) in targets.iter().zip(&mut stopped) {
                if target.stopped(&rules) && !tasks.contains(&&ours.task) {
                    tasks.push(&ours.task);
                }
            }
        }
        for (target, tasks) in targets.iter().zip(&mut stopped) {
            tasks.sort_by_key(|task| self.draw(&target.name, task).as_str().to_owned());
        }
        let mut made: Vec<Made> = Vec::new();
        // Everything that is new is attacked once before anything is attacked again.
        for round in 0..ATTACKS {
            for (target, tasks) in targets.iter().zip(&stopped) {
                let Some(task) = tasks.get(round) else { continue };
                for change in Change::ALL {
                    let known = |m: &Made| m.change == change && m.variant.base() == *task;
                    let old = self.adaptive.made.contains(&((*task).clone(), change));
                    if made.len() == most || old || made.iter().any(known) {
                        continue;
                    }
                    if let Some(variant) = self.variant(task, change) {
                        let (variant, against) = (Arc::new(variant), target.name.clone());
                        made.push(Made { variant, change, against });
                    }
                }
            }
        }
        Ok(made)
    }

    /// The attack of a train task after a change, made from the session in which no defence lost.
    fn variant(&self, task: &TaskId, change: Change) -> Option<Variant> {
        let lost = |e: &&Evidence| e.task == *task && e.outcome.attack_success() == Some(true);
        let evidence = self.h0_traces.iter().find(lost)?;
        // Train tasks are all that this process holds.
        let base = self.config.tasks.iter().find(|known| known.id == *task)?;
        let tools = self.config.environment.toolset(&base.suite).unwrap_or_default();
        let session = Session::of(evidence, tools);
        let draw = self.draw(change.as_str(), task);
        let seed = u64::from_str_radix(&draw.as_str()[..15], 16).unwrap_or(self.config.seed);
        let variation = change.variation(&session, self.tokens(), seed)?;
        Variant::new(base, change.as_str(), variation)
    }

    fn draw(&self, what: &str, task: &TaskId) -> ContentHash {
        let seed = self.config.seed.to_le_bytes();
        ContentHash::of(&[b"adaptive", what.as_bytes(), task.as_str().as_bytes(), &seed])
    }

    fn tokens(&self) -> &CorpusTokens {
        match &self.criticizer {
            Some(criticizer) => criticizer.corpus(),
            None => self
                .adaptive
                .tokens
                .get_or_init(|| corpus_of(&self.h0_traces, &self.config.environment)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evosafe_types::MechanismUse;

    use super::*;

    fn bundle(mechanisms: &[&str]) -> Bundle {
        let mut bundle = evosafe_spec::seeds().expect("built in").remove(0);
        let used = |name: &&str| MechanismUse { name: (*name).to_owned(), params: BTreeMap::new() };
        bundle.manifest.mechanisms = mechanisms.iter().map(used).collect();
        bundle
    }

    #[test]
    fn what_the_parent_has_is_not_new() {
        let names = |of: &Bundle, parent: Option<&Bundle>| -> Vec<String> {
            added(of, parent).into_iter().map(|target| target.name).collect()
        };
        let (old, new) = (bundle(&["a", "b"]), bundle(&["a", "c", "d"]));
        assert_eq!(names(&new, Some(&old)), ["c", "d"]);
        assert_eq!(names(&new, None), ["a", "c", "d"]);
        let mut code = bundle(&[]);
        assert_eq!(names(&code, None), [""; 0], "no defence adds nothing");
        code.code = Some("export const a = 1;".to_owned());
        let own = added(&code, Some(&old));
        assert!(own[0].stopped(&BTreeSet::from(["whatever it says"])));
        assert!(!own[0].stopped(&BTreeSet::new()));
    }
}
