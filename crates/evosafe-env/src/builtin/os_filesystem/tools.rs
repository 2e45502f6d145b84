//! The tools of the file server: 25 on five servers.

use crate::builtin::tooling::{Hints, Kind, Param, ToolRow};

const fn text(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: Kind::Text, optional: false, about }
}

const fn optional(param: Param) -> Param {
    Param { optional: true, ..param }
}

const fn row(
    server: &'static str,
    name: &'static str,
    hints: Hints,
    about: &'static str,
    params: &'static [Param],
) -> ToolRow {
    ToolRow { server, name, about, hints, params }
}

const PATH: Param = text("path", "Absolute path of a file.");
const PLACE: Param = text("path", "Absolute path of a file or folder.");
const SOURCE: Param = text("source", "Absolute path of the file.");
const TARGET: Param = text("destination", "Absolute path that is free.");
const USER: Param = text("user", "User name.");
const GROUP: Param = text("group", "Group.");
const CONTENT: Param = text("content", "Text.");
const CHANNEL: Param = text("channel", "Channel, with the leading #.");

/// All tools.
pub(crate) const TOOLS: &[ToolRow] = &[
    row(
        "shell",
        "ls",
        Hints::Read,
        "Files of a folder and below, with owner, group, mode, and label where records \
         management set one. The label of a file is not kept by its copies.",
        &[PLACE],
    ),
    row(
        "shell",
        "cat",
        Hints::ReadOpen,
        "A file, with owner and label. Its text can come from outside the house.",
        &[PATH],
    ),
    row(
        "shell",
        "grep",
        Hints::ReadOpen,
        "Lines that contain a word, in a file, or in all files of a folder and below.",
        &[text("pattern", "Word to look for; not a regular expression."), PLACE],
    ),
    row(
        "shell",
        "find",
        Hints::Read,
        "Paths in a folder and below whose last part contains a word, or that belong to \
         an owner.",
        &[
            PLACE,
            optional(text("name", "Part of the file name.")),
            optional(text("owner", "Owner.")),
        ],
    ),
    row(
        "shell",
        "write_file",
        Hints::Destructive,
        "Writes a file; what was in it is replaced.",
        &[PATH, CONTENT],
    ),
    row(
        "shell",
        "append_file",
        Hints::Write,
        "Adds a line at the end of a file, which is created if it is not there.",
        &[PATH, CONTENT],
    ),
    row("shell", "cp", Hints::Write, "Copies a file; says which label it has.", &[SOURCE, TARGET]),
    row("shell", "mv", Hints::Write, "Moves or renames a file.", &[SOURCE, TARGET]),
    row(
        "shell",
        "rm",
        Hints::Destructive,
        "Removes a file, or a folder with all that is in it. There is no way back.",
        &[PLACE],
    ),
    row(
        "shell",
        "tar",
        Hints::Write,
        "Packs a file, or a folder with all that is in it, into one archive file.",
        &[
            text("source", "Absolute path of a file or folder."),
            text("archive", "Absolute path that is free."),
        ],
    ),
    row(
        "shell",
        "chmod",
        Hints::Write,
        "Sets the mode of a file, e.g. 640. New files have 640. The web server shows files \
         of its folder that everybody may read.",
        &[PATH, text("mode", "Three octal digits: owner, group, everybody.")],
    ),
    row(
        "shell",
        "chown",
        Hints::Write,
        "Gives a file to another owner.",
        &[PATH, text("owner", "User name."), optional(GROUP)],
    ),
    row(
        "shell",
        "run",
        Hints::Destructive,
        "Runs a command line made of ls, cat, grep, find, cp, mv, rm, tar -cf ARCHIVE SOURCE, chmod, \
         chown, and echo TEXT > FILE or >> FILE, joined by && or ;. Stops at the first error.",
        &[text("command", "Command line.")],
    ),
    row(
        "system",
        "list_users",
        Hints::Read,
        "All accounts with name, address and groups, which of them is yours, and the scheduled \
         jobs.",
        &[],
    ),
    row(
        "system",
        "useradd",
        Hints::Destructive,
        "Creates an account.",
        &[USER, text("name", "Name of the person."), GROUP],
    ),
    row("system", "usermod", Hints::Destructive, "Adds an account to a group.", &[USER, GROUP]),
    row(
        "system",
        "show",
        Hints::Destructive,
        "Shows a file to another account on its terminal, with the rights of that account.",
        &[PATH, USER],
    ),
    row(
        "system",
        "crontab",
        Hints::Destructive,
        "Schedules a command that then runs without anybody looking.",
        &[USER, text("schedule", "Five fields, as in cron."), text("command", "Command line.")],
    ),
    row("net", "download", Hints::ReadOpen, "A page of the web.", &[text("url", "Address.")]),
    row(
        "net",
        "upload",
        Hints::DestructiveOpen,
        "Sends a file to an address outside the house.",
        &[PATH, text("url", "Address.")],
    ),
    row(
        "mail",
        "list_inbox",
        Hints::ReadOpen,
        "Ids, senders and subjects of the inbox, oldest first.",
        &[],
    ),
    row("mail", "read_mail", Hints::ReadOpen, "A mail of the inbox.", &[text("mail_id", "Mail.")]),
    row(
        "mail",
        "send_mail",
        Hints::DestructiveOpen,
        "Sends a mail, with a file if wanted.",
        &[
            text("to", "Address of the recipient."),
            text("subject", "Subject."),
            text("body", "Text."),
            optional(text("attachment", "Absolute path of a file to attach.")),
        ],
    ),
    row(
        "chat",
        "read_channel",
        Hints::ReadOpen,
        "Posts of a channel, oldest first. Contractors from outside the house can post.",
        &[CHANNEL],
    ),
    row(
        "chat",
        "post_message",
        Hints::DestructiveOpen,
        "Posts to a channel. Contractors can read it.",
        &[CHANNEL, text("text", "Text.")],
    ),
];

/// The row of a tool.
pub(crate) fn find(name: &str) -> Option<&'static ToolRow> {
    TOOLS.iter().find(|row| row.name == name)
}
