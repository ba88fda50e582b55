//! Measuring both sides of a comparison anew, in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use yamba_lang::Analysis;
use yamba_record::run::Plan;
use yamba_record::{Benchmark, Run, parameters};

use super::super::failure::{Failure, of_system};
use super::super::output;
use super::super::run::{listing, progress};
use super::super::sides::Sides;
use super::super::store_option::StoreOption;
use super::looking::Looking;
use super::side::{self, Side};
use crate::build::{self, host};
use crate::compare::again::{Anew, Basis, Policy, adopt, not_measured, policy};
use crate::compare::budget::{NO_TIME, Wish, slower_launch, within};
use crate::compare::identity::differences;
use crate::compare::turns::Thresholds;
use crate::compare::{Comparison, Entry, gate};
use crate::machine;
use crate::run::{self, At, Job, Options, Placement, Stop, UsageError};

/// A confirmation has so many times the launches of a run.
const MORE: u64 = 2;

/// Launches of a usual run: what had fewer is not confirmed by few.
const USUAL_LAUNCHES: u64 = 6;

/// The two stored runs, and which of their pairs are to be measured anew.
pub(super) struct Request<'a> {
    /// Whether sources that came with a document are compiled too.
    pub trusts_documents: bool,
    pub a: &'a Run,
    pub b: &'a Run,
    /// Name, parameters and processes, each side's own entry.
    pub pairs: Vec<(&'a Benchmark, &'a Benchmark)>,
    /// Runs that tell of noise.
    pub earlier: &'a [Run],
    /// Where what is measured is kept.
    pub store: &'a StoreOption,
    /// For a gate.
    pub gate: Option<Judged<'a>>,
    /// Whether a person asked for all of it: then a gate has the time for it.
    pub is_asked: bool,
}

/// What a gate asks.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    /// So much slower a benchmark may be.
    pub limit: f64,
    /// What that makes of each, with its noise.
    pub thresholds: &'a Thresholds,
    /// So long it is measured.
    pub time: Duration,
}

/// Measures what can be measured, keeps it, and takes its verdicts over into `found`.
pub(super) fn again(request: Request<'_>, found: &mut Comparison) -> Result<(), Failure> {
    let here = here();
    let with_a = match policy(&found.machine, &differences(request.b, &here)) {
        Policy::Both => None,
        Policy::OnlyB(reason) => Some(reason),
        Policy::Neither(reason) => {
            output::note(&format!("warning: nothing is measured anew: {reason}\n"));
            not_measured(found, &reason, &|e| request.is_meant(e));
            return Ok(());
        }
    };
    let request = request.with_sources(with_a.is_some(), found);
    let request = request.in_time(with_a.is_some(), found);
    if request.pairs.is_empty() {
        return Ok(());
    }
    warn_of(&request, &here, with_a.as_deref());
    let b = Side::rebuilt(request.b, request.a, request.pairs.iter().map(|(_, b)| *b))?;
    let a = match with_a {
        Some(_) => Side::default(),
        None => Side::rebuilt(request.a, request.b, request.pairs.iter().map(|(a, _)| *a))?,
    };
    warn_of_others(&request, &a, &b);
    let pairs = request.pairs.iter();
    let basis = pairs.map(|(of_a, of_b)| {
        let basis = basis(&a, &b, of_a, of_b, with_a.as_deref());
        (of_a.name.as_str(), basis)
    });
    let basis: BTreeMap<&str, Basis> = basis.collect();
    if basis.values().all(|b| matches!(b, Basis::Not(_))) {
        for (name, reason) in &basis {
            if let Basis::Not(reason) = reason {
                not_measured(found, reason, &|e| {
                    request.is_meant(e) && e.of.name == *name
                });
            }
        }
        return Ok(());
    }
    let (measured, mut looking) = measure(&request, &basis, [&a, &b], found, with_a.is_some())?;
    let fresh_a = with_a.is_none().then_some(&measured[0]);
    let fresh_b = &measured[measured.len() - 1];
    let anew = Anew {
        a: fresh_a,
        b: fresh_b,
        compared: looking.concluded(fresh_a.unwrap_or(request.a), fresh_b),
        looks: looking.planned(),
    };
    adopt(found, &anew, &|entry| {
        request
            .is_meant(entry)
            .then(|| basis.get(entry.of.name.as_str()).cloned())?
    });
    Ok(())
}

impl<'a> Request<'a> {
    fn is_meant(&self, entry: &Entry) -> bool {
        self.pairs.iter().any(|(of_a, _)| entry.is_of(of_a))
    }

    /// Those whose sources are there. Of the others it is said in `found` what they lack.
    fn with_sources(self, has_stored_a: bool, found: &mut Comparison) -> Request<'a> {
        let lacks = |(of_a, of_b): &(&Benchmark, &Benchmark)| {
            let lacks = |run, of| side::lacks(run, of, self.trusts_documents);
            let of_b = lacks(self.b, of_b).map(|reason| format!("B's program: {reason}"));
            let of_a = || lacks(self.a, of_a).map(|reason| format!("A's program: {reason}"));
            of_b.or_else(|| of_a().filter(|_| !has_stored_a))
        };
        let mut pairs = Vec::new();
        for pair in &self.pairs {
            match lacks(pair) {
                Some(reason) => not_measured(found, &reason, &|e| e.is_of(pair.0)),
                None => pairs.push(*pair),
            }
        }
        Request { pairs, ..self }
    }

    /// Those that a gate has the time to measure. Of the others it is said in `found` that it has not.
    fn in_time(self, has_stored_a: bool, found: &mut Comparison) -> Request<'a> {
        let Some(gate) = self.gate.filter(|_| !self.is_asked) else {
            return self;
        };
        let launches = first_launches(&self.a.plan, &self.b.plan);
        let planned = each_launch(&self.a.plan, &self.b.plan);
        let wish = |pair: &(&Benchmark, &Benchmark)| {
            let entry = found.benchmarks.iter().find(|e| e.is_of(pair.0));
            let launch = slower_launch(pair.0, pair.1, planned.as_secs_f64());
            let sides = if has_stored_a { 1.0 } else { 2.0 };
            Wish {
                slowdown: entry.and_then(gate::apparent).unwrap_or(0.0),
                seconds: launch * launches as f64 * sides,
            }
        };
        let wishes: Vec<Wish> = self.pairs.iter().map(wish).collect();
        let mut pairs = Vec::new();
        for (pair, fits) in self
            .pairs
            .iter()
            .zip(within(&wishes, gate.time.as_secs_f64()))
        {
            match fits {
                true => pairs.push(*pair),
                false => not_measured(found, NO_TIME, &|e| e.is_of(pair.0)),
            }
        }
        Request { pairs, ..self }
    }
}

/// What would measure now.
fn here() -> Run {
    let target = host();
    let mut here = Run::new(machine::probe(&target));
    here.producer.compiler = build::compiler_version(&Analysis::default(), &target);
    here
}

fn warn_of(request: &Request<'_>, here: &Run, only_b: Option<&str>) {
    if let Some(reason) = only_b {
        output::note(&format!(
            "warning: A cannot be measured anew ({reason}): B's programs are, against what is stored of A\n"
        ));
        return;
    }
    for difference in differences(request.b, here).should {
        output::note(&format!(
            "warning: both are measured anew where {}\n",
            difference.told("in A and B", "now")
        ));
    }
}

/// What is made from the same sources may be another program than then.
fn warn_of_others(request: &Request<'_>, a: &Side, b: &Side) {
    let is_other = |side: &Side, of: &Benchmark| {
        let made = side.program(&of.class);
        made.is_some() && made != of.about.program.as_ref()
    };
    let others = request.pairs.iter();
    let others = others.filter(|(of_a, of_b)| is_other(a, of_a) || is_other(b, of_b));
    let names: BTreeSet<&str> = others.map(|(of_a, _)| of_a.name.as_str()).collect();
    if !names.is_empty() {
        output::note(&format!(
            "warning: made anew by another compiler, another yamba or in another place than then, so that they are other programs: {}\n",
            names.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
}

fn basis(a: &Side, b: &Side, of_a: &Benchmark, of_b: &Benchmark, with_a: Option<&str>) -> Basis {
    if !b.jobs.contains_key(&of_b.class) {
        return Basis::Not(format!("B's program: {}", b.why_missing(&of_b.class)));
    }
    if let Some(reason) = with_a {
        return Basis::StoredA(reason.to_owned());
    }
    match a.jobs.contains_key(&of_a.class) {
        false => Basis::Not(format!("A's program: {}", a.why_missing(&of_a.class))),
        true if a.program(&of_a.class) == b.program(&of_b.class) => Basis::OneProgram,
        true => Basis::Interleaved,
    }
}

/// One run of both sides' programs, told apart: a's, if any of them is to be measured, and b's. And what was seen of them meanwhile.
fn measure<'a>(
    request: &'a Request<'a>,
    basis: &BTreeMap<&'a str, Basis>,
    [a, b]: [&Side; 2],
    found: &Comparison,
    has_stored_a: bool,
) -> Result<(Vec<Run>, Looking<'a>), Failure> {
    let is_possible = |of: &Benchmark| !matches!(basis.get(of.name.as_str()), Some(Basis::Not(_)));
    let possible: Vec<&Benchmark> = request
        .pairs
        .iter()
        .map(|(_, b)| *b)
        .filter(|b| is_possible(b))
        .collect();
    let classes: BTreeSet<&str> = possible.iter().map(|b| b.class.as_str()).collect();
    let of = |side: &Side| -> Vec<Job> {
        classes
            .iter()
            .filter_map(|c| side.jobs.get(*c).cloned())
            .collect()
    };
    let (of_a, of_b) = (of(a), of(b));
    let boundary = of_a.len();
    let jobs: Vec<Job> = of_a.into_iter().chain(of_b).collect();
    let mut options = options(&request.a.plan, &request.b.plan);
    for benchmark in possible {
        let point = options.points.entry(benchmark.class.clone()).or_default();
        point.push(At {
            set: settings(benchmark),
            processes: benchmark.processes,
        });
    }
    options.origin = b.origin.clone();
    let stop = Stop::on_signals().map_err(of_system)?;
    let mut bar = progress();
    let measurement = run::Measurement {
        jobs: &jobs,
        options: &options,
        target: &host(),
        progress: bar.as_mut(),
        stop: &stop,
        listing: &listing,
    };
    let mut sides = Sides::open(request.store, boundary, &a.origin.sources)?;
    let one_program = basis.iter().filter(|(_, b)| **b == Basis::OneProgram);
    let one_program = one_program.map(|(name, _)| *name).collect();
    let mut looking = Looking::begun(request, found, has_stored_a, one_program, boundary);
    let measured = match request.gate {
        Some(_) => measurement.extended(&mut sides, &mut |entries| looking.more(entries)),
        None => measurement.packed(&mut sides),
    };
    let run = measured.map_err(|UsageError(text)| Failure::whole(text))?;
    let (runs, kept) = sides.finish(run);
    if !kept.is_empty() {
        output::note(&format!(
            "what was measured anew is kept: {}\n",
            kept.join(", ")
        ));
    }
    Ok((runs, looking))
}

fn settings(benchmark: &Benchmark) -> Vec<(String, String)> {
    let each = benchmark.parameters.0.iter();
    each.map(|(name, value)| (name.clone(), parameters::plain(value)))
        .collect()
}

/// As many launches as each side has before anybody looks.
fn first_launches(a: &Plan, b: &Plan) -> u64 {
    MORE * USUAL_LAUNCHES.max(a.launches).max(b.launches)
}

/// As long as one of the longer plan.
pub(super) fn each_launch(a: &Plan, b: &Plan) -> Duration {
    let each = |plan: &Plan| plan.time_ns / plan.launches.max(1);
    Duration::from_nanos(each(a).max(each(b)))
}

/// Launches as long as those of the longer plan, and twice as many as a run has.
fn options(a: &Plan, b: &Plan) -> Options {
    let launches = first_launches(a, b);
    let time = each_launch(a, b);
    Options {
        // Of a short run also the intervals under load were short.
        quick: a.launches < USUAL_LAUNCHES && b.launches < USUAL_LAUNCHES,
        launches: Some(launches),
        time: time.saturating_mul(launches as u32),
        precision: a.precision.min(b.precision),
        realtime: a.realtime && b.realtime,
        placement: match (a.placement.as_str(), b.placement.as_str()) {
            ("free", "free") => Placement::Free,
            _ => Placement::Pinned,
        },
        ..Options::default()
    }
}
