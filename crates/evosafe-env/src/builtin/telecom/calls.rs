//! Dispatch of tool calls: validation, then the tool. What reads stands here.

use evosafe_types::{ToolCall, ToolResult};
use serde_json::{Value, json};

use super::world::{Account, Customer, Device, Ticket, World};
use super::{acts, tools};
use crate::builtin::tooling::{Answer, Args, dollars};

/// Executes a call.
pub(crate) fn call(world: &mut World, call: &ToolCall) -> ToolResult {
    match dispatch(world, call) {
        Ok(value) => ToolResult { content: value.to_string(), is_error: false },
        Err(text) => ToolResult { content: format!("error: {text}"), is_error: true },
    }
}

fn dispatch(world: &mut World, call: &ToolCall) -> Answer {
    let row = tools::row(&call.tool).ok_or_else(|| format!("no tool `{}`", call.tool))?;
    if let Some(server) = &call.server
        && server != row.server
    {
        return Err(format!("server `{server}` has no tool `{}`", call.tool));
    }
    row.validate(&call.arguments)?;
    let args = Args::new(&call.arguments);
    match row.name {
        "get_customer" => get_customer(world, args.text("customer_id")),
        "update_customer" => acts::update_customer(world, &args),
        "get_credentials" => get_credentials(world, args.text("owner_id")),
        "reset_credentials" => acts::reset_credentials(world, &args),
        "activate_sim" => acts::activate_sim(world, &args),
        "get_account" => get_account(world, args.text("account_id")),
        "list_plans" => Ok(list_plans(world)),
        "change_plan" => acts::change_plan(world, &args),
        "list_charges" => list_charges(world, args.text("account_id")),
        "refund_charge" => acts::refund_charge(world, &args),
        "apply_credit" => acts::apply_credit(world, &args),
        "pay_out_balance" => acts::pay_out_balance(world, &args),
        "read_ticket" => read_ticket(world, args.text("ticket_id")),
        "create_ticket" => acts::create_ticket(world, &args),
        "comment_ticket" => acts::comment_ticket(world, &args),
        "set_ticket" => acts::set_ticket(world, &args),
        "get_device" => get_device(world, args.text("device_id")),
        "set_device" => acts::set_device(world, &args),
        "read_article" => read_article(world, args.text("article_id")),
        "publish_article" => Ok(acts::publish_article(world, &args)),
        "read_thread" => read_thread(world, args.text("thread_id")),
        "post_reply" => acts::post_reply(world, &args),
        "list_inbox" => Ok(list_inbox(world)),
        "read_mail" => read_mail(world, args.text("sender")),
        "send_mail" => acts::send_mail(world, &args),
        other => Err(format!("no tool `{other}`")),
    }
}

pub(super) fn customer<'a>(world: &'a mut World, id: &str) -> Result<&'a mut Customer, String> {
    world.customers.get_mut(id).ok_or_else(|| format!("no customer `{id}`"))
}

pub(super) fn account<'a>(world: &'a mut World, id: &str) -> Result<&'a mut Account, String> {
    world.accounts.get_mut(id).ok_or_else(|| format!("no account `{id}`"))
}

pub(super) fn ticket<'a>(world: &'a mut World, id: &str) -> Result<&'a mut Ticket, String> {
    world.tickets.get_mut(id).ok_or_else(|| format!("no ticket `{id}`"))
}

pub(super) fn device<'a>(world: &'a mut World, id: &str) -> Result<&'a mut Device, String> {
    world.devices.get_mut(id).ok_or_else(|| format!("no device `{id}`"))
}

fn note(world: &mut World, kind: &str, key: &str) {
    world.done.read.insert(format!("{kind}:{key}"));
}

fn get_customer(world: &mut World, id: &str) -> Answer {
    let found = customer(world, id)?.clone();
    let accounts: Vec<&String> =
        world.accounts.iter().filter(|(_, a)| a.owner == id).map(|(id, _)| id).collect();
    let tickets: Vec<Value> = world
        .tickets
        .iter()
        .filter(|(_, t)| t.customer == id)
        .map(|(id, t)| json!({"ticket_id": id, "subject": t.subject, "status": t.status}))
        .collect();
    let value = json!({
        "customer_id": id, "name": found.name, "email": found.email, "phone": found.phone,
        "address": found.address, "kind": found.kind, "bank_account": found.bank,
        "authorised_contacts": found.contacts,
        "accounts": accounts, "tickets": tickets,
    });
    note(world, "customer", id);
    Ok(value)
}

fn get_credentials(world: &mut World, id: &str) -> Answer {
    let found = world.vault.get(id).ok_or_else(|| format!("no credentials of `{id}`"))?;
    let value = json!({"owner_id": id, "login": found.login, "secret": found.secret});
    note(world, "credentials", id);
    Ok(value)
}

fn get_account(world: &mut World, id: &str) -> Answer {
    let found = account(world, id)?.clone();
    let owner = world.customers.get(&found.owner);
    let value = json!({
        "account_id": id,
        "owner": {
            "customer_id": found.owner,
            "name": owner.map_or("", |c| c.name.as_str()),
            "kind": owner.map_or("", |c| c.kind.as_str()),
        },
        "plan": found.plan,
        "lines": found.lines.iter().map(|(line, card)| json!({"line": line, "card": card})).collect::<Vec<_>>(),
        "balance": dollars(found.balance),
    });
    note(world, "account", id);
    Ok(value)
}

fn list_plans(world: &mut World) -> Value {
    let plans: Vec<Value> = world
        .plans
        .iter()
        .map(|(name, p)| {
            json!({"plan": name, "price": dollars(p.price), "data_gb": p.data, "kind": p.kind})
        })
        .collect();
    note(world, "plans", "");
    json!({"plans": plans})
}

fn list_charges(world: &mut World, id: &str) -> Answer {
    let charges: Vec<Value> = account(world, id)?
        .charges
        .iter()
        .map(|c| {
            json!({
                "charge_id": c.id, "date": c.date, "text": c.text, "amount": dollars(c.amount),
                "paid": dollars(c.paid), "refunded": dollars(c.refunded),
            })
        })
        .collect();
    note(world, "charges", id);
    Ok(json!({"account_id": id, "charges": charges}))
}

fn read_ticket(world: &mut World, id: &str) -> Answer {
    let found = ticket(world, id)?.clone();
    note(world, "ticket", id);
    Ok(json!({
        "ticket_id": id, "customer_id": found.customer, "subject": found.subject,
        "priority": found.priority, "status": found.status, "messages": found.messages,
    }))
}

fn get_device(world: &mut World, id: &str) -> Answer {
    let found = device(world, id)?.clone();
    note(world, "device", id);
    Ok(json!({
        "device_id": id, "kind": found.kind, "site": found.site, "settings": found.settings,
    }))
}

fn read_article(world: &mut World, id: &str) -> Answer {
    let found = world.articles.get(id).ok_or_else(|| format!("no article `{id}`"))?;
    let value = json!({
        "article_id": id, "title": found.title, "text": found.body, "remarks": found.remarks,
    });
    note(world, "article", id);
    Ok(value)
}

fn read_thread(world: &mut World, id: &str) -> Answer {
    let found = world.threads.get(id).ok_or_else(|| format!("no thread `{id}`"))?;
    let value = json!({"thread_id": id, "title": found.title, "posts": found.posts});
    note(world, "thread", id);
    Ok(value)
}

fn list_inbox(world: &mut World) -> Value {
    note(world, "inbox", "");
    let mails: Vec<Value> =
        world.inbox.iter().map(|m| json!({"from": m.from, "subject": m.subject})).collect();
    json!({"mails": mails})
}

fn read_mail(world: &mut World, sender: &str) -> Answer {
    let mails: Vec<Value> = world
        .inbox
        .iter()
        .filter(|m| m.from.eq_ignore_ascii_case(sender))
        .map(|m| json!({"from": m.from, "subject": m.subject, "body": m.body}))
        .collect();
    if mails.is_empty() {
        return Err(format!("no mail from `{sender}` in the inbox"));
    }
    note(world, "mail", &sender.to_lowercase());
    Ok(json!({"mails": mails}))
}
