//! `[designer]`, `[criticizer]`, `[analyzer]`: who plays the roles of a search.

use std::collections::BTreeMap;

use evosafe_types::ModelConfig;

use crate::error::FormatError;
use crate::plan::{DesignerPlan, RolesPlan};
use crate::raw::RawRole;
use crate::validate::Ctx;

/// The three tables. A `model` may stand beside another kind of Designer: `--designer llm` uses it.
pub(crate) fn roles(
    ctx: &Ctx<'_>,
    [designer, criticizer, analyzer]: [Option<RawRole>; 3],
    models: &BTreeMap<String, ModelConfig>,
) -> Result<RolesPlan, FormatError> {
    let known = |table: &str, model: Option<String>| match model {
        Some(name) if !models.contains_key(&name) => ctx.bad(
            &format!("{table}.model"),
            format!("names `[models.{name}]`, but there is no such table"),
        ),
        other => Ok(other),
    };
    let designer = designer.unwrap_or_default();
    let kinds = [
        ("offline", DesignerPlan::Offline),
        ("random", DesignerPlan::Random),
        ("llm", DesignerPlan::Llm),
    ];
    let kind = match &designer.kind {
        Some(kind) => ctx.word("designer.kind", kind, &kinds)?,
        None => DesignerPlan::default(),
    };
    let designer_model = known("designer", designer.model)?;
    if kind == DesignerPlan::Llm && designer_model.is_none() {
        return ctx.bad("designer.model", "is missing, but the kind is \"llm\"");
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
        criticizer_model: role("criticizer", criticizer)?,
        analyzer_model: role("analyzer", analyzer)?,
    })
}
