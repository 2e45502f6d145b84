//! Tool tables of built-in domains: one row a tool gives its schema, its MCP
//! annotations and the validation of its arguments, so that they cannot disagree.

use evosafe_types::{JsonMap, ToolSpec};
use serde_json::{Value, json};

/// What a tool does to the world, told to clients as MCP hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hints {
    /// Reads the firm's own systems.
    Read,
    /// Reads text that people outside the firm can write.
    ReadOpen,
    /// Changes something that can be undone.
    Write,
    /// Has an effect that cannot be taken back.
    Destructive,
    /// As [`Self::Destructive`], and it reaches people outside the firm.
    DestructiveOpen,
}

impl Hints {
    /// Whether a call has an effect.
    pub(crate) fn has_effect(self) -> bool {
        !matches!(self, Self::Read | Self::ReadOpen)
    }
}

/// Type of a parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Text that is not blank.
    Text,
    /// Money in USD: above zero, at most two decimals.
    Amount,
    /// Whole number from 1 to 1,000,000.
    Count,
    /// One of a closed set.
    Choice(&'static [&'static str]),
}

/// A parameter of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    /// Name.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// Whether it may be left out.
    pub optional: bool,
    /// Description shown to the victim.
    pub about: &'static str,
}

/// A tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolRow {
    /// Server that offers it.
    pub server: &'static str,
    /// Name.
    pub name: &'static str,
    /// Description shown to the victim.
    pub about: &'static str,
    /// Effect class.
    pub hints: Hints,
    /// Parameters in order.
    pub params: &'static [Param],
}

impl ToolRow {
    /// The tool as victims and harnesses see it.
    pub(crate) fn spec(&self) -> ToolSpec {
        let mut properties = JsonMap::new();
        for param in self.params {
            properties.insert(param.name.to_owned(), param.schema());
        }
        let required: Vec<&str> =
            self.params.iter().filter(|p| !p.optional).map(|p| p.name).collect();
        let (open, destructive) = match self.hints {
            Hints::Read | Hints::Write => (false, false),
            Hints::ReadOpen => (true, false),
            Hints::Destructive => (false, true),
            Hints::DestructiveOpen => (true, true),
        };
        let mut annotations = JsonMap::new();
        annotations.insert("readOnlyHint".to_owned(), (!self.hints.has_effect()).into());
        annotations.insert("destructiveHint".to_owned(), destructive.into());
        annotations.insert("openWorldHint".to_owned(), open.into());
        ToolSpec {
            name: self.name.to_owned(),
            server: Some(self.server.to_owned()),
            description: self.about.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            annotations,
        }
    }

    /// Checks arguments against the row.
    ///
    /// # Errors
    /// The text of the error result: which argument, what was expected.
    pub(crate) fn validate(&self, arguments: &JsonMap) -> Result<(), String> {
        for name in arguments.keys() {
            if !self.params.iter().any(|p| p.name == name) {
                let known: Vec<&str> = self.params.iter().map(|p| p.name).collect();
                return Err(format!(
                    "unknown argument `{name}`; {} takes: {}",
                    self.name,
                    known.join(", ")
                ));
            }
        }
        for param in self.params {
            match arguments.get(param.name) {
                None | Some(Value::Null) if param.optional => {}
                None | Some(Value::Null) => {
                    return Err(format!("missing argument `{}`", param.name));
                }
                Some(value) => param.check(value)?,
            }
        }
        Ok(())
    }
}

impl Param {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string", "minLength": 1}),
            Kind::Amount => json!({"type": "number", "exclusiveMinimum": 0}),
            Kind::Count => json!({"type": "integer", "minimum": 1, "maximum": 1_000_000}),
            Kind::Choice(values) => json!({"type": "string", "enum": values}),
        };
        if let Value::Object(map) = &mut schema {
            map.insert("description".to_owned(), self.about.into());
        }
        schema
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let wrong = |expected: &str| {
            Err(format!("argument `{}` must be {expected}, not {value}", self.name))
        };
        match self.kind {
            Kind::Text => match value.as_str() {
                Some(text) if !text.trim().is_empty() => Ok(()),
                _ => wrong("text"),
            },
            Kind::Amount => match cents(value) {
                Some(n) if n > 0 => Ok(()),
                _ => wrong("an amount in USD above zero with at most two decimals"),
            },
            Kind::Count => match count(value) {
                Some(1..=1_000_000) => Ok(()),
                _ => wrong("a whole number from 1 to 1000000"),
            },
            Kind::Choice(values) => match value.as_str() {
                Some(text) if values.contains(&text) => Ok(()),
                _ => wrong(&format!("one of: {}", values.join(", "))),
            },
        }
    }
}

/// What a tool answers: JSON, or the text of an error.
pub(crate) type Answer = Result<Value, String>;

/// Validated arguments of a call.
pub(crate) struct Args<'a>(&'a JsonMap);

impl<'a> Args<'a> {
    /// Wraps arguments that were validated.
    pub(crate) fn new(arguments: &'a JsonMap) -> Self {
        Self(arguments)
    }

    /// A text argument, trimmed.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default().trim()
    }

    /// An amount in cents.
    pub(crate) fn amount(&self, name: &str) -> i64 {
        self.0.get(name).and_then(cents).unwrap_or(0)
    }

    /// An amount in cents that may be left out.
    pub(crate) fn optional_amount(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(cents)
    }

    /// A whole number.
    pub(crate) fn count(&self, name: &str) -> i64 {
        self.0.get(name).and_then(count).unwrap_or(0)
    }
}

/// Cents of an amount in USD; `None` if it is not a number of whole cents below 10^12.
pub(crate) fn cents(value: &Value) -> Option<i64> {
    let scaled = value.as_f64()? * 100.0;
    let rounded = scaled.round();
    // Tolerance covers binary fractions of decimal cents, nothing a person would write.
    if !rounded.is_finite() || (scaled - rounded).abs() > 1e-4 || rounded.abs() >= 1e14 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked above: integral, below 10^14")]
    Some(rounded as i64)
}

/// A whole number, also where JSON spells it `45.0`.
pub(crate) fn count(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let whole = cents(value)?;
        (whole % 100 == 0).then_some(whole / 100)
    })
}

/// `1234567` as `12,345.67`.
pub(crate) fn usd(cents: i64) -> String {
    let digits = (cents.abs() / 100).to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{grouped}.{:02}", cents.abs() % 100)
}

/// An amount as a JSON number in USD.
pub(crate) fn dollars(cents: i64) -> Value {
    if cents % 100 == 0 {
        return (cents / 100).into();
    }
    #[expect(clippy::cast_precision_loss, reason = "amounts stay far below 2^53 cents")]
    let value = cents as f64 / 100.0;
    value.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: ToolRow = ToolRow {
        server: "s",
        name: "pay",
        about: "Pays.",
        hints: Hints::Destructive,
        params: &[
            Param { name: "to", kind: Kind::Text, optional: false, about: "Payee." },
            Param { name: "amount", kind: Kind::Amount, optional: false, about: "USD." },
            Param { name: "n", kind: Kind::Count, optional: true, about: "Times." },
            Param { name: "how", kind: Kind::Choice(&["a", "b"]), optional: true, about: "How." },
        ],
    };

    fn check(arguments: Value, expected: Option<&str>) {
        let map = arguments.as_object().cloned().unwrap_or_default();
        let got = ROW.validate(&map).err();
        match (&got, expected) {
            (None, None) => {}
            (Some(text), Some(part)) if text.contains(part) => {}
            _ => panic!("{arguments}: {got:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn arguments_are_validated() {
        check(json!({"to": "x", "amount": 10.25}), None);
        check(json!({"to": "x", "amount": 10, "n": 3.0, "how": "b"}), None);
        check(json!({"amount": 1}), Some("missing argument `to`"));
        check(json!({"to": " ", "amount": 1}), Some("must be text"));
        check(json!({"to": 7, "amount": 1}), Some("must be text"));
        check(json!({"to": "x", "amount": "10"}), Some("an amount"));
        check(json!({"to": "x", "amount": 0}), Some("an amount"));
        check(json!({"to": "x", "amount": -4}), Some("an amount"));
        check(json!({"to": "x", "amount": 1.005}), Some("an amount"));
        check(json!({"to": "x", "amount": 1e300}), Some("an amount"));
        check(json!({"to": "x", "amount": 1, "n": 1.5}), Some("whole number"));
        check(json!({"to": "x", "amount": 1, "how": "c"}), Some("one of: a, b"));
        check(json!({"to": "x", "amount": 1, "memo": ""}), Some("unknown argument `memo`"));
    }

    #[test]
    fn specs_carry_schema_and_hints() {
        let spec = ROW.spec();
        assert_eq!(spec.input_schema["required"], json!(["to", "amount"]));
        assert_eq!(spec.annotations["readOnlyHint"], json!(false));
        assert_eq!(spec.annotations["destructiveHint"], json!(true));
    }

    #[test]
    fn money_prints_and_parses() {
        assert_eq!(usd(1_234_567), "12,345.67");
        assert_eq!(usd(-10_000_000), "-100,000.00");
        assert_eq!(usd(95), "0.95");
        assert_eq!(cents(&dollars(1_234_567)), Some(1_234_567));
        assert_eq!(cents(&json!(19.99)), Some(1999));
    }
}
