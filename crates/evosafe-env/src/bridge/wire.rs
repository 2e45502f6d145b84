//! Messages of the bridge protocol (docs/formats.md). Answers are checked field by
//! field: a bridge is an unreliable process.

use evosafe_types::{Family, Side, Task, TaskId, ToolSpec};
use serde::Deserialize;

/// The protocol that this client speaks.
pub const PROTOCOL: u64 = 1;

#[derive(Debug, Deserialize)]
pub struct Answer {
    pub jsonrpc: String,
    pub id: Option<u64>,
    #[serde(default)]
    pub result: Option<serde_json::Value>,
    #[serde(default)]
    pub error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
}

#[derive(Debug, Deserialize)]
pub struct Description {
    pub protocol: u64,
    pub name: String,
    pub version: String,
    pub suites: Vec<SuiteDescription>,
    pub content: String,
    #[serde(default)]
    pub notices: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct SuiteDescription {
    pub name: String,
    pub system_prompt: String,
    pub tools: Vec<ToolSpec>,
}

#[derive(Debug, Deserialize)]
pub struct Tasks {
    pub tasks: Vec<WireTask>,
}

/// A task as listed by a bridge; apart from [`Task`], so that the protocol does not
/// change with it.
#[derive(Debug, Deserialize)]
pub struct WireTask {
    pub id: TaskId,
    pub family: Family,
    pub category: String,
    pub suite: String,
    pub user_task: String,
    pub injection_task: Option<String>,
    #[serde(default)]
    pub side: Option<Side>,
}

impl From<WireTask> for Task {
    fn from(t: WireTask) -> Self {
        Self {
            id: t.id,
            family: t.family,
            category: t.category,
            suite: t.suite,
            user_task: t.user_task,
            injection_task: t.injection_task,
            side: t.side,
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct Opened {
    pub episode: String,
    pub instruction: String,
}

#[derive(Debug, Deserialize)]
pub struct CallResult {
    pub content: String,
    pub is_error: bool,
}

#[derive(Debug, Deserialize)]
pub struct WireVerdict {
    pub task_success: Option<bool>,
    pub attack_success: Option<bool>,
}
