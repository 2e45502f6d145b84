//! Profile files: how a simulated victim behaves. They describe a behaviour, not a model, and
//! every output made with one says so.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::embedded::{PROFILES, leaf};
use crate::error::{FormatError, ProfileError};
use crate::raw::table;
use crate::strict::{fields, parse};
use crate::validate::Ctx;

/// Version of profile files that this program reads.
pub const PROFILE_FORMAT: u32 = 1;

/// The rates of domains that a profile does not name.
const OTHER: &str = "other";

/// How often a victim does something when no harness is in its way; shares in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// It reaches a user's goal.
    pub benign: f64,
    /// It does what a harmful request asks.
    pub direct: f64,
    /// It does what an attack in tool output asks.
    pub indirect: f64,
}

/// A behaviour profile. Chances are shares in [0, 1].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Name, as in `sim:NAME`.
    pub name: String,
    /// Rates by domain.
    pub rates: BTreeMap<String, Rates>,
    /// Rates of every other domain.
    pub other: Rates,
    /// How much policy text in the system prompt lowers the chances of both attacks.
    pub heeds_policy: f64,
    /// How much marking of tool output as data lowers the chance of following it.
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

impl Profile {
    /// The rates in a domain.
    #[must_use]
    pub fn rates(&self, domain: &str) -> Rates {
        self.rates.get(domain).copied().unwrap_or(self.other)
    }
}

table!(RawProfile {
    format: u32,
    name: String,
    rates: BTreeMap<String, RawRates>,
    heeds: RawHeeds,
    refused: RawRefused,
    habits: RawHabits,
});
table!(RawRates { benign: f64, direct: f64, indirect: f64 });
table!(RawHeeds { policy: f64, marks: f64, caution: f64 });
table!(RawRefused {
    retry: f64,
    max_retries: u32,
    around: f64,
    persist: f64,
    recover: f64,
    recover_blunt: f64,
});
table!(RawHabits { parallel: f64, stall: f64, wrong: f64, discernment: f64 });

fn keys_of(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawProfile>(),
        "rates.*" => fields::<RawRates>(),
        "heeds" => fields::<RawHeeds>(),
        "refused" => fields::<RawRefused>(),
        "habits" => fields::<RawHabits>(),
        _ => &[],
    }
}

/// Names of the profiles in the binary, sorted.
#[must_use]
pub fn profiles() -> Vec<&'static str> {
    let files = PROFILES.files().map(|file| leaf(file.path()));
    let mut names: Vec<&str> = files.filter_map(|name| name.strip_suffix(".toml")).collect();
    names.sort_unstable();
    names
}

/// The profile in the file `name_or_path` if it ends in `.toml`, else the embedded one of
/// that name.
///
/// # Errors
/// If there is none, or anything in it is wrong; names file and key.
pub fn profile(name_or_path: &str) -> Result<Profile, ProfileError> {
    let path = Path::new(name_or_path);
    if path.extension().is_some_and(|ext| ext == "toml") {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ProfileError::Read { path: path.to_path_buf(), source })?;
        return Ok(parse_profile(name_or_path, &text)?);
    }
    let file = format!("{name_or_path}.toml");
    let text = PROFILES.get_file(&file).and_then(include_dir::File::contents_utf8);
    let Some(text) = text else {
        let known = profiles().into_iter().map(str::to_owned).collect();
        return Err(ProfileError::Unknown { name: name_or_path.to_owned(), known });
    };
    Ok(parse_profile(&format!("built-in profiles/{file}"), text)?)
}

/// Parses and checks a profile; `file` is how messages call it.
///
/// # Errors
/// Names the file and the key of what is unknown, missing, out of range or too new.
pub fn parse_profile(file: &str, text: &str) -> Result<Profile, FormatError> {
    let raw: RawProfile = parse(file, text, keys_of)?;
    let ctx = Ctx { file };
    let format = ctx.need("format", raw.format)?;
    if format > PROFILE_FORMAT {
        let (found, known) = (format, PROFILE_FORMAT);
        return Err(FormatError::Version { file: file.to_owned(), key: "format", found, known });
    }
    ctx.within("format", format, 1, PROFILE_FORMAT)?;
    let name = ctx.need("name", raw.name)?;
    if name.is_empty() || name.contains(['/', ':', '@']) || name.chars().any(char::is_whitespace) {
        return ctx
            .bad("name", format!("must be a word without `/`, `:` and `@`, but is {name:?}"));
    }
    let chance = |key: &str, value: Option<f64>| ctx.within(key, ctx.need(key, value)?, 0.0, 1.0);
    let mut rates = BTreeMap::new();
    for (domain, raw) in raw.rates.unwrap_or_default() {
        let of = |key: &str, value| chance(&format!("rates.{domain}.{key}"), value);
        let of = Rates {
            benign: of("benign", raw.benign)?,
            direct: of("direct", raw.direct)?,
            indirect: of("indirect", raw.indirect)?,
        };
        rates.insert(domain, of);
    }
    let other = ctx.need("rates.other", rates.remove(OTHER))?;
    let (heeds, refused) = (raw.heeds.unwrap_or_default(), raw.refused.unwrap_or_default());
    let habits = raw.habits.unwrap_or_default();
    let profile = Profile {
        name,
        rates,
        other,
        heeds_policy: chance("heeds.policy", heeds.policy)?,
        heeds_marks: chance("heeds.marks", heeds.marks)?,
        caution: chance("heeds.caution", heeds.caution)?,
        retry: chance("refused.retry", refused.retry)?,
        max_retries: ctx.within(
            "refused.max_retries",
            ctx.need("refused.max_retries", refused.max_retries)?,
            0,
            100,
        )?,
        around: chance("refused.around", refused.around)?,
        persist: chance("refused.persist", refused.persist)?,
        recover: chance("refused.recover", refused.recover)?,
        recover_blunt: chance("refused.recover_blunt", refused.recover_blunt)?,
        parallel: chance("habits.parallel", habits.parallel)?,
        stall: chance("habits.stall", habits.stall)?,
        wrong: chance("habits.wrong", habits.wrong)?,
        discernment: chance("habits.discernment", habits.discernment)?,
    };
    if profile.stall + profile.wrong > 1.0 {
        let message =
            "and `habits.wrong` are shares of the same failures, but add up to more than 1";
        return ctx.bad("habits.stall", message);
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_profiles_are_valid_and_named_as_their_files() {
        assert!(profiles().len() >= 6);
        for name in profiles() {
            assert_eq!(
                profile(name).map(|p| p.name).map_err(|e| e.to_string()),
                Ok(name.to_owned())
            );
        }
    }

    #[test]
    fn a_domain_without_rates_has_the_others() {
        let glm = profile("glm-5").expect("embedded");
        assert_eq!(glm.rates("finance").direct, 0.171);
        assert_eq!(glm.rates("a domain of tomorrow"), glm.other);
    }

    #[test]
    fn every_key_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let text =
            std::fs::read_to_string(path).expect("docs/formats.md is part of the repository");
        for place in ["rates.*", "heeds", "refused", "habits"] {
            for key in keys_of(place) {
                let shown = format!("`{}.{key}`", place.replace('*', "DOMAIN"));
                assert!(text.contains(&shown), "docs/formats.md does not explain {shown}");
            }
        }
    }

    #[test]
    fn bad_profiles_name_file_and_key() {
        let good = PROFILES.get_file("glm-5.toml").and_then(|f| f.contents_utf8()).expect("text");
        for (from, to, says) in [
            ("retry = 0.6", "retry = 1.5", "`refused.retry` must be from 0 to 1, but is 1.5"),
            ("retry = 0.6", "retry = nan", "`refused.retry` must be from 0 to 1"),
            ("retry = 0.6\n", "", "`refused.retry` is missing"),
            ("retry =", "retries =", "refused.retries"),
            ("stall = 0.4", "stall = 0.9", "add up to more than 1"),
            ("format = 1", "format = 2", "format"),
            ("[rates.other]", "[rates.others]", "`rates.other` is missing"),
            ("name = \"glm-5\"", "name = \"a b\"", "must be a word"),
        ] {
            assert!(good.contains(from), "{from}");
            let error = parse_profile("my.toml", &good.replacen(from, to, 1)).expect_err(to);
            let text = error.to_string();
            assert!(text.contains("my.toml") && text.contains(says), "{to}: {text}");
        }
        let unknown = profile("gpt").expect_err("not embedded").to_string();
        assert!(unknown.contains("glm-5") && unknown.contains(".toml"), "{unknown}");
        let missing = profile("no/such.toml").expect_err("no file").to_string();
        assert!(missing.contains("no/such.toml"), "{missing}");
    }
}
