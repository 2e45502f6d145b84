//! `kill -9` at any moment: what was handed out is in the ledger and on the cassette, and
//! going on pays again only for what was in flight.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evosafe_llm::{CallTag, Caps, CassetteMode, read_ledger};
use evosafe_testing::Say;
use evosafe_types::Api;

use crate::bench::{Bench, config, hello, server, tag};

/// Set in the child: the folder, and the server.
const FOLDER: &str = "EVOSAFE_TEST_LLM_FOLDER";
const URL: &str = "EVOSAFE_TEST_LLM_URL";
const CALLS: u32 = 60;
const AT_ONCE: usize = 4;

/// What the child does: calls, four at a time, saying what it was handed.
async fn ask_all(folder: &Path, url: &str) {
    let bench = Bench::at(
        folder.to_owned(),
        config(Api::OpenAi, url),
        Caps::default(),
        Some(CassetteMode::ReplayOrRecord),
        None,
    );
    let mut running = tokio::task::JoinSet::new();
    let mut next = 0;
    while next < CALLS || !running.is_empty() {
        if next < CALLS && running.len() < AT_ONCE {
            let (client, n) = (bench.client.clone(), next);
            running.spawn(async move {
                let reply = client.chat(&hello(), &CallTag { turn: n, ..tag() }).await;
                let mut out = std::io::stdout().lock();
                // The parent may be gone; then there is nobody to tell.
                let text = reply.expect("a reply").text;
                let _ = writeln!(out, "got {n} {text}").and_then(|()| out.flush());
            });
            next += 1;
        } else {
            running.join_next().await;
        }
    }
}

#[test]
#[ignore = "the other test of this file runs it as a child"]
fn child() {
    if let (Some(folder), Ok(url)) = (std::env::var_os(FOLDER), std::env::var(URL)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.expect("a runtime").block_on(ask_all(Path::new(&folder), &url));
    }
}

/// Runs the child until it was handed so many replies (or to its end); what it was handed.
fn run(folder: &Path, url: &str, until: usize, then: Duration) -> BTreeMap<u32, String> {
    let mut child = Command::new(std::env::current_exe().expect("a path"))
        .args(["kill::child", "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(URL, url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let mut got = BTreeMap::new();
    let mut killed = false;
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    for line in lines.map_while(Result::ok) {
        let Some(said) = line.split("got ").nth(1) else { continue };
        let (n, text) = said.split_once(' ').expect("number and text");
        got.insert(n.parse().expect("a number"), text.to_owned());
        if got.len() == until && !killed {
            std::thread::sleep(then);
            child.kill().expect("is killed");
            killed = true;
        }
    }
    child.wait().expect("ends");
    got
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_run_goes_on() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let server = server(move |request| {
        let n = counter.fetch_add(1, Ordering::SeqCst);
        Say::text(format!("reply {n}")).to(request).after(Duration::from_millis(3))
    })
    .await;
    for (kill, (until, micros)) in [(1, 0), (7, 900), (20, 2500), (41, 400)].iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, url) = (folder.path().to_owned(), server.url());
        let (until, wait) = (*until, Duration::from_micros(*micros));
        let before = sent.load(Ordering::SeqCst);
        let (first, second) = tokio::task::spawn_blocking(move || {
            (run(&path, &url, until, wait), run(&path, &url, usize::MAX, wait))
        })
        .await
        .expect("no panic");
        assert!(
            first.len() >= until && first.len() < CALLS as usize,
            "{kill}: killed in the middle"
        );
        assert_eq!(second.len(), CALLS as usize);
        for (n, text) in &first {
            assert_eq!(second[n], *text, "{kill}: the same reply as before");
        }
        let paid = sent.load(Ordering::SeqCst) - before;
        assert!(paid <= CALLS as usize + AT_ONCE, "{kill}: {paid} requests for {CALLS} calls");
        let (mut in_ledger, mut replayed) = (0, 0);
        let torn = read_ledger(&folder.path().join("ledger.jsonl"), |entry| {
            if entry.cached { replayed += 1 } else { in_ledger += 1 }
        });
        assert_eq!(torn, Ok(None), "{kill}: the second run cut a torn end off");
        assert!(in_ledger >= CALLS as usize && in_ledger <= paid, "{kill}: {in_ledger} of {paid}");
        assert!(replayed >= first.len(), "{kill}: {replayed} of {}", first.len());
    }
}
