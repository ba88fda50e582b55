//! Counts the events of the programs in the kernel.

use std::borrow::Cow;
use std::collections::HashSet;

use super::cost::Cost;
use super::counted::Counted;
use super::event::{Content, Event, More, NamedCall, Returned};
use super::layout::{FAULT_NAMES, KILLED};
use super::names::name;
use crate::call::Call;
use crate::descriptors::Descriptors;
use crate::files::FileLog;
use crate::primitive::Used;
use crate::tally::Tally;
use yamba_predict::vector::Use;

/// Counts events.
#[derive(Debug, Default)]
pub struct EventReader {
    tally: Tally,
    cost: Cost,
    /// The thread whose `execve` begins the trace.
    waits_for: Option<u32>,
    /// Threads that have not ended.
    threads: HashSet<u32>,
    user_ns: f64,
    /// The part of `user_ns` in processes that the application started.
    started_user_ns: f64,
    faults: u64,
    /// Interrupt work in processes that the application did not start, and in those that it
    /// started. It is not counted yet.
    interrupts: [InterruptWork; 2],
}

/// Interrupt work.
#[derive(Clone, Copy, Debug, Default)]
struct InterruptWork {
    count: u64,
    time_ns: f64,
}

impl EventReader {
    /// A reader for these threads.
    pub fn new(descriptors: Descriptors, threads: HashSet<u32>, cost: Cost) -> EventReader {
        EventReader { tally: Tally::with(descriptors), cost, threads, ..EventReader::default() }
    }

    /// Records accesses to files in this log.
    pub fn recording(mut self, log: Option<FileLog>) -> EventReader {
        self.tally.files = log;
        self
    }

    /// The recorded accesses to files.
    pub fn take_files(&mut self) -> Option<FileLog> {
        self.tally.files.take()
    }

    /// Counts from the call by which this thread executes a program.
    pub fn wait_for(&mut self, thread: u32) {
        self.threads.insert(thread);
        self.tally.is_the_application(thread);
        self.waits_for = Some(thread);
    }

    /// Whether a traced thread has not ended.
    pub fn has_threads(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Forgets the events so far.
    pub fn forget(&mut self) {
        self.tally.forget();
        (self.user_ns, self.started_user_ns, self.faults) = (0.0, 0.0, 0);
        self.interrupts = Default::default();
    }

    /// Counts the events from now on.
    pub fn resume(&mut self) {
        self.tally.is_paused = false;
    }

    /// Does not count the events from now on.
    pub fn pause(&mut self) {
        self.tally.is_paused = true;
    }

    /// Number of calls and of page faults.
    pub fn counts(&self) -> (u64, u64) {
        (self.tally.calls, self.faults)
    }

    /// User time, in ns.
    pub fn user_ns(&self) -> f64 {
        self.user_ns.max(0.0)
    }

    /// The part of the user time in processes that the application started, in ns. `None`: it
    /// started none, or they took none.
    pub fn started_user_ns(&self) -> Option<f64> {
        (self.started_user_ns > 0.0).then(|| self.started_user_ns.min(self.user_ns()))
    }

    /// User time and kernel time, in ns.
    pub fn times_ns(&self) -> [f64; 2] {
        let uses = self.uses(1.0);
        [self.user_ns(), uses.iter().filter_map(|used| used.time_ns).sum()]
    }

    /// The uses per unit of work, with their times.
    pub fn uses(&self, units: f64) -> Vec<Use> {
        self.tally.uses(units, true)
    }

    /// Whether the program of the trace has begun, so that calls count.
    pub fn has_begun(&self) -> bool {
        self.waits_for.is_none()
    }

    /// Whether a record says that a thread has ended. Its descriptors are known no longer.
    pub fn is_end(record: &[u8]) -> bool {
        Event::all(record).any(|event| matches!(event.content, Content::End { .. }))
    }

    /// Counts the events of a record.
    pub fn take(&mut self, record: &[u8]) {
        for event in Event::all(record) {
            self.event(&event);
        }
    }

    fn event(&mut self, event: &Event) {
        if self.waits(event) {
            if let Content::End { .. } = event.content {
                self.threads.remove(&event.thread);
            }
            return;
        }
        self.add_user(event.thread, event.user_ns as f64);
        match &event.content {
            Content::Call(returned) => self.call(event, returned),
            Content::Begin { child, made } => {
                self.threads.insert(*child);
                self.tally.begin(event.thread, *child, *made);
            }
            Content::End { call_ns, is_32_bit } => self.end(event, *call_ns, *is_32_bit),
            Content::More(more) => self.more(event.thread, more, event.user_ns as f64),
            Content::Interrupt(time_ns) => self.interrupt(event.thread, *time_ns as f64),
            Content::Fault(place, pages) => {
                if let Some(place) = place {
                    self.tally.fault_of_file(event.thread, place, *pages);
                }
            }
        }
    }

    /// Whether the trace has not begun. It begins with the call that executes the program.
    fn waits(&mut self, event: &Event) -> bool {
        let Some(thread) = self.waits_for else {
            return false;
        };
        let begins = match &event.content {
            Content::Call(call) if event.thread == thread && call.result == 0 => {
                name(event.number, call.is_32_bit) == "execve"
            }
            _ => false,
        };
        if begins {
            self.waits_for = None;
            // Its user time was spent before the program.
            self.add_user(event.thread, -(event.user_ns as f64));
        }
        !begins
    }

    fn add_user(&mut self, thread: u32, time_ns: f64) {
        if !self.tally.is_paused {
            self.user_ns += time_ns;
            if self.tally.is_started(thread) {
                self.started_user_ns += time_ns;
            }
        }
    }

    /// Counts calls that the kernel has counted.
    pub fn take_counted(&mut self, counted: &Counted) {
        let event = &counted.mean;
        let Content::Call(returned) = &event.content else {
            return;
        };
        if !self.has_begun() {
            return;
        }
        let thread = event.thread;
        self.add_user(thread, counted.user_ns as f64);
        let name = name(event.number, returned.is_32_bit);
        let arguments = NamedCall { name: &name, returned };
        let call = Call { name: &name, result: returned.shown_result(), arguments: &arguments };
        self.tally.descriptors.at(returned.time_ns);
        let time_ns = counted.call_ns as f64;
        if returned.is_child {
            return self.tally.add_time(thread, &call, time_ns);
        }
        let added = self.cost.of_call(returned.call_ns as f64, event.user_ns as f64);
        let count = counted.count as f64;
        self.add_user(thread, -added.user_ns * count);
        self.tally.counted(thread, &call, counted.count, time_ns - added.kernel_ns * count);
    }

    /// Number of calls that the kernel has counted without their details.
    pub fn without_details(&self) -> u64 {
        self.tally.without_details
    }

    fn call(&mut self, event: &Event, returned: &Returned) {
        let name = name(event.number, returned.is_32_bit);
        if name == "socketcall"
            && let Some((name, inner)) = returned.socket_call()
        {
            return self.named(event, name, &inner);
        }
        self.named(event, name, returned);
    }

    fn named(&mut self, event: &Event, name: Cow<'static, str>, returned: &Returned) {
        let (thread, user_ns) = (event.thread, event.user_ns as f64);
        self.tally.descriptors.at(returned.time_ns);
        let arguments = NamedCall { name: &name, returned };
        let call = Call { name: &name, result: returned.shown_result(), arguments: &arguments };
        let time_ns = returned.call_ns as f64;
        if returned.is_child {
            return self.tally.add_time(thread, &call, time_ns);
        }
        let added = self.cost.of_call(time_ns, user_ns);
        self.add_user(thread, -added.user_ns);
        self.tally.call(thread, &call, time_ns - added.kernel_ns);
    }

    fn end(&mut self, event: &Event, call_ns: u64, is_32_bit: bool) {
        self.threads.remove(&event.thread);
        self.tally.descriptors.end(event.thread);
        let used = if event.number == KILLED as u32 {
            Used::of("exit", Some("killed"))
        } else {
            Used { name: name(event.number, is_32_bit), ..Used::of("", None) }
        };
        self.tally.ended(event.thread, used, call_ns as f64);
    }

    fn more(&mut self, thread: u32, more: &More, user_ns: f64) {
        if self.tally.is_paused {
            return;
        }
        let (user, call) = (f64::from(more.user_faults), f64::from(more.call_faults));
        let added = self.cost.of_fault(user_ns / (user + 1.0));
        self.add_user(thread, -added.user_ns * user);
        let minor = u64::from(more.user_faults) + u64::from(more.call_faults);
        // The event does not say which kinds occurred within calls, so all kinds get the mean cost.
        // It is that of writes to fresh memory, with one run of the program for `rss_stat`.
        let each_ns = (added.kernel_ns * user + added.ns() * call) / minor.max(1) as f64;
        let kinds = FAULT_NAMES.iter().zip(more.minor_faults.iter().zip(more.minor_ns));
        for (kind, (faults, time_ns)) in kinds {
            let used = Used::of("page_fault", *kind);
            self.other(thread, used, *faults, time_ns as f64 - each_ns * f64::from(*faults));
        }
        let used = Used::of("page_fault", Some("major"));
        self.other(thread, used, more.major_faults, more.major_ns as f64);
        self.faults += minor + u64::from(more.major_faults);
    }

    fn interrupt(&mut self, thread: u32, time_ns: f64) {
        if !self.tally.is_paused {
            let work = &mut self.interrupts[usize::from(self.tally.is_started(thread))];
            work.count += 1;
            work.time_ns += time_ns;
        }
    }

    /// Counts the interrupt work since the last count. It was timed in a part of the time; the
    /// whole time is `factor` times as long. In the rest, it is part of the user time.
    pub fn count_interrupts(&mut self, factor: f64) {
        for (is_started, timed) in [false, true].into_iter().zip(self.interrupts) {
            let count = (timed.count as f64 * factor).round() as u64;
            self.tally.interrupts(count, timed.time_ns * factor, is_started);
            let in_user_ns = timed.time_ns * (factor - 1.0);
            self.user_ns -= in_user_ns;
            if is_started {
                self.started_user_ns -= in_user_ns;
            }
        }
        self.interrupts = Default::default();
    }

    fn other(&mut self, thread: u32, used: Used, count: u32, time_ns: f64) {
        if count > 0 {
            self.tally.other(thread, used, count.into(), time_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::record;
    use super::super::layout::{flag, place};
    use super::*;

    /// 1000 reads of a descriptor that no call has shown, which the kernel has counted.
    #[test]
    fn calls_that_the_kernel_counted_are_uses_with_their_time() {
        let mut event = [0; super::super::layout::EVENT_BYTES];
        event[place("event.ids")] = 7;
        event[place("event.number")] = 0;
        let counted = Counted {
            mean: Event::mean(&event, 4096, 90, 10).unwrap(),
            count: 1000,
            call_ns: 90_000,
            user_ns: 10_000,
        };
        let mut reader = EventReader::default();
        reader.take_counted(&counted);
        let uses = reader.uses(10.0);
        let found = (uses[0].name.as_str(), uses[0].size, uses[0].count);
        assert_eq!(found, ("read(inherited)", Some(4096.0), 100.0));
        assert_eq!((uses[0].time_ns, reader.user_ns()), (Some(9000.0), 10_000.0));
        assert_eq!((reader.counts().0, reader.without_details()), (1000, 1000));
        reader.pause();
        reader.take_counted(&counted);
        assert_eq!(reader.without_details(), 1000);
        reader.forget();
        assert_eq!(reader.without_details(), 0);
    }

    #[test]
    fn interrupt_work_in_a_part_of_the_time_counts_for_the_whole() {
        let mut reader = EventReader::default();
        reader.take(&record(flag("MORE"), &[(place("event.user"), 2000)]));
        for _ in 0..2 {
            for time_ns in [60, 40] {
                let time = (place("event.interrupt"), time_ns);
                reader.take(&record(flag("INTERRUPT"), &[time]));
            }
            reader.count_interrupts(2.5);
        }
        let uses = reader.uses(1.0);
        assert_eq!(uses.len(), 1, "{uses:?}");
        let found = (uses[0].name.as_str(), uses[0].count, uses[0].time_ns);
        assert_eq!(found, ("softirq", 10.0, Some(500.0)));
        assert_eq!(reader.user_ns(), 2000.0 - 300.0);
    }
}
