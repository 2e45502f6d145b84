//! What is known before the end of an episode holds at its end.

use evosafe_types::Family;

use super::battery_tests::{numbered, open, run};
use super::{Builtin, Step};

/// A verdict that is settled stays, whatever a victim does next.
pub(crate) fn what_is_settled_stays(domain: &Builtin) {
    let mut settled = 0;
    for task in domain.tasks() {
        let (mut episode, mut knowledge, script) = open(domain, task);
        assert!(!episode.is_settled(), "{}: nothing was done", task.id);
        let steps: &[Step] = if script.injection.is_none() { &script.attack } else { &[] };
        run(&mut episode, &mut knowledge, &numbered(steps), task, |_| false);
        if !episode.is_settled() {
            continue;
        }
        assert_eq!(task.family, Family::Direct, "{}: a goal can still be missed", task.id);
        settled += 1;
        // Whatever the steps of all other tasks do here, and the same steps again.
        for other in domain.tasks() {
            let script = domain.script(&other.id).expect("every task has a script");
            for (index, step) in script.attack.iter().chain(&script.plan).enumerate() {
                if let Some(call) = step.call(format!("o{index}"), &knowledge) {
                    episode.call(&call);
                }
            }
        }
        let verdict = episode.judge("I did nothing.");
        assert_eq!(verdict.attack_success, Some(true), "{}", task.id);
        assert_eq!(verdict.task_success, None, "{}", task.id);
    }
    assert!(settled >= 15, "only {settled} attacks are known to have landed before the end");
}
