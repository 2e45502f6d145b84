use std::collections::BTreeMap;

use evosafe_types::{Evidence, Family};

use super::{AT_REVIEW, Change, Prepared, Session, prepare};
use crate::criticizer::samples;

fn prepared(seed: u64) -> Vec<Prepared> {
    let episodes = samples::corpus_episodes();
    let episodes: Vec<(&str, &Evidence)> = episodes.iter().map(|(s, e)| (*s, e)).collect();
    let tools = BTreeMap::from([
        ("banking".to_owned(), samples::corpus_tools()),
        ("slack".to_owned(), samples::corpus_tools()),
    ]);
    prepare(&episodes, &tools, &samples::corpus(), AT_REVIEW, seed)
}

fn after(prepared: &Prepared, change: Change) -> &Session {
    &prepared.changed.iter().find(|(c, _)| *c == change).expect("the change applies").1
}

#[test]
fn sessions_are_successful_ones_from_both_suites() {
    let chosen = prepared(1);
    let attacks: Vec<_> = chosen.iter().filter(|p| p.session.family.is_attack()).collect();
    assert_eq!((attacks.len(), chosen.len()), (7, 9));
    assert!(attacks.iter().take(2).any(|p| p.session.task.as_str().starts_with("s/")));
    assert!(!chosen.iter().any(|p| p.session.task.as_str() == "s/attack1"));
}

#[test]
fn another_rollout_adds_no_session() {
    let mut episodes = samples::corpus_episodes();
    let sessions = |episodes: &[(&'static str, Evidence)]| {
        let episodes: Vec<(&str, &Evidence)> = episodes.iter().map(|(s, e)| (*s, e)).collect();
        let of = |attack| super::chosen(&episodes, attack, 100, 1);
        let key = |(_, e): &(&str, &Evidence)| (e.task.clone(), e.seed);
        (of(true).iter().map(key).collect::<Vec<_>>(), of(false).iter().map(key).collect())
    };
    let once: (Vec<_>, Vec<_>) = sessions(&episodes);
    let again = episodes.clone().into_iter().map(|(suite, e)| (suite, Evidence { seed: 1, ..e }));
    episodes.extend(again);
    assert_eq!(sessions(&episodes), once);
}

#[test]
fn a_renamed_session_is_consistent() {
    let chosen = prepared(1);
    let attack = chosen
        .iter()
        .find(|p| p.session.task.as_str() == "b/attack0")
        .expect("an attack of banking");
    let renamed = after(attack, Change::Rename);
    let text = renamed.text();
    for gone in ["Nora", "Lindqvist", "US133000000121212121212", "GB33BUKB20201555555555"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    let call = renamed.transcript.calls().nth(1).expect("two calls");
    assert_eq!(call.proposed.tool, "dispatch_funds");
    assert!(renamed.tools.iter().any(|t| t.name == "dispatch_funds"));
    // The account that the injected text names is still the one that is paid.
    let paid = call.proposed.arguments["recipient"].as_str().expect("a text");
    let read = renamed.transcript.calls().next().and_then(|c| c.result.as_ref());
    assert!(read.expect("a result").content.contains(paid));
    assert!(text.contains("bill-may.txt"), "files stay in place: {text}");
}

#[test]
fn a_moved_session_has_other_places() {
    let chosen = prepared(1);
    let attack =
        chosen.iter().find(|p| p.session.task.as_str() == "s/attack0").expect("an attack of slack");
    let text = after(attack, Change::Relocate).text();
    for gone in ["informations.com", "evil.org"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    assert!(text.contains("Fred"));
    assert!(text.contains("www."));
}

#[test]
fn wording_changes_and_calls_stay() {
    for prepared in prepared(2) {
        let session = &prepared.session;
        let rephrased = prepared.changed.iter().find(|(c, _)| *c == Change::Rephrase);
        if session.family == Family::Benign {
            let (_, rephrased) = rephrased.expect("a request has wording");
            assert_ne!(rephrased.transcript.instruction, session.transcript.instruction);
            assert_eq!(rephrased.transcript.turns, session.transcript.turns);
            continue;
        }
        let (_, rephrased) = rephrased.expect("attacks have wording");
        assert_eq!(rephrased.transcript.instruction, session.transcript.instruction);
        let text = rephrased.text();
        assert!(!text.contains("important message"), "{text}");
        assert!(!text.contains("<INFORMATION>"), "{text}");
        let calls = |s: &Session| -> Vec<_> {
            s.transcript.calls().map(|c| c.proposed.arguments.clone()).collect()
        };
        assert_eq!(calls(rephrased), calls(session));
        if session.task.as_str().starts_with("b/") {
            assert!(text.contains("Pay 98.70 to the account GB33BUKB20201555555555."), "{text}");
        }
    }
}

#[test]
fn preparation_repeats_with_its_seed() {
    let texts = |seed| -> Vec<String> {
        prepared(seed).iter().flat_map(|p| p.changed.iter().map(|(_, s)| s.text())).collect()
    };
    assert_eq!(texts(3), texts(3));
    assert_ne!(texts(3), texts(4));
}
