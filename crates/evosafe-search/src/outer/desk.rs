//! Keeping what the Designer reads up to date: candidates, their traces and failures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use evosafe_spec::Mechanism;
use evosafe_types::{Evidence, Outcome, TaskId};
use serde_json::json;

use super::mix::Mix;
use super::predict;
use super::view::{TrainView, cut, folder};
use super::{Clusters, Outer, OuterModels, prompts, render, submit};
use crate::SearchError;
use crate::criticizer::probe::{self, Session};
use crate::criticizer::{suites_of, tools_of};
use crate::search::Search;
use crate::verdict::Verdict;
use evosafe_archive::ResultKind;

/// Sessions of no defence that a review may show.
const ATTACKS: usize = 16;
const GOALS: usize = 8;

impl Search {
    /// Sets up the outer roles, once H0 was run.
    pub(crate) fn open_outer(&mut self, h0: &[Verdict]) -> Result<(), SearchError> {
        let Some(models) = self.config.outer.clone() else { return Ok(()) };
        let environment = &self.config.environment;
        let (suites, tools) = (suites_of(environment), tools_of(environment));
        let suite = |e: &Evidence| suites.get(&e.task).cloned().unwrap_or_default();
        let named: Vec<(String, &Evidence)> =
            self.h0_traces.iter().map(|e| (suite(e), e)).collect();
        let episodes: Vec<(&str, &Evidence)> =
            named.iter().map(|(suite, e)| (suite.as_str(), *e)).collect();
        let chosen =
            |attack: bool, most: usize| probe::chosen(&episodes, attack, most, self.config.seed);
        let sessions = chosen(true, ATTACKS).into_iter().chain(chosen(false, GOALS));
        let sessions = sessions.map(|(suite, e)| {
            Arc::new(Session::of(e, tools.get(suite).map_or(&[][..], Vec::as_slice)))
        });
        let sessions = sessions.collect();
        self.outer = Some(Outer::new(models, self.static_view(), sessions, tools));
        self.show(0, h0)
    }

    /// Files that stay as they are.
    fn static_view(&self) -> TrainView {
        let mut view = TrainView::new(self.record.order.iter().cloned());
        view.put("spec.md", self.config.plan.spec_md.clone());
        view.put("experiences.md", evosafe_spec::experiences());
        view.put("harness-abi.md", prompts::ABI);
        let replayed = self.config.victim.is_replay();
        let library = &self.config.library;
        view.put("mechanisms/INDEX.md", submit::index(library, replayed));
        for mechanism in library.iter().filter(|m| !replayed || m.acts.measured_by_replay()) {
            view.put(format!("mechanisms/{}.js", mechanism.name), source(mechanism));
        }
        view
    }

    /// Shows a candidate's files, and what became of the tasks it was run on. Nothing but
    /// episodes of train tasks gets in.
    pub(crate) fn show(&mut self, index: usize, verdicts: &[Verdict]) -> Result<(), SearchError> {
        if self.outer.is_none() {
            return Ok(());
        }
        let reference = self.undefended();
        let Some(outer) = &mut self.outer else { return Ok(()) };
        let member = &self.members[index];
        let folder = folder(&member.id);
        for (name, bytes) in evosafe_spec::bundle_to_files(&member.bundle) {
            if let Ok(text) = String::from_utf8(bytes) {
                outer.view.put(format!("{folder}/{name}"), text);
            }
        }
        let parent = member.bundle.manifest.parents.first();
        if let Some(parent) = self.members.iter().find(|m| Some(&m.id) == parent) {
            let text = |of: &Option<String>| of.clone().unwrap_or_default();
            let (old, new) = (&parent.bundle, &member.bundle);
            let diff = render::diff("POLICY.md", &text(&old.policy), &text(&new.policy))
                + &render::diff("harness.js", &text(&old.code), &text(&new.code));
            outer.view.put(format!("{folder}/changes.diff"), diff);
        }
        let undefended: BTreeMap<_, &Outcome> =
            reference.iter().map(|v| (v.episode(), &v.outcome)).collect();
        let (mut table, mut clusters) = (BTreeMap::new(), Clusters::new());
        for verdict in verdicts {
            if !outer.view.knows(&verdict.task) {
                continue;
            }
            let evidence = self.evaluator.evidence(&member.id, &verdict.task, verdict.seed)?;
            let Some(evidence) = evidence else { continue };
            let h0 = undefended.get(&verdict.episode()).copied();
            let rollout =
                if verdict.seed == 0 { String::new() } else { format!(".{}", verdict.seed) };
            let path = format!("{folder}/traces/{}{rollout}.md", verdict.task);
            outer.view.put(path.clone(), render::trace(&evidence, h0));
            if let Some(cluster) = render::cluster(&evidence, h0) {
                clusters.entry(cluster).or_default().push((path, verdict.task.clone()));
            }
            let row: &mut [u32; 4] = table
                .entry(format!("{}/{}", evidence.family.as_str(), evidence.category))
                .or_default();
            row[0] += 1;
            row[1] += u32::from(evidence.outcome.task_success() == Some(true));
            row[2] += u32::from(evidence.outcome.attack_success() == Some(true));
            row[3] += u32::from(h0.and_then(Outcome::attack_success) == Some(true));
        }
        let mut outcomes = String::from(
            "| family/category | episodes | user's goal reached | attacks that succeed | undefended |\n|---|---|---|---|---|\n",
        );
        for (channel, [n, goals, attacks, open]) in table {
            let _ = writeln!(outcomes, "| {channel} | {n} | {goals} | {attacks} | {open} |");
        }
        let paths = clusters
            .iter()
            .map(|(name, all)| (name.clone(), all.iter().map(|(path, _)| path.clone()).collect()));
        let failures = render::clusters(&paths.collect());
        outer.view.put(format!("{folder}/failures.md"), format!("{outcomes}\n{failures}"));
        outer.outcomes.insert(member.id.clone(), (outcomes, clusters));
        Ok(())
    }

    /// Holds predictions against what came of them.
    pub(super) fn score_predictions(&mut self, index: usize) -> Result<(), SearchError> {
        let id = self.members[index].id.clone();
        let Some(outer) = &mut self.outer else { return Ok(()) };
        let Some(pending) = outer.predictions.remove(&id) else { return Ok(()) };
        let parent = self.members[index].bundle.manifest.parents.first().cloned();
        let Some(parent) = parent else { return Ok(()) };
        let (parent, ours) = (self.rates(&parent)?, self.rates(&id)?);
        let scored = predict::scored(&pending.predicted, &parent, &ours);
        let line = predict::line(id.short(), &pending.hypothesis, &scored);
        let body = json!({ "predicted": pending.predicted, "scored": scored });
        self.result(&id, ResultKind::Prediction, body)?;
        if let Some(outer) = &mut self.outer {
            outer.fared.push_str(&line);
        }
        Ok(())
    }

    /// Outcomes of a candidate on the search prefix, as far as it was run.
    fn rates(&self, id: &evosafe_types::CandidateId) -> Result<predict::Rates, SearchError> {
        let mut outcomes: Vec<(TaskId, Outcome)> = Vec::new();
        let corpus = &self.cascade.corpus;
        for task in corpus.prefix(evosafe_types::Stage::Search).iter().chain(&corpus.variants) {
            for seed in 0..self.evaluator.rollouts() {
                let key = self.evaluator.key(id, task, seed);
                let outcome = self.config.archive.outcome(&key)?;
                outcomes.extend(outcome.map(|(outcome, _)| (task.clone(), outcome)));
            }
        }
        Ok(predict::rates(outcomes.iter().map(|(task, outcome)| (task.clone(), outcome))))
    }
}

impl Outer {
    /// Lets the roles read about variants of train tasks.
    pub(crate) fn admit(&mut self, variants: Vec<TaskId>) {
        self.view.admit(variants);
    }

    fn new(
        models: OuterModels,
        view: TrainView,
        sessions: Vec<Arc<Session>>,
        tools: BTreeMap<String, Vec<evosafe_types::ToolSpec>>,
    ) -> Self {
        Self {
            mix: Mix::new(&models.mixed),
            models,
            view,
            sessions,
            tools,
            outcomes: BTreeMap::new(),
            predictions: BTreeMap::new(),
            fared: String::new(),
            failed: String::new(),
            proposed: Vec::new(),
            audits: BTreeMap::new(),
        }
    }
}

/// A mechanism as its author wrote it, as far as it matters to who composes.
fn source(mechanism: &Mechanism) -> String {
    let channels = serde_json::to_string(&mechanism.channels).unwrap_or_default();
    let mut text =
        format!("// {}\n// Litmus: {}\n// For: {channels}\n", mechanism.summary, mechanism.litmus);
    for param in &mechanism.params {
        let _ = writeln!(text, "// params.{}: {}", param.name, cut(&format!("{param:?}"), 400));
    }
    if let Some(policy) = &mechanism.policy {
        let _ = writeln!(text, "/* POLICY.md:\n{policy}\n*/");
    }
    text.push_str(&mechanism.body);
    text
}
