//! `yamba trace`

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use yamba_trace::{Request, Trace, strace};

use super::{Failure, output};

/// How often does an application use each primitive?
///
/// Reads the output of `strace -f` and writes an application vector for `yamba predict`. strace shows no page faults and no time in the kernel, so the vector has neither.
#[derive(Args)]
#[command(after_help = "\
Examples:
  strace -f -yy -o server.strace ./server      records the system calls of a program
  yamba trace --from server.strace -o server.vector
  yamba trace --from server.strace --units 1000 --unit request -o server.vector   per request
  yamba predict server.vector

With -yy, strace names the kind of each descriptor. Without it, the calls that open descriptors show the kind.")]
pub(super) struct TraceCommand {
    /// The output of `strace -f`
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Name of the application; default: its program
    #[arg(long, value_name = "NAME")]
    application: Option<String>,
    /// Name of one unit of work
    #[arg(long, value_name = "NAME", default_value = "run")]
    unit: String,
    /// Number of units of work in the trace
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = units)]
    units: f64,
    /// Write the vector to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl TraceCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let place = self.from.display().to_string();
        let text = read(&self.from).map_err(|e| {
            Failure::new(format!("{place}: {e}")).help("name the file that `strace -o` wrote")
        })?;
        let request = Request {
            application: self.application,
            unit: self.unit,
            units: self.units,
        };
        let trace = strace(&text, &request).ok_or_else(|| {
            Failure::new(format!(
                "{place}: no line is a system call as strace shows it"
            ))
            .help("`strace -f -yy -o FILE COMMAND` writes such a file")
        })?;
        output::note(&remarks(&trace, &place));
        let Some(path) = &self.output else {
            return output::json(&trace.vector);
        };
        let text = serde_json::to_string_pretty(&trace.vector).map_err(Failure::ours)?;
        std::fs::write(path, text + "\n")
            .map_err(|e| output::cannot_write(path, &e).help("name a file in a folder that exists"))
    }
}

/// Reads a text. Bytes that are not UTF-8, as in a path, become replacement characters.
fn read(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

fn remarks(trace: &Trace, place: &str) -> String {
    let mut text = format!(
        "{} system calls; page faults are not in a trace of strace\n",
        trace.calls
    );
    if let Some(first) = trace.unknown.first() {
        let lines = output::counted(trace.unknown.len(), "line was", "lines were");
        text += &format!(
            "warning: {place}: {lines} not understood and not counted, first line {first}\n"
        );
    }
    if trace.unfinished > 0 {
        let calls = output::counted(trace.unfinished, "call", "calls");
        text += &format!("{calls} had not returned at the end and are not counted\n");
    }
    text
}

fn units(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "it must be a number above 0".to_owned())
}
