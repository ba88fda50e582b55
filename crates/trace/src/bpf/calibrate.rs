//! Measures the cost of the tracer itself: a child does the same work before and while it is
//! traced.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::cost::{Added, Cost};
use super::event::Event;
use super::shared::MoreEvent;
use super::threads::Threads;
use super::tracer::Tracer;
use super::unavailable::Unavailable;
use super::work::{
    CALLS, COLD_CALL, COLD_FAULTS, FAULTS, Fixtures, GAPS, LEAST_GAP_NS, MESSAGE_CALLS, MESSAGES,
    MESSAGES_OF_ROUND, MIXED, MIXTURE, NULL, WORKS, median, times,
};

/// How often events are read.
const PAUSE: Duration = Duration::from_millis(4);

/// How often the cost is measured at most. Events are missing where another process takes the
/// processor from the reader for too long.
const ATTEMPTS: usize = 4;

/// Attaches the programs and measures the cost of the tracer.
pub fn attach(tracer: &mut Tracer) -> Result<Cost, Unavailable> {
    let mut missing = "";
    for _ in 0..ATTEMPTS {
        match calibrate(tracer).map_err(|e| failed(&e))?? {
            Ok(cost) => return Ok(cost),
            Err(reason) => missing = reason,
        }
        tracer.detach();
        tracer.forget_lost().map_err(|e| failed(&e))?;
    }
    Err(failed(&missing))
}

fn failed(reason: &dyn Display) -> Unavailable {
    Unavailable::Kernel(format!("calibration: {reason}"))
}

/// The cost, or the reason why events of the child are missing.
type Measured = Result<Cost, &'static str>;

fn calibrate(tracer: &mut Tracer) -> io::Result<Result<Measured, Unavailable>> {
    let flags = PipeFlags::CLOEXEC;
    let (answers, answer) = pipe_with(flags)?;
    let (go, start) = pipe_with(flags)?;
    let fixtures = Fixtures::new()?;
    // SAFETY: the child only makes system calls, and allocates nothing, until it ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop((answers, start));
        let done = work(&mut File::from(answer), &mut File::from(go), &tracer.threads, &fixtures);
        // SAFETY: ends the child at once, without the parent's cleaning up.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    let Some(child) = Pid::from_raw(child).filter(|_| child > 0) else {
        return Err(io::Error::last_os_error());
    };
    drop((answer, go));
    let (mut answers, mut start) = (File::from(answers), File::from(start));
    let found = compared(tracer, &mut answers, &mut start);
    drop((answers, start));
    waitpid(Some(child), WaitOptions::empty())?;
    found
}

fn compared(
    tracer: &mut Tracer,
    answers: &mut File,
    start: &mut File,
) -> io::Result<Result<Measured, Unavailable>> {
    let before = received(answers)?;
    if let Err(refused) = tracer.attach() {
        return Ok(Err(refused));
    }
    start.write_all(b".")?;
    let mut seen = Seen::default();
    // As in a trace, events are read while they come.
    while !has_answer(answers)? {
        seen.read(tracer);
    }
    let traced = received(answers)?;
    seen.read(tracer);
    let seen = seen.typical();
    let has_all = (0..WORKS).all(|work| work == GAPS || seen.inside[work] > 0.0);
    let has_counted = !tracer.counted.since_last()?.is_empty();
    Ok(Ok(if tracer.lost()? > 0 {
        Err("events of a child were lost")
    } else if has_counted {
        Err("a child's calls came faster than they were read")
    } else if !has_all {
        Err("the events of a child did not arrive")
    } else {
        Ok(cost(&before, &traced, &seen))
    }))
}

/// The cost from the times before the programs were attached, the times afterwards, and those that
/// the tracer saw.
fn cost(before: &[f64; WORKS], traced: &[f64; WORKS], seen: &Typical) -> Cost {
    let warm = |work: usize| {
        let unseen_ns = traced[work] - seen.inside[work] - seen.user[work];
        added(before[work], traced[work], seen.inside[work], unseen_ns)
    };
    let cold = |work: usize, share: f64| {
        let (before_ns, traced_ns) = (before[work] - before[GAPS], traced[work] - traced[GAPS]);
        let unseen_ns = share * (traced_ns - before_ns);
        added(before_ns, traced_ns, seen.inside[work], unseen_ns)
    };
    let fault = added(before[FAULTS], traced[FAULTS], seen.inside[FAULTS], 0.0);
    let call = warm(MIXTURE);
    Cost {
        null: warm(NULL),
        call,
        long_call: warm(MESSAGES),
        // The gap dominates the user time before a cold call. The unseen share is assumed to be
        // that of a warm call.
        cold_call: cold(COLD_CALL, (call.unseen_ns / call.ns().max(1.0)).clamp(0.0, 1.0)),
        fault,
        cold_fault: cold(COLD_FAULTS, 0.0),
    }
}

fn added(before_ns: f64, traced_ns: f64, seen_ns: f64, unseen_ns: f64) -> Added {
    Added {
        user_ns: traced_ns - seen_ns - unseen_ns,
        unseen_ns,
        kernel_ns: seen_ns - before_ns,
        seen_ns,
    }
}

fn has_answer(answers: &File) -> io::Result<bool> {
    let timeout = Timespec::try_from(PAUSE).map_err(io::Error::other)?;
    Ok(poll(&mut [PollFd::new(answers, PollFlags::IN)], Some(&timeout))? > 0)
}

/// The times of the child's work as the tracer sees them, in ns.
#[derive(Default)]
struct Seen {
    /// Time in calls and page faults.
    inside: [Vec<f64>; WORKS],
    /// User time between two calls.
    user: [Vec<f64>; WORKS],
}

/// The typical times of each work as the tracer sees them, in ns.
struct Typical {
    inside: [f64; WORKS],
    user: [f64; WORKS],
}

impl Seen {
    fn read(&mut self, tracer: &mut Tracer) {
        tracer.ring.read(|record| Event::all(record).for_each(|event| self.take(&event)));
    }

    fn take(&mut self, event: &Event) {
        let head = event.head();
        let number = i64::from(head.number);
        match event {
            Event::Call(event) => {
                let is_cold = head.user_ns > LEAST_GAP_NS;
                let work = match number {
                    libc::SYS_getppid => NULL,
                    number if MESSAGE_CALLS.contains(&number) => MESSAGES,
                    number if MIXED.contains(&number) && is_cold => COLD_CALL,
                    number if MIXED.contains(&number) => MIXTURE,
                    _ => return,
                };
                self.call(work, event.call.call_ns, head.user_ns);
            }
            Event::More(MoreEvent { faults, .. }) if faults.user_faults > 0 => {
                let count = f64::from(faults.user_faults);
                let is_cold = head.user_ns as f64 / count > LEAST_GAP_NS as f64;
                let work = if is_cold { COLD_FAULTS } else { FAULTS };
                let time_ns: u64 = faults.minor().iter().map(|(_, sum)| sum.ns).sum();
                self.inside[work].push(time_ns as f64 / count);
            }
            _ => {}
        }
    }

    fn call(&mut self, work: usize, call_ns: u64, user_ns: u64) {
        self.inside[work].push(call_ns as f64);
        self.user[work].push(user_ns as f64);
    }

    fn typical(&mut self) -> Typical {
        Typical { inside: typical(&mut self.inside), user: typical(&mut self.user) }
    }
}

/// The typical time of each work. Warm calls have the statistic by which the child times them: the
/// median of the means of its rounds.
fn typical(times: &mut [Vec<f64>; WORKS]) -> [f64; WORKS] {
    for (work, calls) in
        [(NULL, CALLS), (MIXTURE, CALLS), (MESSAGES, MESSAGE_CALLS.len() * MESSAGES_OF_ROUND)]
    {
        let rounds = times[work].chunks(calls);
        times[work] = rounds.map(|round| round.iter().sum::<f64>() / round.len() as f64).collect();
    }
    times.each_mut().map(|times| median(times))
}

fn received(answers: &mut File) -> io::Result<[f64; WORKS]> {
    let mut times = [0.0; WORKS];
    for time in &mut times {
        let mut bytes = [0; 8];
        answers.read_exact(&mut bytes)?;
        *time = f64::from_ne_bytes(bytes);
    }
    Ok(times)
}

/// The child's work: measures, waits until the programs are attached, and measures again.
fn work(
    answer: &mut File,
    go: &mut File,
    threads: &Threads,
    fixtures: &Fixtures,
) -> io::Result<()> {
    send(answer, times(fixtures)?)?;
    go.read_exact(&mut [0])?;
    threads.add_this_process()?;
    send(answer, times(fixtures)?)
}

fn send(answer: &mut File, times: [f64; WORKS]) -> io::Result<()> {
    let mut bytes = [0; 8 * WORKS];
    for (place, time) in bytes.chunks_exact_mut(8).zip(times) {
        place.copy_from_slice(&time.to_ne_bytes());
    }
    answer.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A traced call takes 300 ns instead of 100: 30 ns before it, 80 ns inside, and 190 ns after
    /// the clock was read for the last time, of which 130 are never seen. Behind a gap it takes 600
    /// ns more than without the tracer, of which 390 ns are assumed to be unseen.
    #[test]
    fn parts_of_the_cost_are_those_that_the_tracer_sees() {
        let mut before = [100.0; WORKS];
        let mut traced = [300.0; WORKS];
        (before[GAPS], traced[GAPS]) = (20.0, 20.0);
        (before[COLD_CALL], traced[COLD_CALL]) = (220.0, 820.0);
        let seen = Typical { inside: [80.0; WORKS], user: [90.0; WORKS] };
        let cost = cost(&before, &traced, &seen);
        let parts = |added: Added| [added.user_ns, added.unseen_ns, added.kernel_ns];
        assert_eq!(parts(cost.null), [90.0, 130.0, -20.0]);
        assert_eq!(cost.null.ns(), 200.0);
        assert_eq!(parts(cost.cold_call), [330.0, 390.0, -120.0]);
        assert_eq!(parts(cost.fault), [220.0, 0.0, -20.0]);
    }

    /// The mean of a round has its interrupted calls, and the median leaves out the interrupted
    /// rounds.
    #[test]
    fn typical_time_of_calls_is_the_median_of_rounds() {
        let mut times: [Vec<f64>; WORKS] = Default::default();
        for mean in [10.0, 50.0, 12.0] {
            times[NULL].extend((0..CALLS).map(|call| 2.0 * mean * (call % 2) as f64));
        }
        times[FAULTS] = vec![3.0, 900.0, 5.0];
        let found = typical(&mut times);
        assert_eq!((found[NULL], found[FAULTS], found[MIXTURE]), (12.0, 5.0, 0.0));
    }
}
