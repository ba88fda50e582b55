//! Runs one child process: starts it, reads its records, and leaves none of its processes behind.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use yamba_record::Event;

use super::bounds::{Bounds, Excess, OwnLimits, Watch};
use super::job::Program;
use super::options::Options;
use super::orphans::{self, SCRATCH, Started};
use super::process_output::{ProcessExit, ProcessOutput};
use super::reader::Reader;
use super::scratch::{ROOM, Room, Scratch};
use super::sizes::{self, SIZES};
use super::stop::Stop;

/// Resources that a process may use, and the conditions under which it is killed.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Longest time without output.
    pub silence: Duration,
    /// Set when the run is to stop.
    pub stop: Stop,
    /// Longest duration of a launch, set-up included.
    pub timeout: Duration,
    /// Disk limits for its scratch folder.
    pub room: Room,
    /// Limits on memory, processes and other resources of the machine.
    pub bounds: Arc<Bounds>,
    /// Sizes of caches and memory that replace what a program finds out itself, as the value of
    /// [`SIZES`].
    pub sizes: String,
    /// Processes of the benchmark that run at the same time.
    pub workers: u64,
}

impl Limits {
    /// Limits for launches that only ask a program for its description.
    pub fn new(options: &Options, stop: &Stop, scratch: &Scratch) -> Limits {
        let room = scratch.room(options);
        let bounds = Arc::new(Bounds::new(options, &room));
        scratch.clean_up_too(&bounds.folders());
        let silence = options.timeout.unwrap_or(options.silence);
        Limits {
            silence,
            timeout: silence,
            stop: stop.clone(),
            room,
            bounds,
            sizes: sizes::variable(options, None),
            workers: 1,
        }
    }
}

/// Interval between readings of the records, and between checks for a request to stop.
const TICK: Duration = Duration::from_millis(10);

/// Size of the pipe for records, in bytes: more than a program writes in many ticks.
const PIPE: usize = 1 << 20;

/// Time for a program to end after it reported an error: a partner process may keep it waiting for
/// ever.
const GRACE: Duration = Duration::from_secs(1);

/// This number of reads empties a pipe: it holds at most 1 MiB unless a privileged process has made
/// it larger.
const TURNS: usize = 80;

/// Bytes of standard error that are kept.
const MESSAGES: usize = 4096;

/// File descriptor of the record pipe in the child.
const RECORD_FD: i32 = 3;

/// Runs the program. Records have a pipe of their own, since benchmarks may print.
pub(super) fn run(
    program: &Program,
    arguments: &[String],
    scratch: &Path,
    limits: &Limits,
) -> ProcessOutput {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--record-fd".to_owned(), RECORD_FD.to_string()]);
    let started = pipe().and_then(|(reader, writer)| {
        let records = Some(writer.as_raw_fd());
        let mut child = Conversation::start(program, &arguments, scratch, limits, records)?;
        child.records = Some(reader);
        Ok(child)
    });
    match started {
        Ok(child) => child.hold(limits).0,
        Err(e) => not_started(program, &e),
    }
}

/// Runs the program and also returns its standard output.
pub(super) fn output(
    program: &Program,
    arguments: &[String],
    scratch: &Path,
    limits: &Limits,
) -> (ProcessOutput, Vec<u8>) {
    match Conversation::start(program, arguments, scratch, limits, None) {
        Ok(child) => child.hold(limits),
        Err(e) => (not_started(program, &e), Vec::new()),
    }
}

/// How to let an executable file start that the system refuses to start.
fn remedy(program: &Program, e: &io::Error) -> &'static str {
    let is_executable = || rustix::fs::access(&program.path, rustix::fs::Access::EXEC_OK).is_ok();
    let is_forbidden = e.kind() == io::ErrorKind::PermissionDenied && program.runner.is_empty();
    if is_forbidden && program.path.is_file() && !is_executable() {
        "; if its file system is mounted noexec, YAMBA_CACHE names another folder"
    } else {
        ""
    }
}

fn not_started(program: &Program, e: &io::Error) -> ProcessOutput {
    let what = program.runner.first().cloned();
    let what = what.unwrap_or_else(|| program.path.display().to_string());
    ProcessOutput {
        events: Vec::new(),
        garbled: 0,
        messages: String::new(),
        orphans: Vec::new(),
        exit: ProcessExit::NotStarted(format!("cannot start {what}: {e}{}", remedy(program, e))),
        batches_took: Duration::ZERO,
    }
}

fn pipe() -> io::Result<(File, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // A pipe of the default size only makes a program wait if it writes more than that within a
    // tick.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE);
    Ok((File::from(reader), writer))
}

/// The command line of a launch.
fn command(program: &Program, arguments: &[String], scratch: &Path, limits: &Limits) -> Command {
    let mut words = program.runner.iter().map(std::ffi::OsStr::new);
    let first = words.next().unwrap_or(program.path.as_os_str());
    let mut command = Command::new(first);
    command.args(words);
    if !program.runner.is_empty() {
        command.arg(&program.path);
    }
    command
        .args(arguments)
        .env(SCRATCH, scratch)
        .env(ROOM, limits.room.to_variable())
        .env(SIZES, &limits.sizes)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Runs in the child between fork and exec.
fn prepare(parent: Pid, records: Option<i32>, own_limits: &OwnLimits) -> io::Result<()> {
    die_with(parent)?;
    lead_session()?;
    own_limits.apply()?;
    if let Some(fd) = records {
        // SAFETY: `fd` is the pipe's end, open in the parent while it forks; number 3 is not owned
        // by anything here that would close it before exec.
        unsafe {
            let source = rustix::fd::BorrowedFd::borrow_raw(fd);
            if fd == RECORD_FD {
                rustix::io::fcntl_setfd(source, rustix::io::FdFlags::empty())?;
            } else {
                let mut target =
                    std::mem::ManuallyDrop::new(rustix::fd::FromRawFd::from_raw_fd(RECORD_FD));
                rustix::io::dup2(source, &mut target)?;
            }
        }
    }
    Ok(())
}

/// Makes this process the leader of a session and a process group. Processes that the benchmark
/// forks can be killed with the group, and a Ctrl-C reaches only Yamba.
///
/// The session matters to Linux's autogroup, which schedules the processes of a session as a group.
/// A group that runs on several processors is weighed again at each wake-up, and a waking process
/// then gives way, even with SCHED_BATCH. Without a session for each launch, any work in the user's
/// session on another processor would add up to 0.8 switches to each hop of `lat_ctx`.
fn lead_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Makes the kernel kill this process when its parent dies: a killed parent cannot end its
/// children.
#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() != Some(parent) {
        return Err(io::Error::from(rustix::io::Errno::SRCH));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn die_with(_: Pid) -> io::Result<()> {
    Ok(())
}

/// The communication with one child until it ends or is killed.
struct Conversation<'a> {
    child: Child,
    started: Started,
    watch: Watch<'a>,
    begun: Instant,
    scratch: &'a Path,
    records: Option<File>,
    errors: Option<File>,
    reader: Reader,
    messages: Vec<u8>,
    heard: Instant,
    failed: Option<Instant>,
    /// When the records of the first and the last batch arrived.
    batches: Option<(Instant, Instant)>,
    copy: Option<Vec<u8>>,
}

impl<'a> Conversation<'a> {
    /// Starts the program. It writes its records to `records`, or to its standard output if
    /// `records` is absent.
    fn start(
        program: &Program,
        arguments: &[String],
        scratch: &'a Path,
        limits: &'a Limits,
        records: Option<i32>,
    ) -> io::Result<Conversation<'a>> {
        let mut command = command(program, arguments, scratch, limits);
        command.stdout(if records.is_some() { Stdio::null() } else { Stdio::piped() });
        let parent = rustix::process::getpid();
        let watch = limits.bounds.watch(limits.workers)?;
        let own_limits = watch.own_limits();
        // SAFETY: between fork and exec only system calls are made, no memory is taken and no lock.
        unsafe { command.pre_exec(move || prepare(parent, records, &own_limits)) };
        let (mut child, started) = orphans::start(&mut command)?;
        let stdout = child.stdout.take().map(|s| File::from(OwnedFd::from(s)));
        Ok(Conversation {
            copy: stdout.as_ref().map(|_| Vec::new()),
            records: stdout,
            errors: child.stderr.take().map(|s| File::from(OwnedFd::from(s))),
            child,
            started,
            watch,
            begun: Instant::now(),
            scratch,
            reader: Reader::default(),
            messages: Vec::new(),
            heard: Instant::now(),
            failed: None,
            batches: None,
        })
    }

    /// Waits for the end of the child. Returns its standard output, too, unless that was discarded.
    fn hold(mut self, limits: &Limits) -> (ProcessOutput, Vec<u8>) {
        for file in self.records.iter().chain(&self.errors) {
            // Forked partners share the pipes and may outlive the child: reads must not block on
            // them.
            let _ = rustix::io::ioctl_fionbio(file, true);
        }
        let exit = self.talk(limits);
        let copy = self.copy.take().unwrap_or_default();
        (self.close(exit), copy)
    }

    fn talk(&mut self, limits: &Limits) -> ProcessExit {
        loop {
            self.wait();
            self.listen();
            if orphans::has_ended(&self.child) {
                // Before the child is reaped: afterwards its number, which is also its group's, may
                // be reused.
                let excess = self.watch.excess_at_its_end(self.started, self.scratch);
                self.end_group();
                let status = self.child.wait();
                self.listen();
                let exit = match status.map(|s| (s.signal(), s.code())) {
                    Ok((Some(signal), _)) => ProcessExit::Signal(signal),
                    Ok((None, code)) => ProcessExit::Exit(code.unwrap_or(-1)),
                    Err(_) => ProcessExit::Exit(-1),
                };
                return self.after_its_end(exit, excess);
            }
            orphans::bury();
            if let Some(exit) = self.overdue(limits) {
                self.end_group();
                // It may have left its group.
                let _ = self.child.kill();
                let _ = self.child.wait();
                self.listen();
                if matches!(exit, ProcessExit::Excessive(_)) {
                    self.watch.end_all(self.started, self.scratch);
                    return exit;
                }
                return self.after_its_end(exit, None);
            }
        }
    }

    /// Gives processes of the launch time to clean up after the end. Kills them all if they exceed
    /// a bound. `known` is the bound that they had exceeded before their group was killed.
    fn after_its_end(&mut self, exit: ProcessExit, known: Option<Excess>) -> ProcessExit {
        let is_killed = exit == ProcessExit::Signal(Signal::KILL.as_raw());
        let (launch, scratch) = (self.started, self.scratch);
        let watch = &mut self.watch;
        let mut excess = known.or_else(|| watch.last_excess(launch, scratch, is_killed));
        if excess.is_none() {
            orphans::all_end_in_time(launch, scratch, || {
                excess = watch.excess(launch, scratch);
                excess.is_some()
            });
        }
        match excess {
            Some(excess) => {
                watch.end_all(launch, scratch);
                ProcessExit::Excessive(excess)
            }
            None => exit,
        }
    }

    /// Why the child must be killed now, if it must.
    fn overdue(&mut self, limits: &Limits) -> Option<ProcessExit> {
        if limits.stop.requested() {
            return Some(ProcessExit::Stopped);
        }
        if limits.stop.is_out_of_time() {
            return Some(ProcessExit::OutOfTime);
        }
        if let Some(excess) = self.watch.excess(self.started, self.scratch) {
            return Some(ProcessExit::Excessive(excess));
        }
        if self.failed.is_some_and(|at| at.elapsed() > GRACE) {
            return Some(ProcessExit::Exit(3));
        }
        if let Some(fault) = self.reader.fault() {
            return Some(ProcessExit::BadRecord(fault.to_owned()));
        }
        if self.reader.is_flooded() {
            return Some(ProcessExit::Flooded);
        }
        if self.begun.elapsed() > limits.timeout {
            return Some(ProcessExit::TimedOut(limits.timeout));
        }
        let is_silent = self.heard.elapsed() > limits.silence;
        is_silent.then(|| {
            if self.is_suspended() {
                ProcessExit::Suspended(limits.silence)
            } else {
                ProcessExit::Hung(limits.silence)
            }
        })
    }

    /// Whether a signal has stopped the child.
    fn is_suspended(&self) -> bool {
        let Some(child) = Pid::from_raw(self.child.id() as i32) else {
            return false;
        };
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(child), look), Ok(Some(status)) if status.stopped())
    }

    /// Waits for messages and for the end of the pipes, at most one tick. Records do not end the
    /// wait: each record would wake this process while the program prepares its next batch, and the
    /// work of this process may slow down the program's core.
    fn wait(&self) {
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos() as _ };
        let records = self.records.iter().map(|f| (f, PollFlags::empty()));
        let errors = self.errors.iter().map(|f| (f, PollFlags::IN));
        let pipes = records.chain(errors);
        let pipes = pipes.map(|(file, flags)| PollFd::from_borrowed_fd(file.as_fd(), flags));
        let _ = poll(&mut pipes.collect::<Vec<_>>(), Some(&tick));
    }

    /// Reads the available output. Reads no more than pipes hold: a writer that never pauses must
    /// not keep this loop running.
    fn listen(&mut self) {
        let mut buffer = [0; 16384];
        let mut heard = false;
        let known = self.reader.events().len();
        for _ in 0..TURNS {
            let Some(n) = read(&mut self.records, &mut buffer) else {
                break;
            };
            heard |= n > 0;
            match &mut self.copy {
                Some(copy) if copy.len() < 1 << 24 => copy.extend_from_slice(&buffer[..n]),
                Some(_) => {}
                None => self.reader.push(&buffer[..n]),
            }
        }
        for _ in 0..TURNS {
            let Some(n) = read(&mut self.errors, &mut buffer) else {
                break;
            };
            self.messages.extend_from_slice(&buffer[..n]);
            let over = self.messages.len().saturating_sub(MESSAGES);
            self.messages.drain(..over);
        }
        if heard {
            self.heard = Instant::now();
        }
        let is_batch = |e: &Event| matches!(e, Event::Batch(_));
        if self.reader.events()[known..].iter().any(is_batch) {
            let now = Instant::now();
            self.batches = Some((self.batches.map_or(now, |(first, _)| first), now));
        }
        let is_error = |e: &Event| matches!(e, Event::Error(_));
        if self.failed.is_none() && self.reader.events().last().is_some_and(is_error) {
            self.failed = Some(Instant::now());
        }
    }

    /// Kills the benchmark's process group.
    fn end_group(&self) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }

    fn close(self, exit: ProcessExit) -> ProcessOutput {
        let orphans = orphans::end(self.started, self.scratch);
        self.watch.end_rest();
        // An incomplete record is no fault of a program that was killed: the record was cut off
        // then.
        let exit = match (self.reader.fault(), exit) {
            (Some(fault), ProcessExit::Exit(_)) => ProcessExit::BadRecord(fault.to_owned()),
            (_, exit) => exit,
        };
        let batches_took = self.batches.map(|(first, last)| last - first);
        let (events, garbled) = self.reader.finish();
        ProcessOutput {
            events,
            garbled,
            messages: String::from_utf8_lossy(&self.messages).trim().to_owned(),
            orphans,
            exit,
            batches_took: batches_took.unwrap_or_default(),
        }
    }
}

/// Reads available bytes; `None` without any. Closes the pipe at its end, since poll would report
/// it as ready for ever.
fn read(pipe: &mut Option<File>, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match pipe.as_mut()?.read(buffer) {
            Ok(0) => {
                *pipe = None;
                return None;
            }
            Ok(n) => return Some(n),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
