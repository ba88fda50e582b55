//! Charts as text for a terminal, with the same curves as the page.

use yamba_record::Run;
use yamba_record::number::number;

use crate::chart::{Chart, Point};
use crate::html::bars::{Bar, BarChart, bar_charts};
use crate::html::charts::{absent, charts};
use crate::html::rows;
use crate::intervals::WITHIN;
use crate::number::{axis_number, short};
use crate::ticks::{LogAxis, ends};

/// Height of a chart in lines.
const HEIGHT: usize = 17;

/// Minimum width of a chart.
const LEAST_WIDTH: usize = 24;

/// Minimum and maximum width of a bar beside its label and figure.
const LEAST_BAR: usize = 12;
const MOST_BAR: usize = 60;

/// Marks of the curves, used cyclically.
const MARKS: [char; 8] = ['o', 'x', '+', '*', '#', '@', '%', '&'];

/// Mark of a disturbed point.
const DISTURBED: char = '?';

/// Mark of a line between two points.
const BETWEEN: char = '.';

/// Mark of a cache size.
const LEVEL: char = ':';

/// All charts of a run, at most `width` columns wide, then the bars of sweeps over names, and the
/// missing charts with reasons. Empty if no benchmark was swept.
pub fn plots(run: &Run, width: usize) -> String {
    let runs = std::slice::from_ref(run);
    let rows = rows::rows(runs);
    let mut all: Vec<String> = charts(runs, &rows).iter().map(|c| plot(c, width)).collect();
    let missing = absent(runs, &rows).into_iter();
    let bars = bar_charts(runs, &rows);
    all.extend(bars.iter().map(|chart| bars_of(chart, width)));
    all.extend(missing.map(|(name, text)| format!("{name}: {text}\n")));
    all.join("\n")
}

/// One line for each bar. Where `width` leaves a bar too little room, its label and figure get
/// lines of their own.
fn bars_of(chart: &BarChart, width: usize) -> String {
    let longest = |text: fn(&Bar) -> &str| {
        let lengths = chart.bars.iter().map(|bar| text(bar).chars().count());
        lengths.max().unwrap_or(0)
    };
    let (labels, texts) = (longest(|b| &b.label), longest(|b| &b.text));
    let room = width.saturating_sub(labels + texts + 6);
    let is_one_line = room >= LEAST_BAR;
    let columns = if is_one_line { room.min(MOST_BAR) } else { width.max(LEAST_WIDTH) - 4 };
    let mut out = format!("{}: {}\n", chart.name, chart.title);
    for bar in &chart.bars {
        let length = (bar.share * columns as f64).round() as usize;
        let drawn = "#".repeat(length.max(1));
        let disturbed = if bar.is_disturbed { " ?" } else { "" };
        let (label, text) = (&bar.label, bar.text.trim_end_matches(WITHIN));
        out.push_str(&if is_one_line {
            format!("  {label:labels$}  {drawn:columns$}  {text}{disturbed}\n")
        } else {
            format!("  {label}\n    {drawn}\n    {text}{disturbed}\n")
        });
    }
    for remark in chart.remarks() {
        let mark = if remark.starts_with("Disturbed") { "? " } else { "" };
        out.push_str(&format!("  {mark}{}\n", lower_first(&remark)));
    }
    out
}

/// The range of an axis.
struct Axis {
    low: f64,
    high: f64,
    /// The labels, if the axis is logarithmic.
    log: Option<LogAxis>,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, log: Option<LogAxis>) -> Axis {
        let (low, high) = log.as_ref().map_or_else(|| ends(values), |a| a.range.into());
        Axis { low, high, log }
    }

    /// The position of a value on the axis, from 0 to 1; 0.5 if the range is empty.
    fn share(&self, value: f64) -> f64 {
        let on = |v: f64| if self.log.is_some() { v.ln() } else { v };
        let length = on(self.high) - on(self.low);
        if length > 0.0 { (on(value) - on(self.low)) / length } else { 0.5 }
    }

    /// The value at a position of a linear axis.
    fn at(&self, share: f64) -> f64 {
        self.low + (self.high - self.low) * share
    }

    /// The index of the cell for a value, out of `count` cells.
    fn cell(&self, value: f64, count: usize) -> usize {
        let place = (self.share(value) * (count - 1) as f64).round();
        place.clamp(0.0, (count - 1) as f64) as usize
    }
}

pub fn plot(chart: &Chart, width: usize) -> String {
    let xs = chart.points().map(|p| p.x);
    let ys = || chart.points().map(|p| p.y);
    let x = &Axis::new(xs, chart.log_x_axis());
    let y = &Axis::new(ys(), chart.log_y_axis(ys()));
    let labels: Vec<String> = (0..HEIGHT).map(|line| label(y, line)).collect();
    let margin = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let columns = width.max(LEAST_WIDTH).saturating_sub(margin + 3).max(8);
    let grid = drawn(chart, x, y, columns);
    let mut out = headline(chart, x, y);
    for (line, label) in grid.iter().zip(&labels) {
        let cells: String = line.iter().collect();
        let bar = if label.is_empty() { '|' } else { '+' };
        out.push_str(format!("{label:>margin$} {bar} {cells}").trim_end());
        out.push('\n');
    }
    out.push_str(&format!("{:margin$} +{}\n", "", "-".repeat(columns + 1)));
    out.push_str(&format!("{:margin$}   {}\n", "", x_labels(x, columns)));
    out.push_str(&legend(chart));
    out
}

fn headline(chart: &Chart, x: &Axis, y: &Axis) -> String {
    let log = |axis: &Axis| axis.log.as_ref().map_or("", |_| ", logarithmic");
    let (y, x) = (format!("{}{}", chart.y, log(y)), format!("{}{}", chart.x, log(x)));
    format!("{}: {y} against {x}\n", chart.name)
}

/// The label of a line. On a linear axis every fourth line has one.
fn label(y: &Axis, line: usize) -> String {
    if let Some(log) = &y.log {
        let is_here = |(value, _): &&(f64, String)| HEIGHT - 1 - y.cell(*value, HEIGHT) == line;
        let tick = log.ticks.iter().find(is_here);
        return tick.map(|(_, label)| label.clone()).unwrap_or_default();
    }
    let share = 1.0 - line as f64 / (HEIGHT - 1) as f64;
    match line % 4 {
        0 => number(rounded(y.at(share))),
        _ => String::new(),
    }
}

/// Rounds to three significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powi(value.abs().log10().floor() as i32 - 2);
    (value / step).round() * step
}

fn drawn(chart: &Chart, x: &Axis, y: &Axis, columns: usize) -> Vec<Vec<char>> {
    let mut grid = vec![vec![' '; columns]; HEIGHT];
    for (bytes, _) in &chart.levels {
        let column = x.cell(*bytes as f64, columns);
        grid.iter_mut().for_each(|line| line[column] = LEVEL);
    }
    let place = |p: &Point| (x.cell(p.x, columns), HEIGHT - 1 - y.cell(p.y, HEIGHT));
    for curve in &chart.curves {
        for pair in curve.points.windows(2) {
            if chart.levels_between(&pair[0], &pair[1]).is_empty() {
                connect(&mut grid, place(&pair[0]), place(&pair[1]));
            }
        }
    }
    // Points come last, so that lines do not hide them.
    for (curve, mark) in chart.curves.iter().zip(MARKS.iter().cycle()) {
        for point in &curve.points {
            let (column, line) = place(point);
            grid[line][column] = if point.is_disturbed { DISTURBED } else { *mark };
        }
    }
    grid
}

/// Draws a straight line between two cells, without its ends.
fn connect(grid: &mut [Vec<char>], from: (usize, usize), to: (usize, usize)) {
    let (dx, dy) = (to.0 as f64 - from.0 as f64, to.1 as f64 - from.1 as f64);
    let steps = dx.abs().max(dy.abs()) as usize;
    for step in 1..steps {
        let share = step as f64 / steps as f64;
        let column = (from.0 as f64 + dx * share).round() as usize;
        let line = (from.1 as f64 + dy * share).round() as usize;
        grid[line][column] = BETWEEN;
    }
}

/// The labels of the x axis: both ends of a linear axis and the values between that fit, or those
/// labels of a logarithmic axis that fit.
fn x_labels(x: &Axis, columns: usize) -> String {
    let first = axis_number(x.low);
    let last = axis_number(x.high);
    if x.low == x.high {
        return format!("{first:^columns$}").trim_end().to_owned();
    }
    let mut line = vec![' '; columns];
    let mut put = |text: &str, at: usize| {
        let end = at + text.chars().count();
        let around = at.saturating_sub(1)..(end + 1).min(columns);
        if end <= columns && line[around].iter().all(|c| *c == ' ') {
            line.splice(at..end, text.chars());
        }
    };
    if let Some(log) = &x.log {
        for (value, label) in &log.ticks {
            let length = label.chars().count();
            let begin = x.cell(*value, columns).saturating_sub(length / 2);
            put(label, begin.min(columns.saturating_sub(length)));
        }
        return line.into_iter().collect::<String>().trim_end().to_owned();
    }
    put(&first, 0);
    put(&last, columns.saturating_sub(last.chars().count()));
    for share in [0.5, 0.25, 0.75] {
        let text = between(x, x.at(share));
        let middle = (share * (columns - 1) as f64).round() as usize;
        put(&text, middle.saturating_sub(text.chars().count() / 2));
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// A number between the ends of the x axis with three digits, in powers of 1024 if the axis ends at
/// a multiple of 1024.
fn between(x: &Axis, value: f64) -> String {
    const UNITS: [(&str, f64); 3] =
        [("Gi", (1_u64 << 30) as f64), ("Mi", (1_u64 << 20) as f64), ("Ki", 1024.0)];
    let is_binary = x.high >= 1024.0 && x.high % 1024.0 == 0.0;
    let unit = UNITS.iter().find(|(_, size)| is_binary && value >= *size);
    match unit {
        Some((name, size)) => format!("{}{name}", number(rounded(value / size))),
        None => axis_number(rounded(value)),
    }
}

fn legend(chart: &Chart) -> String {
    let mut out = String::new();
    if chart.curves.len() > 1 {
        for (curve, mark) in chart.curves.iter().zip(MARKS.iter().cycle()) {
            out.push_str(&format!("  {mark} {}\n", curve.name));
        }
    }
    for (bytes, name) in &chart.levels {
        out.push_str(&format!("  {LEVEL} {name}: {}\n", short(*bytes)));
    }
    if chart.disturbed() > 0 {
        out.push_str(&format!("  {DISTURBED} disturbed: {} of its points\n", chart.disturbed()));
    }
    for text in chart.left_out.sentence().into_iter().chain(chart.about_without_cycles()) {
        out.push_str(&format!("  {}\n", lower_first(&text)));
    }
    for finding in &chart.findings {
        out.push_str(&format!("  {finding}\n"));
    }
    out
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use yamba_record::program::Chart as Declared;
    use yamba_record::{Benchmark, Machine, Parameters, Status};

    use super::*;

    fn swept(points: &[(u64, f64)]) -> Run {
        let mut run = Run::new(Machine::default());
        for (size, median) in points {
            let text = r#"{"name":"lat_mem","class":"lat_mem","ports":[],"parameters":{},"processes":1,"status":"ok",
                "valid":true,"unit":"ns","operations":1,"median":null,"confidence_interval":null,"samples":[],"evidence":{},"notes":[]}"#;
            let mut entry: Benchmark = serde_json::from_str(text).unwrap();
            entry.parameters = Parameters(vec![("size".to_owned(), (*size).into())]);
            entry.declaration.figure = Some("latency".to_owned());
            entry.median = Some(*median);
            entry.confidence_interval = Some([*median; 2]);
            entry.declaration.charts = vec![Declared {
                figure: "latency".to_owned(),
                against: "size".to_owned(),
                by: None,
                log: true,
                fit_linear: false,
            }];
            run.benchmarks.push(entry);
        }
        run
    }

    #[test]
    fn sweep_is_drawn_from_left_to_right() {
        let run = swept(&[(1 << 14, 1.0), (1 << 20, 10.0), (1 << 26, 100.0)]);
        let text = plots(&run, 60);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "lat_mem: latency (ns), logarithmic against size, logarithmic");
        assert!(lines[1].starts_with("100 +") && lines[1].ends_with('o'), "{text}");
        assert_eq!(lines[17], format!("  1 + o{}", &lines[17][7..]), "{text}");
        assert_eq!(lines[9].matches('o').count(), 1, "{text}");
        assert!(lines[9].starts_with(" 10 +"), "{text}");
        assert_eq!(lines[19].split_whitespace().collect::<Vec<_>>()[0], "16Ki");
        assert!(lines[19].ends_with("64Mi"), "{text}");
        assert!(lines[19].contains(" 1Mi "), "{text}");
        assert!(lines.iter().all(|l| l.chars().count() <= 60), "{text}");
    }

    /// The y labels from above, and the words below the chart.
    fn labels(text: &str) -> (Vec<&str>, Vec<&str>) {
        let lines: Vec<&str> = text.lines().collect();
        let upright = lines[1..=HEIGHT].iter().filter_map(|l| l.split_once(" + "));
        let upright = upright.map(|(label, _)| label.trim()).collect();
        (upright, lines[HEIGHT + 2].split_whitespace().collect())
    }

    /// A sweep over names, without a declared chart.
    fn named(points: &[(&str, f64)]) -> Run {
        let mut run = swept(&vec![(1, 1.0); points.len()]);
        for (entry, (place, median)) in run.benchmarks.iter_mut().zip(points) {
            entry.declaration.charts.clear();
            entry.parameters = Parameters(vec![("place".to_owned(), (*place).into())]);
            entry.median = Some(*median);
            entry.confidence_interval = Some([*median; 2]);
        }
        run
    }

    #[test]
    fn sweep_over_names_draws_bars() {
        let mut run = named(&[("same", 5000.0), ("apart", 10_000.0), ("free", 1.0)]);
        run.benchmarks[2].interference.is_disturbed = true;
        let text = plots(&run, 60);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "lat_mem: latency (us)");
        assert!(lines[1].starts_with("  place=same   ####"), "{text}");
        assert!(lines[2].ends_with("  10 us [10, 10]"), "{text}");
        let count = |line: &str| line.matches('#').count();
        assert_eq!((count(lines[1]), count(lines[2])), (15, 29), "{text}");
        assert_eq!(count(lines[3]), 1, "{text}");
        assert!(lines[3].ends_with("1 ns [1, 1] ?"), "{text}");
        assert_eq!(lines[4], "  ? disturbed: 1 of its points");
        for width in [24, 40, 80, 200] {
            let text = plots(&run, width);
            let mut lines = text.lines().filter(|l| !l.contains("disturbed:"));
            assert!(lines.all(|l| l.chars().count() <= width), "{text}");
        }
        let page = crate::html::html(std::slice::from_ref(&run), &[], &[], None);
        assert_eq!(page.matches(r#"<td class="bar">"#).count(), 3);
        assert!(page.contains(r#"<rect y="1" width="50" height="8">"#), "{page}");
    }

    #[test]
    fn one_name_and_negative_values_have_no_bars() {
        assert_eq!(plots(&named(&[("same", 1.0)]), 60), "");
        assert_eq!(plots(&named(&[("same", 1.0), ("apart", -1.0)]), 60), "");
        let mut run = named(&[("same", 1.0), ("apart", 2.0), ("free", 3.0)]);
        run.benchmarks[2].valid = false;
        run.benchmarks[2].status = Status::Invalid;
        let text = plots(&run, 60);
        assert!(text.ends_with("  not drawn: 1 invalid\n"), "{text}");
        run.benchmarks.remove(1);
        assert_eq!(plots(&run, 60), "");
    }

    #[test]
    fn logarithmic_axes_are_labelled_with_powers() {
        let run = swept(&[(10_300, 10_300.0), (103_000, 515_000.0), (1_030_000, 1_030_000.0)]);
        let text = plots(&run, 80);
        // The figures are latencies, shown in ms.
        assert_eq!(labels(&text), (vec!["1", "0.1"], vec!["100000", "1000000"]), "{text}");
        let run = swept(&[(10_300, 1.03), (103_000, 25.75)]);
        let text = plots(&run, 80);
        let across = vec!["20000", "50000", "100000"];
        assert_eq!(labels(&text), (vec!["20", "10", "5", "2"], across), "{text}");
    }

    #[test]
    fn points_without_cycles_are_counted_and_named() {
        let mut run = swept(&[(1, 1.0), (2, 2.0), (4096, 3.0), (8192, 4.0)]);
        for (i, entry) in run.benchmarks.iter_mut().enumerate() {
            entry.declaration.charts[0].figure = "cycles".to_owned();
            entry.details.cycles = (i < 2).then_some(yamba_record::run::Cycles {
                median: 4.0,
                confidence_interval: [4.0; 2],
            });
        }
        run.benchmarks[2].notes = vec!["cycles are unknown: two chains disagree".into()];
        let text = plots(&run, 100);
        let line = "  not drawn, because their cycles are not known: 2 of 4 valid points (size=4Ki, size=8Ki): two chains disagree\n";
        assert!(text.contains(line), "{text}");
        for entry in &mut run.benchmarks {
            entry.declaration.charts[0].figure = "latency".to_owned();
        }
        assert!(!plots(&run, 100).contains("cycles"));
    }

    #[test]
    fn missing_chart_of_cycles_is_explained() {
        let mut run = swept(&[(1, 1.0), (2, 2.0), (4096, 3.0)]);
        for (i, entry) in run.benchmarks.iter_mut().enumerate() {
            entry.declaration.charts[0].figure = "cycles".to_owned();
            entry.notes = vec!["no cycles: the thread was blocked".into()];
            entry.details.cycles = (i < 1).then_some(yamba_record::run::Cycles {
                median: 4.0,
                confidence_interval: [4.0; 2],
            });
        }
        let line =
            "lat_mem: cycles: known at 1 of 3 points, too few for a chart; the thread was blocked";
        assert_eq!(plots(&run, 60), format!("{line}\n"));
        let page = crate::html::html(std::slice::from_ref(&run), &[], &[], None);
        let (name, text) = line.split_once(": ").unwrap();
        let sentence = format!("<p><strong>{name}</strong>: {text}.</p>");
        assert!(page.contains(&sentence), "{page}");
        // A single point is not a sweep, and two points with cycles are a chart.
        let mut one = run.clone();
        one.benchmarks.drain(..2);
        assert_eq!(plots(&one, 60), "");
        run.benchmarks[1].details.cycles = run.benchmarks[0].details.cycles;
        assert!(!plots(&run, 60).contains("too few"));
    }

    #[test]
    fn chart_fits_any_width() {
        let run = swept(&[(1, 1.0), (2, 1.1), (4096, 1.05)]);
        for width in [0, 10, 24, 79, 200] {
            let text = plots(&run, width);
            let longest = text.lines().skip(1).map(|l| l.chars().count()).max();
            assert!(longest <= Some(width.max(LEAST_WIDTH)), "{width}\n{text}");
            assert_eq!(
                text.matches('o').count() - text.lines().next().unwrap().matches('o').count(),
                3,
                "{text}"
            );
        }
    }

    #[test]
    fn disturbed_point_is_marked_and_not_fitted() {
        let mut run = swept(&[(1, 1.0), (2, 2.0), (3, 3.0), (4, 90.0)]);
        run.benchmarks[3].interference.is_disturbed = true;
        for entry in &mut run.benchmarks {
            entry.declaration.charts[0].fit_linear = true;
        }
        let text = plots(&run, 60);
        let mut lines = text.lines();
        assert!(lines.nth(1).unwrap().ends_with('?'), "{text}");
        assert!(text.contains("  ? disturbed: 1 of its points\n"), "{text}");
        let line = "  Fitted line through 3 of its 4 points: 0 ns [0, 0] and 1 ns [1, 1]";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn invalid_point_is_not_drawn() {
        let mut run = swept(&[(1, 1.0), (2, 2.0), (3, 3.0)]);
        run.benchmarks[1].valid = false;
        run.benchmarks[1].status = Status::Invalid;
        let text = plots(&run, 60);
        assert!(text.contains("  not drawn: 1 invalid\n"), "{text}");
        run.benchmarks.truncate(1);
        assert_eq!(plots(&run, 60), "", "one point is no curve");
    }

    #[test]
    fn flat_and_negative_figures_have_an_axis() {
        for medians in [[5.0, 5.0], [-1.0, 1.0], [0.0, 3.0]] {
            let run = swept(&[(1, medians[0]), (8, medians[1])]);
            assert!(plots(&run, 40).lines().count() > HEIGHT);
        }
    }
}
