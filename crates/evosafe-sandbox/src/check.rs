//! Stage 0: does a bundle build, and do its hooks answer sample input within its limits?

use evosafe_types::Bundle;

use crate::error::CheckReport;
use crate::sandbox::Sandbox;
use crate::surface::hook_name;

impl Sandbox {
    /// Stage 0: prepares the bundle and tries every hook on sample input.
    pub async fn check(&self, bundle: &Bundle) -> CheckReport {
        let harness = match self.prepare(bundle) {
            Ok(harness) => harness,
            Err(error) => {
                return CheckReport { findings: error.findings, ..CheckReport::default() };
            }
        };
        let hooks = harness.hooks().iter().map(|hook| hook_name(*hook).to_owned()).collect();
        CheckReport { hooks, ..CheckReport::default() }
    }
}
