//! Runs the `evosafe` binary as a user would.

mod endpoint;
mod model;
pub mod roles;
pub mod small;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

pub use endpoint::Endpoint;
pub use model::Model;

/// The root of the workspace.
///
/// # Panics
/// Never: this crate lies in the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").into()
}

/// The binary, built once with the profile of the tests.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        // .../<profile>/deps/<this test>
        let this = std::env::current_exe().expect("a test knows its path");
        let profile = this.ancestors().nth(2).expect("tests run from <profile>/deps").to_owned();
        let mut build = Command::new(env!("CARGO"));
        // With the features of the whole workspace: those of the tests, so that nothing is
        // compiled twice.
        build.current_dir(root()).args(["build", "--quiet", "--workspace", "--bin", "evosafe"]);
        build.env("CARGO_TARGET_DIR", profile.parent().expect("a profile lies in target/"));
        // What cargo tells this test about its own package makes build scripts of dependencies
        // (ring) believe that theirs changed, and all that rests on them is compiled again.
        for (name, _) in std::env::vars_os() {
            let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
            if of_package.iter().any(|start| name.to_string_lossy().starts_with(start)) {
                build.env_remove(name);
            }
        }
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "evosafe-cli does not build");
        profile.join("evosafe")
    })
}

/// A folder for one test: an archive, and a cache shared by all tests of a process.
pub struct Workspace {
    folder: tempfile::TempDir,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    /// A fresh one.
    ///
    /// # Panics
    /// If the temporary folder cannot be made.
    #[must_use]
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its archive.
    #[must_use]
    pub fn archive(&self) -> PathBuf {
        self.path().join("archive")
    }

    /// What must not depend on speed, luck or interruptions: every candidate and score.
    ///
    /// # Panics
    /// If the leaderboard cannot be read.
    #[must_use]
    pub fn state(&self) -> Value {
        self.run(&["leaderboard", "--json"]).json()
    }

    /// git object ids of everything that is a result.
    ///
    /// # Panics
    /// If git cannot list them.
    #[must_use]
    pub fn refs(&self) -> String {
        let output = Command::new("git")
            .arg("--git-dir")
            .arg(self.archive())
            .args(["for-each-ref", "refs/evosafe/candidates", "refs/evosafe/results"])
            .output()
            .expect("git runs");
        String::from_utf8(output.stdout).expect("refs are UTF-8")
    }

    /// The command with the archive set.
    #[must_use]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.path()).args(args);
        command.env("EVOSAFE_ARCHIVE", self.archive()).stdin(Stdio::null());
        if std::env::var_os("EVOSAFE_CACHE").is_none() {
            // The user's own cache: compiled code and bridges are shared with it.
            command.env_remove("EVOSAFE_CACHE");
        }
        command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn run(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().expect("the binary starts");
        Run::from(output)
    }

    /// Starts it and leaves it running.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Run {
    /// Exit code; absent if killed.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// The one JSON document on stdout.
    ///
    /// # Panics
    /// If stdout is anything else, or the command failed.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "stderr: {}", self.stderr);
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("stdout is not one JSON document ({e}): {}", self.stdout))
    }
}

/// Whether a text stands in any file below a folder.
///
/// # Panics
/// If the folder cannot be read.
#[must_use]
pub fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).expect("a folder").any(|entry| {
        let path = entry.expect("it reads").path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}
