//! Price files: what models cost, as it was on a day.

use std::collections::BTreeSet;
use std::path::Path;

use evosafe_types::{Price, PriceBook, Rates, Usd};
use serde::Deserialize;

use crate::error::{FormatError, PriceError};
use crate::raw::table;
use crate::strict::{fields, parse};
use crate::validate::Ctx;

/// Version of price files that this program reads.
pub const PRICES_FORMAT: u32 = 1;

/// Highest price for a million tokens that is taken for one, in USD.
const DEAREST: f64 = 1e6;

static BUILT_IN: &str = include_str!("../prices.toml");

table!(RawPrices { format: u32, as_of: String, model: Vec<RawPrice> });
table!(RawPrice {
    names: Vec<String>,
    source: String,
    input: f64,
    cached_input: f64,
    cache_creation: f64,
    output: f64,
    long_prompt: RawLong,
});
table!(RawLong { above: u64, input: f64, cached_input: f64, cache_creation: f64, output: f64 });

fn keys_of(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawPrices>(),
        "model.*" => fields::<RawPrice>(),
        "model.*.long_prompt" => fields::<RawLong>(),
        _ => &[],
    }
}

/// The prices in the binary; those of the file `own`, if there is one, come before them.
///
/// # Errors
/// If the file cannot be read, or anything in it is wrong; names file and key.
pub fn prices(own: Option<&Path>) -> Result<PriceBook, PriceError> {
    let book = parse_prices("built-in prices", BUILT_IN)?;
    let Some(path) = own else { return Ok(book) };
    let text = std::fs::read_to_string(path)
        .map_err(|source| PriceError::Read { path: path.to_path_buf(), source })?;
    Ok(book.overridden_by(parse_prices(&path.display().to_string(), &text)?))
}

/// Parses and checks a price file; `file` is how messages call it.
///
/// # Errors
/// Names the file and the key of what is unknown, missing, out of range or too new.
pub fn parse_prices(file: &str, text: &str) -> Result<PriceBook, FormatError> {
    let raw: RawPrices = parse(file, text, keys_of)?;
    let ctx = Ctx { file };
    let format = ctx.need("format", raw.format)?;
    if format > PRICES_FORMAT {
        let (found, known) = (format, PRICES_FORMAT);
        return Err(FormatError::Version { file: file.to_owned(), key: "format", found, known });
    }
    ctx.within("format", format, 1, PRICES_FORMAT)?;
    let as_of = ctx.need("as_of", raw.as_of)?;
    if !is_day(&as_of) {
        let message = format!("must be a day, as in \"2026-11-30\", but is {as_of:?}");
        return ctx.bad("as_of", message);
    }
    let (mut entries, mut known) = (Vec::new(), BTreeSet::new());
    for (n, raw) in raw.model.unwrap_or_default().into_iter().enumerate() {
        let key = |key: &str| format!("model.{n}.{key}");
        if raw.source.is_some() {
            ctx.sentence(&key("source"), raw.source)?;
        }
        let kinds = [raw.input, raw.cached_input, raw.cache_creation, raw.output];
        let rates = rates(&ctx, &format!("model.{n}"), kinds)?;
        let long = match raw.long_prompt {
            None => None,
            Some(long) => {
                let place = key("long_prompt");
                let above = ctx.need(&format!("{place}.above"), long.above)?;
                let kinds = [long.input, long.cached_input, long.cache_creation, long.output];
                Some((above, self::rates(&ctx, &place, kinds)?))
            }
        };
        let names = ctx.need(&key("names"), raw.names)?;
        if names.is_empty() {
            return ctx.bad(&key("names"), "names no model");
        }
        for name in names {
            let stem = name.strip_suffix('*').unwrap_or(&name);
            if stem.is_empty() || stem.contains('*') {
                let message =
                    format!("must be names, of which the last letter may be `*`, but is {name:?}");
                return ctx.bad(&key("names"), message);
            }
            if !known.insert(name.clone()) {
                return ctx.bad(&key("names"), format!("names {name:?}, which has a price above"));
            }
            entries.push((name, Price { rates, long }));
        }
    }
    Ok(PriceBook { as_of, entries })
}

/// Input, cached input, cache creation, output. Where no price of cached tokens is given,
/// there is no discount.
fn rates(ctx: &Ctx<'_>, place: &str, kinds: [Option<f64>; 4]) -> Result<Rates, FormatError> {
    let usd = |key: &str, value: f64| {
        let key = format!("{place}.{key}");
        let value = ctx.within(&key, value, 0.0, DEAREST)?;
        Usd::from_dollars(value).map_or_else(|| ctx.bad(&key, "is no price"), Ok)
    };
    let [input, cached, creation, output] = kinds;
    let input = ctx.need(&format!("{place}.input"), input)?;
    Ok(Rates {
        input: usd("input", input)?,
        cached_input: usd("cached_input", cached.unwrap_or(input))?,
        cache_creation: usd("cache_creation", creation.unwrap_or(input))?,
        output: usd("output", ctx.need(&format!("{place}.output"), output)?)?,
    })
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize, most: u32| {
        part.len() == digits
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n))
    };
    matches!(parts[..], [y, m, d] if number(y, 4, 9999) && number(m, 2, 12) && number(d, 2, 31))
}

#[cfg(test)]
mod tests {
    use evosafe_types::Usage;

    use super::*;

    fn dollars(price: &Price, input: u64, cached: u64, output: u64) -> f64 {
        let usage = Usage { input, cached_input: cached, output, ..Usage::default() };
        price.cost(&usage).dollars()
    }

    #[test]
    fn built_in_prices_are_valid_and_say_where_they_are_from() {
        let book = prices(None).expect("valid");
        assert!(is_day(&book.as_of));
        assert!(book.entries.len() > 20);
        let raw: RawPrices = parse("built-in", BUILT_IN, keys_of).expect("valid");
        for model in raw.model.unwrap_or_default() {
            assert!(model.source.is_some_and(|s| s.starts_with("https://")), "{:?}", model.names);
        }
        for (name, price) in &book.entries {
            assert!(price.rates.cached_input <= price.rates.input, "{name}");
            assert!(price.rates.output > price.rates.input, "{name}");
            assert!(!name.contains('*'), "{name}: a new model of a family has no price yet");
        }
        let mini = book.price("gpt-4o-mini-2024-07-18").expect("there");
        assert!((dollars(&mini, 1_000_000, 1_000_000, 1_000_000) - 0.825).abs() < 1e-9);
        let haiku = book.price("claude-haiku-5-5").expect("there");
        assert!((dollars(&haiku, 100_001, 0, 0) - 0.050_000_5).abs() < 1e-9);
        assert_eq!(book.price("gpt-4o-realtime"), None);
    }

    #[test]
    fn a_file_of_ones_own_comes_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("my.toml");
        let text = "format = 1\nas_of = \"2026-12-24\"\n\
            [[model]]\nnames = [\"gpt-4o\", \"local/*\"]\ninput = 0\noutput = 0.0\n";
        std::fs::write(&path, text).expect("writes");
        let book = prices(Some(&path)).expect("valid");
        assert_eq!(book.as_of, "2026-12-24");
        for free in ["gpt-4o", "local/llama"] {
            assert!(dollars(&book.price(free).expect("there"), 9, 9, 9).abs() < 1e-12);
        }
        assert!(book.price("gpt-4.1").is_some());
        let error = prices(Some(&folder.path().join("none.toml"))).expect_err("no file");
        assert!(error.to_string().contains("none.toml"), "{error}");
    }

    #[test]
    fn bad_files_name_file_and_key() {
        let good = "format = 1\nas_of = \"2026-11-30\"\n[[model]]\nnames = [\"a\"]\n\
            input = 1.0\noutput = 2.0\n[model.long_prompt]\nabove = 9\ninput = 1.0\noutput = 2.0\n";
        assert!(parse_prices("my.toml", good).is_ok());
        for (from, to, says) in [
            ("format = 1", "format = 2", "format"),
            ("2026-11-30", "2026-13-30", "`as_of` must be a day"),
            ("names = [\"a\"]", "names = []", "`model.0.names` names no model"),
            ("names = [\"a\"]", "names = [\"*\"]", "`model.0.names` must be names"),
            ("names = [\"a\"]", "names = [\"a\", \"a\"]", "has a price above"),
            ("input = 1.0\noutput", "input = -1.0\noutput", "`model.0.input` must be from 0"),
            ("input = 1.0\noutput", "input = nan\noutput", "`model.0.input` must be from 0"),
            ("output = 2.0\n[", "[", "`model.0.output` is missing"),
            ("output = 2.0\n[", "ouput = 2.0\n[", "output"),
            ("above = 9\n", "", "`model.0.long_prompt.above` is missing"),
        ] {
            assert!(good.contains(from), "{from}");
            let error = parse_prices("my.toml", &good.replacen(from, to, 1)).expect_err(to);
            let text = error.to_string();
            assert!(text.contains("my.toml") && text.contains(says), "{to}: {text}");
        }
    }

    #[test]
    fn every_key_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let text = std::fs::read_to_string(path).expect("part of the repository");
        for place in ["model.*", "model.*.long_prompt"] {
            for key in keys_of(place) {
                assert!(text.contains(&format!("`{place}.{key}`")), "{place}.{key}");
            }
        }
    }
}
