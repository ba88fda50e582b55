//! The figures of timed commands. Pure.

use std::collections::{BTreeMap, BTreeSet};

use yamba_harness::{
    Around, CommandEnd, CommandFailure, CommandOutput, CommandRun, CommandStep, IgnoredFailures,
    TimedCommands, TimedRuns,
};
use yamba_record::command::{CommandRuns, PairedRatio};
use yamba_record::run::{IntervalScope, Launch};
use yamba_record::{Benchmark, Note, Status};
use yamba_stats::{mean_t_interval, median, median_interval, quantile};

use super::expand::unreplaced;
use super::{Expanded, PreparedCommands};

/// The class of a whole command in a run.
const CLASS: &str = "command";

/// Confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// Fewest values whose range is an interval of the median with that confidence: it misses with
/// probability 2^(1 - n).
const FEWEST_FOR_INTERVAL: usize = 6;

/// A run this number of interquartile ranges above the upper quartile is an outlier.
const FAR: f64 = 3.0;

/// If the host takes less than this share of the processors' time, no note mentions it.
const STOLEN: f64 = 0.01;

/// Fewest runs among which one can be an outlier.
const FEWEST_FOR_OUTLIERS: usize = 10;

/// The entries of the run. `stolen` is the share of the processors' time that a hypervisor gave to
/// others.
pub(super) fn benchmarks(
    prepared: &PreparedCommands,
    timed: &TimedCommands,
    stolen: Option<f64>,
) -> Vec<Benchmark> {
    let shell = Level::new(timed.shell.values().map(|run| run.wall_ns).collect());
    let each = prepared.expanded.iter().zip(&prepared.starts).zip(&timed.commands);
    let measured: Vec<Measured> = each
        .map(|((expanded, start), runs)| {
            let shell_path = start.shell.as_ref();
            let entry = Entry {
                expanded,
                shell_path,
                shell: if shell_path.is_some() { shell.clone() } else { Level::default() },
                shell_cpu: shell_path.map_or([0.0; 2], |_| cpu(&timed.shell)),
                runs,
            };
            entry.measured(prepared, stolen)
        })
        .collect();
    with_ratios(measured, prepared.is_first_reference)
}

/// The interval of the median, if the values suffice for its confidence.
pub(super) fn interval(values: &[f64]) -> Option<[f64; 2]> {
    let interval = median_interval(values, CONFIDENCE)?;
    (interval.coverage >= CONFIDENCE).then_some([interval.low, interval.high])
}

/// The time of the empty shell; the default of a command without shell is 0, exactly.
#[derive(Clone, Debug)]
struct Level {
    values: Vec<f64>,
    median: f64,
    /// How far the true median may lie below and above the measured one; `None` if too few values
    /// show that.
    errors: Option<[f64; 2]>,
}

impl Default for Level {
    fn default() -> Level {
        Level { values: Vec::new(), median: 0.0, errors: Some([0.0; 2]) }
    }
}

impl Level {
    fn new(values: Vec<f64>) -> Level {
        let median = median(&values).unwrap_or(0.0);
        Level {
            median,
            errors: interval(&values).map(|[low, high]| [median - low, high - median]),
            values,
        }
    }
}

/// Values by round.
type Values = BTreeMap<u64, f64>;

/// Mean time in user space and in the kernel.
fn cpu(runs: &BTreeMap<u64, CommandRun>) -> [f64; 2] {
    [mean(runs, |r| r.user_ns), mean(runs, |r| r.system_ns)]
}

fn mean(runs: &BTreeMap<u64, CommandRun>, of: impl Fn(&CommandRun) -> f64) -> f64 {
    let sum: f64 = runs.values().map(of).sum();
    sum / runs.len().max(1) as f64
}

/// Times and counts of the runs of a command, the shell included.
pub(crate) fn counts<'a>(runs: impl Iterator<Item = &'a CommandRun> + Clone) -> CommandRuns {
    let count = runs.clone().count().max(1) as f64;
    let mean = |of: fn(&CommandRun) -> f64| runs.clone().map(of).sum::<f64>() / count;
    let walls = || runs.clone().map(|run| run.wall_ns);
    let peak = runs.clone().map(|run| run.peak_memory_bytes).max().unwrap_or(0);
    let floor = runs.clone().filter_map(|run| run.memory_floor_bytes).max();
    let mut ends = BTreeMap::new();
    for run in runs.clone() {
        *ends.entry(run.end.short()).or_insert(0) += 1;
    }
    let statuses: Vec<Option<i32>> = runs.clone().map(|run| exit_status(&run.end)).collect();
    let is_plain = statuses.iter().all(|status| *status == Some(0));
    CommandRuns {
        mean_ns: mean(|run| run.wall_ns),
        min_ns: walls().reduce(f64::min).unwrap_or(0.0),
        max_ns: walls().reduce(f64::max).unwrap_or(0.0),
        user_ns: mean(|run| run.user_ns),
        system_ns: mean(|run| run.system_ns),
        peak_memory_bytes: floor.filter(|floor| peak > *floor).map(|_| peak),
        memory_floor_bytes: floor,
        minor_faults: mean(|run| run.minor_faults as f64),
        major_faults: mean(|run| run.major_faults as f64),
        switches: mean(|run| run.switches as f64),
        ends,
        statuses: if is_plain { Vec::new() } else { statuses },
        ..CommandRuns::default()
    }
}

/// One command with its runs.
struct Entry<'a> {
    expanded: &'a Expanded,
    shell_path: Option<&'a String>,
    /// The empty shell; 0 if the command needs none.
    shell: Level,
    /// Mean processor times of the empty shell.
    shell_cpu: [f64; 2],
    runs: &'a TimedRuns,
}

impl Entry<'_> {
    /// The entry of the document, and the time of each round without the shell.
    fn measured(&self, prepared: &PreparedCommands, stolen: Option<f64>) -> Measured {
        let times = self.times();
        let mut benchmark = Benchmark::ended(CLASS, Status::Ok, Vec::new());
        benchmark.name.clone_from(&self.expanded.name);
        benchmark.parameters = self.expanded.parameters.clone();
        benchmark.declaration.swept =
            benchmark.parameters.0.iter().map(|(name, _)| name.clone()).collect();
        benchmark.declaration.figure = Some("latency".to_owned());
        benchmark.unit = Some("ns".to_owned());
        benchmark.details.operations = Some(1.0);
        benchmark.details.command = Some(self.command(prepared, &times));
        benchmark.details.samples = times.values().copied().collect();
        benchmark.launches = self.launches(&times);
        if let Some(failure) = &self.runs.failure {
            benchmark.status = Status::Crashed;
            benchmark.notes = failure_notes(failure, &prepared.plan.ignored);
        } else if times.is_empty() {
            benchmark.status = Status::Skipped;
            benchmark.notes.push(Note::Text("stopped before its first run".to_owned()));
        } else {
            self.enter_figure(&mut benchmark, &times, prepared, stolen);
        }
        benchmark.notes.extend(self.runs.cleanup_failure.iter().flat_map(said));
        if let Some(name) = unreplaced(&self.expanded.command) {
            let text = format!(
                "{{{name}}} is part of the command: -L {name}=A,B,C would replace it by values"
            );
            benchmark.notes.push(Note::Text(text));
        }
        benchmark.valid = benchmark.status == Status::Ok;
        Measured { benchmark, times, shell_errors: self.shell.errors }
    }

    /// The wall-clock time of each round, less the median of the empty shell.
    fn times(&self) -> Values {
        let time = |(round, run): (&u64, &CommandRun)| (*round, run.wall_ns - self.shell.median);
        self.runs.runs.iter().map(time).collect()
    }

    fn launches(&self, times: &Values) -> Vec<Launch> {
        let launch = |(round, time): (&u64, &f64)| Launch {
            median: Some(*time),
            samples: 1,
            round: *round,
            took_ns: self.runs.runs[round].wall_ns as u64,
            ..Launch::default()
        };
        times.iter().map(launch).collect()
    }

    fn command(&self, prepared: &PreparedCommands, times: &Values) -> CommandRuns {
        let runs = &self.runs.runs;
        let values: Vec<f64> = times.values().copied().collect();
        let interval = mean_t_interval(&values, CONFIDENCE);
        let interval = interval.filter(|_| values.len() >= FEWEST_FOR_INTERVAL);
        let counted = counts(runs.values());
        let [shell_user, shell_system] = self.shell_cpu;
        let Around { setup, prepare, conclude, cleanup } = self.expanded.around.clone();
        CommandRuns {
            command: self.expanded.command.clone(),
            shell: self.shell_path.cloned(),
            setup,
            prepare,
            conclude,
            cleanup,
            output: Some(match &prepared.plan.output {
                CommandOutput::Pipe => "pipe".to_owned(),
                CommandOutput::Null => "null".to_owned(),
                CommandOutput::Inherit => "inherit".to_owned(),
                CommandOutput::File(path) => path.display().to_string(),
            }),
            warmup: prepared.plan.warmup,
            mean_ns: values.iter().sum::<f64>() / values.len().max(1) as f64,
            mean_interval_ns: interval.map(|i| [i.low, i.high]),
            min_ns: values.iter().copied().reduce(f64::min).unwrap_or(0.0),
            max_ns: values.iter().copied().reduce(f64::max).unwrap_or(0.0),
            user_ns: (counted.user_ns - shell_user).max(0.0),
            system_ns: (counted.system_ns - shell_system).max(0.0),
            wall_ns: runs.values().map(|r| r.wall_ns).collect(),
            shell_ns: self.shell.values.clone(),
            ..counted
        }
    }

    fn enter_figure(
        &self,
        benchmark: &mut Benchmark,
        times: &Values,
        prepared: &PreparedCommands,
        stolen: Option<f64>,
    ) {
        let values: Vec<f64> = times.values().copied().collect();
        benchmark.median = median(&values);
        // The error of the shell's median moves all times alike.
        let ends = interval(&values).zip(self.shell.errors);
        let ends = ends.map(|([low, high], errors)| [low - errors[1], high + errors[0]]);
        benchmark.confidence_interval = ends;
        benchmark.interval_scope = ends.map(|_| IntervalScope::BetweenLaunches);
        let mut notes: Vec<String> = Vec::new();
        let least = ends.map(|[low, _]| low).or(benchmark.median);
        if least.is_some_and(|least| least <= 0.0) {
            benchmark.status = Status::Invalid;
            let why = "the difference to the empty shell is not above its error";
            benchmark.notes.push(Note::NothingMeasurable(why.to_owned()));
        }
        if ends.is_none() {
            notes.push(format!(
                "no interval and no comparison: 95 % confidence needs {FEWEST_FOR_INTERVAL} runs, these are {} (--runs)",
                values.len()
            ));
        }
        notes.extend(outliers(&values));
        if let Some(share) = stolen.filter(|share| *share > STOLEN) {
            benchmark.interference.is_disturbed = true;
            notes.push(format!(
                "the host gave {:.1} % of the processor time to other virtual machines",
                share * 100.0
            ));
        }
        notes.extend(failed_runs(self.runs.runs.values()));
        notes.extend(left_behind(&self.runs.runs));
        if prepared.output_is_null {
            notes.push(
                "the output went to /dev/null: a program can see that and do less work, as grep, which stops at the first match"
                    .to_owned(),
            );
        }
        benchmark.notes.extend(notes.into_iter().map(Note::Text));
    }
}

fn exit_status(end: &CommandEnd) -> Option<i32> {
    match end {
        CommandEnd::Exit(status) => Some(*status),
        _ => None,
    }
}

/// How many runs left processes behind, with the names of these.
fn left_behind(runs: &BTreeMap<u64, CommandRun>) -> Vec<String> {
    let note = |of: fn(&CommandRun) -> &Vec<String>, end: &str| {
        let count = runs.values().filter(|run| !of(run).is_empty()).count();
        let names: BTreeSet<&str> = runs.values().flat_map(of).map(String::as_str).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        (count > 0).then(|| {
            format!(
                "{count} of {} runs left processes in the background ({names}), {end}",
                runs.len()
            )
        })
    };
    let killed = note(|run| &run.killed, "which Yamba ended after the run");
    let daemons = note(|run| &run.daemons, "outside its process group, which Yamba did not end");
    killed.into_iter().chain(daemons).collect()
}

/// How many runs failed, and how: `5 of 8 runs failed, and count (3 with status 1, 2 with
/// SIGSEGV)`.
fn failed_runs<'a>(runs: impl ExactSizeIterator<Item = &'a CommandRun>) -> Option<String> {
    let all = runs.len();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs.filter(|r| !r.end.is_success()) {
        let how = match run.end {
            CommandEnd::Exit(status) => format!("status {status}"),
            _ => run.end.short(),
        };
        *ends.entry(how).or_default() += 1;
    }
    let failed: usize = ends.values().sum();
    let each = ends.iter().map(|(how, count)| format!("{count} with {how}"));
    let each = each.collect::<Vec<_>>().join(", ");
    (failed > 0).then(|| format!("{failed} of {all} runs failed, and count ({each})"))
}

/// Why a command has no figure, first.
fn failure_notes(failure: &CommandFailure, ignored: &IgnoredFailures) -> Vec<Note> {
    let mut notes = said(failure);
    let help = match (&failure.end, failure.step, ignored) {
        (CommandEnd::Exit(status), CommandStep::Command, IgnoredFailures::Statuses(_)) => {
            format!("; --ignore-failure does not list {status}")
        }
        (CommandEnd::Exit(_), CommandStep::Command, _) => {
            "; --ignore-failure lets such runs count".to_owned()
        }
        (CommandEnd::TimedOut(_), ..) => "; --timeout gives it more time".to_owned(),
        _ => String::new(),
    };
    notes[0] = Note::Text(format!("{}{help}", notes[0]));
    notes
}

/// How a program failed, and the last lines of its standard error.
fn said(failure: &CommandFailure) -> Vec<Note> {
    let which = match failure.step {
        CommandStep::Setup => "the set-up",
        CommandStep::Preparation => "the preparation",
        CommandStep::Command => "the command",
        CommandStep::Conclusion => "the conclusion",
        CommandStep::Cleanup => "the clean-up",
    };
    let mut notes = vec![format!("{which} {}", failure.end)];
    // A line of the command must not look like one of Yamba's, nor control the terminal.
    let lines = failure.messages.lines();
    notes.extend(lines.map(|line| format!("> {}", line.replace(char::is_control, " "))));
    notes.into_iter().map(Note::Text).collect()
}

/// Warns of a slow first run, else of other runs that took far longer than most.
fn outliers(values: &[f64]) -> Option<String> {
    let (low, high) = (quantile(values, 0.25)?, quantile(values, 0.75)?);
    let limit = high + FAR * (high - low).max(0.01 * high);
    let far = values.iter().filter(|value| **value > limit).count();
    if values.len() < FEWEST_FOR_OUTLIERS {
        return None;
    }
    let first = *values.first()?;
    let slowest = values.iter().copied().fold(0.0, f64::max);
    if first > limit && first == slowest {
        return Some(
            "the first run took far longer than the others: its caches were probably cold (--warmup N runs it N times before, --prepare sets the state before each run)"
                .to_owned(),
        );
    }
    (far > 0).then(|| format!("{far} of {} runs took far longer than the others", values.len()))
}

/// An entry with its times by round, without the shell.
struct Measured {
    benchmark: Benchmark,
    times: Values,
    /// How far the time of the shell may lie below and above the subtracted one.
    shell_errors: Option<[f64; 2]>,
}

/// Adds to each valid entry its ratio to the first entry or to the fastest one, paired by rounds.
fn with_ratios(mut measured: Vec<Measured>, is_first_reference: bool) -> Vec<Benchmark> {
    let valid = measured.iter().enumerate().filter(|(_, m)| m.benchmark.valid);
    let medians = valid.filter_map(|(i, m)| Some((i, m.benchmark.median?)));
    let reference = if is_first_reference {
        Some(0).filter(|_| measured[0].benchmark.valid)
    } else {
        medians.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
    };
    let ratios: Vec<Option<PairedRatio>> = (0..measured.len())
        .map(|index| {
            let reference = reference.filter(|i| *i != index)?;
            let (own, base) = (&measured[index], &measured[reference]);
            paired_ratio(own, base).filter(|_| own.benchmark.valid)
        })
        .collect();
    for (m, ratio) in measured.iter_mut().zip(ratios) {
        if let Some(command) = &mut m.benchmark.details.command {
            command.to_reference = ratio;
        }
    }
    measured.into_iter().map(|m| m.benchmark).collect()
}

/// The median of the ratios of rounds that both have, and its interval. Drift and load of the
/// machine affect both commands of a round alike. The interval holds for each time that the shell
/// may have taken.
fn paired_ratio(own: &Measured, base: &Measured) -> Option<PairedRatio> {
    let with = |own_error: f64, base_error: f64| {
        let pair = |(round, time): (&u64, &f64)| {
            let (time, base) = (time - own_error, base.times.get(round)? - base_error);
            (time > 0.0 && base > 0.0).then(|| time / base)
        };
        let ratios: Vec<f64> = own.times.iter().filter_map(pair).collect();
        Some((median(&ratios)?, interval(&ratios)?))
    };
    let (ratio, mut ends) = with(0.0, 0.0)?;
    let (own_errors, base_errors) = (own.shell_errors?, base.shell_errors?);
    // Both commands have the same shell, or one has none.
    for (sign, side) in [(-1.0, 0), (1.0, 1)] {
        let (_, [low, high]) = with(sign * own_errors[side], sign * base_errors[side])?;
        ends = [ends[0].min(low), ends[1].max(high)];
    }
    Some(PairedRatio { reference: base.benchmark.name.clone(), ratio, interval: ends })
}
