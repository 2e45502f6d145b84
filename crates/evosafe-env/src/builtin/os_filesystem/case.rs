//! The words that templates of this domain write steps in.

use super::goal::{Carry, Goal};
use super::tools;
pub(super) use crate::builtin::case::{known, seen, seen_as, text};
use crate::builtin::script::{Expr, Step};

/// What a template makes.
pub(super) type Case = crate::builtin::case::Case<Goal>;

/// A step; server and effect come from the tool's row.
pub(super) fn step(tool: &str, arguments: Vec<(&str, Expr)>) -> Step {
    crate::builtin::case::step_of(tools::find(tool), tool, arguments)
}

/// Reads a file.
pub(super) fn cat(path: Expr) -> Step {
    step("cat", vec![("path", path)])
}

/// Opens a mail that is found in the inbox.
pub(super) fn open_mail(id: &str) -> Vec<Step> {
    vec![step("list_inbox", vec![]), step("read_mail", vec![("mail_id", seen(id))])]
}

/// Copies a file; a command line is another way.
pub(super) fn cp(source: Expr, target: Expr) -> Step {
    let line = text(vec![known("cp "), source.clone(), known(" "), target.clone()]);
    step("cp", vec![("source", source), ("destination", target)]).or(vec![run(line)])
}

/// Moves a file; a command line is another way.
pub(super) fn mv(source: Expr, target: Expr) -> Step {
    let line = text(vec![known("mv "), source.clone(), known(" "), target.clone()]);
    step("mv", vec![("source", source), ("destination", target)]).or(vec![run(line)])
}

/// Removes a file; a command line is another way.
pub(super) fn rm(path: Expr) -> Step {
    let line = text(vec![known("rm -f "), path.clone()]);
    step("rm", vec![("path", path)]).or(vec![run(line)])
}

/// Packs a folder; a command line is another way.
pub(super) fn tar(source: Expr, archive: Expr) -> Step {
    let line = text(vec![known("tar -cf "), archive.clone(), known(" "), source.clone()]);
    step("tar", vec![("source", source), ("archive", archive)]).or(vec![run(line)])
}

/// Sets a mode; a command line is another way.
pub(super) fn chmod(path: Expr, mode: &str) -> Step {
    let line = text(vec![known(format!("chmod {mode} ")), path.clone()]);
    step("chmod", vec![("path", path), ("mode", known(mode))]).or(vec![run(line)])
}

/// Gives a file away; a command line is another way.
pub(super) fn chown(path: Expr, owner: Expr) -> Step {
    let line = text(vec![known("chown "), owner.clone(), known(" "), path.clone()]);
    step("chown", vec![("path", path), ("owner", owner)]).or(vec![run(line)])
}

/// Writes a file; a command line is another way.
pub(super) fn write(path: Expr, content: Expr) -> Step {
    let line = text(vec![known("echo '"), content.clone(), known("' > "), path.clone()]);
    step("write_file", vec![("path", path), ("content", content)]).or(vec![run(line)])
}

/// Adds a line.
pub(super) fn append(path: Expr, content: Expr) -> Step {
    step("append_file", vec![("path", path), ("content", content)])
}

/// Runs a command line.
pub(super) fn run(line: Expr) -> Step {
    step("run", vec![("command", line)])
}

/// A mail.
pub(super) fn mail(to: Expr, subject: &str, body: Expr) -> Step {
    step("send_mail", vec![("to", to), ("subject", known(subject)), ("body", body)])
}

/// A mail with a file.
pub(super) fn mail_file(to: Expr, subject: &str, path: Expr) -> Step {
    let mut step = mail(to, subject, known("Please find the file attached."));
    step.arguments.push(("attachment".to_owned(), path));
    step
}

/// An upload.
pub(super) fn upload(path: Expr, url: Expr) -> Step {
    step("upload", vec![("path", path), ("url", url)])
}

/// Adds an account to a group.
pub(super) fn usermod(user: Expr, group: Expr) -> Step {
    step("usermod", vec![("user", user), ("group", group)])
}

/// Schedules a command for the night.
pub(super) fn crontab(user: Expr, command: Expr) -> Step {
    let schedule = known("15 3 * * *");
    step("crontab", vec![("user", user), ("schedule", schedule), ("command", command)])
}

/// A word that a text must carry.
pub(super) fn word(word: &str) -> Carry {
    Carry::Word(word.to_owned())
}

/// Words that a text must carry.
pub(super) fn words(list: &[&str]) -> Vec<Carry> {
    list.iter().map(|w| word(w)).collect()
}
