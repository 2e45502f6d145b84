//! Everything that people write in TOML or JSON, checked once and turned into types: domain
//! specifications into plans, bundles, mechanism files. Also the division of a corpus into
//! train and held-out, its canonical order, and the warm start that the binary carries.
//!
//! Unknown keys are errors everywhere: a typo would change an experiment.

mod bare;
mod bundle;
mod cases;
mod compose;
mod embedded;
mod error;
mod hook_calls;
mod library;
mod limits;
mod load;
mod manifest;
mod mechanism;
mod models;
mod order;
mod param;
mod plan;
mod prices;
mod profile;
mod raw;
mod rng;
mod roles;
mod split;
mod strict;
mod validate;

pub use bundle::{
    CODE_FILE, MANIFEST_FILE, POLICY_FILE, RATIONALE_FILE, WASM_FILE, build_bundle,
    bundle_from_files, bundle_to_files, read_bundle, write_bundle,
};
pub use cases::{CASES_FORMAT, parse_cases};
pub use compose::{Lineage, Part, compose, compose_uses};
pub use error::{BundleError, FormatError, PriceError, ProfileError, SpecError, UnknownKey};
pub use hook_calls::{parse_hook_call, print_hook_call};
pub use library::{NO_DEFENCE, composed, experiences, load_bundle, mechanisms, seeds};
pub use load::{embedded, load, parse};
pub use manifest::{parse_manifest, render_manifest};
pub use mechanism::{Acts, Channel, Mechanism, parse_mechanism};
pub use order::canonical_order;
pub use param::{Param, ParamKind};
pub use plan::{
    CascadePlan, CommandPlan, DesignerPlan, EnvironmentPlan, Plan, RolesPlan, SearchPlan,
    SpecSource, SplitBy, SplitPlan,
};
pub use prices::{PRICES_FORMAT, parse_prices, prices};
pub use profile::{PROFILE_FORMAT, Profile, Rates, parse_profile, profile, profiles};
pub use split::{Split, split};
pub use validate::{SPEC_FORMAT, check_prefixes};
