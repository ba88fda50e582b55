//! Why a text is not read as the output of strace.

use std::fmt;

use crate::line::body;

/// A text that is no log of calls by strace, or one whose calls cannot be put in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No line is a call.
    NoCall,
    /// The table of `strace -c`.
    Summary,
    /// The output of another program, which is named.
    OtherProgram(&'static str),
    /// Several logs, of which this one has lines of several processes, or has no process in its
    /// name.
    NoProcess(usize),
    /// Two logs of one process.
    SameProcess(usize),
    /// The log of a process or thread whose calls cannot be ordered among those of the one that
    /// made it.
    NoOrder(usize),
    /// The log of a process that begins before the call that made it.
    TooEarly(usize),
}

impl Refusal {
    /// The index of the log, if there are several.
    pub fn log(&self) -> usize {
        match self {
            Refusal::NoProcess(log)
            | Refusal::SameProcess(log)
            | Refusal::NoOrder(log)
            | Refusal::TooEarly(log) => *log,
            _ => 0,
        }
    }

    /// How to get a log that can be read.
    pub fn help(&self) -> &'static str {
        match self {
            Refusal::NoCall | Refusal::OtherProgram(_) => {
                "`strace -f -yy -o FILE COMMAND` writes such a file"
            }
            Refusal::Summary => "leave out `-c`, or use `-C`, which writes the calls, too",
            Refusal::NoProcess(_) | Refusal::SameProcess(_) => {
                "`strace -ff -o FILE` writes a file FILE.PID for each process; give each once"
            }
            Refusal::NoOrder(_) | Refusal::TooEarly(_) => {
                "`strace -ff -ttt -o FILE` writes the time of each call"
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NoCall => "no line is a system call as strace shows it",
            Refusal::Summary => "it has the table of `strace -c`, which does not show the calls",
            Refusal::OtherProgram(name) => {
                return write!(f, "it is the output of {name}, which Yamba does not read");
            }
            Refusal::NoProcess(_) => "it is not the log of one process whose number ends its name",
            Refusal::SameProcess(_) => "the log of this process was given twice",
            Refusal::NoOrder(_) => {
                "its process shares descriptors or open files with another one, and without times the order of their calls is unknown"
            }
            Refusal::TooEarly(_) => {
                "by their times, its calls begin before the call that made its process"
            }
        })
    }
}

/// Recognises the output of other programs that show calls in a similar form.
pub fn other_program(text: &str) -> Option<&'static str> {
    text.lines().find_map(|line| {
        let line = line.trim();
        if line.starts_with("SYSCALL(args)") {
            Some("dtruss")
        } else if is_of_perf(line) {
            Some("perf trace")
        } else {
            is_of_ltrace(body(line)).then_some("ltrace")
        }
    })
}

/// `0.034 ( 0.005 ms): cat/123 brk() = 0x55d0`
fn is_of_perf(line: &str) -> bool {
    let Some((time, rest)) = line.split_once(' ') else {
        return false;
    };
    let duration = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once("): "));
    let is_time = time == "?" || time.parse::<f64>().is_ok();
    is_time
        && duration.is_some_and(|(duration, _)| {
            let duration = duration.trim();
            duration.is_empty() || duration.ends_with(" ms")
        })
}

/// `libc.so->malloc(8) = 0x55d0`, `SYS_brk(0) = 0x55d0`, and the end of a process.
fn is_of_ltrace(body: &str) -> bool {
    let name = body.split('(').next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_graphic());
    let has_library = name.split_once("->").is_some_and(|(library, _)| library.contains(".so"));
    let is_own = has_library || name.starts_with("SYS_") || name.starts_with("__libc_start_main");
    body.starts_with("+++ exited (status ") || is_name && is_own
}
