//! The loop (Algorithm 1 of the paper, design section 6).
//!
//! Resume has no code of its own: the loop is a deterministic function of its
//! configuration and of evidence, evidence is in the archive, so running it again walks
//! the same path and pays for nothing twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use evosafe_agent::{Agent, Victim};
use evosafe_archive::Archive;
use evosafe_env::Environment;
use evosafe_sandbox::Sandbox;
use evosafe_spec::{Mechanism, Plan, Split};
use evosafe_types::{Budget, Bundle, ContentHash, Event, Evidence, RunId, Spent, Stage, Task};
use tokio_util::sync::CancellationToken;

use crate::SearchError;
use crate::ablations::Ablations;
use crate::adaptive::{ADAPTIVE_VERSION, Adaptive};
use crate::cascade::{Cascade, Corpus};
use crate::clock::Stopwatch;
use crate::criticizer::Criticizer;
use crate::deploy::Deployments;
use crate::designer::{Designer, DesignerKind, Member, Proposal};
use crate::evaluator::{Evaluator, EvaluatorSetup, EventSink};
use crate::outer::{Outer, OuterModels};
use crate::rehearsal::Rehearsal;
use crate::run::{RUN_FORMAT, RunIdentity, RunRecord, SEARCH_VERSION, library_hash};
use crate::summary::SearchSummary;

/// Batches without a proposal after which a Designer is not paid any longer.
const BARREN: u32 = 3;

/// What a search is made of.
pub struct SearchConfig {
    /// The validated specification.
    pub plan: Plan,
    /// The environment, started with the train tasks only.
    pub environment: Arc<Environment>,
    /// Train tasks.
    pub tasks: Vec<Task>,
    /// The split.
    pub split: Split,
    /// The victim.
    pub victim: Arc<Victim>,
    /// How the victim was named.
    pub victim_locator: String,
    /// The archive.
    pub archive: Arc<Archive>,
    /// The harness runtime.
    pub sandbox: Sandbox,
    /// Seed bundles, H0 first.
    pub seeds: Vec<Bundle>,
    /// The mechanism library.
    pub library: Vec<Mechanism>,
    /// Run seed.
    pub seed: u64,
    /// The Designer.
    pub designer: DesignerKind,
    /// What is left out.
    pub ablations: Ablations,
    /// Live models that play roles of the search.
    pub outer: Option<OuterModels>,
    /// Episodes at a time.
    pub concurrency: usize,
    /// What may be spent.
    pub budget: Budget,
    /// Stops the search.
    pub cancel: CancellationToken,
    /// Receives events.
    pub sink: EventSink,
}

/// A search under way.
pub(crate) struct Search {
    pub(crate) config: SearchConfig,
    pub(crate) run: RunId,
    pub(crate) record: RunRecord,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) cascade: Cascade,
    pub(crate) members: Vec<Member>,
    pub(crate) h0_traces: Vec<Evidence>,
    pub(crate) rehearsal: Rehearsal,
    pub(crate) criticizer: Option<Criticizer>,
    pub(crate) outer: Option<Outer>,
    pub(crate) known: BTreeSet<ContentHash>,
    pub(crate) spent: Spent,
    pub(crate) watch: Stopwatch,
    pub(crate) rejected: u32,
    pub(crate) saved: u64,
    pub(crate) deployments: Deployments,
    pub(crate) adaptive: Adaptive,
}

/// Runs a search to its end.
///
/// # Errors
/// If the specification, the library or the archive is unusable, or the user interrupts.
/// Everything finished is in the archive either way.
pub async fn search(config: SearchConfig) -> Result<SearchSummary, SearchError> {
    let mut search = Search::start(config)?;
    let ended = search.go().await;
    // Whatever happened, what was paid for goes to git before anything else.
    search.config.archive.flush()?;
    ended
}

impl Search {
    fn start(mut config: SearchConfig) -> Result<Self, SearchError> {
        config.ablations.apply(&mut config);
        let h0 = match config.seeds.first() {
            Some(seed) if seed.is_no_defence() => seed.id(),
            _ => return Err(SearchError::Unusable("the first seed must be no defence".into())),
        };
        if config.victim.is_replay() && config.plan.search.rollouts > 1 {
            return Err(SearchError::Unusable(
                "a recorded task was run once: set search.rollouts to 1 for a replay victim".into(),
            ));
        }
        if config.victim.is_replay() && config.plan.search.adaptive_probes > 0 {
            return Err(SearchError::Unusable(
                "a recorded run has one wording: set search.adaptive_probes to 0 for a replay victim"
                    .into(),
            ));
        }
        let agent = Arc::new(Agent::new(
            Arc::clone(&config.environment),
            Arc::clone(&config.victim),
            config.plan.step_limit,
        ));
        let identity = RunIdentity {
            spec: config.plan.hash.clone(),
            environment: config.environment.id().clone(),
            victim: config.victim.id().to_owned(),
            split: config.split.hash.clone(),
            seed: config.seed,
            designer: config.designer,
            criticizer: !config.ablations.no_criticizer,
            warm_start: config.seeds.len() > 1,
            library: library_hash(&config.library, &config.seeds),
            runtime: Sandbox::version(),
            agent_loop: agent.loop_id(),
            search: SEARCH_VERSION,
            bare_spec: config.ablations.bare_spec,
            no_cascade: config.ablations.no_cascade,
            outer: config.outer.as_ref().and_then(OuterModels::identity),
            adaptive: (config.plan.search.adaptive_probes > 0).then_some(ADAPTIVE_VERSION),
        };
        let run = identity.id();
        let order = evosafe_spec::canonical_order(&config.tasks, config.plan.split.seed);
        evosafe_spec::check_prefixes(&config.plan.cascade, order.len())?;
        let record = RunRecord {
            format: RUN_FORMAT,
            name: config.plan.name.clone(),
            spec_toml: config.plan.spec_toml.clone(),
            spec_md: config.plan.spec_md.clone(),
            victim_locator: config.victim_locator.clone(),
            environment_version: config.environment.version().to_owned(),
            split: config.split.clone(),
            h0,
            order: order.clone(),
            candidates: Vec::new(),
            experiences: Vec::new(),
            designers: Vec::new(),
            rule_price: 0.0,
            escapes: std::collections::BTreeMap::new(),
            corpus: Vec::new(),
            best: None,
            ended: None,
            identity,
        };
        let evaluator = Evaluator::new(EvaluatorSetup {
            archive: Arc::clone(&config.archive),
            agent,
            tasks: config.tasks.clone(),
            environment: config.environment.id().clone(),
            victim: config.victim.id().to_owned(),
            rollouts: config.plan.search.rollouts,
            paid_by: run.clone(),
            concurrency: config.concurrency,
            cancel: config.cancel.clone(),
            sink: Arc::clone(&config.sink),
        });
        let cascade = Cascade {
            evaluator: Arc::clone(&evaluator),
            sandbox: config.sandbox.clone(),
            corpus: Arc::new(Corpus {
                order,
                plan: config.plan.cascade.clone(),
                whole: config.ablations.no_cascade,
                variants: Vec::new(),
            }),
            reference: Arc::new(Vec::new()),
        };
        Ok(Self {
            run,
            record,
            evaluator,
            cascade,
            members: Vec::new(),
            h0_traces: Vec::new(),
            rehearsal: Rehearsal::default(),
            criticizer: None,
            outer: None,
            known: BTreeSet::new(),
            spent: Spent::default(),
            watch: Stopwatch::start(),
            rejected: 0,
            saved: 0,
            deployments: Deployments::default(),
            adaptive: Adaptive::default(),
            config,
        })
    }

    async fn go(&mut self) -> Result<SearchSummary, SearchError> {
        let found = self.evidence_found()?;
        self.evaluator.emit(
            &Event::SearchStarted {
                run: self.run.clone(),
                spec: self.config.plan.name.clone(),
                victim: self.config.victim.id().to_owned(),
                seed: self.config.seed,
                episodes_found: found,
            },
            true,
        )?;
        self.save_record()?;
        self.reference().await?;
        let seeds: Vec<Bundle> = self.config.seeds[1..].to_vec();
        let reason = match self.batch(seeds.into_iter().map(|b| (b, None)).collect()).await {
            Ok(_) => self.evolve().await?,
            Err(SearchError::Budget(error)) => error.to_string(),
            Err(error) => return Err(error),
        };
        let best = match self.finalists().await {
            Ok(best) => best,
            Err(SearchError::Budget(_)) => self.champion(),
            Err(error) => return Err(error),
        };
        self.join_deployments().await?;
        self.finish(best, reason)
    }

    /// H0 on the whole wide prefix: the reference of everything.
    async fn reference(&mut self) -> Result<(), SearchError> {
        let h0 = self.config.seeds[0].clone();
        self.reserve(&h0, Stage::Wide)?;
        self.propose(&h0, "seed")?;
        let report = self.cascade.run(&h0).await?;
        let wide = self.cascade.wide(&h0).await?;
        self.cascade.reference = Arc::new(wide.clone());
        for task in self.cascade.corpus.prefix(Stage::Wide) {
            self.h0_traces.extend(self.evaluator.all_evidence(&h0.id(), task)?);
        }
        self.evaluator.remember(&self.h0_traces);
        self.record.rule_price = self.rule_price(&wide);
        self.commit(&h0, report).await?;
        self.widen(0, &wide, None)?;
        let (environment, seed) = (&self.config.environment, self.config.seed);
        let classifier = self.config.victim.free_classifier();
        let parts = (self.config.library.clone(), self.config.plan.limits.clone());
        self.rehearsal =
            Rehearsal::new(&self.h0_traces, environment, classifier.clone(), parts, seed);
        if !self.config.ablations.no_criticizer {
            let criticizer = Criticizer::new(&self.h0_traces, environment, seed);
            self.criticizer = Some(criticizer.with_classifier(classifier));
        }
        self.open_outer(&wide)?;
        self.take_note(0).await
    }

    async fn evolve(&mut self) -> Result<String, SearchError> {
        let mut designer = Designer::new(
            self.config.designer.drafting(),
            self.config.seed,
            self.config.library.clone(),
            self.config.victim.is_replay(),
            self.config.plan.limits.clone(),
        );
        let sandbox = &self.cascade.sandbox;
        let alone = self.rehearsal.palette(designer.to_study(), sandbox);
        designer.study(self.evaluator.unless_cancelled(alone).await?);
        let per_batch = u64::from(self.config.plan.search.batch.max(1));
        let (mut slot, mut idle, mut barren) = (0, 0, 0);
        loop {
            let (before, first) = (self.champion(), self.members.len());
            let (mut proposals, mut spent) = (Vec::new(), None);
            for index in slot..slot + per_batch {
                let next = match self.room_for(proposals.len()) {
                    Ok(()) => self.next_candidate(&mut designer, index).await,
                    Err(error) => Err(error),
                };
                match next {
                    Ok(Some(proposal)) => {
                        proposals.push((proposal.bundle.clone(), Some(proposal)));
                    }
                    Ok(None) => {}
                    Err(SearchError::Budget(error)) => {
                        // What was paid for is evaluated first.
                        spent = Some(error.to_string());
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            slot += per_batch;
            barren = if proposals.is_empty() { barren + 1 } else { 0 };
            let evaluated = match self.batch(proposals).await {
                Ok(evaluated) => evaluated,
                Err(SearchError::Budget(error)) => return Ok(error.to_string()),
                Err(error) => return Err(error),
            };
            for (proposal, improved) in &evaluated {
                designer.learn(proposal, *improved);
            }
            let learnt = match self.challenge().await {
                Ok(()) => self.learn_from(first).await,
                Err(error) => Err(error),
            };
            match learnt {
                Ok(()) => {}
                Err(SearchError::Budget(error)) => return Ok(error.to_string()),
                Err(error) => return Err(error),
            }
            if let Some(reason) = spent {
                return Ok(reason);
            }
            if self.config.designer.is_paid() && barren == BARREN {
                return Ok(format!("the Designer handed in nothing new in {BARREN} batches"));
            }
            idle = if self.champion() == before { idle + 1 } else { 0 };
            if let Some(patience) = self.config.plan.search.patience
                && idle >= patience
            {
                return Ok(format!("converged: {patience} batches without a better candidate"));
            }
        }
    }

    /// Evaluates bundles together and commits them in order. Returns, for those that
    /// came from a Designer, whether they beat their first parent.
    async fn batch(
        &mut self,
        bundles: Vec<(Bundle, Option<Proposal>)>,
    ) -> Result<Vec<(Proposal, bool)>, SearchError> {
        let mut refused = None;
        let mut running = Vec::new();
        for (bundle, proposal) in bundles {
            // Reserved in candidate order before anything runs, so that the cap cuts at
            // the same place whatever the concurrency.
            match self.reserve(&bundle, Stage::Search) {
                Ok(()) => {}
                Err(SearchError::Budget(error)) => {
                    refused = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
            let edit = if proposal.is_some() { bundle.manifest.edit.as_str() } else { "seed" };
            self.propose(&bundle, edit)?;
            let cascade = self.cascade.clone();
            let job = bundle.clone();
            running.push((bundle, proposal, tokio::spawn(async move { cascade.run(&job).await })));
        }
        let mut done = Vec::new();
        let mut failed = None;
        for (bundle, proposal, handle) in running {
            let result = handle.await.map_err(|e| SearchError::Internal(e.to_string()))?;
            match result {
                Ok(report) if failed.is_none() => done.push((bundle, proposal, report)),
                Ok(_) => {}
                // What the others found is worth as much as before.
                Err(SearchError::Budget(error)) => refused = refused.or(Some(error)),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let mut learnt = Vec::new();
        for (bundle, proposal, report) in done {
            self.settle(&report);
            self.commit(&bundle, report).await?;
            if let Some(proposal) = proposal {
                let improved = self.members.last().is_some_and(|member| member.improved);
                learnt.push((proposal, improved));
            }
        }
        self.config.archive.flush()?;
        match refused {
            Some(error) => Err(error.into()),
            None => Ok(learnt),
        }
    }
}
