//! Builds and measures the benchmarks that a user names, or only plans the run.

use std::collections::BTreeMap;
use std::time::Duration;

use yamba_lang::compile::CompileKey;
use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::Run;

use super::jobs::{build_failure, grouped, listing, origin};
use super::prebuilt::{Programs, programs};
use super::remote::{self, Remote};
use super::select::{self, How, Names, Selection};
use super::store_sink::StoreSink;
use super::{Failure, Observer, StoreChoice, neighbours};
use yamba_harness::{self as run, DryRun, Job, Measurement, NoProgram, Options, Progress, Stop};
use yamba_toolchain::build::{self, BuildOptions};
use yamba_toolchain::suite_topics;

/// A request to measure.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The benchmarks.
    pub names: Names,
    /// Only benchmarks with one of these tags; if empty, all.
    pub tags: Vec<String>,
    /// Another machine: the benchmarks measure between this machine and that one.
    pub remote: Option<Remote>,
    /// Options of the compiler for the benchmarks' own code, in the order of the command line.
    pub compile: Vec<(CompileKey, String)>,
    /// The target platform; by default this machine's.
    pub target: Option<String>,
    /// Whether to measure prebuilt programs, also where a compiler is.
    pub prebuilt: bool,
    /// Parameters, effort, placement, and the tags of the run. The session fills in `own` and the
    /// rest of `origin`.
    pub options: Options,
    /// The command line or other origin of the request; the run records it.
    pub arguments: Vec<String>,
}

/// Built benchmarks, ready to be measured.
pub struct Prepared {
    /// The analysed files, and the classes that the names select.
    pub selection: Selection,
    /// The title of each benchmark's topic, if there are several.
    pub topics: BTreeMap<String, String>,
    target: Target,
    jobs: Vec<Job>,
    options: Options,
    /// Whether the programs start on another machine, too.
    elsewhere: bool,
    /// The compiler of prebuilt programs.
    prebuilt_by: Option<String>,
    arguments: Vec<String>,
}

/// A run that has ended.
pub struct Measured {
    pub run: Run,
    /// Whether no benchmark could be built. Such a run is not stored.
    pub is_in_vain: bool,
    /// Whether the store has the complete run.
    pub is_stored: bool,
}

/// Reads and builds the benchmarks of a request.
///
/// # Errors
/// If a name, a tag or a file is invalid. A benchmark that cannot be built is not an error: its
/// entry in the run holds the reason.
pub fn prepare(request: Request, observer: &dyn Observer) -> Result<Prepared, Failure> {
    prepare_while(request, &|_| true, observer)
}

/// As [`prepare`], but begins to build a benchmark only while `may_begin` holds for the number of
/// builds that have begun before. The others are left out.
///
/// # Errors
/// As [`prepare`].
pub(super) fn prepare_while(
    request: Request,
    may_begin: &(dyn Fn(usize) -> bool + Sync),
    observer: &dyn Observer,
) -> Result<Prepared, Failure> {
    let selection = select::select(&request.names, observer)?;
    let analysis = &selection.analysis;
    let target = super::target(request.target.as_deref(), analysis)?;
    let mut classes = request.classes(&selection)?;
    let values = remote::parameter_values(&request.options.set, &request.options.sweep);
    let mut own = Vec::new();
    if let Some(remote) = &request.remote {
        classes = remote.choose(&selection, classes, &target)?;
        own = remote.own(analysis, &classes, &target, &values)?;
    }
    let elsewhere =
        request.remote.is_some() || remote::names_a_machine(analysis, &classes, &target, &values);
    let command_line = build::command_line_flags(&request.compile, analysis, &target)
        .map_err(|e| build_failure(observer, analysis, e))?;
    let build_options = BuildOptions { elsewhere, command_line, ..BuildOptions::default() };
    let wanted = request.prebuilt;
    let Programs { jobs, prebuilt_by } =
        programs(analysis, &classes, &target, &build_options, wanted, may_begin, observer)?;
    let topics = grouped(analysis, &classes);
    Ok(Prepared {
        topics,
        target,
        jobs,
        options: Options { own, ..request.options },
        elsewhere: elsewhere || prebuilt_by.is_some(),
        prebuilt_by,
        arguments: request.arguments,
        selection,
    })
}

impl Request {
    /// The request for a bundle.
    pub fn for_bundle(
        names: Names,
        target: Option<String>,
        quick: bool,
        arguments: Vec<String>,
    ) -> Request {
        Request {
            names,
            target,
            options: if quick { Options::quick() } else { Options::default() },
            arguments,
            ..Request::default()
        }
    }

    /// The selected benchmarks, in measuring order.
    pub(super) fn classes(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        let mut found = self.tagged(selection)?;
        // A pattern selects classes in the order of the topics. Classes named one by one keep the
        // order of the arguments.
        if selection.chosen.iter().any(|c| c.how == How::Pattern) {
            by_topic(&selection.analysis, &mut found);
        }
        Ok(found)
    }

    fn tagged(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        if self.tags.is_empty() {
            return self.without_optional(selection);
        }
        let analysis = &selection.analysis;
        let has = |c: &ClassId, tag: &str| analysis.has_tag(*c, tag);
        let mut found: Vec<ClassId> = if self.tags.iter().any(|t| t == "demonstration") {
            let chosen = selection.chosen.iter().map(|c| c.class);
            chosen.filter(|c| analysis.is_listed(*c)).collect()
        } else {
            selection.benchmarks()?
        };
        if let Some(unknown) = self.tags.iter().find(|t| !found.iter().any(|c| has(c, t))) {
            return Err(Failure::new(format!("none of these benchmarks is tagged {unknown}"))
                .help("`yamba list` shows the tags"));
        }
        found.retain(|c| self.tags.iter().any(|t| has(c, t)));
        Ok(found)
    }

    /// The selected benchmarks. The whole suite is measured without benchmarks tagged `optional`.
    fn without_optional(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        let mut found = selection.benchmarks()?;
        if self.names.names.is_empty() {
            found.retain(|c| !selection.analysis.has_tag(*c, "optional"));
        }
        Ok(found)
    }
}

/// Sorts classes in the order of the topics.
pub(super) fn by_topic(analysis: &Analysis, classes: &mut [ClassId]) {
    classes.sort_by_cached_key(|class| {
        let folder = suite_topics::folder(analysis, *class).to_owned();
        let name = analysis.class(*class).name().to_owned();
        (suite_topics::place(&folder), folder, name)
    });
}

impl Prepared {
    /// Plans the run. Each program only describes itself; nothing is measured.
    ///
    /// # Errors
    /// If a parameter is invalid.
    pub fn dry_run(&self, stop: &Stop) -> Result<DryRun, Failure> {
        let machine = neighbours::machine_of_run(&self.target);
        let plan = run::dry_run(&self.jobs, &self.options, stop, machine.as_ref());
        Ok(plan?)
    }

    /// Whether no benchmark has a program. The faults have been shown.
    pub fn is_in_vain(&self) -> bool {
        is_in_vain(&self.jobs)
    }

    /// Limits the time of the run: launches that do not fit are left out.
    pub(super) fn within(mut self, limit: Duration) -> Prepared {
        self.options.run_limit = Some(limit);
        self
    }

    /// Number of benchmarks to measure.
    pub(super) fn count(&self) -> usize {
        self.jobs.len()
    }

    /// Measures the benchmarks and stores each result immediately.
    ///
    /// # Errors
    /// If a parameter is invalid, or a store that the user named cannot be opened.
    pub fn measure(
        self,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Measured, Failure> {
        let analysis = &self.selection.analysis;
        let mut origin = origin(analysis, &self.jobs, &self.target, &self.arguments);
        origin.producer.elsewhere = self.elsewhere;
        origin.producer.compiler = self.prebuilt_by.or(origin.producer.compiler);
        origin.tags = self.options.origin.tags;
        let options = Options { origin, ..self.options };
        measured(&self.jobs, &options, &self.target, stop, store, observer)
    }
}

fn is_in_vain(jobs: &[Job]) -> bool {
    jobs.iter().all(|job| matches!(job.program, Err(NoProgram::Unbuilt(_))))
}

/// Measures jobs as one run and stores each result immediately.
pub(super) fn measured(
    jobs: &[Job],
    options: &Options,
    target: &Target,
    stop: &Stop,
    store: &StoreChoice,
    observer: &dyn Observer,
) -> Result<Measured, Failure> {
    let is_in_vain = is_in_vain(jobs);
    let mut sink = if is_in_vain {
        StoreSink::none(observer)
    } else {
        StoreSink::open(store, store.named().is_some(), observer)?
    };
    let mut progress = observer.progress();
    let run = measurement(jobs, options, target, stop, progress.as_mut()).run_into(&mut sink)?;
    let is_stored = sink.finish(&run);
    Ok(Measured { run, is_in_vain, is_stored })
}

/// Describes a measurement of `jobs`, with disassembled code around a crash.
pub(super) fn measurement<'a>(
    jobs: &'a [Job],
    options: &'a Options,
    target: &'a Target,
    stop: &'a Stop,
    progress: &'a mut dyn Progress,
) -> Measurement<'a> {
    Measurement {
        jobs,
        options,
        isa: &target.isa,
        system: &target.system,
        progress,
        stop,
        listing: &listing,
        neighbours: super::neighbours::neighbours(),
    }
}
