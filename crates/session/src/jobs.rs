//! Builds the programs of classes as jobs. A job without a program holds the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use yamba_lang::model::World;
use yamba_lang::source::SourceMap;
use yamba_lang::{Analysis, ClassId, Diagnostic, Severity, Target};
use yamba_record::event;
use yamba_record::run::{Producer, Provenance};

use super::standing;
use super::{ErrorMessage, Failure, Observer};
use yamba_harness::{Job, NoProgram, Origin, Program};
use yamba_toolchain::build::{self, BuildError, BuildOptions, Built};
use yamba_toolchain::disasm::{self, Code};
use yamba_toolchain::embedded;
use yamba_toolchain::provenance;
use yamba_toolchain::suite_topics;

/// Lines of a listing to show before and after the instruction that crashed.
const AROUND_A_CRASH: usize = 4;

/// Passes diagnostics to the observer. Fails if one is an error.
pub fn report(
    observer: &dyn Observer,
    sources: &SourceMap,
    diagnostics: &[Diagnostic],
) -> Result<(), Failure> {
    observer.diagnostics(sources, diagnostics);
    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
    if diagnostics.iter().any(is_error) { Err(Failure::Shown) } else { Ok(()) }
}

/// Converts a build error to a failure. Its diagnostics go to the observer.
pub fn build_failure(observer: &dyn Observer, analysis: &Analysis, error: BuildError) -> Failure {
    match error {
        BuildError::Diagnostics(all) => match report(observer, &analysis.sources, &all) {
            Err(failure) => failure,
            Ok(()) => Failure::whole("the program was not built, for the reasons above"),
        },
        BuildError::MissingCompiler { ref help, .. } => {
            Failure::new(error.to_string()).help(help.clone())
        }
        BuildError::Io(e) => ErrorMessage::from(e).help(
            "programs are built in the folder of YAMBA_CACHE, with temporary files in that of TMPDIR",
        ),
        BuildError::Setting { fault, help } => Failure::new(fault).help(help),
        BuildError::NothingToBuild(why) => {
            Failure::new(why).help("`yamba list NAME --platforms` shows where it runs")
        }
        BuildError::Tool { ref output, .. } => {
            let help = help_of_tool(output);
            Failure::new(error.to_string()).help(help)
        }
    }
}

/// The help text for an output of the compiler, the assembler or the linker.
fn help_of_tool(output: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|w| output.contains(w));
    if says(&["undefined reference", "undefined symbol"]) {
        "a library must define it: `link \"libmylib.a\";` in the compile clause, or --link"
    } else if says(&["multiple definition", "duplicate symbol"]) {
        "two of the linked files define it: link only one of them"
    } else if says(&["requires dynamic linking", "attempted static link of dynamic object"]) {
        "this compiler has no C library to link statically: use g++ (Debian: apt install g++)"
    } else {
        "where its own words are of no help: CXX and AS name another compiler and assembler"
    }
}

/// The title of each class's group; empty if all classes are in one group.
pub fn grouped(analysis: &Analysis, classes: &[ClassId]) -> BTreeMap<String, String> {
    let folder = |class: &ClassId| suite_topics::folder(analysis, *class);
    let title = |class: &ClassId| suite_topics::title(folder(class)).to_owned();
    let titles: BTreeSet<String> = classes.iter().map(title).collect();
    if titles.len() < 2 {
        return BTreeMap::new();
    }
    let each = classes.iter();
    each.map(|c| (analysis.class(*c).name().to_owned(), title(c))).collect()
}

/// Builds the benchmarks that exist on the target, several in parallel. The jobs of the others hold
/// the reason for their absence.
pub fn jobs(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    observer: &dyn Observer,
) -> Result<Vec<Job>, Failure> {
    jobs_while(analysis, classes, target, options, &|_| true, observer)
}

/// As [`jobs`], but begins a build only while `may_begin` holds for the number of builds that have
/// begun before. Benchmarks whose build was not begun have no job. Neither has one whose build
/// failed when no further one may begin: Ctrl-C ends the compilers, too.
pub(super) fn jobs_while(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    may_begin: &(dyn Fn(usize) -> bool + Sync),
    observer: &dyn Observer,
) -> Result<Vec<Job>, Failure> {
    let exists = |c: &ClassId| !analysis.program(*c, target).variants.is_empty();
    let buildable: Vec<ClassId> = classes.iter().copied().filter(exists).collect();
    let all = buildable.len();
    observer.building(0, all);
    let show = |built: usize| observer.building(built, all);
    let outcomes = build::build_while(analysis, &buildable, target, options, may_begin, show);
    observer.building_ended();
    let mut built: BTreeMap<ClassId, _> = buildable.iter().copied().zip(outcomes).collect();
    if !may_begin(0) {
        built.retain(|_, outcome| outcome.is_ok());
    }
    let each = classes.iter().filter_map(|class| match built.remove(class) {
        Some(outcome) => Some(finished(analysis, *class, target, outcome, observer)),
        None if exists(class) => None,
        None => Some(Ok(absent(analysis, *class, target))),
    });
    each.collect()
}

/// Builds one benchmark. If it does not exist on the target, the job holds the reason.
pub fn job(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    observer: &dyn Observer,
) -> Result<Job, Failure> {
    if analysis.program(class, target).variants.is_empty() {
        return Ok(absent(analysis, class, target));
    }
    let outcome = build::build(analysis, class, target, &BuildOptions::default());
    finished(analysis, class, target, outcome, observer)
}

/// The job of a program that was built before.
pub fn job_of(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    built: Built,
    observer: &dyn Observer,
) -> Result<Job, Failure> {
    finished(analysis, class, target, Ok(built), observer)
}

pub(super) fn absent(analysis: &Analysis, class: ClassId, target: &Target) -> Job {
    let standing = standing::somewhere(&analysis.program(class, target));
    Job {
        class: analysis.class(class).name().to_owned(),
        program: Err(NoProgram::Absent(why_not(analysis, standing, target))),
        provenance: described(analysis, class, target),
        texts: BTreeMap::new(),
    }
}

fn finished(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    outcome: Result<Built, BuildError>,
    observer: &dyn Observer,
) -> Result<Job, Failure> {
    let mut provenance = described(analysis, class, target);
    let mut texts = BTreeMap::new();
    let program = match outcome {
        Ok(built) => {
            provenance.program = Some(built.identity);
            provenance.inputs = Some(built.inputs);
            texts = built.texts;
            report(observer, &analysis.sources, &built.warnings)?;
            Ok(Program {
                path: built.program,
                emulated: !built.runner.is_empty(),
                runner: built.runner,
            })
        }
        Err(error) => {
            let reason = unbuilt(analysis, &error);
            observer.unbuilt(build_failure(observer, analysis, error));
            Err(NoProgram::Unbuilt(reason))
        }
    };
    Ok(Job { class: analysis.class(class).name().to_owned(), program, provenance, texts })
}

/// The recorded description of a class. Its paths do not include the folder of the library.
pub(super) fn described(analysis: &Analysis, class: ClassId, target: &Target) -> Provenance {
    let home = embedded::home().ok();
    let root = home.as_ref().and_then(|h| h.suite.parent());
    provenance::class_provenance(analysis, class, target, root.unwrap_or(Path::new("")))
}

/// The producer of a run of these jobs, with the sources of the benchmarks. `arguments` is the
/// command line of the request; passwords in it are not recorded.
pub fn origin(analysis: &Analysis, jobs: &[Job], target: &Target, arguments: &[String]) -> Origin {
    let arguments = arguments.iter().map(|a| yamba_store::without_password(a));
    Origin {
        producer: Producer {
            version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
            arguments: arguments.collect(),
            compiler: build::compiler_version(analysis, target),
            ..Producer::default()
        },
        sources: sources(analysis, jobs),
        tags: Vec::new(),
    }
}

/// The sources of the programs of `jobs`, by hash.
fn sources(analysis: &Analysis, jobs: &[Job]) -> BTreeMap<String, String> {
    let mut sources = provenance::sources(analysis, jobs.iter().map(|j| &j.provenance));
    sources.extend(jobs.iter().flat_map(|job| job.texts.clone()));
    sources
}

/// The one-line reason that the run records. The full diagnostics have been shown.
fn unbuilt(analysis: &Analysis, error: &BuildError) -> String {
    let BuildError::Diagnostics(all) = error else {
        return format!("not built: {error}");
    };
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let Some(first) = all.iter().find(is_error) else {
        return "not built".to_owned();
    };
    let place = analysis.sources.line_column(first.primary.span);
    let path = &analysis.sources.file(first.primary.span.file).path;
    format!("not built: {path}:{}:{}: {}", place.line, place.column, first.message)
}

fn why_not(analysis: &Analysis, standing: World, target: &Target) -> String {
    match standing {
        World::Absent(needs) => needs,
        World::Incomplete(gaps) => {
            let all: Vec<String> = gaps.iter().map(|g| analysis.gap_text(g)).collect();
            format!("no port for {target} defines {}", all.join("; "))
        }
        World::Runs(_) => format!("nothing runs on {target}"),
    }
}

/// The composed code around a crash address. Converts the event's code to the form that `--compose`
/// prints.
pub fn listing(code: &event::Code, address: u64) -> Option<String> {
    let value = serde_json::to_value(code).ok()?;
    let code: Code = serde_json::from_value(value).ok()?;
    let (address, around) = (Some(address), Some(AROUND_A_CRASH));
    Some(disasm::render(&disasm::listing(&code), address, around))
}
