//! The processor time of an application without a tracer.

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::control_group::{ControlGroup, Times};
use super::family::{Family, Usage};
use super::load::Output;
use super::tick_border::TickBorder;
use super::{Fault, TO_END, Workload, group, output_of, run_load, wait_until_idle};
use crate::bpf::now_ns;

/// Longest time between two samples of a kernel that tells user from kernel time by its clock tick.
/// HZ is 100 to 1000.
const SAMPLE: Duration = Duration::from_millis(10);

/// The unit of the times in `/proc`, in ns.
const TICK_NS: f64 = 1e7;

/// How often a request to stop is looked for.
const SHORT: Duration = Duration::from_millis(1);

/// How long an application is measured.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// The least processor time of all runs.
    pub least: Duration,
    /// The processor time after which the application is not run again, however wide the interval
    /// is.
    pub most: Duration,
    /// Half the width of the interval of the kernel time, as a share of it, that ends the runs
    /// between both.
    pub half_width: f64,
    /// The longest time of all runs, if they leave the processor idle.
    pub limit: Duration,
}

impl Enough {
    fn is_reached(&self, found: &Measured) -> bool {
        let used = Duration::from_secs_f64((found.user_ns + found.kernel_ns) / 1e9);
        let is_precise = || found.half_width() <= self.half_width;
        used >= self.most || used >= self.least && is_precise()
    }
}

/// Processor time of an application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Number of runs of a command, which is no server.
    pub runs: u32,
    /// Number of units of work.
    pub units: f64,
    /// User time of all units, in ns, by clock ticks.
    pub user_ns: f64,
    /// Kernel time of all units, in ns, by clock ticks.
    pub kernel_ns: f64,
    /// The part of `user_ns` that is kernel time, in ns ([`super::TickBorder`]).
    pub missed_ns: f64,
    /// Elapsed time of all runs, in ns. `None`: the application is a server.
    pub elapsed_ns: Option<f64>,
    /// Whether the kernel's share of short processes may be too low, because there is no control
    /// group to count it.
    pub is_biased: bool,
    /// The first failure of the command. `None`: all runs exited with status 0, or the application
    /// is a server.
    pub failure: Option<ExitStatus>,
}

impl Measured {
    /// Kernel time of a unit, in ns.
    pub fn kernel_ns_each(&self) -> f64 {
        (self.kernel_ns + self.missed_ns) / self.units
    }

    /// Kernel time of a unit, in ns, by clock ticks alone.
    pub fn kernel_ns_by_ticks(&self) -> f64 {
        self.kernel_ns / self.units
    }

    /// User time of a unit, in ns.
    pub fn user_ns_each(&self) -> f64 {
        (self.user_ns - self.missed_ns) / self.units
    }

    /// Counts the kernel time that ticks charge to the user. `events` are the system calls and the
    /// page faults of a unit.
    pub fn add_missed(&mut self, border: TickBorder, events: [f64; 2]) {
        self.missed_ns = (self.units * border.missed_ns(events)).min(self.user_ns);
    }

    /// 95 % interval of the kernel time of a unit, in ns.
    pub fn interval_ns(&self) -> [f64; 2] {
        let (all, half_ns) = (self.user_ns + self.kernel_ns, self.half_ns());
        [self.kernel_ns - half_ns, self.kernel_ns + half_ns]
            .map(|kernel_ns| (kernel_ns.clamp(0.0, all) + self.missed_ns).min(all) / self.units)
    }

    /// Half the width of the 95 % interval of the kernel time by clock ticks, as a share of it.
    /// Infinite without kernel time.
    fn half_width(&self) -> f64 {
        match self.kernel_ns {
            0.0 => f64::INFINITY,
            kernel_ns => self.half_ns() / kernel_ns,
        }
    }

    /// Half the width of the 95 % interval of the kernel time by clock ticks, in ns. Linux adds all
    /// of a clock tick to the kernel's time or to the user's time: with n ticks and a share p of
    /// the kernel, the standard deviation of p is sqrt(p (1 - p) / n).
    fn half_ns(&self) -> f64 {
        let all = self.user_ns + self.kernel_ns;
        let (share, ticks) = (self.kernel_ns / all, all / SAMPLE.as_nanos() as f64);
        1.96 * (share * (1.0 - share) / ticks).sqrt() * all
    }
}

/// Runs the application, or a load of it, again and again until it was measured long enough, or
/// until it fails if it `may_fail` not.
pub fn measure(
    workload: &Workload,
    enough: &Enough,
    may_fail: bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Measured, Fault> {
    let begun = Instant::now();
    let is_over = |found: &Measured| {
        let has_run = found.units > 0.0;
        let has_failed = found.failure.is_some() && !may_fail;
        has_failed || has_run && (enough.is_reached(found) || begun.elapsed() > enough.limit)
    };
    let clock = Clock::new(workload.load.is_some());
    match &workload.load {
        None => runs(workload, &clock, &is_over, stopped),
        Some(line) => loads(line, workload, &clock, &is_over, stopped),
    }
}

/// Runs the work of one round.
pub fn once(workload: &Workload, stopped: &dyn Fn() -> bool) -> Result<Measured, Fault> {
    let clock = Clock {
        group: Some(ControlGroup::new().map_err(Fault::NoControlGroup)?),
        family: Family::descendants(),
        is_server: workload.load.is_some(),
    };
    match &workload.load {
        None => runs(workload, &clock, &|found| found.runs >= workload.runs, stopped),
        Some(line) => loads(line, workload, &clock, &|found| found.units > 0.0, stopped),
    }
}

/// The source of the times.
struct Clock {
    group: Option<ControlGroup>,
    family: Family,
    /// Whether the application runs on while its load is reaped.
    is_server: bool,
}

impl Clock {
    fn new(is_server: bool) -> Clock {
        Clock { group: ControlGroup::new().ok(), family: Family::descendants(), is_server }
    }

    /// The processor time of all processes of the application so far.
    fn times(&self) -> Result<Times, Fault> {
        if let Some(group) = &self.group {
            return Ok(group.times()?);
        }
        let reaped = match self.is_server {
            true => Usage::default(),
            false => Family::reaped_by("self"),
        };
        Ok(times_by_ticks(self.family.usage() + reaped))
    }
}

fn times_by_ticks(used: Usage) -> Times {
    Times {
        user_ns: used.user_ticks as f64 * TICK_NS,
        kernel_ns: used.kernel_ticks as f64 * TICK_NS,
    }
}

fn runs(
    workload: &Workload,
    clock: &Clock,
    is_over: &dyn Fn(&Measured) -> bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Measured, Fault> {
    let mut found = Measured { is_biased: clock.group.is_none(), ..Measured::default() };
    let mut phase = Phase::default();
    while !is_over(&found) {
        phase.shift();
        let before = clock.times()?;
        let Started { mut program, mut output, since } = start(workload, clock)?;
        while !has_ended(&mut program)? {
            if stopped() {
                program.kill()?;
                program.wait()?;
                return Err(Fault::Stopped);
            }
        }
        let ended_ns = now_ns();
        let status = program.wait()?;
        let elapsed_ns = ended_ns.saturating_sub(since.read()?) as f64;
        found.elapsed_ns = Some(found.elapsed_ns.unwrap_or(0.0) + elapsed_ns);
        found.failure = found.failure.or((!status.success()).then_some(status));
        phase.ran();
        found.units += workload.units_in(&output.text())?;
        found.runs += 1;
        found.add_times(before, clock.times()?);
    }
    Ok(found)
}

/// The phase of the kernel's clock tick in which a run begins. Without shifts, runs that take about
/// a whole number of ticks begin in the same phase: the ticks then hit the same places of all runs,
/// and never others. Without shifts, the kernel's share of a run of Python came out as 20 % instead
/// of 25 %.
#[derive(Debug, Default)]
struct Phase {
    begun: Option<Instant>,
    run: Duration,
    /// The place in the longest shift, from 0 to 1.
    place: f64,
}

impl Phase {
    /// Waits for a part of a tick, or of the run before if that was shorter.
    fn shift(&mut self) {
        // Multiples of the golden ratio are spread evenly.
        const GOLDEN: f64 = 0.618_033_988_75;
        self.place = (self.place + GOLDEN).fract();
        std::thread::sleep(self.run.min(SAMPLE).mul_f64(self.place));
        self.begun = Some(Instant::now());
    }

    fn ran(&mut self) {
        self.run = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
    }
}

/// Restarts the server before each load, as a trace does: what a server keeps from one load to the
/// next would make later loads cheaper.
fn loads(
    line: &str,
    workload: &Workload,
    clock: &Clock,
    is_over: &dyn Fn(&Measured) -> bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Measured, Fault> {
    let mut found = Measured::default();
    while !is_over(&found) {
        let Started { mut program, output: _output, .. } = start(workload, clock)?;
        let family = &clock.family;
        let mut pass = |time: Duration| {
            std::thread::sleep(time);
            // A daemon runs on when the process that started it has ended.
            Ok(program.try_wait()?.is_none() || !family.is_empty())
        };
        let mut loaded = || -> Result<(), Fault> {
            wait_until_idle(family, stopped, &mut pass)?;
            let before = clock.times()?;
            found.units += run_load(line, workload, stopped, &mut pass, family)?;
            found.add_times(before, clock.times()?);
            Ok(())
        };
        let outcome = loaded();
        family.end(TO_END);
        let _ = program.wait();
        outcome?;
    }
    Ok(found)
}

/// Waits for the end of a process, for a short time.
fn has_ended(program: &mut Child) -> io::Result<bool> {
    let ends = pidfd_open(Pid::from_child(program), PidfdFlags::empty());
    match ends {
        Ok(ends) => {
            let timeout = Timespec::try_from(SHORT).map_err(io::Error::other)?;
            let mut ends = [PollFd::new(&ends, PollFlags::IN)];
            // A signal ends the wait early.
            let _ = poll(&mut ends, Some(&timeout));
        }
        Err(_) => std::thread::sleep(SHORT),
    }
    Ok(program.try_wait()?.is_some())
}

/// A process before it executes its program.
struct Started {
    program: Child,
    output: Output,
    since: Since,
}

/// When a process executed its program.
struct Since(PipeReader);

impl Since {
    /// The time by the kernel's monotonic clock, in ns.
    fn read(mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

fn start(workload: &Workload, clock: &Clock) -> Result<Started, Fault> {
    let mut command = group(&workload.command[0]);
    command.args(&workload.command[1..]);
    command.stdout(output_of(workload)?);
    if workload.is_searched() {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let group = clock.group.as_ref();
    let members = group.map(|group| File::options().write(true).open(group.members()));
    let members = members.transpose()?;
    let (since, mut begins) = io::pipe()?;
    // SAFETY: the closure runs in the forked child and makes system calls only, without allocating.
    // 0 is the writing process itself.
    unsafe {
        command.pre_exec(move || {
            if let Some(members) = &members {
                rustix::io::write(members, b"0")?;
            }
            begins.write_all(&now_ns().to_ne_bytes())
        });
    }
    let mut program =
        command.spawn().map_err(|e| Fault::NotStarted(workload.command[0].clone(), e))?;
    let output = Output::read_from(&mut program, workload.hides_output);
    Ok(Started { program, output, since: Since(since) })
}

impl Measured {
    fn add_times(&mut self, before: Times, after: Times) {
        self.user_ns += (after.user_ns - before.user_ns).max(0.0);
        self.kernel_ns += (after.kernel_ns - before.kernel_ns).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENOUGH: Enough = Enough {
        least: Duration::from_secs(10),
        most: Duration::from_secs(30),
        half_width: 0.05,
        limit: Duration::from_secs(120),
    };

    fn used(user_s: f64, kernel_s: f64) -> Measured {
        Measured {
            user_ns: user_s * 1e9,
            kernel_ns: kernel_s * 1e9,
            units: 1.0,
            ..Measured::default()
        }
    }

    /// 1000 ticks, of which 0.8 hit the kernel: 1.96 sqrt(0.8 * 0.2 / 1000) = 0.0248 of all time.
    #[test]
    fn interval_is_that_of_a_share_of_ticks() {
        let [low, high] = used(2.0, 8.0).interval_ns();
        assert!((high - low - 2.0 * 0.0248e10).abs() < 1e7, "{low} {high}");
        assert!((used(2.0, 8.0).half_width() - 0.031).abs() < 1e-4);
    }

    #[test]
    fn runs_go_on_until_the_kernel_time_is_precise_or_the_time_is_over() {
        for (user_s, kernel_s, is_enough) in [
            (1.0, 8.9, false),
            (2.0, 8.0, true),
            (8.0, 2.0, false),
            (6.0, 6.0, false),
            (9.0, 9.0, true),
            (20.0, 9.9, false),
            (24.0, 6.0, true),
            (29.9, 0.0, false),
            (30.0, 0.0, true),
        ] {
            let found = used(user_s, kernel_s);
            assert_eq!(ENOUGH.is_reached(&found), is_enough, "{found:?}");
        }
    }
}
