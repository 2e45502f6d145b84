//! `bundle.toml`: strict in, deterministic out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evosafe_types::{
    ABI_VERSION, CandidateId, Language, Manifest, MechanismUse, Origin, ParamValue,
};
use serde::Deserialize;

use crate::error::FormatError;
use crate::limits::limits;
use crate::raw::{RawLimits, table};
use crate::strict::{fields, parse};
use crate::validate::Ctx;

table!(
    RawManifest {
        abi: u32,
        language: String,
        name: String,
        parents: Vec<CandidateId>,
        origin: String,
        edit: String,
        limits: RawLimits,
        mechanism: Vec<RawUse>,
    }
);
table!(
    RawUse {
        name: String,
        params: BTreeMap<String, ParamValue>,
    }
);

fn keys_of(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawManifest>(),
        "limits" => fields::<RawLimits>(),
        "mechanism.*" => fields::<RawUse>(),
        _ => &[],
    }
}

/// Parses and checks `bundle.toml`; `file` is how messages call it.
///
/// # Errors
/// Names the file and the key of what is unknown, missing, malformed or too new.
pub fn parse_manifest(file: &str, text: &str) -> Result<Manifest, FormatError> {
    let raw: RawManifest = parse(file, text, keys_of)?;
    let ctx = Ctx { file };
    let abi = ctx.need("abi", raw.abi)?;
    if abi > ABI_VERSION {
        let known = ABI_VERSION;
        return Err(FormatError::Version { file: file.to_owned(), key: "abi", found: abi, known });
    }
    let language = ctx.need("language", raw.language)?;
    let origin = ctx.name("origin", ctx.need("origin", raw.origin)?)?;
    let uses = raw.mechanism.unwrap_or_default().into_iter().enumerate();
    Ok(Manifest {
        abi: ctx.within("abi", abi, 1, ABI_VERSION)?,
        language: ctx.word("language", &language, &LANGUAGES)?,
        name: ctx.name("name", ctx.need("name", raw.name)?)?,
        parents: raw.parents.unwrap_or_default(),
        origin: if origin == "seed" { Origin::Seed } else { Origin::Designer(origin) },
        edit: raw.edit.unwrap_or_default(),
        limits: limits(&ctx, "limits", &raw.limits.unwrap_or_default())?,
        mechanisms: uses.map(|(i, raw)| one_use(&ctx, i, raw)).collect::<Result<_, _>>()?,
    })
}

/// Languages as `bundle.toml` names them.
const LANGUAGES: [(&str, Language); 2] =
    [("javascript", Language::Javascript), ("component", Language::Component)];

fn one_use(ctx: &Ctx<'_>, index: usize, raw: RawUse) -> Result<MechanismUse, FormatError> {
    let key = format!("mechanism.{index}.name");
    let name = ctx.name(&key, ctx.need(&key, raw.name)?)?;
    let params = raw.params.unwrap_or_default();
    let not_finite =
        |value: &ParamValue| matches!(value, ParamValue::Float(number) if !number.is_finite());
    if let Some((param, _)) = params.iter().find(|(_, value)| not_finite(value)) {
        return ctx.bad(&format!("mechanism.{index}.params.{param}"), "must be a finite number");
    }
    Ok(MechanismUse { name, params })
}

/// The text of `bundle.toml` for a manifest: every key in a fixed order, so that equal
/// manifests give equal bytes.
#[must_use]
pub fn render_manifest(manifest: &Manifest) -> String {
    let language = match manifest.language {
        Language::Javascript => "javascript",
        Language::Component => "component",
    };
    let origin = match &manifest.origin {
        Origin::Seed => "seed",
        Origin::Designer(name) => name,
    };
    let parents: Vec<String> = manifest.parents.iter().map(|id| quoted(id.as_str())).collect();
    let limits = &manifest.limits;
    let mut text = format!(
        "abi = {}\nlanguage = {}\nname = {}\nparents = [{}]\norigin = {}\nedit = {}\n\n\
         [limits]\nfuel = {}\nmemory_mib = {}\noutput_bytes = {}\nclassify_calls = {}\n",
        manifest.abi,
        quoted(language),
        quoted(&manifest.name),
        parents.join(", "),
        quoted(origin),
        quoted(&manifest.edit),
        limits.fuel,
        limits.memory_mib,
        limits.output_bytes,
        limits.classify_calls,
    );
    for mechanism in &manifest.mechanisms {
        let params: Vec<String> = mechanism
            .params
            .iter()
            .map(|(name, value)| format!("{} = {}", quoted(name), literal(value)))
            .collect();
        write!(text, "\n[[mechanism]]\nname = {}\n", quoted(&mechanism.name))
            .expect("a String takes any text");
        if !params.is_empty() {
            writeln!(text, "params = {{ {} }}", params.join(", "))
                .expect("a String takes any text");
        }
    }
    text
}

fn literal(value: &ParamValue) -> String {
    match value {
        ParamValue::Bool(switch) => switch.to_string(),
        ParamValue::Int(number) => number.to_string(),
        ParamValue::Float(number) => format!("{number:?}"),
        ParamValue::Text(text) => quoted(text),
        ParamValue::List(items) => {
            format!("[{}]", items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A basic string of TOML. JSON's escapes are a subset of TOML's, but for DEL, which
/// JSON leaves as it is and TOML does not take.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}
