//! What identifies a search, and the record of it in the archive.

use std::collections::BTreeMap;

use evosafe_spec::{Mechanism, Plan, Split};
use evosafe_types::{Bundle, CandidateId, ContentHash, EvidenceInputs, EvidenceKey, RunId, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SearchError;
use crate::adaptive::CorpusVersion;
use crate::designer::DesignerKind;
use crate::outer::{DesignerShare, Experience, OuterIdentity};

/// Version of the run record; newer ones are refused.
pub const RUN_FORMAT: u32 = 1;

/// Raised whenever the same evidence may lead a search to other candidates: a search of an
/// older version is not continued but begun anew, from its evidence.
pub const SEARCH_VERSION: u32 = 4;

/// Everything that decides the result of a search. Budgets are absent on purpose: a
/// larger budget continues the same search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Hash of `spec.toml` and `spec.md`.
    pub spec: ContentHash,
    /// Environment id.
    pub environment: ContentHash,
    /// Victim id.
    pub victim: String,
    /// Hash of the split.
    pub split: ContentHash,
    /// Run seed.
    pub seed: u64,
    /// The Designer.
    pub designer: DesignerKind,
    /// Whether the Criticizer reviews candidates.
    pub criticizer: bool,
    /// Whether seed bundles were used.
    pub warm_start: bool,
    /// Hash of the mechanism library and the seed bundles.
    pub library: ContentHash,
    /// Version of the harness runtime.
    pub runtime: ContentHash,
    /// Version of the agent loop and its limits.
    pub agent_loop: String,
    /// Version of the search itself, see [`SEARCH_VERSION`].
    #[serde(default)]
    pub search: u32,
    /// Whether the Designer was given a bare specification.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bare_spec: bool,
    /// Whether every candidate was run on the whole train side.
    #[serde(default, skip_serializing_if = "is_false")]
    pub no_cascade: bool,
    /// Models that play roles of the search, and what they are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer: Option<OuterIdentity>,
    /// Version of the adaptive probes, where the specification asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<u32>,
}

/// Fields that were added later are absent where they say nothing, so that ids stay.
fn is_false(flag: &bool) -> bool {
    !flag
}

impl RunIdentity {
    /// Key of the evidence of `candidate` on a rollout of `task` in the environment and with the victim
    /// of this search.
    #[must_use]
    pub fn evidence_key(&self, candidate: &CandidateId, task: &TaskId, seed: u64) -> EvidenceKey {
        EvidenceInputs {
            candidate,
            runtime: &self.runtime,
            victim: &self.victim,
            environment: &self.environment,
            task,
            seed,
            agent_loop: &self.agent_loop,
        }
        .key()
    }

    /// The id of the search.
    #[must_use]
    pub fn id(&self) -> RunId {
        // A struct of plain fields serialises in declaration order, always.
        let text = serde_json::to_string(self).expect("plain fields serialise");
        RunId::of(&[text.as_bytes()])
    }
}

/// Hash of everything the Designer composes from.
pub(crate) fn library_hash(library: &[Mechanism], seeds: &[Bundle]) -> ContentHash {
    let texts: Vec<String> = library
        .iter()
        .map(|m| format!("{m:?}"))
        .chain(seeds.iter().map(|s| s.id().to_string()))
        .collect();
    let parts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    ContentHash::of(&parts)
}

/// What the archive keeps of a search.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Version of this record.
    pub format: u32,
    /// Name of the specification.
    pub name: String,
    /// `spec.toml` as it was.
    pub spec_toml: String,
    /// `spec.md` as it was.
    pub spec_md: String,
    /// How the victim was named on the command line, to open it again.
    pub victim_locator: String,
    /// What decided the result.
    pub identity: RunIdentity,
    /// Environment version, for people.
    pub environment_version: String,
    /// The split.
    pub split: Split,
    /// H0's id.
    pub h0: CandidateId,
    /// Train tasks in canonical order.
    pub order: Vec<TaskId>,
    /// Candidates in order; grows.
    pub candidates: Vec<CandidateId>,
    /// The experience log: what the Analyzer's model noted, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub experiences: Vec<Experience>,
    /// What the Designers of a mixed search did and earned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub designers: Vec<DesignerShare>,
    /// Points that one more rule of a harness is expected to cost, see
    /// [`crate::designer::rule_price`].
    #[serde(default)]
    pub rule_price: f64,
    /// Share of what a candidate stops that goals of a new kind are expected to get past, see
    /// [`crate::designer::Standing`]; of those that reached their search score.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub escapes: BTreeMap<CandidateId, f64>,
    /// Versions of the train corpus after the specification's, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corpus: Vec<CorpusVersion>,
    /// The winner so far.
    pub best: Option<CandidateId>,
    /// Why the search ended; absent while it runs.
    pub ended: Option<String>,
}

impl RunRecord {
    /// Reads a record, refusing what this program does not know.
    ///
    /// # Errors
    /// If it is of a newer format or damaged.
    pub fn from_value(run: &RunId, value: Value) -> Result<Self, SearchError> {
        let fail = |detail: String| SearchError::Record { run: run.short().to_owned(), detail };
        let format = value.get("format").and_then(Value::as_u64);
        match format {
            Some(n) if n > u64::from(RUN_FORMAT) => {
                return Err(fail(format!(
                    "it has format {n}, this program knows up to {RUN_FORMAT}; use a newer evosafe"
                )));
            }
            Some(_) => {}
            None => return Err(fail("it has no format number".to_owned())),
        }
        serde_json::from_value(value).map_err(|e| fail(e.to_string()))
    }

    /// The record as stored.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("a run record has string keys only")
    }

    /// The specification the search was made with.
    ///
    /// # Errors
    /// If this program no longer accepts it.
    pub fn plan(&self) -> Result<Plan, SearchError> {
        Ok(evosafe_spec::parse(&self.name, &self.spec_toml, &self.spec_md)?)
    }
}

/// The latest search in an archive, or the one whose id starts with `prefix`.
///
/// # Errors
/// If there is none, or several match.
pub fn find(
    archive: &evosafe_archive::Archive,
    prefix: Option<&str>,
) -> Result<(RunId, RunRecord), SearchError> {
    let mut runs = archive.runs()?;
    if let Some(prefix) = prefix {
        runs.retain(|(id, _)| id.as_str().starts_with(prefix));
        if runs.len() > 1 {
            let ids: Vec<&str> = runs.iter().map(|(id, _)| id.short()).collect();
            return Err(SearchError::Unusable(format!(
                "run `{prefix}` is ambiguous: {}",
                ids.join(", ")
            )));
        }
    }
    let Some((id, value)) = runs.pop() else {
        return Err(SearchError::Unusable(match prefix {
            Some(prefix) => format!("no search in this archive has an id starting with `{prefix}`"),
            None => "this archive holds no search yet; start one with `evosafe search SPEC`".into(),
        }));
    };
    let record = RunRecord::from_value(&id, value)?;
    Ok((id, record))
}
