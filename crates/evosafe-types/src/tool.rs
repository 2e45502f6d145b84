//! Tools, calls and results as a harness sees them (design section 3).

use serde::{Deserialize, Serialize};

use crate::JsonMap;

/// A tool offered to the victim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name the victim calls it by.
    pub name: String,
    /// Server that offers it, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Description shown to the victim.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: serde_json::Value,
    /// MCP annotations (`readOnlyHint`, ...); an empty object where there are none.
    #[serde(default)]
    pub annotations: JsonMap,
}

/// All that a harness is told of a run. Never a task id, family, threat label,
/// risk category or judge (design section 8, invariant 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunContext {
    /// Opaque name of the trajectory; carries no information about the task.
    pub trace_id: String,
    /// The user's request. May be empty in deployments where it comes later.
    pub instruction: String,
    /// Tools on offer.
    pub tools: Vec<ToolSpec>,
}

impl RunContext {
    /// What every harness is told as trace id, wherever it is scored or probed. It says
    /// nothing: ids that differ by task could be looked up in a table.
    pub const TRACE_ID: &str = "trajectory";
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Call id, unique in its trajectory.
    pub id: String,
    /// Server, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Tool name.
    pub tool: String,
    /// Arguments.
    pub arguments: JsonMap,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Text for the victim; for errors, the error text.
    pub content: String,
    /// Whether the tool reports a failure.
    pub is_error: bool,
}
