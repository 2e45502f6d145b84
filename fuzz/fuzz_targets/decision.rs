//! Decisions as an instance hands them over: never a panic, and what is accepted is JSON
//! that means the same when it is written and read again.
#![no_main]

use evosafe_sandbox::guest_decision;
use evosafe_types::CallDecision;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, String, String)| {
    let (case, text, tool) = input;
    let Ok(decision) = guest_decision(case, &text, &tool) else { return };
    if let CallDecision::Redirect { call } = &decision {
        assert!(!call.tool.is_empty());
    }
    let written = serde_json::to_string(&decision).expect("a decision is JSON");
    let read: CallDecision = serde_json::from_str(&written).expect("and reads as one");
    assert_eq!(read, decision);
});
