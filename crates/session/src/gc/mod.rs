//! Garbage collection of Java applications: the costs of collectors on this machine, the demand of
//! an application, and predictions from both.

mod document;
mod predict;
mod profile;

use std::path::{Path, PathBuf};

use yamba_harness::Stop;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::costs::Costs;
use yamba_jvm::run::{Effort, Jvm, Progress, Stage, Wanted, costs_path};
use yamba_jvm::{INTERRUPTED, Input};
use yamba_toolchain::embedded::cache_root;

use super::{Failure, system_failure};

pub use predict::{PredictRequest, predict};
pub use profile::{ProfileRequest, profile};

/// An event while the use case runs.
pub enum Event<'a> {
    /// These options of the application's command are replaced.
    ReplacedOptions(&'a [String]),
    /// The profile of an application begins, with ordinary runs of Serial and of these collectors.
    ProfileBegins {
        /// The name of the application.
        application: &'a str,
        /// The version of the JDK that runs it.
        jvm: &'a str,
        /// The collectors beside Serial.
        others: &'a [Collector],
    },
    /// A run of a profile begins.
    Profiling(Stage),
    /// The application runs with a collector, to be compared with a prediction.
    Measuring {
        /// The name of the application.
        application: &'a str,
        collector: Collector,
    },
    /// The runs of the application have ended.
    RunsEnded,
}

/// Presents the progress of a use case.
pub trait Observer {
    /// The progress of a measurement of costs.
    fn costs(&self, jvm: &Jvm, effort: Effort) -> Box<dyn Progress>;

    /// Something happened.
    fn event(&self, event: Event<'_>);
}

/// A request for the costs of collectors.
#[derive(Clone, Debug)]
pub struct CostsRequest {
    /// The folder of the JDK; by default JAVA_HOME, or that of `java` on the PATH.
    pub jdk: Option<PathBuf>,
    pub collectors: Vec<Collector>,
    /// Whether all benchmarks run, without a limit of time.
    pub is_thorough: bool,
    /// Whether known costs are measured again.
    pub is_forced: bool,
}

/// The costs of the requested collectors; measures those that are missing.
///
/// # Errors
/// If there is no JDK, the folder of kept costs cannot be written, or the user stops it.
pub fn characterise(
    request: &CostsRequest,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Costs, Failure> {
    let jvm = jvm(request.jdk.as_deref(), stop)?;
    let effort = if request.is_thorough { Effort::Thorough } else { Effort::Short };
    let collectors = &request.collectors;
    let wanted = Wanted { collectors, effort, is_forced: request.is_forced };
    let mut found = costs(&jvm, wanted, observer)?;
    let is_chosen = |name: &String| collectors.iter().any(|c| c.name() == name);
    found.collectors.retain(|name, _| is_chosen(name));
    found.skipped.retain(|name, _| is_chosen(name));
    Ok(found)
}

fn jvm(home: Option<&Path>, stop: &Stop) -> Result<Jvm, Failure> {
    let found = Jvm::find(home).map_err(|reason| {
        Failure::new(format!("skipped: {reason}"))
            .help("install a JDK, or name its folder with --jdk")
    })?;
    Ok(found.stopped_by(stop.flag().into()))
}

/// The failure of runs of a JVM. `help` is for reasons other than a stop by the user.
fn failed(reason: String, help: &str) -> Failure {
    let is_stopped = reason == INTERRUPTED;
    let help = if is_stopped { "run the command again: finished costs are kept" } else { help };
    Failure::new(reason).help(help)
}

/// The costs of collectors with a JDK; measures those that are missing.
fn costs(jvm: &Jvm, wanted: Wanted<'_>, observer: &dyn Observer) -> Result<Costs, Failure> {
    let folder = cache_root().map_err(system_failure)?.join("gc");
    let path = costs_path(&folder, jvm);
    let mut progress = observer.costs(jvm, wanted.effort);
    yamba_jvm::run::characterise(jvm, wanted, &path, progress.as_mut())
        .map_err(|e| failed(e, "set YAMBA_CACHE to a folder that can be written"))
}

/// The costs that a prediction or a profile needs.
fn needed(collectors: &[Collector]) -> Wanted<'_> {
    Wanted { collectors, effort: Effort::Short, is_forced: false }
}

/// The standard input of each run of an application. A terminal counts as empty: dozens of runs
/// would wait for a person.
fn input() -> Result<Input, Failure> {
    Input::redirected().map_err(system_failure)
}
