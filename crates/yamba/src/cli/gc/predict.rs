//! `yamba gc predict`

use std::path::PathBuf;

use clap::Args;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::{Costs, SCHEMA as COSTS};
use yamba_jvm::gc::demand::{Demand, SCHEMA as PROFILE};
use yamba_jvm::gc::predict::{MEASURE_AGAIN, Prediction, Predictions, SCHEMA, predict};
use yamba_jvm::run::{Jvm, LIMITS, Measured, measure};

use super::{CollectorOption, JdkOption, costs, document, needed, page, table};
use crate::cli::output::StatusLine;
use crate::cli::{Failure, output, quantity};

/// Heap sizes by default, as multiples of the largest live set.
const HEAP_FACTORS: [f64; 5] = [1.75, 2.5, 4.0, 6.0, 10.0];
const LEAST_HEAP_BYTES: u64 = 16 << 20;
const HEAP_STEP_BYTES: u64 = 8 << 20;

/// Predict collections, their processor time and pauses
///
/// Both the smallest and the largest size of the heap are that of `--heap`. Costs of a collector
/// that are missing are measured once.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc predict app.gc
  yamba gc predict app.gc --heap 128M --collector serial --collector g1 --json
  yamba gc predict app.gc --heap 256M --measure --runs 5
  yamba gc predict app.gc -o page.html
  yamba gc predict app.gc --costs other-machine.json     costs that `yamba gc characterise --json` printed")]
pub(super) struct Predict {
    /// The profile of an application, `yamba-gc-profile/1`
    #[arg(value_name = "FILE")]
    profile: PathBuf,
    /// Size of the heap: 128M, 2G; may be repeated [default: five sizes above the live set]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    heap: Vec<u64>,
    #[command(flatten)]
    collectors: CollectorOption,
    #[command(flatten)]
    jdk: JdkOption,
    /// Costs from a file, `yamba-gc-costs/1`, in place of those of this machine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["jdk", "measure"])]
    costs: Option<PathBuf>,
    /// Run the application with each collector and heap, and print the errors
    #[arg(long)]
    measure: bool,
    /// Runs of each measurement, whose medians count
    #[arg(long, value_name = "N", default_value = "3", requires = "measure")]
    runs: std::num::NonZero<usize>,
    /// Write a page of curves over the heap size to this file
    #[arg(short, long, value_name = "FILE.html", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

impl Predict {
    pub(super) fn run(self) -> Result<(), Failure> {
        output::check(self.output.as_deref())?;
        let demand: Demand = document::read(&self.profile, PROFILE)?;
        let (costs, jvm) = self.costs()?;
        let mut found = Predictions {
            schema: SCHEMA,
            application: demand.application.clone(),
            jvm: costs.jvm.clone(),
            mutator_ns: demand.mutator_ns,
            predictions: Vec::new(),
            missing: Vec::new(),
        };
        for collector in self.collectors.chosen() {
            self.predict(&demand, &costs, jvm.as_ref(), collector, &mut found);
        }
        match &self.output {
            Some(path) => output::page(&page::page(&found), path),
            None => output::json_or_text(self.json, &found, table::text),
        }
    }

    /// The costs, and the JDK that `--measure` uses.
    fn costs(&self) -> Result<(Costs, Option<Jvm>), Failure> {
        if let Some(path) = &self.costs {
            let found: Costs = document::read(path, COSTS)?;
            check_usable(&found, &self.collectors.chosen()).map_err(|e| {
                Failure::new(format!("{}: {e}", path.display())).help(MEASURE_AGAIN)
            })?;
            return Ok((found, None));
        }
        let jvm = self.jdk.find()?;
        let found = costs(&jvm, needed(&self.collectors.chosen()))?;
        Ok((found, Some(jvm)))
    }

    fn predict(
        &self,
        demand: &Demand,
        costs: &Costs,
        jvm: Option<&Jvm>,
        collector: Collector,
        to: &mut Predictions,
    ) {
        let name = collector.name();
        let Some(of) = costs.collectors.get(name) else {
            let reason = costs.skipped.get(name).map_or("the costs lack it", String::as_str);
            to.missing.push(format!("{name}: {reason}"));
            return;
        };
        for heap in self.heaps(demand) {
            let place = format!("{name} with {}", yamba_record::number::bytes(heap));
            match predict(demand, collector, of, costs.jvm_major(), heap) {
                Ok(mut prediction) => {
                    let measured = jvm
                        .filter(|_| self.measure)
                        .map(|jvm| self.measured(jvm, demand, collector, heap));
                    match measured {
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

    fn heaps(&self, demand: &Demand) -> Vec<u64> {
        if !self.heap.is_empty() {
            return self.heap.clone();
        }
        let live = demand.largest_live_bytes();
        let size = |factor: f64| {
            (live * factor) as u64 / HEAP_STEP_BYTES * HEAP_STEP_BYTES + HEAP_STEP_BYTES
        };
        let mut sizes = HEAP_FACTORS.map(|f| size(f).max(LEAST_HEAP_BYTES)).to_vec();
        sizes.dedup();
        sizes
    }

    fn measured(
        &self,
        jvm: &Jvm,
        demand: &Demand,
        collector: Collector,
        heap: u64,
    ) -> Result<Measured, String> {
        let _line =
            StatusLine::new(&format!("running {} with {}", demand.application, collector.name()));
        let runs =
            (0..self.runs.get()).map(|_| measure(jvm, &demand.command, collector, heap, LIMITS));
        let runs: Vec<Measured> = runs.collect::<Result<_, _>>()?;
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
