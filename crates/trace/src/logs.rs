//! Reads whole logs: one with all processes, or one for each process (`strace -ff`).

use std::collections::{BTreeMap, BTreeSet};

use crate::line::{Content, Line, Prefix, line};
use crate::refusal::{Refusal, other_program};
use crate::shape::{call, hides_file};
use crate::strace::{ProcessForm, Reader};
use crate::trace::{Request, Trace, Unread};

/// A log of strace.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    /// The process that its name ends with, as `strace -ff` names logs. `None`: another name.
    pub process: Option<u32>,
    /// Its text.
    pub text: &'a str,
}

/// Reads the logs of one run of `strace`. With `files`, it records the accesses to files, which
/// needs `-y` or `-yy`.
///
/// # Errors
/// If the text is not that of strace, or the order of the calls is unknown.
pub fn read_strace(logs: &[Log], request: &Request, files: bool) -> Result<Trace, Refusal> {
    for log in logs {
        if let Some(name) = other_program(log.text) {
            return Err(Refusal::OtherProgram(name));
        }
    }
    let mut reader = Reader::default();
    if files {
        reader = reader.recording_files();
    }
    let has_summary = match logs {
        [log] => read_one(log.text, &mut reader),
        logs => read_several(logs, &mut reader, files)?,
    };
    let trace = reader.trace(request);
    trace.ok_or(if has_summary { Refusal::Summary } else { Refusal::NoCall })
}

/// Lines of a log with their numbers, without those of a summary. The last one may lack its end.
struct Lines<'a> {
    lines: Vec<(usize, &'a str)>,
    cut: Option<(usize, &'a str)>,
    has_summary: bool,
}

impl<'a> Lines<'a> {
    fn read(text: &'a str) -> Lines<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut found = Lines { lines: Vec::new(), cut: None, has_summary: false };
        let mut in_summary = false;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let is_title =
                line.trim_start().starts_with("% time") && line.trim_end().ends_with("syscall");
            in_summary |= is_title;
            found.has_summary |= is_title;
            if in_summary {
                in_summary = !line.trim_end().ends_with(" total");
            } else if line.ends_with('\n') {
                found.lines.push((number + 1, line));
            } else {
                found.cut = Some((number + 1, line));
            }
        }
        found
    }
}

/// Reads one log with all processes. Returns whether it has a summary.
fn read_one(text: &str, reader: &mut Reader) -> bool {
    let lines = Lines::read(text);
    let parsed = lines.lines.iter().filter_map(|(_, text)| line(text));
    reader.form = form(parsed, 0);
    for (number, text) in &lines.lines {
        reader.line_at(text, Unread { log: 0, line: *number });
    }
    read_cut(lines.cut, 0, reader);
    lines.has_summary
}

/// A line without an end may lack the last digits of its result.
fn read_cut(cut: Option<(usize, &str)>, log: usize, reader: &mut Reader) {
    let Some((number, text)) = cut.filter(|(_, text)| !text.trim().is_empty()) else {
        return;
    };
    let place = Unread { log, line: number };
    match line(text).map(|line| line.content) {
        Some(Content::End) if text.trim_end().ends_with("+++") => reader.line_at(text, place),
        Some(Content::Other) => {}
        _ => reader.skip(place),
    }
}

/// How most lines name their process. `one` is the process of lines without a number, if no line
/// has one.
fn form<'a>(lines: impl Iterator<Item = Line<'a>>, one: u32) -> ProcessForm {
    let [mut none, mut column, mut brackets] = [0; 3];
    for line in lines.filter(|line| !matches!(line.content, Content::Other | Content::Attached(_)))
    {
        *match line.prefix {
            Prefix::None => &mut none,
            Prefix::Column(_) => &mut column,
            Prefix::Brackets(_) => &mut brackets,
        } += 1;
    }
    if column > none.max(brackets) {
        ProcessForm::Column
    } else if brackets > 0 {
        ProcessForm::Brackets
    } else {
        ProcessForm::One(one)
    }
}

/// A process or thread that a call has made.
struct Child {
    number: u32,
    /// Whether it shares the descriptors.
    shares_files: bool,
}

/// The log of one process.
struct ProcessLog<'a> {
    process: u32,
    lines: Vec<(usize, &'a str)>,
    cut: Option<(usize, &'a str)>,
    /// The processes that its calls made, by the place of the call among the lines.
    children: BTreeMap<usize, Child>,
    /// The times of its lines. `None`: not each line has one.
    times_ns: Option<Vec<u64>>,
    /// Whether it has a descriptor without its file (`-y`).
    hides_files: bool,
}

impl<'a> ProcessLog<'a> {
    fn read(process: u32, lines: Lines<'a>) -> ProcessLog<'a> {
        let mut found = ProcessLog {
            process,
            lines: lines.lines,
            cut: lines.cut,
            children: BTreeMap::new(),
            times_ns: Some(Vec::new()),
            hides_files: false,
        };
        let mut last_ns = 0;
        for (at, (_, text)) in found.lines.iter().enumerate() {
            let parsed = line(text);
            // A line without a time stays behind the one before.
            let is_plain = parsed.as_ref().is_none_or(|line| line.content == Content::Other);
            let own_ns = parsed.as_ref().and_then(|line| line.time_ns);
            match (own_ns.or(is_plain.then_some(last_ns)), &mut found.times_ns) {
                (Some(ns), Some(times)) if ns >= last_ns => times.push(ns),
                _ => found.times_ns = None,
            }
            last_ns = own_ns.unwrap_or(last_ns);
            let Some(Content::Call(text)) = parsed.map(|line| line.content) else {
                continue;
            };
            let Some(shown) = call(text) else {
                continue;
            };
            found.hides_files |= hides_file(&shown);
            if let Some(number) = shown.child() {
                let shares_files = shown.shares_files();
                let child = Child { number, shares_files };
                found.children.insert(at, child);
            }
        }
        found
    }
}

/// Reads the logs of several processes: by time if each line has one, else each process after the
/// one that made it. Returns whether one has a summary.
fn read_several(logs: &[Log], reader: &mut Reader, files: bool) -> Result<bool, Refusal> {
    let mut all = Vec::new();
    let mut has_summary = false;
    let mut seen = BTreeSet::new();
    for (index, log) in logs.iter().enumerate() {
        let process = log.process.ok_or(Refusal::NoProcess(index))?;
        if !seen.insert(process) {
            return Err(Refusal::SameProcess(index));
        }
        let lines = Lines::read(log.text);
        has_summary |= lines.has_summary;
        let parsed = lines.lines.iter().filter_map(|(_, text)| line(text));
        if form(parsed, process) != ProcessForm::One(process) {
            return Err(Refusal::NoProcess(index));
        }
        all.push(ProcessLog::read(process, lines));
    }
    let order = match by_time(&all)? {
        Some(order) => order,
        None => by_descent(&all, files)?,
    };
    for (log, at) in order {
        let (number, text) = all[log].lines[at];
        reader.form = ProcessForm::One(all[log].process);
        reader.line_at(text, Unread { log, line: number });
    }
    for (index, log) in all.iter().enumerate() {
        reader.form = ProcessForm::One(log.process);
        read_cut(log.cut, index, reader);
    }
    // A process may have made none of the calls that strace was to show.
    reader.silent.retain(|process| !seen.contains(process));
    Ok(has_summary)
}

/// The lines in the order of their times. `None`: not each line has one.
fn by_time(logs: &[ProcessLog]) -> Result<Option<Vec<(usize, usize)>>, Refusal> {
    let mut all = Vec::new();
    for (log, own) in logs.iter().enumerate() {
        let Some(times) = &own.times_ns else {
            return Ok(None);
        };
        all.extend(times.iter().enumerate().map(|(at, ns)| (*ns, log, at)));
    }
    // At the same time, the process that made another one comes first.
    let mut ranks = vec![0; logs.len()];
    for (rank, log) in descent(logs).into_iter().enumerate() {
        ranks[log] = rank;
    }
    all.sort_by_key(|(ns, log, at)| (*ns, ranks[*log], *at));
    let all: Vec<(usize, usize)> = all.into_iter().map(|(_, log, at)| (log, at)).collect();
    let children = children(logs);
    let mut made = BTreeSet::new();
    for (log, at) in &all {
        let own = &logs[*log];
        if children.contains(&own.process) && !made.contains(&own.process) {
            return Err(Refusal::TooEarly(*log));
        }
        made.extend(own.children.get(at).map(|child| child.number));
    }
    Ok(Some(all))
}

/// The lines of each process after those of the one that made it.
fn by_descent(logs: &[ProcessLog], files: bool) -> Result<Vec<(usize, usize)>, Refusal> {
    let sharing: BTreeSet<u32> = logs
        .iter()
        .filter(|log| log.hides_files)
        .flat_map(|log| log.children.values())
        .filter(|child| child.shares_files)
        .map(|child| child.number)
        .collect();
    let has_no_order = |log: &ProcessLog| files || sharing.contains(&log.process);
    let order = descent(logs);
    if let Some(log) = order.iter().skip(1).find(|log| has_no_order(&logs[**log])) {
        return Err(Refusal::NoOrder(*log));
    }
    let lines = |log: usize| (0..logs[log].lines.len()).map(move |at| (log, at));
    Ok(order.into_iter().flat_map(lines).collect())
}

/// All processes that another one has made.
fn children(logs: &[ProcessLog]) -> BTreeSet<u32> {
    let all = logs.iter().flat_map(|log| log.children.values());
    all.map(|child| child.number).collect()
}

/// The logs, each before those of the processes that it made.
fn descent(logs: &[ProcessLog]) -> Vec<usize> {
    let index: BTreeMap<u32, usize> =
        logs.iter().enumerate().map(|(i, log)| (log.process, i)).collect();
    let children = children(logs);
    let roots = (0..logs.len()).filter(|log| !children.contains(&logs[*log].process));
    let mut order: Vec<usize> = Vec::new();
    let mut next: Vec<usize> = roots.rev().collect();
    while let Some(log) = next.pop() {
        if order.contains(&log) {
            continue;
        }
        order.push(log);
        let made = logs[log].children.values().rev();
        next.extend(made.filter_map(|child| index.get(&child.number)));
    }
    // Damaged logs may name each other.
    order.extend((0..logs.len()).filter(|log| !order.contains(log)).collect::<Vec<_>>());
    order
}
