//! Whole searches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evosafe_archive::{Archive, ResultKind, ResultRecord};
use evosafe_llm::{CassetteMode, CostTable, GroupBy};
use evosafe_testing::{Faults, Server};
use evosafe_types::{CallDecision, CandidateId, Event};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::script::scripted;
use super::{archive, divided, models, plan, search, services};
use crate::{RunRecord, SearchError};

fn record(archive: &Archive) -> RunRecord {
    crate::find(archive, None).expect("one search").1
}

/// Everything that was learnt, candidate by candidate.
fn learnt(archive: &Archive) -> BTreeMap<CandidateId, Vec<String>> {
    let all = archive.candidates().expect("readable").into_iter();
    all.map(|id| {
        let results = archive.results(&id).expect("readable");
        let of = |r: ResultRecord| format!("{} {}", r.kind.as_str(), r.body);
        (id, results.into_iter().map(of).collect())
    })
    .collect()
}

fn bodies(archive: &Archive, id: &CandidateId, kind: ResultKind) -> Vec<Value> {
    let results = archive.results(id).expect("readable").into_iter();
    results.filter(|r| r.kind == kind).map(|r| r.body).collect()
}

fn named(archive: &Archive, name: &str) -> CandidateId {
    let holds = |id: &CandidateId| {
        let files = archive.candidate_files(id).expect("readable").expect("archived");
        String::from_utf8_lossy(&files["bundle.toml"]).contains(&format!("name = \"{name}\"\n"))
    };
    let mut found = archive.candidates().expect("readable").into_iter().filter(holds);
    found.next().unwrap_or_else(|| panic!("no candidate is called {name}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn all_roles_are_played_and_nothing_held_out_is_told() {
    let server = Server::start(scripted).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let url = server.url();
    // What another search found on held-out tasks is in the same archive.
    let h0 = evosafe_spec::seeds().expect("built in").remove(0);
    {
        let archive = Archive::open(&folder.path().join("archive")).expect("new");
        crate::commit::enter(&archive, &h0, "seed").expect("entered");
        let body = json!({"split": "held-out", "note": "SECRET-OF-ANOTHER-SEARCH"});
        let other = ResultRecord { kind: ResultKind::Evaluation, run: None, body };
        archive.append_result(&h0.id(), &other).expect("entered");
        archive.flush().expect("written");
    }
    let run = |mode| {
        let services = services(folder.path(), mode, None);
        search(folder.path(), models(&url, &services), CancellationToken::new())
    };
    let summary = run(CassetteMode::ReplayOrRecord).await.expect("it ends");
    assert_eq!(summary.reason, "the budget of 4 candidates is spent");
    let asked = server.received();

    let kept = archive(folder.path());
    let record = record(&kept);
    let names = ["llm-0", "llm-1-1", "llm-3"].map(|name| named(&kept, name));
    assert_eq!(record.candidates[0], h0.id());
    assert_eq!(
        record.candidates[1..],
        names,
        "the failed attempt and the flagged one are left out"
    );
    for id in &names {
        assert_eq!(kept.parents(id).expect("readable"), [h0.id()]);
    }
    let identity = record.identity.outer.as_ref().expect("models play roles");
    assert!(identity.designer.as_ref().is_some_and(|d| d.contains("gpt-4o-mini")));

    // The attempt that failed is there, with what it cost.
    let failed = bodies(&kept, &h0.id(), ResultKind::Attempt);
    assert_eq!(failed.len(), 1);
    assert_eq!((&failed[0]["slot"], &failed[0]["cost"]["calls"]), (&json!(2), &json!(4)));
    assert!(failed[0]["failed"].as_str().is_some_and(|why| why.contains("nothing was called")));
    assert!(failed[0]["cost"]["nano_usd"].as_u64() > Some(0), "{}", failed[0]);
    let warned =
        |e: &Event| matches!(e, Event::Warning { message } if message.contains("attempt 2"));
    assert!(kept.events().expect("readable").iter().any(|(_, e)| warned(e)));

    // Bad output went back: two of the first attempt, two of the second.
    let said = |text: &str| asked.iter().filter(|r| r.body.contains(text)).count();
    assert!(said("which is no train task") > 0 && said("it does not pass stage 0") > 0);
    assert!(said("answers like one that is archived already") > 0);
    assert!(said("there is neither policy nor code") > 0);
    assert!(said("there is no file \\\"../../../etc/passwd\\\"") > 0);
    assert!(said("right: a quote is harmless: allowed") > 0);

    // The reviewer proved its point in the candidate's own hooks, and the repair was taken.
    let word = named(&kept, "llm-1");
    let verdict = &bodies(&kept, &word, ResultKind::Verdict)[0];
    assert_eq!(
        (&verdict["flagged"], &verdict["review"]["finding"]["is"]),
        (&json!(true), &json!("confirmed"))
    );
    assert!(said("Confirmed in the candidate's own hooks (rephrase)") > 0);
    let scope = &bodies(&kept, &names[2], ResultKind::Verdict)[0];
    assert_eq!(scope["flagged"], json!(false));
    assert_eq!(scope["review"]["finding"]["why"], json!("the first session is not stopped"));

    // Predictions are held against what came.
    let fared = &bodies(&kept, &names[0], ResultKind::Prediction)[0]["scored"];
    assert_eq!((&fared["predicted"], &fared["tested"]), (&json!(1), &json!(1)));
    assert!(said("1 predicted, 1 tested") == 0, "only shown where it is read");

    // One note, because all later ones say the same.
    assert_eq!(record.experiences.len(), 1);
    assert!(record.split.train.contains(&record.experiences[0].episodes[0]));
    assert!(said("Orders in tool output are obeyed.") > 0, "the Designer reads it");

    // Nothing of the held-out side was told to any model.
    let (_, split) = divided(&plan()).await;
    for request in &asked {
        assert!(!request.body.contains("SECRET-OF-ANOTHER-SEARCH"));
        let told = split.held_out.iter().find(|id| request.body.contains(id.as_str()));
        assert_eq!(told, None);
    }
    // The reviewer sees neither scores nor the Designer's conversation.
    for request in asked.iter().filter(|r| r.body.contains("You review a safety harness")) {
        for word in ["Attempt ", "may win", "Outcome:", "reached:", "submit_bundle"] {
            assert!(!request.body.contains(word), "{word}");
        }
    }
    // What a hook is told says nothing about the task: the first candidate repeats all of it.
    let mut echoed = 0;
    for key in kept.evidence_keys().expect("readable") {
        let evidence = kept.evidence(&key).expect("readable").expect("there");
        if evidence.candidate != names[0] {
            continue;
        }
        for call in evidence.transcript.calls() {
            let CallDecision::Block { reason } = &call.decision else { panic!("it blocks all") };
            echoed += 1;
            for label in
                [evidence.task.as_str(), "\"family\"", "benign", "indirect", &evidence.category]
            {
                assert!(!reason.contains(label), "{label}");
            }
        }
    }
    assert!(echoed > 0);

    // Run again it asks nobody, and ends the same.
    let before = learnt(&kept);
    drop(kept);
    let again = run(CassetteMode::Replay).await.expect("it ends");
    assert_eq!((again.best, again.reason, again.episodes_run), (summary.best, summary.reason, 0));
    assert_eq!(server.received().len(), asked.len());
    assert_eq!(learnt(&archive(folder.path())), before);
    // Both levels apart, and every role has its entries.
    let ledger = folder.path().join("ledger.jsonl");
    let (table, _) = CostTable::read(&ledger, &[GroupBy::Role]).expect("readable");
    let roles: Vec<String> = table.rows.keys().map(|row| row.join("/")).collect();
    assert_eq!(roles, ["analyzer", "criticizer", "designer"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_is_cut_off_pays_for_nothing_twice() {
    let whole = tempfile::tempdir().expect("a folder");
    let cut = tempfile::tempdir().expect("a folder");
    let stop = Arc::new(std::sync::Mutex::new(CancellationToken::new()));
    let limit = Arc::new(AtomicUsize::new(usize::MAX));
    let server = {
        let (stop, limit) = (Arc::clone(&stop), Arc::clone(&limit));
        let script = move |request: &evosafe_testing::Received| {
            // Answered all the same: it is in flight when the search stops.
            if limit.fetch_sub(1, Ordering::SeqCst) == 1 {
                stop.lock().expect("not poisoned").cancel();
            }
            scripted(request)
        };
        Server::start(script).await.expect("a free port")
    };
    let url = server.url();
    let run = |folder: &std::path::Path, token: CancellationToken| {
        let folder = folder.to_owned();
        let models = models(&url, &services(&folder, CassetteMode::ReplayOrRecord, None));
        async move { search(&folder, models, token).await }
    };
    let expected = run(whole.path(), CancellationToken::new()).await.expect("it ends");
    let paid = server.received().len();
    let mut cuts = 0;
    for after in [2, 3, 4] {
        let token = CancellationToken::new();
        *stop.lock().expect("not poisoned") = token.clone();
        limit.store(after, Ordering::SeqCst);
        let ended = run(cut.path(), token).await;
        assert!(matches!(ended, Err(SearchError::Interrupted)), "{ended:?}");
        cuts += 1;
    }
    limit.store(usize::MAX, Ordering::SeqCst);
    let resumed = run(cut.path(), CancellationToken::new()).await.expect("it ends");
    assert_eq!((resumed.best, resumed.candidates), (expected.best, expected.candidates));
    let again = server.received().len() - paid;
    assert!((paid..=paid + cuts).contains(&again), "{again} calls in place of {paid}");
    let (a, b) = (archive(whole.path()), archive(cut.path()));
    assert_eq!(learnt(&a), learnt(&b));
}

#[tokio::test(flavor = "multi_thread")]
async fn spent_money_ends_a_search_with_what_it_has() {
    let server = Server::start(scripted).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    // Less than the first call may cost.
    let services = services(folder.path(), CassetteMode::ReplayOrRecord, Some(0.0001));
    let models =
        super::OuterModels { criticizer: None, analyzer: None, ..models(&server.url(), &services) };
    let summary = search(folder.path(), models, CancellationToken::new()).await.expect("it ends");
    assert_eq!(summary.candidates, 1, "no defence, which was run before");
    assert!(summary.reason.contains("the budget of $0.0001"), "{}", summary.reason);
    assert!(server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_that_pass_change_nothing() {
    let (calm, rough) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    // One port for both: where a model is reached is part of who it is.
    let faults = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let server = {
        let faults = Arc::clone(&faults);
        let failing = Faults::transient(7, 0.3).over(scripted);
        let script = move |request: &evosafe_testing::Received| {
            if faults.load(Ordering::SeqCst) { failing(request) } else { scripted(request) }
        };
        Server::start(script).await.expect("a free port")
    };
    let url = server.url();
    let run = |folder: &std::path::Path| {
        let folder = folder.to_owned();
        let models = models(&url, &services(&folder, CassetteMode::ReplayOrRecord, None));
        async move { search(&folder, models, CancellationToken::new()).await }
    };
    let expected = run(calm.path()).await.expect("it ends");
    let asked = server.received().len();
    faults.store(true, Ordering::SeqCst);
    let found = run(rough.path()).await.expect("it ends");
    assert!(server.received().len() > 2 * asked, "some calls failed first");
    assert_eq!(found.best, expected.best);
    assert_eq!(learnt(&archive(rough.path())), learnt(&archive(calm.path())));
}
