//! The tests of a measuring circle as text: derived figures, and the paper's table of all tests. No
//! I/O.

use yamba_record::circles::{CircleGroup, Circles, CirclesLaunch};
use yamba_record::number::number;

use crate::cli::output;

/// The lines below a circle's figure: the groups of one launch, the warm-up of the caches, and the
/// latency of a single circle. With `with_tests`, also the table of all tests.
pub(super) fn lines(circles: &Circles, with_tests: bool) -> Vec<String> {
    let Some(launch) = typical(circles) else {
        return Vec::new();
    };
    let mut lines = vec![heading(circles, launch)];
    lines.extend(groups(&launch.groups));
    lines.push(warm_up(circles, launch));
    lines.extend(primary(circles, launch));
    if with_tests {
        lines.push(String::new());
        lines.extend(table(circles, launch));
    }
    lines
}

/// The launch whose mean is the median of all launches' means. The paper's tables also show one
/// run.
fn typical(circles: &Circles) -> Option<&CirclesLaunch> {
    let launches = circles.launches.iter();
    let mut known: Vec<(f64, &CirclesLaunch)> =
        launches.filter_map(|l| Some((l.primary?.mean, l))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = known.len().saturating_sub(1) / 2;
    known.get(middle).map(|(_, launch)| *launch)
}

fn heading(circles: &Circles, launch: &CirclesLaunch) -> String {
    let which = match circles.launches.len() {
        1 => String::new(),
        all => format!(", launch {} of {all} (the median one)", launch.launch + 1),
    };
    format!("{} tests of each size{which}, in {}", circles.group_size, circles.unit)
}

/// One row per group, with the columns of the paper's tables 3.4 and 3.5.
fn groups(groups: &[CircleGroup]) -> Vec<String> {
    let titles = ["N", "mean of A", "deviation", "CoV %", "mean / N"];
    let mut rows = vec![titles.map(str::to_owned)];
    rows.extend(groups.iter().map(|group| {
        let shown = |value: Option<f64>, digits: usize| {
            value.map_or("none".to_owned(), |v| format!("{v:.digits$}"))
        };
        let percent = group.coefficient_of_variation.map(|c| 100.0 * c);
        [
            group.test_size.to_string(),
            shown(group.mean, 0),
            shown(group.standard_deviation, 0),
            shown(percent, 2),
            shown(group.mean_per_circle, 1),
        ]
    }));
    let widths = output::widths(&rows);
    let lines = rows.iter().enumerate().map(|(i, row)| {
        let cells = row.iter().zip(&widths);
        let mut line: String = cells.map(|(cell, width)| format!("  {cell:>width$}")).collect();
        let group = i.checked_sub(1).and_then(|i| groups.get(i));
        if let Some(group) = group.filter(|group| !group.left_out.is_empty()) {
            line += &format!("  ({} left out)", group.left_out.len());
        }
        line
    });
    lines.collect()
}

fn warm_up(circles: &Circles, launch: &CirclesLaunch) -> String {
    let test = format!("Welch's t, Holm, {} %", number(100.0 * circles.significance));
    let share = number(100.0 * circles.share);
    match launch.steady_from {
        Some(size) => format!(
            "steady from N = {size} on: means within {share} %, or no significant difference ({test})"
        ),
        None if launch.groups.len() < 2 => {
            "one size alone does not show whether the caches are warm".to_owned()
        }
        None => format!(
            "not steady: the last two sizes differ by over {share} %, and significantly ({test})"
        ),
    }
}

fn primary(circles: &Circles, launch: &CirclesLaunch) -> Vec<String> {
    let Some(latency) = launch.primary else {
        return Vec::new();
    };
    let [low, high] = latency.confidence_interval;
    let share = latency.coefficient_of_variation.unwrap_or_default();
    let mut lines = vec![format!(
        "one circle, from N = {}: mean {:.1} [{low:.1}, {high:.1}], deviation {:.1} ({:.2} %)",
        latency.test_size,
        latency.mean,
        latency.standard_deviation,
        100.0 * share
    )];
    if let Some(tests) = latency.tests_needed {
        lines.push(format!(
            "tests needed for {} % at {} % confidence: {}",
            number(100.0 * circles.share),
            number(100.0 * circles.confidence),
            tests.ceil().max(1.0)
        ));
    }
    let means = || circles.launches.iter().filter_map(|l| Some(l.primary?.mean));
    if means().count() > 1 {
        let (least, most) = yamba_report::ends(means());
        lines.push(format!("mean of one circle in all launches: {least:.1} to {most:.1}"));
    }
    lines
}

/// The output format of the paper (Pic. 4.1): a row for each test, a column for each group. A `*`
/// marks excluded values.
fn table(circles: &Circles, launch: &CirclesLaunch) -> Vec<String> {
    let unit = match circles.unit.as_str() {
        "cycles" => "clock cycles",
        other => other,
    };
    let mut lines = vec![
        format!("Initial Test size: {}", circles.initial),
        format!("Delta: {}", circles.delta),
        format!("Number of Tests / Sample size of Accumulated latency: {}", circles.group_size),
        format!("Number of Groups: {}", launch.groups.len()),
        format!("Accumulated latencies ({unit}):"),
    ];
    for test in 0..circles.group_size as usize {
        let cells = launch.groups.iter().filter_map(|group| {
            let value = group.accumulated.get(test)?;
            let out = group.left_out.contains(&(test as u64));
            Some(format!("{value:.0}{}", if out { "*" } else { "" }))
        });
        lines.push(cells.collect::<Vec<String>>().join(" "));
    }
    if launch.groups.iter().any(|g| !g.left_out.is_empty()) {
        lines.push("* disturbed, or its evidence outside its bounds: it does not count".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use yamba_record::Batch;

    const WARM: &str = include_str!("../../../../stats/tests/data/kanata_3_5.txt");

    /// The tests of one launch, with the cycles of the paper's table at half a nanosecond per
    /// cycle.
    fn measured(launch: u64, table: &str) -> Vec<Batch> {
        let mut lines = table.lines().filter(|l| !l.starts_with('#'));
        let numbers = |line: &str| -> Vec<f64> {
            line.split_whitespace().map(|w| w.parse().expect("a number")).collect()
        };
        let sizes = numbers(lines.next().expect("test sizes"));
        let rows: Vec<Vec<f64>> = lines.map(numbers).collect();
        let mut tests = Vec::new();
        for (group, size) in sizes.iter().enumerate() {
            tests.extend(rows.iter().map(|row| Batch {
                passes: *size as u64,
                operations: *size as u64,
                ns: row[group] / 2.0,
                cycle_ns: Some(0.5),
                group: Some(group as u64),
                launch,
                sample: Some(row[group] / 2.0 / size),
                ..Batch::default()
            }));
        }
        tests
    }

    #[test]
    fn single_launch_is_printed_with_table() {
        let mut tests = measured(0, WARM);
        tests[31].outside.push("switches_per_circle".to_owned());
        let circles = yamba_harness::circles(&tests, |t| t.outside.is_empty()).unwrap();
        let lines = lines(&circles, true);
        assert_eq!(
            lines[..17],
            [
                "30 tests of each size, in cycles",
                "   N  mean of A  deviation  CoV %  mean / N",
                "  30     137688       1075   0.78    4589.6",
                "  31     142039        775   0.55    4581.9  (1 left out)",
                "  32     146716        709   0.48    4584.9",
                "  33     151143        749   0.50    4580.1",
                "  34     155521        800   0.51    4574.1",
                "steady from N = 30 on: means within 1 %, or no significant difference (Welch's t, Holm, 1 %)",
                "one circle, from N = 30: mean 4589.6 [4576.2, 4603.0], deviation 196.2 (4.28 %)",
                "tests needed for 1 % at 95 % confidence: 3",
                "",
                "Initial Test size: 30",
                "Delta: 1",
                "Number of Tests / Sample size of Accumulated latency: 30",
                "Number of Groups: 5",
                "Accumulated latencies (clock cycles):",
                "139790 142430 146244 151095 155805",
            ]
        );
        assert_eq!(lines[17], "138378 141608* 146696 150846 155196");
        assert_eq!(lines.len(), 16 + 30 + 1);
    }

    #[test]
    fn table_is_of_the_median_launch() {
        let mut tests = Vec::new();
        for (launch, factor) in [1.02, 0.99, 1.0].into_iter().enumerate() {
            let mut one = measured(launch as u64, WARM);
            one.iter_mut().for_each(|t| t.ns *= factor);
            tests.append(&mut one);
        }
        let circles = yamba_harness::circles(&tests, |_| true).unwrap();
        let lines = lines(&circles, false);
        assert_eq!(lines[0], "30 tests of each size, launch 3 of 3 (the median one), in cycles");
        assert_eq!(lines.last().unwrap(), "mean of one circle in all launches: 4543.7 to 4681.4");
    }

    #[test]
    fn single_group_reports_no_warm_up() {
        let circles = yamba_harness::circles(&measured(0, WARM)[..30], |_| true).unwrap();
        let lines = lines(&circles, false);
        assert_eq!(lines[3], "one size alone does not show whether the caches are warm");
        let none = yamba_harness::circles(&measured(0, WARM)[..1], |_| true).unwrap();
        assert!(super::lines(&none, true).is_empty());
    }
}
