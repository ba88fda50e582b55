//! Records how much a Java application allocates, and how long its objects live.

use std::path::{Path, PathBuf};
use std::time::Duration;

use yamba_jvm::gc::Collector;
use yamba_jvm::gc::demand::Demand;
use yamba_jvm::library::JavaCommand;
use yamba_jvm::run::{LIMITS, Limits, OTHERS, remove_varied};

use super::{Event, Observer, costs, jvm, needed};
use crate::Failure;
use crate::java::failure;

/// A request for the profile of an application.
#[derive(Clone, Debug)]
pub struct ProfileRequest {
    /// `java` and its arguments.
    pub command: Vec<String>,
    /// Bytes allocated between two counts.
    pub step_bytes: u64,
    /// The collectors of ordinary runs beside Serial, by name; if empty, all.
    pub collectors: Vec<String>,
    /// Longest time of each run.
    pub time_limit: Duration,
}

/// Runs the application up to 31 times.
///
/// # Errors
/// If there is no JDK, if the costs of Serial cannot be measured, or if the application fails.
pub fn profile(request: &ProfileRequest, observer: &dyn Observer) -> Result<Demand, Failure> {
    let mut command = JavaCommand::parse(&request.command).map_err(failure)?;
    let removed = remove_varied(&mut command);
    let jvm = jvm(home(&request.command[0]).as_deref())?;
    let others = request.others();
    let profiled = [&[Collector::Serial], &others[..]].concat();
    let costs = costs(&jvm, needed(&profiled), observer)?;
    let serial = Collector::Serial.name();
    if !costs.collectors.contains_key(serial) {
        let reason = costs.skipped.get(serial);
        let failure = Failure::new(reason.map_or("no costs of Serial", String::as_str));
        return Err(failure.help("`yamba gc characterise --collector serial --force` tries again"));
    }
    if !removed.is_empty() {
        observer.event(Event::ReplacedOptions(&removed));
    }
    let limits = Limits { time: request.time_limit, ..LIMITS };
    observer.event(Event::ProfileBegins { application: &command.name(), others: &others });
    let stage = |stage| observer.event(Event::Profiling(stage));
    let found = yamba_jvm::run::profile(
        &jvm,
        &costs,
        &others,
        &command,
        request.step_bytes,
        limits,
        &stage,
    );
    observer.event(Event::RunsEnded);
    found.map_err(|e| Failure::new(e).help("run the command by itself first"))
}

impl ProfileRequest {
    fn others(&self) -> Vec<Collector> {
        let is_chosen = |collector: &Collector| {
            self.collectors.is_empty()
                || self.collectors.iter().any(|name| name == collector.name())
        };
        OTHERS.into_iter().filter(is_chosen).collect()
    }
}

/// The JDK of a command like `/opt/jdk/bin/java`.
fn home(java: &str) -> Option<PathBuf> {
    let java = std::fs::canonicalize(java).ok().filter(|_| java.contains('/'))?;
    Some(Path::new(&java).parent()?.parent()?.to_owned())
}
