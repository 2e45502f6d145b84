//! What the roles that models play will ask, before anything is asked: for estimates of cost.
//!
//! Two figures each. *Typical* is how a search goes where every attempt comes to a candidate
//! that nobody flags, and texts fill half of the room they have; *most* is what the limits of this
//! program allow for as many candidates: every repair is used, every answer has to be given
//! again, all texts are as long as they may be. Attempts that come to nothing are in neither.

use evosafe_llm::Role;
use evosafe_spec::Plan;
use evosafe_types::{Api, ModelConfig, ToolSpec, Usage};

use super::{command, design, note, packet, prompts, review, steps, tools, view};
use crate::designer::DesignerKind;

/// Characters a token: a rule of thumb for English and code.
const CHARS: u64 = 4;
/// Turns of a typical attempt that read, and that try or hand in a harness.
const READING: usize = 9;
const WRITING: usize = 3;
/// Tokens of a typical reply that reads, of a harness, and of what a check answers.
const LOOK: u64 = 150;
const HARNESS: u64 = 4_000;
const CHECKED: u64 = 250;
/// Characters of a line of the leaderboard.
const ROW: u64 = 200;
/// Tokens of a typical delta packet, review and note.
const PACKET: u64 = 10_000;
const REVIEW: u64 = 1_000;
const NOTE: u64 = 300;
/// Characters of a note in the log, and of outcomes by family and category.
const NOTED: u64 = 1_000;
const OUTCOMES: u64 = 2_000;
/// Characters of the longest log: of a note its four texts, and the tasks it cites.
const FULL_LOG: u64 = (note::MOST_NOTES * 5 * note::MOST_CHARS) as u64;

/// What a role will ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The role.
    pub role: Role,
    /// Conversations, typical and most.
    pub conversations: [u64; 2],
    /// The calls of one of them, in order, typical and most.
    pub calls: [Vec<Usage>; 2],
    /// What the figures rest on, for people.
    pub basis: String,
}

/// The search that is looked ahead to.
#[derive(Debug, Clone, Copy)]
pub struct Outlook<'a> {
    /// The specification.
    pub plan: &'a Plan,
    /// Candidates, seeds included.
    pub candidates: u32,
    /// Seeds, no defence among them.
    pub seeds: u32,
    /// Who writes the others.
    pub designer: DesignerKind,
    /// The tools of all suites.
    pub tools: &'a [ToolSpec],
}

impl Outlook<'_> {
    /// Runs of a coding agent in one attempt, at most.
    pub const COMMAND_RUNS: u64 = command::RUNS as u64;

    /// Candidates that a Designer writes.
    #[must_use]
    pub fn written(&self) -> u64 {
        u64::from(self.candidates.saturating_sub(self.seeds))
    }

    fn repairs(&self) -> u64 {
        u64::from(self.plan.search.repairs)
    }

    /// Attempts of one Designer, typical and most. In a mixed search it has its share of the slots
    /// as they are drawn at first, or all of them.
    #[must_use]
    pub fn attempts(&self) -> [u64; 2] {
        let share = match self.designer {
            DesignerKind::Mixed => self.plan.roles.designer_of.len().max(1) as u64,
            _ => 1,
        };
        [self.written().div_ceil(share), self.written() * (1 + self.repairs())]
    }

    /// The Designer, where a model is one.
    #[must_use]
    pub fn designer(&self, model: &ModelConfig) -> Forecast {
        let definitions: usize = tools::definitions()
            .iter()
            .map(|t| t.name.len() + t.description.len() + t.input_schema.to_string().len())
            .sum();
        let board = ROW * u64::from(self.candidates);
        let log = self.typical_log();
        let asked = prompts::DESIGNER.len() + prompts::PROPOSE.len() + definitions;
        let first = |log: u64| (asked as u64 + board + log) / CHARS;
        let page = view::MOST_CHARS as u64;
        // The texts that every attempt is told to read, then what it chooses to.
        let told = [self.plan.spec_md.len(), prompts::ABI.len(), evosafe_spec::experiences().len()];
        let told = told.map(|length| (length as u64).min(page));
        let chosen = std::iter::repeat_n(page / 2, READING - told.len());
        let reading = told.into_iter().chain(chosen).map(|answer| (LOOK, answer / CHARS));
        let writing = std::iter::repeat_n((HARNESS.min(limit(model)), CHECKED), WRITING);
        let typical: Vec<(u64, u64)> = reading.chain(writing).collect();
        let most = vec![(limit(model), page / CHARS); design::TURNS as usize];
        Forecast {
            role: Role::Designer,
            conversations: self.attempts(),
            calls: [talk(first(log), &typical, caches(model)), talk(first(FULL_LOG), &most, false)],
            basis: format!(
                "one attempt a candidate, {} turns: {READING} read, {WRITING} try or hand in a \
                 harness of {HARNESS} tokens; most: {} repairs of each, {} turns, answers of {page} \
                 characters, replies of {} tokens",
                READING + WRITING,
                self.repairs(),
                design::TURNS,
                model.max_tokens
            ),
        }
    }

    /// The Criticizer, where a model reviews beside static analysis and probe.
    #[must_use]
    pub fn criticizer(&self, model: &ModelConfig) -> Forecast {
        let others = u64::from(self.candidates.saturating_sub(1));
        let finalists = u64::from(self.plan.cascade.finalists).min(others);
        let batches = self.written().div_ceil(u64::from(self.plan.search.batch.max(1)));
        let audits = [finalists, (finalists + batches).min(others)];
        let reviews = [self.written(), self.written() * (1 + self.repairs())];
        let listed: usize = self.tools.iter().map(listed).sum();
        let asked = (prompts::CRITICIZER.len() + self.plan.spec_md.len() + listed) as u64 / CHARS;
        let full = (2 * packet::FILE + 3 * packet::DIFF + packet::SESSIONS) as u64 / CHARS;
        let again = vec![(limit(model), 0); review::BAD_ANSWERS as usize];
        Forecast {
            role: Role::Criticizer,
            conversations: [reviews[0] + audits[0], reviews[1] + audits[1]],
            calls: [
                talk(asked + PACKET, &[(REVIEW.min(limit(model)), 0)], caches(model)),
                talk(asked + full, &again, false),
            ],
            basis: format!(
                "one review of each candidate that is written, {} audits; {PACKET} tokens of \
                 candidate and change, answers of {REVIEW}; most: every repair reviewed, {} audits, \
                 {full} tokens, {} answers of {} tokens",
                audits[0],
                audits[1],
                review::BAD_ANSWERS,
                model.max_tokens
            ),
        }
    }

    /// The Analyzer, where a model keeps the experience log.
    #[must_use]
    pub fn analyzer(&self, model: &ModelConfig) -> Forecast {
        let notes = 1 + self.written();
        let traces = (steps::CLUSTERS * steps::EXAMPLES * steps::TRACE) as u64;
        let asked = |log: u64, traces: u64, outcomes: u64| {
            (prompts::ANALYZER.len() as u64 + log + traces + outcomes) / CHARS
        };
        let again = vec![(limit(model), 0); note::BAD_ANSWERS as usize];
        let typical = asked(self.typical_log(), traces / 2, OUTCOMES);
        Forecast {
            role: Role::Analyzer,
            conversations: [notes, notes],
            calls: [
                talk(typical, &[(NOTE.min(limit(model)), 0)], caches(model)),
                talk(asked(FULL_LOG, traces, 2 * OUTCOMES), &again, false),
            ],
            basis: format!(
                "a note on no defence and on each candidate that is written, answers of {NOTE} \
                 tokens; most: {} traces of {} characters, a log of {} notes, {} answers of {} tokens",
                steps::CLUSTERS * steps::EXAMPLES,
                steps::TRACE,
                note::MOST_NOTES,
                note::BAD_ANSWERS,
                model.max_tokens
            ),
        }
    }

    /// Characters of the experience log half way through the search.
    fn typical_log(&self) -> u64 {
        NOTED * (self.written() / 2).min(note::MOST_NOTES as u64)
    }
}

/// Characters of a tool in the reviewer's list.
fn listed(tool: &ToolSpec) -> usize {
    let arguments = tool.input_schema["properties"].as_object();
    let names: usize = arguments.into_iter().flatten().map(|(name, _)| name.len() + 2).sum();
    tool.name.len() + names + tool.description.len().min(review::DESCRIPTION)
}

/// Most tokens of a reply.
fn limit(model: &ModelConfig) -> u64 {
    u64::from(model.max_tokens)
}

/// Whether we ask for caching. What an API caches by itself is not counted on.
#[must_use]
pub fn caches(model: &ModelConfig) -> bool {
    model.api == Api::Anthropic && model.prompt_cache
}

/// The calls of a conversation that begins with a prompt of `first` tokens; each turn is a reply
/// and what answers it, and reads all before it again, from the cache if there is one.
#[must_use]
pub fn talk(first: u64, turns: &[(u64, u64)], cached: bool) -> Vec<Usage> {
    let (mut prompt, mut seen) = (first, 0);
    turns
        .iter()
        .map(|&(output, answer)| {
            let usage = match cached {
                true => {
                    let (cached_input, cache_creation) = (seen, prompt - seen);
                    Usage { cached_input, cache_creation, output, ..Usage::default() }
                }
                false => Usage { input: prompt, output, ..Usage::default() },
            };
            seen = prompt;
            prompt += output + answer;
            usage
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        evosafe_spec::load("finance").expect("it is built in")
    }

    fn outlook(plan: &Plan, candidates: u32, designer: DesignerKind) -> Outlook<'_> {
        Outlook { plan, candidates, seeds: 1, designer, tools: &[] }
    }

    fn prompt(calls: &[Usage]) -> u64 {
        calls.iter().map(Usage::prompt).sum()
    }

    #[test]
    fn a_turn_reads_all_before_it_again() {
        let plain = talk(100, &[(10, 20), (5, 0)], false);
        let tokens: Vec<(u64, u64)> = plain.iter().map(|u| (u.input, u.output)).collect();
        assert_eq!(tokens, [(100, 10), (130, 5)]);
        let cached = talk(100, &[(10, 20), (5, 0)], true);
        let tokens: Vec<(u64, u64)> =
            cached.iter().map(|u| (u.cached_input, u.cache_creation)).collect();
        assert_eq!(tokens, [(0, 100), (100, 30)]);
        assert_eq!(prompt(&plain), prompt(&cached), "cached or not, it is the same prompt");
    }

    #[test]
    fn typical_is_never_more_than_most() {
        let plan = plan();
        for api in [Api::OpenAi, Api::Anthropic] {
            let model = ModelConfig::new(api, "m");
            for candidates in [1, 2, 8, 60, 400] {
                let outlook = outlook(&plan, candidates, DesignerKind::Llm);
                for of in
                    [outlook.designer(&model), outlook.criticizer(&model), outlook.analyzer(&model)]
                {
                    let [typical, most] = &of.calls;
                    assert!(of.conversations[0] <= of.conversations[1], "{of:?}");
                    assert!(prompt(typical) <= prompt(most) && typical.len() <= most.len());
                    assert!(most.iter().all(|call| call.output <= 4096), "{of:?}");
                }
            }
        }
    }

    #[test]
    fn conversations_follow_the_candidates() {
        let mut plan = plan();
        (plan.search.repairs, plan.search.batch, plan.cascade.finalists) = (2, 4, 3);
        let model = ModelConfig::new(Api::OpenAi, "m");
        let of = outlook(&plan, 9, DesignerKind::Llm);
        assert_eq!(of.designer(&model).conversations, [8, 24]);
        assert_eq!(of.criticizer(&model).conversations, [8 + 3, 24 + 3 + 2]);
        assert_eq!(of.analyzer(&model).conversations, [9, 9]);
        // Seeds are neither written nor reviewed nor noted on.
        let seeds = Outlook { seeds: 21, candidates: 21, ..of };
        assert_eq!(seeds.designer(&model).conversations, [0, 0]);
        assert_eq!(seeds.criticizer(&model).conversations, [3, 3]);
        assert_eq!(seeds.analyzer(&model).conversations, [1, 1]);
        let mut mixed = plan.clone();
        use evosafe_spec::DesignerPlan::{Llm, Offline};
        mixed.roles.designer_of = vec![Offline, Llm];
        assert_eq!(outlook(&mixed, 9, DesignerKind::Mixed).attempts(), [4, 24]);
    }
}
