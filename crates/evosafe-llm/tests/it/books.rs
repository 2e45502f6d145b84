//! The ledger: what is in it, what it adds up to, and what damage does to it.

use std::fs;
use std::io::Write;

use evosafe_llm::{CallTag, CostTable, GroupBy, Ledger, LedgerEntry, LlmError, Role, Torn};
use evosafe_testing::Say;
use evosafe_types::{Api, CandidateId, ContentHash, Stage, TaskId, Usage, Usd};

use crate::bench::{Bench, config, hello, server};

#[tokio::test]
async fn an_entry_says_everything() {
    let server = server(|request| Say::text("x").tokens(100, 40, 20).to(request)).await;
    let bench = Bench::new(config(Api::Anthropic, &server.url()));
    let tag = CallTag {
        candidate: Some(CandidateId::of(&[b"c"])),
        stage: Some(Stage::Gate),
        task: Some(TaskId::new("banking/user_task_0")),
        component: Some("screen".to_owned()),
        ..CallTag::new(Role::Classify, "search")
    };
    bench.client.chat(&hello(), &tag).await.expect("a reply");
    let entry = bench.entries().remove(0);
    let expected = LedgerEntry {
        usage: Usage { input: 60, cached_input: 40, output: 20, ..Usage::default() },
        cost: Some(Usd::from_nanos(60_000 + 4_000 + 200_000)),
        prices_as_of: Some("2026-01-01".to_owned()),
        latency_ms: entry.latency_ms,
        ..LedgerEntry::new(&tag, "test-model", entry.request_hash.clone())
    };
    assert_eq!(entry, expected);
}

fn entry(role: Role, model: &str, output: u64, nanos: Option<u64>) -> LedgerEntry {
    let tag = CallTag::new(role, "search");
    LedgerEntry {
        usage: Usage {
            input: 10,
            cached_input: 100,
            cache_creation: 5,
            output,
            ..Usage::default()
        },
        cost: nanos.map(Usd::from_nanos),
        latency_ms: 7,
        ..LedgerEntry::new(&tag, model, ContentHash::of(&[b"r"]))
    }
}

/// Two levels kept apart, with the columns of the paper's table A6: output, uncached input
/// and cache creation, cached input, money, units.
#[test]
fn tables_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("books/ledger.jsonl");
    let (ledger, torn) = Ledger::open(&path).expect("made, with its folder");
    assert_eq!(torn, None);
    for entry in [
        entry(Role::Victim, "small", 1, Some(1000)),
        entry(Role::Judge, "small", 2, Some(2000)),
        entry(Role::Designer, "large", 4, Some(4000)),
        entry(Role::Criticizer, "large", 8, None),
        LedgerEntry { cached: true, ..entry(Role::Victim, "small", 999, None) },
    ] {
        ledger.append(&entry).expect("appends");
    }
    let (table, torn) = CostTable::read(&path, &[GroupBy::Level]).expect("reads");
    assert_eq!(torn, None);
    let row = |name: &str| &table.rows[&vec![name.to_owned()]];
    let inner = row("inner");
    assert_eq!((inner.calls, inner.replayed, inner.unpriced), (2, 1, 0));
    assert_eq!((inner.usage.output, inner.usage.input, inner.usage.cached_input), (3, 20, 200));
    assert_eq!(inner.cost, Usd::from_nanos(3000));
    assert_eq!(inner.fresh(), 3 + 20 + 10);
    let outer = row("outer");
    assert_eq!((outer.calls, outer.unpriced, outer.cost), (2, 1, Usd::from_nanos(4000)));
    assert_eq!(table.total.calls, 4);
    assert_eq!(table.total.cost, Usd::from_nanos(7000));
    assert_eq!(table.total.latency_ms, 28);
    assert_eq!(table.spending.usd, Usd::from_nanos(7000));
    assert_eq!(table.spending.victim_tokens, 116, "of the victim's paid call only");
    let by = [GroupBy::Model, GroupBy::Role];
    let (table, _) = CostTable::read(&path, &by).expect("reads");
    let rows: Vec<String> = table.rows.keys().map(|key| key.join("/")).collect();
    assert_eq!(rows, ["large/criticizer", "large/designer", "small/judge", "small/victim"]);
    let (table, _) = CostTable::read(&path, &[GroupBy::Candidate]).expect("reads");
    assert_eq!(table.rows.keys().next(), Some(&vec!["-".to_owned()]));
}

#[test]
fn half_a_line_at_the_end_is_reported_and_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.jsonl");
    let (ledger, _) = Ledger::open(&path).expect("made");
    ledger.append(&entry(Role::Victim, "m", 1, None)).expect("appends");
    let whole = fs::read(&path).expect("reads");
    drop(ledger);
    for cut in [1, 40, 100] {
        let mut file = fs::OpenOptions::new().append(true).open(&path).expect("opens");
        let line = &whole[whole.iter().position(|b| *b == b'\n').expect("a line") + 1..];
        file.write_all(&line[..cut]).expect("writes");
        let torn = Some(Torn { line: 3, bytes: cut as u64 });
        let (table, found) = CostTable::read(&path, &[]).expect("reads");
        assert_eq!((table.total.calls, found), (1, torn), "reading changes nothing");
        let (ledger, found) = Ledger::open(&path).expect("opens");
        assert_eq!(found, torn);
        drop(ledger);
        assert_eq!(fs::read(&path).expect("reads"), whole);
    }
    // A process killed while it made the file.
    fs::write(&path, b"{\"format\":\"evos").expect("writes");
    let (ledger, torn) = Ledger::open(&path).expect("made anew");
    assert_eq!(torn, Some(Torn { line: 1, bytes: 15 }));
    ledger.append(&entry(Role::Victim, "m", 1, None)).expect("appends");
    assert_eq!(CostTable::read(&path, &[]).expect("reads").0.total.calls, 1);
}

#[test]
fn damage_names_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.jsonl");
    let (ledger, _) = Ledger::open(&path).expect("made");
    for output in [1, 2, 3] {
        ledger.append(&entry(Role::Victim, "m", output, None)).expect("appends");
    }
    drop(ledger);
    let text = fs::read_to_string(&path).expect("reads");
    for (from, to, line, why) in [
        ("\"output\":2", "\"output\":9", 3, "checksum"),
        ("{\"sum\":\"", "{\"som\":\"", 2, "no entry"),
        ("evosafe-ledger", "evosafe-cassette", 1, "no evosafe-ledger file"),
        ("\"version\":1", "\"version\":2", 1, "newer"),
    ] {
        fs::write(&path, text.replacen(from, to, 1)).expect("writes");
        let error = CostTable::read(&path, &[]).expect_err(why);
        assert!(matches!(&error, LlmError::Damaged { line: n, .. } if *n == line), "{error}");
        let shown = error.to_string();
        assert!(shown.contains(why) && shown.contains("ledger.jsonl, line"), "{shown}");
        assert_eq!(Ledger::open(&path).expect_err("not appended to").kind(), "damaged");
    }
}

#[test]
fn two_writers_exclude_each_other_and_readers_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.jsonl");
    assert_eq!(CostTable::read(&path, &[]).expect("nothing there").0, CostTable::default());
    let (ledger, _) = Ledger::open(&path).expect("made");
    let error = Ledger::open(&path).expect_err("locked").to_string();
    assert!(error.contains("another process"), "{error}");
    ledger.append(&entry(Role::Victim, "m", 1, None)).expect("appends");
    assert_eq!(CostTable::read(&path, &[]).expect("reads").0.total.calls, 1);
}
