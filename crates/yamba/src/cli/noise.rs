//! `yamba noise`

use std::time::Duration;

use clap::Args;

use super::output::percent;
use super::{
    Answer, Failure, Names, StoreOption, TargetOption, Terminal, arguments, of_system, output,
    quantity,
};
use yamba_harness::Stop;
use yamba_session::noise::{self, Report, Request};

/// How noisy is this machine? Compares the same things with themselves
///
/// Each comparison measures everything twice and looks for differences that cannot be there. A
/// suspect is re-measured, both sides interleaved, before it counts as a false alarm. The runs are
/// kept in the store.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba noise                                     the whole suite, with its shorter sweeps
  yamba noise 'lat_*' --comparisons 20            some benchmarks, with more certainty
  yamba noise lat_pipe --time 2s --json

Exit status: 0 at most 1 % of the comparisons that were made raised a false alarm, and of those that were drawn; 1 more did, or it was stopped;
2 nothing could be compared.")]
pub(super) struct NoiseCommand {
    #[command(flatten)]
    names: Names,
    /// Comparisons to make
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = quantity::count(1..=10_000))]
    comparisons: u64,
    /// Time for one point with all its launches, in each run
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    time: Option<Duration>,
    /// Seed of all random choices: the order of launches, and the samples of the bootstrap
    #[arg(long, value_name = "N", value_parser = quantity::count(0..=u64::MAX))]
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
        let terminal = Terminal::default();
        let prepared = noise::prepare(&self.request(), &terminal)?;
        let stop = Stop::on_signals().map_err(of_system)?;
        let report = prepared.measure(&stop, &self.store.choice(), &terminal)?;
        if self.json {
            output::json(&report)?;
        }
        if report.comparisons == 0 {
            return Err(nothing(&report));
        }
        if !self.json {
            output::result(&table(&report))?;
        }
        let is_quiet = report.alarms * 100 <= report.comparisons
            && report.resampled_alarms * 100 <= report.resampled;
        let is_passed = is_quiet && !report.interrupted;
        Ok(if is_passed { Answer::Done } else { Answer::No })
    }

    fn request(&self) -> Request {
        Request {
            names: self.names.request(),
            target: self.target.target.clone(),
            comparisons: self.comparisons,
            time: self.time,
            seed: self.seed,
            arguments: arguments(),
        }
    }
}

/// A report without comparisons is a failure, because its zero counts would look like a good
/// result.
fn nothing(report: &Report) -> Failure {
    if report.interrupted {
        return Failure::new("stopped before a comparison was made")
            .help("one takes two runs: name fewer benchmarks, or give --time less");
    }
    Failure::new("nothing could be compared: no benchmark had a valid figure in both runs")
        .help("`yamba run` of the same says why each has none")
}

fn table(report: &Report) -> String {
    let titles = ["benchmark", "between launches", "between runs", "suspected", "false alarms"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(report.benchmarks.iter().map(|spread| {
        vec![
            spread.key.clone(),
            percent(spread.between_launches, 2),
            percent(spread.between_runs, 2),
            spread.suspected.to_string(),
            spread.alarms.to_string(),
        ]
    }));
    let mut out = output::columns(&rows) + "\n";
    if report.interrupted {
        let (made, planned) = (report.comparisons + report.empty, report.planned);
        out.push_str(&format!("stopped: {made} of {planned} comparisons were made\n"));
    }
    if report.empty > 0 {
        out.push_str(&format!(
            "{} more had no benchmark with a valid figure in both runs, and say nothing\n",
            report.empty
        ));
    }
    out.push_str(&format!(
        "{} of {} comparisons raised a false alarm, so with 95 % confidence at most {} of all do; {} had a suspect, re-measured before it counts\n\
         {} of {} pairs of all runs had one\n\
         {} of {} comparisons of launches drawn from all runs had a suspect (seed {})\n",
        report.alarms,
        report.comparisons,
        percent(report.alarms_at_most, 2),
        report.suspected,
        report.pairs_suspected,
        report.pairs,
        report.resampled_alarms,
        report.resampled,
        report.seed
    ));
    if let Some(share) = report.contended {
        out.push_str(&format!(
            "another hardware thread used the same core for {} of the time\n",
            percent(Some(share), 2)
        ));
    }
    out
}
