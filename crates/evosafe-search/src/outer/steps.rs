//! Where the outer roles step into the loop.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use evosafe_archive::ResultKind;
use evosafe_sandbox::Harness;
use evosafe_types::{Bundle, CandidateId, Event};
use serde_json::json;

use super::command::Workshop;
use super::design::{Attempt, Desk, Slot};
use super::note::{self, Look};
use super::packet::{self, Scope};
use super::review::{Review, Reviewer};
use super::submit::{Submission, Terms};
use super::view::cut;
use super::{Outer, Pending, prompts, render};
use crate::SearchError;
use crate::criticizer::Verdict;
use crate::designer::{DesignerKind, Operator, Proposal};
use crate::search::Search;

/// Clusters of failures, traces of each, and characters of a trace, that the Analyzer is shown.
pub(super) const CLUSTERS: usize = 5;
pub(super) const EXAMPLES: usize = 2;
pub(super) const TRACE: usize = 4000;

/// What a model must know where the victim is a recording.
const REPLAY: &str = "The victim is replayed from recorded runs: only what stops or changes a call is measured. Policy \
text, rewritten results and recovery after a refusal have no effect.\n\n";

impl Search {
    /// One attempt of a model or a coding agent as Designer.
    pub(crate) async fn design(
        &mut self,
        by: DesignerKind,
        index: u64,
    ) -> Result<Option<Proposal>, SearchError> {
        self.refresh();
        let Some(outer) = &self.outer else { return Ok(None) };
        let slot = Slot { index, round: 0 };
        let mut proposed = String::new();
        if !outer.proposed.is_empty() {
            proposed.push_str("\nProposed and not evaluated yet (do something else):\n");
            for edit in &outer.proposed {
                let _ = writeln!(proposed, "- {edit}");
            }
        }
        if by == DesignerKind::Command {
            let task = self.folder_task(slot, &format!("Propose a new candidate.\n{proposed}"));
            return self.attempt(by, slot, task).await;
        }
        let file = |path: &str| outer.view.file(path).unwrap_or_default().to_owned();
        let leaderboard = file("leaderboard.md") + &proposed;
        let task = prompts::fill(
            prompts::PROPOSE,
            &[
                ("name", &self.config.plan.name),
                ("slot", &index.to_string()),
                ("replay", if self.config.victim.is_replay() { REPLAY } else { "" }),
                ("leaderboard", &leaderboard),
                ("notes", &file("experiences/log.md")),
            ],
        );
        self.attempt(by, slot, task).await
    }

    /// `TASK.md` of a prepared folder.
    fn folder_task(&self, slot: Slot, assignment: &str) -> String {
        let agent = self.outer.as_ref().and_then(|outer| outer.models.command.as_ref());
        let seconds = agent.map_or(0, |agent| agent.time_limit.as_secs());
        let round =
            if slot.round == 0 { String::new() } else { format!(", repair {}", slot.round) };
        let cost = agent.and_then(|agent| agent.cost_limit);
        let cost = cost.map_or(String::new(), |usd| {
            format!(
                " It may cost {} US dollars: see to it that it does not cost more.",
                usd.dollars()
            )
        });
        prompts::fill(
            prompts::COMMAND,
            &[
                ("name", &self.config.plan.name),
                ("slot", &slot.index.to_string()),
                ("round", &round),
                ("replay", if self.config.victim.is_replay() { REPLAY } else { "" }),
                ("assignment", assignment),
                ("seconds", &seconds.to_string()),
                ("cost", &cost),
            ],
        )
    }

    /// The same Designer's repair of a candidate that was flagged.
    pub(crate) async fn redesign(
        &mut self,
        by: DesignerKind,
        flagged: &Proposal,
        verdict: &Verdict,
        index: u64,
        round: u32,
    ) -> Result<Option<Proposal>, SearchError> {
        let bundle = &flagged.bundle;
        let parent = bundle.manifest.parents.first().map_or("h0", CandidateId::short);
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "(none)".to_owned());
        let (slot, is_command) = (Slot { index, round }, by == DesignerKind::Command);
        let task = prompts::fill(
            if is_command { prompts::COMMAND_REPAIR } else { prompts::REPAIR },
            &[
                ("name", &self.config.plan.name),
                ("slot", &index.to_string()),
                ("round", &round.to_string()),
                ("replay", if self.config.victim.is_replay() { REPLAY } else { "" }),
                ("parent", parent),
                ("verdict", &verdict.text),
                ("policy", &or_none(&bundle.policy)),
                ("code", &or_none(&bundle.code)),
            ],
        );
        let task = if is_command { self.folder_task(slot, &task) } else { task };
        self.attempt(by, slot, task).await
    }

    async fn attempt(
        &mut self,
        by: DesignerKind,
        slot: Slot,
        task: String,
    ) -> Result<Option<Proposal>, SearchError> {
        let Some(outer) = &self.outer else { return Ok(None) };
        let classifier = self.config.victim.free_classifier();
        let is_train = |task: &evosafe_types::TaskId| outer.view.knows(task);
        let (evaluator, sandbox, view) = (&*self.evaluator, &self.cascade.sandbox, &outer.view);
        let terms = Terms {
            members: &self.members,
            known: &self.known,
            library: &self.config.library,
            limits: &self.config.plan.limits,
            action_level_only: self.config.victim.is_replay(),
            is_train: &is_train,
            name: match slot.round {
                0 => format!("{}-{}", by.as_str(), slot.index),
                round => format!("{}-{}-{round}", by.as_str(), slot.index),
            },
            author: by.as_str(),
        };
        let models = &outer.models;
        let Attempt { result, cost } = match (by, &models.command, &models.designer) {
            (DesignerKind::Command, Some(agent), _) => {
                Workshop { agent, evaluator, sandbox, view, terms }.attempt(slot, &task).await?
            }
            (DesignerKind::Llm, _, Some(client)) => {
                let classifier = &classifier;
                let desk = Desk { client, evaluator, sandbox, classifier, view, terms };
                desk.attempt(slot, task).await?
            }
            _ => return Ok(None),
        };
        self.tried(by, slot.round == 0, cost.usd.unwrap_or_default());
        let about = json!({
            "by": by.as_str(), "slot": slot.index, "round": slot.round, "cost": cost,
        });
        match result {
            Ok(submission) => {
                let id = submission.bundle.id();
                let edit = submission.bundle.manifest.edit.clone();
                self.enter(&submission.bundle, &edit)?;
                let mut body = about;
                body["hypothesis"] = json!(submission.hypothesis);
                body["predicted"] = json!(submission.predicted);
                self.result(&id, ResultKind::Attempt, body)?;
                if let Some(outer) = &mut self.outer {
                    let Submission { hypothesis, predicted, .. } = submission.clone();
                    outer.predictions.insert(id, Pending { hypothesis, predicted });
                    outer.proposed.push(edit);
                }
                Ok(Some(Proposal {
                    bundle: submission.bundle,
                    operator: Operator::Write,
                    touched: Vec::new(),
                }))
            }
            Err(why) => {
                let why = cut(&why, 600);
                let mut body = about;
                body["failed"] = json!(why);
                let h0 = self.members[0].id.clone();
                let fresh = self.result(&h0, ResultKind::Attempt, body)?;
                let message = format!("attempt {} of the Designer failed: {why}", slot.index);
                self.evaluator.emit(&Event::Warning { message }, fresh)?;
                if let Some(outer) = &mut self.outer {
                    let _ = writeln!(outer.failed, "- attempt {}: {why}", slot.index);
                }
                Ok(None)
            }
        }
    }

    /// Puts the files in that change from attempt to attempt.
    fn refresh(&mut self) {
        let mut ranked: Vec<usize> = (0..self.members.len()).collect();
        let points = |i: usize| {
            let member = &self.members[i];
            let points = member.counted().points();
            (member.is_current() || i == 0, points.unwrap_or(f64::NEG_INFINITY))
        };
        ranked.sort_by(|&a, &b| {
            let (x, y) = (points(a), points(b));
            y.0.cmp(&x.0).then(y.1.total_cmp(&x.1)).then(a.cmp(&b))
        });
        let leaderboard = render::leaderboard(&self.members, &ranked);
        let log = note::text(&self.record.experiences);
        let Some(outer) = &mut self.outer else { return };
        outer.view.put("leaderboard.md", leaderboard);
        outer.view.put("experiences/log.md", log);
        outer.view.put("predictions.md", outer.fared.clone());
        outer.view.put("attempts.md", outer.failed.clone());
    }

    /// Lets the Designer read a verdict.
    pub(crate) fn show_verdict(&mut self, id: &CandidateId, text: &str) {
        if let Some(outer) = &mut self.outer {
            outer.view.put(format!("{}/verdict.md", super::view::folder(id)), text);
        }
    }

    /// What the model says of a candidate that static analysis and probe let pass.
    pub(crate) async fn second_opinion(
        &self,
        bundle: &Bundle,
        harness: Option<&Harness>,
        verdict: &mut Verdict,
    ) -> Result<(), SearchError> {
        let Some(review) = self.reviewed(bundle, harness, Scope::Change).await? else {
            return Ok(());
        };
        verdict.text.push_str(&review.words());
        verdict.flagged |= review.flags();
        if let Some(claim) = review.claim.as_ref().filter(|_| review.flags()) {
            let guilty = bundle.manifest.mechanisms.iter().find(|m| m.name == claim.rule);
            verdict.mechanisms.extend(guilty.map(|m| m.name.clone()));
        }
        verdict.review = Some(review);
        Ok(())
    }

    /// The model's audit of a whole candidate before it may win.
    pub(crate) async fn audit(&mut self, bundle: &Bundle) -> Result<(), SearchError> {
        let harness = self.cascade.sandbox.prepare(bundle).ok();
        let Some(review) = self.reviewed(bundle, harness.as_ref(), Scope::Whole).await? else {
            return Ok(());
        };
        let id = bundle.id();
        let body = json!({ "flagged": review.flags(), "text": review.words(), "audit": review });
        self.result(&id, ResultKind::Verdict, body)?;
        if let Some(outer) = &mut self.outer {
            outer.audits.insert(id, review);
        }
        Ok(())
    }

    /// Why the audit speaks against a candidate.
    pub(crate) fn audit_objections(&self, id: &CandidateId) -> Vec<String> {
        let audit = self.outer.as_ref().and_then(|outer| outer.audits.get(id));
        let flagged =
            audit.filter(|review| review.flags()).and_then(|review| review.claim.as_ref());
        flagged
            .map(|claim| {
                format!("audit: {} falls to a change that its own hooks confirm", claim.rule)
            })
            .into_iter()
            .collect()
    }

    async fn reviewed(
        &self,
        bundle: &Bundle,
        harness: Option<&Harness>,
        scope: Scope,
    ) -> Result<Option<Review>, SearchError> {
        let Some(outer) = &self.outer else { return Ok(None) };
        let Some(client) = &outer.models.criticizer else { return Ok(None) };
        let classifier = self.config.victim.free_classifier();
        let parent = bundle.manifest.parents.first();
        let parent = self.members.iter().find(|m| Some(&m.id) == parent).map(|m| &m.bundle);
        let parents = parent.and_then(|parent| self.cascade.sandbox.prepare(parent).ok());
        let packet = packet::packet(
            bundle,
            harness,
            parent.map(|parent| (parent, parents.as_ref())),
            &outer.sessions,
            scope,
            &classifier,
        )
        .await;
        let reviewer = Reviewer {
            client,
            evaluator: &self.evaluator,
            classifier: &classifier,
            spec_md: &self.config.plan.spec_md,
            tools: &outer.tools,
        };
        reviewer.review(&bundle.id(), harness, &packet, scope).await.map(Some)
    }

    /// After a batch: predictions are scored and the Analyzer looks at what is new, in the order
    /// of the candidates. `from` is the first new one.
    pub(crate) async fn learn_from(&mut self, from: usize) -> Result<(), SearchError> {
        for index in from..self.members.len() {
            self.score_predictions(index)?;
        }
        self.settle_mix(from)?;
        if let Some(outer) = &mut self.outer {
            outer.proposed.clear();
        }
        for index in from..self.members.len() {
            self.take_note(index).await?;
        }
        Ok(())
    }

    /// The Analyzer's note on a candidate.
    pub(crate) async fn take_note(&mut self, index: usize) -> Result<(), SearchError> {
        let Some(outer) = &self.outer else { return Ok(()) };
        let Some(client) = &outer.models.analyzer else { return Ok(()) };
        let member = &self.members[index];
        let Some(look) = outer.look(&member.id, &member.bundle.manifest.edit) else {
            return Ok(());
        };
        let note = note::note(client, &self.evaluator, &look, &self.record.experiences).await?;
        let Some(note) = note else { return Ok(()) };
        if note::add(&mut self.record.experiences, note) {
            self.save_record()?;
        }
        Ok(())
    }
}

impl Outer {
    /// What the Analyzer is shown of a candidate; `None` if nothing failed.
    fn look<'a>(&self, candidate: &'a CandidateId, edit: &str) -> Option<Look<'a>> {
        let (outcomes, clusters) = self.outcomes.get(candidate)?;
        if clusters.is_empty() {
            return None;
        }
        let mut sorted: Vec<_> = clusters.iter().collect();
        sorted.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
        let mut text = format!(
            "# Candidate {}\n\n{}\n\n# Outcomes\n\n{outcomes}\n# Failures\n",
            candidate.short(),
            if edit.is_empty() { "A seed." } else { edit }
        );
        let mut shown = BTreeSet::new();
        for (name, all) in sorted.into_iter().take(CLUSTERS) {
            let _ = writeln!(text, "\n## {} episodes: {name}", all.len());
            for (path, task) in all.iter().take(EXAMPLES) {
                shown.insert(task.clone());
                let trace = self.view.file(path).unwrap_or_default();
                let _ = writeln!(text, "\n### {task}\n\n{}", cut(trace, TRACE));
            }
        }
        Some(Look { candidate, text, shown })
    }
}
