//! Live models that play roles of a search, as its specification names them.

use anyhow::{Context as _, Result, bail};
use evosafe_llm::Client;
use evosafe_search::{DesignerKind, OuterModels};
use evosafe_spec::Plan;

use crate::commands::Context;
use crate::models::{self, Models};

/// The models; `None` if no role has one.
pub fn outer(
    cx: &Context<'_>,
    plan: &Plan,
    designer: DesignerKind,
    criticizer: bool,
    models: &mut Option<Models>,
) -> Result<Option<OuterModels>> {
    let roles = &plan.roles;
    let designer = match (designer, &roles.designer_model) {
        (DesignerKind::Llm, None) => bail!(
            "specification {} names no model for the Designer: set `designer.model` to the name of a [models.NAME] table",
            plan.name
        ),
        (DesignerKind::Llm, model) => model.as_deref(),
        _ => None,
    };
    let criticizer = roles.criticizer_model.as_deref().filter(|_| criticizer);
    let analyzer = roles.analyzer_model.as_deref();
    if designer.or(criticizer).or(analyzer).is_none() {
        return Ok(None);
    }
    let mut client = |name: &str| -> Result<Client> {
        let config = plan.models.get(name).with_context(|| format!("no table [models.{name}]"))?;
        models::opened(cx, plan, models)?.client(config.clone())
    };
    Ok(Some(OuterModels {
        designer: designer.map(&mut client).transpose()?,
        criticizer: criticizer.map(&mut client).transpose()?,
        analyzer: analyzer.map(&mut client).transpose()?,
    }))
}
