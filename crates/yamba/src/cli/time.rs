//! `yamba time`

mod commands;
mod report;

use std::io;
use std::time::Duration;

use clap::Args;

use commands::{Commands, Form};

use super::code::CodeOptions;
use super::common_options::HowPlaced;
use super::output::{self, StatusLine};
use super::{Answer, Failure, Terminal, quantity, system_failure};
use yamba_harness::Stop;
use yamba_session::Observer;
use yamba_session::time::{self, Questions, Refused, Statements};
use yamba_toolchain::build::host;

/// Time statements, single instructions or whole commands
///
/// A statement runs in a loop, whose cost is subtracted. An expression without `;` has its value
/// kept, so that the compiler cannot leave it out; `do_not_optimize(VALUE)` does that for any
/// value.
///
/// An instruction is measured as a chain, in which each step needs the result of the one before
/// (latency), and as independent copies (throughput). Every general register but the stack pointer
/// holds the address of a buffer of 16 KiB; the registers of a memory operand are set so that it
/// lies in that buffer. Vectors hold 1.0 in every lane, flags are clear. Several instructions in
/// one argument are repeated as written: the figure is the time of a repetition.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba time 'getppid();'                                    a statement
  yamba time 'getppid();' 'getpid();'                        two, compared
  yamba time --setup 'double x = 2; do_not_optimize(x);' 'sqrt(x)'  an expression: its value is kept
  yamba time --include mylib.h --link libmylib.a 'parse(text)'      a function of your own
  yamba time --asm 'imul rax, rax' 'mov rax, [rbx + rcx*4]'  latency and throughput
  yamba time --asm 'imul rax, rax; add rax, 1' --against     a sequence, and LLVM's model of it
  yamba time --asm 'div rbx' --init rdx=0 --init rbx=7
  yamba time -c 'grep -r foo .' -c 'rg foo'                  whole commands, compared
  yamba time -c 'sort -S {size} big.txt' --parameter size=1M,64M --prepare 'cat big.txt'

Exit status: 0 every figure is valid, 1 one is invalid, crashed, refused or too slow, 2 nothing was measured.")]
pub(super) struct Time {
    /// C or C++ statements; a few headers of the system are included
    #[arg(
        value_name = "STATEMENT",
        required_unless_present_any = ["asm", "commands"],
        conflicts_with = "asm"
    )]
    statements: Vec<String>,
    /// Instructions instead, in Intel's syntax
    #[arg(long, value_name = "INSTRUCTION", num_args = 1.., conflicts_with_all = ["setup", "include", "include_dir", "define", "optimise", "march", "standard", "link", "pkg_config", "flag"])]
    asm: Vec<String>,
    /// With --asm: first value of a register; may be repeated
    #[arg(long, value_name = "REGISTER=VALUE", requires = "asm", conflicts_with = "statements")]
    init: Vec<String>,
    /// With --asm: compare with LLVM's model of this processor [llvm-mca]
    #[arg(long, value_name = "PROGRAM", requires = "asm", conflicts_with_all = ["statements", "commands"], num_args = 0..=1, default_missing_value = "llvm-mca", hide_short_help = true)]
    against: Option<String>,
    /// Runs once before the statements, which see its variables. With --command: a command, once
    /// for each command before the first round
    #[arg(short = 's', long, value_name = "CODE|COMMAND")]
    setup: Option<String>,
    /// Include a header of the system or your own; may be repeated
    #[arg(long, value_name = "HEADER")]
    include: Vec<String>,
    /// End each of a figure's nine processes after this time [default: after 5 s without a message]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, hide_short_help = true)]
    timeout: Option<Duration>,
    /// End a process that has more processes and threads at any time [default: as `yamba run`]
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=u64::MAX), hide_short_help = true)]
    process_limit: Option<u64>,
    /// Keep each process on one processor, or let the system move it [default: pinned, unless a
    /// statement's own threads run]
    #[arg(long, value_name = "HOW", conflicts_with = "commands", hide_short_help = true)]
    placement: Option<HowPlaced>,
    /// Print one JSON document, with the samples
    #[arg(long)]
    json: bool,
    /// With --json, also every raw batch
    #[arg(long, requires = "json", hide_short_help = true)]
    raw: bool,
    #[command(flatten)]
    code: CodeOptions,
    #[command(flatten)]
    commands: Commands,
}

impl Time {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        if self.commands.is_on() {
            let form = match (self.raw, self.json) {
                (true, _) => Form::Raw,
                (_, true) => Form::Json,
                _ => Form::Text,
            };
            return self.commands.run(self.setup, self.timeout, form);
        }
        self.commands.check_absent()?;
        let mut all = self.statements.iter().chain(&self.asm);
        if all.any(|question| question.trim().is_empty()) {
            return Err(Failure::new("there is nothing to time in an empty argument")
                .help("write a statement, as 'getppid();', or with --asm an instruction, as 'imul rax, rax'"));
        }
        let line = StatusLine::new("building");
        let questions = self.questions();
        drop(line);
        let terminal = Terminal::default();
        let questions = questions.map_err(|refused| refused.failure(&terminal))?;
        self.answer(questions, &terminal)
    }

    fn questions(&self) -> Result<Questions, Refused> {
        let target = host();
        if !self.asm.is_empty() {
            return time::instructions(&self.asm, &self.init, self.against.as_deref(), &target);
        }
        let statements = Statements {
            statements: self.statements.clone(),
            setup: self.setup.clone(),
            includes: self.include.clone(),
            compile: self.code.settings(),
        };
        time::statements(&statements, &target)
    }

    fn answer(&self, mut questions: Questions, terminal: &Terminal) -> Result<Answer, Failure> {
        questions.options.timeout = self.timeout;
        questions.options.process_limit = self.process_limit;
        questions.options.placement = HowPlaced::placement(self.placement);
        let warnings = &questions.warnings;
        terminal.diagnostics(&warnings.sources, &warnings.diagnostics);
        let stop = Stop::on_signals().map_err(system_failure)?;
        let run = questions.measure(&host(), &stop, terminal)?;
        let is_good = !(run.failed() || run.interrupted || questions.is_partial);
        if self.raw {
            output::document(&run)?;
        } else if self.json {
            output::document(&run.summary())?;
        } else {
            let is_coloured = output::colour_on(&io::stdout());
            output::result(&report::report(&run, is_coloured, output::width()))?;
        }
        Ok(if is_good { Answer::Done } else { Answer::No })
    }
}
