//! The tests of a measuring circle as text: derived figures, and the paper's table of all tests. No
//! I/O.

use yamba_record::circles::{CircleGroup, Circles, CirclesLaunch, PrimaryLatency};
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
    let test = format!(
        "all means within {} % of each other (two one-sided t tests, {} % confidence)",
        percent(circles.margin),
        percent(circles.confidence)
    );
    match launch.steady_from {
        Some(size) => format!("steady from N = {size} on: {test}"),
        None if launch.groups.len() < 2 => {
            "one size alone does not show whether the caches are warm".to_owned()
        }
        None => format!("not known to be steady from any N on: {test} is not shown"),
    }
}

fn percent(share: f64) -> String {
    number((1e6 * share).round() / 1e4)
}

fn primary(circles: &Circles, launch: &CirclesLaunch) -> Vec<String> {
    let Some(latency) = launch.primary else {
        return Vec::new();
    };
    let [low, high] = latency.confidence_interval;
    let mut lines: Vec<String> = launch.second_round.iter().map(second_round).collect();
    lines.push(format!(
        "one circle, from N = {}: mean {:.1} [{low:.1}, {high:.1}]",
        latency.test_size, latency.mean
    ));
    lines.extend(deviation(launch, &latency));
    if let Some(tests) = latency.tests_needed {
        let help = if launch.second_round.is_none() && tests > circles.group_size as f64 {
            "; help: a second round measures them (--set second_round=SECONDS)"
        } else {
            ""
        };
        lines.push(format!(
            "tests needed for {} % at {} % confidence: {}{help}",
            percent(circles.half_width),
            percent(circles.confidence),
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

fn second_round(group: &CircleGroup) -> String {
    let left_out = match group.left_out.len() {
        0 => String::new(),
        count => format!(" ({count} left out)"),
    };
    format!("second round: {} tests of N = {}{left_out}", group.accumulated.len(), group.test_size)
}

/// The deviation of a single circle, or why it is not known.
fn deviation(launch: &CirclesLaunch, latency: &PrimaryLatency) -> Option<String> {
    let Some(deviation) = latency.standard_deviation else {
        let p = launch.independence?;
        return Some(format!(
            "deviation of one circle: not known; circles of a test are not independent, since the variance of A is not proportional to N (Brown-Forsythe, p = {p:.1e})"
        ));
    };
    let condition = match launch.independence {
        Some(p) => format!("not contradicted by the groups (Brown-Forsythe, p = {p:.2})"),
        None => "which sizes so alike do not show".to_owned(),
    };
    let share = latency.coefficient_of_variation.unwrap_or_default();
    Some(format!(
        "deviation of one circle: {deviation:.1} ({:.2} %) if circles are independent, {condition}",
        100.0 * share
    ))
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
    use yamba_record::circles::CirclePlan;

    const COLD: &str = include_str!("../../../../stats/tests/data/kanata_3_4.txt");
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
        let circles =
            yamba_harness::circles(&tests, CirclePlan::default(), |t| t.outside.is_empty())
                .unwrap();
        let lines = lines(&circles, true);
        assert_eq!(
            lines[..18],
            [
                "30 tests of each size, in cycles",
                "   N  mean of A  deviation  CoV %  mean / N",
                "  30     137688       1075   0.78    4589.6",
                "  31     142039        775   0.55    4581.9  (1 left out)",
                "  32     146716        709   0.48    4584.9",
                "  33     151143        749   0.50    4580.1",
                "  34     155521        800   0.51    4574.1",
                "steady from N = 30 on: all means within 1 % of each other (two one-sided t tests, 95 % confidence)",
                "one circle, from N = 34: mean 4574.1 [4565.4, 4582.9]",
                "deviation of one circle: 137.1 (3.00 %) if circles are independent, which sizes so alike do not show",
                "tests needed for 1 % at 95 % confidence: 2",
                "",
                "Initial Test size: 30",
                "Delta: 1",
                "Number of Tests / Sample size of Accumulated latency: 30",
                "Number of Groups: 5",
                "Accumulated latencies (clock cycles):",
                "139790 142430 146244 151095 155805",
            ]
        );
        assert_eq!(lines[18], "138378 141608* 146696 150846 155196");
        assert_eq!(lines.len(), 17 + 30 + 1);
    }

    /// The lines about the warm-up and the latency of one circle.
    fn conclusions(tests: &[Batch], plan: CirclePlan) -> Vec<String> {
        let circles = yamba_harness::circles(tests, plan, |_| true).unwrap();
        let groups = circles.launches[0].groups.len();
        lines(&circles, false).split_off(2 + groups)
    }

    #[test]
    fn doubts_are_stated() {
        let plan = CirclePlan::default();
        assert_eq!(
            conclusions(&measured(0, COLD), plan),
            [
                "not known to be steady from any N on: all means within 1 % of each other (two one-sided t tests, 95 % confidence) is not shown",
                "one circle, from N = 5: mean 4709.9 [4680.8, 4739.0]",
                "deviation of one circle: 174.2 (3.70 %) if circles are independent, not contradicted by the groups (Brown-Forsythe, p = 0.11)",
                "tests needed for 1 % at 95 % confidence: 11",
            ]
        );
        let mut tests = measured(0, COLD);
        let first = tests.iter_mut().filter(|t| t.group == Some(0));
        first.for_each(|t| t.ns += 9.0 * (t.ns - 2550.0));
        assert_eq!(
            conclusions(&tests, plan)[2],
            "deviation of one circle: not known; circles of a test are not independent, since the variance of A is not proportional to N (Brown-Forsythe, p = 3.3e-9)"
        );
    }

    #[test]
    fn more_tests_than_measured_are_a_case_for_a_second_round() {
        let needed = |half_width, groups| {
            let plan = CirclePlan { groups, half_width, ..CirclePlan::default() };
            conclusions(&measured(0, WARM), plan).pop().unwrap()
        };
        assert_eq!(
            needed(0.001, None),
            "tests needed for 0.1 % at 95 % confidence: 102; help: a second round measures them (--set second_round=SECONDS)"
        );
        assert_eq!(needed(0.001, Some(4)), "tests needed for 0.1 % at 95 % confidence: 102");
    }

    #[test]
    fn second_round_is_named_with_its_half_width() {
        let plan =
            CirclePlan { groups: Some(4), half_width: 0.02, margin: 0.05, ..CirclePlan::default() };
        assert_eq!(
            conclusions(&measured(0, WARM), plan)[..3],
            [
                "steady from N = 30 on: all means within 5 % of each other (two one-sided t tests, 95 % confidence)",
                "second round: 30 tests of N = 34",
                "one circle, from N = 34: mean 4574.1 [4565.4, 4582.9]",
            ]
        );
    }

    #[test]
    fn table_is_of_the_median_launch() {
        let mut tests = Vec::new();
        for (launch, factor) in [1.02, 0.99, 1.0].into_iter().enumerate() {
            let mut one = measured(launch as u64, WARM);
            one.iter_mut().for_each(|t| t.ns *= factor);
            tests.append(&mut one);
        }
        let circles = yamba_harness::circles(&tests, CirclePlan::default(), |_| true).unwrap();
        let lines = lines(&circles, false);
        assert_eq!(lines[0], "30 tests of each size, launch 3 of 3 (the median one), in cycles");
        assert_eq!(lines.last().unwrap(), "mean of one circle in all launches: 4528.4 to 4665.6");
    }

    #[test]
    fn single_group_reports_no_warm_up() {
        let circles =
            yamba_harness::circles(&measured(0, WARM)[..30], CirclePlan::default(), |_| true)
                .unwrap();
        let lines = lines(&circles, false);
        assert_eq!(lines[3], "one size alone does not show whether the caches are warm");
        let none = yamba_harness::circles(&measured(0, WARM)[..1], CirclePlan::default(), |_| true)
            .unwrap();
        assert!(super::lines(&none, true).is_empty());
    }
}
