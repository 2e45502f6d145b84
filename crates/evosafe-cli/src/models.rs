//! Live models of a search: keys from the environment, endpoints, journal, ledger and budget.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evosafe_llm::{
    Caps, Cassette, CassetteMode, Client, CostBudget, CostTable, Endpoint, Http, Ledger, Secret,
    Services,
};
use evosafe_search::{DesignerKind, OuterModels};
use evosafe_spec::Plan;
use evosafe_types::ContentHash;

use crate::print::Printer;

/// Folder of an archive with the replies and the ledgers of its searches.
const FOLDER: &str = "models";

/// The models that play roles in a search; `None` if none does. `search` names the search: what
/// it spent before counts against its budget.
pub fn outer(
    archive: &Path,
    plan: &Plan,
    designer: DesignerKind,
    criticizer: bool,
    search: &str,
    printer: Printer,
) -> Result<Option<OuterModels>> {
    let roles = &plan.roles;
    let designer = match (designer, &roles.designer_model) {
        (DesignerKind::Llm, None) => bail!(
            "specification {} names no model for the Designer: set designer.model to the name of a [models.NAME] table",
            plan.name
        ),
        (DesignerKind::Llm, Some(model)) => Some(model),
        _ => None,
    };
    let criticizer = roles.criticizer_model.as_ref().filter(|_| criticizer);
    let analyzer = roles.analyzer_model.as_ref();
    if designer.is_none() && criticizer.is_none() && analyzer.is_none() {
        return Ok(None);
    }
    let services = services(archive, plan, search, printer)?;
    // Models of one endpoint share its limits.
    let mut endpoints: BTreeMap<(&str, String), Arc<Endpoint>> = BTreeMap::new();
    let mut client = |name: &String| -> Result<Client> {
        let config = plan.models.get(name).with_context(|| format!("no table [models.{name}]"))?;
        let key = match &config.key_env {
            None => None,
            Some(variable) => {
                let value = std::env::var(variable).with_context(|| {
                    format!("models.{name} takes its key from the environment variable {variable}, which is not set")
                })?;
                Some(Secret::new(&value).with_context(|| format!("the key in {variable}"))?)
            }
        };
        let place = (config.api.as_str(), config.base_url().to_owned());
        let endpoint = endpoints.entry(place).or_insert_with(|| Endpoint::new(config));
        Ok(Client::new(config.clone(), key, Arc::clone(endpoint), services.clone())?)
    };
    Ok(Some(OuterModels {
        designer: designer.map(&mut client).transpose()?,
        criticizer: criticizer.map(&mut client).transpose()?,
        analyzer: analyzer.map(&mut client).transpose()?,
    }))
}

fn services(archive: &Path, plan: &Plan, search: &str, printer: Printer) -> Result<Services> {
    let id = ContentHash::of(&[plan.hash.as_str().as_bytes(), search.as_bytes()]);
    let folder = archive.join(FOLDER).join(id.short());
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let (ledger, torn) = Ledger::open(&folder.join("ledger.jsonl"))?;
    let (cassette, cut) =
        Cassette::open(&folder.join("replies.jsonl"), CassetteMode::ReplayOrRecord)?;
    if torn.is_some() || cut.is_some() {
        printer.note("models: half a line, left by a killed process, was cut off");
    }
    let (spent, _) = CostTable::read(&folder.join("ledger.jsonl"), &[])?;
    let caps = Caps { usd: plan.budget.usd, victim_tokens: plan.budget.victim_tokens };
    let proxy = std::env::var("EVOSAFE_PROXY").ok();
    Ok(Services {
        http: Http::new(proxy.as_deref())?,
        ledger: Arc::new(ledger),
        budget: CostBudget::new(caps, spent.spending),
        prices: Arc::new(evosafe_spec::prices(None)?),
        cassette: Some(Arc::new(cassette)),
    })
}
