//! Measures the cost of the tracer itself: a child does the same work before and while it is traced.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{SeekFrom, fstat, seek};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, getppid, waitpid};
use rustix::time::{ClockId, clock_gettime};

use super::event::{Content, Event};
use super::reader::{Added, Cost};
use super::threads::add_this_process;
use super::tracer::{Tracer, Unavailable};

/// Null calls, a mixture of calls, and page faults.
const WORKS: usize = 3;

/// Rounds of each work. The median counts, since other load of the machine disturbs some rounds.
const ROUNDS: usize = 20;

/// Calls of a round.
const CALLS: usize = 4000;

/// Page faults of a round.
const PAGES: usize = 500;

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
    let mut seen = Seen::default();
    // As in a trace, events are read while they come.
    while !has_answer(answers)? {
        seen.read(tracer);
    }
    let traced = received(answers)?;
    seen.read(tracer);
    let seen = seen.typical();
    if tracer.lost()? > 0 || seen.contains(&0.0) {
        return Err(io::Error::other("the events of a child did not arrive"));
    }
    let added = |index: usize| {
        let seen_ns = seen[index];
        Added {
            user_ns: traced[index] - seen_ns,
            kernel_ns: seen_ns - before[index],
            seen_ns,
        }
    };
    Ok(Ok(Cost {
        null: added(0),
        call: added(1),
        fault: added(2),
    }))
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
        tracer.ring.read(|bytes| match Event::read(bytes) {
            Some(Event {
                number,
                content: Content::Call(returned),
                ..
            }) => {
                let number = i64::from(number);
                if number == libc::SYS_getppid {
                    self.0[0].push(returned.call_ns as f64);
                } else if MIXTURE.contains(&number) {
                    self.0[1].push(returned.call_ns as f64);
                }
            }
            Some(Event {
                content: Content::More(more),
                ..
            }) if more.user_faults > 0 => {
                self.0[2].push(more.minor_ns as f64 / f64::from(more.user_faults));
            }
            _ => {}
        });
    }

    /// The typical time of each work. Of the different calls of the mixture, that is the mean without the longest tenth, which was interrupted.
    fn typical(&mut self) -> [f64; WORKS] {
        let [null, mixture, faults] = &mut self.0;
        mixture.sort_by(f64::total_cmp);
        let usual = &mixture[..mixture.len() * 9 / 10];
        let mean = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
        [median(null), mean, median(faults)]
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
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
fn work(answer: &mut File, go: &mut File, threads: BorrowedFd) -> io::Result<()> {
    let zeros = File::options().read(true).write(true).open("/dev/zero")?;
    send(answer, &zeros)?;
    go.read_exact(&mut [0])?;
    add_this_process(threads)?;
    send(answer, &zeros)
}

/// Sends the times of one piece of each work, in ns.
fn send(answer: &mut File, zeros: &File) -> io::Result<()> {
    let mut rounds = [[0.0; ROUNDS]; WORKS];
    for round in 0..ROUNDS {
        rounds[0][round] = timed(CALLS, || Ok(drop(getppid())))?;
        rounds[1][round] = timed(CALLS / MIXTURE.len(), || mixture(zeros))?;
        rounds[2][round] = faults()?;
    }
    let pieces = [CALLS, CALLS, PAGES].map(|each| each as f64);
    let mut bytes = [0; 8 * WORKS];
    for (index, times) in rounds.iter_mut().enumerate() {
        let each = median(times) / pieces[index];
        bytes[8 * index..][..8].copy_from_slice(&each.to_ne_bytes());
    }
    answer.write_all(&bytes)
}

/// Different calls need more code and data than the processor's caches for one call hold beside the tracer.
fn mixture(zeros: &File) -> io::Result<()> {
    let mut byte = [0; 1];
    rustix::io::read(zeros, &mut byte)?;
    rustix::io::write(zeros, &byte)?;
    fstat(zeros)?;
    seek(zeros, SeekFrom::Start(0))?;
    Ok(())
}

/// The calls of the mixture.
const MIXTURE: [libc::c_long; 4] = [
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_fstat,
    libc::SYS_lseek,
];

/// The time of this thread on a processor, in ns.
fn now_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// The time of a round, in ns.
fn timed(repetitions: usize, work: impl Fn() -> io::Result<()>) -> io::Result<f64> {
    let begun = now_ns();
    for _ in 0..repetitions {
        work()?;
    }
    Ok(now_ns() - begun)
}

/// Reads pages of new memory, which the kernel maps to its page of zeros.
fn faults() -> io::Result<f64> {
    let page = rustix::param::page_size();
    let bytes = PAGES * page;
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
    let begun = now_ns();
    for index in 0..PAGES {
        // SAFETY: within the mapping above, which can be read.
        unsafe { begin.cast::<u8>().add(index * page).read_volatile() };
    }
    let time = now_ns() - begun;
    // SAFETY: the mapping above, to which no reference is left.
    unsafe { munmap(begin, bytes)? };
    Ok(time)
}
