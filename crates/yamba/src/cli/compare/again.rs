//! Measuring both sides of a comparison anew, in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use yamba_lang::{Analysis, Severity};
use yamba_record::run::Plan;
use yamba_record::{Benchmark, Run, parameters};

use super::super::failure::Failure;
use super::super::output;
use super::super::run::{self as command, jobs, listing, origin, progress};
use super::super::sides::Sides;
use super::super::store_option::StoreOption;
use super::looking::Looking;
use crate::build::{self, host};
use crate::compare::again::{Anew, Basis, Policy, adopt, not_measured, policy};
use crate::compare::identity::differences;
use crate::compare::{Comparison, Entry};
use crate::embedded;
use crate::machine;
use crate::run::{self, At, Job, Options, Placement, Stop, UsageError};
use crate::stored::Stored;

/// What is compiled runs with all rights of whoever compares.
const STRANGE: &str = "its sources came with a document, which anybody may have written; --trust-sources compiles them";

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
    pub gate: Option<Judged>,
}

/// What a gate asks.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    /// So much slower a benchmark may be.
    pub limit: f64,
    /// So long it is measured.
    pub time: Duration,
}

/// Measures what can be measured, keeps it, and takes its verdicts over into `found`.
pub(super) fn again(request: &Request<'_>, found: &mut Comparison) -> Result<(), Failure> {
    let is_meant = |e: &Entry| request.pairs.iter().any(|(a, _)| e.is_of(a));
    let here = here();
    let with_a = match policy(&found.machine, &differences(request.b, &here)) {
        Policy::Both => None,
        Policy::OnlyB(reason) => Some(reason),
        Policy::Neither(reason) => {
            output::note(&format!("warning: nothing is measured anew: {reason}\n"));
            not_measured(found, &reason, &is_meant);
            return Ok(());
        }
    };
    warn_of(request, &here, with_a.as_deref());
    let b = Side::rebuilt(request, request.b, request.pairs.iter().map(|(_, b)| *b))?;
    let a = match with_a {
        Some(_) => Side::default(),
        None => Side::rebuilt(request, request.a, request.pairs.iter().map(|(a, _)| *a))?,
    };
    warn_of_others(request, &a, &b);
    let basis: BTreeMap<&str, Basis> = request
        .pairs
        .iter()
        .map(|(of_a, of_b)| {
            (
                of_a.name.as_str(),
                basis(&a, &b, of_a, of_b, with_a.as_deref()),
            )
        })
        .collect();
    if basis.values().all(|b| matches!(b, Basis::Not(_))) {
        for (name, reason) in &basis {
            if let Basis::Not(reason) = reason {
                not_measured(found, reason, &|e| is_meant(e) && e.name == *name);
            }
        }
        return Ok(());
    }
    let one_program = basis.iter().filter(|(_, b)| **b == Basis::OneProgram);
    let mut looking = Looking::new(
        request,
        found,
        with_a.is_some(),
        one_program.map(|(name, _)| *name).collect(),
    );
    let measured = measure(request, &basis, &a, &b, &mut looking)?;
    let fresh_a = with_a.is_none().then_some(&measured[0]);
    let fresh_b = &measured[measured.len() - 1];
    let anew = Anew {
        a: fresh_a,
        b: fresh_b,
        compared: looking.concluded(fresh_a.unwrap_or(request.a), fresh_b),
        looks: looking.planned(),
    };
    adopt(found, &anew, &|entry| {
        is_meant(entry).then(|| basis.get(entry.name.as_str()).cloned())?
    });
    Ok(())
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

/// The programs of one side, made from the sources that its run kept.
#[derive(Default)]
struct Side {
    jobs: BTreeMap<String, Job>,
    /// Why a class has none.
    missing: BTreeMap<String, String>,
    origin: run::Origin,
}

impl Side {
    fn rebuilt<'a>(
        request: &Request<'_>,
        run: &Run,
        of: impl Iterator<Item = &'a Benchmark>,
    ) -> Result<Side, Failure> {
        let mut side = Side::default();
        let mut classes: BTreeSet<&str> = BTreeSet::new();
        let is_strange = run.producer.from_document && !request.trusts_documents;
        let strange = is_strange.then(|| STRANGE.to_owned());
        for benchmark in of {
            match strange.clone().or_else(|| Stored::lacks(run, benchmark)) {
                Some(reason) => {
                    side.missing.insert(benchmark.class.clone(), reason);
                }
                None => {
                    classes.insert(&benchmark.class);
                }
            }
        }
        if classes.is_empty() {
            return Ok(side);
        }
        let stored = Stored::new(run, &classes, &embedded::home()?)?;
        let analysis = yamba_lang::analyse(stored.declaring(&classes), &stored);
        let mut diagnostics = analysis.diagnostics.iter();
        if let Some(fault) = diagnostics.find(|d| d.severity == Severity::Error) {
            let reason = format!(
                "its stored sources are understood no more: {}",
                fault.message
            );
            side.missing
                .extend(classes.iter().map(|c| ((*c).to_owned(), reason.clone())));
            return Ok(side);
        }
        let target = host();
        let ids: Vec<_> = classes
            .iter()
            .filter_map(|c| analysis.find_class(c))
            .collect();
        let asked = command::Run::asked(&run.producer.arguments);
        let options = asked.map(|asked| asked.build_options());
        let built = jobs(&analysis, &ids, &target, &options.unwrap_or_default())?;
        side.origin = origin(&analysis, &built, &target);
        for job in built {
            match &job.program {
                Ok(_) => {
                    side.jobs.insert(job.class.clone(), job);
                }
                Err(run::NoProgram::Absent(reason) | run::NoProgram::Unbuilt(reason)) => {
                    side.missing.insert(job.class.clone(), reason.clone());
                }
            }
        }
        Ok(side)
    }

    fn program(&self, class: &str) -> Option<&String> {
        self.jobs.get(class)?.about.program.as_ref()
    }

    fn why_missing(&self, class: &str) -> String {
        let reason = self.missing.get(class).cloned();
        reason.unwrap_or_else(|| "its class is not in the stored sources".to_owned())
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

/// One run of both sides' programs, told apart: a's, if any of them is to be measured, and b's.
fn measure(
    request: &Request<'_>,
    basis: &BTreeMap<&str, Basis>,
    a: &Side,
    b: &Side,
    looking: &mut Looking<'_>,
) -> Result<Vec<Run>, Failure> {
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
    let stop = Stop::on_signals()?;
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
    looking.begin(boundary);
    let measured = match request.gate {
        Some(_) => measurement.extended(&mut sides, &mut |entries| looking.more(entries)),
        None => measurement.packed(&mut sides),
    };
    let run = measured.map_err(|UsageError(text)| Failure::new(text))?;
    let (runs, kept) = sides.finish(run);
    if !kept.is_empty() {
        output::note(&format!(
            "what was measured anew is kept: {}\n",
            kept.join(", ")
        ));
    }
    Ok(runs)
}

fn settings(benchmark: &Benchmark) -> Vec<(String, String)> {
    let each = benchmark.parameters.0.iter();
    each.map(|(name, value)| (name.clone(), parameters::plain(value)))
        .collect()
}

/// As many launches as each side has before anybody looks.
pub(super) fn first_launches(a: &Plan, b: &Plan) -> u64 {
    MORE * USUAL_LAUNCHES.max(a.launches).max(b.launches)
}

/// Launches as long as those of the longer plan, and twice as many as a run has.
fn options(a: &Plan, b: &Plan) -> Options {
    let each = |plan: &Plan| plan.time_ns / plan.launches.max(1);
    let launches = first_launches(a, b);
    let time = Duration::from_nanos(each(a).max(each(b)));
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
