//! `yamba history`

use std::collections::BTreeMap;

use clap::Args;
use yamba_record::number::{counted, listed, number};
use yamba_store::{Detail, Listed};

use super::{Failure, StoreOption, output, quantity, run_ref};
use yamba_compare::history::{FEWEST_RUNS, History, LeftOut, Point, Series, history};
use yamba_report::wrapped;

/// Greatest and least width of the chart in columns.
const WIDTH: usize = 30;
const LEAST_WIDTH: usize = 10;

/// The titles of the columns. The chart needs none.
const TITLES: [&str; 6] = ["run", "started (UTC)", "level", "", "change", "tags"];

/// If many runs are omitted for the same reason, this many are named.
const NAMED: usize = 4;

/// Show a benchmark over all runs, with its changes
///
/// A change is a change of level: several runs before it and after it differ by more than noise
/// does (E-divisive means, by permutation, 1 % a series). One slow run is not a change.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba history lat_pipe              each point of its sweep, a line a run
  yamba history 'lat_*' --runs 30     of the latest 30 runs
  yamba history lat_pipe --json | jq '.benchmarks[].changes[]'

Runs of another machine than the latest are left out, those that `compare` and `selftest` measured, and of programs of
another harness those of another program than the latest.")]
pub(super) struct HistoryCommand {
    /// Benchmarks, by name or glob
    #[arg(value_name = "NAME|GLOB", required = true)]
    names: Vec<String>,
    /// Read at most N runs, the latest ones with these benchmarks
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = quantity::count(1..=u64::MAX))]
    runs: u64,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl HistoryCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut store = self.store.choice().existing()?;
        let mut listed = store.runs()?;
        let damaged = damaged(&listed);
        let mut known: Vec<String> = Vec::new();
        for name in &self.names {
            for benchmark in listed.iter().flat_map(|run| &run.benchmarks) {
                if run_ref::means(name, benchmark)? {
                    known.push(benchmark.clone());
                }
            }
        }
        listed.retain(|run| run.benchmarks.iter().any(|b| known.contains(b)));
        if listed.is_empty() {
            return Err(Failure::new(format!(
                "no stored run has a benchmark {}",
                self.names.join(" or ")
            ))
            .help("`yamba runs` shows what each run measured"));
        }
        listed.truncate(usize::try_from(self.runs).unwrap_or(usize::MAX));
        let mut runs = Vec::new();
        for run in &listed {
            let mut run = store.run(&run.id, Detail::Figures)?;
            run.benchmarks.retain(|b| known.contains(&b.name));
            runs.push(run);
        }
        runs.reverse();
        let mut found = history(&runs);
        found.left_out.extend(damaged);
        output::json_or_text(self.json, &found, text)
    }
}

/// The damaged runs. Prints a warning for each.
fn damaged(listed: &[Listed]) -> Vec<LeftOut> {
    let each = listed.iter().filter_map(|run| {
        let damage = run_ref::plain(run.damage.as_ref()?);
        output::note(&format!(
            "warning: run {} is damaged and left out: `yamba runs` says more\n",
            run_ref::plain(&run.id)
        ));
        Some(LeftOut::run(&run.id, format!("damaged: {damage}")))
    });
    each.collect()
}

fn text(found: &History) -> String {
    let mut out = String::new();
    for series in &found.benchmarks {
        out.push_str(&table(series, output::width()));
        out.push('\n');
    }
    out.push_str(&wrapped(&left_out(found), output::width(), "  "));
    if found.benchmarks.is_empty() {
        out.push_str("no run has a figure to show\n");
    }
    out
}

/// One line for each reason why runs are omitted, per benchmark if the reason concerns a figure.
fn left_out(found: &History) -> String {
    let shown = found.benchmarks.iter().flat_map(|s| &s.points);
    let shown = shown.map(|point| point.run.as_str());
    let left_out = found.left_out.iter().map(|l| l.run.as_str());
    let ids: Vec<&str> = left_out.chain(shown).collect();
    let mut groups: BTreeMap<(Option<String>, &str), Vec<&str>> = BTreeMap::new();
    for one in &found.left_out {
        let runs = groups.entry((one.key(), &one.reason)).or_default();
        runs.push(run_ref::short(&one.run, &ids));
    }
    let line = |((key, reason), runs): ((Option<String>, &str), Vec<&str>)| {
        let what = key.map_or_else(String::new, |key| format!("{key} in "));
        let count = counted(runs.len(), "run", "runs");
        let named = listed(&runs, NAMED);
        run_ref::plain(&format!("left out: {what}{count}, {reason}: {named}")) + "\n"
    };
    groups.into_iter().map(line).collect()
}

/// One line per run, and one for each change.
fn table(series: &Series, width: Option<usize>) -> String {
    let ids: Vec<&str> = series.points.iter().map(|p| p.run.as_str()).collect();
    let title = run_ref::plain(&yamba_report::short_label(&series.of.label()));
    let rows = rows(series, &ids, width);
    let table = output::table(&rows, width);
    let mut out = String::new();
    for change in &series.changes {
        let differs = if change.differs.is_empty() {
            "the run says of nothing else that it changed".to_owned()
        } else {
            change.differs.join("; ")
        };
        out.push_str(&format!(
            "changed at {} by {} (p {}): {}\n",
            run_ref::plain(run_ref::short(&change.run, &ids)),
            percent(change.ratio),
            number(change.p),
            run_ref::plain(&differs)
        ));
    }
    out.push_str(&without_change(series));
    out.push_str(&unknown(series));
    format!("{title}\n{table}{}", wrapped(&out, width, "  "))
}

/// The titles and the cells of each run. The chart takes the columns that the other cells leave.
fn rows(series: &Series, ids: &[&str], width: Option<usize>) -> Vec<Vec<String>> {
    let (low, high) = yamba_report::ends(series.points.iter().map(|p| p.value));
    let unit = series.unit.as_deref().unwrap_or_default();
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(series.points.iter().enumerate().map(|(i, point)| {
        let started = run_ref::moment(point.started_unix_s);
        let started = started.map(|t| t.format("%Y-%m-%d %H:%M").to_string());
        let change = series.changes.iter().find(|c| c.index == i);
        vec![
            run_ref::plain(run_ref::short(&point.run, ids)),
            started.unwrap_or("unknown".to_owned()),
            yamba_report::figure(point.value, unit),
            String::new(),
            change.map_or_else(String::new, |c| percent(c.ratio)),
            run_ref::plain(&point.tags.join(" ")),
        ]
    }));
    let others: usize = output::widths(&rows).iter().map(|w| w + 2).sum();
    let room = width.map_or(WIDTH, |width| width.saturating_sub(others));
    for (row, point) in rows[1..].iter_mut().zip(&series.points) {
        row[3] = dot(point, low, high, room.clamp(LEAST_WIDTH, WIDTH));
    }
    rows
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// Why a series has no change. Empty if it has one.
fn without_change(series: &Series) -> String {
    let count = series.points.len();
    let name = run_ref::plain(&series.of.name);
    let has_launches = series.single_numbers == 0;
    if count == 1 && series.imported == 0 {
        format!(
            "there is one run, and a change needs several: `yamba run {name}` measures the next\n"
        )
    } else if count == 1 {
        "there is one run, and a change needs several: `yamba import` stores the next\n".to_owned()
    } else if count < FEWEST_RUNS {
        let two = if has_launches { "; `yamba compare` compares two" } else { "" };
        format!("{count} runs are too few to show a change: it takes {FEWEST_RUNS}{two}\n")
    } else if series.changes.is_empty() {
        format!(
            "no change is shown in {count} runs; less than {} % would be none\n",
            number(series.least * 100.0)
        )
    } else {
        String::new()
    }
}

/// Names unknown properties of the points of a series.
fn unknown(series: &Series) -> String {
    let count = series.points.len();
    let mut out = String::new();
    if series.single_numbers > 0 {
        out.push_str(&format!(
            "{} of {count} are single numbers, whose own error is not known: only the spread between the runs decides\n",
            series.single_numbers
        ));
    }
    if series.unnamed_machines > 0 && count > 1 {
        out.push_str(&format!(
            "{} of {count} do not name their machine: they may be of other machines than the rest\n",
            series.unnamed_machines
        ));
    }
    let dateless = series.points.iter().filter(|p| p.started_unix_s.is_none());
    let dateless = dateless.count();
    if dateless > 0 && count > 1 {
        out.push_str(&format!(
            "{dateless} of {count} do not say when they began: they come first, in the order in which they were stored\n"
        ));
    }
    out
}

/// Draws the value's position between the series' minimum and maximum.
fn dot(point: &Point, low: f64, high: f64, width: usize) -> String {
    let share = if high > low { (point.value - low) / (high - low) } else { 0.5 };
    let last = width.saturating_sub(3);
    let place = (share * last as f64).round() as usize;
    format!("|{}*{}|", " ".repeat(place), " ".repeat(last - place))
}
