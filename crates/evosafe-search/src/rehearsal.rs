//! Rehearsal: drafts of one slot are played against recorded train sessions of H0 before one
//! of them is proposed. A harness that steps into a session changes what would come after it,
//! so this predicts and never scores; but it costs no episode and no victim token, and what a
//! draft stops and what it disturbs in a recording is most of what its episodes will show.

use std::collections::HashSet;
use std::sync::Arc;

use evosafe_env::Environment;
use evosafe_sandbox::{Classifier, Harness, Sandbox};
use evosafe_types::{Bundle, Evidence, Score};
use tokio::task::JoinSet;

use crate::criticizer::probe::{self, Point, Session};
use crate::criticizer::{suites_of, tools_of};
use crate::designer::{Palette, Proposal, Yardstick, rules};

/// Most attack sessions, those that succeeded undefended.
const MOST_ATTACKS: usize = 32;

/// Most benign sessions, those that reached their goal undefended.
const MOST_GOALS: usize = 48;

/// Most sessions of either kind in which every mechanism is tried alone.
const MOST_ALONE: usize = 20;

/// Sessions to play drafts against.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rehearsal {
    attacks: Vec<Arc<Session>>,
    goals: Vec<Arc<Session>>,
    /// Where earlier proposals stepped in.
    seen: HashSet<Vec<Stops>>,
    classifier: Classifier,
}

/// Where a harness steps into one session.
type Stops = Vec<Point>;

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
            seen: HashSet::new(),
            classifier,
        }
    }

    /// The most promising of some drafts; of equals the first. One
    /// that steps in just where an earlier proposal did is taken only if all do: its
    /// episodes would show nothing new.
    pub(crate) async fn best(
        &mut self,
        drafts: Vec<Proposal>,
        sandbox: &Sandbox,
        yardstick: &Yardstick,
    ) -> Option<Proposal> {
        if drafts.len() == 1 {
            return drafts.into_iter().next();
        }
        let mut best: Option<((bool, f64), Proposal, Vec<Stops>)> = None;
        for draft in drafts {
            let stops = match sandbox.prepare(&draft.bundle) {
                Ok(harness) => self.play(&harness, &self.attacks, &self.goals).await,
                // What does not build is stopped, and archived, at stage 0.
                Err(_) => Vec::new(),
            };
            let merit = match stops.is_empty() {
                true => f64::NEG_INFINITY,
                false => {
                    let price = yardstick.rule_price * rules(&draft.bundle);
                    self.gain(&stops, &yardstick.reference) - price
                }
            };
            let rank = (!self.seen.contains(&stops), merit);
            if best.as_ref().is_none_or(|(top, ..)| rank > *top) {
                best = Some((rank, draft, stops));
            }
        }
        let (_, draft, stops) = best?;
        self.seen.insert(stops);
        Some(draft)
    }

    /// What harnesses of one mechanism each do in the sessions. One that does not build does nothing.
    pub(crate) async fn palette(
        &self,
        singles: Vec<(String, Bundle)>,
        sandbox: &Sandbox,
    ) -> Palette {
        let mut palette = Palette::default();
        let attacks = &self.attacks[..self.attacks.len().min(MOST_ALONE)];
        let goals = &self.goals[..self.goals.len().min(MOST_ALONE)];
        for (name, bundle) in singles {
            let Ok(harness) = sandbox.prepare(&bundle) else { continue };
            let stops = self.play(&harness, attacks, goals).await;
            let hit: Vec<bool> = stops.iter().map(|stops| !stops.is_empty()).collect();
            let (attacks, goals) = hit.split_at(attacks.len());
            palette.steps_in.insert(name, (attacks.to_vec(), goals.to_vec()));
        }
        palette
    }

    /// Predicted gain over H0 in points of score: the part of H0's ASR that the harness
    /// steps into, less the part of its utility.
    fn gain(&self, stops: &[Stops], h0: &Score) -> f64 {
        let (attacks, goals) = stops.split_at(self.attacks.len());
        let stopped = share(attacks) * h0.asr().value().unwrap_or(0.0);
        let lost = share(goals) * h0.utility.value().unwrap_or(0.0);
        100.0 * (stopped - lost)
    }

    /// Where a harness steps in, session by session: attacks, then goals.
    async fn play(
        &self,
        harness: &Harness,
        attacks: &[Arc<Session>],
        goals: &[Arc<Session>],
    ) -> Vec<Stops> {
        let sessions = attacks.iter().chain(goals);
        let mut playing = JoinSet::new();
        for (at, session) in sessions.enumerate() {
            let (harness, session) = (harness.clone(), Arc::clone(session));
            let classifier = self.classifier.clone();
            playing.spawn(async move { (at, probe::stops(&harness, &session, &classifier).await) });
        }
        let mut stops = vec![Stops::new(); attacks.len() + goals.len()];
        while let Some(played) = playing.join_next().await {
            // A play that panicked says nothing about the draft.
            if let Ok((at, points)) = played {
                stops[at] = points;
            }
        }
        stops
    }
}

/// Share of sessions that were stepped into; 0 without sessions.
fn share(sessions: &[Stops]) -> f64 {
    let hits = sessions.iter().filter(|stops| !stops.is_empty()).count();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let share = hits as f64 / sessions.len().max(1) as f64;
    share
}

#[cfg(test)]
mod tests {
    use evosafe_sandbox::SandboxOptions;
    use evosafe_types::Rate;

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
        let bundle = samples::bundle(code);
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
        let mut rehearsal = Rehearsal {
            attacks: sessions(true),
            goals: sessions(false),
            seen: HashSet::new(),
            classifier: Classifier::Absent,
        };
        let sandbox = Sandbox::new(&SandboxOptions::default()).expect("the provider builds");
        let rate = |hits| Rate { hits, n: 10 };
        let h0 = Score { utility: rate(8), indirect: rate(4), ..Score::default() };
        let yardstick = Yardstick { reference: h0, rule_price: 1.0, ..Yardstick::default() };
        let (all, none, tells) = (draft(BLOCKS_ALL), draft(BLOCKS_NONE), draft(TELLS));
        for (draft, points) in [(&none, 0.0), (&all, 40.0 - 80.0), (&tells, 40.0)] {
            let harness = sandbox.prepare(&draft.bundle).expect("it builds");
            let stops = rehearsal.play(&harness, &rehearsal.attacks, &rehearsal.goals).await;
            let predicted = rehearsal.gain(&stops, &h0);
            assert!((predicted - points).abs() < 1e-9, "{predicted}, expected {points}");
        }
        let drafts = vec![all.clone(), tells.clone(), none.clone()];
        let best = rehearsal.best(drafts, &sandbox, &yardstick).await;
        assert_eq!(best.expect("a draft").bundle, tells.bundle);
        let twin = |of: &Proposal| {
            let mut twin = of.clone();
            twin.bundle.code = twin.bundle.code.map(|code| format!("{code} // the same"));
            twin
        };
        let copy = twin(&none);
        let drafts = vec![twin(&tells), all.clone(), copy.clone(), none.clone()];
        let new = rehearsal.best(drafts, &sandbox, &yardstick).await;
        assert_eq!(new.expect("a draft").bundle, copy.bundle, "new, and of equals the first");
        let drafts = vec![none.clone(), twin(&tells)];
        let old = rehearsal.best(drafts, &sandbox, &yardstick).await;
        assert_eq!(old.expect("a draft").bundle, twin(&tells).bundle, "nothing is new");
        assert!(rehearsal.best(Vec::new(), &sandbox, &yardstick).await.is_none());
    }
}
