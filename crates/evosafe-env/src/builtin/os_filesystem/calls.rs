//! Dispatch of tool calls: validation, then the tool; accounts, mail, chat and the web.

use std::collections::BTreeSet;

use evosafe_types::{ToolCall, ToolResult};
use serde_json::{Value, json};

use super::world::{Job, Sent, Upload, User, World};
use super::{files, line, tools};
use crate::builtin::tooling::{Answer, Args};

/// Executes a call.
pub(super) fn call(world: &mut World, call: &ToolCall) -> ToolResult {
    match dispatch(world, call) {
        Ok(value) => ToolResult { content: value.to_string(), is_error: false },
        Err(text) => ToolResult { content: format!("error: {text}"), is_error: true },
    }
}

fn dispatch(world: &mut World, call: &ToolCall) -> Answer {
    let row = tools::find(&call.tool).ok_or_else(|| format!("no tool `{}`", call.tool))?;
    if let Some(server) = &call.server
        && server != row.server
    {
        return Err(format!("server `{server}` has no tool `{}`", call.tool));
    }
    row.validate(&call.arguments)?;
    let args = Args::new(&call.arguments);
    let text = |name: &str| args.text(name);
    let path = text("path");
    match row.name {
        "ls" => files::ls(world, path),
        "cat" => files::cat(world, path),
        "grep" => files::grep(world, text("pattern"), path),
        "find" => files::find(world, path, text("name"), text("owner")),
        "write_file" => files::write(world, path, text("content"), false),
        "append_file" => files::write(world, path, text("content"), true),
        "cp" => files::cp(world, text("source"), text("destination")),
        "mv" => files::mv(world, text("source"), text("destination")),
        "rm" => files::rm(world, path),
        "tar" => files::tar(world, &[text("source")], text("archive")),
        "chmod" => files::chmod(world, path, text("mode")),
        "chown" => files::chown(world, path, text("owner"), text("group")),
        "run" => line::run(world, text("command")),
        "list_users" => Ok(list_users(world)),
        "useradd" => useradd(world, &args),
        "usermod" => usermod(world, text("user"), text("group")),
        "show" => files::show(world, path, text("user")),
        "crontab" => crontab(world, &args),
        "download" => download(world, text("url")),
        "upload" => upload(world, path, text("url")),
        "list_inbox" => Ok(list_inbox(world)),
        "read_mail" => read_mail(world, text("mail_id")),
        "send_mail" => send_mail(world, &args),
        "read_channel" => read_channel(world, text("channel")),
        "post_message" => post_message(world, &args),
        other => Err(format!("no tool `{other}`")),
    }
}

fn list_users(world: &mut World) -> Value {
    world.read.insert("users:".to_owned());
    let users: Vec<Value> = world
        .users
        .iter()
        .map(|(id, u)| json!({"user": id, "name": u.name, "email": u.email, "groups": u.groups}))
        .collect();
    let jobs: Vec<Value> = world
        .jobs
        .iter()
        .map(|j| json!({"user": j.user, "schedule": j.schedule, "command": j.command}))
        .collect();
    json!({"you": world.me, "users": users, "jobs": jobs})
}

fn operator(world: &World) -> Result<(), String> {
    if world.is_operator(&world.me) {
        Ok(())
    } else {
        Err(format!("only members of `{}` may do this", world.operators))
    }
}

fn useradd(world: &mut World, args: &Args<'_>) -> Answer {
    operator(world)?;
    let (user, name, group) = (args.text("user"), args.text("name"), args.text("group"));
    if world.users.contains_key(user) {
        return Err(format!("there is a user `{user}` already"));
    }
    known_group(world, group)?;
    let domain = world.users.get(&world.me).and_then(|me| me.email.split_once('@'));
    let email = format!("{user}@{}", domain.map_or("", |(_, domain)| domain));
    let account = User { name: name.to_owned(), email, groups: vec![group.to_owned()] };
    world.users.insert(user.to_owned(), account);
    world.record(&format!("useradd {user} {group}"));
    Ok(json!({"status": "created", "user": user, "group": group}))
}

fn known_group(world: &World, group: &str) -> Result<(), String> {
    let known = world.users.values().any(|u| u.groups.iter().any(|g| g == group))
        || world.files.values().any(|f| f.group == group);
    if known { Ok(()) } else { Err(format!("no group `{group}`")) }
}

fn usermod(world: &mut World, user: &str, group: &str) -> Answer {
    operator(world)?;
    known_group(world, group)?;
    let account = world.users.get_mut(user).ok_or_else(|| format!("no user `{user}`"))?;
    if !account.groups.iter().any(|g| g == group) {
        account.groups.push(group.to_owned());
    }
    world.record(&format!("usermod {user} {group}"));
    Ok(json!({"status": "added", "user": user, "group": group}))
}

fn crontab(world: &mut World, args: &Args<'_>) -> Answer {
    let user = args.text("user").to_owned();
    if !world.users.contains_key(&user) {
        return Err(format!("no user `{user}`"));
    }
    if user != world.me {
        operator(world)?;
    }
    let (schedule, command) = (args.text("schedule").to_owned(), args.text("command").to_owned());
    if schedule.split_whitespace().count() != 5 {
        return Err(format!("`{schedule}` does not have five fields"));
    }
    world.record(&format!("crontab {user} {command}"));
    world.jobs.push(Job { user: user.clone(), schedule, command, added_now: true });
    Ok(json!({"status": "scheduled", "user": user}))
}

fn download(world: &mut World, url: &str) -> Answer {
    let page = world.pages.get(url).ok_or_else(|| format!("404: no page `{url}`"))?;
    let value = json!({"url": url, "content": page});
    world.read.insert(format!("page:{url}"));
    Ok(value)
}

fn upload(world: &mut World, path: &str, url: &str) -> Answer {
    if !url.starts_with("https://") {
        return Err(format!("`{url}` is not an https address"));
    }
    let file = world.readable(path)?;
    let upload =
        Upload { url: url.to_owned(), text: file.content.clone(), origins: file.origins.clone() };
    world.uploads.push(upload);
    Ok(json!({"status": "uploaded", "path": path, "url": url}))
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

fn send_mail(world: &mut World, args: &Args<'_>) -> Answer {
    let to = args.text("to").to_owned();
    if !to.contains('@') {
        return Err(format!("`{to}` is not a mail address"));
    }
    let mut text = format!("{}\n{}", args.text("subject"), args.text("body"));
    let mut origins = BTreeSet::new();
    let attachment = args.text("attachment");
    if !attachment.is_empty() {
        let file = world.readable(attachment)?;
        text.push('\n');
        text.push_str(&file.content);
        origins.clone_from(&file.origins);
    }
    world.sent.push(Sent { to: to.clone(), text, origins });
    Ok(json!({"status": "sent", "to": to}))
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
