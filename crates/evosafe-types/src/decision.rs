//! What a harness decides.

use serde::{Deserialize, Serialize};

use crate::{JsonMap, ToolCall};

/// Decision of the pre-hook about a call that the victim proposes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum CallDecision {
    /// Execute as proposed.
    Allow,
    /// Execute with other arguments.
    Rewrite {
        /// The new arguments.
        arguments: JsonMap,
    },
    /// Execute another call instead.
    Redirect {
        /// The call to execute.
        call: ToolCall,
    },
    /// Do not execute.
    Block {
        /// Why, as told to the victim.
        reason: String,
    },
}

/// Decision of the post-hook about a result, or of the final hook about the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum TextDecision {
    /// Deliver unchanged.
    Keep,
    /// Deliver other text.
    Replace {
        /// The text to deliver.
        text: String,
    },
    /// Withhold.
    Block {
        /// Why, as told to the victim (or the user, for the answer).
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by fuzzing: read without care, the number comes back as 4.1111111111111e36.
    #[test]
    fn numbers_of_a_decision_are_read_as_they_were_written() {
        let text = r#"{"do":"rewrite","arguments":{"amount":4.1111111111110995e+36}}"#;
        let decision: CallDecision = serde_json::from_str(text).expect("a decision");
        let written = serde_json::to_string(&decision).expect("JSON");
        assert_eq!(written, text);
        assert_eq!(serde_json::from_str::<CallDecision>(&written).expect("JSON"), decision);
    }
}
