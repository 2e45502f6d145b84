use std::collections::BTreeSet;

use evosafe_types::Evidence;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Keyed, MinedRule, propose};
use crate::criticizer::samples;
use crate::criticizer::static_analysis::analyse;

fn traces() -> Vec<Evidence> {
    samples::corpus_episodes().into_iter().map(|(_, evidence)| evidence).collect()
}

fn mined() -> Vec<MinedRule> {
    let traces = traces();
    (0..40).filter_map(|seed| propose(&traces, &mut ChaCha8Rng::seed_from_u64(seed))).collect()
}

#[test]
fn proposals_repeat_with_their_stream_and_cover_every_kind() {
    let rules = mined();
    assert_eq!(rules, mined());
    let kinds: BTreeSet<_> =
        rules.iter().map(|r| std::mem::discriminant(&r.keyed)).map(|d| format!("{d:?}")).collect();
    assert_eq!(kinds.len(), 4);
    for rule in &rules {
        match &rule.keyed {
            Keyed::Values(values) => {
                assert!(values.iter().any(|v| v == "US133000000121212121212"), "{values:?}");
                assert!(!values.iter().any(|v| v == "GB33BUKB20201555555555"), "{values:?}");
            }
            Keyed::Tools(tools) => {
                assert_eq!(tools, &["get_webpage", "invite_user_to_slack"]);
            }
            Keyed::Phrases(phrases) => assert!(!phrases.is_empty()),
            Keyed::Threshold { argument, least } => {
                assert_eq!((argument.as_str(), *least), ("amount", 4321.0));
            }
        }
    }
}

#[test]
fn nothing_is_mined_without_a_successful_attack() {
    let benign: Vec<Evidence> =
        traces().into_iter().filter(|e| e.outcome.attack_success() != Some(true)).collect();
    for seed in 0..8 {
        assert_eq!(propose(&benign, &mut ChaCha8Rng::seed_from_u64(seed)), None);
    }
    assert_eq!(propose(&[], &mut ChaCha8Rng::seed_from_u64(1)), None);
}

#[test]
fn the_criticizer_catches_every_mined_rule() {
    let corpus = samples::corpus();
    for rule in mined() {
        let code = format!(
            "const hooks = compose([\n  // mechanism: {}\n  [(() => {{\n{}\nreturn mechanism; }})(), {{}}],\n]);\nexport const onPreToolCall = hooks.onPreToolCall;\n",
            rule.name, rule.body
        );
        let report = analyse(None, Some(&code), &corpus);
        assert_eq!(report.unparsed, None, "{code}");
        assert!(!report.findings.is_empty(), "not caught: {code}");
        for finding in &report.findings {
            assert_eq!(finding.mechanism.as_ref(), Some(&rule.name));
        }
    }
}

#[test]
fn values_are_written_as_they_stand_in_json() {
    let rule = MinedRule::new(Keyed::Values(vec!["Say \"hi\"\n</b>".to_owned()]));
    assert!(rule.body.contains(r#"["say \\\"hi\\\"\\n</b>"]"#), "{}", rule.body);
    assert!(rule.name.starts_with("literal-blocklist-"));
    assert_eq!(rule.clone().into_mechanism().body, rule.body);
}
