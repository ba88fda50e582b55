//! Reads the output of `strace -f`.

use std::collections::HashMap;

use yamba_predict::vector::{SCHEMA, Traced, Vector};

use crate::call::{Used, used};
use crate::count::Counts;
use crate::descriptors::Descriptors;
use crate::line::{Call, Content, call, line, unfinished};

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
    /// Number of calls that had not returned at the end. They are not counted.
    pub unfinished: usize,
    /// Numbers of the lines that were not understood, from 1.
    pub unknown: Vec<usize>,
}

#[derive(Debug, Default)]
struct Reader {
    descriptors: Descriptors,
    counts: Counts,
    calls: u64,
    /// The first part of the call in which each process is.
    begun: HashMap<u32, String>,
    unknown: Vec<usize>,
    command: Vec<String>,
}

/// Reads the output of `strace -f`, with or without `-o`, `-T`, `-t`, `-y`. `None`: no line is a system call.
pub fn strace(text: &str, request: &Request) -> Option<Trace> {
    let mut reader = Reader::default();
    for (index, text) in text.lines().enumerate() {
        if !text.trim().is_empty() && reader.read(text).is_none() {
            reader.unknown.push(index + 1);
        }
    }
    let calls = reader.calls;
    let path = reader.command.first().map_or("", String::as_str);
    let program = path.rsplit('/').next().filter(|name| !name.is_empty());
    let application = request.application.clone();
    let vector = Vector {
        schema: SCHEMA.to_owned(),
        application: application.unwrap_or(program.unwrap_or("unknown").to_owned()),
        unit: request.unit.clone(),
        units: Some(request.units),
        command: reader.command,
        traced: Some(Traced {
            how: "strace".to_owned(),
            machine: None,
        }),
        user_ns: None,
        kernel_ns: None,
        primitives: reader.counts.uses(request.units),
    };
    (calls > 0).then_some(Trace {
        vector,
        calls,
        unfinished: reader.begun.len(),
        unknown: reader.unknown,
    })
}

impl Reader {
    fn read(&mut self, text: &str) -> Option<()> {
        let line = line(text)?;
        match line.content {
            Content::Other => {
                // A killed process does not return from its call.
                if text.contains("+++ ") {
                    self.begun.remove(&line.process);
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
        if !found.has_failed {
            self.descriptors.follow(process, call);
        }
        if call.name == "execve" && self.command.is_empty() {
            self.command = words(call.arguments.get(1).copied().unwrap_or_default());
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
