//! Counts the calls of strace's output.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use yamba_predict::vector::Traced;

use crate::call::{Arguments, Call, Property};
use crate::descriptors::Descriptors;
use crate::files::FileLog;
use crate::line::{Content, Line, Prefix, attached_within, line, unfinished};
use crate::shape::call;
use crate::shown_call::{ENDS, Outcome, ShownCall, is_call_of, makes_process, words};
use crate::tally::{Made, Tally};
use crate::trace::{Request, Trace, Unread, vector};

/// How the lines of a log name their processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessForm {
    /// Each line begins with a number.
    #[default]
    Column,
    /// Lines begin with a number in brackets while there are several processes.
    Brackets,
    /// All lines are of this process. 0: its number is unknown.
    One(u32),
}

/// The number of a process that no line has named yet.
const UNNAMED: u32 = 0;

/// A line that waits until its process is known.
#[derive(Debug)]
struct WaitingLine {
    text: String,
    place: Unread,
}

/// Counts the calls of strace's lines.
#[derive(Debug, Default)]
pub struct Reader {
    pub(crate) tally: Tally,
    pub(crate) form: ProcessForm,
    /// The first part of the call in which each process is.
    begun: HashMap<u32, String>,
    /// Lines of processes whose parent is not known yet: a child may run before the call of its
    /// parent returns.
    waiting: BTreeMap<u32, Vec<WaitingLine>>,
    /// In logs with brackets: the processes that have not ended, those that strace has attached to,
    /// and the number of the process without a name.
    live: BTreeSet<u32>,
    attached: BTreeSet<u32>,
    alias: Option<u32>,

    place: Unread,
    unread: Vec<Unread>,
    /// Number of calls that began and did not return before the next call of their process, or
    /// before its end.
    unreturned: usize,
    command: Vec<String>,
    /// The processes that a call made and that no line shows.
    pub(crate) silent: BTreeSet<u32>,
}

impl Reader {
    /// A reader for processes with these descriptors at the beginning.
    pub fn with(descriptors: Descriptors) -> Reader {
        Reader { tally: Tally::with(descriptors), ..Reader::default() }
    }

    /// Records the accesses to files, too.
    pub fn recording_files(mut self) -> Reader {
        self.tally.files = Some(FileLog::default());
        self
    }

    /// Reads one line, without its end.
    pub fn line(&mut self, text: &str) {
        let place = Unread { line: self.place.line + 1, ..self.place };
        self.line_at(text, place);
    }

    /// Reads one line of several logs.
    pub fn line_at(&mut self, text: &str, place: Unread) {
        self.place = place;
        if !text.trim().is_empty() && self.read(text).is_none() {
            self.skip(place);
        }
    }

    /// Notes a line whose end is missing.
    pub fn cut_line(&mut self) {
        let place = Unread { line: self.place.line + 1, ..self.place };
        self.skip(place);
    }

    /// Notes a line that is not understood.
    pub(crate) fn skip(&mut self, place: Unread) {
        self.place = place;
        self.unread.push(place);
        if let Some(files) = &mut self.tally.files {
            files.lose();
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

    /// Whether calls that return now are not counted.
    pub fn is_paused(&self) -> bool {
        self.tally.is_paused
    }

    /// Number of lines that were read.
    pub fn lines(&self) -> usize {
        self.place.line
    }

    /// The vector of the calls so far. `None`: there are no calls.
    pub fn trace(mut self, request: &Request) -> Option<Trace> {
        let orphans: Vec<u32> = self.waiting.keys().copied().collect();
        orphans.into_iter().for_each(|child| self.release(child));
        let lost = self.unread.len() as u64;
        let traced = Traced {
            how: "strace".to_owned(),
            machine: None,
            cost_ns_per_call: None,
            lost: (lost > 0).then_some(lost),
            // In a log with numbers, a process may have done nothing before the end.
            missing_processes: match self.form {
                ProcessForm::One(_) => self.silent.into_iter().collect(),
                ProcessForm::Column | ProcessForm::Brackets => Vec::new(),
            },
            failure: None,
            without_details: 0,
            runs: None,
            rounds: Vec::new(),
        };
        let uses = self.tally.uses(request.units, false);
        let calls = self.tally.calls;
        let vector = vector(request, traced, self.command, uses);
        let log = self.tally.files;
        (calls > 0).then(|| Trace {
            files: log.map(|log| log.document(&vector, |_| None)),
            vector,
            calls,
            faults: None,
            unfinished: self.begun.len() + self.unreturned,
            unread: self.unread,
        })
    }

    fn read(&mut self, text: &str) -> Option<()> {
        let line = line(text)?;
        if matches!(line.content, Content::Other | Content::Attached(_)) {
            return self.event(UNNAMED, &line);
        }
        let process = self.process(&line)?;
        if self.must_wait(process) {
            let waiting = WaitingLine { text: text.to_owned(), place: self.place };
            self.waiting.entry(process).or_default().push(waiting);
            return Some(());
        }
        self.event(process, &line)
    }

    /// strace says that it has attached to a process. The first one may be that of the lines
    /// without a number.
    fn attach(&mut self, process: u32) {
        if self.live.is_empty() && self.alias.is_none() {
            self.alias = Some(process);
        }
        self.attached.insert(process);
    }

    /// The process of a line. `None`: the line does not name it as the log does.
    fn process(&mut self, line: &Line) -> Option<u32> {
        match (self.form, line.prefix) {
            (ProcessForm::Column, Prefix::Column(process)) => Some(process),
            (ProcessForm::One(process), Prefix::None) => Some(process),
            (ProcessForm::Brackets, Prefix::Brackets(process)) => Some(self.named(process, line)),
            (ProcessForm::Brackets, Prefix::None) => {
                let mut live = self.live.iter();
                match (live.next(), live.next()) {
                    (None, _) => Some(UNNAMED),
                    (Some(only), None) => Some(*only),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The process with this number in brackets, which may be the one whose lines had no number
    /// before.
    fn named(&mut self, process: u32, line: &Line) -> u32 {
        let is_known = self.tally.descriptors.knows(process) || self.attached.contains(&process);
        if self.alias.is_none() && !is_known && self.tally.descriptors.knows(UNNAMED) {
            let begun = self.begun.get(&UNNAMED);
            let resumes = matches!(&line.content, Content::Resumed { name, .. }
                if begun.is_some_and(|begun| is_call_of(begun, name)));
            let may_be_child = begun.is_some_and(|begun| makes_process(begun));
            if resumes || !may_be_child {
                self.alias = Some(process);
            }
        }
        if self.alias == Some(process) { UNNAMED } else { process }
    }

    /// Whether the process is unknown and may be the child of a call that has not returned yet.
    fn must_wait(&self, process: u32) -> bool {
        let is_begun = || self.begun.values().any(|begun| makes_process(begun));
        !self.tally.descriptors.knows(process) && is_begun()
    }

    /// Reads the lines of a process that have waited.
    fn release(&mut self, process: u32) {
        let place = self.place;
        for waiting in self.waiting.remove(&process).unwrap_or_default() {
            let is_read = line(&waiting.text).and_then(|line| self.event(process, &line));
            if is_read.is_none() {
                self.skip(waiting.place);
            }
        }
        self.place = place;
    }

    fn event(&mut self, process: u32, line: &Line) -> Option<()> {
        match &line.content {
            Content::Other => Some(()),
            Content::Attached(attached) => {
                self.attach(*attached);
                Some(())
            }
            Content::End => {
                // A killed process does not return from its call.
                self.unreturned += usize::from(self.begun.remove(&process).is_some());
                self.end(process);
                Some(())
            }
            Content::Superseded(other) => {
                let begun = self.begun.remove(other)?;
                self.unreturned += usize::from(self.begun.insert(process, begun).is_some());
                self.end(*other);
                Some(())
            }
            Content::Call(text) => match unfinished(text) {
                Some(first) => {
                    self.meet(process);
                    self.attached.extend(attached_within(text));
                    let before = self.begun.insert(process, first.to_owned());
                    self.unreturned += usize::from(before.is_some());
                    Some(())
                }
                None => {
                    let call = call(text)?;
                    self.unreturned += usize::from(self.begun.remove(&process).is_some());
                    self.call(process, &call);
                    Some(())
                }
            },
            Content::Resumed { name, rest } => {
                let begun = self.begun.get(&process).filter(|begun| is_call_of(begun, name))?;
                let whole = begun.clone() + rest;
                let call = call(&whole);
                self.begun.remove(&process);
                self.call(process, &call?);
                Some(())
            }
        }
    }

    fn meet(&mut self, process: u32) {
        self.silent.remove(&process);
        self.tally.descriptors.meet(process);
        self.live.insert(process);
    }

    fn end(&mut self, process: u32) {
        self.silent.remove(&process);
        self.live.remove(&process);
        self.tally.descriptors.end(process);
    }

    fn call(&mut self, process: u32, shown: &ShownCall) {
        self.meet(process);
        if shown.outcome == Outcome::None && !ENDS.contains(&shown.name) {
            self.unreturned += 1;
            return;
        }
        let name = Cow::Owned(own_name(shown.name));
        let call = Call { name: &name, result: shown.result(), arguments: shown };
        self.tally.call(process, &call, 0.0.into());
        if let Some(child) = shown.child() {
            self.begin(process, child, shown);
        }
        if shown.name == "execve" && self.command.is_empty() && shown.outcome == Outcome::Value(0) {
            self.command = words(shown.arguments.get(1).copied().unwrap_or_default());
        }
    }

    /// Follows a call that has made a process or thread.
    fn begin(&mut self, parent: u32, child: u32, shown: &ShownCall) {
        let shares_files = shown.shares_files();
        let made = Made {
            shares_files,
            borrows: shown.has(Property::SharesMemory),
            is_thread: shown.has(Property::Thread),
        };
        self.tally.begin(parent, child, made);
        if let Some(files) = &mut self.tally.files {
            files.begin(parent, child, shares_files);
        }
        self.live.insert(child);
        self.silent.insert(child);
        self.release(child);
    }
}

/// The name of a call. A call without a name has its number in decimal digits, as a trace by BPF
/// has.
fn own_name(name: &str) -> String {
    let number = name.strip_prefix("syscall_0x");
    match number.and_then(|number| u32::from_str_radix(number, 16).ok()) {
        Some(number) => format!("syscall_{number}"),
        None => name.to_owned(),
    }
}
