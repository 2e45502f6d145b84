//! What calls of models cost: tokens, prices and money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens of one call, or of many. The four kinds do not overlap, whatever the API
/// reports: the prompt is `input + cached_input + cache_creation`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Prompt tokens read from a cache.
    #[serde(default)]
    pub cached_input: u64,
    /// Prompt tokens written to a cache.
    #[serde(default)]
    pub cache_creation: u64,
    /// Reply tokens, reasoning included.
    pub output: u64,
    /// Reply tokens spent on reasoning, where the API says: part of `output`.
    #[serde(default)]
    pub reasoning: u64,
    /// Whether the endpoint reported nothing and the numbers are a guess from lengths.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// All tokens of the prompt.
    #[must_use]
    pub fn prompt(&self) -> u64 {
        self.input + self.cached_input + self.cache_creation
    }

    /// All tokens, prompt and reply.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.prompt() + self.output
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached_input += other.cached_input;
        self.cache_creation += other.cache_creation;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.estimated |= other.estimated;
    }
}

/// US dollars, in whole billionths: sums are exact, in any order.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Usd(u64);

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// From billionths of a dollar.
    #[must_use]
    pub fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// From dollars, rounded to a billionth; `None` if negative, not finite or above ten billion.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be in range"
        )]
        (0.0..=1e10).contains(&dollars).then(|| Self((dollars * 1e9).round() as u64))
    }

    /// Billionths of a dollar.
    #[must_use]
    pub fn nanos(self) -> u64 {
        self.0
    }

    /// Dollars, for printing.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Usd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    /// Dollars and cents, and more digits where there is less than a cent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.0 == 0 || self.0 >= 10_000_000 { 2 } else { 6 };
        write!(f, "${:.digits$}", self.dollars())
    }
}

/// Prices by kind of token, each for a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Of prompt tokens.
    pub input: Usd,
    /// Of prompt tokens read from a cache.
    pub cached_input: Usd,
    /// Of prompt tokens written to a cache.
    pub cache_creation: Usd,
    /// Of reply tokens.
    pub output: Usd,
}

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// The usual rates.
    pub rates: Rates,
    /// Rates of a whole call whose prompt has more tokens than the number beside them.
    pub long: Option<(u64, Rates)>,
}

impl Price {
    fn rates(&self, prompt: u64) -> &Rates {
        match &self.long {
            Some((most, long)) if prompt > *most => long,
            _ => &self.rates,
        }
    }

    /// What one call with these tokens costs, rounded up to a billionth of a dollar.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Usd {
        let rates = self.rates(usage.prompt());
        let parts = [
            (usage.input, rates.input),
            (usage.cached_input, rates.cached_input),
            (usage.cache_creation, rates.cache_creation),
            (usage.output, rates.output),
        ];
        let sum: u128 = parts.iter().map(|(n, p)| u128::from(*n) * u128::from(p.0)).sum();
        Usd(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// The most that a call with so many prompt and reply tokens can cost.
    #[must_use]
    pub fn upper(&self, prompt: u64, output: u64) -> Usd {
        let usage = Usage { input: prompt, output, ..Usage::default() };
        let most = |rates: &Rates| {
            let input = rates.input.max(rates.cached_input).max(rates.cache_creation);
            Self { rates: Rates { input, ..*rates }, long: None }.cost(&usage)
        };
        let usual = most(&self.rates);
        // A shorter prompt may be the dearer one, where rates are odd.
        usual.max(most(self.rates(prompt)))
    }
}

/// Prices by model, as they were on a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceBook {
    /// The day they were taken, `YYYY-MM-DD`.
    pub as_of: String,
    /// Model names and prices; a name that ends in `*` stands for all that begin like it.
    pub entries: Vec<(String, Price)>,
}

impl PriceBook {
    /// The price of a model: of the entry with its exact name, else of the longest
    /// beginning that fits. `None` is *unknown*, never free.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(start) => model.starts_with(start).then_some(start.len()),
            None => (name == model).then_some(usize::MAX),
        };
        // `max_by_key` takes the last of equals: later entries override earlier ones.
        let best = self.entries.iter().filter_map(|(name, price)| Some((fits(name)?, price)));
        best.max_by_key(|(length, _)| *length).map(|(_, price)| *price)
    }

    /// These prices, with `other`'s taking precedence over entries of the same name. Its
    /// date becomes the date of the whole if it has one.
    #[must_use]
    pub fn overridden_by(mut self, other: Self) -> Self {
        if !other.as_of.is_empty() {
            self.as_of = other.as_of;
        }
        self.entries.extend(other.entries);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(dollars: f64) -> Usd {
        Usd::from_dollars(dollars).expect("in range")
    }

    fn price(input: f64, output: f64) -> Price {
        let (cached_input, cache_creation) = (usd(input / 10.0), usd(input * 1.25));
        let rates = Rates { input: usd(input), cached_input, cache_creation, output: usd(output) };
        Price { rates, long: None }
    }

    #[test]
    fn long_prompts_have_rates_of_their_own() {
        let price = Price { long: Some((100, price(2.0, 3.0).rates)), ..price(1.0, 1.0) };
        let usage = |input| Usage { input, cached_input: 50, output: 10, ..Usage::default() };
        assert_eq!(price.cost(&usage(50)), Usd::from_nanos(50_000 + 5_000 + 10_000));
        assert_eq!(price.cost(&usage(51)), Usd::from_nanos(102_000 + 10_000 + 30_000));
        assert_eq!(price.upper(100, 10), Usd::from_nanos(125_000 + 10_000));
        assert_eq!(price.upper(101, 10), Usd::from_nanos(252_500 + 30_000));
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage {
            input: 1_000_000,
            cached_input: 2_000_000,
            cache_creation: 4_000_000,
            output: 100_000,
            reasoning: 50_000,
            estimated: false,
        };
        assert_eq!(price(3.0, 15.0).cost(&usage), usd(3.0 + 0.6 + 15.0 + 1.5));
        assert_eq!(usage.prompt(), 7_000_000);
        let one = Usage { input: 1, ..Usage::default() };
        assert_eq!(price(0.000_1, 0.0).cost(&one), Usd::from_nanos(1), "rounded up, never lost");
    }

    #[test]
    fn the_upper_bound_takes_the_dearest_kind_of_prompt_token() {
        assert_eq!(price(3.0, 15.0).upper(1_000_000, 1_000_000), usd(3.75 + 15.0));
    }

    #[test]
    fn exact_names_win_then_longer_beginnings_and_what_is_unknown_is_not_free() {
        let book = PriceBook {
            as_of: "2026-01-01".into(),
            entries: vec![
                ("gpt-x*".into(), price(1.0, 1.0)),
                ("gpt-x-mini*".into(), price(2.0, 2.0)),
                ("gpt-x-mini".into(), price(3.0, 3.0)),
            ],
        };
        assert_eq!(book.price("gpt-x-large"), Some(price(1.0, 1.0)));
        assert_eq!(book.price("gpt-x-mini-2025"), Some(price(2.0, 2.0)));
        assert_eq!(book.price("gpt-x-mini"), Some(price(3.0, 3.0)));
        assert_eq!(book.price("other"), None);
        let own = PriceBook {
            as_of: "2026-02-02".into(),
            entries: vec![
                ("gpt-x-mini".into(), price(9.0, 9.0)),
                ("other".into(), price(0.0, 0.0)),
            ],
        };
        let both = book.overridden_by(own);
        assert_eq!(both.price("gpt-x-mini"), Some(price(9.0, 9.0)));
        assert_eq!(both.price("other"), Some(price(0.0, 0.0)), "free only where somebody says so");
        assert_eq!(both.as_of, "2026-02-02");
    }

    #[test]
    fn money_is_exact_and_printed_for_people() {
        assert_eq!((0..10).map(|_| usd(0.1)).sum::<Usd>(), usd(1.0));
        assert_eq!(usd(1.5).to_string(), "$1.50");
        assert_eq!(usd(0.000_123).to_string(), "$0.000123");
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Usd::from_dollars(bad), None);
        }
    }
}
