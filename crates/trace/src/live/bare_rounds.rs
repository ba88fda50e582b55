//! A round without the vDSO: it counts the clock readings that are no system calls otherwise.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tempfile::NamedTempFile;

use yamba_predict::vector::Use;

use super::Workload;

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

/// Counts the clock readings per unit that are no system calls, in a round by `run`. `clock_calls`
/// is the number of calls per unit that read clocks otherwise, and `failure` how the rounds before
/// failed. The error names what was not counted, and why.
pub fn clock_reads(
    run: &mut Run,
    workload: &Workload,
    clock_calls: f64,
    failure: Option<ExitStatus>,
) -> Result<f64, String> {
    let without_vdso = bare(workload).and_then(|bare| calls_per_unit(run, &bare, failure));
    match without_vdso {
        Ok(calls) => Ok((calls - clock_calls).max(0.0)),
        Err(reason) => Err(format!("clock readings were not counted: {reason}")),
    }
}

/// A workload that runs once below ptrace, with the file for the reason of a failure.
struct Bare {
    workload: Workload,
    report: NamedTempFile,
}

fn bare(workload: &Workload) -> Result<Bare, String> {
    if workload.bare.is_empty() {
        return Err("the path of yamba is not UTF-8".to_owned());
    }
    let report = NamedTempFile::new().map_err(|e| e.to_string())?;
    let path = report.path().to_str();
    let path = path.ok_or("the path of the folder for temporary files is not UTF-8")?;
    let options = ["--report", path, "--"].map(str::to_owned);
    let workload = Workload {
        command: [&workload.bare, options.as_slice(), &workload.command].concat(),
        runs: 1,
        ..workload.clone()
    };
    Ok(Bare { workload, report })
}

/// The clock readings of a round per unit, all of which are calls. The round must end as the rounds
/// before, which failed by `failure`.
fn calls_per_unit(run: &mut Run, bare: &Bare, failure: Option<ExitStatus>) -> Result<f64, String> {
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
    Ok(clock_calls(&ended.uses) / ended.units)
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
    fn counted(before: i32, below: i32) -> Result<f64, String> {
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
        clock_reads(&mut run, &workload, 0.0, failure(before))
    }

    #[test]
    fn rounds_that_end_alike_are_counted() {
        for (before, below) in
            [(0, 0), (EXIT_143, EXIT_143), (SIGTERM, SIGTERM), (SIGABRT_WITH_CORE, SIGABRT)]
        {
            assert_eq!(counted(before, below), Ok(0.0));
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
            let text = format!(
                "clock readings were not counted: the program ended with {now}, and before with {then}"
            );
            assert_eq!(counted(before, below), Err(text));
        }
    }
}
