//! `yamba trace`

use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use yamba_harness::Stop;
use yamba_jvm::library::vector::{Counted, Sampled};
use yamba_page_cache::FileAccesses;
use yamba_predict::Vector;
use yamba_record::number::{self, counted, number};
use yamba_session::trace::{Counting, Event, Request, Subject, trace};
use yamba_session::vectors::{self, Origin};
use yamba_trace::Trace;
use yamba_trace::live::{Pattern, run_bare};

use super::{Answer, Failure, StoreOption, Terminal, arguments, output, system_failure};

/// Count the system calls of an application
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
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    application: Option<String>,
    /// Name of one unit of work
    #[arg(long, value_name = "NAME", default_value = "run", hide_short_help = true)]
    unit: String,
    /// Run the command this often, and count all runs together; BPF only
    #[arg(long, value_name = "N", default_value = "1", conflicts_with_all = ["load", "pid", "from"], hide_short_help = true)]
    runs: NonZero<u32>,
    /// Do the same work without the tracer and then with it, this often: times are scaled to those
    /// without, and get an interval. One more run, under ptrace, counts clock readings; BPF only,
    /// and a control group
    #[arg(long, value_name = "N", default_value = "1", conflicts_with_all = ["pid", "from"], hide_short_help = true)]
    rounds: NonZero<u32>,
    /// Count instructions, cache misses and mispredicted branches, too, for the user time on other
    /// machines: three more runs under valgrind, each about 50 times as long, with an empty
    /// standard input; not for a command that changes its input. BPF only
    #[arg(long, conflicts_with_all = ["load", "pid", "from", "java", "units_from"], hide_short_help = true)]
    user: bool,
    /// Number of units of work in the trace, or in each run of it
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = units)]
    units: f64,
    /// Regular expression that finds the number of units in the output of the load, or of the
    /// program without a load
    #[arg(long, value_name = "REGEX", conflicts_with = "units", hide_short_help = true)]
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
    pub(super) fn run(mut self) -> Result<Answer, Failure> {
        // Without a file, the vector goes to standard output.
        self.output.take_if(|path| is_standard_output(path));
        if self.files.as_deref().is_some_and(is_standard_output) {
            return Err(Failure::new("--files -: standard output is for the vector")
                .help("name a file for the accesses"));
        }
        for path in self.output.iter().chain(&self.files) {
            if !is_stream(path) {
                output::check(Some(path))?;
            }
        }
        let request = self.request()?;
        let is_read = matches!(request.subject, Subject::Logs(_));
        let stop =
            if is_read { Stop::default() } else { Stop::on_signals().map_err(system_failure)? };
        let traced = match trace(&request, &stop, &note) {
            Err(failure) if self.java => {
                return output::unless_stopped(Err(failure), &stop, Answer::INTERRUPTED);
            }
            other => other?,
        };
        if let (Some(path), Some(files)) = (&self.files, &traced.files) {
            write_files(path, files)?;
        }
        self.write(&traced.vector)?;
        let is_complete = traced.is_complete();
        let origin = Origin {
            machine: traced.machine,
            started_unix_s: traced.started_unix_s,
            arguments: arguments(),
        };
        let store = self.store.choice();
        if let Some(id) = vectors::keep(&traced.vector, origin, &store, &Terminal::default())? {
            output::note(&format!("vector {id} stored\n"));
        }
        Ok(if is_complete { Answer::Done } else { Answer::No })
    }

    fn request(&self) -> Result<Request, Failure> {
        let subject = match (self.java, self.pid, &self.from[..]) {
            (true, ..) => Subject::Java(self.command.clone()),
            (_, Some(process), _) => Subject::Process(process),
            (_, _, []) => Subject::Command(self.command.clone()),
            (_, _, logs) => Subject::Logs(logs.to_vec()),
        };
        Ok(Request {
            subject,
            counting: self.how.map(|how| match how {
                How::Bpf => Counting::Bpf,
                How::Strace => Counting::Strace,
            }),
            load: self.load.clone(),
            application: self.application.clone(),
            unit: self.unit.clone(),
            units: self.units,
            units_from: self.units_from.clone(),
            runs: self.runs.get(),
            rounds: self.rounds.get(),
            records_files: self.files.is_some(),
            counts_user_work: self.user,
            hides_output: self.output.is_none(),
            bare: bare_words()?,
        })
    }

    fn write(&self, vector: &Vector) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            return output::json(vector);
        };
        write(path, serde_json::to_string_pretty(vector))
    }
}

/// Prints what happens during a trace.
fn note(event: Event<'_>) {
    output::note(&match event {
        Event::Attached(process) => {
            format!("counting the calls of process {process} until Ctrl-C\n")
        }
        Event::NoTimes(reason) => format!("strace counts the calls, without times: {reason}\n"),
        Event::CommandFailed { program, end } => {
            format!("error: {program}: {end}: the counts are those of a command that failed\n")
        }
        Event::CountsUserWork => {
            "the command runs three more times under valgrind, each about 50 times as long\n"
                .to_owned()
        }
        Event::Uncounted(missing) => format!("warning: {missing}\n"),
        Event::TracedOnce => "strace has traced one run\n".to_owned(),
        Event::Counted { trace, place } => remarks(trace, place),
        Event::JavaCounted { counted, sampled, vector } => java_remarks(counted, sampled, vector),
    });
}

fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
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
fn write_files(path: &Path, files: &FileAccesses) -> Result<(), Failure> {
    write(path, serde_json::to_string(files))?;
    let accesses: u64 = files.accesses.iter().map(|run| run.4).sum();
    let count = counted(files.files.len(), "file", "files");
    let mut note = format!("{} to {count}\n", counted(accesses, "access", "accesses"));
    for line in crate::views::page_cache::missing(files.left_out, files.unknown) {
        note += &format!("warning: {line}\n");
    }
    output::note(&note);
    Ok(())
}

fn remarks(trace: &Trace, place: &str) -> String {
    let faults = match trace.faults {
        Some(faults) => format!("{faults} page faults"),
        None => "page faults are not in a trace of strace".to_owned(),
    };
    let mut text = format!("{} system calls; {faults}\n", trace.calls);
    if let Some(first) = trace.unread.first() {
        let lines = counted(trace.unread.len(), "line was", "lines were");
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
    let without_details = traced.map_or(0, |traced| traced.without_details);
    if without_details > 0 {
        text += &format!(
            "warning: events came faster than they were read: the kernel has counted and timed {without_details} calls, {:.1} % of all, without details; the kinds of their descriptors may be wrong\n",
            100.0 * without_details as f64 / trace.calls.max(1) as f64
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
        let calls = counted(trace.unfinished, "call", "calls");
        text += &format!("{calls} had not returned at the end and are not counted\n");
    }
    text
}

fn units(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "it must be a number above 0".to_owned())
}

/// Run a program whose clock readings are system calls
#[derive(Args)]
pub(in crate::cli) struct Bare {
    /// Write the reason of a failure to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,
}

impl Bare {
    /// Returns the exit status of the program. If a signal ended the program, it ends this process,
    /// too.
    pub(in crate::cli) fn run(&self) -> Result<u8, Failure> {
        run_bare(&self.command).map_err(|e| {
            let text = format!("{}: {e}", self.command[0]);
            if let Some(report) = &self.report {
                // The message says the same.
                let _ = std::fs::write(report, &text);
            }
            Failure::new(text).help("after `--`, name a program and its arguments")
        })
    }
}

/// The beginning of a command line of `yamba bare`: options and the program follow.
fn bare_words() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe().map_err(system_failure)?;
    let program = program.into_os_string().into_string();
    let words = program.map(|program| vec![program, "bare".to_owned()]);
    // A path that is not UTF-8 cannot be started by the words of a command.
    Ok(words.unwrap_or_default())
}

fn java_remarks(counted: &Counted, sampled: &Sampled, vector: &Vector) -> String {
    let calls: f64 = vector.primitives.iter().map(|used| used.count).sum();
    let share = |ns: f64| number(100.0 * ns / sampled.all_ns());
    let mut text = format!(
        "{} calls of the class library each {}\n{} samples in {}: {} % in the class library, {} % in the program, {} % in other threads\n",
        number(calls),
        vector.unit,
        sampled.samples,
        number::counted(sampled.runs, "run", "runs"),
        share(sampled.in_library_ns()),
        share(sampled.program_ns),
        share(sampled.others_ns),
    );
    if let Some(failure) = &counted.failure {
        text += &format!("error: {failure}: the counts are those of a command that failed\n");
    }
    if counted.left_out_classes > 0 {
        let classes = number::counted(counted.left_out_classes, "class", "classes");
        text += &format!(
            "warning: the calls of {classes} were not counted: they cannot be rewritten\n"
        );
    }
    if sampled.samples < 300 {
        text += "warning: few samples, so the times are uncertain: let the program work longer\n";
    }
    text
}
