//! Reads the output of `strace -f`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use yamba_predict::Vector;
use yamba_predict::vector::Traced;

use crate::call::{Arguments, Call, Property};
use crate::descriptors::Descriptors;
use crate::files::FileLog;
use crate::line::{Content, Line, ShownCall, call, line, unfinished};
use crate::tally::{Made, Tally};
use crate::trace::{Request, Trace, vector};

/// Counts the calls of strace's lines.
#[derive(Debug, Default)]
pub struct Reader {
    tally: Tally,
    /// The first part of the call in which each process is.
    begun: HashMap<u32, String>,
    /// Lines of processes whose parent is not known yet: a child may run before the call of its parent returns.
    held: BTreeMap<u32, Vec<String>>,
    lines: usize,
    unknown: Vec<usize>,
    command: Vec<String>,
}

/// Reads the output of `strace -f`, with or without `-o`, `-T`, `-t`, `-y`. `None`: no line is a system call.
pub fn strace(text: &str, request: &Request) -> Option<Trace> {
    let mut reader = Reader::default();
    text.lines().for_each(|line| reader.line(line));
    reader.trace(request)
}

/// Reads the output of `strace -f -y` or `strace -f -yy`, with the accesses to files.
pub fn strace_with_files(text: &str, request: &Request) -> Option<Trace> {
    let mut reader = Reader::default();
    reader.tally.files = Some(FileLog::default());
    text.lines().for_each(|line| reader.line(line));
    reader.trace(request)
}

impl Reader {
    /// A reader for processes with these descriptors at the beginning.
    pub fn with(descriptors: Descriptors) -> Reader {
        Reader {
            tally: Tally::with(descriptors),
            ..Reader::default()
        }
    }

    /// Reads one line, without its end.
    pub fn line(&mut self, text: &str) {
        self.lines += 1;
        if !text.trim().is_empty() && self.read(text).is_none() {
            self.unknown.push(self.lines);
        }
    }

    /// Forgets the calls so far, and counts from now on.
    pub fn restart(&mut self) {
        self.tally.forget();
        self.tally.is_paused = false;
    }

    /// Does not count the calls that return from now on.
    pub fn pause(&mut self) {
        self.tally.is_paused = true;
    }

    /// Number of lines that were read.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The vector of the calls so far. `None`: there are no calls.
    pub fn trace(mut self, request: &Request) -> Option<Trace> {
        let orphans: Vec<u32> = self.held.keys().copied().collect();
        orphans.into_iter().for_each(|child| self.release(child));
        let traced = Traced {
            how: "strace".to_owned(),
            machine: None,
            cost_ns_per_call: None,
            lost: None,
            runs: None,
            rounds: Vec::new(),
        };
        let uses = self.tally.uses(request.units, false);
        let calls = self.tally.calls;
        let loader_calls = self.tally.loader.calls as f64 / request.units;
        let vector = Vector {
            loader_calls: Some(loader_calls),
            ..vector(request, traced, self.command, uses)
        };
        let log = self.tally.files;
        (calls > 0).then(|| Trace {
            files: log.map(|log| log.document(&vector, |_| None)),
            vector,
            calls,
            faults: None,
            unfinished: self.begun.len(),
            unknown: self.unknown,
        })
    }

    fn read(&mut self, text: &str) -> Option<()> {
        let line = line(text)?;
        if self.is_held(line.process) {
            let held = self.held.entry(line.process).or_default();
            held.push(text.to_owned());
            return Some(());
        }
        self.event(&line)
    }

    /// Whether the process is unknown and may be the child of a call that has not returned yet.
    fn is_held(&self, process: u32) -> bool {
        let creates = |text: &String| {
            ["clone", "fork", "vfork"]
                .iter()
                .any(|w| text.starts_with(w))
        };
        !self.tally.descriptors.knows(process) && self.begun.values().any(creates)
    }

    /// Reads the lines of a process that were held.
    fn release(&mut self, process: u32) {
        for text in self.held.remove(&process).unwrap_or_default() {
            if line(&text).and_then(|line| self.event(&line)).is_none() {
                self.unknown.push(self.lines);
            }
        }
    }

    fn event(&mut self, line: &Line) -> Option<()> {
        self.tally.descriptors.meet(line.process);
        match line.content {
            Content::Other(text) => {
                // A killed process does not return from its call.
                if text.starts_with("+++ ") {
                    self.begun.remove(&line.process);
                    self.tally.descriptors.end(line.process);
                    self.tally.loader.end(line.process);
                }
                Some(())
            }
            Content::Call(text) => match unfinished(text) {
                Some(first) => {
                    self.begun.insert(line.process, first.to_owned());
                    Some(())
                }
                None => self.call(line.process, &call(text)?),
            },
            Content::Resumed(rest) => {
                let whole = self.begun.remove(&line.process)? + rest;
                self.call(line.process, &call(&whole)?)
            }
        }
    }

    fn call(&mut self, process: u32, shown: &ShownCall) -> Option<()> {
        let name = Cow::Owned(shown.name.to_owned());
        let call = Call {
            name: &name,
            result: shown.result,
            arguments: shown,
        };
        self.tally.call(process, &call, 0.0);
        if ["fork", "vfork", "clone", "clone3"].contains(&shown.name) {
            self.begin(process, shown);
        }
        if shown.name == "execve" && self.command.is_empty() {
            self.command = words(shown.arguments.get(1).copied().unwrap_or_default());
        }
        Some(())
    }

    /// Follows a call that makes a process.
    fn begin(&mut self, parent: u32, shown: &ShownCall) {
        let child = shown.result.and_then(|child| u32::try_from(child).ok());
        if let Some(child) = child.filter(|child| *child > 0) {
            let shares_files = shown.has(Property::SharesFiles);
            let is_thread = shown.has(Property::Thread);
            let made = Made {
                shares_files,
                borrows: shown.has(Property::SharesMemory),
                is_thread,
            };
            self.tally.begin(parent, child, made);
            if let Some(files) = &mut self.tally.files {
                files.begin(parent, child, shares_files);
            }
            self.release(child);
        }
    }
}

/// The texts of a list as strace shows it: `["cat", "/etc/passwd"]`.
fn words(list: &str) -> Vec<String> {
    let parts = list.trim_matches(['[', ']']).split(", ");
    let texts = parts.filter_map(|part| part.strip_prefix('"')?.strip_suffix('"'));
    texts.map(str::to_owned).collect()
}
