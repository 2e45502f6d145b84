//! The Analyzer played by a model: from a candidate's failures to one note in the search's
//! experience log (paper section 4.6).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use evosafe_llm::{CallTag, ChatRequest, Client, JsonSchema, Message, Role};
use evosafe_types::{CandidateId, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::Conversation;
use super::prompts;
use crate::SearchError;
use crate::evaluator::Evaluator;

/// Notes of a log; the oldest make room.
pub(super) const MOST_NOTES: usize = 40;
/// Characters of a note's texts.
pub(super) const MOST_CHARS: usize = 500;
/// Episodes a note may cite.
const MOST_EPISODES: usize = 6;
/// Answers that cannot be used, before there is no note.
pub(super) const BAD_ANSWERS: u32 = 3;
/// Share of common words from which two notes say the same.
const SAME: f64 = 0.7;

/// One note of the experience log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experience {
    /// The candidate it was learnt from.
    pub candidate: CandidateId,
    /// What went wrong.
    pub failure: String,
    /// The rule at fault, or what is missing.
    pub mechanism: String,
    /// What to try.
    pub try_next: String,
    /// What not to try.
    pub avoid: String,
    /// Train tasks that show it.
    pub episodes: Vec<TaskId>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    failure: String,
    mechanism: String,
    try_next: String,
    avoid: String,
    episodes: Vec<TaskId>,
    duplicate_of: Option<u64>,
}

impl Experience {
    fn words(&self) -> BTreeSet<String> {
        let text = format!("{} {} {} {}", self.failure, self.mechanism, self.try_next, self.avoid);
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
        words.map(str::to_lowercase).collect()
    }

    /// Whether another says the same in nearly the same words.
    fn repeats(&self, other: &Self) -> bool {
        let (a, b) = (self.words(), other.words());
        let (both, all) = (a.intersection(&b).count(), a.union(&b).count());
        #[expect(clippy::cast_precision_loss, reason = "words of a short text")]
        let share = both as f64 / all.max(1) as f64;
        share >= SAME
    }
}

/// Puts a note at the end of a log, unless the log has it already. Says whether it is new.
pub(crate) fn add(log: &mut Vec<Experience>, note: Experience) -> bool {
    if log.iter().any(|old| old.repeats(&note)) {
        return false;
    }
    log.push(note);
    if log.len() > MOST_NOTES {
        log.remove(0);
    }
    true
}

/// The log as text, numbered from 1.
pub(super) fn text(log: &[Experience]) -> String {
    if log.is_empty() {
        return "No notes yet.\n".to_owned();
    }
    let mut text = String::new();
    for (n, note) in log.iter().enumerate() {
        let Experience { candidate, failure, mechanism, try_next, avoid, episodes } = note;
        let episodes: Vec<&str> = episodes.iter().map(TaskId::as_str).collect();
        let _ = writeln!(
            text,
            "{}. {failure}\n   At fault: {mechanism}\n   Try: {try_next}\n   Avoid: {avoid}\n   Seen under {} in {}",
            n + 1,
            candidate.short(),
            episodes.join(", ")
        );
    }
    text
}

/// What the Analyzer looks at.
pub(crate) struct Look<'a> {
    pub candidate: &'a CandidateId,
    /// Outcomes by family and category, and clustered failures with examples.
    pub text: String,
    /// Tasks that occur in it.
    pub shown: BTreeSet<TaskId>,
}

/// Asks for a note. `None` if the log says it already, or if the model gives no answer.
///
/// # Errors
/// If the model stays out of reach, the budget is spent, or the user interrupts.
pub(crate) async fn note(
    client: &Client,
    evaluator: &Evaluator,
    look: &Look<'_>,
    log: &[Experience],
) -> Result<Option<Experience>, SearchError> {
    let tag = CallTag {
        candidate: Some(look.candidate.clone()),
        component: Some("note".to_owned()),
        ..CallTag::new(Role::Analyzer, "search")
    };
    let schema = schema();
    let question = format!("# The log so far\n\n{}\n{}", text(log), look.text);
    let request = ChatRequest {
        system: prompts::ANALYZER.to_owned(),
        messages: vec![Message::User(question)],
        json_schema: Some(JsonSchema { name: "note".to_owned(), schema: schema.clone() }),
        ..ChatRequest::default()
    };
    let mut talk = Conversation::new(client, evaluator, tag, request);
    for _ in 0..BAD_ANSWERS {
        let why = match talk.turn().await? {
            Ok(reply) => match reply.json(&schema).and_then(|value| read(value, look, log.len())) {
                Ok(note) => return Ok(note),
                Err(why) => why,
            },
            Err(error) => error.to_string(),
        };
        talk.say(format!("{why}. Answer again, with JSON of the schema and nothing else."));
    }
    Ok(None)
}

fn read(value: Value, look: &Look<'_>, notes: usize) -> Result<Option<Experience>, String> {
    let answer: Answer = serde_json::from_value(value).map_err(|e| e.to_string())?;
    match answer.duplicate_of {
        Some(n) if n >= 1 && usize::try_from(n).is_ok_and(|n| n <= notes) => return Ok(None),
        Some(n) => return Err(format!("`duplicate_of` is {n}, but the log has {notes} notes")),
        None => {}
    }
    let texts = [
        ("failure", &answer.failure),
        ("mechanism", &answer.mechanism),
        ("try_next", &answer.try_next),
        ("avoid", &answer.avoid),
    ];
    for (key, text) in texts {
        if text.trim().is_empty() || text.chars().count() > MOST_CHARS {
            return Err(format!("`{key}` must have 1 to {MOST_CHARS} characters"));
        }
    }
    if answer.episodes.is_empty() || answer.episodes.len() > MOST_EPISODES {
        return Err(format!("`episodes` must cite 1 to {MOST_EPISODES} tasks"));
    }
    if let Some(task) = answer.episodes.iter().find(|task| !look.shown.contains(task)) {
        return Err(format!("`episodes` cites {:?}, which you were not shown", task.as_str()));
    }
    let line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Some(Experience {
        candidate: look.candidate.clone(),
        failure: line(answer.failure),
        mechanism: line(answer.mechanism),
        try_next: line(answer.try_next),
        avoid: line(answer.avoid),
        episodes: answer.episodes,
    }))
}

fn schema() -> Value {
    let text = json!({"type": "string"});
    json!({"type": "object", "additionalProperties": false,
        "required": ["failure", "mechanism", "try_next", "avoid", "episodes", "duplicate_of"],
        "properties": {"failure": text, "mechanism": text, "try_next": text, "avoid": text,
            "episodes": {"type": "array", "items": text},
            "duplicate_of": {"type": ["integer", "null"]}}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(failure: &str) -> Experience {
        Experience {
            candidate: CandidateId::of(&[b"c"]),
            failure: failure.to_owned(),
            mechanism: "no rule looks at who a value came from".to_owned(),
            try_next: "ask where the recipient came from".to_owned(),
            avoid: "lists of names".to_owned(),
            episodes: vec![TaskId::new("a")],
        }
    }

    #[test]
    fn the_log_is_deduplicated_and_bounded() {
        let mut log = Vec::new();
        assert!(add(&mut log, note("Orders in files are obeyed.")));
        assert!(!add(&mut log, note("orders, in files: are obeyed!")), "the same words");
        for n in 0..100 {
            let other: Vec<String> = (0..30).map(|w| format!("word{n}x{w}")).collect();
            assert!(add(&mut log, note(&other.join(" "))));
        }
        assert_eq!(log.len(), MOST_NOTES);
        assert!(text(&log).contains("word99x0") && !text(&log).contains("Orders"));
    }

    #[test]
    fn a_note_cites_what_was_shown_and_is_short() {
        let candidate = CandidateId::of(&[b"c"]);
        let shown = BTreeSet::from([TaskId::new("a")]);
        let look = Look { candidate: &candidate, text: String::new(), shown };
        let with = |key: &str, value: Value| {
            let mut answer = json!({"failure": "f", "mechanism": "m", "try_next": "t", "avoid": "a",
                "episodes": ["a"], "duplicate_of": null});
            answer[key] = value;
            read(answer, &look, 2)
        };
        assert!(with("failure", json!("f")).expect("fits").is_some());
        assert_eq!(with("duplicate_of", json!(2)), Ok(None));
        for (key, value, says) in [
            ("duplicate_of", json!(3), "2 notes"),
            ("episodes", json!(["a", "held-out"]), "not shown"),
            ("episodes", json!([]), "1 to 6"),
            ("avoid", json!(""), "`avoid`"),
            ("try_next", json!("x".repeat(501)), "`try_next`"),
        ] {
            let error = with(key, value).expect_err(says);
            assert!(error.contains(says), "{error}");
        }
    }
}
