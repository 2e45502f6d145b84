//! Chains of records beside the candidates: results and runs.

use std::collections::HashSet;
use std::sync::PoisonError;

use evosafe_types::{CandidateId, RunId};
use git2::{ObjectType, Oid};
use serde_json::Value;

use crate::archive::{Archive, Writer};
use crate::error::{ArchiveError, Result};
use crate::format::{self, Document, ResultRecord, StoredResult, StoredRun};
use crate::journal::Kind;
use crate::layout::{RUNS, results_ref, run_ref};

/// Object id of a record; two are the very same if these are.
fn blob_id(bytes: &[u8]) -> std::result::Result<Oid, git2::Error> {
    Oid::hash_object(ObjectType::Blob, bytes)
}

impl Archive {
    /// Adds something learnt about a candidate. `false` if the very same record is there
    /// already, so a search that is run again adds nothing.
    ///
    /// # Errors
    /// If the candidate is not archived, or the write fails.
    pub fn append_result(&self, id: &CandidateId, record: &ResultRecord) -> Result<bool> {
        let writer = self.writer()?;
        let _deciding = writer.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.has_candidate(id)? {
            return Err(ArchiveError::NotFound { prefix: id.to_string() });
        }
        let stored = StoredResult::new(id, record);
        let bytes = self.store.understood("a new result", format::encode(&stored))?;
        let pending: Vec<_> = self.pending_results(id);
        self.append(writer, &results_ref(id), Kind::Result, &bytes, &pending)
    }

    /// All that was learnt about a candidate, oldest first.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn results(&self, id: &CandidateId) -> Result<Vec<ResultRecord>> {
        // The journal first: what moves over in between is seen twice and dropped below.
        let pending = self.pending_results(id);
        let all: Vec<StoredResult> = self.whole_chain(&results_ref(id), pending)?;
        Ok(all.into_iter().map(StoredResult::into_record).collect())
    }

    /// Records what a run says of itself. A record that the run has had before changes
    /// nothing: a search that is run again retraces its steps, and the archive stays as it is.
    ///
    /// # Errors
    /// If the write fails.
    pub fn put_run(&self, run: &RunId, record: &Value) -> Result<()> {
        let writer = self.writer()?;
        let _deciding = writer.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        let sequence = match self.stored_run(run)? {
            Some(stored) => stored.sequence,
            None => self.run_ids()?.len() as u64,
        };
        let stored = StoredRun::new(run, sequence, record);
        let bytes = self.store.understood("a new run record", format::encode(&stored))?;
        let pending = self.pending_runs(run);
        self.append(writer, &run_ref(run), Kind::Run, &bytes, &pending).map(drop)
    }

    /// All runs with their latest records, in the order in which they first began.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn runs(&self) -> Result<Vec<(RunId, Value)>> {
        let mut runs = Vec::new();
        for id in self.run_ids()? {
            runs.extend(self.stored_run(&id)?);
        }
        runs.sort_by(|a, b| (a.sequence, &a.run).cmp(&(b.sequence, &b.run)));
        Ok(runs.into_iter().map(|run| (run.run, run.record)).collect())
    }

    fn run_ids(&self) -> Result<Vec<RunId>> {
        let mut ids: Vec<RunId> = self.overlay().runs.keys().cloned().collect();
        for name in self.store.names(RUNS)? {
            let id = name.parse().map_err(|_| {
                self.store.damaged(&format!("{RUNS}{name}"), "its name is no run id")
            })?;
            ids.push(id);
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// The latest record of a run.
    fn stored_run(&self, run: &RunId) -> Result<Option<StoredRun>> {
        let pending = self.pending_runs(run).pop();
        if pending.is_some() {
            return Ok(pending);
        }
        let name = run_ref(run);
        let blob =
            self.store.with(&format!("read {name}"), |repo| {
                match crate::store::reference(repo, &name)? {
                    Some(head) => {
                        Ok(repo.find_commit(head)?.tree()?.get(0).map(|entry| entry.id()))
                    }
                    None => Ok(None),
                }
            })?;
        let Some(blob) = blob else { return Ok(None) };
        self.store.understood(&name, format::decode(&self.store.blob(blob)?)).map(Some)
    }

    fn pending_results(&self, id: &CandidateId) -> Vec<StoredResult> {
        let overlay = self.overlay();
        let list = overlay.results.get(id).map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|(_, result)| result.clone()).collect()
    }

    fn pending_runs(&self, id: &RunId) -> Vec<StoredRun> {
        let overlay = self.overlay();
        let list = overlay.runs.get(id).map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|(_, run)| run.clone()).collect()
    }

    /// A chain in git and what waits to be added to it.
    fn whole_chain<T: Document>(&self, name: &str, pending: Vec<T>) -> Result<Vec<T>> {
        let mut seen = HashSet::new();
        let mut records = Vec::new();
        for (_, blob) in self.store.chain(name)? {
            seen.insert(blob);
            records.push(self.store.understood(name, format::decode(&self.store.blob(blob)?))?);
        }
        for record in pending {
            let bytes = self.store.understood(name, format::encode(&record))?;
            let id = blob_id(&bytes).map_err(|e| ArchiveError::git("hash", self.path(), e))?;
            if seen.insert(id) {
                records.push(record);
            }
        }
        Ok(records)
    }

    /// Journals a record unless its chain has it.
    fn append<T: Document>(
        &self,
        writer: &Writer,
        chain: &str,
        kind: Kind,
        bytes: &[u8],
        pending: &[T],
    ) -> Result<bool> {
        let hash =
            |bytes: &[u8]| blob_id(bytes).map_err(|e| ArchiveError::git("hash", self.path(), e));
        let id = hash(bytes)?;
        let mut chains = writer.chains.lock().unwrap_or_else(PoisonError::into_inner);
        if !chains.contains_key(chain) {
            let mut known: HashSet<Oid> =
                self.store.chain(chain)?.into_iter().map(|(_, blob)| blob).collect();
            for record in pending {
                known.insert(hash(&self.store.understood(chain, format::encode(record))?)?);
            }
            chains.insert(chain.to_owned(), known);
        }
        let known = chains.get_mut(chain).expect("put in above");
        if known.contains(&id) {
            return Ok(false);
        }
        let _entering = writer.entering.read().unwrap_or_else(PoisonError::into_inner);
        let at = writer.journal.append(kind, bytes)?;
        self.overlay_mut().add(self.path(), kind, at, bytes)?;
        known.insert(id);
        Ok(true)
    }
}
