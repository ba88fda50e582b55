//! Prometheus' text format, version 0.0.4, in its base units: seconds and bytes per second.

use std::borrow::Cow;
use std::io::{self, Write};

use yamba_record::Run;
use yamba_record::run::IntervalScope;

use super::figure::{self, FigureKind};
use super::series::{self, Labels};

/// A metric: name, help text and series.
struct Family {
    name: &'static str,
    help: Cow<'static, str>,
    series: Vec<(Labels, f64)>,
}

impl Family {
    fn new(name: &'static str, help: impl Into<Cow<'static, str>>) -> Family {
        Family { name, help: help.into(), series: Vec::new() }
    }

    /// Writes the finite values. Without any, writes nothing.
    fn write(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let series: Vec<_> = self.series.iter().filter(|(_, v)| v.is_finite()).collect();
        if series.is_empty() {
            return Ok(());
        }
        let name = self.name;
        writeln!(out, "# HELP {name} {}\n# TYPE {name} gauge", self.help)?;
        for (labels, value) in series {
            writeln!(out, "{name}{} {value}", braces(labels))?;
        }
        Ok(())
    }
}

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    for family in run_families(run).iter().chain(&entry_families(run)) {
        family.write(out)?;
    }
    Ok(written(run))
}

/// Number of entries with a figure. The format forbids series with the same labels.
fn written(run: &Run) -> usize {
    let all = series::distinct(run, braces);
    all.iter().filter(|(entry, _)| figure::good(entry).is_some()).count()
}

/// OpenMetrics, version 1.0: the same families, and an end.
/// <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>
pub(super) fn write_openmetrics(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let [info, started] = run_families(run);
    // The name of a metric of the type `info` has no suffix.
    if let Some((labels, _)) = info.series.first() {
        writeln!(out, "# TYPE yamba_run info\n# HELP yamba_run {}", info.help)?;
        writeln!(out, "yamba_run_info{} 1", braces(labels))?;
    }
    for family in [started].iter().chain(&entry_families(run)) {
        family.write(out)?;
    }
    writeln!(out, "# EOF")?;
    Ok(written(run))
}

fn run_families(run: &Run) -> [Family; 2] {
    let mut info = Family::new("yamba_run_info", "The run, and where it was measured.");
    let machine = &run.machine;
    let labels = [
        ("run", run.id.as_str()),
        ("version", &run.producer.version),
        ("isa", &machine.isa),
        ("system", &machine.system),
        ("kernel", &machine.kernel),
        ("cpu", machine.cpu.as_deref().unwrap_or_default()),
    ];
    info.series.push((labels.map(|(n, v)| (n.to_owned(), v.to_owned())).into(), 1.0));
    let mut started =
        Family::new("yamba_run_started_seconds", "When the run began, since 1970 (UTC).");
    started.series.extend(run.started_unix_s.map(|s| (Labels::new(), s)));
    [info, started]
}

#[rustfmt::skip]
fn entry_families(run: &Run) -> [Family; 8] {
    let mut valid = Family::new("yamba_valid", "Whether the evidence supports the figure. Skipped benchmarks have no sample.");
    let mut disturbed = Family::new("yamba_disturbed", "Whether disturbed batches had to count.");
    let mut figures = [
        Family::new("yamba_latency_seconds", "The median time of an operation."),
        Family::new("yamba_bandwidth_bytes_per_second", "The median bandwidth."),
        Family::new("yamba_value", "The median of what is neither, in its own unit."),
    ];
    // Files of several runs must agree in the text.
    let interval = format!("The interval of the figure: {}.", IntervalScope::ALL.map(IntervalScope::meaning).join("; or "));
    let mut intervals = [
        Family::new("yamba_latency_interval_seconds", interval.clone()),
        Family::new("yamba_bandwidth_interval_bytes_per_second", interval.clone()),
        Family::new("yamba_value_interval", interval),
    ];
    for (entry, labels) in series::distinct(run, braces) {
        let good = figure::good(entry);
        if !entry.status.is_skipped() {
            valid.series.push((labels.clone(), f64::from(u8::from(good.is_some()))));
        }
        let Some(figure) = good else { continue };
        disturbed.series.push((labels.clone(), f64::from(u8::from(entry.interference.is_disturbed))));
        let (place, size) = match figure::kind(entry) {
            FigureKind::Time(size) => (0, size),
            FigureKind::Bandwidth(size) => (1, size),
            FigureKind::Value => (2, 1.0),
        };
        figures[place].series.push((labels.clone(), figure * size));
        for (bound, end) in ["low", "high"].iter().zip(entry.known_ends()) {
            let Some(end) = end else { continue };
            let mut labels = labels.clone();
            labels.push(("bound".to_owned(), (*bound).to_owned()));
            intervals[place].series.push((labels, end * size));
        }
    }
    let ([a, b, c], [d, e, f]) = (figures, intervals);
    [valid, disturbed, a, d, b, e, c, f]
}

fn braces(labels: &Labels) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> =
        labels.iter().map(|(n, v)| format!("{n}=\"{}\"", escaped(v))).collect();
    format!("{{{}}}", pairs.join(","))
}

/// Escapes the three characters of the format, and replaces other control characters by spaces,
/// since they would act on a terminal.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace(char::is_control, " ")
}
