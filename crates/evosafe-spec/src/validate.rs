//! Raw `spec.toml` to plan: one step, one place.

use std::collections::BTreeMap;
use std::time::Duration;

use evosafe_types::{ContentHash, JsonMap, ModelConfig};

use crate::error::{FormatError, SpecError};
use crate::limits::{budget, limits, victim_limits};
use crate::models::models;
use crate::plan::{CascadePlan, EnvironmentPlan, Plan, SearchPlan, SpecSource, SplitBy, SplitPlan};
use crate::raw::{RawCascade, RawEnvironment, RawSearch, RawSpec, RawSplit, RawWide, keys_of};
use crate::roles::roles;
use crate::strict::{closest, parse};

/// Version of `spec.toml` that this program reads.
pub const SPEC_FORMAT: u32 = 1;

/// Default share of the train side.
const TRAIN: f64 = 0.7;
/// Default margin of the gate, points (paper, appendix A).
const MARGIN: f64 = 10.0;
/// Default confidence of the gate's bound.
const CONFIDENCE: f64 = 0.95;

pub(crate) type Checked<T> = Result<T, FormatError>;

/// Everything a check needs to say where it is.
pub(crate) struct Ctx<'a> {
    pub(crate) file: &'a str,
}

impl Ctx<'_> {
    pub(crate) fn bad<T>(&self, key: &str, message: impl Into<String>) -> Checked<T> {
        Err(FormatError::value(self.file, key, message))
    }

    pub(crate) fn need<T>(&self, key: &str, value: Option<T>) -> Checked<T> {
        match value {
            Some(value) => Ok(value),
            None => self.bad(key, "is missing"),
        }
    }

    pub(crate) fn within<T>(&self, key: &str, value: T, low: T, high: T) -> Checked<T>
    where
        T: PartialOrd + std::fmt::Display,
    {
        // Written so that NaN, which compares with nothing, is refused.
        if low <= value && value <= high {
            return Ok(value);
        }
        self.bad(key, format!("must be from {low} to {high}, but is {value}"))
    }

    /// Text that must be there and say something.
    pub(crate) fn sentence(&self, key: &str, value: Option<String>) -> Checked<String> {
        let text = self.need(key, value)?;
        if text.trim().is_empty() {
            return self.bad(key, "must say something, but is blank");
        }
        Ok(text.trim().to_owned())
    }

    fn open_interval(&self, key: &str, value: f64, low: f64, high: f64) -> Checked<f64> {
        if low < value && value < high {
            return Ok(value);
        }
        self.bad(key, format!("must lie between {low} and {high}, both excluded, but is {value}"))
    }

    pub(crate) fn name(&self, key: &str, value: String) -> Checked<String> {
        if is_name(&value) {
            return Ok(value);
        }
        self.bad(
            key,
            format!("must be lowercase letters, digits, `-` and `_`, begin with a letter or digit, and be at most 64 long, but is {value:?}"),
        )
    }

    pub(crate) fn word<T: Copy>(
        &self,
        key: &str,
        value: &str,
        words: &[(&'static str, T)],
    ) -> Checked<T> {
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == value) {
            return Ok(*found);
        }
        let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let hint = closest(value, words.iter().map(|(word, _)| *word))
            .map(|word| format!("; did you mean {word:?}?"))
            .unwrap_or_default();
        self.bad(key, format!("must be one of {}, but is {value:?}{hint}", known.join(", ")))
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
}

/// Parses and checks a specification.
///
/// `file` is how messages call `spec.toml`.
pub(crate) fn plan(
    file: &str,
    toml_text: &str,
    spec_md: &str,
    source: SpecSource,
) -> Result<Plan, SpecError> {
    let raw: RawSpec = parse(file, toml_text, keys_of)?;
    let ctx = Ctx { file };
    let found = ctx.need("format", raw.format)?;
    if found > SPEC_FORMAT {
        let known = SPEC_FORMAT;
        return Err(
            FormatError::Version { file: file.to_owned(), key: "format", found, known }.into()
        );
    }
    ctx.within("format", found, 1, SPEC_FORMAT)?;
    let models = models(&ctx, raw.models.unwrap_or_default())?;
    Ok(Plan {
        name: ctx.name("name", ctx.need("name", raw.name)?)?,
        spec_toml: toml_text.to_owned(),
        spec_md: spec_md.to_owned(),
        environment: environment(&ctx, ctx.need("environment", raw.environment)?)?,
        split: split(&ctx, ctx.need("split", raw.split)?)?,
        cascade: cascade(&ctx, ctx.need("cascade", raw.cascade)?)?,
        search: search(&ctx, &raw.search.unwrap_or_default())?,
        budget: budget(&ctx, &raw.budget.unwrap_or_default())?,
        limits: limits(&ctx, "harness", &raw.harness.unwrap_or_default())?,
        step_limit: ctx.within("victim_steps", raw.victim_steps.unwrap_or(16), 1, 1000)?,
        victim_limits: victim_limits(
            &ctx,
            raw.victim_tokens,
            raw.victim_compact_tokens,
            raw.victim_time_s,
        )?,
        victim: victim(&ctx, raw.victim, &models)?,
        roles: roles(&ctx, raw.designer, [raw.criticizer, raw.analyzer], &models)?,
        models,
        source,
        hash: ContentHash::of(&[toml_text.as_bytes(), spec_md.as_bytes()]),
    })
}

fn victim(
    ctx: &Ctx<'_>,
    name: Option<String>,
    models: &BTreeMap<String, ModelConfig>,
) -> Checked<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    match name.split_once(':') {
        Some(("model", model)) if !models.contains_key(model) => {
            ctx.bad("victim", format!("names `[models.{model}]`, but there is no such table"))
        }
        Some((kind, rest)) if is_name(kind) && !rest.is_empty() => Ok(Some(name)),
        _ => ctx
            .bad("victim", format!("must be KIND:NAME, such as \"sim:default\", but is {name:?}")),
    }
}

fn environment(ctx: &Ctx<'_>, raw: RawEnvironment) -> Checked<EnvironmentPlan> {
    let kind = ctx.need("environment.kind", raw.kind)?;
    let bridged = ctx.word("environment.kind", &kind, &[("builtin", false), ("bridge", true)])?;
    let (foreign, other) = if bridged {
        (vec![("domain", raw.domain.is_some())], "builtin")
    } else {
        let keys = vec![
            ("bridge", raw.bridge.is_some()),
            ("options", raw.options.is_some()),
            ("call_timeout_s", raw.call_timeout_s.is_some()),
            ("open_timeout_s", raw.open_timeout_s.is_some()),
            ("processes", raw.processes.is_some()),
        ];
        (keys, "bridge")
    };
    if let Some((key, _)) = foreign.into_iter().find(|(_, given)| *given) {
        let key = format!("environment.{key}");
        return ctx.bad(&key, format!("belongs to kind {other:?}, but the kind is {kind:?}"));
    }
    if !bridged {
        let domain = ctx.need("environment.domain", raw.domain)?;
        return Ok(EnvironmentPlan::Builtin { domain: ctx.name("environment.domain", domain)? });
    }
    let seconds = |key: &str, value: Option<f64>, default: f64| {
        let value = ctx.within(key, value.unwrap_or(default), 0.1, 3600.0)?;
        Ok(Duration::from_secs_f64(value))
    };
    let bridge = ctx.need("environment.bridge", raw.bridge)?;
    Ok(EnvironmentPlan::Bridge {
        bridge: ctx.name("environment.bridge", bridge)?,
        options: options(ctx, raw.options.unwrap_or_default())?,
        call_timeout: seconds("environment.call_timeout_s", raw.call_timeout_s, 30.0)?,
        open_timeout: seconds("environment.open_timeout_s", raw.open_timeout_s, 60.0)?,
        processes: ctx.within("environment.processes", raw.processes.unwrap_or(2), 1, 64)?,
    })
}

fn options(ctx: &Ctx<'_>, table: toml::Table) -> Checked<JsonMap> {
    table
        .into_iter()
        .map(|(key, value)| {
            let path = format!("environment.options.{key}");
            Ok((key, json(ctx, &path, value)?))
        })
        .collect()
}

fn json(ctx: &Ctx<'_>, path: &str, value: toml::Value) -> Checked<serde_json::Value> {
    use toml::Value as T;
    Ok(match value {
        T::String(text) => text.into(),
        T::Integer(number) => number.into(),
        T::Boolean(switch) => switch.into(),
        T::Float(number) if number.is_finite() => number.into(),
        T::Float(_) => return ctx.bad(path, "must be a finite number"),
        T::Datetime(_) => return ctx.bad(path, "is a date; write it as a string"),
        T::Array(items) => items
            .into_iter()
            .enumerate()
            .map(|(i, item)| json(ctx, &format!("{path}.{i}"), item))
            .collect::<Checked<Vec<_>>>()?
            .into(),
        T::Table(table) => table
            .into_iter()
            .map(|(key, item)| {
                let item = json(ctx, &format!("{path}.{key}"), item)?;
                Ok((key, item))
            })
            .collect::<Checked<JsonMap>>()?
            .into(),
    })
}

fn split(ctx: &Ctx<'_>, raw: RawSplit) -> Checked<SplitPlan> {
    let by = ctx.need("split.by", raw.by)?;
    let by = ctx.word(
        "split.by",
        &by,
        &[SplitBy::Pair, SplitBy::InjectionTask, SplitBy::Environment].map(|b| (b.as_str(), b)),
    )?;
    let train = match (by, raw.train) {
        (SplitBy::Environment, Some(_)) => {
            return ctx
                .bad("split.train", "has no effect when `split.by` is \"environment\"; remove it");
        }
        (SplitBy::Environment, None) => 0.0,
        (_, share) => ctx.open_interval("split.train", share.unwrap_or(TRAIN), 0.0, 1.0)?,
    };
    Ok(SplitPlan { by, train, seed: raw.seed.unwrap_or(42) })
}

fn cascade(ctx: &Ctx<'_>, raw: RawCascade) -> Checked<CascadePlan> {
    let wide = match raw.wide {
        None => None,
        Some(RawWide::Tasks(tasks)) => Some(tasks),
        Some(RawWide::Word(word)) if word == "all" => None,
        Some(RawWide::Word(word)) => {
            return ctx.bad(
                "cascade.wide",
                format!("must be a number of tasks or \"all\", but is {word:?}"),
            );
        }
    };
    let plan = CascadePlan {
        smoke: ctx.need("cascade.smoke", raw.smoke)?,
        gate: ctx.need("cascade.gate", raw.gate)?,
        search: ctx.need("cascade.search", raw.search)?,
        wide,
        margin: ctx.within("cascade.margin", raw.margin.unwrap_or(MARGIN), 0.0, 200.0)?,
        confidence: ctx.open_interval(
            "cascade.confidence",
            raw.confidence.unwrap_or(CONFIDENCE),
            0.5,
            1.0,
        )?,
        finalists: ctx.within("cascade.finalists", raw.finalists.unwrap_or(4), 1, 1000)?,
        under_attack_margin: ctx.within(
            "cascade.under_attack_margin",
            raw.under_attack_margin.unwrap_or(0.0),
            0.0,
            100.0,
        )?,
    };
    increasing(ctx.file, &plan)?;
    Ok(plan)
}

/// Each prefix is longer than the one before; the wide one may equal the search prefix.
fn increasing(file: &str, plan: &CascadePlan) -> Checked<()> {
    let ctx = Ctx { file };
    if plan.smoke == 0 {
        return ctx.bad("cascade.smoke", "must be at least 1");
    }
    if plan.gate <= plan.smoke {
        let message =
            format!("must be larger than `cascade.smoke` ({}), but is {}", plan.smoke, plan.gate);
        return ctx.bad("cascade.gate", message);
    }
    if plan.search <= plan.gate {
        let message =
            format!("must be larger than `cascade.gate` ({}), but is {}", plan.gate, plan.search);
        return ctx.bad("cascade.search", message);
    }
    match plan.wide {
        Some(wide) if wide < plan.search => ctx.bad(
            "cascade.wide",
            format!("must be at least `cascade.search` ({}), but is {wide}", plan.search),
        ),
        _ => Ok(()),
    }
}

/// Checks that the prefixes grow and fit into a train side of `train` tasks.
///
/// # Errors
/// Names the first key of `[cascade]` that does not fit.
pub fn check_prefixes(plan: &CascadePlan, train: usize) -> Result<(), SpecError> {
    const FILE: &str = "spec.toml";
    increasing(FILE, plan)?;
    let prefixes = [
        ("cascade.smoke", Some(plan.smoke)),
        ("cascade.gate", Some(plan.gate)),
        ("cascade.search", Some(plan.search)),
        ("cascade.wide", plan.wide),
    ];
    for (key, length) in prefixes {
        if let Some(length) = length
            && usize::try_from(length).map_or(true, |length| length > train)
        {
            let message = format!(
                "is {length}, but the train side of the split has {train} tasks; make the prefix shorter or the train side larger"
            );
            return Err(FormatError::value(FILE, key, message).into());
        }
    }
    Ok(())
}

fn search(ctx: &Ctx<'_>, raw: &RawSearch) -> Checked<SearchPlan> {
    Ok(SearchPlan {
        batch: ctx.within("search.batch", raw.batch.unwrap_or(4), 1, 1000)?,
        repairs: ctx.within("search.repairs", raw.repairs.unwrap_or(2), 0, 100)?,
        patience: raw
            .patience
            .map(|patience| ctx.within("search.patience", patience, 1, 1_000_000))
            .transpose()?,
        rollouts: ctx.within("search.rollouts", raw.rollouts.unwrap_or(1), 1, 100)?,
        adaptive_probes: ctx.within(
            "search.adaptive_probes",
            raw.adaptive_probes.unwrap_or(0),
            0,
            200,
        )?,
    })
}
