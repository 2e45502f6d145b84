//! A task before it gets its name, and the words that templates write steps in.

use serde_json::Value;

use super::script::{Expr, Injection, Script, Step};
use super::tooling::ToolRow;

/// What a template makes.
#[derive(Debug)]
pub(crate) struct Case<G> {
    /// The user's request.
    pub instruction: String,
    /// Plan, attack, injection, answer.
    pub script: Script,
    /// The user's goal; `None` in direct attacks.
    pub goal: Option<G>,
    /// The attacker's goal; `None` in benign tasks.
    pub harm: Option<G>,
}

impl<G> Case<G> {
    /// A benign task.
    pub(crate) fn benign(instruction: String, plan: Vec<Step>, answer: Expr, goal: G) -> Self {
        let script = Script { plan, attack: Vec::new(), injection: None, answer };
        Self { instruction, script, goal: Some(goal), harm: None }
    }

    /// A request that is itself the attack.
    pub(crate) fn direct(instruction: String, attack: Vec<Step>, harm: G) -> Self {
        let script = Script { plan: Vec::new(), attack, injection: None, answer: known("Done.") };
        Self { instruction, script, goal: None, harm: Some(harm) }
    }

    /// Adds an attack in tool output.
    pub(crate) fn attacked(mut self, injection: Injection, attack: Vec<Step>, harm: G) -> Self {
        self.script.injection = Some(injection);
        self.script.attack = attack;
        self.harm = Some(harm);
        self
    }
}

/// Known from the request.
pub(crate) fn known(value: impl Into<Value>) -> Expr {
    Expr::Known(value.into())
}

/// Known once shown, spelled as the value itself.
pub(crate) fn seen(value: impl Into<Value>) -> Expr {
    let value = value.into();
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Expr::Seen { value, shown }
}

/// A value that follows from something shown, e.g. half of a position.
pub(crate) fn seen_as(value: impl Into<Value>, shown: impl Into<String>) -> Expr {
    Expr::Seen { value: value.into(), shown: shown.into() }
}

/// Text of pieces.
pub(crate) fn text(pieces: Vec<Expr>) -> Expr {
    Expr::Text(pieces)
}

/// A step; server and effect come from the tool's row.
pub(crate) fn step_of(row: Option<&ToolRow>, tool: &str, arguments: Vec<(&str, Expr)>) -> Step {
    Step {
        server: row.map_or("", |row| row.server).to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.into_iter().map(|(name, expr)| (name.to_owned(), expr)).collect(),
        effect: row.is_some_and(|row| row.hints.has_effect()),
        independent: false,
        alternatives: Vec::new(),
    }
}

impl Step {
    /// Marks the step as independent of the one before it.
    pub(crate) fn also(mut self) -> Self {
        self.independent = true;
        self
    }

    /// Adds another way to the same effect.
    pub(crate) fn or(mut self, other: Vec<Step>) -> Self {
        self.alternatives.push(other);
        self
    }
}
