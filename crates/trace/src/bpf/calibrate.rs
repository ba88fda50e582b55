//! Measures the cost of the tracer itself: a child does the same work before and while it is traced.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, getppid, waitpid};

use super::event::{Content, Event};
use super::reader::Cost;
use super::threads::add_this_process;
use super::tracer::{Tracer, Unavailable};

/// Batches of each measurement. Their median is taken.
const BATCHES: usize = 31;

/// Calls or page faults of a batch.
const BATCH: usize = 500;

/// Attaches the programs and measures the cost of the tracer.
pub fn attach(tracer: &mut Tracer) -> Result<Cost, Unavailable> {
    calibrate(tracer).unwrap_or_else(|e| Err(Unavailable::Kernel(format!("calibration: {e}"))))
}

fn calibrate(tracer: &mut Tracer) -> io::Result<Result<Cost, Unavailable>> {
    let flags = PipeFlags::CLOEXEC;
    let (answers, answer) = pipe_with(flags)?;
    let (go, start) = pipe_with(flags)?;
    // SAFETY: the child only makes system calls, and allocates nothing, until it ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop((answers, start));
        let done = work(
            &mut File::from(answer),
            &mut File::from(go),
            tracer.threads(),
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
    let traced = received(answers)?;
    let windows = windows(tracer);
    let lost = tracer.lost()?;
    if lost > 0 || windows.contains(&0.0) {
        return Err(io::Error::other("the events of a child did not arrive"));
    }
    Ok(Ok(Cost {
        call_ns: traced[0] - before[0],
        call_user_ns: traced[0] - windows[0],
        fault_ns: traced[1] - before[1],
        fault_user_ns: traced[1] - windows[1],
    }))
}

/// The times of a null call and of a page fault within the tracer's windows, in ns.
fn windows(tracer: &mut Tracer) -> [f64; 2] {
    let (mut calls, mut faults) = (Vec::new(), Vec::new());
    tracer.ring.read(|bytes| match Event::read(bytes) {
        Some(Event {
            number,
            content: Content::Call(returned),
            ..
        }) if i64::from(number) == libc::SYS_getppid => calls.push(returned.call_ns as f64),
        Some(Event {
            content: Content::More(more),
            ..
        }) if more.user_faults as usize >= BATCH / 2 => {
            faults.push(more.minor_ns as f64 / f64::from(more.user_faults));
        }
        _ => {}
    });
    [median(&mut calls), median(&mut faults)]
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn received(answers: &mut File) -> io::Result<[f64; 2]> {
    let mut bytes = [0; 16];
    answers.read_exact(&mut bytes)?;
    let (call, fault) = bytes.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().map(f64::from_ne_bytes);
    let both = number(call).and_then(|call| Ok([call, number(fault)?]));
    both.map_err(io::Error::other)
}

/// The child's work: measures, waits until the programs are attached, and measures again.
fn work(answer: &mut File, go: &mut File, threads: BorrowedFd) -> io::Result<()> {
    send(answer)?;
    go.read_exact(&mut [0])?;
    add_this_process(threads.as_fd())?;
    send(answer)
}

fn send(answer: &mut File) -> io::Result<()> {
    let [call, fault] = [measured(calls)?, measured(faults)?];
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&call.to_ne_bytes());
    bytes[8..].copy_from_slice(&fault.to_ne_bytes());
    answer.write_all(&bytes)
}

/// The median time of a call or page fault over all batches, in ns.
fn measured(batch: fn() -> io::Result<Duration>) -> io::Result<f64> {
    let mut times = [0.0; BATCHES];
    for time in &mut times {
        *time = batch()?.as_nanos() as f64 / BATCH as f64;
    }
    Ok(median(&mut times))
}

fn calls() -> io::Result<Duration> {
    let begun = Instant::now();
    for _ in 0..BATCH {
        let _ = getppid();
    }
    Ok(begun.elapsed())
}

/// Reads pages of new memory, which the kernel maps to its page of zeros.
fn faults() -> io::Result<Duration> {
    let page = rustix::param::page_size();
    let bytes = BATCH * page;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let begin = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ,
            MapFlags::PRIVATE,
        )?
    };
    // SAFETY: the mapping above. The kernel may refuse: it has no huge pages then.
    let _ = unsafe { madvise(begin, bytes, Advice::LinuxNoHugepage) };
    let begun = Instant::now();
    for index in 0..BATCH {
        // SAFETY: within the mapping above, which can be read.
        unsafe { begin.cast::<u8>().add(index * page).read_volatile() };
    }
    let time = begun.elapsed();
    // SAFETY: the mapping above, to which no reference is left.
    unsafe { munmap(begin, bytes)? };
    Ok(time)
}
