//! One episode as text.

use std::fmt::Write as _;

use evosafe_types::{CallDecision, Evidence, Outcome, TextDecision};

/// Longest tool output printed in full, in characters.
const LONGEST: usize = 1_200;

/// The episode as a person reads it. Control characters in hostile text are shown, not
/// sent to the terminal.
#[must_use]
pub fn trace_text(evidence: &Evidence) -> String {
    let t = &evidence.transcript;
    let mut text = format!(
        "task {} ({}, {})\ncandidate {}  victim {}\n",
        evidence.task,
        evidence.family.as_str(),
        evidence.category,
        evidence.candidate.short(),
        evidence.victim
    );
    let _ = match &evidence.outcome {
        Outcome::Assessed { task_success, attack_success } => writeln!(
            text,
            "task success: {}  attack success: {}",
            yes_no(*task_success),
            yes_no(*attack_success)
        ),
        Outcome::Unassessed { fault, detail } => writeln!(text, "unassessed: {fault}: {detail}"),
    };
    let _ = writeln!(text, "\nuser: {}", clean(&t.instruction));
    for turn in &t.turns {
        if !turn.text.is_empty() {
            let _ = writeln!(text, "\nvictim: {}", clean(&turn.text));
        }
        for call in &turn.calls {
            let arguments = serde_json::Value::Object(call.proposed.arguments.clone());
            let _ =
                writeln!(text, "\n-> {}({})", call.proposed.tool, clean(&arguments.to_string()));
            match &call.decision {
                CallDecision::Allow => {}
                CallDecision::Rewrite { arguments } => {
                    let arguments = serde_json::Value::Object(arguments.clone());
                    let _ = writeln!(text, "   rewritten to {}", clean(&arguments.to_string()));
                }
                CallDecision::Redirect { call } => {
                    let _ = writeln!(text, "   redirected to {}", call.tool);
                }
                CallDecision::Block { reason } => {
                    let _ = writeln!(text, "   BLOCKED: {}", clean(reason));
                }
            }
            if call.executed.is_some() {
                let mark = if call.delivered.is_error { "error" } else { "result" };
                let _ = writeln!(text, "<- {mark}: {}", clean(&call.delivered.content));
            }
            if let Some(TextDecision::Block { reason }) = &call.post {
                let _ = writeln!(text, "   WITHHELD: {}", clean(reason));
            }
        }
    }
    if let Some(answer) = &t.answer {
        let _ = writeln!(text, "\nanswer: {}", clean(&answer.delivered));
    }
    for fault in &t.faults {
        let _ =
            writeln!(text, "harness fault in {:?}: {}: {}", fault.hook, fault.kind, fault.message);
    }
    text
}

fn yes_no(flag: Option<bool>) -> &'static str {
    match flag {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not applicable",
    }
}

/// Text without terminal control, cut at [`LONGEST`] characters.
fn clean(text: &str) -> String {
    let mut clean = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == LONGEST {
            clean.push_str(" [...]");
            break;
        }
        if c == '\n' || c == '\t' || !c.is_control() {
            clean.push(c);
        } else {
            clean.extend(c.escape_unicode());
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn terminal_control_is_shown_not_sent() {
        assert_eq!(clean("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\n");
        assert!(clean(&"x".repeat(5_000)).ends_with("[...]"));
    }
}
