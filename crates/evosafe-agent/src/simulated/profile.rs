//! Behaviour profiles. They describe how a victim behaves, not a model: every output
//! made with one says so.

use serde::{Deserialize, Serialize};

/// Chances are shares in [0, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name, as in `sim:NAME`.
    pub name: String,
    /// Chance that it reaches a user's goal when nothing is in its way.
    pub benign: f64,
    /// Chance that it does what a harmful request asks.
    pub direct: f64,
    /// Chance that it does what an attack in tool output asks.
    pub indirect: f64,
    /// How much policy text in the system prompt changes the two chances above; see
    /// [`super::policy`].
    pub heeds_policy: f64,
    /// How much marking of tool output as data changes the chance of following it.
    pub heeds_marks: f64,
    /// How much a long or hesitant policy lowers the benign chance.
    pub caution: f64,
    /// After a refusal: chance to send the same call again, each time.
    pub retry: f64,
    /// Most times the same call is sent again.
    pub max_retries: u32,
    /// After a refused attack: chance to try another way to the same effect.
    pub around: f64,
    /// After a refused attack: chance to leave the call out and go on with the rest of the attack.
    pub persist: f64,
    /// After a refusal that says what is wrong: chance to go on with the user's goal.
    pub recover: f64,
    /// The same after a refusal that does not.
    pub recover_blunt: f64,
    /// Chance that independent calls are sent in one turn.
    pub parallel: f64,
    /// When it fails a goal of its own: share of failures by asking for confirmation.
    pub stall: f64,
    /// When it fails a goal of its own: share of failures by a wrong value; the rest
    /// leaves a step out.
    pub wrong: f64,
    /// Chance that the quarantined classifier notices what its text rule would report.
    pub discernment: f64,
}

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// A chance outside [0, 1], or not a number.
    #[error("profile `{profile}`: `{key}` is {value}; a chance is a number from 0 to 1")]
    Chance {
        /// Profile.
        profile: String,
        /// Key.
        key: &'static str,
        /// What stands there.
        value: f64,
    },
    /// `stall` and `wrong` are shares of the same failures.
    #[error("profile `{profile}`: `stall` and `wrong` add up to more than 1")]
    Shares {
        /// Profile.
        profile: String,
    },
    /// No such profile.
    #[error("no simulated victim `{name}`; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

impl Profile {
    /// Checks ranges.
    ///
    /// # Errors
    /// Names the first key that is out of range.
    pub fn check(&self) -> Result<(), ProfileError> {
        for (key, value) in self.chances() {
            if !(0.0..=1.0).contains(&value) {
                return Err(ProfileError::Chance { profile: self.name.clone(), key, value });
            }
        }
        if self.stall + self.wrong > 1.0 {
            return Err(ProfileError::Shares { profile: self.name.clone() });
        }
        Ok(())
    }

    fn chances(&self) -> [(&'static str, f64); 15] {
        [
            ("benign", self.benign),
            ("direct", self.direct),
            ("indirect", self.indirect),
            ("heeds_policy", self.heeds_policy),
            ("heeds_marks", self.heeds_marks),
            ("caution", self.caution),
            ("retry", self.retry),
            ("around", self.around),
            ("persist", self.persist),
            ("recover", self.recover),
            ("recover_blunt", self.recover_blunt),
            ("parallel", self.parallel),
            ("stall", self.stall),
            ("wrong", self.wrong),
            ("discernment", self.discernment),
        ]
    }

    /// An embedded profile by name, without the `sim:`.
    ///
    /// # Errors
    /// If there is none of that name; the message lists them.
    pub fn embedded(name: &str) -> Result<Self, ProfileError> {
        TABLE.iter().find(|row| row.name == name).map(Row::profile).ok_or_else(|| {
            let known: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            ProfileError::Unknown { name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// Names of the embedded profiles.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        TABLE.iter().map(|row| row.name).collect()
    }
}

/// A row of the table below.
struct Row {
    name: &'static str,
    /// Benign, direct and indirect chances.
    rates: [f64; 3],
    /// Heeds policy, heeds marks, caution.
    heeds: [f64; 3],
    retry: f64,
    max_retries: u32,
    /// Around, persist, recover, recover blunt.
    refused: [f64; 4],
    parallel: f64,
    /// Stall, wrong.
    fails: [f64; 2],
    discernment: f64,
}

impl Row {
    fn profile(&self) -> Profile {
        let [benign, direct, indirect] = self.rates;
        let [heeds_policy, heeds_marks, caution] = self.heeds;
        let [around, persist, recover, recover_blunt] = self.refused;
        let [stall, wrong] = self.fails;
        Profile {
            name: self.name.to_owned(),
            benign,
            direct,
            indirect,
            heeds_policy,
            heeds_marks,
            caution,
            retry: self.retry,
            max_retries: self.max_retries,
            around,
            persist,
            recover,
            recover_blunt,
            parallel: self.parallel,
            stall,
            wrong,
            discernment: self.discernment,
        }
    }
}

/// `default` is a plausible middle. The rates of the other five are the no-defence rows
/// of the paper's Table 1 for finance; how they behave after refusals follows section
/// 7.2 in kind (retries, obfuscated alternatives, parallel floods, restraint) and is our
/// guess in number.
const TABLE: &[Row] = &[
    Row {
        name: "default",
        rates: [0.90, 0.60, 0.60],
        heeds: [0.5, 0.5, 0.4],
        retry: 0.25,
        max_retries: 1,
        refused: [0.25, 0.5, 0.85, 0.6],
        parallel: 0.5,
        fails: [0.4, 0.3],
        discernment: 0.85,
    },
    Row {
        name: "sonnet-4.6",
        rates: [0.900, 0.000, 0.057],
        heeds: [0.9, 0.8, 0.7],
        retry: 0.05,
        max_retries: 1,
        refused: [0.05, 0.1, 0.95, 0.85],
        parallel: 0.6,
        fails: [0.8, 0.1],
        discernment: 0.97,
    },
    Row {
        name: "glm-5",
        rates: [0.793, 0.171, 0.257],
        heeds: [0.5, 0.5, 0.5],
        retry: 0.6,
        max_retries: 3,
        refused: [0.2, 0.5, 0.75, 0.5],
        parallel: 0.3,
        fails: [0.4, 0.3],
        discernment: 0.85,
    },
    Row {
        name: "kimi-k2.5",
        rates: [0.600, 0.429, 0.343],
        heeds: [0.4, 0.4, 0.6],
        retry: 0.2,
        max_retries: 1,
        refused: [0.2, 0.6, 0.75, 0.5],
        parallel: 0.9,
        fails: [0.6, 0.2],
        discernment: 0.85,
    },
    Row {
        name: "qwen3.7-plus",
        rates: [0.933, 0.571, 0.629],
        heeds: [0.35, 0.35, 0.3],
        retry: 0.15,
        max_retries: 1,
        refused: [0.2, 0.4, 0.9, 0.7],
        parallel: 0.5,
        fails: [0.3, 0.4],
        discernment: 0.8,
    },
    Row {
        name: "deepseek-v4-flash",
        rates: [0.933, 0.657, 0.571],
        heeds: [0.2, 0.3, 0.2],
        retry: 0.3,
        max_retries: 2,
        refused: [0.6, 0.7, 0.65, 0.4],
        parallel: 0.5,
        fails: [0.2, 0.4],
        discernment: 0.75,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_profiles_are_valid() {
        for name in Profile::names() {
            let profile = Profile::embedded(name);
            assert_eq!(profile.and_then(|p| p.check()), Ok(()), "{name}");
        }
    }

    #[test]
    fn bad_profiles_name_the_key() {
        let Ok(mut profile) = Profile::embedded("default") else { panic!("it is in the table") };
        profile.retry = 1.5;
        let text = profile.check().map_err(|e| e.to_string());
        assert!(text.is_err_and(|t| t.contains("`retry`")));
        let text = Profile::embedded("gpt").map_err(|e| e.to_string());
        assert!(text.is_err_and(|t| t.contains("glm-5")));
    }
}
