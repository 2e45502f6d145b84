//! Rehearsal: drafts of one slot are played against recorded train sessions of H0 before one
//! of them is proposed. A harness that steps into a session changes what would come after it,
//! so this predicts and never scores; but it costs no episode and no victim token, and what a
//! draft stops and what it disturbs in a recording is most of what its episodes will show.

use std::sync::Arc;

use evosafe_env::Environment;
use evosafe_sandbox::{Classifier, Harness, Sandbox};
use evosafe_types::{Evidence, Score};
use tokio::task::JoinSet;

use crate::criticizer::probe::{self, Session, interferes};
use crate::criticizer::{suites_of, tools_of};
use crate::designer::Proposal;

/// Most attack sessions, those that succeeded undefended.
const MOST_ATTACKS: usize = 32;

/// Most benign sessions, those that reached their goal undefended.
const MOST_GOALS: usize = 48;

/// Sessions to play drafts against.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rehearsal {
    attacks: Vec<Arc<Session>>,
    goals: Vec<Arc<Session>>,
    classifier: Classifier,
}

impl Rehearsal {
    /// Sessions of H0's train episodes.
    pub(crate) fn new(
        traces: &[Evidence],
        environment: &Environment,
        classifier: Classifier,
        seed: u64,
    ) -> Self {
        let (suites, tools) = (suites_of(environment), tools_of(environment));
        let episodes: Vec<(&str, &Evidence)> =
            traces.iter().map(|e| (suites.get(&e.task).map_or("", String::as_str), e)).collect();
        let sessions = |attack: bool, most: usize| {
            let of = |(suite, evidence): (&str, &Evidence)| {
                let tools = tools.get(suite).map_or(&[][..], Vec::as_slice);
                Arc::new(Session::of(evidence, tools))
            };
            probe::chosen(&episodes, attack, most, seed).into_iter().map(of).collect()
        };
        Self {
            attacks: sessions(true, MOST_ATTACKS),
            goals: sessions(false, MOST_GOALS),
            classifier,
        }
    }

    /// The most promising of some drafts, given what H0 scores; of equals the first.
    pub(crate) async fn best(
        &self,
        drafts: Vec<Proposal>,
        sandbox: &Sandbox,
        h0: &Score,
    ) -> Option<Proposal> {
        let mut best: Option<(f64, Proposal)> = None;
        let only = drafts.len() == 1;
        for draft in drafts {
            let merit = match sandbox.prepare(&draft.bundle) {
                Ok(harness) if !only => self.predict(&harness, h0).await,
                // What does not build is stopped, and archived, at stage 0.
                _ => f64::NEG_INFINITY,
            };
            if best.as_ref().is_none_or(|(top, _)| merit > *top) {
                best = Some((merit, draft));
            }
        }
        best.map(|(_, draft)| draft)
    }

    /// Predicted gain over H0 in points of score: the part of H0's ASR that the harness
    /// steps into, less the part of its utility.
    async fn predict(&self, harness: &Harness, h0: &Score) -> f64 {
        let stopped = self.share(&self.attacks, harness).await * h0.asr().value().unwrap_or(0.0);
        let lost = self.share(&self.goals, harness).await * h0.utility.value().unwrap_or(0.0);
        100.0 * (stopped - lost)
    }

    async fn share(&self, sessions: &[Arc<Session>], harness: &Harness) -> f64 {
        let mut playing = JoinSet::new();
        for session in sessions {
            let (harness, session) = (harness.clone(), Arc::clone(session));
            let classifier = self.classifier.clone();
            playing.spawn(async move { interferes(&harness, &session, &classifier).await });
        }
        let mut hits = 0u32;
        while let Some(played) = playing.join_next().await {
            hits += u32::from(played.unwrap_or(false));
        }
        let n = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
        if n == 0 { 0.0 } else { f64::from(hits) / f64::from(n) }
    }
}

#[cfg(test)]
mod tests {
    use evosafe_sandbox::SandboxOptions;
    use evosafe_types::{ABI_VERSION, Bundle, HarnessLimits, Language, Manifest, Origin, Rate};

    use super::*;
    use crate::criticizer::samples;
    use crate::designer::Operator;

    const BLOCKS_ALL: &str = "export function onPreToolCall() { return block('no'); }";
    const BLOCKS_NONE: &str = "export function onPreToolCall() { return allow(); }";
    /// What the attacks of the sample do, and nothing that its work does.
    const TELLS: &str = "export function onPreToolCall(call) {
  return call.arguments.amount === 4321 || 'user_email' in call.arguments ? block('no') : allow();
}";

    fn draft(code: &str) -> Proposal {
        let manifest = Manifest {
            abi: ABI_VERSION,
            language: Language::Javascript,
            name: "test".to_owned(),
            parents: Vec::new(),
            origin: Origin::Seed,
            edit: String::new(),
            limits: HarnessLimits::default(),
            mechanisms: Vec::new(),
        };
        let bundle = Bundle {
            policy: None,
            code: Some(code.to_owned()),
            component: None,
            rationale: String::new(),
            manifest,
            manifest_text: String::new(),
        };
        Proposal { bundle, operator: Operator::Add, touched: Vec::new() }
    }

    #[tokio::test]
    async fn the_draft_that_tells_attacks_from_work_is_proposed() {
        let episodes = samples::corpus_episodes();
        let traces: Vec<Evidence> = episodes.into_iter().map(|(_, e)| e).collect();
        let sessions = |attack: bool| -> Vec<Arc<Session>> {
            let of = traces.iter().filter(|e| e.family.is_attack() == attack);
            of.map(|e| Arc::new(Session::of(e, &samples::corpus_tools()))).collect()
        };
        let rehearsal = Rehearsal {
            attacks: sessions(true),
            goals: sessions(false),
            classifier: Classifier::Absent,
        };
        let sandbox = Sandbox::new(&SandboxOptions::default()).expect("the provider builds");
        let rate = |hits| Rate { hits, n: 10 };
        let h0 = Score { utility: rate(8), indirect: rate(4), ..Score::default() };
        let (all, none, tells) = (draft(BLOCKS_ALL), draft(BLOCKS_NONE), draft(TELLS));
        for (draft, points) in [(&none, 0.0), (&all, 40.0 - 80.0), (&tells, 40.0)] {
            let harness = sandbox.prepare(&draft.bundle).expect("it builds");
            let predicted = rehearsal.predict(&harness, &h0).await;
            assert!((predicted - points).abs() < 1e-9, "{predicted}, expected {points}");
        }
        let drafts = vec![all.clone(), tells.clone(), none.clone()];
        let best = rehearsal.best(drafts, &sandbox, &h0).await;
        assert_eq!(best.expect("a draft").bundle, tells.bundle);
        let mut twin = none.clone();
        twin.bundle.code = Some(format!("{BLOCKS_NONE} // the same"));
        let first = rehearsal.best(vec![all, twin.clone(), none], &sandbox, &h0).await;
        assert_eq!(first.expect("a draft").bundle, twin.bundle, "of equals the first");
        assert!(rehearsal.best(Vec::new(), &sandbox, &h0).await.is_none());
    }
}
