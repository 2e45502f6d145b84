//! One episode on one process.

use std::sync::Arc;

use evosafe_types::{ToolCall, ToolResult};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::bridge::pool::Shared;
use crate::bridge::process::Process;
use crate::bridge::wire::{CallResult, WireVerdict};
use crate::{EnvError, Verdict};

/// An episode that holds its process until it is closed.
#[derive(Debug)]
pub struct BridgeEpisode {
    shared: Arc<Shared>,
    process: Process,
    permit: OwnedSemaphorePermit,
    name: String,
}

impl BridgeEpisode {
    pub(super) fn new(
        shared: Arc<Shared>,
        process: Process,
        permit: OwnedSemaphorePermit,
        name: String,
    ) -> Self {
        Self { shared, process, permit, name }
    }

    /// Executes a call.
    ///
    /// # Errors
    /// If the bridge fails.
    pub async fn call(&mut self, call: &ToolCall) -> Result<ToolResult, EnvError> {
        let params =
            json!({ "episode": self.name, "tool": call.tool, "arguments": call.arguments });
        let deadline = self.shared.call_timeout;
        let result: CallResult = self.process.request("call", &params, deadline).await?;
        Ok(ToolResult { content: result.content, is_error: result.is_error })
    }

    /// The verdict of the benchmark's judges.
    ///
    /// # Errors
    /// If the bridge fails.
    pub async fn judge(
        &mut self,
        answer: &str,
        executed: &[ToolCall],
    ) -> Result<Verdict, EnvError> {
        let calls: Vec<Value> =
            executed.iter().map(|c| json!({ "tool": c.tool, "arguments": c.arguments })).collect();
        let params = json!({ "episode": self.name, "answer": answer, "calls": calls });
        let deadline = self.shared.call_timeout;
        let verdict: WireVerdict = self.process.request("judge", &params, deadline).await?;
        Ok(Verdict { task_success: verdict.task_success, attack_success: verdict.attack_success })
    }

    /// Ends the episode and gives its process back.
    pub async fn close(mut self) {
        if self.process.is_healthy() {
            let params = json!({ "episode": self.name });
            let deadline = self.shared.call_timeout;
            let _: Result<Value, EnvError> = self.process.request("close", &params, deadline).await;
        }
        self.shared.put_back(self.process, self.permit);
    }
}
