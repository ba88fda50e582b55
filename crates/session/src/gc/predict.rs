//! Predicts collections, their processor time and pauses from a profile and costs.

use std::path::PathBuf;

use yamba_harness::Stop;
use yamba_jvm::INTERRUPTED;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::{Costs, SCHEMA as COSTS};
use yamba_jvm::gc::demand::{Demand, SCHEMA as PROFILE};
use yamba_jvm::gc::predict::{self, MEASURE_AGAIN, Prediction, Predictions, SCHEMA};
use yamba_jvm::run::{Jvm, LIMITS, Measured, measure};
use yamba_record::number::bytes;

use super::{Event, Observer, costs, document, failed, input, jvm, needed};
use crate::Failure;

/// Heap sizes by default, as multiples of the largest live set.
const HEAP_FACTORS: [f64; 5] = [1.75, 2.5, 4.0, 6.0, 10.0];
const LEAST_HEAP_BYTES: u64 = 16 << 20;
const HEAP_STEP_BYTES: u64 = 8 << 20;

/// A request for predictions.
#[derive(Clone, Debug)]
pub struct PredictRequest {
    /// The file of the profile, `yamba-gc-profile/1`.
    pub profile: PathBuf,
    /// Sizes of the heap in bytes; if empty, up to five sizes above the live set.
    pub heaps: Vec<u64>,
    pub collectors: Vec<Collector>,
    /// The folder of the JDK; by default JAVA_HOME, or that of `java` on the PATH.
    pub jdk: Option<PathBuf>,
    /// A file of costs, `yamba-gc-costs/1`, in place of those of this machine.
    pub costs: Option<PathBuf>,
    /// How often the application runs with each collector and heap, to measure the errors; 0: not.
    pub measured_runs: usize,
}

/// Predicts each collector with each heap. `missing` has the reasons of missing predictions.
///
/// # Errors
/// If a document cannot be read, the costs serve for no collector, there is no JDK, or nothing was
/// predicted.
pub fn predict(
    request: &PredictRequest,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Predictions, Failure> {
    let demand: Demand = document::read(&request.profile, PROFILE)?;
    demand.check().map_err(|e| {
        Failure::new(format!("{}: {e}", request.profile.display())).help("take the profile again")
    })?;
    let (costs, jvm) = request.costs(stop, observer)?;
    let mut found = Predictions {
        schema: SCHEMA,
        application: demand.application.clone(),
        jvm: costs.jvm.clone(),
        mutator_ns: demand.mutator_ns,
        predictions: Vec::new(),
        missing: Vec::new(),
    };
    let jvm = match jvm.filter(|_| request.measured_runs > 0) {
        Some(jvm) => Some(jvm.reading(input()?)),
        None => None,
    };
    let with = With { request, demand: &demand, costs: &costs, jvm: jvm.as_ref(), observer };
    for collector in &request.collectors {
        with.predict(*collector, &mut found);
    }
    if stop.requested() {
        return Err(failed(INTERRUPTED.to_owned(), ""));
    }
    if found.predictions.is_empty() {
        let message = format!("nothing was predicted: {}", found.missing.join("; "));
        return Err(Failure::new(message).help("name another --heap or --collector"));
    }
    Ok(found)
}

impl PredictRequest {
    /// The costs, and the JDK that runs the application.
    fn costs(&self, stop: &Stop, observer: &dyn Observer) -> Result<(Costs, Option<Jvm>), Failure> {
        if let Some(path) = &self.costs {
            let found: Costs = document::read(path, COSTS)?;
            check_usable(&found, &self.collectors).map_err(|e| {
                Failure::new(format!("{}: {e}", path.display())).help(MEASURE_AGAIN)
            })?;
            return Ok((found, None));
        }
        let jvm = jvm(self.jdk.as_deref(), stop)?;
        let found = costs(&jvm, needed(&self.collectors), observer)?;
        Ok((found, Some(jvm)))
    }

    fn heaps(&self, demand: &Demand) -> Vec<u64> {
        if !self.heaps.is_empty() {
            return self.heaps.clone();
        }
        let live = demand.largest_live_bytes();
        let size = |factor: f64| {
            (live * factor) as u64 / HEAP_STEP_BYTES * HEAP_STEP_BYTES + HEAP_STEP_BYTES
        };
        let mut sizes = HEAP_FACTORS.map(|f| size(f).max(LEAST_HEAP_BYTES)).to_vec();
        sizes.dedup();
        sizes
    }
}

/// The inputs that the predictions of all collectors share.
struct With<'a> {
    request: &'a PredictRequest,
    demand: &'a Demand,
    costs: &'a Costs,
    /// The JDK with which the application is measured, too.
    jvm: Option<&'a Jvm>,
    observer: &'a dyn Observer,
}

impl With<'_> {
    fn predict(&self, collector: Collector, to: &mut Predictions) {
        let name = collector.name();
        let Some(costs) = self.costs.collectors.get(name) else {
            let reason = self.costs.skipped.get(name).map_or("the costs lack it", String::as_str);
            to.missing.push(format!("{name}: {reason}"));
            return;
        };
        for heap in self.request.heaps(self.demand) {
            let place = format!("{name} with {}", bytes(heap));
            let major = self.costs.jvm_major();
            match predict::predict(self.demand, collector, costs, major, heap) {
                Ok(mut prediction) => {
                    match self.jvm.map(|jvm| self.measured(jvm, collector, heap)) {
                        Some(Ok(measured)) => add(&mut prediction, &measured),
                        Some(Err(reason)) => {
                            to.missing.push(format!("{place}: not measured: {reason}"))
                        }
                        None => {}
                    }
                    to.predictions.push(prediction);
                }
                Err(reason) => to.missing.push(format!("{place}: {reason}")),
            }
        }
    }

    fn measured(&self, jvm: &Jvm, collector: Collector, heap: u64) -> Result<Measured, String> {
        let application = &self.demand.application;
        self.observer.event(Event::Measuring { application, collector });
        let runs = (0..self.request.measured_runs)
            .map(|_| measure(jvm, &self.demand.command, collector, heap, LIMITS))
            .collect::<Result<Vec<Measured>, _>>();
        self.observer.event(Event::RunsEnded);
        let runs = runs?;
        let middle = |value: fn(&Measured) -> f64| {
            let values: Vec<f64> = runs.iter().map(value).collect();
            yamba_stats::median(&values).unwrap_or(0.0)
        };
        Ok(Measured {
            collections: middle(|m| m.collections),
            concurrent_cycles: middle(|m| m.concurrent_cycles),
            gc_cpu_ns: middle(|m| m.gc_cpu_ns),
            pause_total_ns: middle(|m| m.pause_total_ns),
            pause_longest_ns: middle(|m| m.pause_longest_ns),
        })
    }
}

/// Fails if a file has costs of chosen collectors, and all of them lack something.
fn check_usable(costs: &Costs, chosen: &[Collector]) -> Result<(), String> {
    let of = |c: &Collector| Some((*c, costs.collectors.get(c.name())?));
    let present = chosen.iter().filter_map(of);
    let lacking: Option<Vec<String>> = present
        .map(|(c, of)| Some(format!("{}: {}", c.name(), of.lacking(c, costs.jvm_major())?)))
        .collect();
    match lacking {
        Some(reasons) if !reasons.is_empty() => Err(reasons.join("; ")),
        _ => Ok(()),
    }
}

fn add(to: &mut Prediction, measured: &Measured) {
    to.collections.measured = Some(measured.collections);
    to.concurrent_cycles.measured = Some(measured.concurrent_cycles);
    to.gc_cpu_ns.measured = Some(measured.gc_cpu_ns);
    to.pause_total_ns.measured = Some(measured.pause_total_ns);
    to.pause_longest_ns.measured = Some(measured.pause_longest_ns);
}
