//! Traces an application: counts its system calls and page faults, or its calls of Java's class
//! library, and makes its vector.

mod java;

use std::cell::Cell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::fs::{FileType, fstat};
use yamba_harness::{Stop, unix_s};
use yamba_jvm::library::vector::{Counted, Sampled};
use yamba_page_cache::FileAccesses;
use yamba_predict::vector::work::UserWork;
use yamba_predict::{Vector, machine_name};
use yamba_record::Machine;
use yamba_store::inputs;
use yamba_toolchain::build::host;
use yamba_trace::live::{self, Fault, Method, Names, Pattern, Units, Workload};
use yamba_trace::{Log, Trace, read_strace};

use super::{Failure, machine, system_failure};

/// How the calls of a program are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// By programs in the kernel, with times; needs root.
    Bpf,
    /// By strace, without times.
    Strace,
}

/// The traced application.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A program with its arguments.
    Command(Vec<String>),
    /// A running process.
    Process(u32),
    /// The output of `strace -f`, or `-` for standard input; several files of `strace -ff`.
    Logs(Vec<PathBuf>),
    /// A command that begins with `java`, whose calls of the class library are counted.
    Java(Vec<String>),
}

/// A request for the vector of an application.
#[derive(Clone)]
pub struct Request {
    /// The traced application.
    pub subject: Subject,
    /// By default BPF where it is possible, else strace.
    pub counting: Option<Counting>,
    /// The command line of the shell that loads the server.
    pub load: Option<String>,
    /// The name of the application; by default that of its program.
    pub application: Option<String>,
    /// The name of one unit of work.
    pub unit: String,
    /// The number of units of work in the trace, or in each run of it.
    pub units: f64,
    /// Finds the number of units in the output.
    pub units_from: Option<Pattern>,
    /// How often the command runs.
    pub runs: u32,
    /// How often the same work is done without the tracer and with it.
    pub rounds: u32,
    /// Whether the accesses to files are recorded.
    pub records_files: bool,
    /// Whether its work in user mode is counted, too, by valgrind.
    pub counts_user_work: bool,
    /// Whether the output of the program is hidden.
    pub hides_output: bool,
    /// The beginning of a command line that makes the clock readings of a program system calls, to
    /// count them. The program and its arguments follow. Empty: they are not counted.
    pub bare: Vec<String>,
}

/// The vector of an application.
pub struct Traced {
    pub vector: Vector,
    /// The accesses to files, if they were recorded.
    pub files: Option<FileAccesses>,
    /// The machine where the application ran; `Machine::default()` if it is unknown.
    pub machine: Machine,
    /// Start of the trace, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// Whether a stop was requested before the work in user mode was counted.
    pub is_stopped: bool,
}

impl Traced {
    /// Whether no event was lost, no stop was requested, and the application did not fail.
    pub fn is_complete(&self) -> bool {
        let has_failed = self.vector.traced.as_ref().is_some_and(|traced| traced.failure.is_some());
        self.vector.losses().is_empty() && !has_failed && !self.is_stopped
    }
}

/// An event while the use case runs.
pub enum Event<'a> {
    /// The calls of a running process are counted, until the user stops it.
    Attached(u32),
    /// strace counts, without times, for this reason.
    NoTimes(String),
    CommandFailed {
        program: &'a str,
        /// How it ended.
        end: String,
    },
    /// The command runs again, to count its work in user mode.
    CountsUserWork,
    /// Something was not counted.
    Uncounted(String),
    /// Several runs were requested, and strace has traced one.
    TracedOnce,
    /// The calls are counted. Lines that were not understood are of `place`.
    Counted {
        trace: &'a Trace,
        /// The log, or the tracer.
        place: &'a str,
    },
    /// The calls of the class library are counted, and their time is sampled.
    JavaCounted { counted: &'a Counted, sampled: &'a Sampled, vector: &'a Vector },
}

/// Receives what happens.
pub type Observer<'a> = &'a dyn Fn(Event<'_>);

/// Traces an application, or reads what strace wrote.
///
/// # Errors
/// If the application cannot be traced.
pub fn trace(request: &Request, stop: &Stop, observer: Observer<'_>) -> Result<Traced, Failure> {
    let started_unix_s = unix_s();
    let (trace, machine) = match &request.subject {
        Subject::Java(command) => {
            let (vector, machine) = java::trace(request, command, stop, observer)?;
            return Ok(Traced { vector, files: None, machine, started_unix_s, is_stopped: false });
        }
        Subject::Logs(logs) => (request.read(logs, observer)?, Machine::default()),
        Subject::Command(_) | Subject::Process(_) => request.live(stop, observer)?,
    };
    let application = &trace.vector.application;
    let named = |files| FileAccesses { application: application.clone(), ..files };
    let files = trace.files.map(named);
    let lacks_work = request.counts_user_work && trace.vector.user_work.is_none();
    let is_stopped = lacks_work && stop.requested();
    Ok(Traced { vector: trace.vector, files, machine, started_unix_s, is_stopped })
}

impl Request {
    /// Reads what strace wrote.
    fn read(&self, logs: &[PathBuf], observer: Observer<'_>) -> Result<Trace, Failure> {
        let mut texts = Vec::new();
        for path in logs {
            let text = read(path).map_err(|e| {
                Failure::new(format!("{}: {e}", path.display()))
                    .help("name the file that `strace -o` wrote, or `-` for standard input")
            })?;
            texts.push(text);
        }
        let read = logs.iter().zip(&texts);
        let read: Vec<Log> =
            read.map(|(path, text)| Log { process: log_process(path), text }).collect();
        let request = yamba_trace::Request {
            application: self.application.clone(),
            unit: self.unit.clone(),
            units: self.units,
        };
        let place = |log: usize| logs[log].display().to_string();
        let trace = read_strace(&read, &request, self.records_files);
        let trace = trace.map_err(|refusal| {
            Failure::new(format!("{}: {refusal}", place(refusal.log()))).help(refusal.help())
        })?;
        let first = trace.unread.first().map_or(0, |unread| unread.log);
        observer(Event::Counted { trace: &trace, place: &place(first) });
        Ok(trace)
    }

    /// Counts the calls of a program that runs here.
    fn live(&self, stop: &Stop, observer: Observer<'_>) -> Result<(Trace, Machine), Failure> {
        let process = match self.subject {
            Subject::Process(process) => Some(process),
            _ => None,
        };
        // The tracer asks for the first time when it counts.
        let is_announced = Cell::new(self.load.is_some());
        let stopped = || {
            if let Some(process) = process.filter(|_| !is_announced.replace(true)) {
                observer(Event::Attached(process));
            }
            stop.requested()
        };
        let names = Names { application: self.application.clone(), unit: self.unit.clone() };
        let workload = self.workload();
        self.check_input()?;
        let method = self.method(observer)?;
        if self.counts_user_work {
            check_user_work(&method)?;
        }
        let traced_all = matches!(method, Method::Bpf(_));
        let mut trace = match process {
            Some(process) => {
                live::attach(method, process, &workload, &names, &stopped).map_err(failure)?
            }
            None => {
                let mut run = live::trace(method, &workload, &names, &stopped).map_err(failure)?;
                if let Some(end) = run.failure {
                    let program = &workload.command[0];
                    observer(Event::CommandFailed { program, end: end.to_string() });
                    if let Some(traced) = &mut run.trace.vector.traced {
                        traced.failure = Some(end.to_string());
                    }
                }
                if self.counts_user_work {
                    let vector = &mut run.trace.vector;
                    observer(Event::CountsUserWork);
                    let counted = user_work(&workload, vector, run.failure, &stopped);
                    match counted {
                        Ok(work) => vector.user_work = Some(work),
                        Err(reason) => {
                            run.uncounted.push(format!("the user work was not counted: {reason}"))
                        }
                    }
                }
                for missing in run.uncounted {
                    observer(Event::Uncounted(missing));
                }
                run.trace
            }
        };
        let machine = machine(&host());
        self.name(&mut trace.vector, &machine);
        if self.runs.max(self.rounds) > 1 && !traced_all {
            observer(Event::TracedOnce);
        }
        observer(Event::Counted { trace: &trace, place: "strace" });
        Ok((trace, machine))
    }

    /// Whether further runs of a command can have the standard input of the first one.
    fn check_input(&self) -> Result<(), Failure> {
        let is_run_again = matches!(self.subject, Subject::Command(_)) && self.load.is_none();
        let option = match () {
            () if !is_run_again => return Ok(()),
            () if self.counts_user_work => "--user",
            () if self.rounds > 1 => "--rounds",
            () if self.runs > 1 => "--runs",
            () => return Ok(()),
        };
        let kind = fstat(io::stdin()).map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Ok(FileType::Fifo | FileType::Socket | FileType::RegularFile) => Err(Failure::new(format!("{option}: standard input is a file or a pipe: the further runs would find it empty"))
                .help(format!("let the command open its input: `yamba trace {option} ... -- sh -c 'COMMAND <FILE'`; if it reads none, add `</dev/null`"))),
            _ => Ok(()),
        }
    }

    fn workload(&self) -> Workload {
        let command = match &self.subject {
            Subject::Command(command) => command.clone(),
            _ => Vec::new(),
        };
        Workload {
            command,
            load: self.load.clone(),
            runs: self.runs,
            rounds: self.rounds,
            bare: self.bare.clone(),
            units: match &self.units_from {
                Some(pattern) => Units::From(pattern.clone()),
                None => Units::Number(self.units),
            },
            hides_output: self.hides_output,
        }
    }

    /// The requested method, or the best one that is possible here.
    fn method(&self, observer: Observer<'_>) -> Result<Method, Failure> {
        match self.counting {
            Some(Counting::Strace) if self.records_files => {
                Err(Failure::new("--files: the calls of a running strace have no places in files")
                    .help(FILES_HELP))
            }
            Some(Counting::Strace) => Ok(Method::Strace),
            Some(Counting::Bpf) => Method::bpf(self.records_files).map_err(|reason| {
                Failure::new(reason.to_string())
                    .help("`--how strace` counts without privilege and without times")
            }),
            None if self.records_files => Method::bpf(true)
                .map_err(|reason| Failure::new(format!("--files: {reason}")).help(FILES_HELP)),
            None => Ok(Method::bpf(false).unwrap_or_else(|reason| {
                observer(Event::NoTimes(reason.to_string()));
                Method::Strace
            })),
        }
    }

    /// Writes the machine and the workload into the vector, so that the application can be measured
    /// again.
    fn name(&self, vector: &mut Vector, machine: &Machine) {
        if let Some(traced) = &mut vector.traced {
            traced.machine = machine_name(machine);
        }
        vector.load.clone_from(&self.load);
        vector.units_from = self.units_from.as_ref().map(|p| p.as_str().to_owned());
        let program = vector.command.first().and_then(|path| path.rsplit('/').next());
        if let (None, Some(program)) = (&self.application, program) {
            program.clone_into(&mut vector.application);
        }
    }
}

const FILES_HELP: &str =
    "`strace -f -yy -o FILE COMMAND`, and then `--from FILE`, needs no privilege";

/// Whether the work in user mode can be counted beside this method.
fn check_user_work(method: &Method) -> Result<(), Failure> {
    if matches!(method, Method::Strace) {
        return Err(Failure::new("--user: strace has no user time, which the counts belong to")
            .help("trace as root, by BPF, or without `--user`"));
    }
    live::valgrind_version().map(|_| ()).map_err(|reason| {
        Failure::new(format!("--user: {reason}"))
            .help("without `--user`, a trace needs no valgrind")
    })
}

/// The user work per unit of a command whose vector this is. The error is the reason why it is
/// unknown.
fn user_work(
    workload: &Workload,
    vector: &Vector,
    failure: Option<ExitStatus>,
    stopped: &dyn Fn() -> bool,
) -> Result<UserWork, String> {
    let units = vector.units_each().filter(|_| vector.user_ns.is_some());
    let units = units.ok_or("the trace has no user time")?;
    Ok(live::user_work(workload, failure, vector.programs(), stopped)?.each(units))
}

/// The message for an application that was not traced or measured.
pub fn failure(fault: Fault) -> Failure {
    match fault {
        Fault::System(e) => system_failure(e),
        Fault::NoProcess => {
            Failure::new("there is no such process").help("`ps -e` lists the running processes")
        }
        Fault::NotYours => Failure::new("the process belongs to another user")
            .help("trace a process of your own, or run this command as root"),
        Fault::NotStarted(program, e) if program == "strace" => {
            Failure::new(format!("strace cannot be started: {e}"))
                .help("install the package strace; `--from` reads its output of another machine")
        }
        Fault::NotStarted(program, e) => Failure::new(format!("{program}: {e}"))
            .help("after `--`, name a program and its arguments; a line of the shell is sh -c 'LINE'"),
        Fault::NoCalls => Failure::new("strace counted no system call")
            .help("its message is above: the program must exist, and a running process must be yours; in a container, `docker run --cap-add SYS_PTRACE` lets strace trace"),
        Fault::EndedEarly => Failure::new("the program ended before its load")
            .help("a server must run in the foreground, or as a daemon, until the load ends; without `--load`, one run of a command is traced"),
        Fault::StillBusy => Failure::new("the program still computes after 60 s, so its load was not started")
            .help("with `-p`, a running process is traced"),
        Fault::Load(end) => Failure::new(format!("the load failed: {end}"))
            .help("its messages are above; it is a command line of the shell"),
        Fault::NoUnits(pattern) => {
            Failure::new(format!("--units-from: no number above 0 matches {pattern:?} in the output"))
                .help("the output is above; the group in round brackets must match a number, with or without commas")
        }
        Fault::NoControlGroup(e) => Failure::new(format!("--rounds: a control group, which has the processor time without the tracer, cannot be made: {e}"))
            .help("run as root, where /proc/self/mounts lists a cgroup2; without `--rounds`, none is needed"),
        Fault::Stopped => Failure::new("stopped: the number of units is not known, so no vector was made")
            .help("with `-p`, a stop ends the trace and the vector is written"),
    }
}

/// Reads a text from a file, or from standard input for `-`. Bytes that are not UTF-8, as in a
/// path, become replacement characters.
fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes)?;
    } else {
        inputs::add(path);
        bytes = std::fs::read(path)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The process whose number ends the name of a log of `strace -ff`.
fn log_process(path: &Path) -> Option<u32> {
    path.extension()?.to_str()?.parse().ok()
}
