//! Measures both sides in rounds, until each benchmark is decided.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use yamba_compare::pairing::in_order;
use yamba_compare::sequential::{FIRST_LOOK, Question, choice_at, is_decided, next_look};
use yamba_compare::{Comparison, comparison};
use yamba_harness::Stop;
use yamba_record::{Benchmark, Run};
use yamba_stats::median;
use yamba_store::import::LONGEST_NAME;

use super::adapter::{Adapter, Results};
use super::launcher::Launcher;
use super::program::Side;
use super::series::AllSeries;
use super::{Heads, Plan, Step};
use crate::Failure;
use crate::limits::limit_of;

const MOST_ROUNDS: u64 = 1000;

/// Bytes of the names by which benchmarks are selected at most.
const LONGEST_FILTER: usize = 100_000;

/// Launches of a side that may fail before measuring ends.
const MOST_FAILURES: u64 = 3;

/// A measurement of two sides.
pub(super) struct Rounds<'a> {
    sides: [&'a Side; 2],
    plan: &'a Plan,
    heads: Heads,
    stop: &'a Stop,
    launcher: Launcher<'a>,
    series: [AllSeries; 2],
    /// The benchmarks whose processor time is compared, chosen at each look.
    by_processor: BTreeSet<String>,
    /// The launches of each benchmark at the look before.
    before: BTreeMap<String, [usize; 2]>,
    /// The look at which each benchmark was decided, by key, and the present look.
    decided: BTreeMap<String, usize>,
    look: usize,
    /// The names of the benchmarks to measure. `None`: all.
    only: Option<Vec<String>>,
    failures: [Failures; 2],
    left_out: Vec<String>,
    not_compared: BTreeSet<String>,
    /// The share of each process's time that it was ready, and had no processor.
    waiting: Vec<f64>,
}

/// The launches of a side that failed.
#[derive(Default)]
struct Failures {
    count: u64,
    /// How the last one failed.
    last: String,
}

/// How a measurement ended.
pub(super) struct Ended {
    pub runs: [Run; 2],
    pub found: Comparison,
    /// The rounds in which a process of each side succeeded.
    pub rounds: u64,
    /// The failed processes of sides that were not given up.
    pub failures: Vec<String>,
    /// Why a side was given up before the end.
    pub given_up: Option<String>,
    pub left_out: Vec<String>,
    pub not_compared: BTreeSet<String>,
    /// As [`Outcome`](super::Outcome::waiting) has it.
    pub waiting: Option<f64>,
    /// As [`Outcome`](super::Outcome::by_processor) has it.
    pub by_processor: usize,
}

impl<'a> Rounds<'a> {
    pub fn new(
        sides: [&'a Side; 2],
        adapter: &'static dyn Adapter,
        plan: &'a Plan,
        heads: Heads,
        scratch: &'a Path,
        stop: &'a Stop,
    ) -> Rounds<'a> {
        Rounds {
            sides,
            plan,
            heads,
            stop,
            launcher: Launcher::new(adapter, &plan.launch, scratch, stop),
            series: Default::default(),
            by_processor: BTreeSet::new(),
            before: BTreeMap::new(),
            decided: BTreeMap::new(),
            look: 0,
            only: None,
            failures: Default::default(),
            left_out: Vec::new(),
            not_compared: BTreeSet::new(),
            waiting: Vec::new(),
        }
    }

    /// Measures. `step` hears of each round, and `keep` gets the runs at each look.
    ///
    /// # Errors
    /// If the first process of a side fails.
    pub fn measure(
        mut self,
        step: &mut dyn FnMut(&Step),
        keep: &mut dyn FnMut(&[Run; 2]) -> Result<(), Failure>,
    ) -> Result<Ended, Failure> {
        let begun = Instant::now();
        // A round with a failed process has no pair of figures: only complete rounds count.
        let (mut begun_rounds, mut rounds, mut next) = (0, 0, FIRST_LOOK);
        loop {
            let is_complete = self.round(begun_rounds)?;
            begun_rounds += 1;
            rounds += u64::from(is_complete);
            let spent = begun.elapsed();
            let given_up = self.given_up();
            let is_late = spent >= self.plan.time && rounds >= FIRST_LOOK;
            let is_over = is_late
                || begun_rounds >= MOST_ROUNDS
                || self.stop.requested()
                || given_up.is_some();
            let mut undecided = None;
            if begun_rounds == 1 && is_complete && !is_over {
                // A store that refuses the runs costs one round only.
                keep(&self.runs())?;
            }
            if rounds >= next || is_over {
                next = next_look(rounds);
                let (runs, found, names) = self.look();
                if rounds > 0 {
                    keep(&runs)?;
                }
                if is_over || names.is_empty() {
                    let all = found.benchmarks.iter();
                    let by_processor =
                        all.filter(|entry| self.by_processor.contains(&entry.place())).count();
                    return Ok(Ended {
                        runs,
                        found,
                        rounds,
                        failures: self.failures(begun_rounds),
                        given_up,
                        left_out: self.left_out,
                        not_compared: self.not_compared,
                        waiting: median(&self.waiting),
                        by_processor,
                    });
                }
                undecided = Some(names.len());
                // An argument of a program has at most 128 KiB on Linux.
                let length: usize = names.iter().map(|name| 2 * name.len() + 1).sum();
                // A name that was cut matches nothing.
                let are_whole = names.iter().all(|name| name.len() + 4 < LONGEST_NAME);
                self.only = Some(names).filter(|_| length <= LONGEST_FILTER && are_whole);
            }
            step(&Step { rounds, next, undecided, spent, time: self.plan.time });
        }
    }

    /// One process of each side, in random order. Returns whether both succeeded.
    fn round(&mut self, round: u64) -> Result<bool, Failure> {
        let mut order = [0, 1];
        self.launcher.random.shuffle(&mut order);
        let mut succeeded = 0;
        for side in order {
            if self.stop.requested() {
                return Ok(false);
            }
            match self.launcher.launch(self.sides[side], self.only.as_deref()) {
                Ok((results, ready)) => {
                    self.add(side, round, results, ready);
                    succeeded += 1;
                }
                Err(_) if self.stop.requested() => {}
                Err(why) if round == 0 => {
                    let name = self.sides[side].name;
                    return Err(Failure::new(format!("--{name}: {why}"))
                        .help("run the program by itself, and see what is wrong"));
                }
                Err(why) => {
                    self.failures[side].count += 1;
                    self.failures[side].last = why;
                }
            }
        }
        Ok(succeeded == order.len())
    }

    fn add(&mut self, side: usize, round: u64, results: Results, ready: Option<f64>) {
        self.waiting.extend(ready);
        self.not_compared.extend(results.not_compared);
        let decided = &self.decided;
        let is_wanted = |key: &str| !decided.contains_key(key);
        self.series[side].add(round, results.readings, ready, &is_wanted);
        let harness = self.heads.0[side].producer.harness.as_mut();
        if let Some(harness) = harness.filter(|harness| harness.version.is_empty()) {
            harness.version = results.version;
        }
        for text in results.left_out {
            if !self.left_out.contains(&text) {
                self.left_out.push(text);
            }
        }
    }

    /// Why a side is given up.
    fn given_up(&self) -> Option<String> {
        let sides = self.sides.iter().zip(&self.failures);
        let mut given_up = sides.filter(|(_, failures)| failures.count >= MOST_FAILURES);
        given_up.next().map(|(side, Failures { count, last })| {
            format!("--{}: {count} of its processes failed; the last: {last}", side.name)
        })
    }

    /// The failed processes of sides that are not given up, after this number of rounds.
    fn failures(&self, rounds: u64) -> Vec<String> {
        let sides = self.sides.iter().zip(&self.failures);
        let failed = sides.filter(|(_, failures)| (1..MOST_FAILURES).contains(&failures.count));
        let sentence = |(side, failures): (&&Side, &Failures)| {
            let Failures { count, last } = failures;
            format!("{count} of {rounds} processes of --{} failed; the last: {last}", side.name)
        };
        failed.map(sentence).collect()
    }

    /// The runs of both sides until now.
    fn runs(&self) -> [Run; 2] {
        [0, 1].map(|side| {
            let mut run = Run::from(self.heads.0[side].clone());
            let [own, other] = [side, 1 - side].map(|side| &self.series[side]);
            run.benchmarks = own.entries(other, &self.by_processor);
            run.interrupted = self.stop.requested();
            if let Some(harness) = run.producer.harness.as_mut() {
                let Failures { count, last } = &self.failures[side];
                harness.failed_processes = *count;
                harness.failure = (*count > 0).then(|| last.clone());
            }
            run
        })
    }

    /// Compares the launches. Returns also the names of the benchmarks that are still undecided.
    fn look(&mut self) -> ([Run; 2], Comparison, Vec<String>) {
        self.look += 1;
        // The launches of a decided benchmark do not change any more, nor does its choice.
        let [base, head] = &self.series;
        let plan = self.plan;
        self.by_processor = base.only_compute(head, &|name| plan.question(name).size());
        let runs = self.runs();
        let look = self.look;
        let choice = |a: &Benchmark, _: &Benchmark| {
            choice_at(self.decided.get(&in_order(a)).copied().unwrap_or(look))
        };
        let found = comparison(&runs[0], &runs[1], &choice);
        let mut undecided = Vec::new();
        for entry in &found.benchmarks {
            let question = self.plan.question(&entry.of.name);
            // Nothing changes any more without a ratio, as of a benchmark that fails, and without
            // new launches, as of one that its program leaves out.
            let before = self.before.insert(entry.place(), entry.launches);
            let is_left_out = before == Some(entry.launches);
            if is_left_out && !self.decided.contains_key(&entry.place()) {
                self.decided.insert(entry.place(), look - 1);
            } else if entry.ratio.is_none() || is_decided(entry, question) {
                self.decided.entry(entry.place()).or_insert(look);
            } else if !self.decided.contains_key(&entry.place()) {
                undecided.push(entry.of.name.clone());
            }
        }
        undecided.dedup();
        (runs, found, undecided)
    }
}

impl Plan {
    /// The question that a benchmark is measured to answer.
    pub(super) fn question(&self, name: &str) -> Question {
        let limit = limit_of(&self.limits, name);
        limit.map_or(Question::Resolution(self.resolution), Question::Limit)
    }
}
