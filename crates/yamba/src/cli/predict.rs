//! `yamba predict`

mod application;
mod files;
mod measure;
mod page;
mod system;
mod table;
mod words;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use yamba_jvm::library::Jvm;
use yamba_predict::change::{CostChange, Replacement, without_started};
use yamba_predict::document::Predictions;
use yamba_predict::ratio::ratio;
use yamba_predict::vector::Platform;
use yamba_predict::{NULL_CALL, Prediction, READING, Vector, ranked};
use yamba_session::{costs, vectors};

use super::{Answer, Failure, StoreOption, java, output};
use application::{Application, common_basis};
use files::FileOptions;
use system::{Measuring, System, Systems};

/// Predict what an application costs on a machine
///
/// An application vector says how often the application uses each primitive of the platform for one
/// unit of its work. A run has the cost of each primitive whose benchmark it measured. The sum of
/// the products is the kernel time of a unit, with an interval. If the vector has traced times,
/// these are the level, and the costs only carry them from the machine of the trace to others;
/// without them, a prediction is usually too low, since benchmarks find their caches warm. User
/// time is not predicted.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba predict server.vector                          on this machine; the costs are measured once
  yamba predict nginx --on latest                      the latest stored vector of nginx
  yamba predict server.vector --on latest --on other.json   ranks systems
  yamba predict server.vector --on other.json --traced-on base   from the machine of `base` to another one
  yamba predict new.vector --against old.vector        the ratio of two versions
  yamba predict server.vector --cost 'connect(tcp)=0.5x'     what if a primitive cost less?
  yamba predict server.vector --replace 'read(file)@4K*16=read(file)@64K'   what if the program changed?
  yamba predict cgi.vector --replace 'fork=' --context static.vector   what if it changed, and calls then took as long as in static.vector?
  yamba predict server.vector --on other.json --user-scale int_mul   user time, too
  yamba predict server.vector --on latest --on other.json --page page.html   stacked bars
  yamba predict server.vector --files server.files --memory 512M   the time of its file reads with less memory
  yamba predict app.vector --jvm java --jvm /opt/jdk-25/bin/java   ranks Java virtual machines
  yamba predict server.vector --measure                runs the application here, and prints the error

A run is named by its id or the beginning of one, a tag, `latest`, `latest~N`, or the file of its document.")]
pub(super) struct Predict {
    /// Application vectors: files, or stored ones by application, tag, id, `latest-vector` or
    /// `latest-vector~N`
    #[arg(value_name = "VECTOR", required = true)]
    vectors: Vec<PathBuf>,
    /// The run that measured the costs; several are ranked [default: the best figures of all stored
    /// runs of this machine; missing ones are measured and stored]
    #[arg(long, value_name = "RUN")]
    on: Vec<String>,
    /// For Java: a virtual machine on this machine with its options, such as `java
    /// -XX:TieredStopAtLevel=1`; several are ranked. Missing costs are measured once
    #[arg(long, value_name = "COMMAND", value_parser = java::jvm)]
    jvm: Vec<Jvm>,
    /// A run of the machine where the vectors were traced [default: the latest one with costs]
    #[arg(long, value_name = "RUN", hide_short_help = true)]
    traced_on: Option<String>,
    /// The version that ratios are taken to
    #[arg(long, value_name = "VECTOR", hide_short_help = true)]
    against: Option<PathBuf>,
    /// Measure the costs of all primitives of this machine, which takes minutes [default: within a
    /// minute, those that no stored run has and that the predictions need]
    #[arg(long, conflicts_with_all = ["on", "jvm"], hide_short_help = true)]
    thorough: bool,
    /// Another cost of a primitive: NAME=FACTORx
    #[arg(long, value_name = "CHANGE", value_parser = CostChange::read)]
    cost: Vec<CostChange>,
    /// Other calls: NAME@SIZE*COUNT=NAME@SIZE*COUNT
    ///
    /// An empty side removes or adds calls.
    #[arg(long, value_name = "CHANGE", value_parser = Replacement::read)]
    replace: Vec<Replacement>,
    /// Without the processes that the application starts: their calls, faults and user time are
    /// removed; `--replace` removes the calls that start them
    #[arg(long, hide_short_help = true)]
    without_processes: bool,
    /// Take the times of calls from this vector, traced on the same machine: an application or
    /// request that already lacks what the change removes
    #[arg(long, value_name = "VECTOR", hide_short_help = true)]
    context: Option<PathBuf>,
    /// Scale user time from the machine of the trace to other systems, as the figure of this
    /// benchmark differs
    #[arg(long, value_name = "BENCHMARK", hide_short_help = true)]
    user_scale: Option<String>,
    /// Run the application here, too, and print its kernel time
    ///
    /// For 10 s of processor time, or up to 30 s until its kernel time is precise.
    #[arg(long, conflicts_with_all = ["cost", "replace", "without_processes", "context"])]
    measure: bool,
    /// Write a page with stacked bars to this file; `-` is standard output
    #[arg(long, value_name = "FILE.html", conflicts_with = "json")]
    page: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    files: FileOptions,
}

impl Predict {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let measuring = Measuring { begun: Instant::now(), is_thorough: self.thorough };
        output::check(self.page.as_deref())?;
        let mut vectors = Vec::new();
        for path in self.vectors.iter().chain(&self.against) {
            vectors.push(vectors::load(path, &self.store.choice())?);
        }
        let other = self.other_application()?;
        let accesses = self.files.accesses()?;
        let removed = self.without_processes(&mut vectors)?;
        let changed = self.changed(&vectors)?;
        let all = vectors.iter().chain(&changed);
        let mut needed = primitives(all.chain(other.iter().map(|(vector, _)| vector)));
        needed.extend(self.besides());
        let mut runs = Systems::new(self.store.clone(), needed, measuring);
        let systems = self.systems(&mut runs, &vectors, &changed)?;
        let mut applications = Vec::new();
        for ((vector, changed), removed_ns) in vectors.iter().zip(changed).zip(removed) {
            let reference = runs.of_trace(vector, self.traced_on.as_deref(), &systems)?;
            applications.push(Application::new(vector, changed, reference, removed_ns));
        }
        if let Some((other, path)) = &other {
            // Not the version of `--against`, which comes last.
            for application in applications.iter_mut().take(self.vectors.len()) {
                application.in_context_of(other, path)?;
            }
        }
        if let Some(base) = applications.last()
            && self.against.is_some()
            && self.context.is_some()
            && base.has_no_times()
        {
            let fault = "--context: the vector of --against has no times of a trace";
            return Err(
                Failure::new(fault).help("trace the application of --against, or leave it out")
            );
        }
        let against = self.against.is_some().then(|| {
            common_basis(&mut applications, &systems);
            applications.pop()
        });
        let measures = self.measure && !runs.is_stopped();
        let against = against.flatten();
        let mut found = self.predictions(&applications, against.as_ref(), &systems, measures)?;
        if let Some(accesses) = &accesses {
            found.file_times = self.files.times(accesses, &systems)?;
        }
        match &self.page {
            Some(path) => {
                let misses = accesses.map(|accesses| self.files.miss_ratios(&accesses));
                output::page(&page::page(&found, misses.as_ref()), path)
            }
            None => {
                output::json_or_text(self.json, &found, |found| table::text(found, output::width()))
            }
        }?;
        Ok(match runs.is_stopped() {
            true => Answer::No,
            false => Answer::Done,
        })
    }

    /// Loads the vector of `--context`, without its processes if `--without-processes` removes
    /// those of the application.
    fn other_application(&self) -> Result<Option<(Vector, &Path)>, Failure> {
        let Some(path) = &self.context else {
            return Ok(None);
        };
        let mut other = vectors::load(path, &self.store.choice())?;
        let has_started = other.primitives.iter().any(|used| used.started.is_some());
        if self.without_processes && has_started {
            without_started(&mut other).map_err(nothing_without_processes)?;
        }
        Ok(Some((other, path)))
    }

    /// Removes started processes, except from the version of `--against`. Returns the removed
    /// kernel time of each vector per unit, in ns.
    fn without_processes(&self, vectors: &mut [Vector]) -> Result<Vec<f64>, Failure> {
        let mut removed = vec![0.0; vectors.len()];
        if self.without_processes {
            for (vector, ns) in vectors.iter_mut().zip(&mut removed).take(self.vectors.len()) {
                let found = without_started(vector);
                *ns = found.map_err(nothing_without_processes)?;
            }
        }
        Ok(removed)
    }

    /// The vectors with the replacements, which the version of `--against` does not get.
    fn changed(&self, vectors: &[Vector]) -> Result<Vec<Vector>, Failure> {
        let mut all = vectors.to_vec();
        for vector in all.iter_mut().take(self.vectors.len()) {
            for replacement in &self.replace {
                let applied = replacement.apply(vector);
                applied.map_err(|e| Failure::new(format!("--replace: {e}")).help(SPELLING))?;
            }
        }
        Ok(all)
    }

    /// The systems, with changed costs.
    fn systems(
        &self,
        runs: &mut Systems,
        vectors: &[Vector],
        changed: &[Vector],
    ) -> Result<Vec<System>, Failure> {
        let mut systems = Vec::new();
        for reference in &self.on {
            systems.push(runs.named(reference)?);
        }
        for jvm in &self.jvm {
            systems.push(runs.of_java(jvm.clone(), vectors)?);
        }
        if systems.is_empty() {
            systems.push(match java_of(vectors)? {
                Some(_) if self.thorough => {
                    let fault = "--thorough: the missing costs of a Java virtual machine are always measured in full";
                    return Err(Failure::new(fault).help("leave it out"));
                }
                Some(jvm) => runs.of_java(jvm, vectors)?,
                None => {
                    let applications = self.applications(runs, vectors, changed)?;
                    runs.here(&applications, &self.besides())?
                }
            });
        }
        for system in &mut systems {
            if self.measure && system.java.is_none() {
                measure::is_of_this_machine(&system.name, &system.run)?;
            }
            for change in &self.cost {
                let applied = change.apply(&mut system.costs);
                applied.map_err(|e| {
                    Failure::new(format!("--cost, on {}: {e}", system.name)).help(SPELLING)
                })?;
            }
        }
        Ok(systems)
    }

    /// The applications as a measurement of costs sees them.
    fn applications(
        &self,
        runs: &mut Systems,
        vectors: &[Vector],
        changed: &[Vector],
    ) -> Result<Vec<costs::Application>, Failure> {
        let has_changes = self.context.is_some() || self.without_processes || !self.cost.is_empty();
        let each = vectors.iter().zip(changed).map(|(traced, vector)| {
            Ok(costs::Application {
                vector: vector.clone(),
                is_changed: has_changes || traced != vector,
                traced: runs.origin(traced, self.traced_on.as_deref())?,
            })
        });
        each.collect()
    }

    /// The primitives whose costs are used beside those of the vectors.
    fn besides(&self) -> Vec<String> {
        let changed = self.cost.iter().map(|change| change.name().to_owned());
        changed.chain(self.files.primitives()).collect()
    }

    /// `measures`: the applications run here, too.
    fn predictions(
        &self,
        applications: &[Application],
        against: Option<&Application>,
        systems: &[System],
        measures: bool,
    ) -> Result<Predictions, Failure> {
        let mut found = Predictions::default();
        let scale = self.user_scale.as_deref();
        for application in applications {
            let start = found.predictions.len();
            let vector = &application.vector;
            let is_kernel = vector.platform() == Platform::Kernel;
            let measured =
                (measures && is_kernel).then(|| measure::measured(vector)).transpose()?;
            for system in systems {
                let mut of_version = application.on(system, scale)?;
                if let Some(measured) = &measured {
                    of_version.compare_with(
                        measured.kernel_ns_each(),
                        measured.interval_ns(),
                        measured.user_ns_each(),
                        measured.units,
                    );
                    of_version.measured_by_ticks_ns = Some(measured.kernel_ns_by_ticks());
                }
                if let Some(here) = system.java.as_ref().filter(|_| measures) {
                    measure::of_java(vector, here, &mut of_version)?;
                }
                if let Some(against) = against {
                    let base = against.on(system, scale)?;
                    found.ratios.push(ratio(&of_version, &base));
                }
                found.predictions.push(of_version);
            }
            if systems.len() > 1 {
                let of_vector: Vec<&Prediction> = found.predictions[start..].iter().collect();
                found.ranking.extend(ranked(&of_vector));
            }
        }
        Ok(found)
    }
}

fn nothing_without_processes(fault: String) -> Failure {
    Failure::new(format!("--without-processes: {fault}"))
        .help("trace the application again, with a load that makes it start processes")
}

/// The virtual machine of the vectors' commands. `None`: they do not count calls of Java.
fn java_of(vectors: &[Vector]) -> Result<Option<Jvm>, Failure> {
    let of_java = |vector: &&Vector| vector.platform() == Platform::ClassLibrary;
    let first = vectors.iter().find(of_java);
    let jvm = first.map(|vector| Jvm::from_command(&vector.command));
    jvm.transpose().map_err(yamba_session::java::failure)
}

const SPELLING: &str = "a primitive is written as there, with its size after `@` if it has one";

/// The primitives of all vectors, and the one that stands for others.
fn primitives<'a>(vectors: impl Iterator<Item = &'a Vector>) -> Vec<String> {
    let each = vectors.flat_map(|vector| {
        let uses = vector.primitives.iter().map(|used| used.name.clone());
        let readings = vector.clock_reads.filter(|count| *count > 0.0).map(|_| READING.to_owned());
        uses.chain(readings)
    });
    each.chain([NULL_CALL.to_owned()]).collect()
}
