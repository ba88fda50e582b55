//! Measures the cost of the tracer itself: a child does the same work before and while it is traced.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::cost::{Added, Cost};
use super::event::{Content, Event};
use super::threads::add_this_process;
use super::tracer::{Tracer, Unavailable};
use super::work::{
    COLD_CALL, COLD_FAULTS, FAULTS, GAP_BYTES, GAPS, LEAST_GAP_NS, MIXED, MIXTURE, NULL, WORKS,
    median, times,
};

/// How often events are read.
const PAUSE: Duration = Duration::from_millis(4);

/// Attaches the programs and measures the cost of the tracer.
pub fn attach(tracer: &mut Tracer) -> Result<Cost, Unavailable> {
    calibrate(tracer).unwrap_or_else(|e| Err(Unavailable::Kernel(format!("calibration: {e}"))))
}

fn calibrate(tracer: &mut Tracer) -> io::Result<Result<Cost, Unavailable>> {
    let flags = PipeFlags::CLOEXEC;
    let (answers, answer) = pipe_with(flags)?;
    let (go, start) = pipe_with(flags)?;
    let memory = vec![1; GAP_BYTES];
    // SAFETY: the child only makes system calls, and allocates nothing, until it ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop((answers, start));
        let done = work(
            &mut File::from(answer),
            &mut File::from(go),
            tracer.threads(),
            &memory,
        );
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
) -> io::Result<Result<Cost, Unavailable>> {
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
    let has_all = [NULL, MIXTURE, FAULTS, COLD_CALL, COLD_FAULTS].map(|work| seen[work] > 0.0);
    if tracer.lost()? > 0 || has_all.contains(&false) {
        return Err(io::Error::other("the events of a child did not arrive"));
    }
    Ok(Ok(cost(&before, &traced, &seen)))
}

/// The cost from the times before the programs were attached, the times afterwards, and those that the tracer saw.
fn cost(before: &[f64; WORKS], traced: &[f64; WORKS], seen: &[f64; WORKS]) -> Cost {
    let added = |work: usize, has_gap: bool| {
        let without_gap = |times: &[f64; WORKS]| {
            let gap_ns = if has_gap { times[GAPS] } else { 0.0 };
            times[work] - gap_ns
        };
        Added {
            user_ns: without_gap(traced) - seen[work],
            kernel_ns: seen[work] - without_gap(before),
            seen_ns: seen[work],
        }
    };
    Cost {
        null: added(NULL, false),
        call: added(MIXTURE, false),
        cold_call: added(COLD_CALL, true),
        fault: added(FAULTS, false),
        cold_fault: added(COLD_FAULTS, true),
    }
}

fn has_answer(answers: &File) -> io::Result<bool> {
    let timeout = Timespec::try_from(PAUSE).map_err(io::Error::other)?;
    Ok(poll(&mut [PollFd::new(answers, PollFlags::IN)], Some(&timeout))? > 0)
}

/// The times of the child's work as the tracer sees them, in ns.
#[derive(Default)]
struct Seen([Vec<f64>; WORKS]);

impl Seen {
    fn read(&mut self, tracer: &mut Tracer) {
        tracer.ring.read(|bytes| {
            if let Some(event) = Event::read(bytes) {
                self.take(&event);
            }
        });
    }

    fn take(&mut self, event: &Event) {
        let number = i64::from(event.number);
        match &event.content {
            Content::Call(call) if number == libc::SYS_getppid => {
                self.0[NULL].push(call.call_ns as f64);
            }
            Content::Call(call) if MIXED.contains(&number) => {
                let is_cold = event.user_ns > LEAST_GAP_NS;
                let work = if is_cold { COLD_CALL } else { MIXTURE };
                self.0[work].push(call.call_ns as f64);
            }
            Content::More(more) if more.user_faults > 0 => {
                let faults = f64::from(more.user_faults);
                let is_cold = event.user_ns as f64 / faults > LEAST_GAP_NS as f64;
                let work = if is_cold { COLD_FAULTS } else { FAULTS };
                self.0[work].push(more.minor_ns as f64 / faults);
            }
            _ => {}
        }
    }

    /// The typical time of each work. Of the mixture, that is the mean without the longest tenth, which was interrupted.
    fn typical(&mut self) -> [f64; WORKS] {
        let mut typical = [0.0; WORKS];
        for (work, times) in self.0.iter_mut().enumerate() {
            typical[work] = median(times);
            if work == MIXTURE {
                let usual = &times[..times.len() * 9 / 10];
                typical[work] = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
            }
        }
        typical
    }
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
fn work(answer: &mut File, go: &mut File, threads: BorrowedFd, memory: &[u8]) -> io::Result<()> {
    let zeros = File::options().read(true).write(true).open("/dev/zero")?;
    send(answer, times(&zeros, memory)?)?;
    go.read_exact(&mut [0])?;
    add_this_process(threads)?;
    send(answer, times(&zeros, memory)?)
}

fn send(answer: &mut File, times: [f64; WORKS]) -> io::Result<()> {
    let mut bytes = [0; 8 * WORKS];
    for (place, time) in bytes.chunks_exact_mut(8).zip(times) {
        place.copy_from_slice(&time.to_ne_bytes());
    }
    answer.write_all(&bytes)
}
