//! Hook calls as people and programs write them: one JSON object a line.

use evosafe_types::{
    ClassifyAnswer, HookCall, JsonMap, RunContext, ToolCall, ToolResult, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::FormatError;
use crate::raw::table;
use crate::strict::{fields, parse_json};
use crate::validate::Ctx;

table!(
    RawLine {
        hook: String,
        trace_id: String,
        instruction: String,
        tools: Vec<RawTool>,
        classify: Vec<RawAnswer>,
        prompt: String,
        text: String,
        call: RawCall,
        result: RawResult,
    }
);
table!(RawTool {
    name: String,
    server: String,
    description: String,
    input_schema: Value,
    annotations: JsonMap,
});
table!(RawAnswer { question: String, untrusted: String, answer: String, error: String });
table!(RawCall { id: String, server: String, tool: String, arguments: JsonMap });
table!(RawResult { content: String, is_error: bool });

/// Hooks with the keys their lines may have beside `hook`.
const HOOKS: [(&str, &[&str]); 6] = [
    ("begin", &["trace_id", "instruction", "tools", "classify"]),
    ("system-prompt", &["prompt"]),
    ("user-message", &["text"]),
    ("pre-tool-call", &["call"]),
    ("post-tool-call", &["call", "result"]),
    ("final-answer", &["text"]),
];

/// Parses one line; `file` is how messages call the whole, `line` its number from 1.
///
/// # Errors
/// Names the line and the key of what is unknown, missing, malformed or not of this hook.
pub fn parse_hook_call(file: &str, line: usize, text: &str) -> Result<HookCall, FormatError> {
    let place = format!("{file}:{line}");
    let raw: RawLine = parse_json(file, line, text, line_keys).map_err(|error| match error {
        FormatError::UnknownKeys { keys, .. } => {
            FormatError::UnknownKeys { file: place.clone(), keys }
        }
        other => other,
    })?;
    let ctx = Ctx { file: &place };
    let hook = ctx.need("hook", raw.hook.clone())?;
    let known: Vec<(&'static str, &[&str])> = HOOKS.to_vec();
    let may = ctx.word("hook", &hook, &known)?;
    let given: [(&str, bool); 8] = [
        ("trace_id", raw.trace_id.is_some()),
        ("instruction", raw.instruction.is_some()),
        ("tools", raw.tools.is_some()),
        ("classify", raw.classify.is_some()),
        ("prompt", raw.prompt.is_some()),
        ("text", raw.text.is_some()),
        ("call", raw.call.is_some()),
        ("result", raw.result.is_some()),
    ];
    if let Some((key, _)) = given.iter().find(|(key, given)| *given && !may.contains(key)) {
        return ctx.bad(key, format!("is no key of `{hook}`; it has {}", may.join(", ")));
    }
    match hook.as_str() {
        "begin" => begin(&ctx, raw),
        "system-prompt" => Ok(HookCall::SystemPrompt { prompt: ctx.need("prompt", raw.prompt)? }),
        "user-message" => Ok(HookCall::UserMessage { text: ctx.need("text", raw.text)? }),
        "pre-tool-call" => Ok(HookCall::PreToolCall { call: call(&ctx, "call", raw.call, line)? }),
        "post-tool-call" => Ok(HookCall::PostToolCall {
            call: call(&ctx, "call", raw.call, line)?,
            result: result(&ctx, "result", raw.result)?,
        }),
        _ => Ok(HookCall::FinalAnswer { text: ctx.need("text", raw.text)? }),
    }
}

/// The line of a hook call, without the end of the line: what [`parse_hook_call`] reads as the
/// same call.
#[must_use]
pub fn print_hook_call(call: &HookCall) -> String {
    let hook = call.hook().as_str();
    let mut line = match call {
        HookCall::Begin { context, .. } => json!({
            "hook": hook, "trace_id": context.trace_id, "instruction": context.instruction,
            "tools": context.tools,
        }),
        HookCall::SystemPrompt { prompt } => json!({ "hook": hook, "prompt": prompt }),
        HookCall::UserMessage { text } | HookCall::FinalAnswer { text } => {
            json!({ "hook": hook, "text": text })
        }
        HookCall::PreToolCall { call } => json!({ "hook": hook, "call": call }),
        HookCall::PostToolCall { call, result } => {
            json!({ "hook": hook, "call": call, "result": result })
        }
    };
    if let HookCall::Begin { classify: Some(answers), .. } = call {
        line["classify"] = answers.iter().map(answer_line).collect();
    }
    line.to_string()
}

fn answer_line(given: &ClassifyAnswer) -> Value {
    let mut line = match &given.answer {
        Ok(answer) => json!({ "answer": answer }),
        Err(error) => json!({ "error": error }),
    };
    for (key, text) in [("question", &given.question), ("untrusted", &given.untrusted)] {
        if let Some(text) = text {
            line[key] = text.as_str().into();
        }
    }
    line
}

fn line_keys(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawLine>(),
        "tools.*" => fields::<RawTool>(),
        "classify.*" => fields::<RawAnswer>(),
        "call" => fields::<RawCall>(),
        "result" => fields::<RawResult>(),
        _ => &[],
    }
}

fn begin(ctx: &Ctx<'_>, raw: RawLine) -> Result<HookCall, FormatError> {
    let context = RunContext {
        trace_id: raw.trace_id.unwrap_or_else(|| RunContext::TRACE_ID.to_owned()),
        instruction: raw.instruction.unwrap_or_default(),
        tools: tools(ctx, "tools", raw.tools.unwrap_or_default())?,
    };
    let answer = |(i, raw): (usize, RawAnswer)| {
        let answer = match (raw.answer, raw.error) {
            (Some(answer), None) => Ok(answer),
            (None, Some(error)) => Err(error),
            _ => return ctx.bad(&format!("classify.{i}"), "needs one of `answer` and `error`"),
        };
        Ok(ClassifyAnswer { question: raw.question, untrusted: raw.untrusted, answer })
    };
    let classify = match raw.classify {
        None => None,
        Some(all) => Some(all.into_iter().enumerate().map(answer).collect::<Result<_, _>>()?),
    };
    Ok(HookCall::Begin { context, classify })
}

/// Tools on offer: a name is enough.
pub(crate) fn tools(
    ctx: &Ctx<'_>,
    key: &str,
    raw: Vec<RawTool>,
) -> Result<Vec<ToolSpec>, FormatError> {
    let mut tools: Vec<ToolSpec> = Vec::with_capacity(raw.len());
    for (i, raw) in raw.into_iter().enumerate() {
        let at = format!("{key}.{i}.name");
        let name = ctx.need(&at, raw.name)?;
        if tools.iter().any(|tool| tool.name == name && tool.server == raw.server) {
            return ctx.bad(&at, format!("is {name:?}, which is listed before"));
        }
        tools.push(ToolSpec {
            name,
            server: raw.server,
            description: raw.description.unwrap_or_default(),
            input_schema: raw.input_schema.unwrap_or_else(|| Value::Object(JsonMap::new())),
            annotations: raw.annotations.unwrap_or_default(),
        });
    }
    Ok(tools)
}

/// A call; without an id of its own it gets one from `number`.
pub(crate) fn call(
    ctx: &Ctx<'_>,
    key: &str,
    raw: Option<RawCall>,
    number: usize,
) -> Result<ToolCall, FormatError> {
    let raw = ctx.need(key, raw)?;
    Ok(ToolCall {
        id: raw.id.unwrap_or_else(|| format!("call-{number}")),
        server: raw.server,
        tool: ctx.need(&format!("{key}.tool"), raw.tool)?,
        arguments: raw.arguments.unwrap_or_default(),
    })
}

fn result(ctx: &Ctx<'_>, key: &str, raw: Option<RawResult>) -> Result<ToolResult, FormatError> {
    let raw = ctx.need(key, raw)?;
    Ok(ToolResult {
        content: ctx.need(&format!("{key}.content"), raw.content)?,
        is_error: raw.is_error.unwrap_or_default(),
    })
}
