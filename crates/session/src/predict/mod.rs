//! Predicts applications on systems: `systems` finds the runs and measures missing costs,
//! `application` relates a vector to the machine of its trace, `measured` runs the application
//! itself, and `file_reads` has the time of file reads with less memory.

mod application;
pub mod file_reads;
mod measured;
mod notice;
mod systems;

use std::path::PathBuf;
use std::time::Instant;

use yamba_harness::Stop;
use yamba_jvm::library::Jvm;
use yamba_predict::Predictions;
use yamba_predict::change::{CostChange, Replacement, without_started};
use yamba_predict::prediction::several::ratio;
use yamba_predict::prediction::total::{Total, scores};
use yamba_predict::vector::Platform;
use yamba_predict::{NULL_CALL, Prediction, Vector, ranked};

use super::{Failure, Observer, StoreChoice, costs, java, vectors};
use application::{Application, use_common_basis};
use file_reads::FileReads;
pub use notice::{Doubt, Notice};
use systems::{Measuring, System, Systems};

#[derive(Debug, Default)]
pub struct PredictionRequest {
    /// The applications: vectors in files, or stored ones.
    pub vectors: Vec<PathBuf>,
    /// The version that ratios are taken to.
    pub against: Option<PathBuf>,
    /// The runs of the systems. Without these and `jvms`, the system is this machine.
    pub runs: Vec<String>,
    /// Java virtual machines on this machine.
    pub jvms: Vec<Jvm>,
    /// A run of the machine where the vectors were traced. `None`: the latest one with costs.
    pub traced_on: Option<String>,
    /// Whether all costs of this machine are measured, however long that takes.
    pub is_thorough: bool,
    /// Hypothetical changes, which the version of `against` does not get.
    pub changes: Changes,
    /// The benchmark whose figure scales user time.
    pub user_scale: Option<String>,
    /// Whether elapsed and processor time are predicted, too.
    pub elapsed: bool,
    /// Whether the applications run here, too.
    pub measures: bool,
    /// File reads whose time is predicted.
    pub file_reads: Option<FileReads>,
    /// The store of runs and vectors.
    pub store: StoreChoice,
    /// The command line, which runs of measured costs record.
    pub arguments: Vec<String>,
}

/// Hypothetical changes of applications and costs.
#[derive(Debug, Default)]
pub struct Changes {
    /// Other costs.
    pub costs: Vec<CostChange>,
    /// Other calls.
    pub replacements: Vec<Replacement>,
    /// Whether the processes that the application starts are removed.
    pub without_processes: bool,
    /// The vector whose times calls take.
    pub context: Option<PathBuf>,
}

/// The functions that the use case calls while it runs.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    /// Progress of building and measuring costs.
    pub observer: &'a dyn Observer,
    /// Events that the user should know about.
    pub notice: &'a dyn Fn(Notice),
    /// Called before the first measurement. Returns the stop that the user's signals request from
    /// then on.
    pub stop: &'a dyn Fn() -> Result<Stop, Failure>,
}

/// The predictions of a request.
#[derive(Debug)]
pub struct PredictionResult {
    pub predictions: Predictions,
    /// Whether the user stopped the measurement of costs, so that predictions are from those known
    /// by then.
    pub is_stopped: bool,
}

/// An application of a request: its vector before and after the changes.
struct Subject {
    /// As traced, without removed processes.
    traced: Vector,
    /// With replaced calls.
    changed: Vector,
    /// The removed kernel time per unit, in ns.
    removed_ns: f64,
}

/// Predicts all applications on all systems. `begun` is when the time for measuring costs began.
///
/// # Errors
/// If a vector or run cannot be read, a change does not apply, or a system lacks the costs.
pub fn predict(
    request: &PredictionRequest,
    begun: Instant,
    callbacks: Callbacks,
) -> Result<PredictionResult, Failure> {
    let subjects = request.subjects()?;
    let context = request.context_vector()?;
    let primitives = request.primitives(&subjects, context.as_ref());
    let measuring = Measuring { begun, arguments: &request.arguments, callbacks };
    let mut runs = Systems::new(&request.store, primitives, measuring);
    let systems = request.systems(&mut runs, &subjects)?;
    let mut applications = request.related(&subjects, context.as_ref(), &mut runs, &systems)?;
    let against = request.against.is_some().then(|| {
        use_common_basis(&mut applications, &systems);
        applications.pop()
    });
    let measures = request.measures && !runs.is_stopped();
    let against = against.flatten();
    let mut found =
        request.predictions(&applications, against.as_ref(), &systems, measures, callbacks)?;
    if let Some(reads) = &request.file_reads {
        found.file_times = reads.times(&systems)?;
    }
    Ok(PredictionResult { predictions: found, is_stopped: runs.is_stopped() })
}

impl PredictionRequest {
    /// Reads the vectors and changes them. That of `against` comes last.
    fn subjects(&self) -> Result<Vec<Subject>, Failure> {
        let paths = self.vectors.iter().chain(&self.against);
        let mut subjects = Vec::new();
        for path in paths {
            subjects.push(Subject::new(vectors::load(path, &self.store)?));
        }
        for subject in subjects.iter_mut().take(self.vectors.len()) {
            subject.change(&self.changes)?;
        }
        Ok(subjects)
    }

    /// Loads the vector of `context`, without its processes if those of the application are
    /// removed.
    fn context_vector(&self) -> Result<Option<Vector>, Failure> {
        let Some(path) = &self.changes.context else {
            return Ok(None);
        };
        let mut other = vectors::load(path, &self.store)?;
        let has_started = other.primitives.iter().any(|used| used.started.is_some());
        if self.changes.without_processes && has_started {
            without_started(&mut other).map_err(nothing_without_processes)?;
        }
        Ok(Some(other))
    }

    /// The primitives of all vectors, the one that stands for others, and those that are used
    /// besides.
    fn primitives(&self, subjects: &[Subject], context: Option<&Vector>) -> Vec<String> {
        let own = subjects.iter().flat_map(|subject| [&subject.traced, &subject.changed]);
        let all = own.chain(context);
        let each = all.flat_map(|vector| {
            let uses = vector.primitives.iter().map(|used| used.name.clone());
            let waits = self.scores(vector);
            uses.chain(vector.clock_readings().map(|readings| readings.name)).chain(waits)
        });
        each.chain([NULL_CALL.to_owned()]).chain(self.besides()).collect()
    }

    /// The primitives whose elapsed costs the total of a vector uses, if it is wanted.
    fn scores(&self, vector: &Vector) -> Vec<String> {
        if self.elapsed { scores(vector) } else { Vec::new() }
    }

    /// The primitives whose costs are used beside those of the vectors.
    fn besides(&self) -> Vec<String> {
        let changed = self.changes.costs.iter().map(|change| change.name().to_owned());
        let reads = self.file_reads.iter().flat_map(|_| file_reads::primitives());
        changed.chain(reads.map(str::to_owned)).collect()
    }

    /// The systems, with changed costs.
    fn systems(&self, runs: &mut Systems, subjects: &[Subject]) -> Result<Vec<System>, Failure> {
        let traced: Vec<&Vector> = subjects.iter().map(|subject| &subject.traced).collect();
        let mut systems = Vec::new();
        for reference in &self.runs {
            systems.push(runs.named(reference)?);
        }
        for jvm in &self.jvms {
            systems.push(runs.java_system(jvm.clone(), &traced)?);
        }
        if systems.is_empty() {
            systems.push(self.default_system(runs, subjects)?);
        }
        for system in &mut systems {
            if self.measures && system.java.is_none() {
                runs.check_machine(system)?;
            }
            for change in &self.changes.costs {
                let applied = change.apply(&mut system.costs);
                applied.map_err(|e| {
                    Failure::new(format!("--cost, on {}: {e}", system.name)).help(SPELLING)
                })?;
            }
        }
        Ok(systems)
    }

    /// This machine, or the virtual machine of the vectors here.
    fn default_system(&self, runs: &mut Systems, subjects: &[Subject]) -> Result<System, Failure> {
        let traced: Vec<&Vector> = subjects.iter().map(|subject| &subject.traced).collect();
        match java_machine(&traced)? {
            Some(_) if self.is_thorough => {
                let fault = "--thorough: the missing costs of a Java virtual machine are always measured in full";
                Err(Failure::new(fault).help("leave it out"))
            }
            Some(jvm) => runs.java_system(jvm, &traced),
            None => {
                let changes = &self.changes;
                let has_changes = changes.context.is_some()
                    || changes.without_processes
                    || !changes.costs.is_empty();
                let mut applications = Vec::new();
                for Subject { traced, changed, .. } in subjects {
                    applications.push(costs::Application {
                        waits: self.scores(changed),
                        vector: changed.clone(),
                        is_changed: has_changes || traced != changed,
                        traced: runs.origin(traced, self.traced_on.as_deref())?,
                    });
                }
                runs.here(&applications, &self.besides(), self.is_thorough)
            }
        }
    }

    /// The applications with the machines of their traces, in the context of another application
    /// if the request has one.
    fn related(
        &self,
        subjects: &[Subject],
        context: Option<&Vector>,
        runs: &mut Systems,
        systems: &[System],
    ) -> Result<Vec<Application>, Failure> {
        let mut applications = Vec::new();
        for Subject { traced, changed, removed_ns } in subjects {
            let reference = runs.trace_system(traced, self.traced_on.as_deref(), systems)?;
            let application = Application::new(traced, changed.clone(), reference, *removed_ns);
            applications.push(application);
        }
        if let (Some(other), Some(path)) = (context, &self.changes.context) {
            for application in applications.iter_mut().take(self.vectors.len()) {
                application.take_context(other, path)?;
            }
            let base = applications.last().filter(|_| self.against.is_some());
            if base.is_some_and(Application::has_no_times) {
                let fault = "--context: the vector of --against has no times of a trace";
                return Err(
                    Failure::new(fault).help("trace the application of --against, or leave it out")
                );
            }
        }
        Ok(applications)
    }

    /// `measures`: the applications run here, too.
    fn predictions(
        &self,
        applications: &[Application],
        against: Option<&Application>,
        systems: &[System],
        measures: bool,
        callbacks: Callbacks,
    ) -> Result<Predictions, Failure> {
        let mut found = Predictions::default();
        let scale = self.user_scale.as_deref();
        for application in applications {
            let start = found.predictions.len();
            let vector = &application.vector;
            let is_kernel = vector.platform() == Platform::Kernel;
            let times = (measures && is_kernel)
                .then(|| measured::kernel_times(vector, callbacks))
                .transpose()?;
            for system in systems {
                let mut version = if self.elapsed {
                    application.with_total(system, scale)?
                } else {
                    application.on(system, scale)?
                };
                if let Some(times) = times {
                    version.compare_with(times);
                }
                if let Some(here) = system.java.as_ref().filter(|_| measures) {
                    version.compare_with(measured::java_times(vector, here, callbacks)?);
                }
                if let Some(against) = against {
                    same_unit(vector, &against.vector)?;
                    found.ratios.push(ratio(&version, &against.on(system, scale)?));
                }
                found.predictions.push(version);
            }
            if systems.len() > 1 {
                let own: Vec<&Prediction> = found.predictions[start..].iter().collect();
                found.ranking.extend(ranked(&own));
            }
        }
        if applications.len() > 1 {
            let sums = (0..systems.len()).filter_map(|index| sum_on(index, systems.len(), &found));
            found.sums = sums.collect();
        }
        Ok(found)
    }
}

/// Refuses versions with different units of work: the ratio of their times says nothing.
fn same_unit(version: &Vector, base: &Vector) -> Result<(), Failure> {
    if version.unit == base.unit {
        return Ok(());
    }
    Err(Failure::new(format!(
        "--against: a unit of {} is a {}, and one of {} a {}",
        version.application, version.unit, base.application, base.unit
    ))
    .help("`yamba trace --unit NAME --units N` names and counts the units of both in the same way"))
}

/// The sum of the totals on the system of this index: each application has a prediction on each
/// system. `None`: totals are not predicted.
fn sum_on(index: usize, systems: usize, found: &Predictions) -> Option<Total> {
    let on_it = found.predictions.iter().skip(index).step_by(systems);
    let totals: Option<Vec<&Total>> = on_it.map(|p| p.total.as_ref()).collect();
    Total::sum(&totals?)
}

impl Subject {
    /// A vector without changes.
    fn new(traced: Vector) -> Subject {
        Subject { changed: traced.clone(), traced, removed_ns: 0.0 }
    }

    fn change(&mut self, changes: &Changes) -> Result<(), Failure> {
        if changes.without_processes {
            self.removed_ns =
                without_started(&mut self.traced).map_err(nothing_without_processes)?;
            self.changed = self.traced.clone();
        }
        for replacement in &changes.replacements {
            let applied = replacement.apply(&mut self.changed);
            applied.map_err(|e| Failure::new(format!("--replace: {e}")).help(SPELLING))?;
        }
        Ok(())
    }
}

fn nothing_without_processes(fault: String) -> Failure {
    Failure::new(format!("--without-processes: {fault}"))
        .help("trace the application again, with a load that makes it start processes")
}

/// The virtual machine of the vectors' commands. `None`: they do not count calls of Java.
fn java_machine(vectors: &[&Vector]) -> Result<Option<Jvm>, Failure> {
    let is_java = |vector: &&&Vector| vector.platform() == Platform::ClassLibrary;
    let first = vectors.iter().find(is_java);
    let jvm = first.map(|vector| Jvm::from_command(&vector.command));
    jvm.transpose().map_err(java::failure)
}

const SPELLING: &str = "a primitive is written as there, with its size after `@` if it has one";
