//! Gate-case files and hook calls: never a panic; names of accepted cases are unique.
#![no_main]

use std::collections::BTreeSet;

use evosafe_spec::{parse_cases, parse_hook_call};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(cases) = parse_cases("cases.json", text) {
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        assert!(!cases.is_empty());
    }
    for (number, line) in text.lines().enumerate() {
        let _ = parse_hook_call("calls", number + 1, line);
    }
});
