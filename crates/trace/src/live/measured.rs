//! The processor time of an application without a tracer.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::family::{Family, Ticks};
use super::load::Output;
use super::{Fault, TO_END, Workload, group, output_of, run_load, wait_until_idle};

/// Longest time between two samples of a kernel that tells user from kernel time by its clock tick. HZ is 100 to 1000.
const SAMPLE: Duration = Duration::from_millis(10);

/// The unit of the times in `/proc`, in ns.
const TICK_NS: f64 = 1e7;

/// How often a short command is looked at.
const SHORT: Duration = Duration::from_millis(1);

/// Processor time of an application.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Number of units of work.
    pub units: f64,
    /// User time of all units, in ns.
    pub user_ns: f64,
    /// Kernel time of all units, in ns.
    pub kernel_ns: f64,
}

impl Measured {
    /// Kernel time of a unit, in ns.
    pub fn kernel_ns_each(&self) -> f64 {
        self.kernel_ns / self.units
    }

    /// 95 % interval of the kernel time of a unit, in ns. Linux adds all of a clock tick to the kernel's time or to the user's time: with n ticks and a
    /// share p of the kernel, the standard deviation of p is sqrt(p (1 - p) / n).
    pub fn interval_ns(&self) -> [f64; 2] {
        let all = self.user_ns + self.kernel_ns;
        let (share, ticks) = (self.kernel_ns / all, all / SAMPLE.as_nanos() as f64);
        let half = 1.96 * (share * (1.0 - share) / ticks).sqrt();
        [share - half, share + half].map(|share| share.clamp(0.0, 1.0) * all / self.units)
    }
}

/// Runs the application again and again until it has used `enough` processor time, or `limit` is over.
pub fn measure(
    workload: &Workload,
    enough: Duration,
    limit: Duration,
    stopped: &dyn Fn() -> bool,
) -> Result<Measured, Fault> {
    let begun = Instant::now();
    let is_over = |found: &Measured| {
        let has_run = found.units > 0.0;
        let used = found.user_ns + found.kernel_ns;
        has_run && (used >= enough.as_nanos() as f64 || begun.elapsed() > limit)
    };
    match &workload.load {
        None => runs(workload, &is_over, stopped),
        Some(line) => loads(line, workload, &is_over, stopped),
    }
}

fn runs(
    workload: &Workload,
    is_over: &dyn Fn(&Measured) -> bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Measured, Fault> {
    let mut found = Measured::default();
    let before = Family::reaped();
    while !is_over(&found) {
        let (mut program, mut output) = start(workload)?;
        while program.try_wait()?.is_none() {
            if stopped() {
                program.kill()?;
                program.wait()?;
                return Err(Fault::Stopped);
            }
            std::thread::sleep(SHORT);
        }
        found.units += workload.units_in(&output.text())?;
        found.set_times(before, Family::reaped());
    }
    Ok(found)
}

fn loads(
    line: &str,
    workload: &Workload,
    is_over: &dyn Fn(&Measured) -> bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Measured, Fault> {
    let family = Family::of_this_process();
    let (mut program, _output) = start(workload)?;
    let mut pass = |time: Duration| {
        std::thread::sleep(time);
        // A daemon runs on when the process that started it has ended.
        Ok(program.try_wait()?.is_none() || !family.is_empty())
    };
    let mut measured = || {
        wait_until_idle(&family, stopped, &mut pass)?;
        let mut found = Measured::default();
        let before = family.ticks();
        while !is_over(&found) {
            found.units += run_load(line, workload, stopped, &mut pass, &family)?;
            found.set_times(before, family.ticks());
        }
        Ok(found)
    };
    let found = measured();
    family.end(TO_END);
    let _ = program.wait();
    found
}

fn start(workload: &Workload) -> Result<(Child, Output), Fault> {
    let mut command = group(&workload.command[0]);
    command.args(&workload.command[1..]);
    command.stdout(output_of(workload)?);
    if workload.is_searched() {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut program = command
        .spawn()
        .map_err(|e| Fault::NotStarted(workload.command[0].clone(), e))?;
    let output = Output::of(&mut program, workload.hides_output);
    Ok((program, output))
}

impl Measured {
    fn set_times(&mut self, before: Ticks, after: Ticks) {
        let ns = |before: u64, after: u64| after.saturating_sub(before) as f64 * TICK_NS;
        self.user_ns = ns(before.user, after.user);
        self.kernel_ns = ns(before.system, after.system);
    }
}
