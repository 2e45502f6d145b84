//! Every call that was paid for, in an append-only file, and what they add up to.

use std::collections::BTreeMap;
use std::path::Path;

use evosafe_types::{CandidateId, ContentHash, Stage, TaskId, Usage, Usd};
use serde::{Deserialize, Serialize};

use crate::budget::Spending;
use crate::error::LlmError;
use crate::lines::{self, Torn, Writer};
use crate::tag::{CallTag, Role};

const FORMAT: lines::Format = lines::Format { name: "evosafe-ledger", version: 1 };

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// Whose call it was.
    pub role: Role,
    /// Part of the run.
    pub phase: String,
    /// The harness it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<CandidateId>,
    /// Stage of the cascade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// The task it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Part of the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// The model that was asked for.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
    /// What it cost, in billionths of a dollar; absent where the price is unknown.
    #[serde(default, rename = "cost_nano_usd", skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// The day of the price file it was priced by; absent as the cost is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices_as_of: Option<String>,
    /// Time from sending to the last byte.
    pub latency_ms: u64,
    /// Hash of the request.
    pub request_hash: ContentHash,
    /// Whether the reply came from a cassette: it was paid for before, and counts as nothing.
    pub cached: bool,
    /// `ok`, or the kind of error where a paid reply could not be used.
    pub outcome: String,
}

impl LedgerEntry {
    /// An entry about a call with this tag.
    #[must_use]
    pub fn new(tag: &CallTag, model: &str, request_hash: ContentHash) -> Self {
        Self {
            role: tag.role,
            phase: tag.phase.clone(),
            candidate: tag.candidate.clone(),
            stage: tag.stage,
            task: tag.task.clone(),
            component: tag.component.clone(),
            model: model.to_owned(),
            usage: Usage::default(),
            cost: None,
            prices_as_of: None,
            latency_ms: 0,
            request_hash,
            cached: false,
            outcome: "ok".to_owned(),
        }
    }
}

/// The file, open for appending by one process.
#[derive(Debug)]
pub struct Ledger {
    writer: Writer,
}

impl Ledger {
    /// Opens a ledger, making it if it is not there. Also says whether half a line, left
    /// by a process that was killed while it wrote, was cut off its end.
    ///
    /// # Errors
    /// If it cannot be read or written, is open in another process, or is no ledger that
    /// this version knows.
    pub fn open(path: &Path) -> Result<(Self, Option<Torn>), LlmError> {
        let (writer, torn) = Writer::open(path, FORMAT)?;
        Ok((Self { writer }, torn))
    }

    /// Appends an entry and returns when it is on disk. Blocks.
    ///
    /// # Errors
    /// If it cannot be written; then it is not in the ledger.
    pub fn append(&self, entry: &LedgerEntry) -> Result<(), LlmError> {
        self.writer.append(entry).map(|_| ())
    }
}

/// Shows every entry of a ledger, in order, to `visit`; returns what is torn at its end.
/// Works while another process appends.
///
/// # Errors
/// If it cannot be read, or a line other than the last is damaged: names file and line.
pub fn read_ledger(
    path: &Path,
    mut visit: impl FnMut(LedgerEntry),
) -> Result<Option<Torn>, LlmError> {
    lines::read(path, FORMAT, &mut |_, entry| {
        visit(entry);
        Ok(())
    })
}

/// What calls are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GroupBy {
    /// Outer or inner.
    Level,
    /// Whose call.
    Role,
    /// Part of the run.
    Phase,
    /// The harness.
    Candidate,
    /// Stage of the cascade.
    Stage,
    /// The task.
    Task,
    /// Part of the role.
    Component,
    /// The model.
    Model,
}

impl GroupBy {
    /// The group of an entry; `-` where it has none.
    #[must_use]
    pub fn of(self, entry: &LedgerEntry) -> String {
        let none = || "-".to_owned();
        match self {
            Self::Level => entry.role.level().as_str().to_owned(),
            Self::Role => entry.role.as_str().to_owned(),
            Self::Phase => entry.phase.clone(),
            Self::Candidate => entry.candidate.as_ref().map_or_else(none, ToString::to_string),
            Self::Stage => entry.stage.map_or_else(none, |s| s.as_str().to_owned()),
            Self::Task => entry.task.as_ref().map_or_else(none, ToString::to_string),
            Self::Component => entry.component.clone().unwrap_or_else(none),
            Self::Model => entry.model.clone(),
        }
    }
}

/// Sums over calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// Calls that were paid for.
    pub calls: u64,
    /// Calls answered from a cassette; in no other number here.
    pub replayed: u64,
    /// Tokens of the calls paid for.
    pub usage: Usage,
    /// Their cost, as far as prices are known, in billionths of a dollar.
    #[serde(rename = "cost_nano_usd")]
    pub cost: Usd,
    /// Calls whose price is unknown: `cost` is too low by what they cost.
    pub unpriced: u64,
    /// Calls whose tokens the endpoint did not report.
    pub estimated: u64,
    /// Time waited for them, one after the other, in milliseconds.
    pub latency_ms: u64,
}

impl Costs {
    /// Adds a call.
    pub fn add(&mut self, entry: &LedgerEntry) {
        if entry.cached {
            self.replayed += 1;
            return;
        }
        self.calls += 1;
        self.usage += entry.usage;
        self.latency_ms += entry.latency_ms;
        self.estimated += u64::from(entry.usage.estimated);
        match entry.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
    }

    /// Tokens that were not read from a cache: the paper's *fresh* tokens (section 7.6).
    #[must_use]
    pub fn fresh(&self) -> u64 {
        self.usage.input + self.usage.cache_creation + self.usage.output
    }
}

/// Sums of a ledger, by any combination of groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostTable {
    /// One row a group, in the order of their names.
    pub rows: BTreeMap<Vec<String>, Costs>,
    /// All together.
    pub total: Costs,
    /// What has been spent, for [`crate::CostBudget::new`].
    pub spending: Spending,
}

impl CostTable {
    /// Adds a call to its row and to the totals.
    pub fn add(&mut self, by: &[GroupBy], entry: &LedgerEntry) {
        let key = by.iter().map(|group| group.of(entry)).collect();
        self.rows.entry(key).or_default().add(entry);
        self.total.add(entry);
        if !entry.cached {
            self.spending.usd += entry.cost.unwrap_or_default();
            if entry.role == Role::Victim {
                self.spending.victim_tokens += entry.usage.total();
            }
        }
    }

    /// Reads a ledger into a table; also returns what is torn at its end.
    ///
    /// # Errors
    /// As [`read_ledger`].
    pub fn read(path: &Path, by: &[GroupBy]) -> Result<(Self, Option<Torn>), LlmError> {
        let mut table = Self::default();
        let torn = read_ledger(path, |entry| table.add(by, &entry))?;
        Ok((table, torn))
    }
}
