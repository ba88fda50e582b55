//! `yamba trace`

mod bare;
mod java;

use std::cell::Cell;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use yamba_harness::{Stop, unix_s};
use yamba_page_cache::FileAccesses;
use yamba_predict::{Vector, machine_name};
use yamba_record::Machine;
use yamba_session::vectors::{self, Origin};
use yamba_toolchain::build::host;
use yamba_trace::live::{self, Fault, Method, Names, Pattern, Units, Workload};
use yamba_trace::{Log, Request, Trace, read_strace};

pub(super) use bare::Bare;

use super::{Answer, Failure, StoreOption, arguments, of_system, output, page_cache};

/// How often does an application use each primitive?
///
/// Counts the system calls of a program, of a server under its load, or of a running process, and
/// writes an application vector for `yamba predict`. As root, programs in the kernel (BPF) count
/// and time them. Otherwise strace counts them: it needs no privilege, slows the program down, and
/// gives no times. The vector is stored, too.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba trace -o ls.vector -- ls -l /usr/bin            one run of a command
  yamba trace --runs 20 -o ls.vector -- ls -l /usr/bin  steadier times from twenty runs
  yamba trace --runs 20 --rounds 5 -o ls.vector -- ls   also without the tracer, for the level of times and an interval
  yamba trace --load './load -n 1000' --units 1000 --unit request -o server.vector -- ./server
  yamba trace --load 'wrk -d5 http://127.0.0.1:8080/' --units-from '([0-9]+) requests in' -o nginx.vector -- nginx -c site.conf
  yamba trace -p 1234 --load ./load -o server.vector    a running process, while its load runs
  yamba trace --from server.strace -o server.vector     the output of `strace -f -yy -o server.strace ./server`
  yamba trace --from out.7 --from out.8 -o server.vector  that of `strace -ff -yy -ttt -o out ./server`
  yamba trace --java -o app.vector -- java -jar app.jar   calls of Java's class library
  yamba predict server.vector                           or `yamba predict server`: the latest stored vector of that application

With a load, the program is a server: its calls count while the load runs, and then it is asked to end. The load starts when the server waits.")]
pub(super) struct TraceCommand {
    /// The program and its arguments
    #[arg(
        value_name = "COMMAND",
        last = true,
        required_unless_present_any = ["from", "pid"],
        conflicts_with_all = ["from", "pid"]
    )]
    command: Vec<String>,
    /// A running process
    #[arg(short, long, value_name = "PID", conflicts_with = "from")]
    pid: Option<u32>,
    /// The output of `strace -f`, or `-` for standard input; repeat it for the files of `strace
    /// -ff`, whose names end in the process's number
    #[arg(long, value_name = "FILE", conflicts_with_all = ["load", "units_from"])]
    from: Vec<PathBuf>,
    /// Count calls of Java's class library; the command begins with `java`
    #[arg(long, conflicts_with_all = ["pid", "from", "how", "load", "runs", "rounds", "units_from", "files"])]
    java: bool,
    /// How calls are counted; default: by BPF if possible, else by strace
    #[arg(long, value_name = "METHOD", conflicts_with = "from")]
    how: Option<How>,
    /// Command line of the shell that loads the server
    #[arg(long, value_name = "COMMAND")]
    load: Option<String>,
    /// Name of the application; default: its program
    #[arg(long, value_name = "NAME")]
    application: Option<String>,
    /// Name of one unit of work
    #[arg(long, value_name = "NAME", default_value = "run")]
    unit: String,
    /// Run the command this often, and count all runs together; BPF only
    #[arg(long, value_name = "N", default_value = "1", conflicts_with_all = ["load", "pid", "from"])]
    runs: NonZero<u32>,
    /// Do the same work without the tracer and then with it, this often: times are scaled to those
    /// without, and get an interval. One more run, under ptrace, counts clock readings; BPF only, and
    /// a control group
    #[arg(long, value_name = "N", default_value = "1", conflicts_with_all = ["pid", "from"])]
    rounds: NonZero<u32>,
    /// Number of units of work in the trace, or in each run of it
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = units)]
    units: f64,
    /// Regular expression that finds the number of units in the output of the load, or of the
    /// program without a load
    #[arg(long, value_name = "REGEX", conflicts_with = "units")]
    units_from: Option<Pattern>,
    /// Write the vector to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOption,
    /// Record the accesses to files, and write them to this file for `yamba page-cache`; needs BPF,
    /// or the output of `strace -f -yy`
    #[arg(long, value_name = "FILE")]
    files: Option<PathBuf>,
}

/// How calls are counted.
#[derive(Clone, Copy, ValueEnum)]
enum How {
    /// Programs in the kernel: counts and times; needs root
    Bpf,
    /// strace: counts without times; slows the program down
    Strace,
}

impl TraceCommand {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        for path in self.output.iter().chain(&self.files) {
            if !is_stream(path) {
                output::check(Some(path))?;
            }
        }
        let started_unix_s = unix_s();
        let (vector, machine) = self.vector()?;
        self.write(&vector)?;
        let origin = Origin { machine, started_unix_s, arguments: arguments() };
        let kept = vectors::keep(&vector, origin, &self.store.choice());
        output::note_stored("vector", kept)?;
        let is_complete = vector.losses().is_empty();
        let has_failed = vector.traced.is_some_and(|traced| traced.failure.is_some());
        Ok(if is_complete && !has_failed { Answer::Done } else { Answer::No })
    }

    /// The vector, and the machine where the application ran.
    fn vector(&self) -> Result<(Vector, Machine), Failure> {
        if self.java {
            return java::trace(self);
        }
        let (trace, machine) = if self.from.is_empty() {
            (self.live()?, yamba_session::machine(&host()))
        } else {
            (self.imported()?, Machine::default())
        };
        if let (Some(path), Some(files)) = (&self.files, &trace.files) {
            write_files(path, files, &trace.vector)?;
        }
        Ok((trace.vector, machine))
    }

    fn write(&self, vector: &Vector) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            return output::json(vector);
        };
        write(path, serde_json::to_string_pretty(vector))
    }

    /// Reads what strace wrote.
    fn imported(&self) -> Result<Trace, Failure> {
        let mut texts = Vec::new();
        for path in &self.from {
            let text = read(path).map_err(|e| {
                Failure::new(format!("{}: {e}", path.display()))
                    .help("name the file that `strace -o` wrote, or `-` for standard input")
            })?;
            texts.push(text);
        }
        let logs = self.from.iter().zip(&texts);
        let logs: Vec<Log> =
            logs.map(|(path, text)| Log { process: process_of(path), text }).collect();
        let request = Request {
            application: self.application.clone(),
            unit: self.unit.clone(),
            units: self.units,
        };
        let place = |log: usize| self.from[log].display().to_string();
        let trace = read_strace(&logs, &request, self.files.is_some());
        let trace = trace.map_err(|refusal| {
            Failure::new(format!("{}: {refusal}", place(refusal.log()))).help(refusal.help())
        })?;
        let first = trace.unread.first().map_or(0, |unread| unread.log);
        output::note(&remarks(&trace, &place(first)));
        Ok(trace)
    }

    fn live(&self) -> Result<Trace, Failure> {
        let stop = Stop::on_signals().map_err(of_system)?;
        // The tracer asks for the first time when it counts.
        let is_announced = Cell::new(self.load.is_some());
        let stopped = || {
            if let Some(process) = self.pid.filter(|_| !is_announced.replace(true)) {
                output::note(&format!("counting the calls of process {process} until Ctrl-C\n"));
            }
            stop.requested()
        };
        let names = Names { application: self.application.clone(), unit: self.unit.clone() };
        let workload = Workload {
            command: self.command.clone(),
            load: self.load.clone(),
            runs: self.runs.get(),
            rounds: self.rounds.get(),
            bare: bare::words()?,
            units: match &self.units_from {
                Some(pattern) => Units::From(pattern.clone()),
                None => Units::Number(self.units),
            },
            hides_output: self.output.is_none(),
        };
        let method = self.method()?;
        let traced_all = matches!(method, Method::Bpf(_));
        let mut trace = match self.pid {
            Some(process) => {
                live::attach(method, process, &workload, &names, &stopped).map_err(failure)?
            }
            None => {
                let mut run = live::trace(method, &workload, &names, &stopped).map_err(failure)?;
                if let Some(end) = run.failure {
                    output::note(&format!(
                        "error: {}: {end}: the counts are those of a command that failed\n",
                        self.command[0]
                    ));
                    if let Some(traced) = &mut run.trace.vector.traced {
                        traced.failure = Some(end.to_string());
                    }
                }
                for missing in run.uncounted {
                    output::note(&format!("warning: {missing}\n"));
                }
                run.trace
            }
        };
        self.name(&mut trace.vector);
        if self.runs.get().max(self.rounds.get()) > 1 && !traced_all {
            output::note("strace has traced one run\n");
        }
        output::note(&remarks(&trace, "strace"));
        Ok(trace)
    }

    /// The given method, or the best one that is possible here.
    fn method(&self) -> Result<Method, Failure> {
        match self.how {
            Some(How::Strace) if self.files.is_some() => {
                Err(Failure::new("--files: the calls of a running strace have no places in files")
                    .help(FILES_HELP))
            }
            Some(How::Strace) => Ok(Method::Strace),
            Some(How::Bpf) => Method::bpf(self.files.is_some()).map_err(|reason| {
                Failure::new(reason.to_string())
                    .help("`--how strace` counts without privilege and without times")
            }),
            None if self.files.is_some() => Method::bpf(true)
                .map_err(|reason| Failure::new(format!("--files: {reason}")).help(FILES_HELP)),
            None => Ok(Method::bpf(false).unwrap_or_else(|reason| {
                output::note(&format!("strace counts the calls, without times: {reason}\n"));
                Method::Strace
            })),
        }
    }

    /// Writes the workload into the vector, so that it can be measured again.
    fn name(&self, vector: &mut Vector) {
        if let Some(traced) = &mut vector.traced {
            traced.machine = machine_name(&yamba_session::machine(&host()));
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

fn paths(count: usize) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} file{s}")
}

/// Whether it is a device or a pipe, which is written and not replaced.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Writes a document to a file.
fn write(path: &Path, text: serde_json::Result<String>) -> Result<(), Failure> {
    let text = text.map_err(Failure::ours)? + "\n";
    if is_stream(path) {
        return std::fs::write(path, text).map_err(|e| {
            output::cannot_write(path, &e).help("name a file in a folder that exists")
        });
    }
    output::whole(path, |out| out.write_all(text.as_bytes()))
}

/// Writes the document of file accesses, and prints their number and warnings about missing
/// accesses.
fn write_files(path: &Path, files: &FileAccesses, vector: &Vector) -> Result<(), Failure> {
    let named = FileAccesses { application: vector.application.clone(), ..files.clone() };
    write(path, serde_json::to_string(&named))?;
    let accesses: u64 = files.accesses.iter().map(|run| run.4).sum();
    let mut note = format!(
        "{} to {}\n",
        output::counted(accesses as usize, "access", "accesses"),
        paths(files.files.len())
    );
    for line in page_cache::missing(files.left_out, files.unknown) {
        note += &format!("warning: {line}\n");
    }
    output::note(&note);
    Ok(())
}

/// The message for an application that was not traced or measured.
pub(super) fn failure(fault: Fault) -> Failure {
    match fault {
        Fault::System(e) => of_system(e),
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
        bytes = std::fs::read(path)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The process whose number ends the name of a log of `strace -ff`.
fn process_of(path: &Path) -> Option<u32> {
    path.extension()?.to_str()?.parse().ok()
}

fn remarks(trace: &Trace, place: &str) -> String {
    let faults = match trace.faults {
        Some(faults) => format!("{faults} page faults"),
        None => "page faults are not in a trace of strace".to_owned(),
    };
    let mut text = format!("{} system calls; {faults}\n", trace.calls);
    if let Some(first) = trace.unread.first() {
        let lines = output::counted(trace.unread.len(), "line was", "lines were");
        text += &format!(
            "warning: {place}: {lines} not understood and not counted, first line {}\n",
            first.line
        );
    }
    let traced = trace.vector.traced.as_ref();
    for losses in trace.vector.losses() {
        text += &format!("error: {losses}\n");
    }
    if !trace.unread.is_empty() {
        text += "help: `strace -f -yy -o FILE COMMAND` writes a log without the output of the program\n";
    } else if traced.is_some_and(|traced| traced.lost > Some(0)) {
        text += "help: trace on a less busy machine\n";
    }
    if traced.is_some_and(|traced| !traced.missing_processes.is_empty()) {
        text += "help: with `strace -f -o FILE`, FILE has all processes; of `strace -ff -o FILE`, give the FILE.PID of each process by --from\n";
    }
    let counted = traced.map_or(0, |traced| traced.without_details);
    if counted > 0 {
        text += &format!(
            "warning: events came faster than they were read: the kernel has counted and timed {counted} calls, {:.1} % of all, without details; the kinds of their descriptors may be wrong\n",
            100.0 * counted as f64 / trace.calls.max(1) as f64
        );
    }
    if let Some(cost) = traced.and_then(|traced| traced.cost_ns_per_call) {
        text +=
            &format!("the tracer made each call {cost:.0} ns longer; the times are without it\n");
        if trace.files.is_some() {
            text += "recording files made their calls longer, too; the times include that\n";
        }
    }
    if let Some(half_width) = trace.vector.half_width() {
        text += &format!(
            "the times are scaled to those without the tracer; another trace may differ by {:.0} %\n",
            half_width * 100.0
        );
    }
    if trace.unfinished > 0 {
        let calls = output::counted(trace.unfinished, "call", "calls");
        text += &format!("{calls} had not returned at the end and are not counted\n");
    }
    text
}

fn units(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "it must be a number above 0".to_owned())
}
