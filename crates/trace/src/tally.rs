//! Counts calls, and follows their effects on descriptors.

use rustc_hash::FxHashSet;
use yamba_predict::vector::Use;

use crate::call::{Call, FilePlace};
use crate::count::{Counts, Times};
use crate::descriptors::Descriptors;
use crate::files::FileLog;
use crate::modes::is_cached;
use crate::primitive::{Used, used};

/// How a call made a process or thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Made {
    /// It uses the descriptors of its parent.
    pub shares_files: bool,
    /// It is a process that uses the memory of its parent until it executes a program.
    pub borrows: bool,
    /// It is a thread of its parent's process.
    pub is_thread: bool,
}

/// The calls of a trace so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// The descriptors of all processes.
    pub descriptors: Descriptors,
    counts: Counts,
    /// Processes and threads that began while calls were counted, except threads of older
    /// processes.
    started: FxHashSet<u32>,
    /// The accesses to files, if they are recorded.
    pub files: Option<FileLog>,
    /// Number of calls.
    pub calls: u64,
    /// The part of these whose effects and places are unknown.
    pub without_details: u64,
    /// Whether calls that return now are not counted. Their effects on descriptors are followed.
    pub is_paused: bool,
}

impl Tally {
    /// A tally for processes with these descriptors at the beginning.
    pub fn with(descriptors: Descriptors) -> Tally {
        Tally { descriptors, ..Tally::default() }
    }

    /// Forgets the calls so far.
    pub fn forget(&mut self) {
        self.counts = Counts::default();
        self.started.clear();
        (self.calls, self.without_details) = (0, 0);
        if let Some(files) = &mut self.files {
            files.restart();
        }
    }

    /// Follows the making of a process or thread.
    pub fn begin(&mut self, parent: u32, child: u32, made: Made) {
        self.descriptors.begin(parent, child, made.shares_files, made.borrows);
        let is_started = self.started.contains(&parent) || !(self.is_paused || made.is_thread);
        if is_started {
            self.started.insert(child);
        } else {
            // The number may be that of an older process.
            self.started.remove(&child);
        }
    }

    /// Whether the application started the process while calls were counted.
    pub fn is_started(&self, process: u32) -> bool {
        self.started.contains(&process)
    }

    /// Counts a process as the application itself.
    pub fn is_the_application(&mut self, process: u32) {
        self.started.remove(&process);
    }

    /// Counts a call that took these times. Without times, they are 0.
    pub fn call(&mut self, process: u32, call: &Call, times: Times) {
        let found = used(process, call, &mut self.descriptors);
        if !found.has_failed {
            self.descriptors.follow(process, call);
        }
        if let Some(files) = &mut self.files {
            let descriptors = &mut self.descriptors;
            let mut kind_of = |index| descriptors.kind_of(process, call.arguments, index);
            files.call(process, call, self.is_paused, &mut kind_of);
        }
        if !self.is_paused {
            self.add_calls(process, call, found, 1, times);
        }
    }

    /// Counts calls of the same kind that took this kernel time together. They may have changed
    /// descriptors in an order that is not known: these changes are not followed.
    pub fn counted(&mut self, process: u32, call: &Call, count: u64, time_ns: f64) {
        let found = used(process, call, &mut self.descriptors);
        if self.is_paused {
            return;
        }
        if let Some(files) = &mut self.files {
            let is_cached = found.kind.as_ref().is_some_and(is_cached);
            files.count_unplaced(call, if is_cached { count } else { 0 });
        }
        self.add_calls(process, call, found, count, time_ns.into());
        self.without_details += count;
    }

    fn add_calls(&mut self, process: u32, call: &Call, found: Used, count: u64, times: Times) {
        // The kernel ran a handler if the process returns from one.
        if call.name == "rt_sigreturn" || call.name == "sigreturn" {
            self.add(process, Used::new("signal", None), count, Times::default());
        }
        self.add(process, found, count, times);
        self.calls += count;
    }

    /// Records a page fault of pages of a mapped file.
    pub fn fault_of_file(&mut self, process: u32, place: &FilePlace, pages: u64) {
        if let Some(files) = self.files.as_mut().filter(|_| !self.is_paused) {
            files.fault(process, place, pages);
        }
    }

    /// Adds kernel time to the primitive of a call that is counted elsewhere.
    pub fn add_time(&mut self, process: u32, call: &Call, time_ns: f64) {
        let found = used(process, call, &mut self.descriptors);
        self.other(process, found, 0, time_ns.into());
    }

    /// Counts uses of a primitive that is no call, with their times together.
    pub fn other(&mut self, process: u32, used: Used, count: u64, times: Times) {
        if !self.is_paused {
            self.add(process, used, count, times);
        }
    }

    /// Counts interrupt work in processes that the application started, or in others.
    pub fn interrupts(&mut self, count: u64, time_ns: f64, is_in_started: bool) {
        if count > 0 {
            let used = Used::new("softirq", None);
            self.counts.add(used, count, time_ns.into(), is_in_started);
        }
    }

    /// Counts the end of a thread, which is a call unless a signal killed it.
    pub fn ended(&mut self, process: u32, used: Used, times: Times) {
        if !self.is_paused {
            self.calls += u64::from(used.kind.is_none());
            self.add(process, used, 1, times);
        }
    }

    fn add(&mut self, process: u32, used: Used, count: u64, times: Times) {
        let is_started = self.is_started(process);
        self.counts.add(used, count, times, is_started);
    }

    /// The uses per unit of work.
    pub fn uses(&self, units: f64, has_times: bool) -> Vec<Use> {
        self.counts.uses(units, has_times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(is_thread: bool) -> Made {
        Made { shares_files: is_thread, borrows: false, is_thread }
    }

    #[test]
    fn processes_are_started_while_calls_are_counted_and_threads_belong_to_their_process() {
        let mut tally = Tally::default();
        // A worker of a server, before its load.
        tally.begin(1, 2, made(false));
        tally.forget();
        assert!(!tally.is_started(2));
        tally.begin(2, 3, made(true));
        assert!(!tally.is_started(3), "a thread of an older process");
        tally.begin(3, 4, made(false));
        tally.begin(4, 5, made(true));
        tally.begin(5, 6, made(false));
        assert!([4, 5, 6].map(|number| tally.is_started(number)) == [true; 3]);
        // The second load of a server that has started again, with the number of an older process.
        tally.is_paused = true;
        tally.begin(1, 4, made(false));
        assert!(!tally.is_started(4));
    }
}
