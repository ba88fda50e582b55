//! `yamba time`

use std::io::{self, IsTerminal};

use clap::Args;
use yamba_lang::Analysis;
use yamba_lang::Severity;

use super::Answer;
use super::build::failure;
use super::failure::Failure;
use super::output;
use super::run::{listing, progress};
use crate::build::host;
use crate::render;
use crate::run::{self, Stop, UsageError};
use crate::time::{self, Questions, Refused, Statements, Told};

/// Time C++ statements or single instructions, in about a second
///
/// A statement runs in a loop, whose cost is subtracted. An expression without `;` has its value kept, so that the compiler cannot leave it out; `keep(VALUE)` does
/// that for any value.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba time 'getppid();'                                    a statement
  yamba time 'getppid();' 'getpid();'                        two, compared
  yamba time --setup 'double x = 2; keep(x);' 'sqrt(x)'      an expression: its value is kept
  yamba time --include sys/time.h --setup 'timeval t;' 'gettimeofday(&t, nullptr);'

Exit status: 0 every figure is valid, 1 one is invalid or crashed, 2 nothing was measured.")]
pub(super) struct Time {
    /// C or C++ statements; a few headers of the system are included
    #[arg(value_name = "STATEMENT", required = true)]
    statements: Vec<String>,
    /// Runs once before the statements, which see its variables
    #[arg(long, value_name = "CODE")]
    setup: Option<String>,
    /// Include this header; may be repeated
    #[arg(long, value_name = "HEADER")]
    include: Vec<String>,
    /// One JSON document, with every raw interval
    #[arg(long)]
    json: bool,
}

impl Time {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let target = host();
        let asked = Statements {
            statements: self.statements.clone(),
            setup: self.setup.clone(),
            includes: self.include.clone(),
        };
        if io::stderr().is_terminal() {
            output::note("\r\x1b[Kbuilding");
        }
        let questions = time::statements(&asked, &target);
        if io::stderr().is_terminal() {
            output::note("\r\x1b[K");
        }
        self.answer(questions.map_err(refused)?)
    }

    fn answer(&self, questions: Questions) -> Result<Answer, Failure> {
        show(&questions.warnings);
        let target = host();
        let stop = Stop::on_signals()?;
        let mut progress = progress();
        let measured = run::measure(
            std::slice::from_ref(&questions.job),
            &questions.options,
            &target,
            progress.as_mut(),
            &stop,
            &listing,
        );
        let mut run = measured.map_err(|UsageError(text)| Failure::new(text))?;
        questions.name(&mut run);
        let text = match self.json {
            true => {
                serde_json::to_string_pretty(&run).map_err(|e| Failure::new(e.to_string()))? + "\n"
            }
            false => time::report(&run, output::colour_on(&io::stdout())),
        };
        output::result(&text)?;
        Ok(match run.failed() || run.interrupted {
            true => Answer::No,
            false => Answer::Done,
        })
    }
}

/// Shows diagnostics; whether one is an error.
fn show(told: &Told) -> bool {
    let all = &told.diagnostics;
    let mut text = render::diagnostics(&told.sources, all, output::colour());
    if let Some(summary) = render::summary(all) {
        text.push_str(&format!("{summary}\n"));
    }
    output::note(&text);
    all.iter().any(|d| d.severity == Severity::Error)
}

fn refused(refused: Refused) -> Failure {
    match refused {
        Refused::Diagnostics(told) => {
            show(&told);
            Failure::Shown
        }
        Refused::Build(error) => failure(&Analysis::default(), error),
        Refused::Sentence(text, help) => match help {
            Some(help) => Failure::new(text).help(help),
            None => Failure::new(text),
        },
    }
}
