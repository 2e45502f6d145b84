//! The recorded runs of real models, where they are there.

use std::path::{Path, PathBuf};

use evosafe_agent::{ReplayVictim, VictimError};

/// Pipeline, benign runs, pairs, runs (of both kinds) lost to API errors, version named in the runs.
const KNOWN: &[(&str, usize, usize, usize, Option<&str>)] = &[
    ("agentdojo/claude-3-5-sonnet-20240620", 97, 629, 0, None),
    ("agentdojo/command-r-plus", 97, 629, 23, None),
    ("agentdojo/gpt-4o-2024-05-13", 97, 629, 0, None),
    ("agentdojo/gpt-4o-2024-05-13-tool_filter", 97, 629, 0, None),
    ("agentdojo/meta-llama_Llama-3-70b-chat-hf", 97, 629, 41, None),
    ("agentdyn/google_gemini-2.5-pro", 60, 560, 0, Some("v1.2.2")),
    ("agentdyn/gpt-4o-2024-08-06", 60, 560, 0, Some("v1.2.2")),
];

/// The folder of recorded runs, if it is there.
fn traces() -> Option<PathBuf> {
    let named = std::env::var_os("EVOSAFE_TRACES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = named.unwrap_or(beside);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no recorded runs in {} (set EVOSAFE_TRACES)", folder.display());
    None
}

#[test]
fn recorded_runs_of_real_models_are_read() {
    let Some(folder) = traces() else { return };
    for (name, benign, pairs, errors, version) in KNOWN {
        let path = folder.join(format!("{name}.tar.zst"));
        let victim = ReplayVictim::open(&path, Some("important_instructions"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(victim.counts(), (*benign, *pairs), "{name}");
        assert_eq!(victim.benchmark_version(), *version, "{name}");
        let lost = format!("{errors} recorded runs ended in an API error");
        let notices = victim.notices();
        assert_eq!(notices.len(), usize::from(*errors > 0), "{name}: {notices:?}");
        assert!(*errors == 0 || notices[0].starts_with(&lost), "{name}: {notices:?}");
    }
}

#[test]
fn the_attacks_that_were_recorded_are_listed() {
    let Some(folder) = traces() else { return };
    let path = folder.join("agentdojo/gpt-4o-2024-05-13.tar.zst");
    match ReplayVictim::open(&path, Some("unheard_of")) {
        Err(VictimError::NoAttack { recorded, .. }) => assert_eq!(
            recorded,
            ["direct", "ignore_previous", "important_instructions", "injecagent", "tool_knowledge"]
        ),
        other => panic!("{:?}", other.map(|v| v.id().to_owned())),
    }
}
