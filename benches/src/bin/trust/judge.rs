//! Statistics over many runs.

use std::fmt::Write as _;

use yamba_compare::{Noise, Pair, Verdict};
use yamba_stats::{coefficient_of_variation, launch_interval, median};

use crate::series::{Entry, Series};

const RESAMPLED: usize = 1000;
const SEED: u64 = 1;
const CONFIDENCE: f64 = 0.95;

fn medians(entries: &[Entry]) -> Vec<f64> {
    entries.iter().map(|e| e.median).collect()
}

/// For each benchmark, the share of confidence intervals that contain the median of all its runs. An interval in cycles includes the uncertainty
/// of the cycle length, which the median of all runs shares. So the share for intervals from the launches alone is shown, too.
pub fn coverage(series: &Series) -> String {
    let (mut out, mut held_of_all, mut alone_of_all, mut all) = (String::new(), 0, 0, 0);
    for (key, entries) in series.by_key() {
        let Some(grand) = median(&medians(&entries)) else {
            continue;
        };
        let holds = |e: &&Entry| e.interval[0] <= grand && grand <= e.interval[1];
        let held = entries.iter().filter(holds).count();
        let alone = |e: &&Entry| {
            launch_interval(&e.launches, CONFIDENCE)
                .is_some_and(|i| i.low <= grand && grand <= i.high)
        };
        let held_alone = entries.iter().filter(alone).count();
        alone_of_all += held_alone;
        held_of_all += held;
        all += entries.len();
        let share = 100.0 * held as f64 / entries.len() as f64;
        let _ = writeln!(
            out,
            "{key:44} {held:4} of {:4} ({share:5.1} %)  launches alone {held_alone:4}  {grand:.5} {}",
            entries.len(),
            entries[0].unit
        );
    }
    let share = 100.0 * held_of_all as f64 / f64::from(all.max(1) as u32);
    let alone = 100.0 * alone_of_all as f64 / f64::from(all.max(1) as u32);
    let _ = writeln!(
        out,
        "pooled: {held_of_all} of {all} ({share:.1} %), launches alone {alone_of_all} ({alone:.1} %)"
    );
    out
}

/// Compares each run with the next, and launches drawn from all runs.
pub fn alarms(series: &Series) -> String {
    let by_key = series.by_key();
    let runs = series.lines.len();
    let mut suspected = 0;
    let mut out = String::new();
    for pair in 0..runs / 2 {
        let (a, b) = (&series.lines[2 * pair], &series.lines[2 * pair + 1]);
        let pairs = a.entries.iter().filter_map(|x| {
            let y = b.entries.iter().find(|y| y.key == x.key)?;
            Some(Pair::new(&x.key, &x.launches, &y.launches))
        });
        let compared = yamba_compare::compare_launches(&pairs.collect::<Vec<_>>());
        let suspects = compared.iter().filter(|c| c.verdict == Verdict::Suspect);
        let names: Vec<String> = suspects
            .map(|c| format!("{} x{:.3}", c.key, c.ratio.map_or(1.0, |r| r.ratio)))
            .collect();
        if !names.is_empty() {
            suspected += 1;
            let _ = writeln!(
                out,
                "runs {} and {}: {}",
                2 * pair,
                2 * pair + 1,
                names.join(", ")
            );
        }
    }
    let noises: Vec<Noise> = by_key
        .iter()
        .map(|(key, entries)| series.noise(key, &entries[0].unit))
        .collect();
    let (pairs_suspected, pairs) = yamba_compare::pairs_with_a_suspect(&noises);
    let launches = noises
        .iter()
        .flat_map(|n| &n.runs)
        .map(Vec::len)
        .filter(|launches| *launches > 0)
        .min()
        .unwrap_or(0);
    let drawn = yamba_compare::resampled_alarms(&noises, launches, RESAMPLED, SEED);
    let _ = writeln!(
        out,
        "{suspected} of {} comparisons of a run with the next have a suspect, before it is measured again\n\
         {pairs_suspected} of {pairs} pairs of all runs have one\n\
         {drawn} of {RESAMPLED} comparisons of {launches} launches a side drawn from all runs have one (seed {SEED})",
        runs / 2
    );
    out
}

/// Compares `percent=3` with `percent=0` of the same run.
pub fn slowdown(series: &Series) -> String {
    let (mut found, mut all, mut ratios) = (0, 0, Vec::new());
    for line in &series.lines {
        let side = |percent: &str| line.entries.iter().find(|e| e.key.ends_with(percent));
        let (Some(a), Some(b)) = (side("percent=0"), side("percent=3")) else {
            continue;
        };
        let pair = Pair::new("x", &a.launches, &b.launches);
        let compared = yamba_compare::compare_launches(&[pair]);
        all += 1;
        let ratio = compared[0].ratio.map_or(1.0, |r| r.ratio);
        found += usize::from(compared[0].verdict == Verdict::Suspect && ratio > 1.0);
        ratios.push(ratio);
    }
    let middle = median(&ratios).unwrap_or(f64::NAN);
    format!("found in {found} of {all}; median ratio {middle:.4}\n")
}

/// The variation of the figures over all runs.
pub fn precision(series: &Series) -> String {
    let ends = series.lines.first().zip(series.lines.last());
    let minutes = ends.map_or(0, |(a, b)| (b.at - a.at) / 60);
    let mut out = format!("{} runs in {minutes} minutes\n", series.lines.len());
    for (key, entries) in series.by_key() {
        let all = medians(&entries);
        let (Some(middle), Some(cov)) = (median(&all), coefficient_of_variation(&all)) else {
            continue;
        };
        let _ = writeln!(
            out,
            "{key:60} {middle:12.4} {:8} {:6.2} %  ({} runs)",
            entries[0].unit,
            cov * 100.0,
            entries.len()
        );
    }
    out
}
