//! Re-measures both sides of a comparison, interleaved.

mod inputs;
mod side;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use yamba_lang::Analysis;
use yamba_record::run::Plan;
use yamba_record::{Benchmark, Run, parameters};

use super::measure::measurement;
use super::sides::Sides;
use super::{Failure, Observer, StoreChoice, Warning};
use side::Side;
use yamba_compare::identity::differences;
use yamba_compare::pairing::in_order;
use yamba_compare::remeasure::{
    Basis, Fresh, Policy, USUAL_LAUNCHES, adopt, launches, not_remeasured, policy,
};
use yamba_compare::unit::{Unit, chosen};
use yamba_compare::{ComparedEntry, Comparison, comparison};
use yamba_harness::{At, Job, Options, Placement, Stop};
use yamba_machine as machine;
use yamba_toolchain::build::{self, host};

/// A request to re-measure pairs of entries of two stored runs.
pub struct Request<'a> {
    /// Whether to compile sources from an imported document, too.
    pub trusts_documents: bool,
    /// Run A, the denominator of ratios.
    pub a: &'a Run,
    /// Run B, which is compared with A.
    pub b: &'a Run,
    /// The pairs to re-measure: the entries of A and B with the same name, parameters, and numbers
    /// of processes and threads.
    pub pairs: Vec<(&'a Benchmark, &'a Benchmark)>,
    /// The command line or other origin of the request; the new runs record it.
    pub arguments: &'a [String],
}

/// The rebuilt programs of both sides, ready to be measured.
pub struct Prepared<'a> {
    request: Request<'a>,
    /// By benchmark name: the programs that are re-measured, or why none are.
    basis: BTreeMap<&'a str, Basis>,
    a: Side,
    b: Side,
    /// Whether only B is re-measured, and compared with the stored figures of A.
    only_b: bool,
}

/// Rebuilds the programs of both sides. Returns `None` if nothing can be re-measured; `found` then
/// holds the reason for each benchmark.
///
/// # Errors
/// If the files that come with Yamba cannot be read. A benchmark that cannot be rebuilt is not an
/// error.
pub fn prepare<'a>(
    request: Request<'a>,
    found: &mut Comparison,
    observer: &dyn Observer,
) -> Result<Option<Prepared<'a>>, Failure> {
    let here = here();
    let with_a = match policy(&found.machine, &differences(request.b, &here)) {
        Policy::Both => None,
        Policy::OnlyB(reason) => Some(reason),
        Policy::Neither(reason) => {
            observer.warning(&Warning::NothingRemeasured { reason: &reason });
            not_remeasured(found, &reason, &|e| request.is_meant(e));
            return Ok(None);
        }
    };
    let request = request.with_sources(with_a.is_some(), found);
    if request.pairs.is_empty() {
        return Ok(None);
    }
    warn_of(&request, &here, with_a.as_deref(), observer);
    let (a, b) = request.rebuilt(with_a.is_none(), observer)?;
    warn_of_others(&request, &a, &b, observer);
    let pairs = request.pairs.iter();
    let basis = pairs.map(|(of_a, of_b)| {
        let basis = basis(&a, &b, of_a, of_b, with_a.as_deref());
        (of_a.name.as_str(), basis)
    });
    let basis: BTreeMap<&str, Basis> = basis.collect();
    if basis.values().all(|b| matches!(b, Basis::Not(_))) {
        for (name, reason) in &basis {
            if let Basis::Not(reason) = reason {
                not_remeasured(found, reason, &|e| request.is_meant(e) && e.of.name == *name);
            }
        }
        return Ok(None);
    }
    Ok(Some(Prepared { request, basis, a, b, only_b: with_a.is_some() }))
}

impl Prepared<'_> {
    /// Measures both sides, interleaved, stores both runs, and copies their verdicts into `found`.
    /// Returns the ids of the stored runs.
    ///
    /// # Errors
    /// If the stored parameters are invalid.
    pub fn measure(
        &self,
        found: &mut Comparison,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Vec<String>, Failure> {
        let request = &self.request;
        let (measured, stored) = self.runs(stop, store, observer)?;
        let fresh_a = (!self.only_b).then_some(&measured[0]);
        let fresh_b = &measured[measured.len() - 1];
        let fresh = Fresh {
            a: fresh_a,
            b: fresh_b,
            compared: compared(request, found, fresh_a.unwrap_or(request.a), fresh_b),
        };
        adopt(found, &fresh, &|entry| {
            request.is_meant(entry).then(|| self.basis.get(entry.of.name.as_str()).cloned())?
        });
        Ok(stored)
    }

    /// Measures the programs of both sides in one run. Returns it as two documents, A (unless only
    /// B is re-measured) and B, and the ids of the stored ones.
    fn runs(
        &self,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<(Vec<Run>, Vec<String>), Failure> {
        let (request, a, b) = (&self.request, &self.a, &self.b);
        let is_possible =
            |of: &Benchmark| !matches!(self.basis.get(of.name.as_str()), Some(Basis::Not(_)));
        let pairs = request.pairs.iter().map(|(_, b)| *b);
        let possible: Vec<&Benchmark> = pairs.filter(|b| is_possible(b)).collect();
        let classes: BTreeSet<&str> =
            possible.iter().map(|b| b.declaration.class.as_str()).collect();
        let of = |side: &Side| -> Vec<Job> {
            let jobs = classes.iter().filter_map(|c| side.jobs.get(*c));
            jobs.cloned().collect()
        };
        let (of_a, of_b) = (of(a), of(b));
        let boundary = of_a.len();
        let jobs: Vec<Job> = of_a.into_iter().chain(of_b).collect();
        let mut options = options(&request.a.plan, &request.b.plan);
        for benchmark in possible {
            let point = options.points.entry(benchmark.declaration.class.clone()).or_default();
            point.push(At { set: settings(benchmark), workers: benchmark.workers() });
        }
        options.origin = b.origin.clone();
        let mut progress = observer.progress();
        let mut sides = Sides::open(store, boundary, &a.origin.sources, observer)?;
        let host = host();
        let measurement = measurement(&jobs, &options, &host, stop, progress.as_mut());
        let run = measurement.run_into(&mut sides)?;
        Ok(sides.finish(run))
    }
}

impl<'a> Request<'a> {
    fn is_meant(&self, entry: &ComparedEntry) -> bool {
        self.pairs.iter().any(|(of_a, _)| entry.is_of(of_a))
    }

    /// Keeps only the pairs whose sources are available. For the others, the reason goes to
    /// `found`.
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

    /// Rebuilds the programs of B, and those of A if `with_a`.
    fn rebuilt(&self, with_a: bool, observer: &dyn Observer) -> Result<(Side, Side), Failure> {
        let rebuilt = |side: &Run, other: &Run, of: Vec<&Benchmark>| {
            Side::rebuilt(side, other, &of, self.arguments, observer)
        };
        let b = rebuilt(self.b, self.a, self.pairs.iter().map(|(_, b)| *b).collect())?;
        let a = if with_a {
            rebuilt(self.a, self.b, self.pairs.iter().map(|(a, _)| *a).collect())?
        } else {
            Side::default()
        };
        Ok((a, b))
    }
}

/// An empty run that describes this machine and its compiler.
fn here() -> Run {
    let target = host();
    let mut here = Run::new(machine::probe(&target.isa, &target.system));
    here.producer.compiler = build::compiler_version(&Analysis::default(), &target);
    here
}

fn warn_of(request: &Request<'_>, here: &Run, only_b: Option<&str>, observer: &dyn Observer) {
    if let Some(reason) = only_b {
        observer.warning(&Warning::OnlyBRemeasured { reason });
        return;
    }
    for difference in &differences(request.b, here).state {
        observer.warning(&Warning::RemeasuredElsewhere(difference));
    }
}

/// Warns of programs that differ from the measured ones although they were built from the same
/// sources.
fn warn_of_others(request: &Request<'_>, a: &Side, b: &Side, observer: &dyn Observer) {
    let is_other = |side: &Side, of: &Benchmark| {
        let made = side.program(&of.declaration.class);
        made.is_some() && made != of.declaration.provenance.program.as_ref()
    };
    let others = request.pairs.iter();
    let others = others.filter(|(of_a, of_b)| is_other(a, of_a) || is_other(b, of_b));
    let names: BTreeSet<&str> = others.map(|(of_a, _)| of_a.name.as_str()).collect();
    if !names.is_empty() {
        let names: Vec<&str> = names.into_iter().collect();
        observer.warning(&Warning::OtherPrograms(&names));
    }
}

fn basis(a: &Side, b: &Side, of_a: &Benchmark, of_b: &Benchmark, with_a: Option<&str>) -> Basis {
    if !b.jobs.contains_key(&of_b.declaration.class) {
        return Basis::Not(format!("B's program: {}", b.why_missing(&of_b.declaration.class)));
    }
    if let Some(reason) = with_a {
        return Basis::StoredA(reason.to_owned());
    }
    if !a.jobs.contains_key(&of_a.declaration.class) {
        Basis::Not(format!("A's program: {}", a.why_missing(&of_a.declaration.class)))
    } else if a.program(&of_a.declaration.class) == b.program(&of_b.declaration.class) {
        Basis::OneProgram
    } else {
        Basis::Interleaved
    }
}

/// Compares the re-measured sides in the units of the original comparison. Choosing new units would
/// raise more false alarms.
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
    each.map(|(name, value)| (name.clone(), parameters::plain(value))).collect()
}

/// The time per launch of the plan with the longer launches.
fn each_launch(a: &Plan, b: &Plan) -> Duration {
    let each = |plan: &Plan| plan.time_ns / plan.launches.max(1);
    Duration::from_nanos(each(a).max(each(b)))
}

/// Options with launches as long as in the longer plan, and with more launches than either run.
fn options(a: &Plan, b: &Plan) -> Options {
    let launches = launches(a, b);
    let time = each_launch(a, b);
    Options {
        // The load batches of a quick run are shorter, so they must be short again.
        quick: a.launches < USUAL_LAUNCHES && b.launches < USUAL_LAUNCHES,
        launches: Some(launches),
        time: time.saturating_mul(launches as u32),
        precision: a.precision.min(b.precision),
        realtime: a.realtime && b.realtime,
        placement: match (a.placement.as_str(), b.placement.as_str()) {
            ("free", "free") => Placement::Free,
            _ => Placement::Automatic,
        },
        ..Options::default()
    }
}
