//! What a search would cost: its victim, and the models that play roles of it.

use std::fmt::Write as _;

use evosafe_types::{Usage, Usd};
use serde::Serialize;

use crate::table::plain;

/// Episodes of a search: fewest and most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Episodes {
    /// No defence on the wide prefix.
    pub reference: u64,
    /// Stages 1 to 3 of the candidates.
    pub cascade: [u64; 2],
    /// Stage 4 of challengers and finalists.
    pub wide: [u64; 2],
}

impl Episodes {
    /// All together.
    #[must_use]
    pub fn total(&self) -> [u64; 2] {
        let sum = |i: usize| self.reference + self.cascade[i] + self.wide[i];
        [sum(0), sum(1)]
    }
}

/// Where the tokens of an episode are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The mean of episodes without a defence in the archive.
    Recorded {
        /// How many.
        episodes: u64,
    },
    /// 3 to 8 turns, 150 tokens a reply, 350 a result.
    Assumed {
        /// Tokens of tools, system prompt and instruction.
        prompt: u64,
    },
}

/// What a live victim's turns would cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VictimEstimate {
    /// The model.
    pub model: String,
    /// Episodes.
    pub episodes: Episodes,
    /// Where the tokens are from.
    pub source: TokenSource,
    /// Tokens of an episode, low and high. Assumed ones are read from a cache in the low figure
    /// only, and only where we ask for caching.
    pub tokens_an_episode: [Usage; 2],
    /// USD, low and high, in billionths; `None` without a price.
    pub usd: [Option<Usd>; 2],
}

/// Where the figures of a role are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleSource {
    /// Means of what the archive has of this role and model.
    Measured {
        /// Conversations (a classifier's are its calls).
        conversations: u64,
    },
    /// From the specification, the prompts and the limits of this program.
    Assumed,
}

/// What a role would cost that a model or a command plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleEstimate {
    /// The role.
    pub role: String,
    /// The model, or `command:PROGRAM`.
    pub model: String,
    /// Conversations, typical and most.
    pub conversations: [u64; 2],
    /// Tokens of all of them, typical and most; absent where only the command knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<[Usage; 2]>,
    /// USD of all of them, typical and most, in billionths; `None` where it is not known.
    pub usd: [Option<Usd>; 2],
    /// Where the figures are from.
    pub source: RoleSource,
    /// What they rest on, in words.
    pub basis: String,
}

/// What a search would cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EstimateReport {
    /// The specification.
    pub spec: String,
    /// Candidates, seeds included.
    pub candidates: u32,
    /// The victim; absent where it costs nothing.
    #[serde(flatten)]
    pub victim: Option<VictimEstimate>,
    /// The other roles that cost something.
    pub roles: Vec<RoleEstimate>,
    /// What is in no figure, and why.
    pub not_estimated: Vec<String>,
    /// Victim's low and roles' typical, victim's high and roles' most; `None` if a part of it is
    /// not known.
    pub together: [Option<Usd>; 2],
    /// Day of the prices; absent if none is known.
    pub prices_as_of: Option<String>,
}

impl EstimateReport {
    /// With its sums.
    #[must_use]
    pub fn summed(mut self) -> Self {
        let sum = |i: usize| -> Option<Usd> {
            let victim = self.victim.iter().map(|v| v.usd[i]);
            victim.chain(self.roles.iter().map(|r| r.usd[i])).sum()
        };
        self.together = [sum(0), sum(1)];
        self
    }
}

/// The estimate for people.
#[must_use]
pub fn estimate_text(report: &EstimateReport) -> String {
    let mut text = match &report.victim {
        Some(victim) => victim_text(report, victim),
        None => {
            format!("{}, {} candidates; the victim costs nothing\n", report.spec, report.candidates)
        }
    };
    if !report.roles.is_empty() {
        let rows = report.roles.iter().map(role_cells).collect();
        let header =
            ["role", "model", "conversations", "tokens in", "out", "USD typical", "USD most"];
        let _ = writeln!(text, "\n{}\n", plain(&header, &[1], rows));
        for role in &report.roles {
            let source = match &role.source {
                RoleSource::Measured { conversations } => {
                    format!("measured: means of {conversations} in this archive; ")
                }
                RoleSource::Assumed => "estimated: ".to_owned(),
            };
            let _ = writeln!(text, "{}: {source}{}", role.role, role.basis);
        }
        let _ = writeln!(
            text,
            "typical is a search in which every attempt comes to a candidate that nobody flags; most is \
             what limits allow for as many candidates. Attempts that come to nothing are in neither: \
             only --budget-usd is a bound.\n\nall together       {} to {}",
            usd(report.together[0]),
            usd(report.together[1])
        );
    }
    for what in &report.not_estimated {
        let _ = writeln!(text, "not estimated: {what}");
    }
    text.trim_end().to_owned()
}

fn victim_text(report: &EstimateReport, victim: &VictimEstimate) -> String {
    let Episodes { reference, cascade, wide } = &victim.episodes;
    let row = |what: &str, range: [u64; 2]| {
        vec![what.to_owned(), range[0].to_string(), range[1].to_string()]
    };
    let rows = vec![
        row("no defence", [*reference; 2]),
        row("candidates, stages 1 to 3", *cascade),
        row("challengers and finalists, stage 4", *wide),
        row("together", victim.episodes.total()),
    ];
    let mut text = format!(
        "{} with {}, {} candidates\n\n{}\n\n",
        report.spec,
        victim.model,
        report.candidates,
        plain(&["episodes", "fewest", "most"], &[], rows)
    );
    let from = match &victim.source {
        TokenSource::Recorded { episodes } => {
            format!("mean of {episodes} episodes without a defence in this archive")
        }
        TokenSource::Assumed { prompt } => format!(
            "assumed: a prompt of {prompt} tokens, 3 to 8 turns, 150 tokens a reply, 350 a result"
        ),
    };
    let [low, high] = &victim.tokens_an_episode;
    let _ = writeln!(
        text,
        "tokens an episode  {} to {} in, {} to {} out\n                   ({from})",
        low.prompt(),
        high.prompt(),
        low.output,
        high.output
    );
    let _ = match (victim.usd, &report.prices_as_of) {
        ([Some(low), Some(high)], Some(day)) => {
            writeln!(text, "USD                {low} to {high} (prices of {day})")
        }
        _ => writeln!(
            text,
            "USD                unknown: no price for this model; add one with --prices"
        ),
    };
    text
}

fn role_cells(role: &RoleEstimate) -> Vec<String> {
    let range = |of: [u64; 2]| match of[0] == of[1] {
        true => of[0].to_string(),
        false => format!("{} to {}", of[0], of[1]),
    };
    let tokens = |of: fn(&Usage) -> u64| match &role.tokens {
        Some(tokens) => range([of(&tokens[0]), of(&tokens[1])]),
        None => "-".to_owned(),
    };
    vec![
        role.role.clone(),
        role.model.clone(),
        range(role.conversations),
        tokens(Usage::prompt),
        tokens(|usage| usage.output),
        usd(role.usd[0]),
        usd(role.usd[1]),
    ]
}

fn usd(amount: Option<Usd>) -> String {
    amount.map_or_else(|| "unknown".to_owned(), |usd| usd.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> EstimateReport {
        EstimateReport {
            spec: "finance".to_owned(),
            candidates: 6,
            victim: Some(VictimEstimate {
                model: "m".to_owned(),
                episodes: Episodes { reference: 60, cascade: [60, 150], wide: [0, 90] },
                source: TokenSource::Assumed { prompt: 1000 },
                tokens_an_episode: [Usage::default(); 2],
                usd: [None, None],
            }),
            roles: Vec::new(),
            not_estimated: vec!["questions".to_owned()],
            together: [None, None],
            prices_as_of: None,
        }
    }

    fn role(usd: [Option<Usd>; 2], source: RoleSource) -> RoleEstimate {
        let tokens = |input| Usage { input, output: 10, ..Usage::default() };
        RoleEstimate {
            role: "designer".to_owned(),
            model: "writer".to_owned(),
            conversations: [5, 15],
            tokens: Some([tokens(100), tokens(900)]),
            usd,
            source,
            basis: "one attempt a candidate".to_owned(),
        }
    }

    #[test]
    fn an_estimate_without_a_price_says_so() {
        let mut report = report();
        let victim = report.victim.as_mut().expect("there is one");
        assert_eq!(victim.episodes.total(), [120, 300]);
        victim.usd = [Usd::from_dollars(1.0), Usd::from_dollars(2.5)];
        let (mut priced, mut unpriced) = (report.clone(), report);
        priced.prices_as_of = Some("2026-11-30".to_owned());
        let text = estimate_text(&priced.summed());
        assert!(text.contains("$1.00 to $2.50 (prices of 2026-11-30)"), "{text}");
        assert!(text.contains("not estimated: questions"), "{text}");
        unpriced.victim.as_mut().expect("there is one").usd = [None, None];
        assert!(estimate_text(&unpriced.summed()).contains("no price for this model"));
    }

    #[test]
    fn roles_are_added_up_and_say_where_they_are_from() {
        let dollars = |low: f64, high: f64| [Usd::from_dollars(low), Usd::from_dollars(high)];
        let mut report = report();
        report.victim.as_mut().expect("there is one").usd = dollars(1.0, 2.5);
        let measured = RoleSource::Measured { conversations: 7 };
        report.roles = vec![role(dollars(3.0, 40.0), RoleSource::Assumed)];
        report.roles.push(role(dollars(0.5, 0.5), measured));
        let report = report.summed();
        assert_eq!(report.together, dollars(4.5, 43.0));
        let text = estimate_text(&report);
        for part in [
            "5 to 15",
            "100 to 900",
            "designer: estimated: one attempt a candidate",
            "designer: measured: means of 7 in this archive",
            "all together       $4.50 to $43.00",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let mut dark = report;
        dark.roles[1].usd = [Usd::from_dollars(0.5), None];
        let dark = EstimateReport { victim: None, ..dark }.summed();
        assert_eq!(dark.together, [Usd::from_dollars(3.5), None]);
        let text = estimate_text(&dark);
        assert!(text.starts_with("finance, 6 candidates; the victim costs nothing"), "{text}");
        assert!(text.contains("all together       $3.50 to unknown"), "{text}");
    }
}
