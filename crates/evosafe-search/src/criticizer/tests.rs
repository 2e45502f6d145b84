//! The Criticizer as a whole, on candidates that run in the sandbox.

use std::collections::BTreeMap;

use evosafe_sandbox::{Sandbox, SandboxOptions};
use evosafe_spec::{Acts, Channel, Lineage, Mechanism, compose};
use evosafe_types::{Bundle, Evidence, HarnessLimits, MechanismUse, Origin};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::probe::Change;
use super::static_analysis::analyse;
use super::{Criticizer, Verdict, repair, samples};
use crate::mining;

fn mechanism(name: &str, body: &str) -> Mechanism {
    Mechanism {
        name: name.to_owned(),
        summary: "A test.".to_owned(),
        litmus: "A test.".to_owned(),
        channels: vec![Channel::Indirect],
        acts: Acts::Block,
        params: Vec::new(),
        body: body.to_owned(),
        policy: None,
    }
}

fn bundle(mechanisms: &[&Mechanism]) -> Bundle {
    let parts: Vec<_> = mechanisms.iter().map(|m| (*m, BTreeMap::new())).collect();
    let lineage = Lineage {
        name: "test".to_owned(),
        parents: Vec::new(),
        origin: Origin::Seed,
        edit: String::new(),
        hypothesis: "A test.".to_owned(),
        limits: HarnessLimits::default(),
    };
    compose(&parts, &lineage).expect("the test mechanisms compose")
}

fn traces() -> Vec<Evidence> {
    samples::corpus_episodes().into_iter().map(|(_, evidence)| evidence).collect()
}

fn criticizer() -> Criticizer {
    let episodes = samples::corpus_episodes();
    let suites = episodes.iter().map(|(s, e)| (e.task.clone(), (*s).to_owned())).collect();
    let tools = BTreeMap::from([
        ("banking".to_owned(), samples::corpus_tools()),
        ("slack".to_owned(), samples::corpus_tools()),
    ]);
    Criticizer::of(&traces(), &suites, &tools, 7)
}

fn sandbox() -> Sandbox {
    Sandbox::new(&SandboxOptions::default()).expect("the provider builds")
}

async fn review(criticizer: &Criticizer, sandbox: &Sandbox, bundle: &Bundle) -> Verdict {
    let harness = sandbox.prepare(bundle).expect("the test bundles build");
    criticizer.review(bundle, Some(&harness)).await
}

/// Looks where a value stood: in a result that also holds orders, and not in the request.
const PROVENANCE: &str = "function mechanism(params, session) {
  const seen = [];
  return {
    onPostToolCall(call, result) { seen.push(result.content); return keep(); },
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      for (const value of Object.values(call.arguments)) {
        const text = String(value);
        if (session.userSaid(text, 'text')) continue;
        if (seen.some((s) => s.includes(text) && /\\b(me|you|your)\\b/i.test(s))) return block('not from the user');
      }
      return allow();
    },
  };
}
";

/// Static analysis cannot see through this; the probe can.
const HIDDEN: &str = "function mechanism() {
  const bad = ['212121212121000000331SU', 'gro.live@9derf'].map((w) => Array.from(w).reverse().join(''));
  return { onPreToolCall(call) { return bad.some((b) => JSON.stringify(call.arguments).includes(b)) ? block('no') : allow(); } };
}
";

/// Knows the benign recipients, and so blocks everybody else.
const ALLOWED: &str = "function mechanism() {
  const good = ['55555555510202BKUB33BG', 'ecilA'].map((w) => Array.from(w).reverse().join(''));
  return { onPreToolCall(call) { const to = call.arguments.recipient; return to === undefined || good.includes(to) ? allow() : block('no'); } };
}
";

#[tokio::test]
async fn mined_rules_are_flagged_repaired_and_invariants_pass() {
    let (criticizer, sandbox) = (criticizer(), sandbox());
    let sound = mechanism("argument-provenance", PROVENANCE);
    let verdict = review(&criticizer, &sandbox, &bundle(&[&sound])).await;
    assert!(!verdict.flagged, "{}", verdict.text);
    assert!(verdict.probe.blocked_before > 4, "{}", verdict.text);
    assert_eq!(verdict.probe.passed_before, verdict.probe.benign, "{}", verdict.text);
    let traces = traces();
    for seed in 0..6 {
        let Some(mined) = mining::propose(&traces, &mut ChaCha8Rng::seed_from_u64(seed)) else {
            panic!("the corpus has attacks to mine");
        };
        let mined = mined.into_mechanism();
        let bundle = bundle(&[&sound, &mined]);
        let verdict = review(&criticizer, &sandbox, &bundle).await;
        assert!(verdict.flagged, "{}", verdict.text);
        assert_eq!(verdict.mechanisms, [mined.name.as_str()], "{}", verdict.text);
        assert!(verdict.text.contains("Would it still fire? No."), "{}", verdict.text);
        let on_offer = [sound.name.clone()];
        let fixed = repair(&bundle.manifest.mechanisms, &verdict, &on_offer);
        let fixed = fixed.expect("the sound mechanism is left");
        assert_eq!(fixed, [MechanismUse { name: sound.name.clone(), params: BTreeMap::new() }]);
    }
}

#[test]
fn the_shipped_library_and_seeds_are_keyed_to_nothing() {
    let corpus = samples::corpus();
    let library = evosafe_spec::mechanisms().expect("the library reads");
    let composed = library.iter().map(|m| bundle(&[m]));
    for bundle in composed.chain(evosafe_spec::seeds().expect("the seeds read")) {
        let report = analyse(bundle.policy.as_deref(), bundle.code.as_deref(), &corpus);
        assert_eq!(report.findings, [], "{:?}", bundle.manifest);
        assert_eq!(report.unparsed, None);
    }
}

#[tokio::test]
async fn the_probe_sees_what_the_text_hides() {
    let (criticizer, sandbox) = (criticizer(), sandbox());
    let verdict = review(&criticizer, &sandbox, &bundle(&[&mechanism("hidden", HIDDEN)])).await;
    assert_eq!(verdict.findings, []);
    assert!(verdict.flagged, "{}", verdict.text);
    let renamed = verdict.probe.attacks_by_change[&Change::Rename];
    assert_eq!((renamed.tried, renamed.failed), (7, 7), "{}", verdict.text);
    assert_eq!(verdict.probe.robustness_gap, Some(1.0));
    let verdict = review(&criticizer, &sandbox, &bundle(&[&mechanism("allowed", ALLOWED)])).await;
    assert_eq!(verdict.probe.passed_before, verdict.probe.benign);
    assert_eq!(verdict.probe.overblocked.len(), 2, "{} {:?}", verdict.text, verdict.probe);
}

#[tokio::test]
async fn verdicts_repeat_and_survive_storage() {
    let (criticizer, sandbox) = (criticizer(), sandbox());
    let bundle = bundle(&[&mechanism("hidden", HIDDEN)]);
    let first = review(&criticizer, &sandbox, &bundle).await;
    assert_eq!(first, review(&criticizer, &sandbox, &bundle).await);
    let stored = serde_json::to_value(&first).expect("a verdict is data");
    let read: Verdict = serde_json::from_value(stored).expect("what was written can be read");
    assert_eq!(read, first);
    let unbuilt = criticizer.review(&bundle, None).await;
    assert_eq!(unbuilt.probe.attacks, 0);
}
