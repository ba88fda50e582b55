//! Predictions of applications as a page: stacked bars, measured times beside them, and the tables.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use maud::{DOCTYPE, Markup, html as markup};

use super::STYLE;
use super::miss_ratios::{self, MissRatios};
use super::preamble::{finished, preamble};

const STACKS: &str = include_str!("../../assets/predictions.css");

/// At most this many primitives have a number and a colour of their own. The others share one part
/// of each bar.
const OWN: usize = 9;

/// Least share of the axis, in percent, at which a part has room for its number.
const ROOM: f64 = 2.0;

/// The time that a bar shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PredictedTime {
    /// Kernel time, by primitive.
    #[default]
    Kernel,
    /// Kernel and user time, by part.
    Processor,
    /// Processor time and waits, by part.
    Elapsed,
}

impl PredictedTime {
    fn name(self) -> &'static str {
        match self {
            PredictedTime::Kernel => "kernel time",
            PredictedTime::Processor => "processor time",
            PredictedTime::Elapsed => "elapsed time",
        }
    }

    fn caption(self, unit: &str) -> String {
        let by = if self == PredictedTime::Kernel { "primitive" } else { "part" };
        let (first, rest) = self.name().split_at(1);
        let first = first.to_uppercase();
        format!(
            "{first}{rest} of one {unit}, from 0, by {by}; the line at the end of a bar is the interval."
        )
    }
}

/// A prediction of one application on one system.
#[derive(Clone, Debug, Default)]
pub struct PredictedBar {
    pub application: String,
    pub system: String,
    pub time: PredictedTime,
    /// The unit of work.
    pub unit: String,
    /// The terms of the sum.
    pub parts: Vec<PredictedPart>,
    /// The sum, in ns.
    pub total_ns: f64,
    pub interval_ns: Option<[f64; 2]>,
    /// The sum and its interval, as text.
    pub text: String,
    /// The measured time.
    pub measured: Option<MeasuredBar>,
    /// The table of the terms; the first row has the titles.
    pub rows: Vec<Vec<String>>,
    /// Sentences about the prediction.
    pub remarks: Vec<String>,
}

/// A term of the sum.
#[derive(Clone, Debug, Default)]
pub struct PredictedPart {
    /// The primitive.
    pub name: String,
    /// Its time, in ns.
    pub ns: f64,
    /// Whether costs of the primitive itself decide its time.
    pub is_covered: bool,
}

/// The measured time of a unit.
#[derive(Clone, Debug, Default)]
pub struct MeasuredBar {
    /// The time, in ns.
    pub ns: f64,
    pub interval_ns: Option<[f64; 2]>,
    /// Time, interval and error of the prediction, as text.
    pub text: String,
}

/// The page of some predictions. `conclusions` are sentences about all of them: rankings, ratios
/// and times of file reads. `misses` is the curve behind the latter.
pub fn predictions(
    bars: &[PredictedBar],
    conclusions: &[String],
    misses: Option<&MissRatios>,
) -> String {
    let axes: IndexSet<(PredictedTime, &str)> =
        bars.iter().map(|bar| (bar.time, bar.unit.as_str())).collect();
    let title = title(bars);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            (preamble(&title, &[STYLE, STACKS], &[]))
            body {
                a.skip href="#tables" { "To the tables" }
                header { h1 { "Yamba: " (title) } }
                main {
                    (hatching())
                    @for (time, unit) in &axes { (chart(bars, *time, unit)) }
                    @if !conclusions.is_empty() {
                        section aria-labelledby="conclusions" {
                            h2 #conclusions { "Comparison" }
                            ul { @for line in conclusions { li { (line) } } }
                        }
                    }
                    @if let Some(misses) = misses { (miss_ratios::figure(misses)) }
                    h2 #tables { "Terms" }
                    @for bar in bars { (terms(bar)) }
                }
                footer { p { "Made by Yamba " (env!("CARGO_PKG_VERSION")) "." } }
            }
        }
    };
    finished(page)
}

fn title(bars: &[PredictedBar]) -> String {
    let names: IndexSet<&str> = bars.iter().map(|bar| bar.application.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let times: IndexSet<&str> = bars.iter().map(|bar| bar.time.name()).collect();
    let times: Vec<&str> = times.into_iter().collect();
    format!("{} of {}", times.join(" and "), names.join(", "))
}

/// The primitives with a number, from the largest one over all bars.
struct Numbered<'a>(Vec<&'a str>);

impl<'a> Numbered<'a> {
    fn new(bars: &[&'a PredictedBar]) -> Numbered<'a> {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for part in bars.iter().flat_map(|bar| &bar.parts) {
            *sums.entry(&part.name).or_default() += part.ns;
        }
        let mut order: Vec<(&str, f64)> = sums.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        Numbered(order.iter().take(OWN).map(|(name, _)| *name).collect())
    }

    /// The number of a primitive, from 1. 0 stands for all others.
    fn number(&self, name: &str) -> usize {
        self.0.iter().position(|own| *own == name).map_or(0, |at| at + 1)
    }
}

/// Time of a bar by number, covered or not. The parts without a number come last.
fn stacked(bar: &PredictedBar, numbered: &Numbered) -> Vec<(usize, bool, f64)> {
    let mut sums: BTreeMap<(usize, bool), f64> = BTreeMap::new();
    for part in &bar.parts {
        let number = match numbered.number(&part.name) {
            0 => OWN + 1,
            own => own,
        };
        *sums.entry((number, !part.is_covered)).or_default() += part.ns;
    }
    let each = sums.into_iter().filter(|(_, ns)| *ns > 0.0);
    each.map(|((number, is_open), ns)| (number % (OWN + 1), is_open, ns)).collect()
}

/// The bars of all predictions of one time of one unit of work, on one axis.
fn chart(bars: &[PredictedBar], time: PredictedTime, unit: &str) -> Markup {
    let bars: Vec<&PredictedBar> =
        bars.iter().filter(|bar| bar.time == time && bar.unit == unit).collect();
    let numbered = Numbered::new(&bars);
    let ends = bars.iter().flat_map(|bar| {
        let measured = bar.measured.iter();
        let of_measured = measured.flat_map(|m| m.interval_ns.into_iter().flatten().chain([m.ns]));
        let own = bar.interval_ns.into_iter().flatten().chain([bar.total_ns]);
        own.chain(of_measured)
    });
    let most = ends.fold(f64::MIN_POSITIVE, f64::max);
    let stacks: Vec<Vec<(usize, bool, f64)>> =
        bars.iter().map(|bar| stacked(bar, &numbered)).collect();
    markup! {
        figure.stacks {
            figcaption { (time.caption(unit)) }
            table {
                tbody {
                    @for (bar, stack) in bars.iter().zip(&stacks) {
                        tr.pair[bar.measured.is_some()] {
                            th scope="row" { strong { (bar.application) } " on " (bar.system) @if bar.measured.is_some() { ", predicted" } }
                            td.bar { (drawing(stack, bar.interval_ns, most)) }
                            td.number { (bar.text) }
                        }
                        @if let Some(measured) = &bar.measured {
                            tr {
                                th scope="row" { "measured" }
                                td.bar { (measured_drawing(measured, most)) }
                                td.number { (measured.text) }
                            }
                        }
                    }
                }
            }
            (legend(&bars, &stacks, &numbered))
        }
    }
}

fn percent(ns: f64, most: f64) -> f64 {
    (100.0 * ns / most).clamp(0.0, 100.0)
}

fn drawing(stack: &[(usize, bool, f64)], interval: Option<[f64; 2]>, most: f64) -> Markup {
    let mut start = 0.0;
    let parts: Vec<(usize, bool, f64, f64)> = stack
        .iter()
        .map(|(number, is_open, ns)| {
            let (at, width) = (start, percent(*ns, most));
            start += width;
            (*number, *is_open, at, width)
        })
        .collect();
    markup! {
        svg aria-hidden="true" {
            @for (number, is_open, at, width) in parts {
                rect class={ "part p" (number) } x=(share(at)) width=(share(width)) y="15%" height="70%" {}
                @if is_open { rect.hatched x=(share(at)) width=(share(width)) y="15%" height="70%" {} }
                @if width >= ROOM && number > 0 { text x=(share(at + width / 2.0)) y="50%" { (number) } }
            }
            @if let Some(ends) = interval { (whisker(ends, most)) }
        }
    }
}

fn measured_drawing(measured: &MeasuredBar, most: f64) -> Markup {
    markup! {
        svg aria-hidden="true" {
            rect.measured x="0" width=(share(percent(measured.ns, most))) y="15%" height="70%" {}
            @if let Some(ends) = measured.interval_ns { (whisker(ends, most)) }
        }
    }
}

/// Draws an interval as a line with an upright end on each side.
fn whisker(ends: [f64; 2], most: f64) -> Markup {
    let [low, high] = ends.map(|end| share(percent(end, most)));
    markup! {
        line x1=(low) x2=(high) y1="92%" y2="92%" {}
        @for end in [&low, &high] { line x1=(end) x2=(end) y1="84%" y2="100%" {} }
    }
}

/// A length on the axis.
fn share(percent: f64) -> String {
    format!("{percent:.3}%")
}

fn legend(
    bars: &[&PredictedBar],
    stacks: &[Vec<(usize, bool, f64)>],
    numbered: &Numbered,
) -> Markup {
    let all = || stacks.iter().flatten();
    let has_others = all().any(|(number, ..)| *number == 0);
    let has_open = all().any(|(_, is_open, _)| *is_open);
    let has_measured = bars.iter().any(|bar| bar.measured.is_some());
    markup! {
        ul.legend {
            @for (at, name) in numbered.0.iter().enumerate() {
                li { (sample(&format!("p{}", at + 1), Some(at + 1))) (name) }
            }
            @if has_others { li { (sample("p0", None)) "all others" } }
            @if has_open { li { (sample("hatched", None)) "hatched: without costs of its own" } }
            @if has_measured { li { (sample("measured", None)) "measured" } }
        }
    }
}

fn sample(class: &str, number: Option<usize>) -> Markup {
    markup! {
        svg aria-hidden="true" {
            rect class=(class) x="2%" y="5%" width="96%" height="90%" {}
            @if let Some(number) = number { text x="50%" y="50%" { (number) } }
        }
    }
}

/// The pattern of parts without costs of their own.
fn hatching() -> Markup {
    markup! {
        svg #hatching aria-hidden="true" {
            defs {
                pattern #hatch width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    line x1="0" y1="0" x2="0" y2="6" {}
                }
            }
        }
    }
}

/// The table and the remarks of a prediction.
fn terms(bar: &PredictedBar) -> Markup {
    let name = format!("{} on {}", bar.application, bar.system);
    markup! {
        section {
            h3 { (name) }
            div.wide role="region" aria-label={ "Terms of " (name) } tabindex="0" {
                table {
                    caption { "Terms of " (bar.text) " each " (bar.unit) }
                    @if let Some((titles, rows)) = bar.rows.split_first() {
                        thead { tr { @for title in titles { th scope="col" { (title) } } } }
                        tbody {
                            @for row in rows {
                                tr { @for (at, cell) in row.iter().enumerate() { (table_cell(at, row.len(), cell)) } }
                            }
                        }
                    }
                }
            }
            @for line in &bar.remarks { p.prose { (line) } }
        }
    }
}

/// The first cell names the primitive, the last one has its mark, all others are numbers.
fn table_cell(at: usize, count: usize, text: &str) -> Markup {
    markup! {
        @if at == 0 { th scope="row" { (text) } }
        @else if at + 1 == count { td { (text) } }
        @else { td.number { (text) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, ns: f64, is_covered: bool) -> PredictedPart {
        PredictedPart { name: name.to_owned(), ns, is_covered }
    }

    fn bar(system: &str, parts: Vec<PredictedPart>) -> PredictedBar {
        PredictedBar {
            application: "a<b".to_owned(),
            system: system.to_owned(),
            unit: "run".to_owned(),
            total_ns: parts.iter().map(|p| p.ns).sum(),
            parts,
            text: "5 us".to_owned(),
            ..PredictedBar::default()
        }
    }

    fn attributes(page: &str, element: &str, name: &str) -> Vec<String> {
        let each = page.split(element).skip(1);
        let value = |rest: &str| {
            let value = rest.split_once(&format!(" {name}=\""))?.1.split('"').next()?;
            Some(value.to_owned())
        };
        each.filter_map(value).collect()
    }

    #[test]
    fn parts_are_as_long_as_their_share_of_the_longest_bar() {
        let page = predictions(
            &[
                bar("s", vec![part("read", 300.0, true), part("stat", 100.0, false)]),
                bar("t", vec![part("read", 500.0, true), part("stat", 300.0, true)]),
            ],
            &[],
            None,
        );
        let widths = attributes(&page, "<rect class=\"part", "width");
        assert_eq!(widths, ["37.500%", "12.500%", "62.500%", "37.500%"]);
        let starts = attributes(&page, "<rect class=\"part", "x");
        assert_eq!(starts, ["0.000%", "37.500%", "0.000%", "62.500%"]);
        // One hatched part, and its sample in the legend.
        assert_eq!(page.matches("class=\"hatched\"").count(), 2);
        assert!(page.contains("a&lt;b") && !page.contains("a<b"));
    }

    #[test]
    fn small_primitives_are_one_part_without_a_number() {
        let parts = (1..=12).map(|i| part(&format!("call_{i}"), f64::from(i), true));
        let page = predictions(&[bar("s", parts.collect())], &[], None);
        // 1, 2 and 3 of 78 together.
        let widths = attributes(&page, "<rect class=\"part p0", "width");
        assert_eq!(widths, ["7.692%"]);
        assert!(page.contains("all others") && !page.contains("hatched:"));
        let names: Vec<&str> = page.split("</svg>call_").skip(1).collect();
        assert_eq!(names.len(), OWN);
        assert!(names[0].starts_with("12<"), "the largest first");
    }

    #[test]
    fn measured_time_and_intervals_are_on_the_same_axis() {
        let mut with = bar("s", vec![part("read", 100.0, true)]);
        with.interval_ns = Some([80.0, 120.0]);
        with.measured = Some(MeasuredBar {
            ns: 150.0,
            interval_ns: Some([140.0, 200.0]),
            text: "150 ns".to_owned(),
        });
        let page = predictions(&[with], &["s is faster".to_owned()], None);
        let widths = attributes(&page, "<rect class=\"measured\"", "width");
        assert_eq!(widths, ["75.000%", "96%"], "the bar and the legend");
        let ends = attributes(&page, "<line x1=\"40", "x2");
        assert_eq!(ends[0], "60.000%");
        assert!(page.contains("s is faster") && page.contains(", predicted"));
        assert!(page.contains("Yamba: kernel time of") && page.contains("by primitive"));
    }

    #[test]
    fn different_times_have_an_axis_each() {
        let kernel = bar("s", vec![part("read", 100.0, true)]);
        let parts = vec![part("kernel time", 100.0, true), part("user time", 300.0, true)];
        let elapsed = PredictedBar { time: PredictedTime::Elapsed, ..bar("s", parts) };
        let page = predictions(&[kernel, elapsed.clone()], &[], None);
        let widths = attributes(&page, "<rect class=\"part", "width");
        assert_eq!(widths, ["100.000%", "75.000%", "25.000%"], "the largest part first");
        assert!(page.contains("Yamba: kernel time and elapsed time of"), "{page}");
        let page = predictions(&[elapsed], &[], None);
        assert!(page.contains("Elapsed time of one run, from 0, by part;"), "{page}");
        assert!(!page.contains("Kernel time of one"), "{page}");
    }
}
