//! Mined rules as JavaScript.

use serde_json::json;

use super::Keyed;

/// The body of the mechanism.
pub(super) fn body(keyed: &Keyed) -> String {
    match keyed {
        Keyed::Values(values) => wrap(
            &format!("const KNOWN = {};", json!(lower(values))),
            "    onPreToolCall(call) {
      const text = JSON.stringify(call.arguments).toLowerCase();
      return KNOWN.some((value) => text.includes(value)) ? block('This target is known to be malicious.') : allow();
    },",
        ),
        Keyed::Tools(tools) => wrap(
            &format!("const DENIED = new Set({});", json!(tools)),
            "    onPreToolCall(call) {
      return DENIED.has(call.tool) ? block('This tool is not available for this task.') : allow();
    },",
        ),
        Keyed::Phrases(phrases) => wrap(
            &format!(
                "const WORDING = {};\n  let exposed = false;",
                json!(phrases.iter().map(|p| p.replace(' ', "\\W+")).collect::<Vec<_>>())
            ),
            "    onPostToolCall(call, result) {
      if (WORDING.some((words) => regexFindAll(`(?i)${words}`, result.content).length > 0)) exposed = true;
      return keep();
    },
    onPreToolCall(call) {
      return exposed && !session.effectOf(call).read ? block('A tool result tried to give instructions.') : allow();
    },",
        ),
        Keyed::Threshold { argument, least } => wrap(
            &format!("const MOST = {least};"),
            &format!(
                "    onPreToolCall(call) {{
      return Number(call.arguments[{}]) >= MOST ? block('This amount is too large.') : allow();
    }},",
                json!(argument)
            ),
        ),
    }
}

fn wrap(constants: &str, hooks: &str) -> String {
    format!(
        "function mechanism(params, session) {{\n  {constants}\n  return {{\n{hooks}\n  }};\n}}\n"
    )
}

fn lower(values: &[String]) -> Vec<String> {
    values
        .iter()
        .map(|value| {
            // As the value stands inside JSON.
            let quoted = json!(value.to_lowercase()).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        })
        .collect()
}
