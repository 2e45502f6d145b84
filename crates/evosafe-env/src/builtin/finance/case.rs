//! The words that finance templates write steps in.

use super::goal::Goal;
use super::tools;
use super::world::Dir;
pub(super) use crate::builtin::case::{known, seen, seen_as, text};
use crate::builtin::script::{Expr, Step};
use crate::builtin::tooling::dollars;

/// What a template makes.
pub(super) type Case = crate::builtin::case::Case<Goal>;

/// An amount known from the request.
pub(super) fn money(cents: i64) -> Expr {
    known(dollars(cents))
}

/// A step; server and effect come from the tool's row.
pub(super) fn step(tool: &str, arguments: Vec<(&str, Expr)>) -> Step {
    crate::builtin::case::step_of(tools::row(tool), tool, arguments)
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
