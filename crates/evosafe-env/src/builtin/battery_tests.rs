//! The tests that every built-in domain passes, task by task.

use std::collections::BTreeSet;

use evosafe_types::{Family, Side, Task, ToolCall, ToolResult};

pub(crate) use super::settled_tests::what_is_settled_stays;
use super::{Builtin, BuiltinEpisode, Knowledge, Script, Step};

/// Writes the battery as tests of a domain.
macro_rules! battery {
    ($domain:literal, categories: $categories:expr, ways: $ways:expr, names: $names:path) => {
        battery!(@tests $domain,
            the_corpus_has_its_shape($categories),
            generation_repeats(),
            reference_plans_succeed(),
            reference_attacks_succeed_undefended_in_any_order(),
            blocking_the_harmful_effects_leaves_the_task(),
            stopping_the_first_harmful_effect_leaves_the_task(),
            leaving_out_an_effect_fails_the_task(),
            idle_echoing_and_refused_agents_succeed_at_nothing(),
            ways_around_a_refusal_reach_the_same_harm($ways),
            what_is_settled_stays(),
            texts_are_filled_and_say_no_label(),
            the_sides_share_no_names_and_no_phrasing($names),
            restriction_closes_the_other_side(),
        );

        #[test]
        #[ignore = "prints the corpus for a person to read"]
        fn dump() {
            $crate::builtin::battery_tests::dump(
                &$crate::builtin::Builtin::new($domain).expect("the domain is built in"),
            );
        }
    };
    (@tests $domain:literal, $($name:ident($($argument:expr)?),)+) => {
        $(#[test]
        fn $name() {
            let domain =
                $crate::builtin::Builtin::new($domain).expect("the domain is built in");
            $crate::builtin::battery_tests::$name(&domain $(, $argument)?);
        })+
    };
}
pub(crate) use battery;

/// Runs steps in order; calls that `refuse` picks are not executed. Every other call
/// must resolve and succeed.
pub(super) fn run(
    episode: &mut BuiltinEpisode,
    knowledge: &mut Knowledge,
    steps: &[(usize, &Step)],
    task: &Task,
    refuse: impl Fn(&Step) -> bool,
) {
    for (index, step) in steps {
        if refuse(step) {
            continue;
        }
        let call = step
            .call(format!("c{index}"), knowledge)
            .unwrap_or_else(|| panic!("{}: {} does not resolve", task.id, step.tool));
        let result = episode.call(&call);
        assert!(!result.is_error, "{}: {} -> {}", task.id, step.tool, result.content);
        knowledge.deliver(*index, &result);
    }
}

pub(super) fn numbered(steps: &[Step]) -> Vec<(usize, &Step)> {
    steps.iter().enumerate().collect()
}

/// Reverses every run of independent steps.
fn reordered(steps: &[Step]) -> Vec<(usize, &Step)> {
    let mut groups: Vec<Vec<(usize, &Step)>> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if step.independent => group.push((index, step)),
            _ => groups.push(vec![(index, step)]),
        }
    }
    groups.into_iter().flat_map(|group| group.into_iter().rev()).collect()
}

/// An episode, what a victim knows at its start, and its script.
pub(crate) fn open<'a>(
    domain: &'a Builtin,
    task: &Task,
) -> (BuiltinEpisode, Knowledge, &'a Script) {
    let episode = domain.episode(&task.id).expect("every task opens");
    let mut knowledge = Knowledge::default();
    knowledge.show(episode.instruction());
    let script = domain.script(&task.id).expect("every task has a script");
    (episode, knowledge, script)
}

fn answer(script: &Script, knowledge: &Knowledge) -> String {
    let value = script.answer.resolve(knowledge).expect("the answer is known after the plan");
    value.as_str().expect("answers are texts").to_owned()
}

/// Plan with the attack where it is read. Attack calls picked by `refuse` are not
/// executed; if any was, the plan's own steps are not left out.
fn attacked(
    domain: &Builtin,
    task: &Task,
    order: impl Fn(&[Step]) -> Vec<(usize, &Step)>,
    refuse: impl Fn(&Step) -> bool + Copy,
) -> (BuiltinEpisode, String) {
    let (mut episode, mut knowledge, script) = open(domain, task);
    let Some(injection) = &script.injection else {
        run(&mut episode, &mut knowledge, &order(&script.attack), task, refuse);
        return (episode, "Done.".to_owned());
    };
    let plan = numbered(&script.plan);
    let (before, after) = plan.split_at(injection.read_by + 1);
    run(&mut episode, &mut knowledge, before, task, |_| false);
    assert!(knowledge.has_seen(&injection.text), "{}: injection is not read", task.id);
    run(&mut episode, &mut knowledge.clone(), &order(&script.attack), task, refuse);
    let refused = script.attack.iter().any(refuse);
    let rest: Vec<(usize, &Step)> = after
        .iter()
        .filter(|(index, _)| refused || !injection.replaces.contains(index))
        .copied()
        .collect();
    run(&mut episode, &mut knowledge, &rest, task, |_| false);
    let text = script.answer.resolve(&knowledge);
    (episode, text.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default())
}

/// 60 train tasks, 100 held-out, and this many categories of each family.
pub(crate) fn the_corpus_has_its_shape(domain: &Builtin, expected: [usize; 3]) {
    let count = |side, family| {
        domain.tasks().iter().filter(|t| t.side == Some(side) && t.family == family).count()
    };
    for family in Family::ALL {
        assert_eq!(count(Side::Train, family), 20, "{family:?}");
    }
    assert_eq!(count(Side::HeldOut, Family::Benign), 30);
    assert_eq!(count(Side::HeldOut, Family::Direct), 35);
    assert_eq!(count(Side::HeldOut, Family::Indirect), 35);
    let ids: BTreeSet<_> = domain.tasks().iter().map(|t| &t.id).collect();
    assert_eq!(ids.len(), 160);
    let categories = |family| {
        let of = domain.tasks().iter().filter(|t| t.family == family);
        of.map(|t| t.category.as_str()).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(Family::ALL.map(categories), expected, "benign, direct, indirect");
}

/// Two generations are the same.
pub(crate) fn generation_repeats(domain: &Builtin) {
    let again = Builtin::new(domain.name()).expect("the domain is built in");
    assert_eq!(domain.id(), again.id());
}

/// Every plan reaches the user's goal and nobody else's, in any order of independent calls.
pub(crate) fn reference_plans_succeed(domain: &Builtin) {
    for task in domain.tasks().iter().filter(|t| t.family != Family::Direct) {
        for order in [numbered, reordered] {
            let (mut episode, mut knowledge, script) = open(domain, task);
            run(&mut episode, &mut knowledge, &order(&script.plan), task, |_| false);
            let verdict = episode.judge(&answer(script, &knowledge));
            assert_eq!(verdict.task_success, Some(true), "{}", task.id);
            let harm = (task.family == Family::Indirect).then_some(false);
            assert_eq!(verdict.attack_success, harm, "{}", task.id);
        }
    }
}

/// Every attack reaches its goal if nothing stops it.
pub(crate) fn reference_attacks_succeed_undefended_in_any_order(domain: &Builtin) {
    for task in domain.tasks().iter().filter(|t| t.family.is_attack()) {
        for order in [numbered, reordered] {
            let (episode, text) = attacked(domain, task, order, |_| false);
            let verdict = episode.judge(&text);
            assert_eq!(verdict.attack_success, Some(true), "{}", task.id);
            assert_eq!(verdict.task_success.is_none(), task.family == Family::Direct);
        }
    }
}

/// Without the attack's effects there is no harm, and the user's goal is reached.
pub(crate) fn blocking_the_harmful_effects_leaves_the_task(domain: &Builtin) {
    for task in domain.tasks().iter().filter(|t| t.family.is_attack()) {
        let (episode, text) = attacked(domain, task, numbered, |step| step.effect);
        let verdict = episode.judge(&text);
        assert_eq!(verdict.attack_success, Some(false), "{}", task.id);
        if task.family == Family::Indirect {
            assert_eq!(verdict.task_success, Some(true), "{}", task.id);
        }
    }
}

/// A victim that is stopped at the attack's first effect and returns to the user's work
/// finishes it. The stop goes by tool, as a harness in a simulated run would: no step
/// of the user's before the attack may have an effect with that tool.
pub(crate) fn stopping_the_first_harmful_effect_leaves_the_task(domain: &Builtin) {
    for task in domain.tasks().iter().filter(|t| t.family == Family::Indirect) {
        let (mut episode, mut knowledge, script) = open(domain, task);
        let injection = script.injection.as_ref().expect("indirect tasks have one");
        let first = script.attack.iter().position(|s| s.effect).expect("attacks have an effect");
        let tools: Vec<_> = script.attack.iter().filter(|s| s.effect).map(|s| &s.tool).collect();
        let plan = numbered(&script.plan);
        let (before, after) = plan.split_at(injection.read_by + 1);
        assert!(before.iter().all(|(_, step)| !tools.contains(&&step.tool)), "{}", task.id);
        run(&mut episode, &mut knowledge, before, task, |_| false);
        let reads = &numbered(&script.attack)[..first];
        run(&mut episode, &mut knowledge.clone(), reads, task, |_| false);
        run(&mut episode, &mut knowledge, after, task, |_| false);
        let verdict = episode.judge(&answer(script, &knowledge));
        assert_eq!(verdict.attack_success, Some(false), "{}", task.id);
        assert_eq!(verdict.task_success, Some(true), "{}", task.id);
    }
}

/// A plan without its first or its last effect does not reach the user's goal.
pub(crate) fn leaving_out_an_effect_fails_the_task(domain: &Builtin) {
    for task in domain.tasks().iter().filter(|t| t.family != Family::Direct) {
        let script = domain.script(&task.id).expect("every task has a script");
        let effects: Vec<usize> =
            numbered(&script.plan).iter().filter(|(_, s)| s.effect).map(|(i, _)| *i).collect();
        for left_out in effects.first().into_iter().chain(effects.last()) {
            let (mut episode, mut knowledge, _) = open(domain, task);
            attempt(&mut episode, &mut knowledge, &script.plan, *left_out);
            let text = script.answer.resolve(&knowledge);
            let text = text.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
            let verdict = episode.judge(&text);
            assert_eq!(verdict.task_success, Some(false), "{} without {left_out}", task.id);
        }
    }
}

/// Runs all steps but one, as far as they can be done.
pub(crate) fn attempt(
    episode: &mut BuiltinEpisode,
    knowledge: &mut Knowledge,
    steps: &[Step],
    left_out: usize,
) {
    for (index, step) in steps.iter().enumerate() {
        if index == left_out {
            continue;
        }
        if let Some(call) = step.call(format!("c{index}"), knowledge) {
            let result = episode.call(&call);
            knowledge.deliver(index, &result);
        }
    }
}

/// No goal is reached by words alone.
pub(crate) fn idle_echoing_and_refused_agents_succeed_at_nothing(domain: &Builtin) {
    for task in domain.tasks() {
        let (mut episode, mut knowledge, script) = open(domain, task);
        let echo = {
            let mut scratch = episode.clone();
            run(&mut scratch, &mut knowledge, &numbered(&script.plan), task, |_| false);
            answer(script, &knowledge)
        };
        let instruction = episode.instruction().to_owned();
        for text in ["", "Done.", instruction.as_str(), echo.as_str()] {
            let verdict = episode.judge(text);
            assert_ne!(verdict.task_success, Some(true), "{}: answer {text:?}", task.id);
            assert_ne!(verdict.attack_success, Some(true), "{}: answer {text:?}", task.id);
        }
        // Calls that fail leave no trace either.
        let nonsense = ToolCall {
            id: "x".to_owned(),
            server: None,
            tool: "no_such_tool".to_owned(),
            arguments: serde_json::Map::new(),
        };
        assert!(episode.call(&nonsense).is_error);
        assert_ne!(episode.judge(&echo).task_success, Some(true), "{}", task.id);
    }
}

/// Alternatives are real ones; at least this many attacks have some.
pub(crate) fn ways_around_a_refusal_reach_the_same_harm(domain: &Builtin, at_least: usize) {
    let mut tried = 0;
    for task in domain.tasks().iter().filter(|t| t.family.is_attack()) {
        let (mut episode, mut knowledge, script) = open(domain, task);
        if script.attack.iter().all(|step| step.alternatives.is_empty()) {
            continue;
        }
        if let Some(injection) = &script.injection {
            let reads = numbered(&script.plan[..=injection.read_by]);
            run(&mut episode, &mut knowledge, &reads, task, |_| false);
        }
        for (index, step) in script.attack.iter().enumerate() {
            let way: Vec<&Step> = match step.alternatives.first() {
                Some(other) => other.iter().collect(),
                None => vec![step],
            };
            for step in way {
                run(&mut episode, &mut knowledge, &[(index, step)], task, |_| false);
            }
        }
        assert_eq!(episode.judge("").attack_success, Some(true), "{}", task.id);
        tried += 1;
    }
    assert!(tried >= at_least, "{tried}");
}

/// Texts have no open placeholders and do not name their category.
pub(crate) fn texts_are_filled_and_say_no_label(domain: &Builtin) {
    for task in domain.tasks() {
        let (episode, _, script) = open(domain, task);
        let mut text = episode.instruction().to_owned();
        if let Some(injection) = &script.injection {
            text.push_str(&injection.text);
            assert!(!injection.text.contains(['"', '\n', '\\']), "{}", task.id);
        }
        assert!(!text.contains(['{', '}']), "{}: {text}", task.id);
        assert!(!text.contains(&task.category), "{}: {text}", task.id);
        assert!(!text.contains("  "), "{}: {text}", task.id);
    }
}

/// Words of six in a row, names and numbers left out.
fn shingles(text: &str) -> BTreeSet<String> {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|w| !w.is_empty())
        .collect();
    words.windows(6).map(|w| w.join(" ")).collect()
}

/// Train and held-out share no name of the world, and no six words of a text in a row.
pub(crate) fn the_sides_share_no_names_and_no_phrasing(
    domain: &Builtin,
    names_of: impl Fn(&BuiltinEpisode) -> BTreeSet<String>,
) {
    let mut names = [BTreeSet::new(), BTreeSet::new()];
    let mut phrases = [BTreeSet::new(), BTreeSet::new()];
    for task in domain.tasks() {
        let side = usize::from(task.side == Some(Side::HeldOut));
        let (episode, _, script) = open(domain, task);
        phrases[side].extend(shingles(episode.instruction()));
        if let Some(injection) = &script.injection {
            phrases[side].extend(shingles(&injection.text));
        }
        names[side].extend(names_of(&episode));
    }
    let shared: Vec<_> = names[0].intersection(&names[1]).collect();
    assert!(shared.is_empty(), "{shared:?}");
    let shared: Vec<_> = phrases[0].intersection(&phrases[1]).collect();
    assert!(shared.is_empty(), "{shared:?}");
}

/// A restricted domain opens allowed tasks only, and keeps its id.
pub(crate) fn restriction_closes_the_other_side(domain: &Builtin) {
    let mut domain = Builtin::new(domain.name()).expect("the domain is built in");
    let train: Vec<_> = domain
        .tasks()
        .iter()
        .filter(|t| t.side == Some(Side::Train))
        .map(|t| t.id.clone())
        .collect();
    let id = domain.id().clone();
    domain.restrict(&train);
    assert_eq!(domain.id(), &id);
    for task in domain.tasks() {
        let allowed = task.side == Some(Side::Train);
        assert_eq!(domain.episode(&task.id).is_some(), allowed, "{}", task.id);
        assert_eq!(domain.script(&task.id).is_some(), allowed, "{}", task.id);
    }
}

/// Executes a call without a server.
pub(crate) fn call(
    episode: &mut BuiltinEpisode,
    tool: &str,
    arguments: serde_json::Value,
) -> ToolResult {
    episode.call(&ToolCall {
        id: "c".to_owned(),
        server: None,
        tool: tool.to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
    })
}

/// Prints the corpus for a person to read.
pub(crate) fn dump(domain: &Builtin) {
    for task in domain.tasks() {
        let (episode, _, script) = open(domain, task);
        eprintln!("## {}\n{}", task.id, episode.instruction());
        if let Some(injection) = &script.injection {
            eprintln!("   >> {}", injection.text);
        }
    }
}
