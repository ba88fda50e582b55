//! Reads the output of `strace -f`.

use std::collections::{BTreeMap, HashMap};

use yamba_predict::vector::{SCHEMA, Traced, Vector};

use crate::call::{Used, used};
use crate::count::Counts;
use crate::descriptors::Descriptors;
use crate::line::{Call, Content, Line, call, line, unfinished};

/// The names for the vector and the work that the trace covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Name of the application. `None`: that of the first program of the trace.
    pub application: Option<String>,
    /// Name of one unit of work.
    pub unit: String,
    /// Number of units in the trace.
    pub units: f64,
}

/// A vector, and what the trace did not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The application's vector.
    pub vector: Vector,
    /// Number of system calls.
    pub calls: u64,
    /// Number of page faults of the application. `None`: the trace does not count them.
    pub faults: Option<u64>,
    /// Number of calls that had not returned at the end. They are not counted.
    pub unfinished: usize,
    /// Numbers of the lines that were not understood, from 1.
    pub unknown: Vec<usize>,
}

/// Counts the calls of strace's lines.
#[derive(Debug, Default)]
pub struct Reader {
    descriptors: Descriptors,
    counts: Counts,
    calls: u64,
    /// Whether calls that return now are not counted. Their effects on descriptors are followed.
    is_paused: bool,
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

impl Reader {
    /// A reader for processes with these descriptors at the beginning.
    pub fn with(descriptors: Descriptors) -> Reader {
        Reader {
            descriptors,
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
        self.counts = Counts::default();
        self.calls = 0;
        self.is_paused = false;
    }

    /// Does not count the calls that return from now on.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Number of lines that were read.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The vector of the calls so far. `None`: there are no calls.
    pub fn trace(mut self, request: &Request) -> Option<Trace> {
        let orphans: Vec<u32> = self.held.keys().copied().collect();
        orphans.into_iter().for_each(|child| self.release(child));
        let path = self.command.first().map_or("", String::as_str);
        let program = path.rsplit('/').next().filter(|name| !name.is_empty());
        let application = request.application.clone();
        let vector = Vector {
            schema: SCHEMA.to_owned(),
            application: application.unwrap_or(program.unwrap_or("unknown").to_owned()),
            unit: request.unit.clone(),
            units: Some(request.units),
            command: self.command,
            load: None,
            units_from: None,
            traced: Some(Traced {
                how: "strace".to_owned(),
                machine: None,
            }),
            user_ns: None,
            kernel_ns: None,
            primitives: self.counts.uses(request.units),
        };
        (self.calls > 0).then_some(Trace {
            vector,
            calls: self.calls,
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
        !self.descriptors.knows(process) && self.begun.values().any(creates)
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
        self.descriptors.meet(line.process);
        match line.content {
            Content::Other(text) => {
                // A killed process does not return from its call.
                if text.starts_with("+++ ") {
                    self.begun.remove(&line.process);
                    self.descriptors.end(line.process);
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

    fn call(&mut self, process: u32, call: &Call) -> Option<()> {
        let found = used(process, call, &mut self.descriptors);
        if !found.has_failed
            && let Some(child) = self.descriptors.follow(process, call)
        {
            self.release(child);
        }
        if call.name == "execve" && self.command.is_empty() {
            self.command = words(call.arguments.get(1).copied().unwrap_or_default());
        }
        if self.is_paused {
            return Some(());
        }
        // The kernel ran a handler if the process returns from one.
        if call.name == "rt_sigreturn" {
            let name = "signal".to_owned();
            let handled = Used {
                name,
                size: None,
                has_failed: false,
            };
            self.counts.add(&handled);
        }
        self.counts.add(&found);
        self.calls += 1;
        Some(())
    }
}

/// The texts of a list as strace shows it: `["cat", "/etc/passwd"]`.
fn words(list: &str) -> Vec<String> {
    let parts = list.trim_matches(['[', ']']).split(", ");
    let texts = parts.filter_map(|part| part.strip_prefix('"')?.strip_suffix('"'));
    texts.map(str::to_owned).collect()
}
