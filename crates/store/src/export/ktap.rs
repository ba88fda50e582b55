//! KTAP, the format of the kernel's test results: <https://docs.kernel.org/dev-tools/ktap.html>. A
//! benchmark passes if its figure is valid. The figure is a diagnostic line before it.

use std::io::{self, Write};

use yamba_record::{Benchmark, Run};

use super::figure;

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    writeln!(out, "KTAP version 1\n1..{}", run.benchmarks.len())?;
    for (index, entry) in run.benchmarks.iter().enumerate() {
        let (number, label) = (index + 1, line(&figure::label(entry)));
        match figure::good(entry) {
            Some(figure) => {
                writeln!(out, "# {label}: {}\nok {number} {label}", shown(entry, figure))?;
            }
            None if entry.status.is_skipped() => {
                writeln!(out, "ok {number} {label} # SKIP {}", line(&figure::reason(entry)))?;
            }
            None => {
                writeln!(out, "# {label}: {}", line(&figure::reason(entry)))?;
                writeln!(out, "not ok {number} {label}")?;
            }
        }
    }
    Ok(run.benchmarks.len())
}

fn shown(entry: &Benchmark, figure: f64) -> String {
    let unit = line(entry.unit.as_deref().unwrap_or_default());
    let ends = figure::interval(entry).map_or_else(String::new, |[l, h]| format!(" [{l}, {h}]"));
    let mark = if entry.interference.is_disturbed { " disturbed" } else { "" };
    format!("{figure} {unit}{ends}{mark}")
}

/// The text on one line, without the character that begins a directive.
fn line(text: &str) -> String {
    text.replace(|c: char| c.is_control() || c == '#', " ")
}
