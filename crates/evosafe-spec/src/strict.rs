//! TOML and JSON with no forgiveness: an unknown key is an error that names its path and the
//! closest key that exists; a wrong value is an error that names its path and line.

use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};

use crate::error::{FormatError, UnknownKey};

/// Gives the keys of a table by its dotted path (`""` is the root; positions in
/// arrays and names of free-form maps are `*`).
pub(crate) type KeysOf = fn(&str) -> &'static [&'static str];

/// Parses `text`; `file` is how messages call it, `keys_of` knows what exists where.
pub(crate) fn parse<T: DeserializeOwned>(
    file: &str,
    text: &str,
    keys_of: KeysOf,
) -> Result<T, FormatError> {
    let document = toml::de::Deserializer::parse(text).map_err(|e| syntax(file, text, &e))?;
    let (key, parsed) = tracked(file, document, keys_of)?;
    parsed.map_err(|error: toml::de::Error| FormatError::Value {
        file: file.to_owned(),
        line: error.span().map(|span| position(text, span.start).0),
        key,
        message: format!("is malformed: {}", error.message()),
    })
}

/// The same for one JSON document; `line` is where in the file it begins, from 1.
pub(crate) fn parse_json<T: DeserializeOwned>(
    file: &str,
    line: usize,
    text: &str,
    keys_of: KeysOf,
) -> Result<T, FormatError> {
    let at = |error: &serde_json::Error| line + error.line().saturating_sub(1);
    // Syntax first: a key cannot be unknown in what is no JSON.
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let message = without_position(&error);
        let (file, column) = (file.to_owned(), error.column().max(1));
        return Err(FormatError::Syntax { file, line: at(&error), column, message });
    }
    let mut document = serde_json::Deserializer::from_str(text);
    let (key, parsed) = tracked(file, &mut document, keys_of)?;
    parsed.map_err(|error: serde_json::Error| FormatError::Value {
        file: file.to_owned(),
        line: Some(at(&error)),
        key,
        message: format!("is malformed: {}", without_position(&error)),
    })
}

/// Messages of serde_json end in a position that counts from the document's first line.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}

/// Deserialises and keeps track: unknown keys are the error; else the path that was reached,
/// and what came of it.
fn tracked<'de, T, D>(
    file: &str,
    document: D,
    keys_of: KeysOf,
) -> Result<(String, Result<T, D::Error>), FormatError>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let mut unknown = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(document, &mut track);
    let parsed = serde_ignored::deserialize(tracked, |path| unknown.push(segments(&path)));
    // A misspelt key is the likelier cause of whatever else is wrong: report it first.
    if !unknown.is_empty() {
        let keys = unknown.iter().map(|path| explain(path, keys_of)).collect();
        return Err(FormatError::UnknownKeys { file: file.to_owned(), keys });
    }
    Ok((dotted(&track.path()), parsed))
}

/// A path in the form in which all messages have it, `mechanism.0.params.level`.
fn dotted(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment as S;
    let segments = path.iter().map(|segment| match segment {
        S::Seq { index } => index.to_string(),
        S::Map { key } => key.clone(),
        S::Enum { variant } => variant.clone(),
        S::Unknown => "?".to_owned(),
    });
    segments.collect::<Vec<_>>().join(".")
}

fn syntax(file: &str, text: &str, error: &toml::de::Error) -> FormatError {
    let (line, column) = error.span().map_or((1, 1), |span| position(text, span.start));
    FormatError::Syntax { file: file.to_owned(), line, column, message: error.message().to_owned() }
}

fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

#[derive(Clone)]
enum Segment {
    Key(String),
    Index(usize),
}

fn segments(path: &serde_ignored::Path<'_>) -> Vec<Segment> {
    use serde_ignored::Path;
    let (parent, last) = match path {
        Path::Root => return Vec::new(),
        Path::Seq { parent, index } => (parent, Some(Segment::Index(*index))),
        Path::Map { parent, key } => (parent, Some(Segment::Key(key.clone()))),
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => (parent, None),
    };
    let mut all = segments(parent);
    all.extend(last);
    all
}

fn explain(path: &[Segment], keys_of: KeysOf) -> UnknownKey {
    let shown: Vec<String> = path
        .iter()
        .map(|s| match s {
            Segment::Key(key) => key.clone(),
            Segment::Index(index) => index.to_string(),
        })
        .collect();
    let place: Vec<String> = path[..path.len().saturating_sub(1)]
        .iter()
        .map(|s| match s {
            Segment::Key(key) => key.clone(),
            Segment::Index(_) => "*".to_owned(),
        })
        .collect();
    let mut known = keys_of(&place.join("."));
    if known.is_empty()
        && let Some((_, outer)) = place.split_last()
    {
        known = keys_of(&[outer, &["*".to_owned()]].concat().join("."));
    }
    let last = shown.last().map_or("", String::as_str);
    UnknownKey {
        path: shown.join("."),
        suggestion: closest(last, known.iter().copied()).map(ToOwned::to_owned),
        known: known.iter().map(|k| (*k).to_owned()).collect(),
    }
}

/// The candidate nearest to `word`, if it is near enough to be a likely typo.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= 1 + word.len().max(c.len()) / 4)
        .min()
        .map(|(_, c)| c)
}

/// Edits (insert, drop, change, swap neighbours) from `a` to `b`, letter case apart.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// Names of the fields of a struct, as serde knows them, so that no list of keys
/// has to be kept beside the struct.
pub(crate) fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut found: &'static [&'static str] = &[];
    // The error is the way out of a deserializer that has no input.
    let _always_an_error = T::deserialize(FieldNames(&mut found)).is_err();
    found
}

struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Self::Error::custom("only the names are wanted"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
        ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let keys = ["train", "seed", "by", "call_timeout_s"];
        for (typo, expected) in [
            ("trian", Some("train")),
            ("sed", Some("seed")),
            ("Seed", Some("seed")),
            ("call_timeout", Some("call_timeout_s")),
            ("colour", None),
            ("x", None),
        ] {
            assert_eq!(closest(typo, keys.into_iter()), expected, "{typo}");
        }
    }

    #[test]
    fn field_names_come_from_serde() {
        #[derive(serde::Deserialize)]
        struct Named {
            #[serde(rename = "x")]
            _a: u32,
            #[serde(rename = "y")]
            _b: u32,
        }
        assert_eq!(fields::<Named>(), ["x", "y"]);
        assert!(fields::<u32>().is_empty());
    }
}
