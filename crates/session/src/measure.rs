//! Building and measuring what a user names, or only planning it.

use std::collections::BTreeMap;

use yamba_lang::{ClassId, Target};
use yamba_record::Run;

use super::jobs::{grouped, jobs, listing, origin};
use super::keep::RunKeeper;
use super::remote::{self, Remote};
use super::select::{self, How, Names, Selection};
use super::{Failure, Observer, StoreChoice};
use yamba_harness::{
    self as run, CompressedEntry, Job, Measurement, NoProgram, Options, Rehearsal, Stop, UsageError,
};
use yamba_toolchain::build::BuildOptions;
use yamba_toolchain::suite_topics as groups;

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The benchmarks.
    pub names: Names,
    /// Of those, only benchmarks with one of these tags; all if there is none.
    pub tags: Vec<String>,
    /// Measures between this machine and another one.
    pub remote: Option<Remote>,
    /// The platform; this machine's without it.
    pub target: Option<String>,
    /// Parameters, effort and placement. The session fills in `preset` and `origin`.
    pub options: Options,
    /// The command line or the like that asked for the run, which records it.
    pub arguments: Vec<String>,
}

/// Built benchmarks, ready to be measured.
pub struct Prepared {
    /// What was read, and which of it was named.
    pub selection: Selection,
    /// The title of each benchmark's group, if there are several groups.
    pub groups: BTreeMap<String, String>,
    target: Target,
    jobs: Vec<Job>,
    options: Options,
    arguments: Vec<String>,
}

/// A run that has ended.
pub struct Measured {
    /// The run.
    pub run: Run<CompressedEntry>,
    /// Whether no benchmark could be built. Such a run is not stored.
    pub is_in_vain: bool,
    /// Whether the store has all of it.
    pub is_stored: bool,
}

/// Reads and builds what a request names.
///
/// # Errors
/// When a name, a tag or a file is wrong. A benchmark that cannot be built is no error: its entry of the run says why.
pub fn prepare(request: Request, observer: &dyn Observer) -> Result<Prepared, Failure> {
    let selection = select::select(&request.names, observer)?;
    let analysis = &selection.analysis;
    let target = super::target(request.target.as_deref(), analysis)?;
    let mut classes = request.classes(&selection)?;
    if let Some(remote) = &request.remote {
        let set = request.options.set.iter().map(|(name, _)| name);
        let swept = request.options.sweep.iter().map(|(name, _)| name);
        remote.check(set.chain(swept))?;
        classes = remote.choose(&selection, classes, &target)?;
    }
    let jobs = jobs(
        analysis,
        &classes,
        &target,
        &request.build_options(),
        observer,
    )?;
    let groups = grouped(analysis, &classes);
    let preset = request.remote.iter().flat_map(Remote::preset).collect();
    Ok(Prepared {
        groups,
        target,
        jobs,
        options: Options {
            preset,
            ..request.options
        },
        arguments: request.arguments,
        selection,
    })
}

impl Request {
    fn build_options(&self) -> BuildOptions {
        let options = &self.options;
        remote::build_options(
            self.remote.is_some() || remote::is_asked_for(&options.set, &options.sweep),
        )
    }

    /// The benchmarks that are meant, in the order in which they are measured.
    fn classes(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        let mut found = self.tagged(selection)?;
        // Several by one word stand in the order of the groups; what was named one by one, in that order.
        if selection.chosen.iter().any(|c| c.how == How::Pattern) {
            let analysis = &selection.analysis;
            found.sort_by_cached_key(|class| {
                let folder = groups::folder(analysis, *class).to_owned();
                let name = analysis.class(*class).name().to_owned();
                (groups::place(&folder), folder, name)
            });
        }
        Ok(found)
    }

    fn tagged(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        if self.tags.is_empty() {
            return selection.benchmarks();
        }
        let analysis = &selection.analysis;
        let has = |c: &ClassId, tag: &String| analysis.tags(*c).contains(tag);
        let mut found: Vec<ClassId> = if self.tags.iter().any(|t| t == "demonstration") {
            let listed = selection.chosen.iter();
            listed
                .map(|c| c.class)
                .filter(|c| analysis.is_listed(*c))
                .collect()
        } else {
            selection.benchmarks()?
        };
        if let Some(unknown) = self.tags.iter().find(|t| !found.iter().any(|c| has(c, t))) {
            return Err(
                Failure::new(format!("none of these benchmarks is tagged {unknown}"))
                    .help("`yamba list` shows the tags"),
            );
        }
        found.retain(|c| self.tags.iter().any(|t| has(c, t)));
        Ok(found)
    }
}

impl Prepared {
    /// Plans the run. Programs only describe themselves.
    ///
    /// # Errors
    /// When a parameter is not understood.
    pub fn rehearse(&self, stop: &Stop) -> Result<Rehearsal, Failure> {
        let plan = run::rehearse(&self.jobs, &self.options, stop);
        plan.map_err(|UsageError(text)| Failure::whole(text))
    }

    /// Measures, and stores what is measured at once.
    ///
    /// # Errors
    /// When a parameter is not understood, or a store that was named cannot be opened.
    pub fn measure(
        self,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Measured, Failure> {
        let analysis = &self.selection.analysis;
        let options = Options {
            origin: origin(analysis, &self.jobs, &self.target, &self.arguments),
            ..self.options
        };
        measured(&self.jobs, &options, &self.target, stop, store, observer)
    }
}

/// Measures jobs as one run, and stores what is measured at once.
pub(super) fn measured(
    jobs: &[Job],
    options: &Options,
    target: &Target,
    stop: &Stop,
    store: &StoreChoice,
    observer: &dyn Observer,
) -> Result<Measured, Failure> {
    let is_unbuilt = |job: &Job| matches!(job.program, Err(NoProgram::Unbuilt(_)));
    let is_in_vain = jobs.iter().all(is_unbuilt);
    let mut keeper = match is_in_vain {
        true => RunKeeper::none(observer),
        false => RunKeeper::open(store, observer)?,
    };
    let mut progress = observer.progress();
    let measurement = Measurement {
        jobs,
        options,
        isa: &target.isa,
        system: &target.system,
        progress: progress.as_mut(),
        stop,
        listing: &listing,
    };
    let run = measurement.packed(&mut keeper);
    let run = run.map_err(|UsageError(text)| Failure::whole(text))?;
    let is_stored = keeper.finish(&run);
    Ok(Measured {
        run,
        is_in_vain,
        is_stored,
    })
}
