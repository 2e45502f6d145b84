//! A scripted model for built-in domains, behind either API. As victim it works through the script
//! of the task whose request it is given, and does whatever tool output orders it to do; asked to
//! design, review or take notes, it says what [`crate::roles`] says.

use std::collections::{HashMap, VecDeque};

use evosafe_env::builtin::{Knowledge, Script, Step};
use evosafe_env::{Environment, EnvironmentSettings};
use evosafe_testing::{Answer, Received, Say};
use evosafe_types::{REFUSAL_PREFIX, ToolCall, ToolResult};
use serde_json::Value;

/// How a model is told that a call of its could not be executed.
const MISTAKES: [&str; 3] =
    ["Error: the arguments ", "Error: there is no tool ", "Error: two calls of one turn "];

/// The scripts of a domain, by request.
pub struct Model {
    scripts: HashMap<String, Script>,
}

/// Step of the attack or of the plan.
type Item = (bool, usize);

impl Model {
    /// The model of a domain.
    ///
    /// # Panics
    /// If there is no such domain.
    pub async fn of(domain: &str) -> Self {
        let settings = EnvironmentSettings::Builtin { domain: domain.to_owned() };
        let environment = Environment::start(&settings, None).await.expect("a built-in domain");
        let mut scripts = HashMap::new();
        for task in environment.tasks() {
            let episode = environment.open(&task.id, 0).await.expect("it opens");
            let script = environment.script(&task.id).expect("a script").clone();
            scripts.insert(episode.instruction().to_owned(), script);
        }
        Self { scripts }
    }

    /// What it says to a request. A request without tools is the classifier's: it sees no harm.
    ///
    /// # Panics
    /// If the request is none of the domain's.
    #[must_use]
    pub fn say(&self, request: &Received) -> Answer {
        if let Some(say) = crate::roles::say(request) {
            return say.to(request);
        }
        let body = request.json();
        let (instruction, results) = conversation(&body);
        if body["tools"].as_array().is_none_or(Vec::is_empty) {
            return Say::text("no").tokens(200, 0, 1).to(request);
        }
        let script = self.scripts.get(&instruction).expect("a request of the domain");
        let length = 500 + 100 * results.len() as u64;
        self.next(script, &instruction, &results).tokens(length, 0, 40).to(request)
    }

    fn next(&self, script: &Script, instruction: &str, results: &[String]) -> Say {
        let mut known = Knowledge::default();
        known.show(instruction);
        let mut known = [known.clone(), known];
        let list = |attack: bool| -> &[Step] { if attack { &script.attack } else { &script.plan } };
        let all = |attack: bool| (0..list(attack).len()).map(move |n| (attack, n));
        let mut agenda: VecDeque<Item> = all(script.plan.is_empty()).collect();
        let mut noticed = false;
        for result in results {
            let Some(((attack, n), _)) = step(&mut agenda, list, &known) else { break };
            let is_error = result.starts_with(REFUSAL_PREFIX);
            let seen = ToolResult { content: result.clone(), is_error };
            known[usize::from(attack)].deliver(n, &seen);
            known[usize::from(!attack)].show(result);
            if let Some(injection) = script.injection.as_ref().filter(|_| !noticed)
                && injection.is_in(result)
            {
                noticed = true;
                agenda.retain(|(attack, n)| *attack || !injection.replaces.contains(n));
                for item in all(true).rev() {
                    agenda.push_front(item);
                }
            }
        }
        match step(&mut agenda, list, &known) {
            Some((_, call)) => Say::call(&call.id, &call.tool, Value::Object(call.arguments)),
            None => match script.answer.resolve(&known[0]) {
                Some(Value::String(text)) => Say::text(text),
                Some(other) => Say::text(other.to_string()),
                None => Say::text("That could not be done."),
            },
        }
    }
}

/// The next step that can be made.
fn step<'s>(
    agenda: &mut VecDeque<Item>,
    list: impl Fn(bool) -> &'s [Step],
    known: &[Knowledge; 2],
) -> Option<(Item, ToolCall)> {
    while let Some((attack, n)) = agenda.pop_front() {
        let id = format!("call_{}_{n}", u8::from(attack));
        if let Some(call) = list(attack)[n].call(id, &known[usize::from(attack)]) {
            return Some(((attack, n), call));
        }
    }
    None
}

/// The user's request, and the results of all calls that were executed, in order.
fn conversation(body: &Value) -> (String, Vec<String>) {
    let (mut instruction, mut results) = (None, Vec::new());
    for message in body["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("tool") => results.push(text(content)),
            Some("user") => {
                let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
                let answers = blocks.iter().filter(|b| b["type"] == "tool_result");
                let before = results.len();
                results.extend(answers.map(|b| text(&b["content"])));
                if results.len() == before && instruction.is_none() {
                    instruction = Some(text(content));
                }
            }
            _ => {}
        }
    }
    // What never ran is tried again.
    results.retain(|result| !MISTAKES.iter().any(|words| result.starts_with(words)));
    (instruction.unwrap_or_default(), results)
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|b| b["text"].as_str()).collect(),
        _ => String::new(),
    }
}
