//! `yamba noise`

use std::io;
use std::time::Duration;

use clap::Args;

use super::Answer;
use super::failure::Failure;
use super::output;
use super::quantity;
use super::run::{job, origin, progress};
use super::select::{self, Names};
use super::sides::Sides;
use super::store_option::StoreOption;
use super::target::TargetOption;
use crate::noise::{self, Plan, Report};
use crate::random;
use crate::run::{Measurement, Options, Stop, UsageError};

/// A run of everything six times, each launch short: what a comparison is made from.
const LAUNCHES: u64 = 6;
const TIME: Duration = Duration::from_millis(600);

/// How noisy is this machine? Compares the same things with themselves
///
/// Each comparison measures everything twice and looks for differences that cannot be there. What is suspected is measured again, both sides in turn, before it
/// counts as a false alarm.
///
/// Its runs are kept: what they say of each benchmark's noise is what later comparisons here ask a difference to exceed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba noise                                     the whole suite, with its shorter sweeps
  yamba noise 'lat_*' --comparisons 20            some benchmarks, with more certainty
  yamba noise lat_pipe --time 2s --json

Exit status: 0 the false-alarm rate is at most 1 %, as far as so many comparisons can tell; 1 there were more; 2 nothing was measured.")]
pub(super) struct NoiseCommand {
    #[command(flatten)]
    names: Names,
    /// Comparisons to make
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    comparisons: u64,
    /// Time for one point with all its launches, in each run
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    time: Option<Duration>,
    /// Decides the order of launches and what is drawn
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    store: StoreOption,
}

impl NoiseCommand {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let selection = select::select(&self.names)?;
        let target = self.target.resolve(&selection.analysis)?;
        let mut jobs = Vec::new();
        for class in selection.benchmarks()? {
            jobs.push(job(&selection.analysis, class, &target)?);
        }
        let stop = Stop::on_signals()?;
        // Better told before minutes of measuring than after them.
        drop(self.store.open()?);
        let options = Options {
            launches: Some(LAUNCHES),
            time: self.time.unwrap_or(TIME),
            origin: origin(&selection.analysis, &jobs, &target),
            ..Options::quick()
        };
        let measure = |measurement: Measurement<'_>, boundary: usize| {
            let mut sides = Sides::open(&self.store, boundary, &options.origin.sources)?;
            let run = measurement.packed(&mut sides);
            let run = run.map_err(|UsageError(text)| Failure::new(text))?;
            Ok::<_, Failure>(sides.finish(run).0)
        };
        let plan = Plan {
            jobs: &jobs,
            options: options.clone(),
            comparisons: self.comparisons,
            seed: self.seed.unwrap_or_else(random::drawn_seed),
            target: &target,
            stop: &stop,
            measure: &measure,
        };
        let report = noise::noise(&plan, progress().as_mut())?;
        output::result(&if self.json {
            serde_json::to_string_pretty(&report).map_err(|e| Failure::new(e.to_string()))? + "\n"
        } else {
            table(&report)
        })?;
        let is_quiet = report.alarms * 100 <= report.comparisons
            && report.resampled_alarms * 100 <= report.resampled;
        Ok(if is_quiet && report.comparisons > 0 {
            Answer::Done
        } else {
            Answer::No
        })
    }
}

fn table(report: &Report) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "benchmark",
        "between launches",
        "between runs",
        "suspected",
        "false alarms",
    ]);
    for spread in &report.benchmarks {
        table.add_row([
            spread.key.clone(),
            percent(spread.between_launches),
            percent(spread.between_runs),
            spread.suspected.to_string(),
            spread.alarms.to_string(),
        ]);
    }
    let mut out = if io::IsTerminal::is_terminal(&io::stdout()) {
        table.to_string()
    } else {
        table.trim_fmt()
    };
    out.push_str(&format!(
        "\n\n{} of {} comparisons raised a false alarm; {} had a suspect, measured again before it counts\n\
         {} of {} pairs of all runs had one\n\
         {} of {} comparisons of launches drawn from all runs had a suspect (seed {})\n",
        report.alarms,
        report.comparisons,
        report.suspected,
        report.pairs_suspected,
        report.pairs,
        report.resampled_alarms,
        report.resampled,
        report.seed
    ));
    out
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{:.2} %", v * 100.0))
}
