//! One run of a command: its process, its resources, and its end.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use yamba_record::number::number;

use crate::stop::Stop;

/// How often the watchdog looks for a request to stop and for an exceeded time.
const TICK: Duration = Duration::from_millis(20);

/// Bytes of standard error that a message shows.
const MESSAGES: u64 = 2048;

/// One run of a command. Times and counts are those of its process and of all descendants that it has waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandRun {
    /// Wall-clock time from before the start to the end of the process, in ns.
    pub wall_ns: f64,
    /// Processor time in user space, in ns.
    pub user_ns: f64,
    /// Processor time in the kernel, in ns.
    pub system_ns: f64,
    /// The largest resident memory of one process, in bytes.
    pub peak_memory_bytes: u64,
    /// The largest resident memory of this process until then, in bytes, if it is known. The kernel counts it for a child that has not yet started its
    /// program.
    pub memory_floor_bytes: Option<u64>,
    /// Page faults without reading from storage.
    pub minor_faults: u64,
    /// Page faults that read from storage.
    pub major_faults: u64,
    /// Context switches, voluntary and involuntary.
    pub switches: u64,
    /// How it ended.
    pub end: CommandEnd,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// It exited with this status.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It exceeded its time and was killed.
    TimedOut(Duration),
    /// It could not be started.
    NotStarted(String),
}

impl CommandEnd {
    /// Whether it exited with status 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == CommandEnd::Exit(0)
    }

    /// The status or the name of the signal: `0`, `SIGSEGV`.
    #[must_use]
    pub fn short(&self) -> String {
        match self {
            CommandEnd::Exit(status) => status.to_string(),
            CommandEnd::Signal(signal) => name(*signal),
            CommandEnd::TimedOut(_) => "timed out".to_owned(),
            CommandEnd::NotStarted(_) => "not started".to_owned(),
        }
    }

    /// Whether it ran to an end of its own.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, CommandEnd::Exit(_) | CommandEnd::Signal(_))
    }
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandEnd::Exit(status) => write!(f, "exited with status {status}"),
            CommandEnd::Signal(signal) => write!(f, "was killed by {}", name(*signal)),
            CommandEnd::TimedOut(limit) => {
                write!(f, "took longer than {} s", number(limit.as_secs_f64()))
            }
            CommandEnd::NotStarted(reason) => write!(f, "cannot be started: {reason}"),
        }
    }
}

/// The name of a signal.
fn name(signal: i32) -> String {
    let known = signal_hook::low_level::signal_name(signal);
    known.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Starts commands one after the other.
pub(super) struct Starter {
    input: Option<PathBuf>,
    errors: File,
}

impl Starter {
    pub fn new(input: Option<PathBuf>) -> io::Result<Starter> {
        Ok(Starter {
            input,
            errors: tempfile::tempfile()?,
        })
    }

    /// The last lines that the latest command wrote to its standard error.
    pub fn messages(&mut self) -> String {
        let mut text = Vec::new();
        let length = self.errors.metadata().map_or(0, |m| m.len());
        let begin = length.saturating_sub(MESSAGES);
        let read = self.errors.seek(SeekFrom::Start(begin));
        if read
            .and_then(|_| self.errors.read_to_end(&mut text))
            .is_err()
        {
            return String::new();
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }

    /// Runs a command to its end, and kills the processes of its group that are left then.
    pub fn run(&mut self, words: &[String], watchdog: &Watchdog) -> CommandRun {
        let floor = own_peak();
        let started = self.command(words).and_then(|mut command| {
            let begun = Instant::now();
            Ok((begun, command.spawn()?))
        });
        let (begun, child) = match started {
            Ok(started) => started,
            Err(e) => return CommandRun::without(CommandEnd::NotStarted(e.to_string())),
        };
        let pid = Pid::from_child(&child);
        watchdog.watch(pid);
        let is_ended = wait_for_end(pid);
        let wall = begun.elapsed();
        let limit = watchdog.release();
        // Before the process is reaped: afterwards its number, which is also its group's, may be reused.
        let _ = kill_process_group(pid, Signal::KILL);
        let (status, usage) = match is_ended.and_then(|()| reap(pid)) {
            Ok(ended) => ended,
            Err(e) => return CommandRun::without(CommandEnd::NotStarted(e.to_string())),
        };
        let end = match limit {
            Some(limit) => CommandEnd::TimedOut(limit),
            None if libc::WIFSIGNALED(status) => CommandEnd::Signal(libc::WTERMSIG(status)),
            None => CommandEnd::Exit(libc::WEXITSTATUS(status)),
        };
        CommandRun::of(wall, &usage, floor, end)
    }

    /// The command line in a process group of its own, so that a Ctrl-C reaches only Yamba.
    fn command(&mut self, words: &[String]) -> io::Result<Command> {
        self.errors.set_len(0)?;
        self.errors.seek(SeekFrom::Start(0))?;
        let input = match &self.input {
            Some(path) => Stdio::from(File::open(path)?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(self.errors.try_clone()?)
            .process_group(0);
        Ok(command)
    }
}

impl CommandRun {
    fn without(end: CommandEnd) -> CommandRun {
        CommandRun {
            wall_ns: 0.0,
            user_ns: 0.0,
            system_ns: 0.0,
            peak_memory_bytes: 0,
            memory_floor_bytes: None,
            minor_faults: 0,
            major_faults: 0,
            switches: 0,
            end,
        }
    }

    fn of(wall: Duration, usage: &libc::rusage, floor: Option<u64>, end: CommandEnd) -> CommandRun {
        let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
        let count = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
        CommandRun {
            wall_ns: wall.as_nanos() as f64,
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            peak_memory_bytes: peak(usage),
            memory_floor_bytes: floor,
            minor_faults: count(usage.ru_minflt),
            major_faults: count(usage.ru_majflt),
            switches: count(usage.ru_nvcsw) + count(usage.ru_nivcsw),
            end,
        }
    }
}

/// The peak of the resident memory. Linux counts it in KiB, Darwin in bytes.
fn peak(usage: &libc::rusage) -> u64 {
    let unit = if cfg!(target_vendor = "apple") {
        1
    } else {
        1024
    };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit
}

/// The peak of this process's own memory. Its `ru_maxrss` may be that of the process that started it.
fn own_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Waits until the process has ended, and leaves it to be reaped.
fn wait_for_end(pid: Pid) -> io::Result<()> {
    loop {
        match waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        ) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Reaps the ended process. Returns its status and resources.
fn reap(pid: Pid) -> io::Result<(i32, libc::rusage)> {
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both places live until the call returns; zeroes are a valid `rusage`.
    let (reaped, usage) = unsafe {
        let raw = pid.as_raw_nonzero().get();
        let reaped = libc::wait4(raw, &mut status, 0, usage.as_mut_ptr());
        (reaped, usage.assume_init())
    };
    if reaped < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((status, usage))
}

/// Kills the running command if a stop is requested or its time is exceeded. The main thread only waits for the command, so that the time of its end
/// is exact.
pub(super) struct Watchdog {
    shared: Arc<(Mutex<Watched>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Watched {
    process: Option<(Pid, Instant)>,
    exceeded: Option<Duration>,
    is_over: bool,
}

impl Watchdog {
    pub fn new(stop: Stop, timeout: Option<Duration>) -> Watchdog {
        let shared = Arc::new((Mutex::new(Watched::default()), Condvar::new()));
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || keep_watch(&own, &stop, timeout));
        Watchdog {
            shared,
            thread: Some(thread),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Watched> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches this process.
    fn watch(&self, pid: Pid) {
        let mut watched = self.locked();
        watched.process = Some((pid, Instant::now()));
        watched.exceeded = None;
    }

    /// Ends the watch, before the process is reaped. Returns the time limit if the process has exceeded it.
    fn release(&self) -> Option<Duration> {
        let mut watched = self.locked();
        watched.process = None;
        watched.exceeded.take()
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.locked().is_over = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn keep_watch(shared: &(Mutex<Watched>, Condvar), stop: &Stop, timeout: Option<Duration>) {
    let mut watched = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !watched.is_over {
        if let Some((pid, since)) = watched.process {
            let exceeded = timeout.filter(|limit| since.elapsed() > *limit);
            if exceeded.is_some() || stop.requested() {
                watched.exceeded = exceeded;
                let _ = kill_process_group(pid, Signal::KILL);
            }
        }
        let waited = shared.1.wait_timeout(watched, TICK);
        watched = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}
