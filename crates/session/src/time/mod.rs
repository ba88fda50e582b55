//! Implements `yamba time`: turns the statements or instructions of a command line into a program,
//! measures it, and names its entries after them.

mod asm;
mod compiler_help;
mod folded;
mod source;
mod statement;

use std::ops::Range;
use std::time::Duration;

use yamba_lang::{Analysis, ClassId, Diagnostic, Input, Severity, Target};
use yamba_record::run::Provenance;
use yamba_record::{Benchmark, Note, Run, Status, parameters::plain};

use super::failure::help_for_home;
use super::jobs::build_failure;
use super::measure::measurement;
use super::{Failure, Observer};
use yamba_harness::{self as run, Job, NoProgram, Options, Program, Slow, Stop};
use yamba_toolchain::build::{self, BuildError, BuildOptions, Built};
use yamba_toolchain::embedded;
use yamba_toolchain::files::{Disk, Unreadable};

pub use source::LocatedDiagnostics;
pub use statement::Statements;

use compiler_help::linker_help;
use source::{Analysed, Source};

/// The library class that runs steps of machine code.
const INSTRUCTION: &str = "Instruction";

/// The class that holds the instructions as the user wrote them.
const ASKED: &str = "asked_instructions";

/// Why the request cannot be measured.
pub enum Refused {
    /// The statements or instructions have errors.
    Diagnostics(LocatedDiagnostics),
    /// The program cannot be built for another reason.
    Build(BuildError),
    /// A file that comes with Yamba cannot be read.
    Unreadable(Unreadable),
    /// Another reason, as a sentence.
    Sentence(String),
}

impl Refused {
    /// Converts to a failure. Diagnostics go to the observer.
    pub fn failure(self, observer: &dyn Observer) -> Failure {
        match self {
            Refused::Diagnostics(located) => {
                observer.diagnostics(&located.sources, &located.diagnostics);
                Failure::Shown
            }
            Refused::Build(error) => {
                let help = match &error {
                    BuildError::Tool { output, .. } => linker_help(output),
                    _ => None,
                };
                let failure = build_failure(observer, &Analysis::default(), error);
                match help {
                    Some(help) => failure.help(help),
                    None => failure,
                }
            }
            // The user named no file, so the help text must be about Yamba's own files.
            Refused::Unreadable(e) => Failure::from(e).help(help_for_home()),
            Refused::Sentence(text) => Failure::new(text).help(
                "`yamba time --help` has examples of statements and instructions that can be timed",
            ),
        }
    }
}

/// Programs, with the points that answer each question.
pub struct Questions {
    /// The jobs to measure.
    pub jobs: Vec<Job>,
    /// The options of the run.
    pub options: Options,
    /// Warnings about the statements or instructions.
    pub warnings: LocatedDiagnostics,
    /// Whether some of the instructions cannot be measured.
    pub is_partial: bool,
    /// The parameter that distinguishes the questions.
    parameter: &'static str,
    each: Vec<Question>,
}

/// Fresh processes per figure. The second to the eighth of nine medians is an interval of 96 %, so
/// one disturbed process does not widen it.
const LAUNCHES: u64 = 9;

/// Measuring time of one figure, with all its processes.
const TIME: Duration = Duration::from_millis(300);

/// Warm-up time of each process.
const WARMUP: Duration = Duration::from_millis(10);

/// Relative precision at which the process of a figure may stop early.
const PRECISION: f64 = 0.005;

/// The time limit of a statement that never ends: 5 s with the warm-up.
const SILENCE: Duration = Duration::from_millis(4990);

/// A shorter plan if one pass takes longer than the time of a process: 12 s for a statement of 1 s.
const SLOW: Slow = Slow { batches: 3, launches: 3, time: Duration::from_secs(3) };

/// How often a disturbed figure, or one without cycles, is re-measured.
const AGAIN: usize = 2;

/// One requested figure.
struct Question {
    /// The index of the argument.
    number: usize,
    /// Its name in the run.
    name: String,
    /// The text of the argument.
    wording: String,
    /// Alternative points; the one with the smallest figure counts.
    attempts: Vec<Attempt>,
}

/// A point of the program.
struct Attempt {
    /// The parameter's value; `None` if it is not measured.
    value: Option<String>,
    /// Notes for the user.
    notes: Vec<String>,
    /// Whether it only copies registers.
    is_move: bool,
    /// The prediction by a model of the processor.
    prediction: Option<asm::Prediction>,
}

impl Questions {
    /// Measures all questions. Re-measures single figures that are disturbed or have no cycles.
    pub fn measure(
        &self,
        target: &Target,
        stop: &Stop,
        observer: &dyn Observer,
    ) -> Result<Run, Failure> {
        let mut progress = observer.progress();
        let mut measure = |jobs: &[Job], options: &Options| {
            measurement(jobs, options, target, stop, progress.as_mut()).run()
        };
        let mut run = measure(&self.jobs, &self.options)?;
        for _ in 0..AGAIN {
            let unclear = run.benchmarks.iter().filter(|b| is_unclear(b));
            let unclear: Vec<String> = unclear.filter_map(|b| self.value(b)).collect();
            if unclear.is_empty() || stop.requested() {
                break;
            }
            let mut options = self.options.clone();
            options.sweep = vec![(self.parameter.to_owned(), unclear)];
            let again = measure(&self.jobs[..1], &options)?;
            for benchmark in again.benchmarks {
                let mut same = run.benchmarks.iter_mut().filter(|b| is_unclear(b));
                if let Some(old) = same.find(|b| self.value(b) == self.value(&benchmark))
                    && is_better(&benchmark, old)
                {
                    *old = benchmark;
                }
            }
            run.interrupted |= again.head.interrupted;
        }
        self.name(&mut run);
        Ok(run)
    }

    fn value(&self, benchmark: &Benchmark) -> Option<String> {
        benchmark.parameters.get(self.parameter).map(plain)
    }

    /// Renames the entries of a run after the questions, in the order of the questions, and adds
    /// the notes of each.
    fn name(&self, run: &mut Run) {
        let mut left = std::mem::take(&mut run.benchmarks);
        for question in &self.each {
            let mut found: Vec<(Benchmark, &Attempt)> = Vec::new();
            for attempt in &question.attempts {
                let own = |b: &Benchmark| match &attempt.value {
                    Some(value) => self.value(b).as_ref() == Some(value),
                    None => b.name == question.name,
                };
                if let Some(index) = left.iter().position(own) {
                    found.push((left.remove(index), attempt));
                }
            }
            if let Some((mut benchmark, attempt)) = least(found) {
                describe(question, attempt, &mut benchmark);
                run.benchmarks.push(benchmark);
            }
        }
        run.benchmarks.append(&mut left);
    }
}

/// The valid entry with the smallest figure, or the first one if none is valid.
fn least(found: Vec<(Benchmark, &Attempt)>) -> Option<(Benchmark, &Attempt)> {
    let figure = |(b, _): &(Benchmark, &Attempt)| {
        let valid = b.median.filter(|_| b.status == Status::Ok);
        valid.unwrap_or(f64::INFINITY)
    };
    let found = found.into_iter();
    found.min_by(|a, b| figure(a).total_cmp(&figure(b)))
}

fn describe(question: &Question, attempt: &Attempt, benchmark: &mut Benchmark) {
    benchmark.name = question.name.clone();
    benchmark.parameters = Default::default();
    if benchmark.declaration.class == statement::CLASS {
        statement::name(&mut benchmark.notes, &question.wording);
    }
    benchmark.notes.extend(attempt.notes.iter().cloned().map(Note::Text));
    if benchmark.declaration.class == statement::CLASS {
        statement::judge(benchmark, &question.wording);
    } else {
        asm::explain(benchmark, &question.wording, attempt.is_move);
        let cycles = benchmark.details.cycles.filter(|_| benchmark.valid);
        let measured = cycles.map(|c| (c.median, c.confidence_interval));
        let note = attempt.prediction.as_ref().map(|p| Note::Text(p.note(measured)));
        benchmark.notes.extend(note);
    }
}

/// Whether a re-measured figure may replace an unclear one: a measurement that failed or was
/// stopped may not. Of two disturbed figures, the one with the narrower sound interval is better.
fn is_better(new: &Benchmark, old: &Benchmark) -> bool {
    let is_complete = new.status == Status::Ok && new.launches.len() as u64 >= LAUNCHES;
    let is_clearer = match (new.interference.is_disturbed, old.interference.is_disturbed) {
        (false, is_disturbed) => is_disturbed || !is_unclear(new),
        (true, true) => width(new) < width(old),
        (true, false) => false,
    };
    is_complete && is_clearer
}

/// The width of the interval relative to the figure; infinite if the interval is not sound.
fn width(benchmark: &Benchmark) -> f64 {
    let sound = benchmark.relative_width().filter(|_| benchmark.is_sound());
    sound.unwrap_or(f64::INFINITY)
}

/// Whether the figure is disturbed, or the cycle length is measured here, but not precisely enough
/// for this figure. Slow figures are excluded: re-measuring them takes too long.
fn is_unclear(benchmark: &Benchmark) -> bool {
    if benchmark.status != Status::Ok || (benchmark.launches.len() as u64) < LAUNCHES {
        return false;
    }
    let is_length_known = benchmark.environment.cycle_ns.iter().any(Option::is_some);
    let lacks_cycles = is_length_known && benchmark.details.cycles.is_none();
    // The last test unpacks all batches.
    benchmark.interference.is_disturbed || lacks_cycles && !run::is_blocked(benchmark)
}

/// Builds the program that times statements.
pub fn statements(request: &Statements, target: &Target) -> Result<Questions, Refused> {
    for piece in request.setup.iter().chain(&request.statements) {
        if let Some(bracket) = statement::is_open(piece) {
            let text = format!(
                "`{bracket}` without its counterpart in `{piece}`: write a whole statement, with as many brackets closed as opened"
            );
            return Err(Refused::Sentence(text));
        }
    }
    let program = analysed(request.source(), statement::CLASS, Vec::new())?;
    let analysis = &program.analysis;
    let build_options = BuildOptions {
        command_line: build::command_line_flags(&request.compile, analysis, target)
            .map_err(Refused::Build)?,
        ..BuildOptions::default()
    };
    let class = program.class(statement::CLASS);
    let (built, warnings) = built(&program, class, target, &build_options)?;
    let each = request.statements.iter().enumerate();
    let each = each.map(|(number, statement)| Question {
        number,
        name: format!("statement/{statement}"),
        wording: statement.clone(),
        attempts: vec![Attempt {
            value: Some(number.to_string()),
            notes: Vec::new(),
            is_move: false,
            prediction: None,
        }],
    });
    let each: Vec<Question> = each.collect();
    let mut options = options("number", &each);
    options.origin.sources = built.texts.clone();
    Ok(Questions {
        jobs: vec![job(statement::CLASS, built)],
        options,
        warnings,
        is_partial: false,
        parameter: "number",
        each,
    })
}

/// Assembles instructions and builds the program that runs them. `init` holds start values of
/// registers, such as `rbx=7`; `against` is the llvm-mca whose model is compared.
pub fn instructions(
    texts: &[String],
    init: &[String],
    against: Option<&str>,
    target: &Target,
) -> Result<Questions, Refused> {
    if target.isa != "x86_64" {
        let isa = &target.isa;
        let text =
            format!("--asm knows the registers of x86_64 only so far, and this machine is {isa}");
        return Err(Refused::Sentence(text));
    }
    let presets = asm::Presets::read(init).map_err(Refused::Sentence)?;
    let model = against.map(asm::Model::find).transpose().map_err(Refused::Sentence)?;
    let home = embedded::home().map_err(|e| Refused::Build(e.into()))?;
    let path = home.library.join(format!("{INSTRUCTION}.yamba"));
    let disk = Disk::new(Vec::new(), &home).map_err(Refused::Unreadable)?;
    let library = disk.open(&path).map_err(Refused::Unreadable)?;
    let (source, places) = listed(texts)?;
    let program = analysed(source, ASKED, vec![library])?;
    let bytes = assembled(&program, &places, target)?;
    let mut each = Vec::new();
    let mut refused = Vec::new();
    for (number, (text, bytes)) in texts.iter().zip(bytes).enumerate() {
        let text = text.trim();
        let figures = asm::figures(text, &bytes, &presets).unwrap_or_else(|why| {
            refused.push(format!("`{text}`: {why}"));
            asm::Figure::refused(&bytes, &why)
        });
        each.extend(figures.into_iter().map(|f| (number, text.to_owned(), f)));
    }
    if refused.len() == texts.len() {
        return Err(Refused::Sentence(refused.join("\n")));
    }
    let class = program.class(INSTRUCTION);
    let (built, warnings) = built(&program, class, target, &BuildOptions::default())?;
    let questions = questions(each, model.as_ref(), built, warnings);
    Ok(Questions { is_partial: !refused.is_empty(), ..questions })
}

/// A class with an assembler block for each instruction, and the range of each instruction in its
/// text.
fn listed(texts: &[String]) -> Result<(Source, Vec<Range<u32>>), Refused> {
    let mut source = Source::default();
    let mut places = Vec::new();
    source.add(&format!("yamba {ASKED} on x86_64\n{{\nvoid benchmark() {{}}\n"));
    for (index, text) in texts.iter().enumerate() {
        if text.contains("${") || statement::is_open(text).is_some() {
            let sentence = format!(
                "`{text}` is no instruction: its brackets do not match; write one in Intel's syntax, as 'mov rax, [rbx]'"
            );
            return Err(Refused::Sentence(sentence));
        }
        let name = match texts.len() {
            1 => "instruction".to_owned(),
            _ => format!("instruction {}", index + 1),
        };
        source.add(&format!("bitstring asked{index} {{ asm {{ "));
        places.push(source.add_user_text(&name, text));
        source.add("\n} }\n");
    }
    source.add("}\n");
    Ok((source, places))
}

/// The machine code of each instruction.
fn assembled(
    program: &Analysed,
    places: &[Range<u32>],
    target: &Target,
) -> Result<Vec<Vec<u8>>, Refused> {
    let class = program.class(ASKED).ok_or_else(|| program.refused())?;
    let blocks = build::assemble(&program.analysis, class, target);
    let blocks = blocks.map_err(|e| unbuilt(program, e))?;
    let bytes = |place: &Range<u32>| {
        let holds = |b: &&yamba_codegen::asm::AssembledBlock| {
            program.is_own(b.span) && b.span.start <= place.start && place.end <= b.span.end
        };
        blocks.iter().find(holds).map(|b| b.bytes.clone())
    };
    let each = places.iter().map(|p| bytes(p).unwrap_or_default());
    Ok(each.collect())
}

fn questions(
    figures: Vec<(usize, String, asm::Figure)>,
    model: Option<&asm::Model>,
    built: Built,
    warnings: LocatedDiagnostics,
) -> Questions {
    let mut jobs = vec![job(INSTRUCTION, built)];
    let mut each: Vec<Question> = Vec::new();
    for (number, wording, figure) in figures {
        let name = format!("asm/{wording}/{}", figure.aspect);
        if let Err(why) = &figure.code {
            jobs.push(Job {
                class: name.clone(),
                program: Err(NoProgram::Absent(why.clone())),
                provenance: Provenance::default(),
                texts: Default::default(),
            });
        }
        let attempt = Attempt {
            prediction: model.and_then(|m| figure.prediction(m)),
            value: figure.code.ok(),
            notes: figure.notes,
            is_move: figure.is_move,
        };
        let is_same = |q: &&mut Question| (q.number, &q.name) == (number, &name);
        match each.last_mut().filter(is_same) {
            Some(question) => question.attempts.push(attempt),
            None => each.push(Question { number, name, wording, attempts: vec![attempt] }),
        }
    }
    if each.iter().flat_map(|q| &q.attempts).all(|w| w.value.is_none()) {
        jobs.remove(0);
    }
    Questions {
        jobs,
        options: options("code", &each),
        warnings,
        is_partial: false,
        parameter: "code",
        each,
    }
}

/// Options of a short measurement with several fresh processes per figure: the cost of some
/// statements depends on the process's memory layout.
fn options(parameter: &str, each: &[Question]) -> Options {
    let attempts = each.iter().flat_map(|q| &q.attempts);
    let values = attempts.filter_map(|w| w.value.clone()).collect();
    Options {
        sweep: vec![(parameter.to_owned(), values)],
        launches: Some(LAUNCHES),
        time: TIME,
        warmup: Some(WARMUP),
        precision: PRECISION,
        silence: SILENCE,
        slow: Some(SLOW),
        ..Options::default()
    }
}

fn job(class: &str, built: Built) -> Job {
    let program =
        Program { path: built.program, emulated: !built.runner.is_empty(), runner: built.runner };
    Job {
        class: class.to_owned(),
        program: Ok(program),
        provenance: Provenance {
            program: Some(built.identity),
            inputs: Some(built.inputs),
            ..Provenance::default()
        },
        texts: built.texts,
    }
}

/// The analysed program, if it has no errors.
fn analysed(source: Source, class: &str, more: Vec<Input>) -> Result<Analysed, Refused> {
    let home = embedded::home().map_err(|e| Refused::Build(e.into()))?;
    let program = source.analyse(class, more, &home).map_err(Refused::Unreadable)?;
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    if program.analysis.diagnostics.iter().any(is_error) {
        Err(program.refused())
    } else {
        Ok(program)
    }
}

fn built(
    program: &Analysed,
    class: Option<ClassId>,
    target: &Target,
    options: &BuildOptions,
) -> Result<(Built, LocatedDiagnostics), Refused> {
    let class = class.ok_or_else(|| program.refused())?;
    let built = build::build(&program.analysis, class, target, options);
    let built = built.map_err(|e| unbuilt(program, e))?;
    let warnings = program.located(&built.warnings);
    Ok((built, warnings))
}

fn unbuilt(program: &Analysed, error: BuildError) -> Refused {
    match error {
        BuildError::Diagnostics(all) => Refused::Diagnostics(program.located(&all)),
        other => Refused::Build(other),
    }
}

#[cfg(test)]
mod tests;
