//! The work by which the cost of the tracer is measured. A forked child does it: it makes system
//! calls, and allocates nothing.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::fs::{SeekFrom, fstat, seek};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::process::getppid;
use rustix::time::{ClockId, clock_gettime};

use crate::pages::Pages;

/// Null calls, a mixture of calls, page faults; nothing, a call and a page fault behind gaps in
/// which memory is used; messages.
pub const WORKS: usize = 7;

pub const NULL: usize = 0;
pub const MIXTURE: usize = 1;
pub const FAULTS: usize = 2;
pub const GAPS: usize = 3;
pub const COLD_CALL: usize = 4;
pub const COLD_FAULTS: usize = 5;
pub const MESSAGES: usize = 6;

/// The calls of the mixture.
pub const MIXED: [libc::c_long; 4] =
    [libc::SYS_read, libc::SYS_write, libc::SYS_fstat, libc::SYS_lseek];

/// The calls of a message.
pub const MESSAGE_CALLS: [libc::c_long; 2] = [libc::SYS_sendto, libc::SYS_recvfrom];

/// User time from which a call counts as one behind a gap, in ns. A gap takes longer, and the
/// tracer itself less.
pub const LEAST_GAP_NS: u64 = 2_500;

/// Rounds of each work. The median counts, since other load of the machine disturbs some rounds.
const ROUNDS: usize = 15;

/// Calls of a round.
pub const CALLS: usize = 4000;
/// Messages of a round, of two calls each.
pub const MESSAGES_OF_ROUND: usize = 500;
/// Page faults of a round.
const PAGES: usize = 500;
/// Gaps of a round.
const COLD: usize = 30;

/// Memory that a gap uses, in bytes: more than the caches of one processor hold, so that the code
/// of kernel and tracer leaves them.
const GAP_BYTES: usize = 2 << 20;

/// The files and the memory that the work uses.
pub struct Fixtures {
    /// `/dev/zero`
    zeros: File,
    /// Both ends of a connection.
    ends: [OwnedFd; 2],
    /// `GAP_BYTES` bytes.
    memory: Vec<u8>,
}

impl Fixtures {
    pub fn new() -> io::Result<Fixtures> {
        Ok(Fixtures {
            zeros: File::options().read(true).write(true).open("/dev/zero")?,
            ends: match connection() {
                Ok(ends) => ends.map(OwnedFd::from),
                // Loopback is down.
                Err(_) => <[_; 2]>::from(UnixStream::pair()?).map(OwnedFd::from),
            },
            memory: vec![1; GAP_BYTES],
        })
    }
}

/// A TCP connection of this machine with itself. Its calls do much work in the kernel.
fn connection() -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sender = TcpStream::connect(listener.local_addr()?)?;
    sender.set_nodelay(true)?;
    Ok([sender, listener.accept()?.0])
}

/// The times of one piece of each work, in ns.
pub fn times(fixtures: &Fixtures) -> io::Result<[f64; WORKS]> {
    let mut rounds = [[0.0; WORKS]; ROUNDS];
    for times in &mut rounds {
        *times = round(fixtures)?;
    }
    Ok(std::array::from_fn(|work| median(&mut rounds.map(|times| times[work]))))
}

fn round(fixtures: &Fixtures) -> io::Result<[f64; WORKS]> {
    let Fixtures { zeros, ends, memory } = fixtures;
    let mut times = [0.0; WORKS];
    times[NULL] = timed(CALLS, |_| null())? / CALLS as f64;
    times[MIXTURE] = timed(CALLS, |index| mixed(zeros, index))? / CALLS as f64;
    times[FAULTS] = faults()? / PAGES as f64;
    times[GAPS] = cold(memory, || Ok(()))?;
    times[COLD_CALL] = cold(memory, || mixed(zeros, 0))?;
    times[COLD_FAULTS] = cold_faults(memory)?;
    times[MESSAGES] = timed(MESSAGES_OF_ROUND, |_| message(ends))?
        / (MESSAGES_OF_ROUND * MESSAGE_CALLS.len()) as f64;
    Ok(times)
}

/// The middle value, or 0 without values.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn null() -> io::Result<()> {
    black_box(getppid());
    Ok(())
}

/// A call of the mixture. Different calls need more code and data than the processor's caches for
/// one call hold beside the tracer.
fn mixed(zeros: &File, index: usize) -> io::Result<()> {
    let mut byte = [0; 1];
    match index % MIXED.len() {
        0 => rustix::io::read(zeros, &mut byte).map(drop)?,
        1 => rustix::io::write(zeros, &byte).map(drop)?,
        2 => fstat(zeros).map(drop)?,
        _ => seek(zeros, SeekFrom::Start(0)).map(drop)?,
    }
    Ok(())
}

/// Sends a byte and receives it.
fn message([sender, receiver]: &[OwnedFd; 2]) -> io::Result<()> {
    send(sender, &[1], SendFlags::empty())?;
    recv(receiver, &mut [0; 1], RecvFlags::empty()).map(drop)?;
    Ok(())
}

/// Uses memory.
fn gap(memory: &[u8]) {
    const LINE: usize = 64;
    let sum: u64 = memory.iter().step_by(LINE).map(|b| u64::from(*b)).sum();
    black_box(sum);
}

/// The time of this thread on a processor, in ns.
fn now_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// The time of a round, in ns.
fn timed(repetitions: usize, work: impl Fn(usize) -> io::Result<()>) -> io::Result<f64> {
    let begun = now_ns();
    for index in 0..repetitions {
        work(index)?;
    }
    Ok(now_ns() - begun)
}

/// The typical time of a piece of work behind a gap, in ns.
fn cold(memory: &[u8], mut work: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut times = [0.0; COLD];
    for time in &mut times {
        gap(memory);
        let begun = Instant::now();
        work()?;
        *time = begun.elapsed().as_nanos() as f64;
    }
    Ok(median(&mut times))
}

/// The time of a round of page faults, in ns.
fn faults() -> io::Result<f64> {
    let pages = Pages::map(PAGES)?;
    timed(PAGES, |index| {
        pages.touch(index);
        Ok(())
    })
}

/// The typical time of a page fault behind a gap, in ns.
fn cold_faults(memory: &[u8]) -> io::Result<f64> {
    let pages = Pages::map(COLD)?;
    let mut index = 0;
    cold(memory, || {
        pages.touch(index);
        index += 1;
        Ok(())
    })
}
