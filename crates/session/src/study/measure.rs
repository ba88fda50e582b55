//! Opens a study with its benchmarks, and measures them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use yamba_lang::{ClassId, Target};
use yamba_record::run::SourceFile;

use super::super::jobs::{grouped, origin};
use super::super::measure::{Measured, measured};
use super::super::prebuilt::{Programs, programs};
use super::super::remote;
use super::super::select::{self, Names, Selection, did_you_mean};
use super::super::{Failure, Observer, StoreChoice, neighbours, target};
use super::find::{Source, source};
use super::{Measurement, Study, check, jobs};
use yamba_harness::{self as run, DryRun, Job, Options, Origin, Stop, UsageError};
use yamba_toolchain::build::BuildOptions;
use yamba_toolchain::provenance::hash;

/// A study, with values for its parameters.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The name of a study that Yamba ships, or a file.
    pub named: String,
    /// Values that replace those of the study's parameters.
    pub set: Vec<(String, String)>,
    /// Folders to search for classes before the library and the suite.
    pub libraries: Vec<PathBuf>,
    /// The target platform; by default this machine's.
    pub target: Option<String>,
    /// Whether to measure prebuilt programs, also where a compiler is.
    pub prebuilt: bool,
}

/// A study whose benchmarks, parameters, evidence and units have been checked.
pub struct Opened {
    /// The text of the study.
    pub source: Source,
    /// The parsed study, with the values of the request.
    pub study: Study,
    /// Its benchmarks.
    pub selection: Selection,
    target: Target,
    prebuilt: bool,
}

/// The built benchmarks of a study, ready to be measured.
pub struct Prepared<'a> {
    opened: &'a Opened,
    /// The title of each benchmark's topic, if there are several.
    pub topics: BTreeMap<String, String>,
    jobs: Vec<Job>,
    options: Options,
}

/// Reads a study, and checks that everything that it names exists.
///
/// # Errors
/// If the study or a file of its benchmarks has an error, or names something that does not exist.
pub fn open(request: &Request, observer: &dyn Observer) -> Result<Opened, Failure> {
    let source = source(&request.named)?;
    let mut study = source.parse()?;
    set(&mut study, &request.set)?;
    let selection = selection(&study, &source, &request.libraries, observer)?;
    let target = target(request.target.as_deref(), &selection.analysis)?;
    check::all(&study, &source, &selection.analysis, &target)?;
    Ok(Opened { source, study, selection, target, prebuilt: request.prebuilt })
}

/// Sets parameters to these values in each measurement that has them.
///
/// # Errors
/// If the study has no parameter of that name.
pub fn set(study: &mut Study, values: &[(String, String)]) -> Result<(), Failure> {
    for (name, value) in values {
        let mut is_known = false;
        for measurement in &mut study.measurements {
            let Measurement { set, sweep, .. } = measurement;
            let before = set.len() + sweep.len();
            set.retain(|(n, _)| n != name);
            sweep.retain(|(n, _)| n != name);
            if set.len() + sweep.len() < before {
                set.push((name.clone(), value.clone()));
                is_known = true;
            }
        }
        if !is_known {
            return Err(unknown(study, name));
        }
    }
    Ok(())
}

fn unknown(study: &Study, name: &str) -> Failure {
    let all = study.measurements.iter().flat_map(Measurement::parameters);
    let mut known: Vec<String> = all.cloned().collect();
    known.sort();
    known.dedup();
    let help =
        did_you_mean(name, &known).unwrap_or_else(|| format!("it names {}", known.join(", ")));
    Failure::new(format!("--set {name}: the study names no parameter `{name}`")).help(help)
}

fn selection(
    study: &Study,
    source: &Source,
    libraries: &[PathBuf],
    observer: &dyn Observer,
) -> Result<Selection, Failure> {
    check::benchmarks(study, source, &select::names(libraries)?)?;
    let mut names: Vec<String> = Vec::new();
    for measurement in &study.measurements {
        if !names.contains(&measurement.benchmark) {
            names.push(measurement.benchmark.clone());
        }
    }
    let libraries = libraries.to_vec();
    select::select(&Names { names, libraries }, observer)
}

impl Opened {
    /// Builds the benchmarks of the study. The run records `arguments`, the command line or other
    /// origin of the request.
    ///
    /// # Errors
    /// If the library cannot be read. A benchmark that cannot be built is not an error: its entry
    /// in the run holds the reason.
    pub fn prepare(
        &self,
        options: Options,
        arguments: &[String],
        observer: &dyn Observer,
    ) -> Result<Prepared<'_>, Failure> {
        let analysis = &self.selection.analysis;
        let classes: Vec<ClassId> = self.selection.chosen.iter().map(|c| c.class).collect();
        let build_options = self.build_options(&classes);
        let Programs { jobs: built, prebuilt_by } = programs(
            analysis,
            &classes,
            &self.target,
            &build_options,
            self.prebuilt,
            &|_| true,
            observer,
        )?;
        let (jobs, own) = jobs::jobs(&self.study, &built);
        let mut origin = origin(analysis, &built, &self.target, arguments);
        origin.producer.elsewhere = build_options.elsewhere || prebuilt_by.is_some();
        origin.producer.compiler = prebuilt_by.or(origin.producer.compiler);
        origin.tags = options.origin.tags.clone();
        record(&self.source, &mut origin);
        Ok(Prepared {
            opened: self,
            topics: grouped(analysis, &classes),
            jobs,
            options: Options { own, origin, ..options },
        })
    }

    /// The options to build the programs of the study.
    fn build_options(&self, classes: &[ClassId]) -> BuildOptions {
        let all = self.study.measurements.iter();
        let values: Vec<_> = all.flat_map(|m| remote::parameter_values(&m.set, &m.sweep)).collect();
        let analysis = &self.selection.analysis;
        BuildOptions {
            elsewhere: remote::names_a_machine(analysis, classes, &self.target, &values),
            ..BuildOptions::default()
        }
    }
}

impl Prepared<'_> {
    /// Plans the run. Each program only describes itself; nothing is measured.
    ///
    /// # Errors
    /// If a benchmark refuses a value of the study.
    pub fn dry_run(&self, stop: &Stop) -> Result<DryRun, Failure> {
        let machine = neighbours::machine_of_run(&self.opened.target);
        let plan = run::dry_run(&self.jobs, &self.options, stop, machine.as_ref());
        plan.map_err(|UsageError(text)| self.opened.source.refused(&text))
    }

    /// Measures the benchmarks and stores each result immediately.
    ///
    /// # Errors
    /// If a benchmark refuses a value of the study, or a store that the user named cannot be
    /// opened.
    pub fn measure(
        &self,
        stop: &Stop,
        store: &StoreChoice,
        observer: &dyn Observer,
    ) -> Result<Measured, Failure> {
        let target = &self.opened.target;
        measured(&self.jobs, &self.options, target, stop, store, observer)
    }
}

/// Records the study in the origin of its run, and adds its text to the sources.
fn record(source: &Source, origin: &mut Origin) {
    let hash = hash(&source.text);
    origin.producer.study = Some(SourceFile { path: source.path.clone(), hash: hash.clone() });
    origin.sources.insert(hash, source.text.clone());
}
