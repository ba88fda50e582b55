//! `yamba time`: the quick question. What was typed becomes a program, is measured like any other, and its entries get
//! the names of what was typed.

mod report;
mod source;
mod statement;

use std::path::PathBuf;

use yamba_lang::{Diagnostic, Severity, Target};

use crate::build::{self, BuildError, BuildOptions, Built};
use crate::embedded;
use crate::run::{Job, Options, Program};
use yamba_record::{Run, parameters::plain};

pub use report::report;
pub use source::Told;
pub use statement::Statements;

/// Why nothing was measured.
pub enum Refused {
    /// Something is wrong with what was typed.
    Diagnostics(Told),
    /// There is no program for another reason.
    Build(BuildError),
    /// A sentence, and how to mend it.
    Sentence(String, Option<String>),
}

/// A program and which of its points are the questions, in order.
pub struct Questions {
    /// What to measure.
    pub job: Job,
    /// How.
    pub options: Options,
    /// Warnings about what was typed.
    pub warnings: Told,
    /// The parameter that tells the questions apart.
    parameter: &'static str,
    each: Vec<Question>,
}

/// One figure that was asked for.
struct Question {
    /// The parameter's value.
    value: String,
    /// Its name in the run.
    name: String,
}

impl Questions {
    /// Gives the entries of a run the names of what was asked, and says of what came out what only the question tells.
    pub fn name(&self, run: &mut Run) {
        for benchmark in &mut run.benchmarks {
            let value = benchmark.parameters.get(self.parameter).map(plain);
            let question = self.each.iter().find(|q| Some(&q.value) == value.as_ref());
            let Some(question) = question else {
                continue;
            };
            benchmark.name = question.name.clone();
            benchmark.parameters = Default::default();
            statement::judge(benchmark);
        }
    }
}

/// Builds the program that times statements.
pub fn statements(asked: &Statements, target: &Target) -> Result<Questions, Refused> {
    let pieces = asked.setup.iter().chain(&asked.statements);
    for piece in pieces {
        if let Some(bracket) = statement::is_open(piece) {
            let text = format!("`{bracket}` without its counterpart in `{piece}`");
            return Err(Refused::Sentence(text, None));
        }
    }
    let (built, warnings) = built(asked.source(), statement::CLASS, target)?;
    let each = asked.statements.iter().enumerate();
    let each = each.map(|(number, statement)| Question {
        value: number.to_string(),
        name: format!("statement/{statement}"),
    });
    let each: Vec<Question> = each.collect();
    Ok(Questions {
        options: options("number", &each),
        job: job(statement::CLASS, built),
        warnings,
        parameter: "number",
        each,
    })
}

fn options(parameter: &str, each: &[Question]) -> Options {
    let values = each.iter().map(|q| q.value.clone()).collect();
    Options {
        sweep: vec![(parameter.to_owned(), values)],
        ..Options::quick()
    }
}

fn job(class: &str, built: Built) -> Job {
    let path: PathBuf = built.program;
    let program = Program {
        path,
        emulated: !built.runner.is_empty(),
        runner: built.runner,
    };
    Job {
        class: class.to_owned(),
        program: Ok(program),
    }
}

fn built(source: source::Source, class: &str, target: &Target) -> Result<(Built, Told), Refused> {
    let home = embedded::home().map_err(|e| Refused::Build(e.into()))?;
    let sentence = |text| Refused::Sentence(text, None);
    let program = source.analyse(class, &home).map_err(sentence)?;
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    let (Some(id), false) = (
        program.class,
        program.analysis.diagnostics.iter().any(is_error),
    ) else {
        return Err(Refused::Diagnostics(
            program.told(&program.analysis.diagnostics),
        ));
    };
    match build::build(&program.analysis, id, target, &BuildOptions::default()) {
        Ok(built) => {
            let warnings = program.told(&built.warnings);
            Ok((built, warnings))
        }
        Err(BuildError::Diagnostics(all)) => Err(Refused::Diagnostics(program.told(&all))),
        Err(other) => Err(Refused::Build(other)),
    }
}
