//! Typed parameters of mechanisms: what the Designer may tune, and how far.

use evosafe_types::ParamValue;
use serde::Deserialize;

use crate::error::FormatError;
use crate::raw::table;
use crate::validate::Ctx;

/// A tunable parameter of a mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Name, as the mechanism's code reads it.
    pub name: String,
    /// What it does, for people; may be empty.
    pub summary: String,
    /// Type and range.
    pub kind: ParamKind,
    /// Value when a bundle says nothing.
    pub default: ParamValue,
}

/// Type and range of a parameter; ranges include both ends.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamKind {
    /// Whole number.
    Int {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// Real number.
    Float {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// Switch.
    Bool,
    /// One of a closed set of words.
    Choice(Vec<String>),
    /// Any texts.
    List,
}

impl Param {
    /// Checks a value against type and range; a whole number is taken for a real one.
    ///
    /// # Errors
    /// Says what is wrong, as the rest of a sentence that begins with the parameter.
    pub fn check(&self, value: &ParamValue) -> Result<ParamValue, String> {
        self.kind.check(value)
    }
}

impl ParamKind {
    fn check(&self, value: &ParamValue) -> Result<ParamValue, String> {
        match (self, value) {
            (Self::Int { min, max }, ParamValue::Int(number)) => {
                if min <= number && number <= max {
                    return Ok(value.clone());
                }
                Err(format!("must be from {min} to {max}, but is {number}"))
            }
            (Self::Float { min, max }, ParamValue::Float(_) | ParamValue::Int(_)) => {
                let number = match value {
                    ParamValue::Float(number) => *number,
                    ParamValue::Int(number) => *number as f64,
                    _ => f64::NAN,
                };
                if *min <= number && number <= *max {
                    return Ok(ParamValue::Float(number));
                }
                Err(format!("must be from {min} to {max}, but is {number}"))
            }
            (Self::Bool, ParamValue::Bool(_)) | (Self::List, ParamValue::List(_)) => {
                Ok(value.clone())
            }
            (Self::Choice(words), ParamValue::Text(word)) => {
                if words.contains(word) {
                    return Ok(value.clone());
                }
                Err(format!("must be one of {}, but is {word:?}", words.join(", ")))
            }
            _ => Err(format!("must be {}, but is {value:?}", self.noun())),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Int { .. } => "a whole number",
            Self::Float { .. } => "a number",
            Self::Bool => "true or false",
            Self::Choice(_) => "a text",
            Self::List => "a list of texts",
        }
    }
}

table!(
    RawParam {
        #[serde(rename = "type")]
        kind: String,
        summary: String,
        default: ParamValue,
        min: ParamValue,
        max: ParamValue,
        values: Vec<String>,
    }
);

#[derive(Clone, Copy)]
enum Kind {
    Int,
    Float,
    Bool,
    Choice,
    List,
}

impl Param {
    pub(crate) fn from_raw(ctx: &Ctx<'_>, name: &str, raw: RawParam) -> Result<Self, FormatError> {
        let key = |leaf: &str| format!("params.{name}.{leaf}");
        ctx.name(&format!("params.{name}"), name.to_owned())?;
        let words = [
            ("int", Kind::Int),
            ("float", Kind::Float),
            ("bool", Kind::Bool),
            ("choice", Kind::Choice),
            ("list", Kind::List),
        ];
        let word = ctx.need(&key("type"), raw.kind)?;
        let kind = ctx.word(&key("type"), &word, &words)?;
        let ranged = matches!(kind, Kind::Int | Kind::Float);
        let misplaced = [
            ("min", raw.min.is_some() && !ranged),
            ("max", raw.max.is_some() && !ranged),
            ("values", raw.values.is_some() && !matches!(kind, Kind::Choice)),
        ];
        if let Some((leaf, _)) = misplaced.into_iter().find(|(_, misplaced)| *misplaced) {
            return ctx.bad(&key(leaf), format!("has no meaning for type {word:?}"));
        }
        let kind = match kind {
            Kind::Bool => ParamKind::Bool,
            Kind::List => ParamKind::List,
            Kind::Choice => {
                let values = ctx.need(&key("values"), raw.values)?;
                if values.len() < 2 {
                    return ctx.bad(&key("values"), "must list at least two words");
                }
                ParamKind::Choice(values)
            }
            Kind::Int => {
                let all = ParamKind::Int { min: i64::MIN, max: i64::MAX };
                let min = bound(ctx, &key("min"), &all, raw.min)?;
                let max = bound(ctx, &key("max"), &all, raw.max)?;
                match (min, max) {
                    (ParamValue::Int(min), ParamValue::Int(max)) if min < max => {
                        ParamKind::Int { min, max }
                    }
                    _ => return ctx.bad(&key("max"), "must be greater than `min`"),
                }
            }
            Kind::Float => {
                let all = ParamKind::Float { min: f64::MIN, max: f64::MAX };
                let min = bound(ctx, &key("min"), &all, raw.min)?;
                let max = bound(ctx, &key("max"), &all, raw.max)?;
                match (min, max) {
                    (ParamValue::Float(min), ParamValue::Float(max)) if min < max => {
                        ParamKind::Float { min, max }
                    }
                    _ => return ctx.bad(&key("max"), "must be greater than `min`"),
                }
            }
        };
        let default = bound(ctx, &key("default"), &kind, raw.default)?;
        let summary = raw.summary.unwrap_or_default();
        Ok(Self { name: name.to_owned(), summary, kind, default })
    }
}

fn bound(
    ctx: &Ctx<'_>,
    key: &str,
    kind: &ParamKind,
    value: Option<ParamValue>,
) -> Result<ParamValue, FormatError> {
    let value = ctx.need(key, value)?;
    kind.check(&value).or_else(|message| ctx.bad(key, message))
}
