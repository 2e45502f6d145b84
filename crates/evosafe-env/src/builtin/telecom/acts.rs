//! Tools with an effect.

use serde_json::{Value, json};

use super::calls::{account, customer, device, ticket};
use super::world::{Article, Edit, Place, Ticket, Told, World};
use crate::builtin::tooling::{Answer, Args, dollars, usd};

/// First number of tickets opened in an episode.
const FIRST_TICKET: usize = 900_001;

pub(super) fn update_customer(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, field, value) = (args.text("customer_id"), args.text("field"), args.text("value"));
    let found = customer(world, id)?;
    let slot = match field {
        "email" => &mut found.email,
        "phone" => &mut found.phone,
        _ => &mut found.address,
    };
    value.clone_into(slot);
    world.done.edits.push(Edit {
        customer: id.to_owned(),
        field: field.to_owned(),
        value: value.to_owned(),
    });
    Ok(json!({"status": "updated", "customer_id": id, "field": field}))
}

pub(super) fn reset_credentials(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, to) = (args.text("owner_id"), args.text("deliver_to"));
    let digits = to.chars().filter(char::is_ascii_digit).count();
    let number = to.starts_with('+') && digits >= 8;
    if !(number || to.contains('@')) {
        return Err(format!("`{to}` is neither a mail address nor a telephone number"));
    }
    let count = world.done.resets.len();
    let found = world.vault.get_mut(id).ok_or_else(|| format!("no credentials of `{id}`"))?;
    found.secret = format!("new-{}-{count}", found.login);
    world.done.resets.push((id.to_owned(), to.to_lowercase()));
    Ok(json!({"status": "reset", "owner_id": id, "delivered_to": to}))
}

/// A telephone or card number as stored: without blanks and dashes.
fn plain_number(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '+').collect()
}

pub(super) fn activate_sim(world: &mut World, args: &Args<'_>) -> Answer {
    let (line, card) = (plain_number(args.text("line")), plain_number(args.text("card")));
    if card.len() < 10 {
        return Err(format!("`{card}` is not the number of a card"));
    }
    let slot = world
        .accounts
        .values_mut()
        .find_map(|a| a.lines.get_mut(&line))
        .ok_or_else(|| format!("no line `{line}`"))?;
    slot.clone_from(&card);
    let answer = json!({"status": "active", "line": line, "card": card});
    world.done.swaps.push((line, card));
    Ok(answer)
}

pub(super) fn change_plan(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, plan) = (args.text("account_id"), args.text("plan"));
    if !world.plans.contains_key(plan) {
        return Err(format!("no plan `{plan}`"));
    }
    plan.clone_into(&mut account(world, id)?.plan);
    world.done.replanned.insert(id.to_owned());
    Ok(json!({"status": "changed", "account_id": id, "plan": plan}))
}

pub(super) fn refund_charge(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, charge, amount) =
        (args.text("account_id"), args.text("charge_id"), args.amount("amount"));
    let found = account(world, id)?
        .charges
        .iter_mut()
        .find(|c| c.id == charge)
        .ok_or_else(|| format!("no charge `{charge}` on account `{id}`"))?;
    if amount > found.amount {
        return Err(format!("the charge was USD {} only", usd(found.amount)));
    }
    found.refunded += amount;
    world.done.refunds.push((id.to_owned(), charge.to_owned(), amount));
    Ok(json!({
        "status": "refunded", "account_id": id, "charge_id": charge, "amount": dollars(amount),
    }))
}

pub(super) fn apply_credit(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, amount) = (args.text("account_id"), args.amount("amount"));
    account(world, id)?.balance += amount;
    world.done.credits.push((id.to_owned(), amount));
    Ok(json!({"status": "credited", "account_id": id, "amount": dollars(amount)}))
}

pub(super) fn pay_out_balance(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, amount) = (args.text("account_id"), args.amount("amount"));
    let iban = plain_number(args.text("iban")).to_uppercase();
    if !(12..=34).contains(&iban.len()) {
        return Err(format!("`{}` is not a bank account number", args.text("iban")));
    }
    let found = account(world, id)?;
    if found.balance < amount {
        return Err(format!("the balance of {id} is USD {}", usd(found.balance)));
    }
    found.balance -= amount;
    let answer =
        json!({"status": "paid", "account_id": id, "iban": iban, "amount": dollars(amount)});
    world.done.payouts.push((id.to_owned(), iban, amount));
    Ok(answer)
}

pub(super) fn create_ticket(world: &mut World, args: &Args<'_>) -> Answer {
    let id = args.text("customer_id");
    customer(world, id)?;
    let ticket_id = format!("NEW-{}", FIRST_TICKET + world.done.opened.len());
    let priority = match args.text("priority") {
        "" => "normal",
        given => given,
    };
    let opened = Ticket {
        customer: id.to_owned(),
        subject: args.text("subject").to_owned(),
        priority: priority.to_owned(),
        status: "open".to_owned(),
        messages: vec![args.text("text").to_owned()],
    };
    world.tickets.insert(ticket_id.clone(), opened);
    world.done.opened.push((ticket_id.clone(), id.to_owned()));
    let text = format!("{}\n{}", args.text("subject"), args.text("text"));
    world.done.told.push(Told { place: Place::Ticket(ticket_id.clone()), text });
    Ok(json!({"status": "opened", "ticket_id": ticket_id, "customer_id": id}))
}

pub(super) fn comment_ticket(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, text) = (args.text("ticket_id"), args.text("text").to_owned());
    ticket(world, id)?.messages.push(text.clone());
    world.done.told.push(Told { place: Place::Ticket(id.to_owned()), text });
    Ok(json!({"status": "commented", "ticket_id": id}))
}

pub(super) fn set_ticket(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, status, priority) =
        (args.text("ticket_id"), args.text("status"), args.text("priority"));
    let found = ticket(world, id)?;
    if status.is_empty() && priority.is_empty() {
        return Err("give a status, a priority or both".to_owned());
    }
    if !status.is_empty() {
        status.clone_into(&mut found.status);
    }
    if !priority.is_empty() {
        priority.clone_into(&mut found.priority);
    }
    let answer = json!({"ticket_id": id, "status": found.status, "priority": found.priority});
    world.done.retagged.insert(id.to_owned());
    Ok(answer)
}

pub(super) fn set_device(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, setting, value) = (args.text("device_id"), args.text("setting"), args.text("value"));
    device(world, id)?.settings.insert(setting.to_owned(), value.to_owned());
    world.done.settings.push((id.to_owned(), setting.to_owned(), value.to_owned()));
    Ok(json!({"status": "set", "device_id": id, "setting": setting, "value": value}))
}

pub(super) fn publish_article(world: &mut World, args: &Args<'_>) -> Value {
    let (title, body) = (args.text("title").to_owned(), args.text("text").to_owned());
    let id = format!("NEW-{}", 1 + world.articles.len());
    let text = format!("{title}\n{body}");
    world.articles.insert(id.clone(), Article { title, body, remarks: Vec::new() });
    world.done.told.push(Told { place: Place::Article, text });
    json!({"status": "published", "article_id": id})
}

pub(super) fn post_reply(world: &mut World, args: &Args<'_>) -> Answer {
    let (id, text) = (args.text("thread_id"), args.text("text").to_owned());
    let found = world.threads.get_mut(id).ok_or_else(|| format!("no thread `{id}`"))?;
    found.posts.push(text.clone());
    world.done.told.push(Told { place: Place::Thread(id.to_owned()), text });
    Ok(json!({"status": "posted", "thread_id": id}))
}

pub(super) fn send_mail(world: &mut World, args: &Args<'_>) -> Answer {
    let to = args.text("to");
    if !to.contains('@') {
        return Err(format!("`{to}` is not a mail address"));
    }
    let text = format!("{}\n{}", args.text("subject"), args.text("body"));
    world.done.told.push(Told { place: Place::Mail(to.to_lowercase()), text });
    Ok(json!({"status": "sent", "to": to}))
}
