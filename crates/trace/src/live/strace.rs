//! Traces an application by strace, which needs no privilege.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};

use super::family::{Family, TRACER, Usage};
use super::load::Output;
use super::{
    AFTER_LOAD, Fault, Names, Run, TICK, TO_END, Workload, command_of, group, open_files,
    output_of, process_fault, run_load, wait_until_idle,
};
use crate::descriptors::Descriptors;
use crate::strace::Reader;
use crate::{Request, Trace};
use yamba_machine::locale::plain;
use yamba_predict::names::{MAJOR_FAULT, PAGE_FAULT};
use yamba_predict::vector::Use;

/// Traces one run of a command, or a server under its load.
pub fn trace(workload: &Workload, names: &Names, stopped: &dyn Fn() -> bool) -> Result<Run, Fault> {
    let family = Family::descendants();
    let mut command = group(TRACER);
    plain(&mut command).stdout(output_of(workload)?);
    if workload.is_searched() {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let reader = Reader::with(open_files::inherited());
    let mut session = Session::start(command, reader, |fifo| {
        let mut words = vec!["-E".to_owned(), locale_of_user(), "-o".to_owned(), fifo];
        words.push("--".to_owned());
        words.extend_from_slice(&workload.command);
        words
    })?;
    let mut output = Output::read_from(&mut session.strace, workload.hides_output);
    let units = match &workload.load {
        None => session.until_end(stopped),
        Some(line) => wait_until_idle(&family, stopped, &mut |time| session.pass(time))
            .and_then(|()| session.under_load(line, workload, stopped, &family))
            .map(Some),
    };
    if workload.load.is_none() {
        // strace has waited for the program, and is not reaped yet itself.
        session.used = Family::reaped_by(&session.strace.id().to_string());
    }
    session.end_program(&family)?;
    let status = session.strace.wait()?;
    let units = match units? {
        Some(units) => units,
        None => workload.units_in(&output.text())?,
    };
    let mut trace = session.trace(names, units)?;
    trace.vector.command.clone_from(&workload.command);
    let is_failure = workload.load.is_none() && !status.success();
    Ok(Run { trace, failure: is_failure.then_some(status), uncounted: Vec::new() })
}

/// The variable that sets the program's locale, for the option `-E`: strace itself runs in another
/// one. Without a value, `-E` removes it.
fn locale_of_user() -> String {
    std::env::var("LC_ALL").map_or_else(|_| "LC_ALL".to_owned(), |value| format!("LC_ALL={value}"))
}

/// Traces a running process while its load runs, or until a stop is requested. The process runs on
/// afterwards.
pub fn attach(
    process: u32,
    workload: &Workload,
    names: &Names,
    stopped: &dyn Fn() -> bool,
) -> Result<Trace, Fault> {
    let family = Family::rooted_at(process);
    let mut descriptors = Descriptors::default();
    open_files::add_running(process, &mut descriptors).map_err(process_fault)?;
    let reader = Reader::with(descriptors);
    let mut command = group(TRACER);
    plain(&mut command).stdout(output_of(workload)?);
    let mut session = Session::start(command, reader, |fifo| {
        ["-p", &process.to_string(), "-o", &fifo].map(str::to_owned).to_vec()
    })?;
    let units = session.while_attached(process, workload, stopped, &family);
    // On SIGINT, strace detaches from the process, which runs on.
    let _ = kill_process(Pid::from_child(&session.strace), Signal::INT);
    session.drain(TO_END, &|| false)?;
    session.strace.wait()?;
    let mut trace = session.trace(names, units?)?;
    trace.vector.command = command_of(process);
    Ok(trace)
}

/// A running strace. It is killed when it is dropped, or when this process ends; the kernel then
/// lets the traced processes run on.
struct Session {
    strace: Child,
    lines: File,
    /// The part of a line that was read so far.
    rest: Vec<u8>,
    reader: Reader,
    /// The use of the application while its calls were counted.
    used: Usage,
    /// Holds the pipe's name until strace has opened it, so that nothing is left behind if this
    /// process is killed.
    folder: Option<tempfile::TempDir>,
}

impl Session {
    fn start(
        mut command: Command,
        reader: Reader,
        arguments: impl FnOnce(String) -> Vec<String>,
    ) -> Result<Session, Fault> {
        let folder = tempfile::Builder::new().prefix("yamba-trace-").tempdir()?;
        let fifo = folder.path().join("calls");
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, &fifo, FileType::Fifo, mode, 0).map_err(io::Error::from)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let lines = File::from(open(&fifo, flags, Mode::empty()).map_err(io::Error::from)?);
        // Texts and lists of at most four: `pipe` shows its two descriptors.
        command.args(["-f", "-q", "-s", "4"]);
        command.args(arguments(fifo.display().to_string()));
        // SAFETY: the closure runs in the forked child and makes one system call, without
        // allocating.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let strace = command.spawn();
        Ok(Session {
            strace: strace.map_err(|e| Fault::NotStarted(TRACER.to_owned(), e))?,
            lines,
            rest: Vec::new(),
            reader,
            used: Usage::default(),
            folder: Some(folder),
        })
    }

    /// Reads lines for some time. Returns whether strace is still there.
    fn pass(&mut self, time: Duration) -> Result<bool, Fault> {
        let (begun, mut buffer) = (Instant::now(), [0; 65536]);
        while let Some(left) = time.checked_sub(begun.elapsed()) {
            if !is_readable(&self.lines, left)? {
                // Without a line, a strace that never wrote looks like one that waits.
                return Ok(self.reader.lines() > 0 || self.strace.try_wait()?.is_none());
            }
            match self.lines.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    self.folder = None;
                    self.take(&buffer[..length]);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e.into()),
            }
        }
        Ok(true)
    }

    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|b| *b == b'\n') else {
            return;
        };
        for line in self.rest[..end].split(|b| *b == b'\n') {
            self.reader.line(&String::from_utf8_lossy(line));
        }
        self.rest.drain(..=end);
    }

    /// Reads all lines until strace ends. Returns whether it did in this time.
    fn drain(&mut self, limit: Duration, stopped: &dyn Fn() -> bool) -> Result<bool, Fault> {
        let begun = Instant::now();
        while self.pass(TICK)? {
            if stopped() || begun.elapsed() > limit {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn until_end(&mut self, stopped: &dyn Fn() -> bool) -> Result<Option<f64>, Fault> {
        match self.drain(Duration::MAX, stopped)? {
            true => Ok(None),
            false => Err(Fault::Stopped),
        }
    }

    /// Counts while the load runs. Returns the number of units.
    fn under_load(
        &mut self,
        line: &str,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
        family: &Family,
    ) -> Result<f64, Fault> {
        self.reader.restart();
        let before = family.usage();
        let mut pass = |time| self.pass(time);
        let units = run_load(line, workload, stopped, &mut pass, family)?;
        self.pass(AFTER_LOAD)?;
        self.reader.pause();
        self.used = family.usage().since(before);
        Ok(units)
    }

    fn while_attached(
        &mut self,
        process: u32,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
        family: &Family,
    ) -> Result<f64, Fault> {
        while !is_traced(process) {
            if !self.pass(TICK)? {
                return Err(Fault::NoCalls);
            }
        }
        match &workload.load {
            Some(line) => self.under_load(line, workload, stopped, family),
            None => {
                let before = family.usage();
                let mut used = before;
                while self.pass(TICK)? && !stopped() {
                    used = family.usage();
                }
                self.used = used.since(before);
                workload.units_in("")
            }
        }
    }

    /// Asks the program to end, and kills it if it does not.
    fn end_program(&mut self, family: &Family) -> Result<(), Fault> {
        for signal in [Signal::TERM, Signal::KILL] {
            family.signal(signal, Some(TRACER));
            if self.drain(TO_END, &|| false)? {
                break;
            }
        }
        Ok(())
    }

    fn trace(&mut self, names: &Names, units: f64) -> Result<Trace, Fault> {
        let request =
            Request { application: names.application.clone(), unit: names.unit.clone(), units };
        let mut reader = std::mem::take(&mut self.reader);
        if !self.rest.is_empty() && !reader.is_paused() {
            reader.cut_line();
        }
        let mut trace = reader.trace(&request).ok_or(Fault::NoCalls)?;
        trace.faults = Some(self.used.minor_faults + self.used.major_faults);
        for (name, count) in
            [(PAGE_FAULT, self.used.minor_faults), (MAJOR_FAULT, self.used.major_faults)]
        {
            if count > 0 {
                trace.vector.primitives.push(Use {
                    name: name.to_owned(),
                    size: None,
                    count: count as f64 / units,
                    errors: None,
                    started: None,
                    waited_ns: None,
                    time_ns: None,
                });
            }
        }
        Ok(trace)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}

fn is_readable(file: &File, limit: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(limit).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Whether a tracer is attached to the process.
fn is_traced(process: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mut lines = text.lines();
    let tracer = lines.find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|number| number.trim() != "0")
}
