//! The answer as a person reads it: a line a figure, in cycles and in ns, each with its interval; what is to be known of
//! it below it.

use yamba_record::{Benchmark, Run, Status};

use crate::run::{number, scale};

/// The answer.
pub fn report(run: &Run, colour: bool) -> String {
    let rows: Vec<[String; 4]> = run.benchmarks.iter().map(|b| cells(run, b)).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = std::array::from_fn(width);
    let mut out = String::new();
    let mut subject = "";
    let mut said: &[String] = &[];
    for (benchmark, row) in run.benchmarks.iter().zip(&rows) {
        if subject_of(benchmark) != subject {
            subject = subject_of(benchmark);
            said = &[];
            out.push_str(&bold(subject, colour));
            out.push('\n');
        }
        out.push_str(&format!(
            "  {}",
            word(benchmark, &row[0], widths[0], colour)
        ));
        for (cell, width) in row.iter().zip(widths).skip(1) {
            if width > 0 {
                out.push_str(&format!("  {cell:width$}"));
            }
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        // Both figures of an instruction may fail for the same reason.
        let new = benchmark.notes.iter().filter(|n| !said.contains(n));
        for line in new.flat_map(|n| n.lines()) {
            out.push_str(&format!("      {line}\n"));
        }
        said = &benchmark.notes;
    }
    out
}

/// `imul rax, rax` of `asm/imul rax, rax/latency`.
fn subject_of(benchmark: &Benchmark) -> &str {
    let name = benchmark.name.as_str();
    let (kind, rest) = name.split_once('/').unwrap_or(("", name));
    match kind {
        "asm" => rest.rsplit_once('/').map_or(rest, |(subject, _)| subject),
        _ => rest,
    }
}

/// What of it the figure is.
fn aspect_of(benchmark: &Benchmark) -> &str {
    let name = benchmark.name.as_str();
    match name.strip_prefix("asm/").and_then(|n| n.rsplit_once('/')) {
        Some((_, aspect)) => aspect,
        None => "time",
    }
}

fn word(benchmark: &Benchmark, aspect: &str, width: usize, colour: bool) -> String {
    let mark = match benchmark.status {
        Status::Ok => return format!("{aspect:width$}"),
        Status::Invalid => "INVALID",
        Status::Crashed => "CRASHED",
        Status::Skipped => "none",
    };
    let code = match benchmark.status {
        Status::Skipped => "2",
        _ => "1;31",
    };
    match colour {
        true => format!("{aspect:width$}  \x1b[{code}m{mark}\x1b[0m"),
        false => format!("{aspect:width$}  {mark}"),
    }
}

fn bold(text: &str, colour: bool) -> String {
    match colour {
        true => format!("\x1b[1m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}

/// Aspect, cycles, time, comparison.
fn cells(run: &Run, benchmark: &Benchmark) -> [String; 4] {
    let aspect = aspect_of(benchmark).to_owned();
    let none = || std::array::from_fn(|_| String::new());
    let (Some(median), Some([low, high])) = (benchmark.median, benchmark.interval) else {
        let mut empty: [String; 4] = none();
        empty[0] = aspect;
        return empty;
    };
    let (factor, unit) = scale(median, benchmark.unit.as_deref().unwrap_or("ns"));
    let time = format!(
        "{} {unit} [{}, {}]",
        number(median * factor),
        number(low * factor),
        number(high * factor)
    );
    let cycles = benchmark.cycles.map_or(String::new(), |c| {
        let [low, high] = c.interval;
        format!(
            "{} cycles [{}, {}]",
            number(c.median),
            number(low),
            number(high)
        )
    });
    [
        aspect,
        cycles,
        time,
        compared(run, benchmark).unwrap_or_default(),
    ]
}

/// A figure beside the first one of its kind.
fn compared(run: &Run, benchmark: &Benchmark) -> Option<String> {
    let aspect = aspect_of(benchmark);
    let is_figure = |b: &&Benchmark| b.status == Status::Ok && aspect_of(b) == aspect;
    let first = run.benchmarks.iter().find(is_figure)?;
    if std::ptr::eq(first, benchmark) || benchmark.status != Status::Ok {
        return None;
    }
    let (ratio, [low, high]) = ratio(first, benchmark)?;
    let subject = subject_of(first);
    if low <= 1.0 && 1.0 <= high {
        return Some(format!("~ {subject}"));
    }
    let (ratio, low, high) = (number(ratio), number(low), number(high));
    Some(format!("{ratio} times {subject} [{low}, {high}]"))
}

/// What b is of a, in cycles where both are known, from one end of an interval to the other end of the other.
fn ratio(a: &Benchmark, b: &Benchmark) -> Option<(f64, [f64; 2])> {
    let in_cycles = a.cycles.is_some() && b.cycles.is_some();
    let ends = |x: &Benchmark| match x.cycles.filter(|_| in_cycles) {
        Some(c) => Some((c.median, c.interval)),
        None => Some((x.median?, x.interval?)),
    };
    let ((a, [a_low, a_high]), (b, [b_low, b_high])) = (ends(a)?, ends(b)?);
    let is_positive = a_low > 0.0 && b_low > 0.0;
    is_positive.then(|| (b / a, [b_low / a_high, b_high / a_low]))
}
