//! Rounds without services of the kernel: they count what these services save an application.

use tempfile::NamedTempFile;

use super::Workload;
use super::bpf::Session;
use crate::bpf::EventReader;

/// The numbers per unit that these rounds count. `None`: unknown.
#[derive(Debug, Default)]
pub struct Saved {
    /// Clock readings that are no system calls.
    pub clock_reads: Option<f64>,
    /// Page faults that fault-around avoids.
    pub avoided_faults: Option<f64>,
    /// What was not counted, with the reasons.
    pub uncounted: Vec<String>,
}

/// The totals of a round, per unit.
struct Totals {
    clock_calls: f64,
    faults: f64,
}

impl Saved {
    /// Runs the rounds. `clock_calls` is the number of calls per unit that read clocks otherwise.
    pub fn count(
        session: &mut Session,
        workload: &Workload,
        stopped: &dyn Fn() -> bool,
        clock_calls: f64,
        may_fail: bool,
    ) -> Saved {
        let mut found = Saved::default();
        let mut round = |report: Option<&NamedTempFile>| {
            let options = options(report)?;
            totals(session, workload, &options, stopped, may_fail)
        };
        let without_vdso = match round(None) {
            Ok(totals) => totals,
            Err(reason) => {
                let text =
                    format!("clock readings and avoided page faults were not counted: {reason}");
                found.uncounted.push(text);
                return found;
            }
        };
        found.clock_reads = Some((without_vdso.clock_calls - clock_calls).max(0.0));
        match faults_alone(&mut round) {
            // Both rounds run below ptrace, and differ in fault-around only.
            Ok(faults) => found.avoided_faults = Some((faults - without_vdso.faults).max(0.0)),
            Err(reason) => {
                let text = format!("avoided page faults were not counted: {reason}");
                found.uncounted.push(text);
            }
        }
        found
    }
}

/// The options of the command that runs the application.
fn options(report: Option<&NamedTempFile>) -> Result<Vec<String>, String> {
    let Some(report) = report else {
        return Ok(Vec::new());
    };
    let path = report.path().to_str();
    let path = path.ok_or("the path of the folder for temporary files is not UTF-8")?;
    Ok(vec!["--no-fault-around".to_owned(), path.to_owned()])
}

/// The page faults per unit of a round in which each maps one page of a file only.
fn faults_alone(
    round: &mut dyn FnMut(Option<&NamedTempFile>) -> Result<Totals, String>,
) -> Result<f64, String> {
    let report = NamedTempFile::new().map_err(|e| e.to_string())?;
    let totals = round(Some(&report))?;
    let failure = std::fs::read_to_string(report.path()).map_err(|e| e.to_string())?;
    if failure.is_empty() {
        Ok(totals.faults)
    } else {
        Err(failure)
    }
}

/// The totals of a round with these options. Only totals are usable, since the traced program is the one that runs the application.
fn totals(
    session: &mut Session,
    workload: &Workload,
    options: &[String],
    stopped: &dyn Fn() -> bool,
    may_fail: bool,
) -> Result<Totals, String> {
    if workload.bare.is_empty() {
        return Err("the path of yamba is not UTF-8".to_owned());
    }
    let end = ["--".to_owned()];
    let without = Workload {
        command: [&workload.bare, options, &end, &workload.command].concat(),
        runs: 1,
        ..workload.clone()
    };
    let (units, failure) = session.another_round(&without, stopped)?;
    match failure.filter(|_| !may_fail) {
        Some(failure) => Err(failure),
        None => Ok(Totals {
            clock_calls: clock_calls(&session.reader) / units,
            faults: faults(&session.reader, workload.load.is_some()) / units,
        }),
    }
}

/// Number of calls so far that read a clock.
pub fn clock_calls(reader: &EventReader) -> f64 {
    let uses = reader.uses(1.0);
    let reads = uses.iter().filter(|used| reads_clock(&used.name));
    reads.map(|used| used.count).sum()
}

/// Whether the C library makes this call only where the vDSO does not read the clock: `NAME` or `NAME(KIND)`.
fn reads_clock(name: &str) -> bool {
    let call = name.split('(').next();
    call.is_some_and(|call| {
        ["clock_gettime", "clock_gettime64", "gettimeofday", "time"].contains(&call)
    })
}

/// Number of page faults so far of the application. A command is a process that the traced program has started. A server began before its faults are counted, and the traced program only waits then.
fn faults(reader: &EventReader, is_server: bool) -> f64 {
    let uses = reader.uses(1.0);
    let minor = uses.iter().filter(|used| used.name == "page_fault");
    let count = |used: &yamba_predict::vector::Use| match used.started {
        _ if is_server => used.count,
        Some(started) => started.count,
        None => 0.0,
    };
    minor.map(count).sum()
}
