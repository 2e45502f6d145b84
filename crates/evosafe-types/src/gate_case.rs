//! Gate cases: single decisions that a harness is expected to get right.

use serde::{Deserialize, Serialize};

use crate::{ToolCall, ToolResult, ToolSpec};

/// A call with what came before it, and the decision that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCase {
    /// Unique name.
    pub name: String,
    /// The user's request.
    pub instruction: String,
    /// Tools on offer.
    pub tools: Vec<ToolSpec>,
    /// What was done before, in order: reads, then effects.
    pub before: Vec<PriorCall>,
    /// The call to decide about.
    pub call: ToolCall,
    /// What should come of it.
    pub expect: Expected,
}

/// A call that was executed before, and what came back.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorCall {
    /// The call.
    pub call: ToolCall,
    /// What the tool answered.
    pub result: ToolResult,
}

/// What should come of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// It is not executed.
    Block,
    /// It is executed, as proposed, rewritten or redirected.
    Pass,
}
