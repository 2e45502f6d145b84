//! Live models and commands that play roles of a search, as its specification names them.

use std::ffi::OsString;

use anyhow::{Context as _, Result, bail};
use evosafe_llm::Client;
use evosafe_search::{CommandDesigner, DesignerKind, OuterModels};
use evosafe_spec::{CommandPlan, DesignerPlan, Plan};

use crate::args::Designer;
use crate::commands::Context;
use crate::models::{self, Models};

/// Who plays roles beside the engine's own code; `None` if nobody does.
pub fn outer(
    cx: &Context<'_>,
    plan: &Plan,
    locator: &str,
    designer: DesignerKind,
    criticizer: bool,
    models: &mut Option<Models>,
) -> Result<Option<OuterModels>> {
    let cast = cast(plan, designer)?;
    let criticizer = cast.criticizer.filter(|_| criticizer);
    if cast.command.is_none() && cast.designer.or(criticizer).or(cast.analyzer).is_none() {
        return Ok(None);
    }
    let command =
        cast.command.map(|command| agent(cx, plan, locator, command, models)).transpose()?;
    let mut client = |name: &str| -> Result<Client> {
        let config = plan.models.get(name).with_context(|| format!("no table [models.{name}]"))?;
        models::opened(cx, plan, models)?.client(config.clone())
    };
    Ok(Some(OuterModels {
        designer: cast.designer.map(&mut client).transpose()?,
        command,
        mixed: cast.mixed,
        criticizer: criticizer.map(&mut client).transpose()?,
        analyzer: cast.analyzer.map(&mut client).transpose()?,
    }))
}

/// Who plays the roles of a search: names of `[models.NAME]` tables, and a command.
#[derive(Default)]
pub struct Cast<'a> {
    /// The model that designs.
    pub designer: Option<&'a str>,
    /// The command that does.
    pub command: Option<&'a CommandPlan>,
    /// The Designers of a mixed search.
    pub mixed: Vec<DesignerKind>,
    /// The model that reviews.
    pub criticizer: Option<&'a str>,
    /// The model that takes notes.
    pub analyzer: Option<&'a str>,
}

/// Who plays the roles if `designer` designs; refuses what the specification does not name.
pub fn cast(plan: &Plan, designer: DesignerKind) -> Result<Cast<'_>> {
    let roles = &plan.roles;
    let mixed: Vec<DesignerKind> = match designer {
        DesignerKind::Mixed => roles.designer_of.iter().copied().map(kind).collect(),
        _ => Vec::new(),
    };
    if designer == DesignerKind::Mixed && mixed.is_empty() {
        bail!(
            "specification {} names no Designers to mix: set `designer.of`, e.g. to [\"offline\", \"llm\"]",
            plan.name
        );
    }
    let plays = |kind: DesignerKind| designer == kind || mixed.contains(&kind);
    let model = match (plays(DesignerKind::Llm), &roles.designer_model) {
        (true, None) => bail!(
            "specification {} names no model for the Designer: set `designer.model` to the name of a [models.NAME] table",
            plan.name
        ),
        (true, model) => model.as_deref(),
        _ => None,
    };
    let command = match (plays(DesignerKind::Command), &roles.designer_command) {
        (true, None) => bail!(
            "specification {} names no command for the Designer: set `designer.command`",
            plan.name
        ),
        (true, command) => command.as_ref(),
        _ => None,
    };
    Ok(Cast {
        designer: model,
        command,
        mixed,
        criticizer: roles.criticizer_model.as_deref(),
        analyzer: roles.analyzer_model.as_deref(),
    })
}

/// The Designer that was asked for, or that of the plan.
pub fn designer(asked: Option<Designer>, plan: &Plan) -> DesignerKind {
    match asked {
        None => kind(plan.roles.designer),
        Some(Designer::Offline) => DesignerKind::Offline,
        Some(Designer::Random) => DesignerKind::Random,
        Some(Designer::Llm) => DesignerKind::Llm,
        Some(Designer::Command) => DesignerKind::Command,
        Some(Designer::Mixed) => DesignerKind::Mixed,
    }
}

/// The Designer of a plan, as the search knows it.
fn kind(plan: DesignerPlan) -> DesignerKind {
    match plan {
        DesignerPlan::Offline => DesignerKind::Offline,
        DesignerPlan::Random => DesignerKind::Random,
        DesignerPlan::Llm => DesignerKind::Llm,
        DesignerPlan::Command => DesignerKind::Command,
        DesignerPlan::Mixed => DesignerKind::Mixed,
    }
}

/// A coding agent, with what of our environment it is given.
fn agent(
    cx: &Context<'_>,
    plan: &Plan,
    locator: &str,
    command: &CommandPlan,
    models: &mut Option<Models>,
) -> Result<CommandDesigner> {
    let victim = models::config(locator, plan, &cx.models)?.and_then(|config| config.key_env);
    let mut environment: Vec<(String, OsString)> = Vec::new();
    environment.extend(std::env::var_os("PATH").map(|path| ("PATH".to_owned(), path)));
    for name in &command.pass_env {
        if victim.as_ref() == Some(name) {
            bail!(
                "`designer.pass_env` names {name}, the victim's key: give the command a key of its own, in another variable"
            );
        }
        match std::env::var_os(name) {
            Some(value) => environment.push((name.clone(), value)),
            // Nothing is run then.
            None if cx.models.replay_calls => {}
            None => {
                bail!("`designer.pass_env` names {name}, but the environment has no such variable")
            }
        }
    }
    Ok(CommandDesigner {
        command: command.command.clone(),
        time_limit: command.time_limit,
        cost_limit: command.cost_limit,
        environment,
        evosafe: std::env::current_exe().context("cannot tell where this program is")?,
        scratch: std::env::temp_dir(),
        services: models::opened(cx, plan, models)?.services(),
    })
}
