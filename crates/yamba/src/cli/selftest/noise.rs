//! `yamba selftest --noise`

use std::time::Duration;

use clap::Args;

use crate::cli::output::percent;
use crate::cli::{
    Answer, Failure, Libraries, StoreOption, TargetOption, Terminal, arguments, output, quantity,
    system_failure,
};
use yamba_harness::Stop;
use yamba_session::noise::{self, Report, Request};
use yamba_session::select::Names;

/// The options of `--noise`.
#[derive(Args)]
#[command(next_help_heading = "Options for --noise")]
pub(super) struct Noise {
    /// Compare benchmarks with themselves and count false alarms, instead of the checks
    #[arg(long)]
    pub(super) noise: bool,
    /// Benchmarks, by name or glob ('lat_*'), or files [default: the suite]
    #[arg(value_name = "NAME|GLOB|FILE.yamba", requires = "noise")]
    names: Vec<String>,
    /// Comparisons to make
    #[arg(long, value_name = "N", default_value_t = 5, requires = "noise", value_parser = quantity::count(1..=10_000))]
    comparisons: u64,
    /// Time for one point with all its launches, in each run
    #[arg(long, value_name = "TIME", requires = "noise", value_parser = quantity::time)]
    time: Option<Duration>,
    /// Seed of all random choices: the order of launches, and the samples of the bootstrap
    #[arg(long, value_name = "N", requires = "noise", value_parser = quantity::count(0..=u64::MAX))]
    seed: Option<u64>,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    store: StoreOption,
}

impl Noise {
    /// Measures and prints the report.
    pub(super) fn run(self, libraries: Libraries, json: bool) -> Result<Answer, Failure> {
        let terminal = Terminal::default();
        let prepared = noise::prepare(&self.request(libraries), &terminal)?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        let report = prepared.measure(&stop, &self.store.choice(), &terminal)?;
        if json {
            output::json(&report)?;
        }
        if report.comparisons == 0 {
            return Err(nothing(&report));
        }
        if !json {
            output::result(&table(&report))?;
        }
        let is_quiet = report.alarms * 100 <= report.comparisons
            && report.resampled_alarms * 100 <= report.resampled;
        let is_passed = is_quiet && !report.interrupted;
        Ok(if is_passed { Answer::Done } else { Answer::No })
    }

    /// Fails if an option of `--noise` is used without it.
    pub(super) fn check_unused(&self) -> Result<(), Failure> {
        if self.target.target.is_none() && self.store.store.is_none() {
            return Ok(());
        }
        Err(Failure::new("--target and --store are for --noise: the checks store no run")
            .help("leave them out, or add --noise"))
    }

    fn request(&self, libraries: Libraries) -> Request {
        Request {
            names: Names { names: self.names.clone(), libraries: libraries.dirs },
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
