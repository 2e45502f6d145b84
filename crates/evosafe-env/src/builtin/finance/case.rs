//! A task before it gets its name, and the words that templates write steps in.

use serde_json::Value;

use super::goal::Goal;
use super::tools;
use super::world::Dir;
use crate::builtin::script::{Expr, Injection, Script, Step};
use crate::builtin::tooling::dollars;

/// What a template makes.
#[derive(Debug)]
pub(super) struct Case {
    /// The user's request.
    pub instruction: String,
    /// Plan, attack, injection, answer.
    pub script: Script,
    /// The user's goal; `None` in direct attacks.
    pub goal: Option<Goal>,
    /// The attacker's goal; `None` in benign tasks.
    pub harm: Option<Goal>,
}

impl Case {
    /// A benign task.
    pub(super) fn benign(instruction: String, plan: Vec<Step>, answer: Expr, goal: Goal) -> Self {
        let script = Script { plan, attack: Vec::new(), injection: None, answer };
        Self { instruction, script, goal: Some(goal), harm: None }
    }

    /// A request that is itself the attack.
    pub(super) fn direct(instruction: String, attack: Vec<Step>, harm: Goal) -> Self {
        let script = Script { plan: Vec::new(), attack, injection: None, answer: known("Done.") };
        Self { instruction, script, goal: None, harm: Some(harm) }
    }

    /// Adds an attack in tool output.
    pub(super) fn attacked(mut self, injection: Injection, attack: Vec<Step>, harm: Goal) -> Self {
        self.script.injection = Some(injection);
        self.script.attack = attack;
        self.harm = Some(harm);
        self
    }
}

/// Known from the request.
pub(super) fn known(value: impl Into<Value>) -> Expr {
    Expr::Known(value.into())
}

/// Known once shown, spelled as the value itself.
pub(super) fn seen(value: impl Into<Value>) -> Expr {
    let value = value.into();
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Expr::Seen { value, shown }
}

/// A value that follows from something shown, e.g. half of a position.
pub(super) fn seen_as(value: impl Into<Value>, shown: impl Into<String>) -> Expr {
    Expr::Seen { value: value.into(), shown: shown.into() }
}

/// Text of pieces.
pub(super) fn text(pieces: Vec<Expr>) -> Expr {
    Expr::Text(pieces)
}

/// An amount known from the request.
pub(super) fn money(cents: i64) -> Expr {
    known(dollars(cents))
}

/// A step; server and effect come from the tool's row.
pub(super) fn step(tool: &str, arguments: Vec<(&str, Expr)>) -> Step {
    let row = tools::row(tool);
    Step {
        server: row.map_or("", |row| row.server).to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.into_iter().map(|(name, expr)| (name.to_owned(), expr)).collect(),
        effect: row.is_some_and(|row| row.hints.has_effect()),
        independent: false,
        alternatives: Vec::new(),
    }
}

/// A read with one argument from the request.
pub(super) fn read(tool: &str, name: &str, value: &str) -> Step {
    step(tool, vec![(name, known(value))])
}

/// An order for shares.
pub(super) fn order(account: Expr, side: Dir, symbol: Expr, quantity: Expr) -> Step {
    let side = known(side.as_str());
    step(
        "place_order",
        vec![("account_id", account), ("side", side), ("symbol", symbol), ("quantity", quantity)],
    )
}

/// A limit order with everything known.
pub(super) fn limit_order(
    account: &str,
    side: Dir,
    symbol: &str,
    quantity: i64,
    limit: i64,
) -> Step {
    let mut step = order(known(account), side, known(symbol), known(quantity));
    step.arguments.push(("limit_price".to_owned(), money(limit)));
    step
}

/// A payment.
pub(super) fn pay(from: Expr, recipient: Expr, iban: Expr, amount: Expr) -> Step {
    step(
        "send_payment",
        vec![("from_account", from), ("recipient", recipient), ("iban", iban), ("amount", amount)],
    )
}

/// A transfer within the firm.
pub(super) fn transfer(from: Expr, to: Expr, amount: Expr) -> Step {
    step("transfer_funds", vec![("from_account", from), ("to_account", to), ("amount", amount)])
}

/// A mail.
pub(super) fn mail(to: Expr, subject: &str, body: Expr) -> Step {
    step("send_mail", vec![("to", to), ("subject", known(subject)), ("body", body)])
}

impl Step {
    /// Marks the step as independent of the one before it.
    pub(super) fn also(mut self) -> Self {
        self.independent = true;
        self
    }

    /// Adds another way to the same effect.
    pub(super) fn or(mut self, other: Vec<Step>) -> Self {
        self.alternatives.push(other);
        self
    }
}
