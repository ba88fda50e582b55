//! `yamba history`

use clap::Args;
use yamba_record::number::{number, scale};
use yamba_store::Detail;

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::store_option::StoreOption;
use crate::compare::history::{History, Point, Series, history};

/// Columns of the chart.
const WIDTH: usize = 30;

/// A benchmark over the kept runs of a machine, and where it changed
///
/// A change is one of level: several runs before it and after it differ by more than noise does (E-divisive means, by permutation, 1 % a series). A single
/// run that is slower is none.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba history lat_pipe              each point of its sweep, a line a run
  yamba history 'lat_*' --runs 30     of the latest 30 runs
  yamba history lat_pipe --json | jq '.benchmarks[].changes[]'

Runs of another machine than the latest are left out, and those that `compare` and `noise` measured.")]
pub(super) struct HistoryCommand {
    /// Benchmarks, by name or glob
    #[arg(value_name = "NAME|GLOB", required = true)]
    names: Vec<String>,
    /// Read at most so many of the latest runs that have them
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl HistoryCommand {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let mut store = self.store.existing()?;
        let mut listed = store.runs()?;
        for damaged in listed.iter().filter(|run| run.damage.is_some()) {
            output::note(&format!(
                "warning: run {} is damaged and left out: `yamba runs` says more\n",
                kept::plain(&damaged.id)
            ));
        }
        let mut known: Vec<String> = Vec::new();
        for name in &self.names {
            for benchmark in listed.iter().flat_map(|run| &run.benchmarks) {
                if kept::means(name, benchmark)? {
                    known.push(benchmark.clone());
                }
            }
        }
        listed.retain(|run| run.benchmarks.iter().any(|b| known.contains(b)));
        if listed.is_empty() {
            return Err(Failure::new(format!(
                "no kept run has a benchmark {}",
                self.names.join(" or ")
            ))
            .help("`yamba runs` shows what each run measured"));
        }
        let latest = listed
            .iter()
            .take(usize::try_from(self.runs).unwrap_or(usize::MAX));
        let mut runs = Vec::new();
        for run in latest {
            let mut run = store.run(&run.id, Detail::Figures)?;
            run.benchmarks.retain(|b| known.contains(&b.name));
            runs.push(run);
        }
        runs.reverse();
        let found = history(&runs);
        match self.json {
            true => output::json(&found)?,
            false => output::result(&text(&found))?,
        }
        Ok(Answer::Done)
    }
}

fn text(found: &History) -> String {
    let mut out = String::new();
    for series in &found.benchmarks {
        out.push_str(&table(series));
        out.push('\n');
    }
    let mut reasons: Vec<&str> = found.left_out.iter().map(|l| l.reason.as_str()).collect();
    reasons.sort_unstable();
    for group in reasons.chunk_by(|a, b| a == b) {
        let runs = if group.len() == 1 { "run" } else { "runs" };
        out.push_str(&format!(
            "left out: {} {runs}, {}\n",
            group.len(),
            kept::plain(group[0])
        ));
    }
    if found.benchmarks.is_empty() {
        out.push_str("no run has a figure to show\n");
    }
    out
}

/// A line a run, and a line before each change.
fn table(series: &Series) -> String {
    let values = series.points.iter().map(|p| p.value);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let ids: Vec<&str> = series.points.iter().map(|p| p.run.as_str()).collect();
    let mut rows = vec![vec![kept::plain(&series.key)]];
    for (i, point) in series.points.iter().enumerate() {
        let started = kept::moment(point.started_unix_s);
        let change = series.changes.iter().find(|c| c.index == i);
        rows.push(vec![
            kept::plain(kept::short(&point.run, &ids)),
            started.map_or_else(
                || "unknown".to_owned(),
                |t| t.format("%Y-%m-%d %H:%M").to_string(),
            ),
            figure(series, point.value),
            dot(point, low, high),
            change.map_or_else(String::new, |c| {
                format!("{:+.1} %", (c.ratio - 1.0) * 100.0)
            }),
            kept::plain(&point.tags.join(" ")),
        ]);
    }
    let title = rows.remove(0).concat();
    let mut out = format!("{title}\n{}", output::columns(&rows));
    for change in &series.changes {
        let differs = match change.differs.is_empty() {
            true => "the run says of nothing else that it changed".to_owned(),
            false => change.differs.join("; "),
        };
        out.push_str(&format!(
            "changed at {} by {:+.1} % (p {}): {}\n",
            kept::plain(kept::short(&change.run, &ids)),
            (change.ratio - 1.0) * 100.0,
            number(change.p),
            kept::plain(&differs)
        ));
    }
    if series.changes.is_empty() {
        out.push_str(&format!(
            "no change is shown in {} runs; less than {} % would be none\n",
            series.points.len(),
            number(series.least * 100.0)
        ));
    }
    out
}

fn figure(series: &Series, value: f64) -> String {
    let (factor, unit) = scale(value, series.unit.as_deref().unwrap_or_default());
    format!("{} {unit}", number(value * factor))
        .trim_end()
        .to_owned()
}

/// Where the value lies between the least and the greatest of the series.
fn dot(point: &Point, low: f64, high: f64) -> String {
    let share = match high > low {
        true => (point.value - low) / (high - low),
        false => 0.5,
    };
    let place = (share * (WIDTH - 1) as f64).round() as usize;
    format!("|{}*{}|", " ".repeat(place), " ".repeat(WIDTH - 1 - place))
}
