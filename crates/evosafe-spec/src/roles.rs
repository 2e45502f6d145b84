//! `[designer]`, `[criticizer]`, `[analyzer]`: who plays the roles of a search.

use std::collections::BTreeMap;
use std::time::Duration;

use evosafe_types::{ModelConfig, Usd};

use crate::error::FormatError;
use crate::models::variable;
use crate::plan::{CommandPlan, DesignerPlan, RolesPlan};
use crate::raw::{RawDesigner, RawRole};
use crate::validate::Ctx;

/// Default of `designer.time_limit_s`.
const TIME_LIMIT_S: u64 = 1800;

/// Variables that the command of a Designer has its own of.
const OWN: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// The three tables. What belongs to another kind of Designer may stand beside it: `--designer`
/// chooses among all that are described.
pub(crate) fn roles(
    ctx: &Ctx<'_>,
    designer: Option<RawDesigner>,
    [criticizer, analyzer]: [Option<RawRole>; 2],
    models: &BTreeMap<String, ModelConfig>,
) -> Result<RolesPlan, FormatError> {
    let known = |table: &str, model: Option<String>| match model {
        Some(name) if !models.contains_key(&name) => ctx.bad(
            &format!("{table}.model"),
            format!("names `[models.{name}]`, but there is no such table"),
        ),
        other => Ok(other),
    };
    let mut designer = designer.unwrap_or_default();
    let kinds = [
        ("offline", DesignerPlan::Offline),
        ("random", DesignerPlan::Random),
        ("llm", DesignerPlan::Llm),
        ("command", DesignerPlan::Command),
        ("mixed", DesignerPlan::Mixed),
    ];
    let kind = match &designer.kind {
        Some(kind) => ctx.word("designer.kind", kind, &kinds)?,
        None => DesignerPlan::default(),
    };
    let designer_model = known("designer", designer.model.take())?;
    let designer_of = mixed(ctx, designer.of.take(), kind)?;
    let designer_command = command(ctx, designer, models)?;
    let plays = |one: DesignerPlan| kind == one || designer_of.contains(&one);
    if plays(DesignerPlan::Llm) && designer_model.is_none() {
        return ctx.bad("designer.model", "is missing, but a Designer is \"llm\"");
    }
    if plays(DesignerPlan::Command) && designer_command.is_none() {
        return ctx.bad("designer.command", "is missing, but a Designer is \"command\"");
    }
    let role = |table: &str, raw: Option<RawRole>| {
        let raw = raw.unwrap_or_default();
        let (kind, model) = (format!("{table}.kind"), known(table, raw.model)?);
        let llm = match &raw.kind {
            Some(word) => ctx.word(&kind, word, &[("offline", false), ("llm", true)])?,
            None => false,
        };
        match (llm, model) {
            (true, None) => {
                ctx.bad(&format!("{table}.model"), "is missing, but the kind is \"llm\"")
            }
            (false, Some(_)) => {
                ctx.bad(&format!("{table}.model"), "has no effect unless the kind is \"llm\"")
            }
            (_, model) => Ok(model),
        }
    };
    Ok(RolesPlan {
        designer: kind,
        designer_model,
        designer_command,
        designer_of,
        criticizer_model: role("criticizer", criticizer)?,
        analyzer_model: role("analyzer", analyzer)?,
    })
}

/// `designer.of`
fn mixed(
    ctx: &Ctx<'_>,
    of: Option<Vec<String>>,
    kind: DesignerPlan,
) -> Result<Vec<DesignerPlan>, FormatError> {
    let key = "designer.of";
    // The control is no part of a mixture: it must not learn, and is compared with whole searches.
    let kinds = [
        ("offline", DesignerPlan::Offline),
        ("llm", DesignerPlan::Llm),
        ("command", DesignerPlan::Command),
    ];
    let mut all = Vec::new();
    for word in of.iter().flatten() {
        let one = ctx.word(key, word, &kinds)?;
        if all.contains(&one) {
            return ctx.bad(key, format!("names {word:?} twice"));
        }
        all.push(one);
    }
    match (of.is_some(), all.len()) {
        (true, 0 | 1) => ctx.bad(key, "must name two or more Designers"),
        (false, _) if kind == DesignerPlan::Mixed => {
            ctx.bad(key, "is missing, but the kind is \"mixed\"")
        }
        _ => Ok(all),
    }
}

/// `designer.command` and what belongs to it.
fn command(
    ctx: &Ctx<'_>,
    raw: RawDesigner,
    models: &BTreeMap<String, ModelConfig>,
) -> Result<Option<CommandPlan>, FormatError> {
    let RawDesigner { command, time_limit_s, cost_limit_usd, pass_env, .. } = raw;
    let Some(command) = command else {
        for (key, there) in [
            ("time_limit_s", time_limit_s.is_some()),
            ("cost_limit_usd", cost_limit_usd.is_some()),
            ("pass_env", pass_env.is_some()),
        ] {
            if there {
                return ctx
                    .bad(&format!("designer.{key}"), "has no effect without `designer.command`");
            }
        }
        return Ok(None);
    };
    if command.first().is_none_or(|program| program.trim().is_empty()) {
        return ctx.bad("designer.command", "must begin with the name of a program");
    }
    if command.iter().any(|word| word.contains('\0')) {
        return ctx.bad("designer.command", "must hold no NUL character");
    }
    let seconds = time_limit_s.unwrap_or(TIME_LIMIT_S);
    let seconds = ctx.within("designer.time_limit_s", seconds, 1, 86_400)?;
    let dollars = cost_limit_usd
        .map(|usd| ctx.within("designer.cost_limit_usd", usd, 0.0, 1e6))
        .transpose()?;
    let mut variables = Vec::new();
    for name in pass_env.unwrap_or_default() {
        let name = variable(ctx, "designer.pass_env", name)?;
        if OWN.contains(&name.as_str()) || name.starts_with("EVOSAFE_") {
            return ctx.bad(
                "designer.pass_env",
                format!("names {name}, of which the command is given its own"),
            );
        }
        let holds = |model: &&String| models[*model].key_env.as_deref() == Some(name.as_str());
        if let Some(model) = models.keys().find(holds) {
            return ctx.bad(
                "designer.pass_env",
                format!("names {name}, the key of `[models.{model}]`: give the command a key of its own, in another variable"),
            );
        }
        variables.push(name);
    }
    Ok(Some(CommandPlan {
        command,
        time_limit: Duration::from_secs(seconds),
        cost_limit: dollars.and_then(Usd::from_dollars),
        pass_env: variables,
    }))
}
