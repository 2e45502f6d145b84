//! What a candidate's instance can reach: three host functions, its limits, nothing else.

use std::pin::Pin;
use std::sync::Arc;

use evosafe_types::{ClassifyRecord, HarnessLimits};
use serde_json::Value;
use wasmtime::ResourceLimiter;

use crate::bindings::{diagnostics, host, types};
use crate::error::kind;
use crate::regex::Patterns;
use crate::surface::FAULT_LINE;

/// An answer of the classifier on its way.
pub type ClassifyFuture = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// Asks the quarantined model: question, untrusted text.
pub type ClassifyFn = dyn Fn(String, String) -> ClassifyFuture + Send + Sync;

/// Who answers `classify`.
#[derive(Clone, Default)]
pub enum Classifier {
    /// No model (replay): every question is answered with an error.
    #[default]
    Absent,
    /// This function.
    Answer(Arc<ClassifyFn>),
}

impl std::fmt::Debug for Classifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Absent => "Absent",
            Self::Answer(_) => "Answer(..)",
        })
    }
}

/// What `classify` answers where no model is.
pub const NO_MODEL: &str = "no model is available to classify with";

/// Lines and bytes a trajectory may log; more is dropped.
const LOG_LINES: usize = 1000;
const LOG_BYTES: usize = 256 << 10;

/// A fault that the provider reported or the host noticed during the running hook.
#[derive(Debug)]
pub struct Noticed {
    pub kind: &'static str,
    pub message: String,
    pub stack: String,
}

/// The state behind one instance.
pub struct HostState {
    patterns: Arc<Patterns>,
    classifier: Classifier,
    limits: HarnessLimits,
    /// Regex work of the running hook, and the most it may do, in units of fuel.
    work: u64,
    most_work: u64,
    /// First thing that went wrong in the running hook.
    noticed: Option<Noticed>,
    pub classify: Vec<ClassifyRecord>,
    pub log: Vec<String>,
    log_bytes: usize,
}

impl HostState {
    pub fn new(patterns: Arc<Patterns>, classifier: Classifier, limits: HarnessLimits) -> Self {
        Self {
            patterns,
            classifier,
            most_work: limits.fuel,
            limits,
            work: 0,
            noticed: None,
            classify: Vec::new(),
            log: Vec::new(),
            log_bytes: 0,
        }
    }

    /// Starts the accounts of a hook call that may use so much fuel, and as much work of
    /// regular expressions.
    pub fn enter(&mut self, fuel: u64) {
        self.work = 0;
        self.most_work = fuel;
        self.noticed = None;
    }

    /// What went wrong in the hook call that ended.
    pub fn take_noticed(&mut self) -> Option<Noticed> {
        self.noticed.take()
    }

    fn notice(&mut self, kind: &'static str, message: String, stack: String) {
        if self.noticed.is_none() {
            self.noticed = Some(Noticed { kind, message, stack });
        }
    }
}

impl types::Host for HostState {}

impl diagnostics::Host for HostState {
    fn fault(&mut self, what: String, message: String, stack: String) -> wasmtime::Result<()> {
        self.notice(reported_kind(&what), message, stack);
        Ok(())
    }
}

impl host::Host for HostState {
    async fn classify(
        &mut self,
        question: String,
        untrusted: String,
    ) -> wasmtime::Result<Result<String, String>> {
        if self.classify.len() >= self.limits.classify_calls as usize {
            let message = format!("asked more than {} questions", self.limits.classify_calls);
            self.notice(kind::CLASSIFY, message.clone(), String::new());
            return Ok(Err(message));
        }
        let answer = match &self.classifier {
            Classifier::Absent => Err(NO_MODEL.to_owned()),
            Classifier::Answer(ask) => ask(question.clone(), untrusted.clone()).await,
        };
        self.classify.push(ClassifyRecord { question, untrusted, answer: answer.clone() });
        Ok(answer)
    }

    fn regex_find_all(
        &mut self,
        pattern: String,
        text: String,
    ) -> wasmtime::Result<Result<Vec<(u32, u32)>, String>> {
        let allowance = self.most_work.saturating_sub(self.work);
        let found = self.patterns.find_all(&pattern, &text, allowance);
        self.work = self.work.saturating_add(found.work);
        if self.work > self.most_work {
            let message = "regular expressions used up the fuel of the hook".to_owned();
            self.notice(kind::FUEL, message.clone(), String::new());
            return Err(wasmtime::Error::msg(message));
        }
        Ok(found.matches)
    }

    fn log(&mut self, message: String) -> wasmtime::Result<()> {
        if let Some(report) = message.strip_prefix(FAULT_LINE) {
            let (kind, message, stack) = reported(report);
            self.notice(kind, message, stack);
            return Ok(());
        }
        if self.log.len() >= LOG_LINES || self.log_bytes + message.len() > LOG_BYTES {
            return Ok(());
        }
        self.log_bytes += message.len();
        self.log.push(message);
        Ok(())
    }
}

/// The kinds of fault that a guest may report of itself.
fn reported_kind(what: &str) -> &'static str {
    match what {
        kind::MALFORMED => kind::MALFORMED,
        kind::POISONED => kind::POISONED,
        _ => kind::THROWN,
    }
}

/// Kind, message and stack of a fault that a component reports through its log.
fn reported(report: &str) -> (&'static str, String, String) {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let text = |key: &str, most: usize| -> String {
        report[key].as_str().unwrap_or_default().chars().take(most).collect()
    };
    let message = match text("message", 1000) {
        message if message.is_empty() => "a fault without a message".to_owned(),
        message => message,
    };
    (reported_kind(&text("kind", 20)), message, text("stack", 4000))
}

impl ResourceLimiter for HostState {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let limit = self.limits.memory_mib as usize;
        if desired <= limit << 20 {
            return Ok(true);
        }
        // A refusal would surface as an exception that the candidate can catch, at a point that
        // depends on the allocator; a trap does not.
        let message = format!("needs more than {limit} MiB of memory");
        self.notice(kind::MEMORY, message.clone(), String::new());
        Err(wasmtime::Error::msg(message))
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= 20_000)
    }
}
