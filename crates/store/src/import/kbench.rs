//! The table that Kanata Bench prints, N. Korovkina's benchmark of seL4's notifications:
//! <https://github.com/malus-brandywine/sel4KanataBench>. It has a column for each group of tests
//! and a row for each test of all groups, in cycles; the program computes nothing from them.
//!
//! Each table is a run of the program, and so a launch. The figure is the latency of one circle,
//! inferred as for Yamba's own circles.

use serde_json::json;
use yamba_record::circles::{CircleGroup, CirclePlan, Circles, CirclesLaunch, PrimaryLatency};
use yamba_record::{Parameters, Run};
use yamba_stats::circles::{Group, group_statistics, infer};
use yamba_stats::median;

use super::DocumentFault;
use super::foreign::{Figure, Number, Results};

/// The name of the figure: the program has no other benchmark.
const NAME: &str = "kanata_bench";

/// The lines above a table, each with a number, and the last one without.
const HEAD: [&str; 4] = [
    "Initial Test size: ",
    "Delta: ",
    "Number of Tests / Sample size of Accumulated latency: ",
    "Number of Groups: ",
];
const LAST_OF_HEAD: &str = "Accumulated latencies (clock cycles):";

/// The line after a table and an empty line.
const END: &str = "Done!";

/// Maximum number of tests of a group, and of groups. The paper has 300 and 5.
const MOST: u64 = 10_000;

/// Whether a text has the head of such a table.
pub(super) fn is_it(head: &str) -> bool {
    head.lines().any(|line| line.starts_with(HEAD[0]))
}

/// Parses what the program printed, once or several times. `name` is the file name.
///
/// # Errors
/// If it contains no whole table.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let mut results = Results::new("kanata bench", name, text.to_owned());
    let lines: Vec<&str> = text.lines().collect();
    let mut tables: Vec<Table> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if !line.starts_with(HEAD[0]) {
            continue;
        }
        match Table::read(&lines[at..]) {
            Ok(table) if tables.first().is_some_and(|first| first.plan != table.plan) => {
                let reason = "its groups are not those of the first table of the file";
                results.leave_out(&format!("line {}", at + 1), reason);
            }
            Ok(table) => tables.push(table),
            Err(reason) => results.leave_out(&format!("line {}", at + 1), &reason),
        }
    }
    // A table in the middle may have lost its head.
    let ends = lines.iter().filter(|line| line.trim_end() == END).count();
    results.is_cut_off = ends != lines.iter().filter(|line| line.starts_with(HEAD[0])).count();
    if let Some(number) = number(&tables) {
        results.push(number)?;
    }
    results.run()
}

/// The configuration in the head of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plan {
    initial: u64,
    delta: u64,
    group_size: u64,
    groups: u64,
}

struct Table {
    plan: Plan,
    /// The accumulated latencies of each group.
    groups: Vec<Vec<f64>>,
}

impl Table {
    /// Reads the table that begins with the first line. The error says what it lacks.
    fn read(lines: &[&str]) -> Result<Table, String> {
        let mut lines = lines.iter();
        let mut next = || lines.next().map(|line| line.trim_end()).ok_or("the table ends early");
        let mut numbers = [0; HEAD.len()];
        for (number, title) in numbers.iter_mut().zip(HEAD) {
            let line = next()?;
            let rest = line.strip_prefix(title).and_then(|rest| rest.parse().ok());
            *number = rest.ok_or_else(|| format!("no number after {title:?}: {line}"))?;
        }
        let [initial, delta, group_size, groups] = numbers;
        let plan = Plan { initial, delta, group_size, groups };
        let is_small = |number: u64| (1..=MOST).contains(&number);
        if initial == 0 || !is_small(group_size) || !is_small(groups) {
            return Err("no group has that many tests".to_owned());
        }
        let line = next()?;
        if line != LAST_OF_HEAD {
            return Err(format!("no line {LAST_OF_HEAD:?}: {line}"));
        }
        let mut all = vec![Vec::new(); groups as usize];
        for _ in 0..group_size {
            let row = row(next()?)?;
            if row.len() != all.len() {
                return Err(format!("a row has {} numbers, of {groups} groups", row.len()));
            }
            for (group, latency) in all.iter_mut().zip(row) {
                group.push(latency);
            }
        }
        let is_end = next().is_ok_and(str::is_empty) && next().is_ok_and(|line| line == END);
        if !is_end {
            return Err("its last row is not followed by an empty line and \"Done!\"".to_owned());
        }
        Ok(Table { plan, groups: all })
    }

    fn test_size(&self, group: usize) -> u64 {
        self.plan.initial.saturating_add(self.plan.delta.saturating_mul(group as u64))
    }

    /// The latencies of a circle in each of the largest tests.
    fn per_circle(&self) -> Vec<f64> {
        let largest = self.groups.len() - 1;
        let size = self.test_size(largest) as f64;
        self.groups[largest].iter().map(|latency| latency / size).collect()
    }

    /// The paper's statistics of this table, as launch number `launch`.
    fn launch(&self, launch: u64) -> CirclesLaunch {
        let CirclePlan { confidence, half_width, margin, .. } = CirclePlan::default();
        let each = self.groups.iter().enumerate();
        let each = each.map(|(i, a)| Group { test_size: self.test_size(i), accumulated: a });
        let groups: Vec<Group<'_>> = each.collect();
        let inferred = infer(&groups, None, confidence, half_width, margin);
        let primary = inferred.primary.map(|primary| PrimaryLatency {
            test_size: self.test_size(self.groups.len() - 1),
            mean: primary.mean_by_t.mean,
            confidence_interval: [primary.mean_by_t.low, primary.mean_by_t.high],
            standard_deviation: (!inferred.is_dependent).then_some(primary.variance.sqrt()),
            coefficient_of_variation: primary
                .coefficient_of_variation
                .filter(|_| !inferred.is_dependent),
            tests_needed: primary.tests_needed,
        });
        CirclesLaunch {
            launch,
            steady_from: inferred.steady_from.map(|i| self.test_size(i)),
            independence: inferred.independence,
            groups: groups.into_iter().map(group).collect(),
            second_round: None,
            primary,
        }
    }
}

fn group(group: Group<'_>) -> CircleGroup {
    let statistics = group_statistics(group);
    CircleGroup {
        test_size: group.test_size,
        accumulated: group.accumulated.to_vec(),
        left_out: Vec::new(),
        mean: statistics.map(|s| s.mean),
        standard_deviation: statistics.map(|s| s.standard_deviation),
        coefficient_of_variation: statistics.and_then(|s| s.coefficient_of_variation),
        mean_per_circle: statistics.map(|s| s.mean_per_circle),
    }
}

/// The latencies of a row, which are whole cycles.
fn row(line: &str) -> Result<Vec<f64>, String> {
    let number = |word: &str| word.parse::<u64>().ok().filter(|n| *n > 0).map(|n| n as f64);
    let numbers: Option<Vec<f64>> = line.split_ascii_whitespace().map(number).collect();
    numbers.ok_or_else(|| format!("a row has something else than cycles: {line}"))
}

/// The figure of all tables. `None` without a table.
fn number(tables: &[Table]) -> Option<Number> {
    let plan = tables.first()?.plan;
    let means: Option<Vec<f64>> = tables.iter().map(|t| median(&t.per_circle())).collect();
    let launches = means.filter(|means| means.len() > 1).unwrap_or_default();
    let samples: Vec<f64> = tables.iter().flat_map(Table::per_circle).collect();
    let value = if launches.is_empty() { median(&samples) } else { median(&launches) }?;
    let CirclePlan { confidence, half_width, margin, .. } = CirclePlan::default();
    let circles = Circles {
        unit: "cycles".to_owned(),
        initial: plan.initial,
        delta: plan.delta,
        group_size: plan.group_size,
        confidence,
        half_width,
        margin,
        launches: tables.iter().zip(0..).map(|(table, launch)| table.launch(launch)).collect(),
    };
    let parameters = [
        ("initial", plan.initial),
        ("delta", plan.delta),
        ("groups", plan.groups),
        ("group_size", plan.group_size),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), json!(value)));
    let largest = tables[0].test_size(tables[0].groups.len() - 1);
    Some(Number {
        parameters: Parameters(parameters.into()),
        samples,
        launches,
        circles: Some(circles),
        notes: vec![format!("the latency of one circle, from tests of {largest}")],
        ..Number::new(NAME, Figure::Value, "cycles", Ok(value))
    })
}

#[cfg(test)]
mod tests;
