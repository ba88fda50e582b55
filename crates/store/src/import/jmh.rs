//! JSON of JMH, the Java Microbenchmark Harness (`-rf json`): <https://github.com/openjdk/jmh>.
//!
//! A fork of JMH is a launch: its figure is the median of its iterations. Yamba's own
//! benchmarks add a key `yamba` with the primitives that a benchmark stands for.
//!
//! The mode and the number of calls in a batch decide what a figure means, so any mode but the
//! average time, and any batch of several calls, is a parameter.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use yamba_record::machine::Java;
use yamba_record::program::Primitive;
use yamba_record::{Parameters, Run};
use yamba_stats::median;

use super::foreign::{Figure, Number, Results};
use super::{DocumentFault, fault, quoted};

/// Name of the format in messages.
const KIND: &str = "JSON of JMH";

/// An entry of the list. The path of the virtual machine is not read, since it can name the
/// machine's owner.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct JmhRow {
    /// Versions before 1.19 do not write it.
    #[serde(default)]
    jmh_version: String,
    benchmark: String,
    mode: String,
    threads: u64,
    #[serde(default)]
    forks: Option<u64>,
    #[serde(default)]
    measurement_iterations: Option<u64>,
    /// The number of calls in an operation. A score is the time, or the rate, of operations.
    #[serde(default)]
    measurement_batch_size: Option<u64>,
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

/// The processor time of Java threads as a share of the time on the clock, which Yamba's benchmarks
/// measure in each iteration.
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
    /// For the mode `sample`: the pairs of a value and its count, for each iteration of each fork.
    #[serde(default)]
    raw_data_histogram: Vec<Vec<Vec<Vec<Value>>>>,
}

impl Metric {
    /// The values of each fork. `None`: one is no number.
    fn values(&self) -> Option<Vec<Vec<f64>>> {
        let forks = self.raw_data.iter();
        forks.map(|fork| fork.iter().map(Value::as_f64).collect()).collect()
    }

    /// The mean of each iteration's samples. `None`: a value or a count is not a number.
    fn means(&self) -> Option<Vec<Vec<f64>>> {
        let forks = self.raw_data_histogram.iter();
        forks.map(|fork| fork.iter().map(|pairs| mean_of(pairs)).collect()).collect()
    }
}

/// The mean of values with counts. `None`: a pair has another form, or a value stands twice.
fn mean_of(pairs: &[Vec<Value>]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    let mut values = BTreeSet::new();
    for pair in pairs {
        let [value, times] = &pair[..] else {
            return None;
        };
        let value = value.as_f64().filter(|value| *value >= 0.0)?;
        let times = times.as_u64()?;
        if !values.insert(value.to_bits()) {
            return None;
        }
        sum += value * times as f64;
        count += times;
    }
    (count > 0).then(|| sum / count as f64)
}

/// Whether a text is a list whose entries have the keys of JMH.
pub(super) fn is_it(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('[') && start.contains("\"primaryMetric\"")
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
        results.producer = format!("JMH {}", first.jmh_version).trim_end().to_owned();
        results.machine.java = Some(first.java());
    }
    for row in &rows {
        if let Some(other) = row.other_machine(&rows[0]) {
            results.leave_out(&row.shown(), &other);
            continue;
        }
        match row.number() {
            Ok(number) => results.push(number)?,
            Err(reason) => results.leave_out(&row.shown(), &reason),
        }
        if let Some(missing) = row.missing_forks() {
            results.leave_out(&row.shown(), &missing);
        }
    }
    let names = rows.iter().flat_map(|row| row.secondary_metrics.keys());
    let names: BTreeSet<&str> = names.map(String::as_str).filter(|n| *n != SHARE).collect();
    if !names.is_empty() {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        results.leave_out("secondary metrics", &format!("only primary ones are read: {names}"));
    }
    results.run()
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

    /// The name for messages.
    fn shown(&self) -> String {
        let parameters: Vec<String> =
            self.params.iter().map(|(n, v)| format!(" {n}={v}")).collect();
        let batch = self.batch().map(|calls| format!(", batches of {calls}"));
        format!(
            "{}{}, mode {}{}",
            self.benchmark,
            parameters.concat(),
            self.mode,
            batch.unwrap_or_default()
        )
    }

    /// The figure with the medians of the forks as launches. The error has the reason why it cannot
    /// be computed.
    fn number(&self) -> Result<Number, String> {
        let mode = Mode::named(&self.mode)
            .ok_or_else(|| format!("the mode {} is not known", quoted(&self.mode)))?;
        if self.batch() == Some(0) {
            return Err("no call in its batches".to_owned());
        }
        let (figure, unit, scale) = mode.figure(&self.primary_metric.score_unit)?;
        let mut values = self.values(mode)?;
        let of = if values.len() > 1 { "the forks' medians" } else { "one fork" };
        let mut notes = vec![format!("the median of {of}, mode {}", self.mode)];
        notes.extend(mode.note().map(str::to_owned));
        notes.extend(self.note_on_batches(mode));
        if figure == Figure::Latency
            && let Some(shares) = self.shares()?
        {
            let times = values.iter_mut().flatten().zip(shares.iter().flatten());
            times.for_each(|(time, share)| *time *= share.min(1.0));
            notes.push("processor time of Java threads, without waits".to_owned());
        }
        values.iter_mut().flatten().for_each(|value| *value *= scale);
        notes.extend(self.missing_forks());
        let medians: Vec<f64> = values.iter().filter_map(|fork| median(fork)).collect();
        let value = median(&medians).ok_or("no value in it")?;
        let facts = self.yamba.as_ref();
        Ok(Number {
            parameters: self.parameters(mode),
            threads: self.threads,
            samples: values.concat(),
            launches: medians,
            primitive: facts.and_then(Facts::primitive),
            notes,
            ..Number::new(&self.benchmark, figure, &unit, Ok(value))
        })
    }

    /// The value of each iteration of each fork.
    fn values(&self, mode: Mode) -> Result<Vec<Vec<f64>>, String> {
        let metric = &self.primary_metric;
        let values = match mode {
            Mode::Sample if metric.raw_data_histogram.is_empty() => {
                return Err("no rawDataHistogram in it".to_owned());
            }
            Mode::Sample => metric
                .means()
                .ok_or("its histogram has a pair that is no value and count, or a value twice")?,
            _ if metric.raw_data.is_empty() => return Err("no rawData in it".to_owned()),
            _ => metric.values().ok_or("one of its values is no number")?,
        };
        // JMH counts no fork if the benchmarks run in its own virtual machine.
        let forks = self.forks.map(|forks| forks.max(1) as usize);
        if forks.is_some_and(|forks| values.len() > forks) {
            return Err(format!(
                "values of {} forks, and it says {}",
                values.len(),
                forks.unwrap_or(0)
            ));
        }
        let iterations = self.measurement_iterations.map(|n| n as usize);
        let odd = values.iter().find(|fork| iterations.is_some_and(|n| fork.len() != n));
        match odd {
            Some(fork) => {
                Err(format!("{} of {} iterations in a fork", fork.len(), iterations.unwrap_or(0)))
            }
            None => Ok(values),
        }
    }

    /// JMH goes on without a fork that failed.
    fn missing_forks(&self) -> Option<String> {
        let metric = &self.primary_metric;
        let present = metric.raw_data.len().max(metric.raw_data_histogram.len()) as u64;
        let forks = self.forks?;
        (present > 0 && present < forks).then(|| format!("values of {present} of {forks} forks"))
    }

    /// The share of processor time of each iteration. `None`: the file has none.
    fn shares(&self) -> Result<Option<Vec<Vec<f64>>>, String> {
        let Some(metric) = self.secondary_metrics.get(SHARE) else {
            return Ok(None);
        };
        let shares = metric.values().filter(|s| s.iter().flatten().all(|share| *share >= 0.0));
        let lengths = |forks: &[Vec<Value>]| forks.iter().map(Vec::len).collect::<Vec<_>>();
        let is_whole = lengths(&metric.raw_data) == lengths(&self.primary_metric.raw_data);
        match shares.filter(|_| is_whole) {
            Some(shares) => Ok(Some(shares)),
            None => Err(format!("its {SHARE} is not one of each iteration")),
        }
    }

    /// One run has one virtual machine with one setting: figures of others are not comparable with
    /// its own. Says how this one differs from that of the first row.
    fn other_machine(&self, first: &JmhRow) -> Option<String> {
        let differ = |what: &str, own: &str, other: &str| {
            let (own, other) = (quoted(own), quoted(other));
            format!("its {what} {own}, and that of the first benchmark is {other}")
        };
        let vm = |row: &JmhRow| format!("{} {}", row.vm_name, row.vm_version);
        let options = |row: &JmhRow| Java::deciding(&row.jvm_args).join(" ");
        if vm(self) != vm(first) {
            let what = "Java virtual machine is";
            return Some(differ(what, vm(self).trim(), vm(first).trim()));
        }
        (options(self) != options(first))
            .then(|| differ("list of options is", &options(self), &options(first)))
    }

    /// The number of calls in an operation, unless it is one.
    fn batch(&self) -> Option<u64> {
        self.measurement_batch_size.filter(|calls| *calls != 1)
    }

    fn note_on_batches(&self, mode: Mode) -> Option<String> {
        match (self.batch(), self.measurement_batch_size) {
            (Some(calls), _) => Some(format!("an operation is a batch of {calls} calls")),
            (None, None) if mode == Mode::SingleShot => {
                Some("the file does not say how many calls a batch has".to_owned())
            }
            _ => None,
        }
    }

    /// Values that are numbers become numbers. The mode and the size of a batch are parameters,
    /// under other names if the benchmark has parameters of theirs.
    fn parameters(&self, mode: Mode) -> Parameters {
        let value = |text: &String| match serde_json::from_str(text) {
            Ok(number @ Value::Number(_)) => number,
            _ => Value::from(text.as_str()),
        };
        let each = self.params.iter();
        let mut all: Vec<_> = each.map(|(name, text)| (name.clone(), value(text))).collect();
        let mode = (mode != Mode::AverageTime).then(|| ("mode", json!(self.mode)));
        let batch = self.batch().map(|calls| ("batch", json!(calls)));
        for (name, value) in mode.into_iter().chain(batch) {
            let is_taken = self.params.contains_key(name);
            let prefix = if is_taken { "jmh_" } else { "" };
            all.push((format!("{prefix}{name}"), value));
        }
        Parameters(all)
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

/// A mode of JMH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Operations in a unit of time.
    Throughput,
    /// The average time of an operation.
    AverageTime,
    /// The times of single operations, as a histogram.
    Sample,
    /// The time of one cold operation, or of one batch.
    SingleShot,
}

impl Mode {
    pub(super) fn named(name: &str) -> Option<Mode> {
        Some(match name {
            "thrpt" => Mode::Throughput,
            "avgt" => Mode::AverageTime,
            "sample" => Mode::Sample,
            "ss" => Mode::SingleShot,
            _ => return None,
        })
    }

    /// The kind and unit of a score in `unit`, and the factor to that unit. The error says why the
    /// unit does not belong to this mode.
    pub(super) fn figure(self, unit: &str) -> Result<(Figure, String, f64), String> {
        let other = || format!("its unit {unit:?} is none of this mode");
        if self == Mode::Throughput {
            let time = unit.strip_prefix("ops/").ok_or_else(other)?;
            return match time {
                "ns" | "us" | "ms" | "s" | "min" | "hr" | "day" => {
                    Ok((Figure::Rate, unit.to_owned(), 1.0))
                }
                _ => Err(other()),
            };
        }
        let (unit, seconds) = match unit.strip_suffix("/op").ok_or_else(other)? {
            unit @ ("ns" | "us" | "ms" | "s") => (unit, 1.0),
            "min" => ("s", 60.0),
            "hr" => ("s", 3600.0),
            "day" => ("s", 86_400.0),
            _ => return Err(other()),
        };
        Ok((Figure::Latency, unit.to_owned(), seconds))
    }

    /// A note on the value of an iteration.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Mode::Sample => Some("the value of an iteration is the mean of its samples"),
            _ => None,
        }
    }
}
