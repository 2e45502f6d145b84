//! The gate-case file: decisions that a harness is expected to get right.

use std::collections::BTreeSet;

use evosafe_types::{Expected, GateCase, JsonMap, PriorCall, ToolResult, ToolSpec};

use serde::Deserialize;

use crate::error::FormatError;
use crate::hook_calls::{RawCall, RawTool, call, tools};
use crate::raw::table;
use crate::strict::{fields, parse_json};
use crate::validate::Ctx;

/// Version of the gate-case file that this program reads.
pub const CASES_FORMAT: u32 = 1;

table!(
    RawCases {
        format: u32,
        tools: Vec<RawTool>,
        cases: Vec<RawCase>,
    }
);
table!(
    RawCase {
        name: String,
        instruction: String,
        tools: Vec<RawTool>,
        reads: Vec<RawPrior>,
        effects: Vec<RawPrior>,
        call: RawCall,
        expect: String,
    }
);
table!(RawPrior {
    id: String,
    server: String,
    tool: String,
    arguments: JsonMap,
    content: String,
    is_error: bool,
});

fn keys_of(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawCases>(),
        "cases.*" => fields::<RawCase>(),
        "tools.*" | "cases.*.tools.*" => fields::<RawTool>(),
        "cases.*.reads.*" | "cases.*.effects.*" => fields::<RawPrior>(),
        "cases.*.call" => fields::<RawCall>(),
        _ => &[],
    }
}

/// Parses and checks a gate-case file; `file` is how messages call it.
///
/// # Errors
/// Names the file and the key of what is unknown, missing, malformed or too new; a name that
/// two cases have; a call of a tool that is not on offer.
pub fn parse_cases(file: &str, text: &str) -> Result<Vec<GateCase>, FormatError> {
    let raw: RawCases = parse_json(file, 1, text, keys_of)?;
    let ctx = Ctx { file };
    let format = ctx.need("format", raw.format)?;
    if format > CASES_FORMAT {
        let (found, known) = (format, CASES_FORMAT);
        return Err(FormatError::Version { file: file.to_owned(), key: "format", found, known });
    }
    ctx.within("format", format, 1, CASES_FORMAT)?;
    let shared = tools(&ctx, "tools", raw.tools.unwrap_or_default())?;
    let raw = ctx.need("cases", raw.cases)?;
    if raw.is_empty() {
        return ctx.bad("cases", "must hold at least one case");
    }
    let mut names = BTreeSet::new();
    let mut cases = Vec::with_capacity(raw.len());
    for (i, raw) in raw.into_iter().enumerate() {
        let case = one(&ctx, &format!("cases.{i}"), raw, &shared)?;
        if !names.insert(case.name.clone()) {
            let twice = format!("is {:?}, which another case has; names must be unique", case.name);
            return ctx.bad(&format!("cases.{i}.name"), twice);
        }
        cases.push(case);
    }
    Ok(cases)
}

fn one(
    ctx: &Ctx<'_>,
    at: &str,
    raw: RawCase,
    shared: &[ToolSpec],
) -> Result<GateCase, FormatError> {
    let name = ctx.sentence(&format!("{at}.name"), raw.name)?;
    let offered = match raw.tools {
        Some(own) => tools(ctx, &format!("{at}.tools"), own)?,
        None => shared.to_vec(),
    };
    let mut before = Vec::new();
    for (key, list) in [("reads", raw.reads), ("effects", raw.effects)] {
        for (i, raw) in list.unwrap_or_default().into_iter().enumerate() {
            let at = format!("{at}.{key}.{i}");
            before.push(prior(ctx, &at, raw, before.len() + 1, &offered)?);
        }
    }
    let decided = call(ctx, &format!("{at}.call"), raw.call, before.len() + 1)?;
    on_offer(ctx, &format!("{at}.call.tool"), &decided.tool, &offered)?;
    let key = format!("{at}.expect");
    let expect = ctx.need(&key, raw.expect)?;
    let words = [("block", Expected::Block), ("pass", Expected::Pass)];
    Ok(GateCase {
        name,
        instruction: ctx.need(&format!("{at}.instruction"), raw.instruction)?,
        tools: offered,
        before,
        call: decided,
        expect: ctx.word(&key, &expect, &words)?,
    })
}

fn prior(
    ctx: &Ctx<'_>,
    at: &str,
    raw: RawPrior,
    number: usize,
    offered: &[ToolSpec],
) -> Result<PriorCall, FormatError> {
    let RawPrior { id, server, tool, arguments, content, is_error } = raw;
    let given = RawCall { id, server, tool, arguments };
    let call = call(ctx, at, Some(given), number)?;
    on_offer(ctx, &format!("{at}.tool"), &call.tool, offered)?;
    let result =
        ToolResult { content: content.unwrap_or_default(), is_error: is_error.unwrap_or_default() };
    Ok(PriorCall { call, result })
}

/// A tool that is not listed is a typo, unless no tools are listed at all.
fn on_offer(ctx: &Ctx<'_>, key: &str, tool: &str, offered: &[ToolSpec]) -> Result<(), FormatError> {
    if offered.is_empty() || offered.iter().any(|spec| spec.name == tool) {
        return Ok(());
    }
    let names: Vec<&str> = offered.iter().map(|spec| spec.name.as_str()).collect();
    ctx.bad(key, format!("is {tool:?}, which is not among the tools: {}", names.join(", ")))
}
