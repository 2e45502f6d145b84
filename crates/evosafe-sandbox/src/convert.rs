//! Our types as the contract's records.

use evosafe_types::{JsonMap, RunContext, ToolCall, ToolResult};

use crate::bindings::types as wit;

fn json(map: &JsonMap) -> String {
    serde_json::to_string(map).expect("a JSON map has string keys")
}

pub fn context(ctx: &RunContext) -> wit::RunContext {
    let tool = |tool: &evosafe_types::ToolSpec| wit::Tool {
        name: tool.name.clone(),
        server: tool.server.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.to_string(),
        annotations: json(&tool.annotations),
    };
    wit::RunContext {
        trace_id: ctx.trace_id.clone(),
        instruction: ctx.instruction.clone(),
        tools: ctx.tools.iter().map(tool).collect(),
    }
}

pub fn call(call: &ToolCall) -> wit::ToolCall {
    wit::ToolCall {
        id: call.id.clone(),
        server: call.server.clone(),
        tool: call.tool.clone(),
        arguments: json(&call.arguments),
    }
}

pub fn result(result: &ToolResult) -> wit::ToolResult {
    wit::ToolResult { content: result.content.clone(), is_error: result.is_error }
}
