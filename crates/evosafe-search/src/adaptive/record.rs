//! What the archive keeps of a corpus that grew.

use evosafe_agent::{Variant, Variation};
use evosafe_archive::{Archive, ResultKind};
use evosafe_types::{ContentHash, RunId, Task, TaskId};
use serde::{Deserialize, Serialize};

use crate::SearchError;
use crate::criticizer::probe::Change;
use crate::run::RunRecord;

/// A version of a search's train corpus: all before it, and these variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusVersion {
    /// Its number, from 1; 0 is what the specification says.
    pub version: u32,
    /// Hash of all its tasks.
    pub corpus: ContentHash,
    /// The variants that are new in it.
    pub variants: Vec<TaskId>,
}

/// A variant as archived beside no defence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantRecord {
    /// The variant.
    pub task: TaskId,
    /// The train task it was made from.
    pub base: TaskId,
    /// The kind of change.
    pub change: Change,
    /// The mechanism that had stopped the attack.
    pub against: String,
    /// What is put otherwise.
    pub variation: Variation,
}

/// The variant of this name in a search, made from one of `tasks`; `None` if it has none.
///
/// # Errors
/// If the archive cannot be read.
pub fn find_variant(
    archive: &Archive,
    (run, record): (&RunId, &RunRecord),
    tasks: &[Task],
    id: &TaskId,
) -> Result<Option<Variant>, SearchError> {
    for result in archive.results(&record.h0)? {
        if result.kind != ResultKind::Corpus || result.run.as_ref() != Some(run) {
            continue;
        }
        let Some(variants) = result.body.get("variants").and_then(|v| v.as_array()) else {
            continue;
        };
        for variant in variants {
            if variant.get("task").and_then(|task| task.as_str()) != Some(id.as_str()) {
                continue;
            }
            let damaged = |e: serde_json::Error| SearchError::Record {
                run: run.short().to_owned(),
                detail: format!("variant {id}: {e}"),
            };
            let found: VariantRecord = serde_json::from_value(variant.clone()).map_err(damaged)?;
            let base = tasks.iter().find(|task| task.id == found.base);
            return Ok(
                base.and_then(|base| Variant::new(base, found.change.as_str(), found.variation))
            );
        }
    }
    Ok(None)
}
