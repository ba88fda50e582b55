//! `yamba selftest`

use clap::Args;
use serde::Serialize;
use yamba_record::run::About;

use super::Answer;
use super::failure::{Failure, of_system};
use super::output;
use super::run::{job, progress};
use super::select::{self, Libraries, Names};
use crate::build::host;
use crate::machine;
use crate::run::{Job, NoProgram, Stop, UsageError};
use crate::selftest::{self, Check, Means, Outcome};

/// Can figures be trusted here?
///
/// Measures what is known before it is measured: chains of instructions with documented latencies, an added delay, time by another clock, a sleep, a fault that the
/// evidence has to catch, and a competitor on the same processor that has to be seen.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba selftest            expected against measured, in about twenty seconds
  yamba selftest --json     the same for a program

Exit status: 0 figures can be trusted here, 1 they cannot, 2 nothing could be measured.")]
pub(super) struct Selftest {
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lib: Libraries,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    trusted: bool,
    checks: &'a [Check],
}

impl Selftest {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let selection = select::select(&Names {
            names: Vec::new(),
            lib: self.lib,
        })?;
        let analysis = &selection.analysis;
        let target = host();
        let build = |class: &str| -> Job {
            let built = analysis
                .find_class(class)
                .and_then(|found| job(analysis, found, &target).ok());
            built.unwrap_or_else(|| Job {
                class: class.to_owned(),
                program: Err(NoProgram::Absent(format!("there is no class {class}"))),
                about: About::default(),
            })
        };
        let stop = Stop::on_signals().map_err(of_system)?;
        let mut progress = progress();
        let mut means = Means {
            job: &build,
            target: &target,
            progress: progress.as_mut(),
            stop: &stop,
        };
        let probed = machine::probe(&target);
        let checks = selftest::selftest(&mut means, &probed)
            .map_err(|UsageError(text)| Failure::whole(text))?;
        let trusted = !stop.requested() && checks.iter().all(|c| c.outcome != Outcome::Failed);
        output::result(&if self.json {
            let document = Document {
                schema: "yamba-selftest/1",
                trusted,
                checks: &checks,
            };
            serde_json::to_string_pretty(&document).map_err(Failure::ours)? + "\n"
        } else {
            table(&checks, trusted, stop.requested())
        })?;
        Ok(if trusted { Answer::Done } else { Answer::No })
    }
}

fn table(checks: &[Check], trusted: bool, stopped: bool) -> String {
    let width = |f: fn(&Check) -> &str| {
        let each = checks.iter();
        each.map(|c| f(c).chars().count()).max().unwrap_or(0)
    };
    let (name, expected) = (width(|c| &c.name), width(|c| &c.expected));
    let colour = output::colour_on(&std::io::stdout());
    let mut out = String::new();
    for check in checks {
        let line = format!(
            "{}  {:name$}  {:expected$}  {}",
            mark(check.outcome, colour),
            check.name,
            check.expected,
            check.measured
        );
        out.push_str(line.trim_end());
        out.push('\n');
        let is_reason = check.outcome != Outcome::Passed;
        if let Some(note) = check.note.as_ref().filter(|_| is_reason) {
            out.push_str(&format!("         {note}\n"));
        }
    }
    out.push_str(match (stopped, trusted) {
        (true, _) => "stopped before all was checked\n",
        (false, true) => "figures can be trusted here\n",
        (false, false) => "figures CANNOT be trusted here\n",
    });
    out
}

fn mark(outcome: Outcome, colour: bool) -> String {
    let (word, code) = match outcome {
        Outcome::Passed => ("ok", "32"),
        Outcome::Failed => ("FAILED", "1;31"),
        Outcome::Unknown => ("unknown", "2"),
    };
    if colour {
        format!("\x1b[{code}m{word:7}\x1b[0m")
    } else {
        format!("{word:7}")
    }
}
