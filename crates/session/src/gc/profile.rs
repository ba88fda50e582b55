//! Records how much a Java application allocates, and how long its objects live.

use std::time::Duration;

use yamba_harness::Stop;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::demand::Demand;
use yamba_jvm::library::JavaCommand;
use yamba_jvm::run::{Jvm, LIMITS, Limits, OTHERS, remove_varied};

use super::{Event, Observer, costs, failed, input, needed};
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
pub fn profile(
    request: &ProfileRequest,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Demand, Failure> {
    let mut command = JavaCommand::parse(&request.command).map_err(failure)?;
    command.add_variables(|name| std::env::var(name).ok());
    let removed = remove_varied(&mut command);
    let jvm = Jvm::of_program(&command.program).map_err(|reason| {
        Failure::new(reason)
            .help("begin the command with the `java` of a JDK of version 17 or later")
    })?;
    let jvm = jvm.stopped_by(stop.flag().into());
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
    let jvm = jvm.reading(input()?);
    let limits = Limits { time: request.time_limit, ..LIMITS };
    observer.event(Event::ProfileBegins {
        application: &command.name(),
        jvm: &jvm.version,
        others: &others,
    });
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
    found.map_err(|e| {
        failed(e, "run the command by itself first; `--time-limit` lets each run take longer")
    })
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
