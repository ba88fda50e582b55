//! JSON of JMH, the Java Microbenchmark Harness (`-rf json`): <https://github.com/openjdk/jmh>.
//!
//! A fork of JMH is a launch: its figure is the median of its iterations. The interval is over the forks. Yamba's own benchmarks add a key `yamba` with
//! the primitives that a benchmark stands for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use yamba_record::machine::Java;
use yamba_record::program::Primitive;
use yamba_record::run::{IntervalScope, Launch};
use yamba_record::{Benchmark, Parameters, Run};
use yamba_stats::{launch_interval, median};

use super::foreign::{Figure, Number, Results};
use super::{DocumentFault, fault};

/// Name of the format in messages.
const KIND: &str = "JSON of JMH";

/// The confidence at which an interval covers other runs.
const CONFIDENCE: f64 = 0.95;

/// An entry of the list. The path of the virtual machine is not read, since it can name the machine's owner.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct JmhRow {
    jmh_version: String,
    benchmark: String,
    mode: String,
    threads: u64,
    #[serde(default)]
    jvm_args: Vec<String>,
    #[serde(default)]
    vm_name: String,
    #[serde(default)]
    vm_version: String,
    #[serde(default)]
    params: BTreeMap<String, String>,
    #[serde(default)]
    yamba: Option<Facts>,
    primary_metric: Metric,
    #[serde(default)]
    secondary_metrics: BTreeMap<String, Metric>,
}

/// The processor time of Java threads as a share of the time on the clock, which Yamba's benchmarks measure in each iteration.
const SHARE: &str = "processor_share";

/// The key that Yamba's benchmarks add.
#[derive(Deserialize, Serialize)]
struct Facts {
    primitives: Vec<String>,
    by: Option<String>,
    vendor: String,
    collector: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    score_unit: String,
    /// The values of each fork. JMH writes a text for a value that is no number.
    #[serde(default)]
    raw_data: Vec<Vec<Value>>,
}

impl Metric {
    /// The values of each fork. `None`: one is no number.
    fn values(&self) -> Option<Vec<Vec<f64>>> {
        let forks = self.raw_data.iter();
        forks
            .map(|fork| fork.iter().map(Value::as_f64).collect())
            .collect()
    }
}

/// Whether a text is a list whose entries have the keys of JMH.
pub(super) fn is_it(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('[') && start.contains("\"jmhVersion\"")
}

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let rows: Vec<JmhRow> = serde_json::from_str(text).map_err(|e| fault(&e, KIND))?;
    let own = serde_json::to_string(&rows).map_err(|e| fault(&e, KIND))?;
    let mut results = Results::new("jmh", name, own + "\n");
    if let Some(first) = rows.first() {
        results.producer = format!("JMH {}", first.jmh_version);
        results.machine.java = Some(first.java());
    }
    let mut taken = Vec::new();
    for row in &rows {
        match row.number() {
            Some((number, forks)) => {
                results.push(number)?;
                taken.push((row, forks));
            }
            None => results.leave_out(&row.benchmark, &row.primary_metric.score_unit),
        }
    }
    let mut run = results.run()?;
    for (entry, (row, forks)) in run.benchmarks.iter_mut().zip(taken) {
        row.complete(entry, &forks);
    }
    Ok(run)
}

impl JmhRow {
    fn java(&self) -> Java {
        let facts = self.yamba.as_ref();
        Java {
            vendor: facts.map_or(String::new(), |facts| facts.vendor.clone()),
            version: self.vm_version.clone(),
            vm: self.vm_name.clone(),
            collector: facts.map_or(String::new(), |facts| facts.collector.clone()),
            flags: Java::deciding(&self.jvm_args),
        }
    }

    /// The figure and the medians of the forks. `None`: JMH has no number, or only a histogram.
    fn number(&self) -> Option<(Number, Vec<f64>)> {
        let unit = self.primary_metric.score_unit.as_str();
        let (figure, unit) = match unit.strip_suffix("/op") {
            Some(unit @ ("ns" | "us" | "ms" | "s")) => (Figure::Latency, unit),
            _ => (Figure::Value, unit),
        };
        let mut values = self.primary_metric.values()?;
        let mut notes = vec![format!(
            "the median of the forks' medians, mode {}",
            self.mode
        )];
        if let Some(shares) = self.shares().filter(|_| figure == Figure::Latency) {
            let times = values.iter_mut().flatten().zip(shares.iter().flatten());
            times.for_each(|(time, share)| *time *= share.min(1.0));
            notes.push("processor time of Java threads, without waits".to_owned());
        }
        let medians: Vec<f64> = values.iter().filter_map(|fork| median(fork)).collect();
        let number = Number {
            name: self.benchmark.clone(),
            parameters: self.parameters(),
            figure,
            unit: unit.to_owned(),
            value: Ok(median(&medians)?),
            samples: values.concat(),
            notes,
        };
        Some((number, medians))
    }

    /// The share of processor time of each iteration, if the file has that of all.
    fn shares(&self) -> Option<Vec<Vec<f64>>> {
        let shares = self.secondary_metrics.get(SHARE)?.values()?;
        let lengths = |forks: &[Vec<Value>]| forks.iter().map(Vec::len).collect::<Vec<_>>();
        let own: Vec<usize> = shares.iter().map(Vec::len).collect();
        (own == lengths(&self.primary_metric.raw_data)).then_some(shares)
    }

    /// Values that are numbers become numbers.
    fn parameters(&self) -> Parameters {
        let value = |text: &String| match serde_json::from_str(text) {
            Ok(number @ Value::Number(_)) => number,
            _ => Value::from(text.as_str()),
        };
        let each = self.params.iter();
        Parameters(
            each.map(|(name, text)| (name.clone(), value(text)))
                .collect(),
        )
    }

    /// Adds the forks, their interval and the primitives to the entry.
    fn complete(&self, entry: &mut Benchmark, forks: &[f64]) {
        entry.threads = self.threads;
        entry.launches = forks.iter().map(|fork| launch(*fork)).collect();
        if let Some(interval) = launch_interval(forks, CONFIDENCE) {
            entry.confidence_interval = Some([interval.low, interval.high]);
            entry.interval_scope = Some(if interval.coverage >= CONFIDENCE {
                IntervalScope::BetweenLaunches
            } else {
                IntervalScope::WithinLaunches
            });
        }
        let facts = self.yamba.as_ref();
        entry.primitive = facts.and_then(Facts::primitive);
    }
}

fn launch(median: f64) -> Launch {
    Launch {
        median: Some(median),
        ..Launch::default()
    }
}

impl Facts {
    fn primitive(&self) -> Option<Primitive> {
        let (name, also) = self.primitives.split_first()?;
        Some(Primitive {
            name: name.clone(),
            also: also.to_vec(),
            by: self.by.clone(),
            contains: Vec::new(),
        })
    }
}
