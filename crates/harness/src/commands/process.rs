//! One run of a command: its process, its resources, and its end.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use yamba_record::number::number;

use super::guard::Guard;
use super::output::{CommandOutput, Drain, Kind, excerpt};
use crate::orphans::{self, Started};
use crate::stop::Stop;

/// Time after the end of a command to read what it wrote. A pipe that is still open then belongs to
/// a process that it left behind.
const PATIENCE: Duration = Duration::from_millis(100);

/// Lines of a command's standard error that are shown.
const SHOWN_LINES: usize = 8;

/// How often the watchdog looks for a request to stop and for an exceeded time.
const TICK: Duration = Duration::from_millis(20);

/// One run of a command. Times and counts are those of its process and of all descendants that it
/// has waited for.
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
    /// The largest resident memory of this process until then, in bytes, if it is known. The kernel
    /// counts it for a child that has not yet started its program.
    pub memory_floor_bytes: Option<u64>,
    /// Page faults without reading from storage.
    pub minor_faults: u64,
    /// Page faults that read from storage.
    pub major_faults: u64,
    /// Context switches, voluntary and involuntary.
    pub switches: u64,
    /// The time that its first thread was ready to run while other programs had the processor, in
    /// ns. `None` where the kernel does not count it.
    pub waited_ns: Option<f64>,
    /// How it ended.
    pub end: CommandEnd,
    /// Names of the processes that it left in its process group, which were killed.
    pub killed: Vec<String>,
    /// Names of the processes that it left outside its process group, which still run.
    pub daemons: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// It exited with this status.
    Exit(i32),
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
    output: CommandOutput,
    discard: Drain,
    errors: Drain,
    /// The group of the latest preparation, if processes of it still run.
    prepared: Option<Pid>,
    /// The groups of set-ups of which processes still run.
    set_up: Vec<Pid>,
    /// Processes outside the groups of their commands that were found already.
    known_daemons: HashSet<i32>,
    guard: Guard,
}

/// A process that has ended and is not yet reaped.
struct Ended {
    pid: Pid,
    wall: Duration,
    end: CommandEnd,
}

impl Starter {
    pub fn new(input: Option<PathBuf>, output: CommandOutput) -> Starter {
        Starter {
            input,
            output,
            discard: Drain::new(Kind::Discard),
            errors: Drain::new(Kind::KeepTail),
            prepared: None,
            set_up: Vec::new(),
            known_daemons: HashSet::new(),
            guard: Guard::new(),
        }
    }

    /// Names the groups that the guard kills: those of set-ups and of the preparation, and this
    /// one.
    fn guard_with(&self, running: Option<Pid>) {
        self.guard.watch(self.set_up.iter().copied().chain(self.prepared).chain(running));
    }

    /// An excerpt of the latest command's standard error.
    pub fn messages(&self) -> String {
        excerpt(&self.errors.tail(), SHOWN_LINES)
    }

    /// Runs the untimed command before a run. Processes that it leaves in its group, such as a
    /// server, stay until [`end_preparation`](Starter::end_preparation).
    pub fn prepare(
        &mut self,
        words: &[String],
        folder: Option<&Path>,
        watchdog: &Watchdog,
    ) -> CommandEnd {
        let (end, left) = self.run_untimed(words, folder, watchdog);
        self.prepared = left;
        self.guard_with(None);
        end
    }

    /// Runs the untimed command after a run, and ends the processes that it leaves in its group.
    pub fn conclude(&mut self, words: &[String], watchdog: &Watchdog) -> CommandEnd {
        let (end, left) = self.run_untimed(words, None, watchdog);
        left.into_iter().for_each(end_group);
        end
    }

    /// Runs an untimed command once. Processes that it leaves in its group stay until
    /// [`end_set_up`](Starter::end_set_up).
    pub fn set_up(&mut self, words: &[String], watchdog: &Watchdog) -> CommandEnd {
        let (end, left) = self.run_untimed(words, None, watchdog);
        self.set_up.extend(left);
        self.guard_with(None);
        end
    }

    /// Runs an untimed command. Returns its group if processes of it still run.
    fn run_untimed(
        &mut self,
        words: &[String],
        folder: Option<&Path>,
        watchdog: &Watchdog,
    ) -> (CommandEnd, Option<Pid>) {
        let command = self.command(words).map(|mut command| {
            if let Some(folder) = folder {
                command.current_dir(folder);
            }
            command
        });
        let ended = command
            .and_then(|command| self.wait_for_end_of(command, Some(Stdio::null()), watchdog));
        let ended = match ended {
            Ok(ended) => ended,
            Err(e) => {
                self.errors.finish(PATIENCE);
                return (CommandEnd::NotStarted(e.to_string()), None);
            }
        };
        if !orphans::adopts_orphans() {
            let _ = kill_process_group(ended.pid, Signal::KILL);
        }
        let launch = Started::unreaped(ended.pid);
        let _ = reap(ended.pid);
        orphans::forget(launch);
        self.daemons_of(launch);
        let left = orphans::has_members(ended.pid).then_some(ended.pid);
        // A server keeps its standard error open.
        let is_expected_open = left.is_some() && ended.end.is_success();
        self.errors.finish(if is_expected_open { Duration::ZERO } else { PATIENCE });
        (ended.end, left)
    }

    /// Runs a command to its end, and kills the processes of its group that are left then.
    pub fn run(&mut self, words: &[String], watchdog: &Watchdog) -> CommandRun {
        let output = self.output.without_pipe();
        self.run_into(output, words, watchdog)
    }

    /// Runs the empty shell like a command. It prints nothing, so it leaves a file of output as the
    /// last command wrote it.
    pub fn run_empty_shell(&mut self, words: &[String], watchdog: &Watchdog) -> CommandRun {
        let output = match &self.output {
            CommandOutput::File(_) => Ok(Some(Stdio::null())),
            other => other.without_pipe(),
        };
        self.run_into(output, words, watchdog)
    }

    fn run_into(
        &mut self,
        output: io::Result<Option<Stdio>>,
        words: &[String],
        watchdog: &Watchdog,
    ) -> CommandRun {
        self.end_of(output, |starter, output| starter.wait_for(words, output, watchdog))
    }

    /// Runs what `wait` starts, and ends the processes that it leaves.
    fn end_of(
        &mut self,
        output: io::Result<Option<Stdio>>,
        wait: impl FnOnce(&mut Starter, Option<Stdio>) -> io::Result<Ended>,
    ) -> CommandRun {
        let floor = own_peak();
        let run = output.and_then(|output| wait(self, output));
        let run = run.and_then(|ended| {
            // Before the process is reaped: afterwards its number, which is also its group's, may
            // be reused.
            let _ = kill_process_group(ended.pid, Signal::KILL);
            let launch = Started::unreaped(ended.pid);
            let waited_ns = waited(ended.pid);
            let usage = reap(ended.pid)?;
            let killed = orphans::reap_group(ended.pid);
            orphans::forget(launch);
            Ok(CommandRun {
                killed,
                waited_ns,
                daemons: self.daemons_of(launch),
                ..CommandRun::ended(ended.wall, &usage, floor, ended.end)
            })
        });
        self.discard.finish(PATIENCE);
        self.errors.finish(PATIENCE);
        run.unwrap_or_else(|e| CommandRun::without(CommandEnd::NotStarted(e.to_string())))
    }

    /// Runs a program like a command, with empty standard input.
    pub fn run_program(
        &mut self,
        mut command: Command,
        output: &CommandOutput,
        watchdog: &Watchdog,
    ) -> CommandRun {
        let output = output.without_pipe();
        command.stdin(Stdio::null());
        self.end_of(output, |starter, output| starter.wait_for_end_of(command, output, watchdog))
    }

    /// Starts a process and waits for its end. Without `output` it writes into a pipe.
    fn wait_for(
        &mut self,
        words: &[String],
        output: Option<Stdio>,
        watchdog: &Watchdog,
    ) -> io::Result<Ended> {
        let command = self.command(words)?;
        self.wait_for_end_of(command, output, watchdog)
    }

    fn wait_for_end_of(
        &mut self,
        mut command: Command,
        output: Option<Stdio>,
        watchdog: &Watchdog,
    ) -> io::Result<Ended> {
        // In a process group of its own, so that a Ctrl-C reaches only Yamba.
        command.process_group(0);
        command.stderr(self.errors.pipe()?);
        command.stdout(match output {
            Some(output) => output,
            None => self.discard.pipe()?.into(),
        });
        let begun = Instant::now();
        let child = orphans::spawn(&mut command)?;
        // Closes the writing ends of the pipes.
        drop(command);
        let pid = Pid::from_child(&child);
        self.guard_with(Some(pid));
        watchdog.watch(pid);
        let ended = wait_for_end(pid);
        let wall = begun.elapsed();
        self.guard_with(None);
        let limit = watchdog.release();
        let end = match (limit, ended?) {
            (Some(limit), _) => CommandEnd::TimedOut(limit),
            (None, status) => match status.terminating_signal() {
                Some(signal) => CommandEnd::Signal(signal),
                None => CommandEnd::Exit(status.exit_status().unwrap_or(-1)),
            },
        };
        Ok(Ended { pid, wall, end })
    }

    /// The command line.
    fn command(&self, words: &[String]) -> io::Result<Command> {
        let input = match &self.input {
            Some(path) => Stdio::from(File::open(path)?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(input);
        Ok(command)
    }

    /// Names of the processes that a command has left outside its group. Those of its preparation
    /// are not the command's.
    fn daemons_of(&mut self, launch: Started) -> Vec<String> {
        let found = orphans::adopted_since(launch, self.prepared).into_iter();
        let new = found.filter(|(pid, _)| !self.known_daemons.contains(pid));
        let (pids, names): (Vec<i32>, Vec<String>) = new.unzip();
        self.known_daemons.extend(pids);
        names
    }

    /// Ends the processes that the latest preparation has left in its group.
    pub fn end_preparation(&mut self) {
        self.prepared.take().into_iter().for_each(end_group);
        self.guard_with(None);
        orphans::bury();
    }

    /// Ends the processes that set-ups have left in their groups.
    pub fn end_set_up(&mut self) {
        self.set_up.drain(..).for_each(end_group);
        self.guard_with(None);
        orphans::bury();
    }
}

/// Kills the members of a group that were adopted and are not reaped: the number is still theirs.
fn end_group(group: Pid) {
    let _ = kill_process_group(group, Signal::KILL);
    orphans::reap_group(group);
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.end_preparation();
        self.end_set_up();
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
            waited_ns: None,
            end,
            killed: Vec::new(),
            daemons: Vec::new(),
        }
    }

    fn ended(
        wall: Duration,
        usage: &libc::rusage,
        floor: Option<u64>,
        end: CommandEnd,
    ) -> CommandRun {
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
            ..CommandRun::without(end)
        }
    }
}

/// The peak of the resident memory. Linux counts it in KiB, Darwin in bytes.
fn peak(usage: &libc::rusage) -> u64 {
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit
}

/// The peak of this process's own memory. Its `ru_maxrss` may be that of the process that started
/// it.
fn own_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The time that the first thread of a process that is not yet reaped was ready to run, in ns.
fn waited(pid: Pid) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{}/schedstat", pid.as_raw_nonzero())).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Waits until the process has ended, and leaves it to be reaped.
fn wait_for_end(pid: Pid) -> io::Result<WaitIdStatus> {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) => return Ok(status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Reaps the ended process. Returns its resources.
fn reap(pid: Pid) -> io::Result<libc::rusage> {
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
    Ok(usage)
}

/// Kills the running command if a stop is requested or its time is exceeded. The main thread only
/// waits for the command, so that the time of its end is exact.
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
        Watchdog { shared, thread: Some(thread) }
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

    /// Ends the watch, before the process is reaped. Returns the time limit if the process has
    /// exceeded it.
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
