//! Mechanism files: JavaScript with a TOML header in a comment.

use std::collections::BTreeMap;

use evosafe_types::ParamValue;
use serde::Deserialize;

use crate::error::BundleError;
use crate::param::{Param, RawParam};
use crate::raw::table;
use crate::strict::{closest, fields, parse};
use crate::validate::Ctx;

/// A building block of harnesses.
#[derive(Debug, Clone, PartialEq)]
pub struct Mechanism {
    /// File name without `.js`.
    pub name: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// Would it still fire if the attacker renamed, moved or rephrased?
    pub litmus: String,
    /// Failure channels it is meant for; never empty.
    pub channels: Vec<Channel>,
    /// How it acts; decides whether replay can measure it.
    pub acts: Acts,
    /// Tunable parameters, by name.
    pub params: Vec<Param>,
    /// JavaScript that defines `function mechanism(params)`; empty for a pure policy.
    pub body: String,
    /// Text it adds to `POLICY.md`.
    pub policy: Option<String>,
}

/// A failure channel, as the Analyzer names them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Attacks in tool output.
    Indirect,
    /// Attacks in the user's request.
    Direct,
    /// Benign work that fails.
    Utility,
}

/// How a mechanism acts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Acts {
    /// Stops or changes calls: replay measures it.
    Block,
    /// Changes what the victim reads: replay does not measure it.
    Rewrite,
    /// Tells the victim how to behave: replay does not measure it.
    Policy,
}

impl Acts {
    /// Whether replay of recorded runs can measure its effect.
    #[must_use]
    pub fn measured_by_replay(self) -> bool {
        self == Self::Block
    }
}

table!(
    RawHeader {
        summary: String,
        litmus: String,
        channels: Vec<String>,
        acts: String,
        policy: String,
        params: BTreeMap<String, RawParam>,
    }
);

fn keys_of(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawHeader>(),
        "params.*" => fields::<RawParam>(),
        _ => &[],
    }
}

const OPEN: &str = "/* mechanism";
const CLOSE: &str = "*/";
const ENTRY: &str = "function mechanism(";

/// Parses a mechanism file.
///
/// # Errors
/// If it does not begin with a header, the header is malformed, or the body does not
/// define `function mechanism(params)`.
pub fn parse_mechanism(name: &str, text: &str) -> Result<Mechanism, BundleError> {
    let file = format!("{name}.js");
    let broken = |message: String| BundleError::Mechanism { file: file.clone(), message };
    let ctx = Ctx { file: &file };
    ctx.name("file name", name.to_owned())?;
    let header = text
        .strip_prefix(OPEN)
        .ok_or_else(|| broken(format!("must begin with a header, `{OPEN}`")))?;
    let (header, body) = header
        .split_once(CLOSE)
        .ok_or_else(|| broken(format!("the header has no end, `{CLOSE}`")))?;
    // The rest of the opening line is blank, so lines of the header are lines of the file.
    let raw: RawHeader = parse(&file, header, keys_of)?;
    let body = body.trim();
    if body.is_empty() && raw.policy.is_none() {
        return Err(broken("has neither code nor a `policy`".to_owned()));
    }
    if !body.is_empty() && !body.contains(ENTRY) {
        return Err(broken(format!("does not define `{ENTRY}params)`")));
    }
    let acts = ctx.need("acts", raw.acts)?;
    let acts = ctx.word(
        "acts",
        &acts,
        &[("block", Acts::Block), ("rewrite", Acts::Rewrite), ("policy", Acts::Policy)],
    )?;
    let policy = match raw.policy {
        Some(text) if text.trim().is_empty() => ctx.bad("policy", "holds nothing")?,
        Some(text) => Some(text.trim().to_owned()),
        None if acts == Acts::Policy => {
            ctx.bad("policy", "is missing, but `acts` is \"policy\"")?
        }
        None => None,
    };
    let params = raw.params.unwrap_or_default().into_iter();
    Ok(Mechanism {
        name: name.to_owned(),
        summary: ctx.sentence("summary", raw.summary)?,
        litmus: ctx.sentence("litmus", raw.litmus)?,
        channels: channels(&ctx, raw.channels)?,
        acts,
        params: params
            .map(|(name, raw)| Param::from_raw(&ctx, &name, raw))
            .collect::<Result<_, _>>()?,
        body: body.to_owned(),
        policy,
    })
}

fn channels(
    ctx: &Ctx<'_>,
    raw: Option<Vec<String>>,
) -> Result<Vec<Channel>, crate::error::FormatError> {
    let words = [
        ("indirect", Channel::Indirect),
        ("direct", Channel::Direct),
        ("utility", Channel::Utility),
    ];
    let raw = ctx.need("channels", raw)?;
    if raw.is_empty() {
        return ctx.bad("channels", "must name at least one");
    }
    raw.iter()
        .enumerate()
        .map(|(i, word)| ctx.word(&format!("channels.{i}"), word, &words))
        .collect()
}

impl Mechanism {
    /// All parameters, given ones checked and defaults filled in.
    ///
    /// # Errors
    /// If a parameter does not exist or a value is of another type or out of range.
    pub fn resolve(
        &self,
        given: &BTreeMap<String, ParamValue>,
    ) -> Result<BTreeMap<String, ParamValue>, BundleError> {
        let wrong = |param: &str, message: String| BundleError::Param {
            mechanism: self.name.clone(),
            param: param.to_owned(),
            message,
        };
        for name in given.keys() {
            if !self.params.iter().any(|param| param.name == *name) {
                let hint = closest(name, self.params.iter().map(|param| param.name.as_str()))
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                return Err(wrong(name, format!("does not exist{hint}")));
            }
        }
        self.params
            .iter()
            .map(|param| {
                let value = given.get(&param.name).unwrap_or(&param.default);
                let value = param.check(value).map_err(|message| wrong(&param.name, message))?;
                Ok((param.name.clone(), value))
            })
            .collect()
    }

    /// The parameters among `given` that differ from the defaults: what a manifest records.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn overrides(
        &self,
        given: &BTreeMap<String, ParamValue>,
    ) -> Result<BTreeMap<String, ParamValue>, BundleError> {
        let mut all = self.resolve(given)?;
        all.retain(|name, value| {
            self.params.iter().all(|param| param.name != *name || param.default != *value)
        });
        Ok(all)
    }
}
