//! Rebuilds the programs of one side of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use yamba_lang::Severity;
use yamba_record::{Benchmark, Run};

use super::super::jobs::{job_of, jobs, origin};
use super::super::{Failure, Observer, home_failure};
use super::inputs;
use yamba_harness::{self as run, Job};
use yamba_toolchain::build::{self, BuildOptions, Built, host};
use yamba_toolchain::embedded;
use yamba_toolchain::source_snapshot::SourceSnapshot;

/// The reason not to compile imported sources: a compiled program runs with all rights of the user.
const STRANGE: &str = "its sources came with a document, which anybody may have written; --trust-sources compiles them";

/// The programs of one side, rebuilt from the sources that its run stored.
#[derive(Default)]
pub(super) struct Side {
    pub jobs: BTreeMap<String, Job>,
    /// By class: why it has no program.
    missing: BTreeMap<String, String>,
    pub origin: run::Origin,
}

/// The reason why results of other harnesses are not re-measured.
const OTHER_PROGRAM: &str =
    "results of another program, without sources; `yamba ab` measures two builds of it together";

/// Why the program of a benchmark cannot be rebuilt, as far as known before compiling.
pub(super) fn lacks(run: &Run, benchmark: &Benchmark, trusts_documents: bool) -> Option<String> {
    if run.producer.is_of_another_program() {
        return Some(OTHER_PROGRAM.to_owned());
    }
    let is_strange = run.producer.from_document && !trusts_documents;
    let strange = is_strange.then(|| STRANGE.to_owned());
    strange.or_else(|| SourceSnapshot::lacks(run, benchmark))
}

/// Why the programs of `class` in `run` cannot be linked as before.
fn changed_library(run: &Run, class: &str) -> Option<String> {
    build::changed_library(inputs::recorded_inputs(run, class)?)
}

/// The program that measured `class`, if the cache still holds it.
fn kept_program(of: &[&Benchmark], class: &str) -> Option<Built> {
    let mut programs = of.iter().filter(|b| b.declaration.class == class);
    let identity = programs.find_map(|b| b.declaration.provenance.program.as_ref())?;
    build::kept_program(class, identity)
}

/// The program that measured `class`, if a library has changed since the run or since `other`: both
/// sides are measured with the programs of their runs, since a new compiler would make a difference
/// between them. `None`: the class can be built again. An error is the reason why it cannot.
fn linked(run: &Run, other: &Run, of: &[&Benchmark], class: &str) -> Result<Option<Built>, String> {
    let changed = changed_library(run, class);
    if changed.is_none() && changed_library(other, class).is_none() {
        return Ok(None);
    }
    match (kept_program(of, class), changed) {
        (None, Some(reason)) => Err(reason),
        (built, _) => Ok(built),
    }
}

impl Side {
    /// Rebuilds the programs of the benchmarks `of`, none of which [lacks](lacks) its sources.
    /// `other` is the run that is compared with `run`.
    pub fn rebuilt(
        run: &Run,
        other: &Run,
        of: &[&Benchmark],
        arguments: &[String],
        observer: &dyn Observer,
    ) -> Result<Side, Failure> {
        let mut side = Side::default();
        let classes: BTreeSet<&str> = of.iter().map(|b| b.declaration.class.as_str()).collect();
        let includes = match SourceSnapshot::includes(run, &classes) {
            Ok(includes) => includes,
            Err(reason) => {
                side.miss(&classes, &reason);
                return Ok(side);
            }
        };
        let home = embedded::home().map_err(home_failure)?;
        let stored = SourceSnapshot::new(run, &classes, &home)?;
        let analysis = yamba_lang::analyse(stored.declaring(&classes), &stored);
        let mut diagnostics = analysis.diagnostics.iter();
        if let Some(fault) = diagnostics.find(|d| d.severity == Severity::Error) {
            let fault = &fault.message;
            let reason = format!("its stored sources are understood no more: {fault}");
            side.miss(&classes, &reason);
            return Ok(side);
        }
        let target = host();
        let mut recorded = BTreeMap::new();
        let mut ids = Vec::new();
        let mut kept = Vec::new();
        for class in &classes {
            let Some(id) = analysis.find_class(class) else {
                continue;
            };
            if let Some(inputs) = inputs::recorded_inputs(run, class) {
                recorded.insert((*class).to_owned(), inputs.flags.clone());
            }
            match linked(run, other, of, class) {
                Ok(Some(built)) => kept.push(job_of(&analysis, id, &target, built, observer)?),
                Ok(None) => ids.push(id),
                Err(reason) => side.miss(&BTreeSet::from([*class]), &reason),
            }
        }
        let options = BuildOptions {
            includes,
            recorded,
            elsewhere: run.producer.elsewhere,
            ..BuildOptions::default()
        };
        let mut built = jobs(&analysis, &ids, &target, &options, observer)?;
        built.extend(kept);
        side.origin = origin(&analysis, &built, &target, arguments);
        side.origin.producer.elsewhere = options.elsewhere;
        built.into_iter().for_each(|job| side.add(run, other, job));
        Ok(side)
    }

    /// Adds a job, or the reason why it cannot be used.
    fn add(&mut self, run: &Run, other: &Run, job: Job) {
        let reason = match &job.program {
            Ok(_) => inputs::changed(run, other, &job),
            Err(run::NoProgram::Absent(reason) | run::NoProgram::Unbuilt(reason)) => {
                Some(reason.clone())
            }
        };
        match reason {
            Some(reason) => drop(self.missing.insert(job.class, reason)),
            None => drop(self.jobs.insert(job.class.clone(), job)),
        }
    }

    fn miss(&mut self, classes: &BTreeSet<&str>, reason: &str) {
        let each = classes.iter();
        self.missing.extend(each.map(|class| ((*class).to_owned(), reason.to_owned())));
    }

    pub fn program(&self, class: &str) -> Option<&String> {
        self.jobs.get(class)?.provenance.program.as_ref()
    }

    pub fn why_missing(&self, class: &str) -> String {
        let reason = self.missing.get(class).cloned();
        reason.unwrap_or_else(|| "its class is not in the stored sources".to_owned())
    }
}
