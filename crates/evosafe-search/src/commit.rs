//! What a search finds in the archive, and writes to it as it goes.

use evosafe_archive::{Archive, ResultKind, ResultRecord};
use evosafe_types::{Bundle, CandidateId, ContentHash, Event};
use serde_json::json;

use crate::SearchError;
use crate::analyzer::{self, Failures};
use crate::cascade::CascadeReport;
use crate::designer::{Member, Standing};
use crate::search::Search;
use crate::verdict::{Verdict, score};

impl Search {
    /// Episodes of this search that the archive has.
    pub(crate) fn evidence_found(&self) -> Result<u64, SearchError> {
        let archive = &self.config.archive;
        let mut found = 0;
        for key in archive.evidence_keys()? {
            let paid_by = archive.outcome(&key)?.map(|(_, by)| by);
            found += u64::from(paid_by.as_ref() == Some(&self.run));
        }
        Ok(found)
    }

    /// Enters a bundle; says whether it is new to the archive.
    pub(crate) fn enter(&self, bundle: &Bundle, edit: &str) -> Result<bool, SearchError> {
        enter(&self.config.archive, bundle, edit)
    }

    /// Enters a bundle and says that it will be evaluated.
    pub(crate) fn propose(&self, bundle: &Bundle, edit: &str) -> Result<(), SearchError> {
        let fresh = self.enter(bundle, edit)?;
        let (candidate, name) = (bundle.id(), bundle.manifest.name.clone());
        self.evaluator.emit(&Event::Proposed { candidate, name, edit: edit.to_owned() }, fresh)
    }

    /// Enters a finished cascade into the archive and the list of members.
    pub(crate) async fn commit(
        &mut self,
        bundle: &Bundle,
        report: CascadeReport,
    ) -> Result<(), SearchError> {
        let mut standing = Standing::default();
        if report.search.is_some() && !bundle.is_no_defence() {
            let found = self.rehearsal.standing(bundle, &self.cascade.sandbox);
            standing = self.evaluator.unless_cancelled(found).await?;
            self.record.escapes.insert(report.candidate.clone(), standing.escape);
        }
        self.known.insert(bundle.behaviour());
        for (stage, outcome) in &report.stages {
            let body = json!({ "stage": stage, "outcome": outcome });
            let fresh = self.result(&report.candidate, ResultKind::Stage, body)?;
            self.evaluator.emit(
                &Event::StageFinished {
                    candidate: report.candidate.clone(),
                    stage: *stage,
                    outcome: outcome.clone(),
                },
                fresh,
            )?;
        }
        let all = [report.verdicts.as_slice(), &report.probes].concat();
        let failures = self.note(&report.candidate, &all)?;
        self.record.candidates.push(report.candidate.clone());
        self.members.push(Member {
            id: report.candidate,
            bundle: bundle.clone(),
            score: report.search.unwrap_or_else(|| score(&report.verdicts)),
            wide: None,
            behaviour: behaviour(&report.verdicts),
            failures,
            searched: report.search.is_some(),
            eligible: false,
            standing,
            expected_loss: 0.0,
            improved: false,
            probes: report.probes,
            stale: false,
        });
        let index = self.members.len() - 1;
        self.members[index].improved = self.beats_parent(index);
        self.enter_probes(index)?;
        self.show(index, &all)?;
        self.save_record()
    }

    pub(crate) fn note(
        &self,
        candidate: &CandidateId,
        verdicts: &[Verdict],
    ) -> Result<Failures, SearchError> {
        let reference = self.undefended();
        let failures = analyzer::analyse(&self.evaluator, candidate, verdicts, &reference)?;
        if !verdicts.is_empty() {
            let body = json!({
                "tasks": verdicts.len(), "text": failures.note(), "failures": failures,
            });
            self.result(candidate, ResultKind::Note, body)?;
        }
        Ok(failures)
    }

    /// Verdicts of H0 on the whole corpus, variants included.
    pub(crate) fn undefended(&self) -> Vec<Verdict> {
        let probes = self.members.first().map_or(&[][..], |h0| &h0.probes);
        [self.cascade.reference.as_slice(), probes].concat()
    }

    pub(crate) fn result(
        &self,
        candidate: &CandidateId,
        kind: ResultKind,
        body: serde_json::Value,
    ) -> Result<bool, SearchError> {
        let record = ResultRecord { kind, run: Some(self.run.clone()), body };
        Ok(self.config.archive.append_result(candidate, &record)?)
    }

    pub(crate) fn save_record(&self) -> Result<(), SearchError> {
        Ok(self.config.archive.put_run(&self.run, &self.record.to_value())?)
    }
}

/// Enters a bundle into an archive; says whether it is new to it.
pub(crate) fn enter(archive: &Archive, bundle: &Bundle, edit: &str) -> Result<bool, SearchError> {
    let id = bundle.id();
    if archive.has_candidate(&id)? {
        return Ok(false);
    }
    let files = evosafe_spec::bundle_to_files(bundle);
    let message = format!("{} {}\n\n{edit}\n", id.short(), bundle.manifest.name);
    archive.put_candidate(&files, &id, &bundle.manifest.parents, &message)?;
    Ok(true)
}

/// Hash of what a candidate did, task by task.
fn behaviour(verdicts: &[Verdict]) -> ContentHash {
    let lines: Vec<String> =
        verdicts.iter().map(|v| format!("{} {:?}", v.task, v.outcome)).collect();
    let parts: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    ContentHash::of(&parts)
}
