//! Counts the events of the programs in the kernel.

use std::collections::{HashMap, HashSet};

use super::cost::Cost;
use super::counted::Counted;
use super::event::{Event, NamedCall};
use super::names::name;
use super::shared::{
    BeginEvent, DetailedCallEvent, EndEvent, IS_THREAD, MoreEvent, SHARES_FILES, WAS_KILLED, Waits,
};
use super::threads::now_ns;
use crate::call::Call;
use crate::count::Times;
use crate::descriptors::Descriptors;
use crate::files::FileLog;
use crate::primitive::Used;
use crate::tally::{Made, Tally};
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
    /// Waiting in the calls from which threads have not returned, by thread, in ns.
    waits: HashMap<u32, f64>,
    /// When the count began, by the kernel's monotonic clock, in ns.
    since_ns: u64,
    /// Time in which no thread ran, but one could have, in ns.
    ready_ns: f64,
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
        (self.since_ns, self.ready_ns) = (now_ns(), 0.0);
        self.interrupts = Default::default();
    }

    /// Counts the events from now on. Earlier waiting does not count.
    pub fn resume(&mut self) {
        self.tally.is_paused = false;
        self.since_ns = now_ns();
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

    /// Time in which no thread ran, but one could have, in ns.
    pub fn ready_ns(&self) -> f64 {
        self.ready_ns
    }

    /// The part of the user time in processes that the application started, in ns. `None`: it
    /// started none, or they took none.
    pub fn started_user_ns(&self) -> Option<f64> {
        (self.started_user_ns > 0.0).then(|| self.started_user_ns.min(self.user_ns()))
    }

    /// User time, kernel time and waiting, in ns.
    pub fn times_ns(&self) -> [f64; 3] {
        let uses = self.uses(1.0);
        let kernel_ns = uses.iter().filter_map(|used| used.time_ns).sum();
        let waited_ns = uses.iter().filter_map(|used| used.waited_ns).sum();
        [self.user_ns(), kernel_ns, waited_ns]
    }

    /// The uses per unit of work, with their times.
    pub fn uses(&self, units: f64) -> Vec<Use> {
        self.tally.uses(units, true)
    }

    /// Whether the program of the trace has begun, so that calls count.
    pub fn has_begun(&self) -> bool {
        self.waits_for.is_none()
    }

    /// Counts an event.
    pub fn take(&mut self, event: &Event) {
        let head = event.head();
        if self.waits(event) {
            if let Event::End(_) = event {
                self.threads.remove(&head.thread);
            }
            return;
        }
        self.add_user(head.thread, head.user_ns as f64);
        match event {
            Event::Call(event) => self.calls(event, None),
            Event::Begin(event) => self.begin(event),
            Event::End(event) => self.end(event),
            Event::More(event) => self.more(event),
            Event::Interrupt(event) => self.interrupt(head.thread, event.time_ns as f64),
            Event::FileFault(event) => {
                if let Some(place) = event.place.place() {
                    self.tally.fault_of_file(head.thread, &place, event.fault_pages);
                }
            }
        }
    }

    /// Whether the trace has not begun. It begins with the call that executes the program.
    fn waits(&mut self, event: &Event) -> bool {
        let Some(thread) = self.waits_for else {
            return false;
        };
        let head = event.head();
        let begins = match event {
            Event::Call(event) if head.thread == thread && event.call.result == 0 => {
                name(head.number, head.is_32_bit()) == "execve"
            }
            _ => false,
        };
        if begins {
            self.waits_for = None;
            self.waits.clear();
            // Its user time was spent before the program.
            self.add_user(thread, -(head.user_ns as f64));
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
        if self.has_begun() {
            self.add_user(counted.mean.call.head.thread, counted.user_ns as f64);
            self.calls(&counted.mean, Some(counted));
        }
    }

    /// Number of calls that the kernel has counted without their details.
    pub fn without_details(&self) -> u64 {
        self.tally.without_details
    }

    /// Counts a call, or the calls of its kind that the kernel has counted.
    fn calls(&mut self, event: &DetailedCallEvent, counted: Option<&Counted>) {
        let head = event.call.head;
        let name = name(head.number, head.is_32_bit());
        let inner = (name == "socketcall").then(|| event.socket_call()).flatten();
        let (name, event) = match &inner {
            Some((name, inner)) => (name, inner),
            None => (&name, event),
        };
        self.tally.descriptors.at(event.call.time_ns);
        let arguments = NamedCall { name, event };
        let call = Call { name, result: event.shown_result(), arguments: &arguments };
        let call_ns = event.call.call_ns;
        let (count, time_ns) = counted.map_or((1, call_ns), |all| (all.count, all.call_ns));
        if event.is_child() {
            return self.tally.add_time(head.thread, &call, time_ns as f64);
        }
        let added = self.cost.call(call_ns as f64, head.user_ns as f64);
        self.add_user(head.thread, -added.user_ns * count as f64);
        let time_ns = time_ns as f64 - added.kernel_ns * count as f64;
        match counted {
            None => {
                let since_ns = event.call.time_ns.saturating_sub(self.since_ns);
                let waited_ns = self.take_wait(head.thread).min(since_ns as f64);
                self.tally.call(head.thread, &call, Times { kernel_ns: time_ns, waited_ns });
            }
            Some(_) => self.tally.counted(head.thread, &call, count, time_ns),
        }
    }

    fn take_wait(&mut self, thread: u32) -> f64 {
        self.waits.remove(&thread).unwrap_or_default()
    }

    fn begin(&mut self, event: &BeginEvent) {
        let made = Made {
            shares_files: event.head.has(SHARES_FILES),
            borrows: event.head.borrows_memory(),
            is_thread: event.head.has(IS_THREAD),
        };
        let child = event.child as u32;
        self.threads.insert(child);
        self.tally.begin(event.head.thread, child, made);
    }

    fn end(&mut self, event: &EndEvent) {
        let head = &event.head;
        self.threads.remove(&head.thread);
        self.tally.descriptors.end(head.thread);
        let used = if head.has(WAS_KILLED) {
            Used::new("exit", Some("killed"))
        } else {
            Used { name: name(head.number, head.is_32_bit()), ..Used::new("", None) }
        };
        let waited_ns = self.take_wait(head.thread);
        let times = Times { kernel_ns: event.call_ns as f64, waited_ns };
        self.tally.ended(head.thread, used, times);
    }

    fn more(&mut self, event: &MoreEvent) {
        if event.waits.call_ns > 0 {
            *self.waits.entry(event.head.thread).or_default() += event.waits.call_ns as f64;
        }
        if self.tally.is_paused {
            return;
        }
        let (thread, faults) = (event.head.thread, &event.faults);
        let (user, call) = (f64::from(faults.user_faults), f64::from(faults.call_faults));
        let added = self.cost.fault(event.head.user_ns as f64 / (user + 1.0));
        self.add_user(thread, -added.user_ns * user);
        let minor = u64::from(faults.user_faults) + u64::from(faults.call_faults);
        // The event does not say which kinds occurred within calls, so all kinds get the mean cost.
        // It is that of writes to fresh memory, with one run of the program for `rss_stat`.
        let each_ns = (added.kernel_ns * user + added.ns() * call) / minor.max(1) as f64;
        for (kind, sum) in faults.minor() {
            let used = Used::new("page_fault", kind);
            let kernel_ns = sum.ns as f64 - each_ns * sum.count as f64;
            self.other(thread, used, sum.count, kernel_ns.into());
        }
        let used = Used::new("page_fault", Some("major"));
        let Waits { fault_ns, ready_ns, .. } = event.waits;
        let waited_ns = fault_ns as f64;
        let times = Times { kernel_ns: faults.major.ns as f64, waited_ns };
        self.ready_ns += ready_ns as f64;
        self.other(thread, used, faults.major.count, times);
        self.faults += minor + faults.major.count;
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

    /// Counts uses with their times. Without a use, only waiting counts.
    fn other(&mut self, thread: u32, used: Used, count: u64, times: Times) {
        if count > 0 || times.waited_ns > 0.0 {
            self.tally.other(thread, used, count, times);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::tests::{call, head};
    use super::super::shared::{self, InterruptEvent, PageFaults};
    use super::*;

    fn more(user_ns: u64, waits: Waits) -> Event {
        let faults = PageFaults::default();
        Event::More(MoreEvent { head: head(shared::MORE, user_ns), faults, waits })
    }

    /// A thread sleeps 70 ns in a call, and 20 ns in a page fault within it.
    #[test]
    fn waiting_belongs_to_the_call_from_which_the_thread_returns_next() {
        let mut reader = EventReader::default();
        reader.take(&more(0, Waits { call_ns: 40, fault_ns: 20, ready_ns: 5 }));
        reader.take(&more(0, Waits { call_ns: 30, ..Waits::default() }));
        for _ in 0..2 {
            let mut event = call([0; 5], 4096);
            event.time_ns = 1000;
            reader.take(&Event::plain_call(event));
        }
        let waited = |name: &str, reader: &EventReader| {
            let uses = reader.uses(1.0);
            uses.into_iter().find(|used| used.name == name).and_then(|used| used.waited_ns)
        };
        assert_eq!(waited("read(inherited)", &reader), Some(70.0));
        assert_eq!(waited("page_fault(major)", &reader), Some(20.0));
        assert_eq!(reader.ready_ns(), 5.0);
        // A server has slept since before its load began.
        reader.forget();
        reader.since_ns = 990;
        reader.take(&more(0, Waits { call_ns: 40, ..Waits::default() }));
        let mut event = call([0; 5], 4096);
        event.time_ns = 1000;
        reader.take(&Event::plain_call(event));
        assert_eq!(waited("read(inherited)", &reader), Some(10.0));
    }

    /// 1000 reads of a descriptor that no call has shown, which the kernel has counted.
    #[test]
    fn calls_that_the_kernel_counted_are_uses_with_their_time() {
        let counted = Counted {
            mean: call([0; 5], 4096).without_detail(),
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
        reader.take(&more(2000, Waits::default()));
        for _ in 0..2 {
            for time_ns in [60, 40] {
                let head = head(shared::INTERRUPT, 0);
                reader.take(&Event::Interrupt(InterruptEvent { head, time_ns }));
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
