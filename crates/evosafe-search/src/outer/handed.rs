//! What was handed in as files: `submission.json`, and beside it the files of a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use evosafe_spec::Mechanism;
use evosafe_types::{Bundle, HarnessLimits, JsonMap};
use serde_json::Value;

use super::submit::{self, Terms};
use crate::SearchError;

/// The file of a submission that says what it is.
pub const SUBMISSION_FILE: &str = "submission.json";

/// Most bytes of it.
const MOST: u64 = 1 << 18;

/// Files of a bundle, the argument of a submission that each is, and their most bytes.
const FILES: [(&str, &str, u64); 3] = [
    ("POLICY.md", "policy", 1 << 17),
    ("harness.js", "code", 1 << 19),
    ("RATIONALE.md", "rationale", 1 << 17),
];

/// Texts by file name.
pub(super) type Handed = BTreeMap<String, String>;

/// Reads the files of a submission; what else lies there is left alone.
///
/// # Errors
/// In words for who handed it in.
pub(super) fn collect(folder: &Path) -> Result<Handed, String> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir());
    if !is_folder {
        return Err("the folder of the submission is gone, or no folder".to_owned());
    }
    let mut handed = Handed::new();
    let all = FILES.iter().map(|(name, _, most)| (*name, *most));
    for (name, most) in std::iter::once((SUBMISSION_FILE, MOST)).chain(all) {
        if let Some(text) = text(&folder.join(name), most)? {
            handed.insert(name.to_owned(), text);
        }
    }
    Ok(handed)
}

/// A file of at most so many bytes; `None` if there is none. A link is not followed: it may
/// lead anywhere.
pub(super) fn text(path: &Path, most: u64) -> Result<Option<String>, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let seen = match fs::symlink_metadata(path) {
        Ok(seen) if seen.is_file() => seen,
        Ok(_) => return Err(format!("{name} is no regular file (links are not followed)")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(format!("{name} cannot be read: {e}")),
    };
    let failed = |e: std::io::Error| format!("{name} cannot be read: {e}");
    let file = File::open(path).map_err(failed)?;
    let opened = file.metadata().map_err(failed)?;
    // What was looked at and what was opened must be one file.
    if (opened.dev(), opened.ino()) != (seen.dev(), seen.ino()) {
        return Err(format!("{name} changed while it was read"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(format!("{name} has more than {most} bytes"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| format!("{name} is not UTF-8 text"))
}

/// The files as a model would have handed them in.
///
/// # Errors
/// In words for who handed them in.
pub(super) fn arguments(handed: &Handed) -> Result<JsonMap, String> {
    let Some(text) = handed.get(SUBMISSION_FILE) else {
        return Err(format!("there is no {SUBMISSION_FILE}: nothing was handed in"));
    };
    let mut arguments = match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => arguments,
        Ok(_) => return Err(format!("{SUBMISSION_FILE} is no JSON object")),
        Err(e) => return Err(format!("{SUBMISSION_FILE} is no JSON: {e}")),
    };
    for (file, key, _) in FILES {
        if arguments.contains_key(key) {
            return Err(format!("`{key}` belongs into {file}, beside {SUBMISSION_FILE}"));
        }
        if let Some(text) = handed.get(file) {
            arguments.insert(key.to_owned(), text.clone().into());
        }
    }
    Ok(arguments)
}

/// The bundle in a folder with a submission, for `check`: without parents, with the usual limits,
/// and with no word on whether the tasks and the parent that it names exist.
///
/// # Errors
/// If it is none; says why.
pub fn read_submission(folder: &Path, library: &[Mechanism]) -> Result<Bundle, SearchError> {
    let terms = Terms {
        members: &[],
        known: &BTreeSet::new(),
        library,
        limits: &HarnessLimits::default(),
        action_level_only: false,
        is_train: &|_| true,
        name: "draft".to_owned(),
        author: "command",
    };
    let arguments = collect(folder).and_then(|handed| arguments(&handed));
    arguments.and_then(|arguments| submit::whole_draft(&arguments, &terms)).map_err(|why| {
        SearchError::Unusable(format!("the submission in {}: {why}", folder.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(json: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(SUBMISSION_FILE), json).expect("written");
        folder
    }

    #[test]
    fn files_become_arguments() {
        let work = folder(r#"{"parent": "abc"}"#);
        fs::write(work.path().join("harness.js"), "code").expect("written");
        fs::write(work.path().join("other"), "ignored").expect("written");
        let handed = collect(work.path()).expect("readable");
        let arguments = arguments(&handed).expect("an object");
        assert_eq!(Value::Object(arguments).to_string(), r#"{"parent":"abc","code":"code"}"#);
    }

    #[test]
    fn what_is_no_submission_is_refused_in_words() {
        let said = |folder: &Path| {
            collect(folder).and_then(|handed| arguments(&handed)).expect_err("refused")
        };
        assert!(said(folder("{").path()).contains("is no JSON"));
        assert!(said(folder("[]").path()).contains("is no JSON object"));
        assert!(said(folder(r#"{"code": "x"}"#).path()).contains("belongs into harness.js"));
        let empty = tempfile::tempdir().expect("a folder");
        assert!(said(empty.path()).contains("nothing was handed in"));
        assert!(said(&empty.path().join("gone")).contains("is gone"));

        let large = folder("{}");
        fs::write(large.path().join("POLICY.md"), vec![b'x'; (1 << 17) + 1]).expect("written");
        assert!(said(large.path()).contains("POLICY.md has more than 131072 bytes"));
        fs::write(large.path().join("POLICY.md"), [0xff]).expect("written");
        assert!(said(large.path()).contains("not UTF-8"));
    }

    #[test]
    fn links_are_not_followed() {
        let work = folder("{}");
        let secret = work.path().join("secret");
        fs::write(&secret, "SECRET").expect("written");
        std::os::unix::fs::symlink(&secret, work.path().join("harness.js")).expect("linked");
        let refused = collect(work.path()).expect_err("refused");
        assert!(refused.contains("harness.js is no regular file"), "{refused}");
        let elsewhere = work.path().join("linked");
        std::os::unix::fs::symlink(work.path(), &elsewhere).expect("linked");
        assert!(collect(&elsewhere).is_err());
    }
}
