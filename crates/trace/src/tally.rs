//! Counts calls, and follows their effects on descriptors.

use yamba_predict::vector::Use;

use crate::call::{Call, FilePlace};
use crate::count::Counts;
use crate::descriptors::Descriptors;
use crate::files::FileLog;
use crate::primitive::{Used, used};

/// The calls of a trace so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// The descriptors of all processes.
    pub descriptors: Descriptors,
    counts: Counts,
    /// The accesses to files, if they are recorded.
    pub files: Option<FileLog>,
    /// Number of calls.
    pub calls: u64,
    /// Whether calls that return now are not counted. Their effects on descriptors are followed.
    pub is_paused: bool,
}

impl Tally {
    /// A tally for processes with these descriptors at the beginning.
    pub fn with(descriptors: Descriptors) -> Tally {
        Tally {
            descriptors,
            ..Tally::default()
        }
    }

    /// Forgets the calls so far.
    pub fn forget(&mut self) {
        self.counts = Counts::default();
        self.calls = 0;
        if let Some(files) = &mut self.files {
            files.restart();
        }
    }

    /// Counts a call that took this kernel time. Without times, that is 0.
    pub fn call(&mut self, process: u32, call: &Call, time_ns: f64) {
        let found = used(process, call, &mut self.descriptors);
        if !found.has_failed {
            self.descriptors.follow(process, call);
        }
        if let Some(files) = &mut self.files {
            files.call(process, call, self.is_paused);
        }
        if self.is_paused {
            return;
        }
        // The kernel ran a handler if the process returns from one.
        if call.name == "rt_sigreturn" || call.name == "sigreturn" {
            self.counts.add(Used::of("signal", None), 1, 0.0);
        }
        self.counts.add(found, 1, time_ns);
        self.calls += 1;
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
        self.other(found, 0, time_ns);
    }

    /// Counts uses of a primitive that is no call, with their kernel time together.
    pub fn other(&mut self, used: Used, count: u64, time_ns: f64) {
        if !self.is_paused {
            self.counts.add(used, count, time_ns);
        }
    }

    /// Counts the end of a thread, which is a call unless a signal killed it.
    pub fn ended(&mut self, used: Used, time_ns: f64) {
        if !self.is_paused {
            self.calls += u64::from(used.kind.is_none());
            self.counts.add(used, 1, time_ns);
        }
    }

    /// The uses per unit of work.
    pub fn uses(&self, units: f64, has_times: bool) -> Vec<Use> {
        self.counts.uses(units, has_times)
    }
}
