//! The format of Go's benchmarks (<https://go.dev/design/14313-benchmark-format>). Each launch is
//! one line, so that benchstat compares fresh processes with fresh processes.
//!
//! Only figures whose launches can be compared are benchmark lines. Others are comments, which
//! readers skip: a disturbed figure can only be compared by its interval, and the format has none.

use std::collections::BTreeSet;
use std::io::{self, Write};

use yamba_record::{Benchmark, Machine, Run, parameters};

use super::figure::{self, FigureKind};

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    // A comment rather than a key, because benchstat puts runs with different keys into different
    // tables.
    writeln!(out, "# run {}, {}", line(&run.id), line(&run.producer.version))?;
    header(&run.machine, out)?;
    for unit in bandwidths(run) {
        writeln!(out, "Unit {unit} better=higher")?;
    }
    let (mut written, mut known) = (0, BTreeSet::new());
    for entry in &run.benchmarks {
        let name = name(entry);
        // Readers would take lines of another entry with this name for more launches of the first.
        let again = || {
            let is_known = !known.insert((name.clone(), unit(entry)));
            is_known.then(|| "stands there already".to_owned())
        };
        match left_out(entry).or_else(again) {
            Some(reason) => writeln!(out, "# left out: {name}: {}", line(&reason))?,
            None => {
                launches(&name, entry, out)?;
                written += 1;
            }
        }
    }
    Ok(written)
}

fn header(machine: &Machine, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let isa = match machine.isa.as_str() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "i686" => "386",
        other => other,
    };
    writeln!(out, "goos: {}", line(&machine.system))?;
    writeln!(out, "goarch: {}", line(isa))?;
    writeln!(out, "pkg: yamba")?;
    match &machine.cpu {
        Some(cpu) => writeln!(out, "cpu: {}", line(cpu)),
        None => Ok(()),
    }
}

fn bandwidths(run: &Run) -> BTreeSet<String> {
    let is_bandwidth = |b: &&Benchmark| matches!(figure::kind(b), FigureKind::Bandwidth(_));
    run.benchmarks.iter().filter(is_bandwidth).map(unit).collect()
}

fn left_out(entry: &Benchmark) -> Option<String> {
    let has_samples = entry.launches.iter().any(|l| l.samples > 0 && l.median.is_some());
    if figure::good(entry).is_none() {
        Some(figure::reason(entry))
    } else if entry.interference.is_disturbed {
        Some("disturbed: this format has no interval".to_owned())
    } else if !has_samples {
        Some("none of its launches is known".to_owned())
    } else {
        None
    }
}

/// One line per launch. The iteration count is the number of samples behind the launch's median.
fn launches(name: &str, entry: &Benchmark, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let unit = unit(entry);
    for launch in entry.launches.iter().filter(|l| l.samples > 0) {
        if let Some(median) = launch.median.filter(|m| m.is_finite()) {
            writeln!(out, "{name} {} {median} {unit}", launch.samples)?;
        }
    }
    Ok(())
}

fn unit(entry: &Benchmark) -> String {
    let unit = entry.unit.as_deref().filter(|u| !u.is_empty());
    let unit = unit.unwrap_or("value").replace(|c: char| c.is_whitespace() || c.is_control(), "_");
    match figure::kind(entry) {
        FigureKind::Time(_) => format!("{unit}/op"),
        FigureKind::Bandwidth(_) | FigureKind::Value => unit,
    }
}

/// `BenchmarkLat_ctx/partners=2/placement=same-1`.
fn name(entry: &Benchmark) -> String {
    let mut letters = entry.name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase().to_string());
    let mut name =
        format!("Benchmark{}{}", escaped(&first.unwrap_or_default()), escaped(letters.as_str()));
    for (key, value) in &entry.parameters.0 {
        name.push_str(&format!("/{}={}", escaped(key), escaped(&parameters::plain(value))));
    }
    // The number at the end does not say whether processes or threads ran.
    if entry.environment.threads > 1 {
        name.push_str(&format!("/threads={}", entry.environment.threads));
    }
    format!("{name}-{}", entry.workers().count())
}

/// Percent-encodes characters that would end or divide a name, as in a URL.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || "_.,:+-".contains(c) {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

/// Replaces control characters, so that the text stays on one line.
fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
