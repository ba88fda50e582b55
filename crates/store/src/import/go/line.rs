//! The lines of Go's benchmarks.

use super::super::words::number;

/// A line, by what it says.
pub(super) enum Line<'a> {
    /// Nothing about benchmarks: an empty line, a comment or a package without tests.
    Empty,
    /// `KEY: VALUE`
    Config(&'a str, &'a str),
    /// `Unit UNIT better=higher`, with the better direction, if the line has one.
    Unit(&'a str, Option<Better>),
    Result(Benchmark<'a>, Row<'a>),
    /// A benchmark's name alone: it begins. `go test -v` prints that.
    Begin(Benchmark<'a>),
    /// A benchmark's name, and the text that stands in the place of its result.
    Damaged(Benchmark<'a>, &'a str),
    /// `--- FAIL: NAME` and its like.
    Outcome(Outcome, Benchmark<'a>),
    /// The end of a process: `PASS`, or `ok` with its package.
    Passed(Option<&'a str>),
    /// The end of a process: `FAIL`, or a line after it.
    Failed,
    Panic,
    Other,
}

/// The better direction of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Failed,
    Skipped,
    /// The output of a benchmark that ran.
    Logged,
}

/// A benchmark: its name, and the number of processors that Go may use at once, if the name says
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Benchmark<'a> {
    pub(super) name: &'a str,
    pub(super) processors: Option<u64>,
}

/// The values of a line, each with its unit.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub(super) values: Vec<(f64, &'a str)>,
}

/// Maximum number of values in a line. Each is compared with all others.
const MOST_VALUES: usize = 50;

/// A line that ends the output of a process early.
const PANICS: [&str; 4] = ["panic: ", "fatal error: ", "SIG", "unexpected fault address"];

impl<'a> Line<'a> {
    pub(super) fn read(line: &'a str) -> Line<'a> {
        let text = line.trim_end();
        if text.is_empty() || text.starts_with('#') || text.starts_with("?   \t") {
            return Line::Empty;
        }
        if let Some((name, rest)) = named(text) {
            return Line::after_name(Benchmark::read(name), rest);
        }
        if let Some(outcome) = outcome(text.trim_start()) {
            return outcome;
        }
        if is_panic(text) {
            return Line::Panic;
        }
        if let Some(rest) = text.strip_prefix("ok  \t") {
            return Line::Passed(rest.split_whitespace().next());
        }
        match text {
            "PASS" => return Line::Passed(None),
            "FAIL" => return Line::Failed,
            _ if text.starts_with("FAIL\t") || text.starts_with("exit status ") => {
                return Line::Failed;
            }
            _ => {}
        }
        unit(text).or_else(|| config(text)).unwrap_or(Line::Other)
    }

    fn after_name(benchmark: Benchmark<'a>, rest: &'a str) -> Line<'a> {
        if rest.is_empty() {
            return Line::Begin(benchmark);
        }
        match (outcome(rest), row(rest)) {
            (Some(outcome), _) => outcome,
            (None, Some(row)) => Line::Result(benchmark, row),
            (None, None) => Line::Damaged(benchmark, rest),
        }
    }
}

impl<'a> Benchmark<'a> {
    /// The number at the end is that of the processors. Go writes none for one of them.
    fn read(name: &'a str) -> Benchmark<'a> {
        let whole = Benchmark { name, processors: None };
        let Some((start, end)) = name.rsplit_once('-') else {
            return whole;
        };
        let is_number = !end.starts_with('0') && end.bytes().all(|b| b.is_ascii_digit());
        match end.parse() {
            Ok(processors) if is_number => Benchmark { name: start, processors: Some(processors) },
            _ => whole,
        }
    }
}

pub(super) fn is_panic(text: &str) -> bool {
    PANICS.iter().any(|begin| text.starts_with(begin))
}

/// A benchmark's name at the start of a line, and the rest of the line.
fn named(line: &str) -> Option<(&str, &str)> {
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let begin = name.strip_prefix("Benchmark")?.chars().next();
    let is_name = begin.is_none_or(|c| !c.is_lowercase() && c != ':');
    is_name.then_some((name, rest.trim_start()))
}

/// Whether a line has values without a benchmark's name. A benchmark that prints text divides its
/// line.
pub(super) fn is_nameless_row(line: &str) -> bool {
    row(line).is_some()
}

/// The number of iterations, and pairs of a value and its unit. `None` for another text.
fn row(text: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (iterations, pairs) = words.split_first()?;
    let is_count = iterations.bytes().all(|b| b.is_ascii_digit());
    if !is_count
        || iterations.parse::<u64>().ok()? == 0
        || pairs.is_empty()
        || pairs.len() > 2 * MOST_VALUES
    {
        return None;
    }
    let mut values: Vec<(f64, &str)> = Vec::new();
    for pair in pairs.chunks(2) {
        let [value, unit] = pair else { return None };
        let is_known = values.iter().any(|(_, known)| known == unit);
        if is_known || unit.parse::<f64>().is_ok() {
            return None;
        }
        values.push((number(value)?, unit));
    }
    Some(Row { values })
}

fn outcome(text: &str) -> Option<Line<'_>> {
    let outcomes = [
        ("--- FAIL: ", Outcome::Failed),
        ("--- SKIP: ", Outcome::Skipped),
        ("--- BENCH: ", Outcome::Logged),
    ];
    outcomes.into_iter().find_map(|(begin, outcome)| {
        let (name, _) = named(text.strip_prefix(begin)?)?;
        Some(Line::Outcome(outcome, Benchmark::read(name)))
    })
}

fn unit(text: &str) -> Option<Line<'_>> {
    let mut words = text.strip_prefix("Unit ")?.split_whitespace();
    let unit = words.next()?;
    let is_setting = |word: &str| word.contains('=');
    let are_settings = words.clone().all(is_setting);
    let better = words.find_map(|word| match word {
        "better=higher" => Some(Better::Higher),
        "better=lower" => Some(Better::Lower),
        _ => None,
    });
    are_settings.then_some(Line::Unit(unit, better))
}

/// A key has no space and no capital letter, and begins with a small letter.
fn config(text: &str) -> Option<Line<'_>> {
    let (key, value) = text.split_once(':')?;
    let is_key = key.starts_with(char::is_lowercase)
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let is_apart = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_apart).then(|| Line::Config(key, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_at_the_end_of_a_name_is_that_of_processors() {
        for (text, name, processors) in [
            ("BenchmarkA-8", "BenchmarkA", Some(8)),
            ("BenchmarkA/n=1-16", "BenchmarkA/n=1", Some(16)),
            ("BenchmarkA/x-y", "BenchmarkA/x-y", None),
            ("BenchmarkA-08", "BenchmarkA-08", None),
            ("BenchmarkA-", "BenchmarkA-", None),
            ("Benchmark", "Benchmark", None),
        ] {
            assert_eq!(Benchmark::read(text), Benchmark { name, processors }, "{text}");
        }
    }

    #[test]
    fn line_has_at_most_fifty_values() {
        let line = |count: usize| {
            let values: Vec<String> = (0..count).map(|unit| format!(" 1 u{unit}")).collect();
            format!("BenchmarkA 10{}", values.concat())
        };
        assert!(matches!(Line::read(&line(50)), Line::Result(..)));
        assert!(matches!(Line::read(&line(51)), Line::Damaged(..)));
    }

    #[test]
    fn line_that_is_not_whole_is_no_result() {
        let is_result = |text| matches!(Line::read(text), Line::Result(..));
        assert!(is_result("BenchmarkA-8   \t    1000\t      1234 ns/op"));
        assert!(is_result("BenchmarkA 1 0.5 ns/op 12.3 MB/s 0 B/op 1e3 x/op"));
        for text in [
            "BenchmarkA-8",
            "BenchmarkA-8 1000",
            "BenchmarkA-8 1000 1234",
            "BenchmarkA-8 1000 1234 ns/op 56",
            "BenchmarkA-8 1000 1234 ns/op 56 ns/op",
            "BenchmarkA-8 1000 1,5 ns/op",
            "BenchmarkA-8 1000 NaN ns/op",
            "BenchmarkA-8 0 1234 ns/op",
            "BenchmarkA-8 1e3 1234 ns/op",
            "BenchmarkA-8 42 1000 1234 ns/op",
            "Benchmarking 1000 1234 ns/op",
            " BenchmarkA-8 1000 1234 ns/op",
            "",
        ] {
            assert!(!is_result(text), "{text}");
        }
    }
}
