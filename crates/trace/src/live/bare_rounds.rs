//! Rounds without services of the kernel: they count what these services save an application.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tempfile::NamedTempFile;

use yamba_predict::page_fault::is_minor_fault;
use yamba_predict::vector::Use;

use super::Workload;

/// The numbers per unit that these rounds count. `None`: unknown.
#[derive(Debug, Default)]
pub struct Saved {
    /// Clock readings that are no system calls.
    pub clock_reads: Option<f64>,
    /// Page faults that fault-around avoids.
    pub avoided_faults: Option<f64>,
    /// Counts that are missing, with the reasons.
    pub uncounted: Vec<String>,
}

/// A traced round that has ended.
#[derive(Debug)]
pub struct EndedRound {
    /// Number of units of work.
    pub units: f64,
    /// How the command failed. `None`: it did not.
    pub failure: Option<ExitStatus>,
    /// The uses of primitives in the whole round.
    pub uses: Vec<Use>,
}

/// Runs a round. The error is the reason why it is of no use.
pub type Run<'a> = dyn FnMut(&Workload) -> Result<EndedRound, String> + 'a;

/// The totals of a round, per unit.
struct Totals {
    clock_calls: f64,
    faults: f64,
}

impl Saved {
    /// Runs the rounds by `run`. `clock_calls` is the number of calls per unit that read clocks
    /// otherwise, and `failure` how the rounds before failed.
    pub fn count(
        run: &mut Run,
        workload: &Workload,
        clock_calls: f64,
        failure: Option<ExitStatus>,
    ) -> Saved {
        let mut found = Saved::default();
        let mut round = |options: &[&str]| {
            let bare = with(workload, options)?;
            totals(run, &bare, failure)
        };
        let without_vdso = match round(&[]) {
            Ok(totals) => totals,
            Err(reason) => {
                let text =
                    format!("clock readings and avoided page faults were not counted: {reason}");
                found.uncounted.push(text);
                return found;
            }
        };
        found.clock_reads = Some((without_vdso.clock_calls - clock_calls).max(0.0));
        match round(&["--no-fault-around"]) {
            Ok(alone) => {
                found.avoided_faults = Some((alone.faults - without_vdso.faults).max(0.0));
            }
            Err(reason) => {
                let text = format!("avoided page faults were not counted: {reason}");
                found.uncounted.push(text);
            }
        }
        found
    }
}

/// A workload that runs once below ptrace, with the file for the reason of a failure.
struct Bare {
    workload: Workload,
    report: NamedTempFile,
}

fn with(workload: &Workload, options: &[&str]) -> Result<Bare, String> {
    if workload.bare.is_empty() {
        return Err("the path of yamba is not UTF-8".to_owned());
    }
    let report = NamedTempFile::new().map_err(|e| e.to_string())?;
    let path = report.path().to_str();
    let path = path.ok_or("the path of the folder for temporary files is not UTF-8")?;
    let options = [options, &["--report", path, "--"]].concat();
    let options: Vec<String> = options.into_iter().map(str::to_owned).collect();
    let command = [&workload.bare, &options, &workload.command];
    let workload = Workload {
        command: command.into_iter().flatten().cloned().collect(),
        runs: 1,
        ..workload.clone()
    };
    Ok(Bare { workload, report })
}

/// The totals of a round. It must end as the rounds before, whose failure is given. Only totals are
/// usable, since the traced program is the one that runs the application.
fn totals(run: &mut Run, bare: &Bare, failure: Option<ExitStatus>) -> Result<Totals, String> {
    let ended = run(&bare.workload);
    let reported = std::fs::read_to_string(bare.report.path()).map_err(|e| e.to_string())?;
    if !reported.is_empty() {
        return Err(reported);
    }
    let ended = ended?;
    if ended.failure.map(end) != failure.map(end) {
        let text = |failure: Option<ExitStatus>| {
            failure.map_or("no failure".to_owned(), |status| status.to_string())
        };
        let (now, before) = (text(ended.failure), text(failure));
        return Err(format!("the program ended with {now}, and before with {before}"));
    }
    let has_load = bare.workload.load.is_some();
    Ok(Totals {
        clock_calls: clock_calls(&ended.uses) / ended.units,
        faults: faults(&ended.uses, has_load) / ended.units,
    })
}

/// The exit status or the signal of a command. A core file makes no difference: below ptrace, only
/// the application leaves one.
fn end(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
}

/// Number of calls that read a clock.
pub fn clock_calls(uses: &[Use]) -> f64 {
    let reads = uses.iter().filter(|used| reads_clock(&used.name));
    reads.map(|used| used.count).sum()
}

/// Whether the C library makes this call only where the vDSO does not read the clock: `NAME` or
/// `NAME(KIND)`.
fn reads_clock(name: &str) -> bool {
    let call = name.split('(').next();
    call.is_some_and(|call| {
        ["clock_gettime", "clock_gettime64", "gettimeofday", "time"].contains(&call)
    })
}

/// Number of page faults of the application. A command is a process that the traced program has
/// started. A server began before its faults are counted, when the traced program hardly has faults
/// of its own.
fn faults(uses: &[Use], is_server: bool) -> f64 {
    let minor = uses.iter().filter(|used| is_minor_fault(&used.name));
    let count = |used: &Use| match used.started {
        _ if is_server => used.count,
        Some(started) => started.count,
        None => 0.0,
    };
    minor.map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Units;

    const EXIT_143: i32 = 143 << 8;
    const SIGTERM: i32 = 15;
    const SIGABRT: i32 = 6;
    const SIGABRT_WITH_CORE: i32 = SIGABRT | 0x80;

    /// The counts of rounds that end with the second status, after rounds that ended with the first
    /// one. These are statuses of waitpid(2).
    fn saved(before: i32, below: i32) -> Saved {
        let workload = Workload {
            command: vec!["program".to_owned()],
            load: None,
            runs: 1,
            rounds: 2,
            bare: vec!["launcher".to_owned()],
            units: Units::Number(1.0),
            hides_output: false,
        };
        let failure = |status: i32| (status != 0).then(|| ExitStatus::from_raw(status));
        let mut run =
            |_: &Workload| Ok(EndedRound { units: 1.0, failure: failure(below), uses: Vec::new() });
        Saved::count(&mut run, &workload, 0.0, failure(before))
    }

    #[test]
    fn rounds_that_end_alike_are_counted() {
        for (before, below) in
            [(0, 0), (EXIT_143, EXIT_143), (SIGTERM, SIGTERM), (SIGABRT_WITH_CORE, SIGABRT)]
        {
            let found = saved(before, below);
            assert!(found.uncounted.is_empty(), "{found:?}");
            assert_eq!(found.clock_reads, Some(0.0));
            assert_eq!(found.avoided_faults, Some(0.0));
        }
    }

    #[test]
    fn round_that_ends_otherwise_is_not_counted() {
        const TERMINATED: &str = "signal: 15 (SIGTERM)";
        for (before, below, now, then) in [
            (SIGTERM, EXIT_143, "exit status: 143", TERMINATED),
            (EXIT_143, SIGTERM, TERMINATED, "exit status: 143"),
            (SIGTERM, SIGABRT, "signal: 6 (SIGABRT)", TERMINATED),
            (SIGTERM, 0, "no failure", TERMINATED),
        ] {
            let found = saved(before, below);
            assert_eq!(found.clock_reads, None);
            let text = format!(
                "clock readings and avoided page faults were not counted: the program ended with {now}, and before with {then}"
            );
            assert_eq!(found.uncounted, [text]);
        }
    }
}
