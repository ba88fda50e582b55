//! Re-measuring both sides of a comparison, interleaved.

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
use super::side::{self, Side};
use crate::build::{self, host};
use crate::compare::identity::differences;
use crate::compare::pairing::in_order;
use crate::compare::remeasure::{
    Basis, Fresh, Policy, USUAL_LAUNCHES, adopt, launches, not_remeasured, policy,
};
use crate::compare::unit::{Unit, chosen};
use crate::compare::{Comparison, Entry, comparison};
use crate::machine;
use crate::run::{self, At, Job, Options, Placement, Stop, UsageError};

/// The two stored runs, and which of their pairs are to be re-measured.
pub(super) struct Request<'a> {
    /// Whether sources that came with a document are compiled too.
    pub trusts_documents: bool,
    pub a: &'a Run,
    pub b: &'a Run,
    /// Name, parameters and processes, each side's own entry.
    pub pairs: Vec<(&'a Benchmark, &'a Benchmark)>,
    /// Where the re-measured runs are kept.
    pub store: &'a StoreOption,
}

/// Re-measures what can be, keeps it, and takes its verdicts over into `found`.
pub(super) fn remeasure(request: Request<'_>, found: &mut Comparison) -> Result<(), Failure> {
    let here = here();
    let with_a = match policy(&found.machine, &differences(request.b, &here)) {
        Policy::Both => None,
        Policy::OnlyB(reason) => Some(reason),
        Policy::Neither(reason) => {
            output::note(&format!("warning: nothing is re-measured: {reason}\n"));
            not_remeasured(found, &reason, &|e| request.is_meant(e));
            return Ok(());
        }
    };
    let request = request.with_sources(with_a.is_some(), found);
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
                not_remeasured(found, reason, &|e| {
                    request.is_meant(e) && e.of.name == *name
                });
            }
        }
        return Ok(());
    }
    let measured = measure(&request, &basis, [&a, &b])?;
    let fresh_a = with_a.is_none().then_some(&measured[0]);
    let fresh_b = &measured[measured.len() - 1];
    let fresh = Fresh {
        a: fresh_a,
        b: fresh_b,
        compared: compared(&request, found, fresh_a.unwrap_or(request.a), fresh_b),
    };
    adopt(found, &fresh, &|entry| {
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
                Some(reason) => not_remeasured(found, &reason, &|e| e.is_of(pair.0)),
                None => pairs.push(*pair),
            }
        }
        Request { pairs, ..self }
    }
}

/// What would measure now.
fn here() -> Run {
    let target = host();
    let mut here = Run::new(machine::probe(&target.isa, &target.system));
    here.producer.compiler = build::compiler_version(&Analysis::default(), &target);
    here
}

fn warn_of(request: &Request<'_>, here: &Run, only_b: Option<&str>) {
    if let Some(reason) = only_b {
        output::note(&format!(
            "warning: A cannot be re-measured ({reason}): B's programs are, against the stored figures of A\n"
        ));
        return;
    }
    for difference in differences(request.b, here).should {
        output::note(&format!(
            "warning: both are re-measured where {}\n",
            difference.told("in A and B", "now")
        ));
    }
}

/// A program rebuilt from the same sources may differ from the measured one.
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
            "warning: rebuilt by another compiler, by another yamba or in another place, so that they are other programs: {}\n",
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

/// One run of both sides' programs, as two documents: that of a, if any of its programs is to be re-measured, and that of b.
fn measure(
    request: &Request<'_>,
    basis: &BTreeMap<&str, Basis>,
    [a, b]: [&Side; 2],
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
    let stop = Stop::on_signals().map_err(of_system)?;
    let mut bar = progress();
    let host = host();
    let measurement = run::Measurement {
        jobs: &jobs,
        options: &options,
        isa: &host.isa,
        system: &host.system,
        progress: bar.as_mut(),
        stop: &stop,
        listing: &listing,
    };
    let mut sides = Sides::open(request.store, boundary, &a.origin.sources)?;
    let run = measurement.packed(&mut sides);
    let run = run.map_err(|UsageError(text)| Failure::whole(text))?;
    let (runs, kept) = sides.finish(run);
    if !kept.is_empty() {
        output::note(&format!(
            "the re-measured runs are kept: {}\n",
            kept.join(", ")
        ));
    }
    Ok(runs)
}

/// Compares the re-measured sides in the units that the stored runs were compared in: launches that choose their own unit raise more false alarms.
fn compared(request: &Request<'_>, stored: &Comparison, a: &Run, b: &Run) -> Comparison {
    let unit_of = |(of, _): &(&Benchmark, &Benchmark)| {
        let entry = stored.benchmarks.iter().find(|e| e.is_of(of))?;
        Some((in_order(of), entry.compared_in()))
    };
    let units: BTreeMap<String, Unit> = request.pairs.iter().filter_map(unit_of).collect();
    comparison(a, b, &|x: &Benchmark, y: &Benchmark| {
        let before = units.get(&in_order(x)).copied();
        chosen(before.unwrap_or(Unit::Own), x, y)
    })
}

fn settings(benchmark: &Benchmark) -> Vec<(String, String)> {
    let each = benchmark.parameters.0.iter();
    each.map(|(name, value)| (name.clone(), parameters::plain(value)))
        .collect()
}

/// The time of one launch of the longer plan.
fn each_launch(a: &Plan, b: &Plan) -> Duration {
    let each = |plan: &Plan| plan.time_ns / plan.launches.max(1);
    Duration::from_nanos(each(a).max(each(b)))
}

/// Launches as long as those of the longer plan, and more of them than a run has.
fn options(a: &Plan, b: &Plan) -> Options {
    let launches = launches(a, b);
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
