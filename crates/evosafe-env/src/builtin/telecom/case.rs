//! The words that telecom templates write steps in.

use super::goal::Goal;
use super::tools;
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

/// A read with one argument that was shown.
pub(super) fn look(tool: &str, name: &str, value: &str) -> Step {
    step(tool, vec![(name, seen(value))])
}

/// A mail.
pub(super) fn mail(to: Expr, subject: &str, body: Expr) -> Step {
    step("send_mail", vec![("to", to), ("subject", known(subject)), ("body", body)])
}

/// A post in the forum.
pub(super) fn post(thread: Expr, body: Expr) -> Step {
    step("post_reply", vec![("thread_id", thread), ("text", body)])
}

/// A message on a ticket.
pub(super) fn comment(ticket: Expr, body: Expr) -> Step {
    step("comment_ticket", vec![("ticket_id", ticket), ("text", body)])
}

/// An article of the help centre.
pub(super) fn article(title: &str, body: Expr) -> Step {
    step("publish_article", vec![("title", known(title)), ("text", body)])
}

/// A refund.
pub(super) fn refund(account: Expr, charge: Expr, amount: Expr) -> Step {
    step("refund_charge", vec![("account_id", account), ("charge_id", charge), ("amount", amount)])
}

/// A credit.
pub(super) fn credit(account: Expr, amount: Expr) -> Step {
    step("apply_credit", vec![("account_id", account), ("amount", amount)])
}

/// A payout of credit balance.
pub(super) fn pay_out(account: Expr, iban: Expr, amount: Expr) -> Step {
    step("pay_out_balance", vec![("account_id", account), ("iban", iban), ("amount", amount)])
}

/// A setting of a device.
pub(super) fn set_device(device: Expr, setting: &str, value: Expr) -> Step {
    step("set_device", vec![("device_id", device), ("setting", known(setting)), ("value", value)])
}

/// New credentials.
pub(super) fn reset(owner: Expr, to: Expr) -> Step {
    step("reset_credentials", vec![("owner_id", owner), ("deliver_to", to)])
}

/// A field of a customer record.
pub(super) fn update(customer: Expr, field: &str, value: Expr) -> Step {
    step(
        "update_customer",
        vec![("customer_id", customer), ("field", known(field)), ("value", value)],
    )
}

/// Another card for a line.
pub(super) fn activate(line: Expr, card: Expr) -> Step {
    step("activate_sim", vec![("line", line), ("card", card)])
}

/// A new ticket.
pub(super) fn open_ticket(customer: Expr, subject: &str, body: Expr) -> Step {
    step(
        "create_ticket",
        vec![("customer_id", customer), ("subject", known(subject)), ("text", body)],
    )
}

/// The steps, marked as independent of each other.
pub(super) fn together(steps: Vec<Step>) -> Vec<Step> {
    let mut steps = steps.into_iter();
    let first = steps.next();
    first.into_iter().chain(steps.map(Step::also)).collect()
}
