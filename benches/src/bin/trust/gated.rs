//! What many whole comparisons say of the gate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use yamba::compare::drawn::{Plan, drawn_gates};
use yamba::compare::{self, Medians, Noise};
use yamba_record::Run;
use yamba_stats::median;

use crate::round::{self, Round, is_named};
use crate::shared;

/// Gates that are drawn from the launches of all runs.
const DRAWN: usize = 1000;
const SEED: u64 = 1;

/// How often the gate failed, and for what; and of gates drawn from the launches of all runs that are kept beside the file.
pub fn gated(path: &Path) -> Result<String, String> {
    let rounds = round::read(path)?;
    let kept = shared::runs_of(&path.with_extension("sqlite"))?;
    Ok(told(&rounds) + &drawn(&rounds, &kept))
}

/// Whole gates over the same thing twice: launches of both sides' runs, without what is meant to be slower, are one pool for each benchmark.
fn drawn(rounds: &[Round], runs: &[Run]) -> String {
    let Some(limit) = rounds.first().and_then(|r| r.limit()) else {
        return String::new();
    };
    let mut pools: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    let mut launches = 0;
    for benchmark in runs.iter().flat_map(|run| &run.benchmarks) {
        let is_slowed = rounds.iter().any(|r| r.slowed.contains(&benchmark.name));
        if compare::has_figure(benchmark) && !is_slowed {
            let own = Medians::of(benchmark).own;
            launches = launches.max(own.len());
            pools.entry(compare::key(benchmark)).or_default().push(own);
        }
    }
    // A single run says nothing of how its launches differ from others'.
    pools.retain(|_, runs| runs.len() > 1);
    if pools.is_empty() {
        return "no runs are kept beside this file from which gates could be drawn\n".to_owned();
    }
    let each = pools.into_iter();
    let all: Vec<Noise> = each.map(|(key, runs)| Noise { key, runs }).collect();
    let plan = Plan {
        launches,
        limit,
        rounds: DRAWN,
        seed: SEED,
    };
    let drawn = drawn_gates(&all, &plan);
    format!(
        "of {DRAWN} comparisons of {} benchmarks, {launches} launches a side, drawn from all launches of {} runs with all looks: {} failed, {} called something slower or faster; {} had a suspect before, {} benchmarks were measured anew in all (seed {SEED})\n",
        all.len(),
        runs.len(),
        drawn.failed,
        drawn.called,
        drawn.suspected,
        drawn.anew
    )
}

fn told(rounds: &[Round]) -> String {
    let mut out = String::new();
    for round in rounds.iter().filter(|r| !r.failed.is_empty()) {
        let each = round.failed.iter().zip(&round.by);
        let told: Vec<String> = each
            .map(|(name, by)| format!("{name} by {:.1} %", by * 100.0))
            .collect();
        let _ = writeln!(out, "failed for {}", told.join(", "));
    }
    let settings: BTreeSet<&str> = rounds.iter().map(|r| r.settings.as_str()).collect();
    for settings in settings.iter().filter(|s| !s.is_empty()) {
        let _ = writeln!(out, "asked for: {settings}");
    }
    let count = |holds: &dyn Fn(&Round) -> bool| rounds.iter().filter(|r| holds(r)).count();
    let alarms = count(&|r| r.alarms() > 0);
    let suspected = count(&|r| !r.suspected.is_empty());
    let sum = |of: &dyn Fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>();
    let _ = writeln!(
        out,
        "{alarms} of {} whole comparisons failed the gate for what is not slower; {suspected} had a suspect before anything was measured anew\n\
         {} benchmarks compared in all of them, {} measured anew, {} not decided, {} of these for want of time to measure them anew",
        rounds.len(),
        sum(&|r| r.compared as f64),
        sum(&|r| r.anew as f64),
        sum(&|r| r.unconfirmed.len() as f64),
        sum(&|r| r.late.len() as f64),
    );
    out.push_str(&shared(rounds));
    out.push_str(&times(rounds));
    let slowed: BTreeSet<&String> = rounds.iter().flat_map(|r| &r.slowed).collect();
    for name in slowed {
        let is_meant = |round: &&Round| round.slowed.contains(name);
        let holds = |list: &[String]| list.iter().any(|which| is_named(which, name));
        let meant: Vec<&Round> = rounds.iter().filter(is_meant).collect();
        let found = meant.iter().filter(|r| holds(&r.failed)).count();
        let missed = meant.iter().filter(|r| !holds(&r.failed));
        let open = missed.filter(|r| holds(&r.unconfirmed)).count();
        let _ = writeln!(
            out,
            "{name}, which is slower, was found in {found} of {}, and left undecided in {open}",
            meant.len()
        );
    }
    out
}

/// Comparisons that share a run are not independent of each other.
fn shared(rounds: &[Round]) -> String {
    let all = rounds.iter().flat_map(|r| &r.runs);
    let known: Vec<&String> = all.filter(|id| !id.is_empty()).collect();
    let runs: BTreeSet<&String> = known.iter().copied().collect();
    match runs.len() < known.len() {
        true => format!(
            "they are of {} runs: comparisons share runs, and what each measured anew is its own\n",
            runs.len()
        ),
        false => String::new(),
    }
}

fn times(rounds: &[Round]) -> String {
    let of = |which: usize| rounds.iter().map(move |r| r.seconds[which]);
    let compared: Vec<f64> = of(1).collect();
    let Some(middle) = median(&compared) else {
        return String::new();
    };
    let longest = compared.iter().copied().fold(0.0, f64::max);
    format!(
        "{:.0} s for the runs, {:.0} s for the comparisons: one took {middle:.0} s in the median, and {longest:.0} s at most\n",
        of(0).sum::<f64>(),
        compared.iter().sum::<f64>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(runs: [&str; 2], failed: &[&str], unconfirmed: &[&str]) -> Round {
        let owned = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        Round {
            runs: runs.map(str::to_owned),
            slowed: owned(&["slow"]),
            failed: owned(failed),
            by: vec![0.05; failed.len()],
            unconfirmed: owned(unconfirmed),
            seconds: [60.0, 30.0],
            ..Round::default()
        }
    }

    #[test]
    fn gates_are_drawn_from_what_is_kept() {
        let asked = Round {
            settings: "--a one --b two --limit 3% --at-most 25s -- --quick".to_owned(),
            ..round(["a1", "b1"], &[], &[])
        };
        assert!((asked.limit().unwrap() - 0.03).abs() < 1e-12);
        let none = drawn(&[asked], &[]);
        assert!(none.contains("no runs are kept"), "{none}");
        assert_eq!(drawn(&[round(["a1", "b1"], &[], &[])], &[]), "");
    }

    #[test]
    fn what_is_slower_is_no_alarm() {
        let rounds = [
            round(["a1", "b1"], &["slow {}"], &[]),
            round(["a2", "b1"], &["other {}"], &["slow {}"]),
            round(["a2", "b2"], &[], &["other {}"]),
        ];
        let told = told(&rounds);
        for line in [
            "1 of 3 whole comparisons failed the gate for what is not slower",
            "they are of 4 runs: comparisons share runs",
            "one took 30 s in the median",
            "slow, which is slower, was found in 1 of 3, and left undecided in 1",
        ] {
            assert!(told.contains(line), "{line}\n{told}");
        }
    }
}
