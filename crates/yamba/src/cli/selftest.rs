//! `yamba selftest`

mod noise;

use clap::Args;
use serde::Serialize;

use super::{Answer, Failure, Libraries, Terminal, output, system_failure};
use noise::Noise;
use yamba_harness::Stop;
use yamba_session::selftest::{self, Answered, Check, Outcome, Trust};

/// The schema's name.
const SCHEMA: &str = "yamba-selftest/1";

/// Check whether figures can be trusted here
///
/// Measures what is known before it is measured: chains of instructions with documented latencies,
/// an added delay, time by another clock, a sleep, a fault that the evidence has to catch, and a
/// competitor on the same processor that has to be seen. A check that does not pass is measured
/// again, for twice as long.
///
/// The result is one of three. yes: all checks passed. no: a check failed twice while nothing
/// disturbed the machine. cannot tell now: a check had no answer, or failed only once or on a
/// disturbed machine.
///
/// With --noise, each comparison measures the named benchmarks twice and looks for differences that
/// cannot be there. A suspect is re-measured, both sides interleaved, before it counts as a false
/// alarm. The runs are kept in the store.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba selftest            expected against measured, in about twenty seconds
  yamba selftest --json     the same for a program
  yamba selftest --noise                            how noisy the suite is here, with its shorter sweeps
  yamba selftest --noise 'lat_*' --comparisons 20   some benchmarks, with more certainty

Exit status: 0 yes, 1 no or cannot tell now (`result` in --json tells them apart), 2 nothing could be measured.
With --noise: 0 at most 1 % of the comparisons that were made raised a false alarm, and of those that were drawn;
1 more did, or it was stopped; 2 nothing could be compared.")]
pub(super) struct Selftest {
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    lib: Libraries,
    #[command(flatten)]
    noise: Noise,
}

/// The `--json` output.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Document<'a> {
    /// `yamba-selftest/1`.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    #[serde(flatten)]
    answer: &'a selftest::Answer,
    /// The reason why documented latencies are not compared.
    note: Option<&'a str>,
    checks: &'a [Check],
    /// The share of the time in which another hardware thread used the same core, from 0 to 1.
    contended: Option<f64>,
}

impl Selftest {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        if self.noise.noise {
            return self.noise.run(self.lib, self.json);
        }
        self.noise.check_unused()?;
        let terminal = Terminal::default();
        let prepared = selftest::prepare(self.lib.dirs, &terminal)?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        let Answered { checked, answer } = prepared.measure(&stop, &terminal)?;
        let document = Document {
            schema: SCHEMA,
            answer: &answer,
            note: checked.note.as_deref(),
            checks: &checked.checks,
            contended: checked.contended,
        };
        output::json_or_text(self.json, &document, table)?;
        Ok(match answer.result {
            Trust::Yes => Answer::Done,
            Trust::No | Trust::CannotTell => Answer::No,
        })
    }
}

fn table(document: &Document<'_>) -> String {
    let Document { checks, answer, .. } = document;
    let cells =
        |check: &Check| [&check.name, &check.expected, &check.measured].map(Clone::clone).to_vec();
    let rows = output::columns(&checks.iter().map(cells).collect::<Vec<_>>());
    let colour = output::colour_on(&std::io::stdout());
    let mut out = String::new();
    for (check, row) in checks.iter().zip(rows.lines()) {
        out.push_str(&format!("{}  {row}\n", mark(check.outcome, colour)));
        let is_reason = check.outcome != Outcome::Passed;
        if let Some(note) = check.note.as_ref().filter(|_| is_reason) {
            out.push_str(&format!("         {note}\n"));
        }
    }
    if let Some(note) = document.note {
        out.push_str(&format!("{note}\n"));
    }
    if let Some(share) = document.contended {
        let percent = (100.0 * share).round();
        out.push_str(&format!(
            "another hardware thread used the same core for {percent} % of the time\n"
        ));
    }
    out.push_str(match answer.result {
        Trust::Yes => "yes: figures can be trusted here\n",
        Trust::No => "no: figures CANNOT be trusted here\n",
        Trust::CannotTell => "cannot tell now whether figures can be trusted here\n",
    });
    for reason in &answer.reasons {
        out.push_str(&format!("reason: {reason}\n"));
    }
    if let Some(help) = &answer.help {
        out.push_str(&format!("help: {help}\n"));
    }
    out
}

fn mark(outcome: Outcome, colour: bool) -> String {
    let (word, code) = match outcome {
        Outcome::Passed => ("ok", "32"),
        Outcome::Failed => ("FAILED", "1;31"),
        Outcome::Unknown => ("unknown", "2"),
        Outcome::Skipped => ("skipped", "2"),
    };
    output::painted(&format!("{word:7}"), code, colour)
}
