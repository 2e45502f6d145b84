//! What the archive knows of the cost of earlier searches.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use evosafe_archive::{Archive, ResultKind, calls_folder};
use evosafe_llm::{LedgerEntry, Role, read_ledger};
use evosafe_search::RunRecord;
use evosafe_types::{Price, Usage, Usd};
use serde_json::Value;

use crate::commands::Context;
use crate::models;

/// Calls, what they add up to, and the conversations that they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    /// Conversations; an episode is one.
    pub conversations: u64,
    /// Their calls.
    pub calls: u64,
    /// Tokens of all of them.
    pub usage: Usage,
    /// What was or would be paid for them, where that is known call by call.
    pub paid: Option<Usd>,
}

impl Sum {
    /// One conversation, priced call by call: long prompts may have other rates.
    pub fn of(calls: &[Usage], price: Option<&Price>) -> Self {
        let mut sum = Self { conversations: 1, calls: calls.len() as u64, ..Self::default() };
        calls.iter().for_each(|call| sum.usage += *call);
        sum.paid = price.map(|price| calls.iter().map(|call| price.cost(call)).sum());
        sum
    }

    /// The mean conversation.
    pub fn mean(&self) -> Self {
        Self {
            conversations: 1,
            calls: (self.calls + self.conversations / 2) / self.conversations.max(1),
            usage: self.scaled(1),
            paid: None,
        }
    }

    /// Tokens of so many conversations like these.
    pub fn scaled(&self, conversations: u64) -> Usage {
        let of = |tokens: u64| scale(tokens, conversations, self.conversations);
        Usage {
            input: of(self.usage.input),
            cached_input: of(self.usage.cached_input),
            cache_creation: of(self.usage.cache_creation),
            output: of(self.usage.output),
            ..Usage::default()
        }
    }

    /// What they cost at a price; past ones as if all their calls were alike.
    pub fn usd(&self, price: Option<&Price>) -> Option<Usd> {
        if self.paid.is_some() {
            return self.paid;
        }
        let calls = self.calls.max(1);
        let call = Self { conversations: calls, ..*self }.scaled(1);
        Some(times(price?.cost(&call), calls, 1))
    }
}

fn scale(of: u64, times: u64, by: u64) -> u64 {
    let product = u128::from(of) * u128::from(times) / u128::from(by.max(1));
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// So many times an amount, over so many.
pub fn times(usd: Usd, times: u64, by: u64) -> Usd {
    Usd::from_nanos(scale(usd.nanos(), times, by))
}

/// What the archive has of earlier searches.
pub struct Past {
    archive: Option<Archive>,
    ledger: Option<PathBuf>,
}

impl Past {
    pub fn open(cx: &Context<'_>) -> Self {
        let ledger = calls_folder(&cx.archive).join(models::LEDGER);
        Self {
            archive: Archive::open_read(&cx.archive).ok(),
            ledger: ledger.exists().then_some(ledger),
        }
    }

    /// Episodes that H0 had with this model.
    pub fn undefended(&self, model: &str) -> Result<Option<Sum>> {
        let Some(archive) = &self.archive else { return Ok(None) };
        let mut sum = Sum::default();
        for (run, value) in archive.runs()? {
            let record = RunRecord::from_value(&run, value)?;
            if !record.identity.victim.contains(&format!(":{model}@")) {
                continue;
            }
            for task in &record.order {
                let key = record.identity.evidence_key(&record.h0, task, 0);
                if let Some(evidence) = archive.evidence(&key)?
                    && evidence.cost.tokens.total() > 0
                {
                    sum.conversations += 1;
                    sum.calls += u64::from(evidence.cost.victim_turns);
                    sum.usage += evidence.cost.tokens;
                }
            }
        }
        Ok((sum.conversations > 0).then_some(sum))
    }

    /// Conversations that this model had in a role.
    pub fn measured(&self, role: Role, model: &str) -> Result<Option<Sum>> {
        if role == Role::Designer {
            return self.attempts("llm", |record| {
                let designer = record.identity.outer.as_ref().and_then(|o| o.designer.as_ref());
                let identity = designer.and_then(|text| serde_json::from_str::<Value>(text).ok());
                identity.is_some_and(|identity| identity["model"] == model)
            });
        }
        let (mut sum, mut conversations) = (Sum::default(), BTreeSet::new());
        self.calls(|entry| {
            if entry.role == role && entry.model == model {
                sum.calls += 1;
                sum.usage += entry.usage;
                // A candidate is reviewed, audited and noted on in one conversation each.
                conversations.insert((entry.candidate, entry.component));
            }
        })?;
        sum.conversations = conversations.len() as u64;
        Ok((sum.calls > 0).then_some(sum))
    }

    /// Attempts of a Designer in the searches that `of` picks.
    pub fn attempts(&self, by: &str, of: impl Fn(&RunRecord) -> bool) -> Result<Option<Sum>> {
        let Some(archive) = &self.archive else { return Ok(None) };
        let mut runs = BTreeSet::new();
        for (run, value) in archive.runs()? {
            if of(&RunRecord::from_value(&run, value)?) {
                runs.insert(run);
            }
        }
        let (mut sum, mut paid) = (Sum::default(), Usd::ZERO);
        let mut unknown = runs.is_empty();
        for candidate in archive.candidates()? {
            for record in archive.results(&candidate)? {
                let here = record.run.as_ref().is_some_and(|run| runs.contains(run));
                if !here || record.kind != ResultKind::Attempt || record.body["by"] != by {
                    continue;
                }
                let cost = &record.body["cost"];
                sum.conversations += 1;
                sum.calls += cost["calls"].as_u64().unwrap_or_default();
                sum.usage +=
                    serde_json::from_value::<Usage>(cost["usage"].clone()).unwrap_or_default();
                match cost["nano_usd"].as_u64() {
                    Some(nanos) => paid += Usd::from_nanos(nanos),
                    None => unknown = true,
                }
            }
        }
        // A model is priced anew; a command has no other price than what it said.
        sum.paid = Some(paid).filter(|_| by == "command" && !unknown);
        Ok((sum.conversations > 0).then_some(sum))
    }

    /// Questions to the classifier, and how many come with so many calls of the victim if they
    /// are as frequent as so far. `None` if there were none.
    pub fn questions(
        &self,
        model: &str,
        victim_calls: [u64; 2],
    ) -> Result<Option<(Sum, [u64; 2])>> {
        let (mut sum, mut turns) = (Sum::default(), 0);
        self.calls(|entry| {
            if entry.model == model && entry.role == Role::Classify {
                sum.conversations += 1;
                sum.calls += 1;
                sum.usage += entry.usage;
            }
            turns += u64::from(entry.model == model && entry.role == Role::Victim);
        })?;
        let asked = victim_calls.map(|calls| scale(sum.calls, calls, turns));
        Ok((sum.calls > 0 && turns > 0).then_some((sum, asked)))
    }

    /// Every paid call of the ledger.
    fn calls(&self, mut visit: impl FnMut(LedgerEntry)) -> Result<()> {
        if let Some(ledger) = &self.ledger {
            read_ledger(ledger, |entry| {
                if !entry.cached {
                    visit(entry);
                }
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use evosafe_types::Rates;

    use super::*;

    fn price(long: Option<u64>) -> Price {
        let usd = |dollars| Usd::from_dollars(dollars).expect("an amount");
        let rates = |factor: f64| Rates {
            input: usd(factor),
            cached_input: usd(0.1 * factor),
            cache_creation: usd(1.25 * factor),
            output: usd(10.0 * factor),
        };
        Price { rates: rates(1.0), long: long.map(|above| (above, rates(2.0))) }
    }

    fn call(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn calls_are_priced_one_by_one() {
        let calls = [call(1_000, 100), call(3_000, 100)];
        let micro = |price: &Price| Sum::of(&calls, Some(price)).usd(None).map(Usd::nanos);
        // 4,000 tokens at a dollar for a million and 200 at ten; the longer call at twice that.
        assert_eq!(micro(&price(None)), Some(4_000_000 + 2_000_000));
        assert_eq!(micro(&price(Some(2_000))), Some(2_000_000 + 2 * 4_000_000));
        assert_eq!(Sum::of(&calls, None).usd(None), None, "no price, no cost");
    }

    #[test]
    fn means_are_those_of_a_conversation() {
        let usage = Usage { cached_input: 500, ..call(9_000, 300) };
        let seen = Sum { conversations: 3, calls: 6, usage, paid: None };
        assert_eq!(seen.scaled(1), Usage { cached_input: 166, ..call(3_000, 100) });
        assert_eq!(seen.scaled(30), Usage { cached_input: 5_000, ..call(90_000, 3_000) });
        assert_eq!((seen.mean().calls, seen.mean().conversations), (2, 1));
        // Six calls of 1,500 tokens are below the mark that their sum is far above.
        let cost = |price: Price| seen.usd(Some(&price)).expect("a price").nanos();
        assert_eq!(cost(price(Some(2_000))), cost(price(None)));
        let exact = 9_000_000 + 50_000 + 3_000_000;
        assert!(cost(price(None)).abs_diff(exact) < 10_000, "{}", cost(price(None)));
        assert_eq!(Sum::default().scaled(5), Usage::default(), "nothing was seen");
    }
}
