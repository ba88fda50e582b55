//! The command line. Each command has one file with its options, examples and implementation.

mod ab;
mod build;
mod bundle;
mod check;
mod code;
mod common_options;
mod compare;
mod completions;
mod disasm;
mod export;
mod fleet;
mod gate_options;
mod gc;
mod hardware;
mod help;
mod history;
mod import;
mod java;
mod list;
mod load;
mod machine;
mod man;
mod new;
mod output;
mod page_cache;
mod port;
mod predict;
mod printable;
mod quantity;
mod report;
mod rm;
mod run;
mod run_ref;
mod runs;
mod schema;
mod select;
mod selftest;
mod show;
mod store_option;
mod study;
mod tag;
mod terminal;
mod time;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

// The modules of the commands import these from here.
use common_options::TargetOption;
use select::{Libraries, Names, Selection, did_you_mean};
use store_option::StoreOption;
use terminal::{Terminal, arguments};
use yamba_session::{Failure, check_neighbours, system_failure};

/// Micro-benchmarks that say what they need of the platform and prove what they measured.
#[derive(Parser)]
#[command(name = "yamba", version, max_term_width = 100, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  yamba time 'getppid();'       the cost of a statement (--asm 'imul rax, rax': of an instruction)
  yamba list                    the benchmarks for this machine
  yamba run pagefault           measure one benchmark, with its sweep
  yamba run 'lat_*' --quick     measure several benchmarks briefly
  yamba load fit access.log -o site.load   a model of a server's load, which `yamba load run` sends
  yamba ab --base ./old/bench --head ./new/bench   compare two builds of benchmarks of another harness
  yamba study system            measure the machine and check predictions about it
  yamba runs                    list the stored runs; `yamba show` prints one
  yamba compare latest~1 latest show the differences between two runs
  yamba history lat_pipe        one benchmark over all runs, and where its level changed
  yamba predict server.vector   what an application would cost, from its counts and a run's costs
  yamba fleet run --with slurm -N 100 --quick   measure 100 nodes of a cluster
  yamba gc profile -o app.gc -- java -jar app.jar   what garbage collection costs with other collectors and heaps
  yamba report -o report.html   a page of the latest run, to open offline
  yamba tag latest baseline     name a run; `yamba rm` removes runs
  yamba machine                 describe this machine, and what would disturb a measurement
  yamba hardware                find caches, buffers and latencies of the processor
  yamba selftest                can figures be trusted here?
  yamba new parse_text          write a benchmark to start from
  yamba check mine.yamba        find the faults of a program without compiling it

Environment:
  YAMBA_CACHE  folder for rebuildable files (default: yamba in the user's cache folder)
  YAMBA_STORE  file of the stored runs, or postgresql://USER@HOST/DATABASE (default: yamba/results.sqlite in the
               user's data folder)
  YAMBA_SSH    the command that reaches the machine of `yamba run --remote` and the hosts of `yamba fleet run`, with its
               options (default: ssh)
  YAMBA_MPIRUN  the command that starts `yamba fleet run --with mpi`, with its options (default: mpirun)
  YAMBA_MPICXX  the compiler of that MPI for `--together` (default: mpicxx)
  YAMBA_FAR_ADDRESS  the address of that machine to measure to (default: the one at which ssh arrives)
  YAMBA_NEIGHBOURS  `count`: batches count while another hardware thread uses the core (default: discard)
  YAMBA_PREBUILT  file of the programs that are measured without a compiler (default: ../lib/yamba/suite.bundle,
               from the program's folder)
  YAMBA_JAVA   folder of agent.jar and benchmarks.jar (default: jars beside the program, else ../lib/yamba/jars)
  YAMBA_HOME   use runtime/, library/ and suite/ of this checkout instead of those in the binary
  CXX, CXX_<isa>  the C++ compiler for this machine, for another instruction set
  NO_COLOR     no colours

Exit status: 0 done; 1 the answer is no (a figure is invalid, a benchmark crashed); 2 wrong usage or input.";

/// Defines the commands from a table: groups of the help with their commands, in order of use.
/// `clap` precedes a command that clap defines itself. A hidden command is in no group.
macro_rules! commands {
    (
        $($heading:literal [
            $($name:literal $variant:ident($options:ty),)*
            $(clap $by_clap:literal)?
        ])*
        hidden $hidden_name:literal $hidden:ident($hidden_options:ty)
    ) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[command(name = $name)] $variant($options),)*)*
            #[command(name = $hidden_name, hide = true)]
            $hidden($hidden_options),
        }

        /// Each heading of the help with its commands.
        const GROUPS: &[(&str, &[&str])] = &[$(($heading, &[$($name,)* $($by_clap)?]),)*];

        fn dispatch(command: Command) -> Result<Answer, Failure> {
            match command {
                $($(Command::$variant(options) => options.run().map(Answer::from),)*)*
                Command::$hidden(options) => options.run().map(Answer::from),
            }
        }
    };
}

commands! {
    "Measure" [
        "time" Time(time::Time),
        "list" List(list::List),
        "run" Run(run::Run),
        "ab" Ab(ab::Ab),
        "trace" Trace(trace::TraceCommand),
        "java" Java(java::JavaCommand),
        "load" Load(load::LoadCommand),
        "study" Study(study::Study),
        "bundle" Bundle(bundle::Bundle),
        "fleet" Fleet(fleet::Fleet),
        "machine" Machine(machine::Machine),
        "hardware" Hardware(hardware::Hardware),
        "selftest" Selftest(selftest::Selftest),
    ]
    "Results" [
        "runs" Runs(runs::Runs),
        "show" Show(show::Show),
        "compare" Compare(compare::Compare),
        "history" History(history::HistoryCommand),
        "predict" Predict(predict::Predict),
        "page-cache" PageCache(page_cache::PageCache),
        "gc" Gc(gc::GcCommand),
        "report" Report(report::Report),
        "export" Export(export::Export),
        "import" Import(import::Import),
        "tag" Tag(tag::Tag),
        "rm" Rm(rm::Rm),
    ]
    "Language" [
        "new" New(new::New),
        "check" Check(check::Check),
        "build" Build(build::Build),
        "disasm" Disasm(disasm::Disasm),
        "port" Port(port::Port),
    ]
    "Help" [
        "schema" Schema(schema::SchemaCommand),
        "completions" Completions(completions::Completions),
        "man" Man(man::Man),
        clap "help"
    ]
    hidden "bare" Bare(trace::Bare)
}

/// Parses the recorded arguments of a run. `None` if another program or an incompatible version
/// recorded them.
fn recorded(arguments: &[String]) -> Option<Command> {
    let words = std::iter::once("yamba").chain(arguments.iter().map(String::as_str));
    Some(Cli::try_parse_from(words).ok()?.command)
}

/// The result of a command that did its work; it determines the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Done,
    No,
    /// The exit status of a program that ran.
    Ended(u8),
}

impl Answer {
    /// The exit status that shells give a program after Ctrl-C.
    const INTERRUPTED: Answer = Answer::Ended(130);
}

impl From<()> for Answer {
    fn from((): ()) -> Answer {
        Answer::Done
    }
}

impl From<u8> for Answer {
    fn from(status: u8) -> Answer {
        Answer::Ended(status)
    }
}

/// Parses the command line, runs the command and returns the exit status.
pub fn main() -> ExitCode {
    completions::answer();
    let matches = help::grouped(described()).try_get_matches();
    let matches = match matches {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            output::failure(&not_utf8());
            return ExitCode::from(2);
        }
        Err(error) => error.exit(),
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match check_neighbours().and_then(|()| dispatch(cli.command)) {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Ok(Answer::Ended(status)) => ExitCode::from(status),
        Err(failure) => {
            output::failure(&failure);
            ExitCode::from(2)
        }
    }
}

/// The commands, with the help that the arguments ask for.
fn described() -> clap::Command {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_whole =
        words.iter().any(|word| word == "--help") || words.first().is_some_and(|w| w == "help");
    if is_whole { help::compact(Cli::command()) } else { Cli::command() }
}

/// The failure that names the arguments that are not UTF-8.
fn not_utf8() -> Failure {
    let wrong = std::env::args_os().skip(1);
    let wrong = wrong.filter(|argument| argument.to_str().is_none());
    let wrong: Vec<String> = wrong.map(|argument| format!("{argument:?}")).collect();
    Failure::new(format!("not UTF-8: {}", wrong.join(", ")))
        .help("names are UTF-8; a path that is not can be given by a link with another name")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn every_command_has_examples() {
        let mut cli = super::Cli::command();
        cli.build();
        let shown = |c: &&clap::Command| c.get_name() != "help" && !c.is_hide_set();
        for command in cli.get_subcommands().filter(shown) {
            let after = command.get_after_help().map(ToString::to_string);
            assert!(after.is_some_and(|t| t.contains("Examples:")), "{}", command.get_name());
        }
    }
}
