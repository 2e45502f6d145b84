//! Corpora to divide.

use evosafe_types::{Family, Side, Task, TaskId};

pub fn task(id: &str, family: Family, suite: &str, category: &str, user_task: &str) -> Task {
    Task {
        id: TaskId::new(id),
        family,
        category: category.to_owned(),
        suite: suite.to_owned(),
        user_task: user_task.to_owned(),
        injection_task: None,
        side: None,
    }
}

/// AgentDojo's shape: suites of (name, user tasks, goals), every pair an indirect task.
pub fn pairs(suites: &[(&str, usize, usize)]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (suite, users, goals) in suites {
        for user in 0..*users {
            let name = format!("user_task_{user}");
            tasks.push(task(&format!("{suite}/{name}"), Family::Benign, suite, "work", &name));
            for goal in 0..*goals {
                let goal = format!("injection_task_{goal}");
                let id = format!("{suite}/{name}/{goal}");
                let mut pair = task(&id, Family::Indirect, suite, &goal, &name);
                pair.injection_task = Some(goal);
                tasks.push(pair);
            }
        }
    }
    tasks
}

/// The real thing: 97 user tasks, 629 pairs.
pub fn agentdojo() -> Vec<Task> {
    pairs(&[("workspace", 40, 6), ("travel", 20, 7), ("banking", 16, 9), ("slack", 21, 5)])
}

/// A built-in domain with fixed sides: `n` tasks a family and side.
pub fn built_in(n: usize) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (side, label) in [(Side::Train, "train"), (Side::HeldOut, "held-out")] {
        for family in Family::ALL {
            for i in 0..n {
                let name = format!("{}-{label}-{i}", family.as_str());
                let category = format!("c{}", i % 3);
                let mut task = task(&name, family, "desk", &category, &name);
                task.side = Some(side);
                tasks.push(task);
            }
        }
    }
    tasks
}
