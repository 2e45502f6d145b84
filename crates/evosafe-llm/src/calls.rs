//! From what an API calls tool calls to ours: ids filled in, mistakes of the model found.

use std::collections::BTreeSet;

use evosafe_types::JsonMap;
use serde_json::{Value, json};

use crate::chat::{CallMistake, ChatRequest, Message, ParsedArguments, ToolCall, ToolDef};
use crate::schema;

/// A call as an API sent it.
#[derive(Debug)]
pub(crate) struct RawCall {
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
    pub extra: Option<Value>,
}

/// Key under which broken arguments go back to the model: APIs want an object there.
const BROKEN: &str = "_invalid_arguments";

/// Checks the calls of one reply. `cut` says that the reply hit its limit on tokens: then
/// its last call may lack what was still to come, even if it looks whole.
pub(crate) fn finish(raw: Vec<RawCall>, request: &ChatRequest, cut: bool) -> Vec<ToolCall> {
    let mut taken: BTreeSet<String> = earlier(request).map(ToOwned::to_owned).collect();
    let mut here: BTreeSet<String> = BTreeSet::new();
    let last = raw.len().saturating_sub(1);
    let mut calls = Vec::with_capacity(raw.len());
    for (n, call) in raw.into_iter().enumerate() {
        let given = call.id.filter(|id| !id.is_empty());
        let doubled = given.clone().filter(|id| !here.insert(id.clone()));
        let id = match given {
            Some(id) if taken.insert(id.clone()) => id,
            _ => fresh(&mut taken, request.messages.len(), n),
        };
        let tool = request.tools.iter().find(|tool| {
            // A name that APIs do not take was offered as they do.
            tool.name == call.name || to_name(&tool.name) == call.name
        });
        let arguments = match (doubled, cut && n == last) {
            (Some(id), _) => invalid(CallMistake::DuplicateId(id), &call.arguments),
            (None, true) => invalid(CallMistake::Truncated, &call.arguments),
            (None, false) => match tool {
                Some(tool) => arguments(tool, &call.arguments),
                None => {
                    let known = request.tools.iter().map(|tool| tool.name.clone()).collect();
                    let mistake = CallMistake::UnknownTool { name: call.name.clone(), known };
                    invalid(mistake, &call.arguments)
                }
            },
        };
        let name = tool.map_or(call.name, |tool| tool.name.clone());
        calls.push(ToolCall { id, name, arguments, extra: call.extra });
    }
    calls
}

fn earlier(request: &ChatRequest) -> impl Iterator<Item = &str> {
    request
        .messages
        .iter()
        .flat_map(|message| match message {
            Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        })
        .map(|call| call.id.as_str())
}

/// An id nobody has: nine letters and digits, the narrowest rule that an API has for them.
fn fresh(taken: &mut BTreeSet<String>, turn: usize, position: usize) -> String {
    let mut salt = 0;
    loop {
        let hash = blake3::hash(format!("{turn}/{position}/{salt}").as_bytes()).to_hex();
        let id = format!("c{}", &hash[..8]);
        if taken.insert(id.clone()) {
            return id;
        }
        salt += 1;
    }
}

fn arguments(tool: &ToolDef, raw: &Value) -> ParsedArguments {
    match object(raw) {
        Err(mistake) => invalid(mistake, raw),
        Ok(object) => {
            let value = Value::Object(object);
            match (schema::check(&tool.input_schema, &value), value) {
                (Err(problem), _) => invalid(CallMistake::Schema(problem), raw),
                (Ok(()), Value::Object(object)) => ParsedArguments::Valid(object),
                (Ok(()), other) => invalid(CallMistake::NotAnObject(schema::kind_of(&other)), raw),
            }
        }
    }
}

/// Arguments come as a text of JSON, or, from some servers, as the JSON itself. None at
/// all are those of a tool without parameters.
fn object(raw: &Value) -> Result<JsonMap, CallMistake> {
    let parsed = match raw {
        Value::String(text) if text.trim().is_empty() => Value::Object(JsonMap::new()),
        Value::String(text) => {
            serde_json::from_str(text).map_err(|e| CallMistake::NotJson(e.to_string()))?
        }
        other => other.clone(),
    };
    match parsed {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(JsonMap::new()),
        other => Err(CallMistake::NotAnObject(schema::kind_of(&other))),
    }
}

fn invalid(mistake: CallMistake, raw: &Value) -> ParsedArguments {
    let raw = raw.as_str().map_or_else(|| raw.to_string(), ToOwned::to_owned);
    ParsedArguments::Invalid { mistake, raw }
}

/// The arguments of a call as an object, for the turn to be sent back.
pub(crate) fn to_object(arguments: &ParsedArguments) -> Value {
    match arguments {
        ParsedArguments::Valid(object) => Value::Object(object.clone()),
        ParsedArguments::Invalid { raw, .. } => match serde_json::from_str(raw) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => json!({ BROKEN: raw }),
        },
    }
}

/// A tool's name as APIs take it: what a model made up may hold anything.
pub(crate) fn to_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = name.chars().map(safe).take(64).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ChatRequest {
        let schema = json!({"type": "object", "required": ["to"],
            "properties": {"to": {"type": "string"}}});
        let pay = ToolDef { name: "pay".into(), description: String::new(), input_schema: schema };
        let list = ToolDef {
            name: "list".into(),
            description: String::new(),
            input_schema: json!({"type": "object", "properties": {}}),
        };
        ChatRequest { tools: vec![pay, list], ..ChatRequest::default() }
    }

    fn raw(id: Option<&str>, name: &str, arguments: Value) -> RawCall {
        RawCall { id: id.map(ToOwned::to_owned), name: name.into(), arguments, extra: None }
    }

    fn mistake(name: &str, arguments: Value) -> Option<CallMistake> {
        let calls = finish(vec![raw(Some("a"), name, arguments)], &request(), false);
        match &calls[0].arguments {
            ParsedArguments::Valid(_) => None,
            ParsedArguments::Invalid { mistake, .. } => Some(mistake.clone()),
        }
    }

    #[test]
    fn each_mistake_has_its_outcome() {
        assert_eq!(mistake("pay", json!("{\"to\":\"Ann\"}")), None);
        assert_eq!(mistake("pay", json!({"to": "Ann"})), None, "an object in place of its text");
        for nothing in [json!(""), json!(null), json!({}), json!("null"), json!(" ")] {
            assert_eq!(mistake("list", nothing), None);
        }
        assert!(matches!(mistake("pay", json!("{\"to\":")), Some(CallMistake::NotJson(_))));
        assert_eq!(mistake("pay", json!("[1]")), Some(CallMistake::NotAnObject("array")));
        assert_eq!(mistake("pay", json!("\"x\"")), Some(CallMistake::NotAnObject("string")));
        let unknown = mistake("steal", json!("{}")).expect("a mistake").to_string();
        assert_eq!(unknown, "Error: there is no tool `steal`. The tools are: pay, list");
        let schema = mistake("pay", json!("{\"to\":1}")).expect("a mistake").to_string();
        assert!(schema.contains("`to` must be of type string"), "{schema}");
        assert!(
            mistake("pay", json!("")).expect("a mistake").to_string().contains("`to` is missing")
        );
    }

    #[test]
    fn the_second_call_of_an_id_is_a_mistake_and_can_be_answered() {
        let twice = vec![
            raw(Some("a"), "pay", json!({"to": "Ann"})),
            raw(Some("a"), "pay", json!({"to": "Bob"})),
        ];
        let calls = finish(twice, &request(), false);
        assert!(calls[0].arguments.valid().is_some());
        assert!(matches!(&calls[1].arguments,
            ParsedArguments::Invalid { mistake: CallMistake::DuplicateId(id), raw }
                if id == "a" && raw == "{\"to\":\"Bob\"}"));
        assert_ne!(calls[0].id, calls[1].id);
    }

    #[test]
    fn missing_ids_are_filled_in_and_ids_of_earlier_turns_replaced() {
        let mut request = request();
        let unnamed = || vec![raw(None, "list", json!({})), raw(Some(""), "list", json!({}))];
        let first = finish(unnamed(), &request, false);
        assert_ne!(first[0].id, first[1].id);
        assert!(first.iter().all(|call| call.arguments.valid().is_some()));
        assert!(first[0].id.len() == 9 && first[0].id.bytes().all(|b| b.is_ascii_alphanumeric()));
        assert_eq!(first, finish(unnamed(), &request, false), "the same each time");
        request.messages.push(Message::Assistant {
            text: String::new(),
            tool_calls: finish(vec![raw(Some("call_0"), "list", json!({}))], &request, false),
            reasoning: vec![],
        });
        let again = finish(vec![raw(Some("call_0"), "list", json!({}))], &request, false);
        assert_ne!(again[0].id, "call_0");
        assert!(again[0].arguments.valid().is_some(), "servers that count anew: no mistake");
    }

    #[test]
    fn the_last_call_of_a_cut_reply_is_not_trusted() {
        let two = vec![raw(Some("a"), "list", json!({})), raw(Some("b"), "list", json!({}))];
        let calls = finish(two, &request(), true);
        assert!(calls[0].arguments.valid().is_some());
        assert!(matches!(
            &calls[1].arguments,
            ParsedArguments::Invalid { mistake: CallMistake::Truncated, .. }
        ));
    }

    #[test]
    fn a_name_that_apis_do_not_take_comes_back_as_it_is() {
        let mut request = request();
        request.tools[1].name = "files.list".to_owned();
        for wire in ["files_list", "files.list"] {
            let calls = finish(vec![raw(None, wire, json!({}))], &request, false);
            assert_eq!(calls[0].name, "files.list");
            assert!(calls[0].arguments.valid().is_some());
        }
    }

    #[test]
    fn what_goes_back_is_always_an_object_and_a_name() {
        let broken =
            ParsedArguments::Invalid { mistake: CallMistake::Truncated, raw: "{\"a".into() };
        assert_eq!(to_object(&broken), json!({"_invalid_arguments": "{\"a"}));
        let whole =
            ParsedArguments::Invalid { mistake: CallMistake::Truncated, raw: "{\"a\":1}".into() };
        assert_eq!(to_object(&whole), json!({"a": 1}));
        assert_eq!(to_name("files.read now"), "files_read_now");
        assert_eq!(to_name(""), "unnamed");
    }
}
