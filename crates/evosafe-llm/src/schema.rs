//! A small check of JSON against a JSON Schema: enough for arguments of tools and short
//! structured replies. Keywords it does not know are passed over, so that it never refuses
//! what a full validator accepts.

use serde_json::Value;

/// References followed before a schema counts as going in circles.
const DEEPEST: usize = 64;

/// Checks `value`.
///
/// # Errors
/// The place of the first misfit and what is wrong there, for the model that wrote it.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    Check { root: schema }.at(schema, value, "", 0)
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn at(&self, schema: &Value, value: &Value, path: &str, depth: usize) -> Result<(), String> {
        let Some(rules) = schema.as_object() else {
            // `true` and `false` are schemas too.
            return match schema {
                Value::Bool(false) => Err(format!("{} is not allowed", name(path))),
                _ => Ok(()),
            };
        };
        if depth > DEEPEST {
            return Ok(());
        }
        if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            if let Some(found) = found {
                self.at(found, value, path, depth + 1)?;
            }
        }
        self.kind(rules.get("type"), value, path)?;
        if let Some(allowed) = rules.get("enum").and_then(Value::as_array)
            && !allowed.iter().any(|a| same(a, value))
        {
            let list: Vec<String> = allowed.iter().map(Value::to_string).collect();
            return Err(format!("{} must be one of {}", name(path), list.join(", ")));
        }
        if let Some(only) = rules.get("const")
            && !same(only, value)
        {
            return Err(format!("{} must be {only}", name(path)));
        }
        self.combined(rules, value, path, depth)?;
        bounds(rules, value, path)?;
        match value {
            Value::Object(object) => self.object(rules, object, path, depth),
            Value::Array(items) => {
                let Some(schema) = rules.get("items").filter(|s| !s.is_array()) else {
                    return Ok(());
                };
                items.iter().enumerate().try_for_each(|(n, item)| {
                    self.at(schema, item, &format!("{path}[{n}]"), depth + 1)
                })
            }
            _ => Ok(()),
        }
    }

    fn kind(&self, kinds: Option<&Value>, value: &Value, path: &str) -> Result<(), String> {
        let kinds: Vec<&str> = match kinds {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
            _ => return Ok(()),
        };
        if kinds.is_empty() || kinds.iter().any(|kind| is(kind, value)) {
            return Ok(());
        }
        let wanted = kinds.join(" or ");
        Err(format!("{} must be of type {wanted}, not {}", name(path), kind_of(value)))
    }

    fn combined(
        &self,
        rules: &serde_json::Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), String> {
        let schemas = |key| rules.get(key).and_then(Value::as_array);
        for schema in schemas("allOf").into_iter().flatten() {
            self.at(schema, value, path, depth + 1)?;
        }
        // "Exactly one" is not checked: schemas written by hand often overlap.
        for key in ["anyOf", "oneOf"] {
            let Some(choices) = schemas(key).filter(|choices| !choices.is_empty()) else {
                continue;
            };
            let tried: Result<Vec<String>, ()> = choices
                .iter()
                .map(|schema| self.at(schema, value, path, depth + 1).err().ok_or(()))
                .collect();
            if let Ok(problems) = tried {
                return Err(problems.join("; or "));
            }
        }
        Ok(())
    }

    fn object(
        &self,
        rules: &serde_json::Map<String, Value>,
        object: &serde_json::Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<(), String> {
        let place =
            |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let required = rules.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(key) {
                return Err(format!("`{}` is missing", place(key)));
            }
        }
        let properties = rules.get("properties").and_then(Value::as_object);
        for (key, value) in object {
            match properties.and_then(|p| p.get(key)) {
                Some(schema) => self.at(schema, value, &place(key), depth + 1)?,
                // Patterns might allow it.
                None if rules.contains_key("patternProperties") => {}
                None => match rules.get("additionalProperties") {
                    Some(Value::Bool(false)) => {
                        let known: Vec<&str> =
                            properties.iter().flat_map(|p| p.keys().map(String::as_str)).collect();
                        let known = known.join(", ");
                        return Err(format!("`{}` is unknown; there is: {known}", place(key)));
                    }
                    Some(schema) => self.at(schema, value, &place(key), depth + 1)?,
                    None => {}
                },
            }
        }
        Ok(())
    }
}

fn bounds(rules: &serde_json::Map<String, Value>, value: &Value, path: &str) -> Result<(), String> {
    let number = |key| rules.get(key).and_then(Value::as_f64);
    if let Some(n) = value.as_f64() {
        let wrong = [
            ("minimum", "at least", number("minimum").is_some_and(|b| n < b)),
            ("maximum", "at most", number("maximum").is_some_and(|b| n > b)),
            ("exclusiveMinimum", "more than", number("exclusiveMinimum").is_some_and(|b| n <= b)),
            ("exclusiveMaximum", "less than", number("exclusiveMaximum").is_some_and(|b| n >= b)),
        ];
        for (key, words, wrong) in wrong {
            if wrong {
                return Err(format!("{} must be {words} {}", name(path), rules[key]));
            }
        }
    }
    let length = match value {
        Value::String(text) => Some((text.chars().count(), "minLength", "maxLength", "characters")),
        Value::Array(items) => Some((items.len(), "minItems", "maxItems", "items")),
        _ => None,
    };
    if let Some((length, least, most, unit)) = length {
        let bound = |key| rules.get(key).and_then(Value::as_u64);
        if let Some(bound) = bound(least).filter(|b| (length as u64) < *b) {
            return Err(format!("{} must have at least {bound} {unit}", name(path)));
        }
        if let Some(bound) = bound(most).filter(|b| (length as u64) > *b) {
            return Err(format!("{} must have at most {bound} {unit}", name(path)));
        }
    }
    Ok(())
}

fn name(path: &str) -> String {
    if path.is_empty() { "the value".to_owned() } else { format!("`{path}`") }
}

/// JSON equality; 1 and 1.0 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) => a == b || x.total_cmp(&y).is_eq(),
        _ => a == b,
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        // A word that JSON Schema does not have: not ours to judge.
        _ => true,
    }
}

/// What a value is, in JSON Schema's words.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fits_and_misfits() {
        let schema = json!({
            "type": "object", "required": ["to", "amount"], "additionalProperties": false,
            "$defs": {"Person": {"type": "object", "required": ["name"],
                "properties": {"name": {"type": "string", "minLength": 1}}}},
            "properties": {
                "to": {"$ref": "#/$defs/Person"},
                "amount": {"type": "number", "minimum": 0, "exclusiveMaximum": 10},
                "count": {"type": "integer"},
                "kind": {"enum": ["a", "b", 1]},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "odd": {"type": ["string", "null"]},
                "only": {"const": 2},
            }
        });
        let with = |key: &str, value: Value| {
            let mut object = json!({"to": {"name": "Ann"}, "amount": 1});
            object[key] = value;
            object
        };
        for good in [
            with("count", json!(3.0)),
            with("kind", json!(1.0)),
            with("note", json!(null)),
            with("tags", json!(["x"])),
            with("odd", json!(null)),
            with("only", json!(2)),
        ] {
            assert_eq!(check(&schema, &good), Ok(()), "{good}");
        }
        for (bad, why) in [
            (json!([]), "the value must be of type object, not array"),
            (json!({"to": {"name": "Ann"}}), "`amount` is missing"),
            (with("to", json!({})), "`to.name` is missing"),
            (with("to", json!({"name": ""})), "`to.name` must have at least 1 characters"),
            (with("amount", json!("1")), "`amount` must be of type number, not string"),
            (with("amount", json!(-1)), "`amount` must be at least 0"),
            (with("amount", json!(10)), "`amount` must be less than 10"),
            (with("count", json!(1.5)), "`count` must be of type integer, not number"),
            (with("kind", json!("c")), "`kind` must be one of \"a\", \"b\", 1"),
            (with("note", json!(1)), "`note` must be of type string, not number; or `note` must"),
            (with("tags", json!(["x", 2])), "`tags[1]` must be of type string"),
            (with("tags", json!(["x", "y", "z"])), "`tags` must have at most 2 items"),
            (with("odd", json!(true)), "`odd` must be of type string or null, not boolean"),
            (with("only", json!(3)), "`only` must be 2"),
            (with("more", json!(1)), "`more` is unknown; there is: to, amount, count"),
        ] {
            let error = check(&schema, &bad).expect_err(why);
            assert!(error.starts_with(why), "{error} / {why}");
        }
    }

    #[test]
    fn strange_schemas_refuse_nothing_and_end() {
        let circle = json!({"$ref": "#"});
        assert_eq!(check(&circle, &json!(1)), Ok(()));
        for schema in [json!({}), json!(true), json!(null), json!({"type": "money"}), json!(3)] {
            assert_eq!(check(&schema, &json!({"a": 1})), Ok(()), "{schema}");
        }
        assert!(check(&json!(false), &json!(1)).is_err());
    }
}
