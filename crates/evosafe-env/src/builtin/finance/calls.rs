//! Dispatch of tool calls: validation, then the tool.

use evosafe_types::{ToolCall, ToolResult};
use serde_json::{Value, json};

use super::world::World;
use super::{tools, trading};
use crate::builtin::tooling::dollars;
pub(super) use crate::builtin::tooling::{Answer, Args};

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
        "get_quote" => get_quote(world, args.text("symbol")),
        "get_price_history" => get_price_history(world, args.text("symbol")),
        "get_company_profile" => get_company_profile(world, args.text("symbol")),
        "get_option_chain" => get_option_chain(world, args.text("symbol")),
        "get_news" => get_news(world, args.text("symbol")),
        "get_account" => get_account(world, args.text("account_id")),
        "list_orders" => trading::list_orders(world, args.text("account_id")),
        "place_order" => trading::place_order(world, &args),
        "cancel_order" => trading::cancel_order(world, args.text("order_id")),
        "trade_option" => trading::trade_option(world, &args),
        "list_payees" => list_payees(world, args.text("account_id")),
        "list_transactions" => list_transactions(world, args.text("account_id")),
        "send_payment" => trading::send_payment(world, &args),
        "transfer_funds" => trading::transfer_funds(world, &args),
        "list_inbox" => Ok(list_inbox(world)),
        "read_mail" => read_mail(world, args.text("mail_id")),
        "send_mail" => Ok(send_mail(world, &args)),
        "read_channel" => read_channel(world, args.text("channel")),
        "post_message" => post_message(world, &args),
        "get_client" => get_client(world, args.text("client_id")),
        "get_client_notes" => get_client_notes(world, args.text("client_id")),
        "update_client" => update_client(world, &args),
        "add_client_note" => add_client_note(world, &args),
        other => Err(format!("no tool `{other}`")),
    }
}

fn listing<'a>(world: &'a World, symbol: &str) -> Result<&'a super::world::Listing, String> {
    world.listings.get(symbol).ok_or_else(|| format!("no security `{symbol}`"))
}

fn get_quote(world: &mut World, symbol: &str) -> Answer {
    let found = listing(world, symbol)?;
    let value = json!({
        "symbol": symbol, "price": dollars(found.price), "average_volume": found.volume,
    });
    world.read.insert(format!("quote:{symbol}"));
    Ok(value)
}

fn get_price_history(world: &mut World, symbol: &str) -> Answer {
    let closes: Vec<Value> = listing(world, symbol)?.closes.iter().map(|c| dollars(*c)).collect();
    world.read.insert(format!("history:{symbol}"));
    Ok(json!({"symbol": symbol, "monthly_closes": closes}))
}

fn get_company_profile(world: &mut World, symbol: &str) -> Answer {
    let found = listing(world, symbol)?;
    let [buy, hold, sell] = found.ratings;
    let value = json!({
        "symbol": symbol, "company": found.company, "sector": found.sector,
        "dividend": dollars(found.dividend), "target_price": dollars(found.target),
        "ratings": {"buy": buy, "hold": hold, "sell": sell},
    });
    world.read.insert(format!("profile:{symbol}"));
    Ok(value)
}

fn get_option_chain(world: &mut World, symbol: &str) -> Answer {
    let series: Vec<Value> = listing(world, symbol)?
        .options
        .iter()
        .map(|s| {
            json!({
                "kind": s.kind, "strike": dollars(s.strike), "expiry": s.expiry,
                "premium": dollars(s.premium), "open_interest": s.open_interest,
            })
        })
        .collect();
    world.read.insert(format!("options:{symbol}"));
    Ok(json!({"symbol": symbol, "series": series}))
}

fn get_news(world: &mut World, symbol: &str) -> Answer {
    listing(world, symbol)?;
    let items: Vec<Value> = world
        .news
        .iter()
        .filter(|item| item.symbol == symbol)
        .map(|item| json!({"headline": item.headline, "text": item.body}))
        .collect();
    world.read.insert(format!("news:{symbol}"));
    Ok(json!({"symbol": symbol, "items": items}))
}

fn get_account(world: &mut World, id: &str) -> Answer {
    let found = world.accounts.get(id).ok_or_else(|| format!("no account `{id}`"))?;
    let owner = world.clients.get(&found.owner).map_or("", |client| client.name.as_str());
    let value = json!({
        "account_id": id, "title": found.title, "kind": found.kind,
        "beneficial_owner": {"client_id": found.owner, "name": owner},
        "cash": dollars(found.cash), "positions": found.positions,
    });
    world.read.insert(format!("account:{id}"));
    Ok(value)
}

fn list_payees(world: &mut World, id: &str) -> Answer {
    let found = world.accounts.get(id).ok_or_else(|| format!("no account `{id}`"))?;
    let value = json!({"account_id": id, "payees": found.payees});
    world.read.insert(format!("payees:{id}"));
    Ok(value)
}

fn list_transactions(world: &mut World, id: &str) -> Answer {
    let found = world.accounts.get(id).ok_or_else(|| format!("no account `{id}`"))?;
    let booked: Vec<Value> = found
        .history
        .iter()
        .map(|t| json!({"date": t.date, "text": t.text, "amount": dollars(t.amount)}))
        .collect();
    world.read.insert(format!("transactions:{id}"));
    Ok(json!({"account_id": id, "transactions": booked}))
}

fn list_inbox(world: &mut World) -> Value {
    world.read.insert("inbox:".to_owned());
    let mails: Vec<Value> = world
        .inbox
        .iter()
        .map(|m| json!({"mail_id": m.id, "from": m.from, "subject": m.subject}))
        .collect();
    json!({"mails": mails})
}

fn read_mail(world: &mut World, id: &str) -> Answer {
    let mail = world
        .inbox
        .iter()
        .find(|m| m.id == id)
        .ok_or_else(|| format!("no mail `{id}` in the inbox"))?;
    let value =
        json!({"mail_id": id, "from": mail.from, "subject": mail.subject, "body": mail.body});
    world.read.insert(format!("mail:{id}"));
    Ok(value)
}

fn send_mail(world: &mut World, args: &Args<'_>) -> Value {
    let to = args.text("to").to_owned();
    let text = format!("{}\n{}", args.text("subject"), args.text("body"));
    world.sent.push(super::world::Sent { to: to.clone(), text });
    json!({"status": "sent", "to": to})
}

fn read_channel(world: &mut World, name: &str) -> Answer {
    let posts = world.channels.get(name).ok_or_else(|| format!("no channel `{name}`"))?;
    let value = json!({"channel": name, "posts": posts});
    world.read.insert(format!("channel:{name}"));
    Ok(value)
}

fn post_message(world: &mut World, args: &Args<'_>) -> Answer {
    let name = args.text("channel").to_owned();
    if !world.channels.contains_key(&name) {
        return Err(format!("no channel `{name}`"));
    }
    world.posted.push((name.clone(), args.text("text").to_owned()));
    Ok(json!({"status": "posted", "channel": name}))
}

fn get_client(world: &mut World, id: &str) -> Answer {
    let found = world.clients.get(id).ok_or_else(|| format!("no client `{id}`"))?;
    let accounts: Vec<&String> =
        world.accounts.iter().filter(|(_, a)| a.owner == id).map(|(id, _)| id).collect();
    let value = json!({
        "client_id": id, "name": found.name, "email": found.email, "phone": found.phone,
        "address": found.address, "born": found.born, "tax_id": found.tax_id,
        "profile": found.profile, "trusted_contact": found.trusted_contact,
        "accounts": accounts,
    });
    world.read.insert(format!("client:{id}"));
    Ok(value)
}

fn get_client_notes(world: &mut World, id: &str) -> Answer {
    let found = world.clients.get(id).ok_or_else(|| format!("no client `{id}`"))?;
    let value = json!({"client_id": id, "notes": found.notes});
    world.read.insert(format!("notes:{id}"));
    Ok(value)
}

fn update_client(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, field, value) = (args.text("client_id"), args.text("field"), args.text("value"));
    let found = world.clients.get_mut(id).ok_or_else(|| format!("no client `{id}`"))?;
    let slot = match field {
        "email" => &mut found.email,
        "phone" => &mut found.phone,
        "address" => &mut found.address,
        "profile" => &mut found.profile,
        _ => &mut found.trusted_contact,
    };
    value.clone_into(slot);
    world.edits.push(super::world::Edit {
        client: id.to_owned(),
        field: field.to_owned(),
        value: value.to_owned(),
    });
    Ok(json!({"status": "updated", "client_id": id, "field": field}))
}

fn add_client_note(world: &mut World, args: &Args<'_>) -> Answer {
    let id = args.text("client_id");
    let text = args.text("text").to_owned();
    let found = world.clients.get_mut(id).ok_or_else(|| format!("no client `{id}`"))?;
    found.notes.push(text.clone());
    world.noted.push((id.to_owned(), text));
    Ok(json!({"status": "noted", "client_id": id}))
}
