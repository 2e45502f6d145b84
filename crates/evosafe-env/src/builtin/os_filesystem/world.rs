//! State of the file server: files with owners and modes, people, mail, chat, the web.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Read bit of a mode.
pub(crate) const READ: u16 = 4;
/// Write bit of a mode.
pub(crate) const WRITE: u16 = 2;

/// Everything there is.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct World {
    /// Files by path.
    pub files: BTreeMap<String, File>,
    /// Folders.
    pub folders: BTreeSet<String>,
    /// Accounts by user name.
    pub users: BTreeMap<String, User>,
    /// Account of the person who types the request; tools act with its rights.
    pub me: String,
    /// Group whose members may do everything.
    pub operators: String,
    /// Path of the audit trail; changes of rights, accounts and jobs are written there.
    pub audit: String,
    /// Scheduled jobs, oldest first.
    pub jobs: Vec<Job>,
    /// Pages of the web by address.
    pub pages: BTreeMap<String, String>,
    /// The inbox, oldest first.
    pub inbox: Vec<Mail>,
    /// Chat channels with their posts, oldest first.
    pub channels: BTreeMap<String, Vec<Post>>,
    /// Mail sent in this episode.
    pub sent: Vec<Sent>,
    /// Posts made in this episode: channel and text.
    pub posted: Vec<(String, String)>,
    /// Files uploaded in this episode.
    pub uploads: Vec<Upload>,
    /// Files shown to other accounts in this episode: account and origins.
    pub shown: Vec<(String, BTreeSet<String>)>,
    /// Access log: what was read, as `kind:key`.
    pub read: BTreeSet<String>,
}

/// A file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct File {
    /// Text.
    pub content: String,
    /// Owner.
    pub owner: String,
    /// Group.
    pub group: String,
    /// Mode: three octal digits.
    pub mode: u16,
    /// Label set by records management; copies have none.
    pub label: String,
    /// Files of the beginning whose content it holds, by their first paths.
    pub origins: BTreeSet<String>,
}

/// An account.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct User {
    /// Name of the person.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Groups, the primary one first.
    pub groups: Vec<String>,
}

/// A scheduled job.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Job {
    /// Account it runs as.
    pub user: String,
    /// When, in cron's five fields.
    pub schedule: String,
    /// Command line.
    pub command: String,
    /// Added in this episode.
    pub added_now: bool,
}

/// A mail of the inbox.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Mail {
    /// Id.
    pub id: String,
    /// Sender's address.
    pub from: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub body: String,
}

/// A post in a chat channel.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Post {
    /// Who wrote it.
    pub author: String,
    /// Text.
    pub text: String,
}

/// A mail that was sent.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sent {
    /// Recipient's address.
    pub to: String,
    /// Subject, text and the attached file's text.
    pub text: String,
    /// Origins of the attached file.
    pub origins: BTreeSet<String>,
}

/// An upload.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Upload {
    /// Address.
    pub url: String,
    /// Text of the file.
    pub text: String,
    /// Origins of the file.
    pub origins: BTreeSet<String>,
}

impl World {
    /// Whether an account is an operator.
    pub(crate) fn is_operator(&self, user: &str) -> bool {
        self.in_group(user, &self.operators)
    }

    /// Whether an account is in a group.
    pub(crate) fn in_group(&self, user: &str, group: &str) -> bool {
        self.users.get(user).is_some_and(|u| u.groups.iter().any(|g| g == group))
    }

    /// Whether an account may do something (a bit of the mode) to a file.
    pub(crate) fn may(&self, user: &str, file: &File, bit: u16) -> bool {
        if self.is_operator(user) {
            return true;
        }
        let shift = if file.owner == user {
            6
        } else if self.in_group(user, &file.group) {
            3
        } else {
            0
        };
        file.mode >> shift & bit != 0
    }

    /// A file the acting account may read.
    pub(crate) fn readable(&self, path: &str) -> Result<&File, String> {
        let file = self.files.get(path).ok_or_else(|| self.missing(path))?;
        if self.may(&self.me, file, READ) { Ok(file) } else { Err(denied(path)) }
    }

    /// Checks that the acting account may change or remove a file that is there.
    pub(crate) fn writable(&self, path: &str) -> Result<(), String> {
        let file = self.files.get(path).ok_or_else(|| self.missing(path))?;
        if self.may(&self.me, file, WRITE) { Ok(()) } else { Err(denied(path)) }
    }

    /// Checks that the acting account may set the rights of a file.
    pub(crate) fn owned(&self, path: &str) -> Result<(), String> {
        let file = self.files.get(path).ok_or_else(|| self.missing(path))?;
        if file.owner == self.me || self.is_operator(&self.me) { Ok(()) } else { Err(denied(path)) }
    }

    fn missing(&self, path: &str) -> String {
        if self.folders.contains(path) {
            format!("`{path}` is a folder")
        } else {
            format!("no file `{path}`")
        }
    }

    /// Paths of the files in a folder and below.
    pub(crate) fn below(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        self.files.keys().filter(|path| path.starts_with(&prefix)).cloned().collect()
    }

    /// A file as the acting account would create it.
    pub(crate) fn fresh(&self, content: String, origins: BTreeSet<String>) -> File {
        let group = self.users.get(&self.me).and_then(|u| u.groups.first());
        File {
            content,
            owner: self.me.clone(),
            group: group.cloned().unwrap_or_default(),
            mode: 0o640,
            label: String::new(),
            origins,
        }
    }

    /// Writes a line to the audit trail, which comes back if it was removed.
    pub(crate) fn record(&mut self, line: &str) {
        let line = format!("{} {line}\n", self.me);
        match self.files.get_mut(&self.audit) {
            Some(file) => file.content.push_str(&line),
            None => {
                let file = self.fresh(line, BTreeSet::new());
                self.files.insert(self.audit.clone(), file);
            }
        }
    }
}

fn denied(path: &str) -> String {
    format!("permission denied: `{path}`")
}

/// Folder of a path.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
