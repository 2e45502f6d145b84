//! Decisions as the instance answers them, checked and turned into ours.

use evosafe_types::{CallDecision, JsonMap, TextDecision, ToolCall};
use serde_json::Value;

use crate::bindings::types as wit;
use crate::error::kind;

/// Why a decision does not count: class and message of the fault.
pub type Refused = (&'static str, String);

/// Checks the pre-hook's decision about `call`. `offered` holds the tools on offer; an
/// empty list means that they are not known.
pub fn call_decision(
    decision: wit::CallDecision,
    call: &ToolCall,
    offered: &[String],
    limit: u32,
) -> Result<CallDecision, Refused> {
    match decision {
        wit::CallDecision::Allow => Ok(CallDecision::Allow),
        wit::CallDecision::Rewrite(json) => {
            within(limit, json.len())?;
            let mut arguments = object("rewrite", &json)?;
            keep_number_spelling_map(&mut arguments, &call.arguments);
            Ok(CallDecision::Rewrite { arguments })
        }
        wit::CallDecision::Redirect(to) => {
            let server = to.server.as_ref().map_or(0, String::len);
            within(limit, to.arguments.len() + to.tool.len() + to.id.len() + server)?;
            if to.tool.is_empty() {
                return Err(malformed("redirect names no tool"));
            }
            if !offered.is_empty() && !offered.contains(&to.tool) {
                let message = format!("redirect to `{}`, which is not on offer", short(&to.tool));
                return Err(malformed(message));
            }
            let mut arguments = object("redirect", &to.arguments)?;
            keep_number_spelling_map(&mut arguments, &call.arguments);
            let call = ToolCall { id: to.id, server: to.server, tool: to.tool, arguments };
            Ok(CallDecision::Redirect { call })
        }
        wit::CallDecision::Block(reason) => {
            within(limit, reason.len())?;
            Ok(CallDecision::Block { reason })
        }
    }
}

/// Checks a decision of the post-hook or the final hook.
pub fn text_decision(decision: wit::TextDecision, limit: u32) -> Result<TextDecision, Refused> {
    match decision {
        wit::TextDecision::Keep => Ok(TextDecision::Keep),
        wit::TextDecision::Replace(text) => {
            within(limit, text.len())?;
            Ok(TextDecision::Replace { text })
        }
        wit::TextDecision::Block(reason) => {
            within(limit, reason.len())?;
            Ok(TextDecision::Block { reason })
        }
    }
}

/// Fuzzing's way in: the decision of a guest that answers case `case` with `text` as its only
/// text, about a call of `tool` with no arguments. What a guest may hand over is no more than that.
#[doc(hidden)]
pub fn guest_decision(case: u8, text: &str, tool: &str) -> Result<CallDecision, String> {
    let call = ToolCall {
        id: "1".to_owned(),
        server: None,
        tool: tool.to_owned(),
        arguments: JsonMap::new(),
    };
    let text = text.to_owned();
    let given = match case % 4 {
        0 => wit::CallDecision::Allow,
        1 => wit::CallDecision::Rewrite(text),
        2 => wit::CallDecision::Redirect(wit::ToolCall {
            id: call.id.clone(),
            server: None,
            tool: tool.to_owned(),
            arguments: text,
        }),
        _ => wit::CallDecision::Block(text),
    };
    let limit = 1 << 16;
    call_decision(given, &call, &[], limit).map_err(|(kind, message)| format!("{kind}: {message}"))
}

/// Holds what a hook returns to the output limit, bytes.
pub fn within(limit: u32, bytes: usize) -> Result<(), Refused> {
    if bytes <= limit as usize {
        return Ok(());
    }
    Err((kind::OUTPUT, format!("returned {bytes} bytes; the limit is {limit}")))
}

fn malformed(message: impl Into<String>) -> Refused {
    (kind::MALFORMED, message.into())
}

fn object(what: &str, json: &str) -> Result<JsonMap, Refused> {
    match serde_json::from_str(json) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(malformed(format!("{what} needs an object of arguments"))),
        Err(error) => Err(malformed(format!("{what} has arguments that are not JSON: {error}"))),
    }
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// JavaScript knows doubles only: `100.0` comes back as `100`. Where a number equals the one
/// that stood in the same place, its spelling is kept, so that a rewrite changes what
/// it means to change and no more.
fn keep_number_spelling(new: &mut Value, old: &Value) {
    match (new, old) {
        (Value::Number(new), Value::Number(old)) if new.as_f64() == old.as_f64() => {
            *new = old.clone();
        }
        (Value::Array(new), Value::Array(old)) => {
            for (new, old) in new.iter_mut().zip(old) {
                keep_number_spelling(new, old);
            }
        }
        (Value::Object(new), Value::Object(old)) => keep_number_spelling_map(new, old),
        _ => {}
    }
}

fn keep_number_spelling_map(new: &mut JsonMap, old: &JsonMap) {
    for (key, value) in new.iter_mut() {
        if let Some(old) = old.get(key) {
            keep_number_spelling(value, old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call() -> ToolCall {
        let arguments = json!({"amount": 100.0, "big": 9007199254740993_u64, "list": [1.0, 2]});
        let arguments = arguments.as_object().expect("an object").clone();
        ToolCall { id: "1".into(), server: None, tool: "pay".into(), arguments }
    }

    fn rewrite(json: &str) -> Result<CallDecision, Refused> {
        call_decision(wit::CallDecision::Rewrite(json.into()), &call(), &[], 1000)
    }

    #[test]
    fn numbers_that_did_not_change_keep_their_spelling() {
        let decision = rewrite(r#"{"amount":100,"big":9007199254740992,"list":[1,3],"new":1}"#);
        let Ok(CallDecision::Rewrite { arguments }) = decision else { panic!("{decision:?}") };
        assert_eq!(
            serde_json::to_string(&arguments).expect("JSON"),
            r#"{"amount":100.0,"big":9007199254740993,"list":[1.0,3],"new":1}"#
        );
    }

    #[test]
    fn nonsense_is_malformed() {
        for json in ["", "[]", "1", "{", "\"x\"", "null", r#"{"a":"\ud800"}"#] {
            assert_eq!(rewrite(json).expect_err(json).0, kind::MALFORMED, "{json}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(400), "]".repeat(400));
        assert_eq!(rewrite(&deep).expect_err("deep").0, kind::MALFORMED);
    }

    #[test]
    fn a_redirect_must_name_a_tool_on_offer() {
        let redirect = |tool: &str, offered: &[String]| {
            let to = wit::ToolCall {
                id: "1".into(),
                server: None,
                tool: tool.into(),
                arguments: "{}".into(),
            };
            call_decision(wit::CallDecision::Redirect(to), &call(), offered, 1000)
        };
        assert!(redirect("read", &[]).is_ok());
        assert!(redirect("read", &["read".into()]).is_ok());
        assert!(redirect("read", &["write".into()]).is_err());
        assert!(redirect("", &[]).is_err());
    }

    #[test]
    fn long_answers_are_refused() {
        let long = wit::TextDecision::Replace("x".repeat(11));
        assert_eq!(text_decision(long, 10).expect_err("long").0, kind::OUTPUT);
        assert!(text_decision(wit::TextDecision::Block("x".repeat(10)), 10).is_ok());
    }
}
