//! Things to put into an archive.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use evosafe_archive::{Archive, ResultKind, ResultRecord};
use evosafe_types::{
    AnswerRecord, CallDecision, CallRecord, CandidateId, ClassifyRecord, ContentHash, EpisodeCost,
    EpisodeEnd, Evidence, EvidenceKey, Family, HarnessFault, Hook, JsonMap, Outcome, RunId, TaskId,
    TextDecision, ToolCall, ToolResult, Transcript, Turn, Usage, Usd,
};
use serde_json::json;

pub type Files = BTreeMap<String, Vec<u8>>;

pub fn files(text: &str) -> Files {
    BTreeMap::from([
        ("POLICY.md".to_owned(), format!("# {text}\n").into_bytes()),
        ("bundle.toml".to_owned(), format!("abi = 1\nname = \"{text}\"\n").into_bytes()),
    ])
}

/// An id that follows from the files, as a bundle's does.
pub fn id_of(files: &Files) -> CandidateId {
    let parts: Vec<&[u8]> = files.values().map(Vec::as_slice).collect();
    CandidateId::of(&parts)
}

pub fn checked_id(files: &Files) -> Result<CandidateId, String> {
    Ok(id_of(files))
}

pub fn put(archive: &Archive, name: &str, parents: &[&CandidateId]) -> CandidateId {
    let files = files(name);
    let id = id_of(&files);
    let parents: Vec<_> = parents.iter().map(|id| (*id).clone()).collect();
    archive.put_candidate(&files, &id, &parents, &format!("{name}: an edit")).expect("put");
    id
}

pub fn run(n: u64) -> RunId {
    RunId::of(&[&n.to_le_bytes()])
}

pub fn key(n: u64) -> EvidenceKey {
    EvidenceKey::of(&[&n.to_le_bytes()])
}

pub fn stage(n: u64) -> ResultRecord {
    ResultRecord {
        kind: ResultKind::Stage,
        run: Some(run(1)),
        body: json!({"stage": "gate", "n": n, "points": 62.5}),
    }
}

fn call(n: u64, text: &str) -> CallRecord {
    let mut arguments = JsonMap::new();
    arguments.insert("zeta".to_owned(), json!(n));
    arguments.insert("alpha".to_owned(), json!([text, null, 1.5]));
    let proposed = ToolCall {
        id: format!("call-{n}"),
        server: None,
        tool: "send_money".to_owned(),
        arguments,
    };
    let result = ToolResult { content: text.to_owned(), is_error: false };
    CallRecord {
        decision: match n % 4 {
            0 => CallDecision::Allow,
            1 => CallDecision::Block { reason: "scope".to_owned() },
            2 => CallDecision::Rewrite { arguments: proposed.arguments.clone() },
            _ => CallDecision::Redirect { call: proposed.clone() },
        },
        executed: (n % 4 != 1).then(|| proposed.clone()),
        result: (n % 4 != 1).then(|| result.clone()),
        post: (n % 4 != 1).then(|| TextDecision::Replace { text: "withheld \u{2603}".to_owned() }),
        proposed,
        delivered: result,
    }
}

/// Evidence of episode `n`; about `size` bytes of transcript.
pub fn evidence(n: u64, size: usize) -> Evidence {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    while text.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(["account ", "transfer ", "invoice ", "please "][(state >> 9) as usize % 4]);
        text.push_str(&format!("{:x} ", state >> 48));
    }
    Evidence {
        key: key(n),
        candidate: CandidateId::of(&[b"some candidate"]),
        victim: "sim:gullible".to_owned(),
        environment: ContentHash::of(&[b"environment"]),
        task: TaskId::new(format!("banking/user_task_{n}")),
        family: Family::ALL[n as usize % 3],
        category: "exfiltration".to_owned(),
        seed: n,
        outcome: Outcome::Assessed {
            task_success: Some(n.is_multiple_of(2)),
            attack_success: None,
        },
        transcript: Transcript {
            instruction: "Pay the bill".to_owned(),
            base_prompt: "You are a bank clerk".to_owned(),
            system_prompt: "You are a careful bank clerk".to_owned(),
            hidden_tools: vec!["delete_account".to_owned()],
            turns: vec![Turn {
                text: "I will".to_owned(),
                calls: (0..4).map(|i| call(n + i, &text[..size.min(text.len()) / 4])).collect(),
            }],
            answer: Some(AnswerRecord {
                proposed: "Done".to_owned(),
                decision: TextDecision::Block { reason: "leak".to_owned() },
                delivered: String::new(),
            }),
            classify: vec![ClassifyRecord {
                question: "is it?".to_owned(),
                untrusted: "x".to_owned(),
                answer: Err("no model".to_owned()),
            }],
            faults: vec![HarnessFault {
                hook: Hook::PostToolCall,
                kind: "thrown".to_owned(),
                message: "line 3".to_owned(),
            }],
            end: EpisodeEnd::Answered,
        },
        cost: EpisodeCost {
            victim_turns: 3,
            tool_calls: 4,
            tokens: Usage { input: 900, cached_input: 100, output: 50, ..Usage::default() },
            usd: Some(Usd::from_nanos(1_234)),
        },
    }
}

/// Plain git on an archive, without anybody's configuration.
pub fn git(archive: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(archive)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("git prints text").trim().to_owned()
}

/// All references with what they point to.
pub fn references(archive: &Path) -> Vec<String> {
    git(archive, &["for-each-ref", "--format=%(refname) %(objectname)"])
        .lines()
        .map(str::to_owned)
        .collect()
}
