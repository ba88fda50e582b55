//! Traces an application by programs in the kernel. They count and time all calls, and never stop
//! the application.

use std::collections::HashSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::bare_rounds::{EndedRound, clock_calls, clock_reads};
use super::family::Family;
use super::interrupts::InterruptTiming;
use super::load::Output;
use super::measured::once;
use super::tick_border::{TickBorder, unmeasured_calls};
use super::{
    AFTER_LOAD, Fault, Names, Run, TICK, TO_END, Workload, command_of, group, open_files,
    output_of, process_fault, run_load, wait_until_idle,
};
use crate::bpf::{self, Cost, Event, EventReader, Tracer, Unavailable, details};
use crate::descriptors::Descriptors;
use crate::trace::{Request, Trace, vector};
use yamba_predict::rounds::Round;
use yamba_predict::vector::{Elapsed, Traced};

/// How often events are read, so that the end of a short command is noticed soon.
const PAUSE: Duration = Duration::from_millis(4);

/// How long the events of an ended program are awaited.
const LAST_EVENTS: Duration = Duration::from_millis(200);

/// The attached programs, with their cost.
pub struct Prepared {
    tracer: Tracer,
    cost: Cost,
    files: bool,
}

impl Prepared {
    /// Loads and attaches the programs, and measures their cost. With `files`, accesses to files
    /// are recorded, too.
    pub fn new(files: bool) -> Result<Prepared, Unavailable> {
        let mut tracer = Tracer::new(&details(files), files)?;
        let cost = bpf::attach(&mut tracer)?;
        Ok(Prepared { tracer, cost, files })
    }
}

/// Traces the runs of a command, or a server under its load.
pub fn trace(
    prepared: Prepared,
    workload: &Workload,
    names: &Names,
    stopped: &dyn Fn() -> bool,
) -> Result<Run, Fault> {
    let descriptors = open_files::inherited().looking_up(open_files::kind);
    let mut session = Session::new(prepared, descriptors, HashSet::new());
    let mut failure = None;
    let mut units = 0.0;
    let mut rounds = Vec::new();
    let mut uncounted = Vec::new();
    for _ in 0..workload.rounds {
        let (more, end) = if workload.rounds > 1 {
            session.compared(workload, stopped, &mut rounds)?
        } else {
            session.round(workload, stopped)?
        };
        units += more;
        failure = failure.or(end);
    }
    let mut trace = session.trace(names, units)?;
    let vector = &mut trace.vector;
    vector.command.clone_from(&workload.command);
    if !rounds.is_empty() {
        let calls = clock_calls(&vector.primitives);
        let mut run = |bare: &Workload| session.another_round(bare, stopped);
        match clock_reads(&mut run, workload, calls, failure) {
            Ok(reads) => vector.clock_reads = Some(reads),
            Err(reason) => uncounted.push(reason),
        }
        // The attached programs would make the end of its calls longer.
        session.tracer.detach();
        let program = workload.command.first().map_or("", String::as_str);
        uncounted.extend(unmeasured_calls(program));
        let missed_ns = TickBorder::measure()?.missed_ns(vector.events());
        for round in &mut rounds {
            round.missed_ns = missed_ns.min(round.untraced_ns - round.untraced_kernel_ns);
            round.untraced_kernel_ns += round.missed_ns;
        }
    }
    if let Some(traced) = &mut vector.traced {
        traced.runs = workload.load.is_none().then_some(workload.runs);
        traced.rounds = rounds;
    }
    if let Some(level) = vector.level() {
        vector.scale_times(level);
    }
    Ok(Run { trace, failure, uncounted })
}

/// Traces a running process and its descendants while its load runs, or until a stop is requested.
/// They run on afterwards.
pub fn attach(
    prepared: Prepared,
    process: u32,
    workload: &Workload,
    names: &Names,
    stopped: &dyn Fn() -> bool,
) -> Result<Trace, Fault> {
    let family = Family::rooted_at(process);
    let mut descriptors = Descriptors::default();
    let mut threads = HashSet::new();
    // A thread that is not traced yet may make others meanwhile.
    while add_threads(&prepared, process, &family, &mut descriptors, &mut threads)? {}
    let descriptors = descriptors.looking_up(open_files::kind);
    let mut session = Session::new(prepared, descriptors, threads);
    let units = match &workload.load {
        Some(line) => session.while_loaded(line, workload, stopped, &family)?,
        None => {
            // The events of the child that measured the tracer's cost.
            session.read()?;
            session.reader.forget();
            session.begin_count()?;
            while session.pass(TICK)? && !stopped() {}
            session.end()?;
            workload.units_in("")?
        }
    };
    let mut trace = session.trace(names, units)?;
    trace.vector.command = command_of(process);
    Ok(trace)
}

/// Adds the threads of a process and of its descendants. Returns whether there were any that
/// `known` does not have.
fn add_threads(
    prepared: &Prepared,
    process: u32,
    family: &Family,
    descriptors: &mut Descriptors,
    known: &mut HashSet<u32>,
) -> Result<bool, Fault> {
    let before = known.len();
    let mut others = family.numbers();
    others.retain(|other| *other != process);
    for member in [process].into_iter().chain(others) {
        let threads = match open_files::add_running(member, descriptors) {
            Ok(threads) => threads,
            Err(e) if member == process => return Err(process_fault(e)),
            // It has just ended.
            Err(_) => continue,
        };
        for thread in threads {
            if known.insert(thread) {
                let added = prepared.tracer.threads.add_running(member, thread);
                added.or_else(|e| if thread == process { Err(e) } else { Ok(()) })?;
            }
        }
    }
    Ok(known.len() > before)
}

/// A running trace.
struct Session {
    tracer: Tracer,
    reader: EventReader,
    interrupts: InterruptTiming,
    cost: Cost,
    /// Number of events that were lost while no event was counted.
    lost_uncounted: u64,
    /// Time in which a thread was on a processor, and the sum of the threads' times there, while
    /// events were counted, in ns.
    running_ns: [u64; 2],
    /// Both times from the loading of the programs to the beginning of the current count, in ns.
    running_before_ns: [u64; 2],
    /// Number of events that were lost until the last counts ended.
    lost_so_far: u64,
    /// Whether events were counted before.
    has_counted: bool,
}

/// A command that is traced.
struct Commanded<'a> {
    session: &'a mut Session,
    program: Child,
    family: Family,
}

impl Session {
    fn new(prepared: Prepared, descriptors: Descriptors, threads: HashSet<u32>) -> Session {
        let Prepared { tracer, cost, files } = prepared;
        let log = files.then(open_files::log);
        Session {
            tracer,
            reader: EventReader::new(descriptors, threads, cost).recording(log),
            interrupts: InterruptTiming::new(),
            cost,
            lost_uncounted: 0,
            running_ns: [0; 2],
            running_before_ns: [0; 2],
            lost_so_far: 0,
            has_counted: false,
        }
    }

    /// Does the work of a round without the tracer, and then with it. Returns the units of the
    /// latter, and how it failed.
    fn compared(
        &mut self,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
        rounds: &mut Vec<Round>,
    ) -> Result<(f64, Option<ExitStatus>), Fault> {
        self.tracer.detach();
        let untraced = once(workload, stopped)?;
        let attached = self.tracer.attach();
        attached.map_err(|reason| io::Error::other(reason.to_string()))?;
        let before = self.reader.times_ns();
        let (units, failure) = self.round(workload, stopped)?;
        self.read()?;
        let after = self.reader.times_ns();
        rounds.push(Round {
            untraced_ns: (untraced.user_ns + untraced.kernel_ns) / untraced.units,
            untraced_kernel_ns: untraced.kernel_ns / untraced.units,
            untraced_elapsed_ns: untraced.elapsed_ns.map(|ns| ns / untraced.units),
            waited_ns: Some((after[2] - before[2]) / units),
            user_ns: (after[0] - before[0]) / units,
            kernel_ns: (after[1] - before[1]) / units,
            ..Round::default()
        });
        Ok((units, failure))
    }

    /// Traces a round of another command, and forgets the events before.
    ///
    /// # Errors
    /// The reason why the round is of no use.
    fn another_round(
        &mut self,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
    ) -> Result<EndedRound, String> {
        let descriptors = open_files::inherited().looking_up(open_files::kind);
        self.reader = EventReader::new(descriptors, HashSet::new(), self.cost);
        self.has_counted = false;
        let text = |fault: io::Error| fault.to_string();
        let lost = self.tracer.lost().map_err(text)?;
        let ended = self.round(workload, stopped);
        let (units, failure) = ended.map_err(|_| "the program or its load failed".to_owned())?;
        self.read().map_err(text)?;
        match self.tracer.lost().map_err(text)? - lost {
            0 => Ok(EndedRound { units, failure, uses: self.reader.uses(1.0) }),
            lost => Err(format!("{lost} events were lost")),
        }
    }

    /// Traces the runs of the command, or the server under its load. Returns the number of units,
    /// and how it failed.
    fn round(
        &mut self,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(f64, Option<ExitStatus>), Fault> {
        if let Some(line) = &workload.load {
            return Ok((self.server(line, workload, stopped)?, None));
        }
        self.begin_count()?;
        let (mut units, mut failure) = (0.0, None);
        for _ in 0..workload.runs {
            let (more, end) = self.run(workload, stopped)?;
            units += more;
            failure = failure.or(end);
        }
        self.end_count()?;
        Ok((units, failure))
    }

    /// Traces one run of the command. Returns its number of units, and how it failed.
    fn run(
        &mut self,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(f64, Option<ExitStatus>), Fault> {
        let (mut command, mut output) = self.command(workload)?;
        let end = command.until_end(stopped);
        if end.is_err() {
            command.family.end(TO_END);
        }
        let status = command.program.wait()?;
        end?;
        let units = workload.units_in(&output.text())?;
        Ok((units, (!status.success()).then_some(status)))
    }

    /// Traces a server while its load runs, and ends it. Returns the number of units.
    fn server(
        &mut self,
        line: &str,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
    ) -> Result<f64, Fault> {
        let (mut command, _output) = self.command(workload)?;
        let units = command.under_load(line, workload, stopped);
        command.family.end(TO_END);
        command.program.wait()?;
        units
    }

    /// Starts the application, with the output that is searched.
    fn command(&mut self, workload: &Workload) -> Result<(Commanded<'_>, Output), Fault> {
        let family = Family::descendants();
        let mut program = self.start(workload)?;
        self.reader.wait_for(program.id());
        let output = Output::read_from(&mut program, workload.hides_output);
        let command = Commanded { session: self, program, family };
        Ok((command, output))
    }

    /// Starts the program, which is traced from its first instruction.
    fn start(&mut self, workload: &Workload) -> Result<Child, Fault> {
        let mut command = group(&workload.command[0]);
        command.args(&workload.command[1..]);
        command.stdout(output_of(workload)?);
        if workload.is_searched() {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let threads = self.tracer.threads.try_clone()?;
        // SAFETY: the closure runs in the forked child, where it makes system calls and allocates
        // nothing.
        unsafe {
            command.pre_exec(move || threads.add_this_process());
        }
        let program = command.spawn();
        program.map_err(|e| Fault::NotStarted(workload.command[0].clone(), e))
    }

    /// Counts events for some time. Returns whether a traced thread is left.
    fn pass(&mut self, time: Duration) -> io::Result<bool> {
        self.read_every(PAUSE, time)
    }

    fn read_every(&mut self, pause: Duration, time: Duration) -> io::Result<bool> {
        let begun = Instant::now();
        while let Some(left) = time.checked_sub(begun.elapsed()) {
            self.read()?;
            self.interrupts.pass(&mut self.tracer, &mut self.reader)?;
            if !self.reader.has_threads() {
                return Ok(false);
            }
            sleep(pause.min(left).min(self.interrupts.left()));
        }
        Ok(true)
    }

    /// Ends the trace with the events that processors have not sent: the application runs on.
    fn end(&mut self) -> io::Result<()> {
        self.tracer.detach();
        self.read()?;
        for event in self.tracer.unsent()? {
            self.reader.take(&event);
        }
        self.end_count()
    }

    fn begin_count(&mut self) -> io::Result<()> {
        self.running_before_ns = self.tracer.counted.running_ns()?;
        self.interrupts.begin(&mut self.tracer)
    }

    /// Counts the interrupt work that was timed, for the whole time, and the time of running
    /// threads. The time of a thread counts when it leaves its processor.
    fn end_count(&mut self) -> io::Result<()> {
        self.read()?;
        self.interrupts.end(&mut self.reader);
        let now = self.tracer.counted.running_ns()?;
        for ((sum, before), now) in self.running_ns.iter_mut().zip(self.running_before_ns).zip(now)
        {
            *sum += now - before;
        }
        Ok(())
    }

    /// The elapsed time of a unit. `None`: no thread has left its processor.
    fn elapsed(&self, units: f64) -> Option<Elapsed> {
        let ready_ns = self.reader.ready_ns() / units;
        parallelism(self.running_ns).map(|parallelism| Elapsed { parallelism, ready_ns })
    }

    /// Counts the events that have come, and then the calls that the kernel had counted before: the
    /// events say which program and descriptors these are of. A thread's calls come before its end,
    /// when its descriptors are forgotten.
    fn read(&mut self) -> io::Result<()> {
        let (reader, counted) = (&mut self.reader, &mut self.tracer.counted);
        let mut before = counted.since_last()?;
        let mut done = Ok(());
        self.tracer.ring.read(|record| {
            for event in Event::all(record) {
                // The child that measured the tracer's cost ends before the program begins.
                let ends = matches!(event, Event::End(_)) && reader.has_begun();
                if ends && done.is_ok() {
                    match counted.since_last() {
                        Ok(more) => before.extend(more),
                        Err(e) => done = Err(e),
                    }
                    for calls in before.drain(..) {
                        reader.take_counted(&calls);
                    }
                }
                reader.take(&event);
            }
        });
        for calls in before {
            reader.take_counted(&calls);
        }
        done
    }

    /// Counts while the load runs. Returns the number of units.
    fn while_loaded(
        &mut self,
        line: &str,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
        family: &Family,
    ) -> Result<f64, Fault> {
        self.read()?;
        if !self.has_counted {
            self.reader.forget();
        }
        self.reader.resume();
        self.begin_count()?;
        self.has_counted = true;
        self.lost_uncounted += self.tracer.lost()? - self.lost_so_far;
        // Each reading may take the processor from the server or its load.
        let mut pass = |time| Ok(self.read_every(TICK, time)?);
        let units = run_load(line, workload, stopped, &mut pass, family)?;
        self.pass(AFTER_LOAD)?;
        self.end_count()?;
        self.reader.pause();
        self.lost_so_far = self.tracer.lost()?;
        Ok(units)
    }

    /// Number of events that are missing in the counts.
    fn lost(&self) -> io::Result<u64> {
        let all = match self.has_counted {
            true => self.lost_so_far,
            false => self.tracer.lost()?,
        };
        Ok(all - self.lost_uncounted)
    }

    fn trace(&mut self, names: &Names, units: f64) -> Result<Trace, Fault> {
        self.read()?;
        let request =
            Request { application: names.application.clone(), unit: names.unit.clone(), units };
        let (calls, faults) = self.reader.counts();
        if calls == 0 {
            return Err(Fault::NoCalls);
        }
        let traced = Traced {
            how: "bpf".to_owned(),
            cost_ns_per_call: Some(self.cost.null.ns().max(0.0)),
            lost: Some(self.lost()?),
            without_details: self.reader.without_details(),
            ..Traced::default()
        };
        let uses = self.reader.uses(units);
        let kernel_ns = uses.iter().filter_map(|used| used.time_ns).sum();
        let mut vector = vector(&request, traced, Vec::new(), uses);
        vector.kernel_ns = Some(kernel_ns);
        vector.user_ns = Some(self.reader.user_ns() / units);
        vector.started_user_ns = self.reader.started_user_ns().map(|ns| ns / units);
        vector.elapsed = self.elapsed(units);
        let log = self.reader.take_files();
        Ok(Trace {
            files: log.map(|log| open_files::document(log, &vector)),
            vector,
            calls,
            faults: Some(faults),
            unfinished: 0,
            unread: Vec::new(),
        })
    }
}

/// Mean number of threads that ran at once, by the time in which one ran and the sum of the
/// threads' times. `None`: no thread has left its processor.
fn parallelism([busy_ns, threads_ns]: [u64; 2]) -> Option<f64> {
    (busy_ns > 0).then(|| (threads_ns as f64 / busy_ns as f64).max(1.0))
}

impl Commanded<'_> {
    fn until_end(&mut self, stopped: &dyn Fn() -> bool) -> Result<(), Fault> {
        while self.pass(TICK)? {
            if stopped() {
                return Err(Fault::Stopped);
            }
        }
        Ok(())
    }

    fn under_load(
        &mut self,
        line: &str,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
    ) -> Result<f64, Fault> {
        let (session, program, family) = (&mut *self.session, &mut self.program, &self.family);
        wait_until_idle(family, stopped, &mut |time| {
            session.pass(time)?;
            Ok(program.try_wait()?.is_none() || !family.is_empty())
        })?;
        session.while_loaded(line, workload, stopped, family)
    }

    /// Counts events for some time. Returns whether a traced thread is left.
    fn pass(&mut self, time: Duration) -> io::Result<bool> {
        if self.session.pass(time)? {
            let is_over = self.program.try_wait()?.is_some() && self.family.is_empty();
            if !is_over {
                return Ok(true);
            }
            // The last events come with the last switch of a thread, after its parent has been
            // notified. A lost event never comes.
            self.session.pass(LAST_EVENTS)?;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::parallelism;

    #[test]
    fn threads_that_have_not_left_their_processors_have_no_parallelism() {
        assert_eq!(parallelism([0, 0]), None);
        assert_eq!(parallelism([0, 50]), None);
        assert_eq!(parallelism([50, 100]), Some(2.0));
        assert_eq!(parallelism([50, 49]), Some(1.0), "clocks of two processors");
    }
}
