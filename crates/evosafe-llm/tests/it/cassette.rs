//! Record, replay and resume.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use evosafe_llm::{CallTag, Caps, Cassette, CassetteMode, ChatRequest, CostTable, LlmError, Torn};
use evosafe_testing::{Fault, Say, Server};
use evosafe_types::{Api, CandidateId, ModelConfig};
use serde_json::json;

use crate::bench::{BOTH, Bench, KEY, config, hello, pay, server, tag, user};

use CassetteMode::{Record, Replay, ReplayOrRecord};

/// A server that numbers its replies.
async fn counting() -> (Server, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let server = server(move |request| {
        let n = counter.fetch_add(1, Ordering::SeqCst);
        Say::text(format!("reply {n}")).and_call("a", "pay", json!({"to": 0.1 + 0.2})).to(request)
    })
    .await;
    (server, calls)
}

fn bench(folder: &Path, config: &ModelConfig, mode: CassetteMode) -> Bench {
    let key = (mode != Replay).then_some(KEY);
    Bench::at(folder.to_owned(), config.clone(), Caps::default(), Some(mode), key)
}

#[tokio::test]
async fn what_was_recorded_is_played_without_key_and_server() {
    for api in BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let (server, _) = counting().await;
        let config = config(api, &server.url());
        let request = ChatRequest { tools: vec![pay()], ..hello() };
        let recording = bench(folder.path(), &config, Record);
        let first = recording.ask(&request).await.expect("a reply");
        let second = recording.ask(&request).await.expect("the same call again");
        let other = recording.ask(&user("other")).await.expect("a reply");
        assert_ne!(first.text, second.text);
        drop((recording, server));
        let playing = bench(folder.path(), &config, Replay);
        for live in [first, second, other] {
            let request = if live.text == "reply 2" { user("other") } else { request.clone() };
            let mut replayed = playing.ask(&request).await.expect("on the cassette");
            assert!(replayed.replayed && !live.replayed);
            assert!(live.latency.abs_diff(replayed.latency).as_millis() <= 1);
            (replayed.replayed, replayed.latency) = (false, live.latency);
            assert_eq!(replayed, live);
        }
        let error = playing.ask(&request).await.expect_err("a third time");
        assert!(matches!(error, LlmError::NotRecorded { .. }) && error.is_permanent(), "{error}");
        assert!(error.to_string().contains("replies.jsonl"), "{error}");
    }
}

#[tokio::test]
async fn a_resumed_run_pays_only_for_what_it_has_not_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, calls) = counting().await;
    let config = config(Api::OpenAi, &server.url());
    let turn = |turn| CallTag { turn, ..tag() };
    let mut texts = Vec::new();
    let run = bench(folder.path(), &config, ReplayOrRecord);
    for n in 0..5 {
        texts.push(run.client.chat(&hello(), &turn(n)).await.expect("a reply").text);
    }
    drop(run);
    let run = bench(folder.path(), &config, ReplayOrRecord);
    for n in 0..7 {
        let reply = run.client.chat(&hello(), &turn(n)).await.expect("a reply");
        assert_eq!(reply.replayed, n < 5);
        texts.get(n as usize).inspect(|text| assert_eq!(**text, reply.text));
    }
    assert_eq!(calls.load(Ordering::SeqCst), 7);
    let (table, _) = CostTable::read(&run.ledger_path, &[]).expect("reads");
    assert_eq!((table.total.calls, table.total.replayed), (7, 5));
    assert_eq!(run.budget.spent().usd.nanos(), table.total.cost.nanos() / 7 * 2);
}

/// Two candidates that ask the same keep their own replies, in whatever order they ask.
#[tokio::test]
async fn replies_belong_to_their_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, _) = counting().await;
    let config = config(Api::OpenAi, &server.url());
    let of = |name: &str| CallTag { candidate: Some(CandidateId::of(&[name.as_bytes()])), ..tag() };
    let run = bench(folder.path(), &config, ReplayOrRecord);
    for (name, text) in [("a", "reply 0"), ("b", "reply 1")] {
        assert_eq!(run.client.chat(&hello(), &of(name)).await.expect("a reply").text, text);
    }
    drop(run);
    let run = bench(folder.path(), &config, Replay);
    for (name, text) in [("b", "reply 1"), ("a", "reply 0")] {
        assert_eq!(run.client.chat(&hello(), &of(name)).await.expect("a reply").text, text);
    }
    drop(run);
    let other = ModelConfig { temperature: Some(0.5), ..config };
    let error = bench(folder.path(), &other, Replay).client.chat(&hello(), &of("a")).await;
    assert_eq!(error.expect_err("another request").kind(), "not_recorded");
}

/// What is the model's behaviour is on the cassette, what is infrastructure's is not.
#[tokio::test]
async fn failures_that_are_recorded() {
    for (fault, kept) in [
        (Fault::ContextOverflow, true),
        (Fault::PromptFiltered, true),
        (Fault::Empty, true),
        (Fault::BadRequest, false),
        (Fault::Internal, false),
        (Fault::NotJson, false),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let server = server(move |request| fault.answer(request)).await;
        let mut config = config(Api::OpenAi, &server.url());
        config.limits.retries = 0;
        let live = bench(folder.path(), &config, Record).ask(&hello()).await.expect_err("fails");
        let replayed = bench(folder.path(), &config, Replay).ask(&hello()).await;
        let replayed = replayed.expect_err("fails");
        if kept {
            assert_eq!(replayed, live, "{fault:?}");
        } else {
            assert_eq!(replayed.kind(), "not_recorded", "{fault:?}");
        }
    }
}

#[tokio::test]
async fn a_recording_is_not_mixed_into_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, _) = counting().await;
    let config = config(Api::OpenAi, &server.url());
    let recording = bench(folder.path(), &config, Record);
    recording.ask(&hello()).await.expect("a reply");
    let path = recording.cassette_path.clone();
    drop(recording);
    let error = Cassette::open(&path, Record).expect_err("holds replies").to_string();
    assert!(error.contains("move it away"), "{error}");
    let missing = Cassette::open(&folder.path().join("none.jsonl"), Replay).expect_err("none");
    assert!(missing.to_string().contains("none.jsonl"), "{missing}");
}

#[tokio::test]
async fn damage_names_file_and_line_and_a_torn_end_is_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, _) = counting().await;
    let config = config(Api::OpenAi, &server.url());
    let recording = bench(folder.path(), &config, Record);
    for n in 0..3 {
        recording.client.chat(&hello(), &CallTag { turn: n, ..tag() }).await.expect("a reply");
    }
    let path = recording.cassette_path.clone();
    drop(recording);
    let text = fs::read_to_string(&path).expect("reads");
    fs::write(&path, text.replacen("reply 1", "reply 9", 1)).expect("writes");
    for mode in [Record, Replay, ReplayOrRecord] {
        let error = Cassette::open(&path, mode).expect_err("damaged");
        assert!(matches!(error, LlmError::Damaged { line: 3, .. }), "{error}");
        assert!(error.to_string().contains("replies.jsonl, line 3"), "{error}");
    }
    let half = text.len() - 30;
    fs::write(&path, &text[..half]).expect("writes");
    let last = text.trim_end().rfind('\n').expect("lines") + 1;
    let torn = Some(Torn { line: 4, bytes: (half - last) as u64 });
    assert_eq!(Cassette::open(&path, Replay).expect("opens").1, torn);
    assert_eq!(fs::read_to_string(&path).expect("reads"), text[..half], "only read");
    assert_eq!(Cassette::open(&path, ReplayOrRecord).expect("opens").1, torn);
    assert_eq!(fs::read_to_string(&path).expect("reads"), text[..last]);
    let resumed = bench(folder.path(), &config, ReplayOrRecord);
    for (n, text) in [(0, "reply 0"), (1, "reply 1"), (2, "reply 3")] {
        let tag = CallTag { turn: n, ..tag() };
        assert_eq!(resumed.client.chat(&hello(), &tag).await.expect("a reply").text, text);
    }
}
