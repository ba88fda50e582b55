//! Runs an application with its load: traced by programs in the kernel or by strace, or untraced to
//! measure its processor time.

#[cfg(target_arch = "x86_64")]
mod bare;
mod bare_rounds;
mod bpf;
mod cachegrind;
mod control_group;
mod family;
mod interrupts;
mod load;
mod measured;
mod open_files;
mod strace;
mod tick_border;
mod units;

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_arch = "x86_64")]
pub use bare::run_bare;
use bpf::Prepared;
pub use cachegrind::{user_work, valgrind_version};
use family::Family;
use load::Load;
pub use measured::{Enough, Measured, measure};
pub use tick_border::{TickBorder, unmeasured_calls};
pub use units::{Pattern, Units};

use crate::Trace;
pub use crate::bpf::Unavailable;

/// These programs are for x86_64 only, as BPF traces only there.
#[cfg(not(target_arch = "x86_64"))]
pub fn run_bare(_command: &[String]) -> io::Result<u8> {
    Err(io::ErrorKind::Unsupported.into())
}

/// How long a program must wait before its load starts.
const QUIET: Duration = Duration::from_millis(300);

/// How long a program may take until it waits for its load.
const START_UP: Duration = Duration::from_secs(60);

/// How long a program may take to end after a request to terminate.
const TO_END: Duration = Duration::from_secs(5);

/// How long calls are still counted after the end of the load: the server closes its connections.
const AFTER_LOAD: Duration = Duration::from_millis(50);

/// How often the processes are looked at.
const TICK: Duration = Duration::from_millis(20);

/// An application, its load, and the number of units of work that it does.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// A command line for the shell. The application is a server, and counts only while this
    /// command runs.
    pub load: Option<String>,
    /// How often the command is traced. strace traces it once, and servers run once.
    pub runs: u32,
    /// How often the runs, or the server under its load, are traced. From two on, each round does
    /// the same work without the tracer first.
    pub rounds: u32,
    /// The beginning of a command line that runs a program by [`run_bare`]; options and the program
    /// follow. With several rounds, a further one counts the clock readings that the vDSO serves.
    /// Empty: they are not counted.
    pub bare: Vec<String>,
    /// The number of units of one run, or of one load.
    pub units: Units,
    /// Whether standard output of the program and of the load goes to standard error.
    pub hides_output: bool,
}

/// The names that a vector gets.
#[derive(Clone, Debug)]
pub struct Names {
    /// The application. `None`: its program.
    pub application: Option<String>,
    /// One unit of its work.
    pub unit: String,
}

/// A trace of a run, with the end of the run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The counts.
    pub trace: Trace,
    /// How the command failed. `None`: it exited with status 0, or was ended by the tracer.
    pub failure: Option<ExitStatus>,
    /// Counts that are missing after the further rounds, with the reasons.
    pub uncounted: Vec<String>,
}

/// How the calls of an application are counted.
pub enum Method {
    /// strace counts them. It needs no privilege, and has no times.
    Strace,
    /// Programs in the kernel count and time them.
    Bpf(Box<Prepared>),
}

impl Method {
    /// Loads programs into the kernel, if it and the user's privileges permit.
    /// With `files`, accesses to files are recorded, too.
    pub fn bpf(files: bool) -> Result<Method, Unavailable> {
        Prepared::new(files).map(|prepared| Method::Bpf(Box::new(prepared)))
    }
}

/// Traces one run of a command, or a server under its load.
pub fn trace(
    method: Method,
    workload: &Workload,
    names: &Names,
    stopped: &dyn Fn() -> bool,
) -> Result<Run, Fault> {
    match method {
        Method::Strace => strace::trace(workload, names, stopped),
        Method::Bpf(prepared) => bpf::trace(*prepared, workload, names, stopped),
    }
}

/// Traces a running process while its load runs, or until a stop is requested. The process runs on
/// afterwards.
pub fn attach(
    method: Method,
    process: u32,
    workload: &Workload,
    names: &Names,
    stopped: &dyn Fn() -> bool,
) -> Result<Trace, Fault> {
    match method {
        Method::Strace => strace::attach(process, workload, names, stopped),
        Method::Bpf(prepared) => bpf::attach(*prepared, process, workload, names, stopped),
    }
}

/// Why an application was not traced or measured.
#[derive(Debug)]
pub enum Fault {
    /// A call of the system failed.
    System(io::Error),
    /// The program cannot be started.
    NotStarted(String, io::Error),
    /// The process to trace does not exist.
    NoProcess,
    /// The process to trace belongs to another user.
    NotYours,
    /// The trace has no system call.
    NoCalls,
    /// The program ended before its load did.
    EndedEarly,
    /// The program still computed when the time to start was over.
    StillBusy,
    /// The load failed: how it ended.
    Load(String),
    /// The output has no number of units.
    NoUnits(String),
    /// No control group can be made, which has the processor time without the tracer.
    NoControlGroup(io::Error),
    /// A stop was requested.
    Stopped,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::System(error)
    }
}

/// A command in a process group of its own, so that a Ctrl-C reaches only Yamba. Its standard input
/// is that of Yamba, unless it is a terminal: a process that reads a terminal from another group is
/// stopped.
fn group(program: &str) -> Command {
    let mut command = Command::new(program);
    command.process_group(0);
    if rustix::termios::isatty(io::stdin()) {
        command.stdin(Stdio::null());
    }
    command
}

/// The place of a program's standard output.
fn output_of(workload: &Workload) -> io::Result<Stdio> {
    Ok(match workload.hides_output {
        true => Stdio::from(File::from(rustix::io::dup(io::stderr())?)),
        false => Stdio::inherit(),
    })
}

/// Waits until the application waits: its processes have used no processor time for a while. `pass`
/// spends some time, and says whether the application is still there.
fn wait_until_idle(
    family: &Family,
    stopped: &dyn Fn() -> bool,
    pass: &mut dyn FnMut(Duration) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let begun = Instant::now();
    let (mut since, mut before) = (Instant::now(), family.usage());
    while since.elapsed() < QUIET {
        if stopped() {
            return Err(Fault::Stopped);
        }
        if !pass(TICK)? {
            return Err(Fault::EndedEarly);
        }
        if begun.elapsed() > START_UP {
            return Err(Fault::StillBusy);
        }
        let now = family.usage();
        // A server may wake up now and then.
        if now.ticks() > before.ticks() + 1 {
            (since, before) = (Instant::now(), now);
        }
    }
    Ok(())
}

/// Runs the load to its end. Returns the number of units.
fn run_load(
    line: &str,
    workload: &Workload,
    stopped: &dyn Fn() -> bool,
    pass: &mut dyn FnMut(Duration) -> Result<bool, Fault>,
    family: &Family,
) -> Result<f64, Fault> {
    let mut load = Load::start(line, workload.hides_output)?;
    family.leave_out(load.id());
    while !load.has_ended()? {
        if stopped() {
            return Err(Fault::Stopped);
        }
        if !pass(TICK)? {
            return Err(Fault::EndedEarly);
        }
    }
    match load.finish() {
        (Some(end), _) => Err(Fault::Load(end)),
        (None, output) => workload.units_in(&output),
    }
}

/// The command line of a running process.
fn command_of(process: u32) -> Vec<String> {
    let text = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = text.split(|b| *b == 0).filter(|w| !w.is_empty());
    words.map(|w| String::from_utf8_lossy(w).into_owned()).collect()
}

/// The fault of a process that cannot be looked at.
fn process_fault(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Fault::NotYours,
        io::ErrorKind::NotFound => Fault::NoProcess,
        _ => Fault::System(error),
    }
}

impl Workload {
    /// Whether the number of units is in the output of the program.
    fn is_searched(&self) -> bool {
        self.load.is_none() && self.units.is_from_output()
    }

    fn units_in(&self, output: &str) -> Result<f64, Fault> {
        let found = self.units.count(output);
        found.ok_or_else(|| Fault::NoUnits(self.units.to_string()))
    }
}
