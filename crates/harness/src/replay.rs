//! Computes a run from recorded launches: a bundle makes them on machines without Yamba. Equal
//! records give the same entries as in a run here.

use std::time::Duration;

use yamba_record::event::ProcessorProbes;
use yamba_record::machine::Machine;
use yamba_record::program::{Program as Description, SCHEMA};
use yamba_record::run::LaunchRequest;
use yamba_record::{Event, Note, Run, Workers};

use super::contention::{QuietWidths, batch_length};
use super::crash::Listing;
use super::earlier_figures::EarlierFigures;
use super::job::Job;
use super::launches::{self, EndedLaunch, Launches};
use super::measurement::{note_neighbours, note_scratch, planned};
use super::options::Options;
use super::plan::{self, Planned};
use super::points::Refused;
use super::process_output::{ProcessExit, ProcessOutput};
use super::reader::Reader;
use super::schedule;
use super::slot::{Slot, settled};
use super::{describe, units::whole_ns};

/// A recorded run.
pub struct Recording<'a> {
    /// The benchmarks.
    pub jobs: &'a [Job],
    /// Options for all jobs; `launches` is given.
    pub options: &'a Options,
    /// The machine that measured.
    pub machine: Machine,
    /// The points of the benchmarks, in the order of the entries.
    pub points: Vec<Point>,
    /// The records of width probes before the first launch.
    pub probes: &'a [u8],
    /// The launches in the order in which they ran.
    pub launches: Vec<Launch>,
    /// Shows the code around a crash.
    pub listing: &'a Listing<'a>,
}

/// A benchmark at one point.
pub struct Point {
    /// The index of its job.
    pub job: usize,
    /// The values of its swept parameters.
    pub settings: Vec<(String, String)>,
    /// The exit status of the program that was asked for its description; negative if it ended
    /// otherwise.
    pub status: i64,
    pub description: Option<Description>,
    /// The program's standard error.
    pub messages: String,
    /// A note about each launch that is lost.
    pub lost: Vec<String>,
}

/// A launch of the benchmark at one point.
pub struct Launch {
    /// The index of the point.
    pub point: usize,
    /// The number of the round.
    pub round: u64,
    /// The quiet width that the launch was given, in cycles of 10 000 instructions.
    pub quiet_width: Option<f64>,
    /// The length of a batch that the launch was given, in ns.
    pub batch_ns: Option<u64>,
    /// Start since the start of the run.
    pub started: Duration,
    /// Duration of the launch.
    pub took: Duration,
    /// From the record of the first batch to that of the last.
    pub batches_took: Duration,
    /// How it ended.
    pub exit: Exit,
    /// The program's standard error.
    pub messages: String,
    /// Names of processes that outlived the launch.
    pub orphans: Vec<String>,
    /// The lines that the program wrote.
    pub records: Vec<u8>,
}

/// How a recorded launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By exit, with this status.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// It wrote nothing for too long, and was killed.
    Hung,
    /// It took too long, and was killed.
    TimedOut,
    /// It wrote too much, and was killed.
    Flooded,
    /// It could not be started.
    NotStarted,
}

/// The part of a launch that does not depend on the machine: the same for all entries of a run with
/// these options, which measure one process.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedLaunch {
    /// The arguments besides the parameters.
    pub arguments: Vec<String>,
    /// The settings that the arguments ask for.
    pub request: LaunchRequest,
    /// Number of launches of each entry.
    pub launches: u64,
    /// Longest time without output.
    pub silence: Duration,
    /// Longest duration.
    pub timeout: Duration,
    /// Length of a batch beside a neighbour, in ns.
    pub short_batch_ns: u64,
}

/// The launches of a run with these options.
pub fn fixed_launch(options: &Options) -> FixedLaunch {
    let share = schedule::share(options, Workers::ONE, options.time);
    let request = launches::plain_request(options, share);
    let silence = schedule::silence(options, Workers::ONE, 1, share);
    FixedLaunch {
        arguments: launches::request_arguments(options, share, Workers::ONE, &request),
        request,
        launches: options.planned_launches(),
        silence,
        timeout: schedule::timeout(options, silence, share),
        short_batch_ns: whole_ns(batch_length::SHORT_BATCH),
    }
}

/// Computes the run. The caller fills in its id, its times and its origin.
pub fn replay(recording: Recording<'_>) -> Run {
    let options = recording.options;
    let request = fixed_launch(options).request;
    let mut run = Run::new(recording.machine);
    run.plan = planned(options);
    let mut slots: Vec<Slot<'_>> = Vec::new();
    for point in recording.points {
        slots.push(slot(recording.jobs, options, point));
    }
    let mut widths = probed(recording.probes);
    for launch in recording.launches {
        let Some(slot) = slots.get_mut(launch.point) else {
            continue;
        };
        let Slot::Measured(launches, None) = slot else {
            continue;
        };
        let ended = ended(launch, &request);
        let benchmark = launches.take(ended, options, recording.listing, Some(&mut widths));
        if let Some(benchmark) = benchmark {
            slot.judge(benchmark);
        }
    }
    for (entry, _) in settled(slots, &widths, &EarlierFigures::default()) {
        note_scratch(&mut run, &entry);
        run.benchmarks.push(entry);
    }
    note_neighbours(&mut run, &widths);
    run
}

fn slot<'a>(jobs: &'a [Job], options: &Options, point: Point) -> Slot<'a> {
    let job = &jobs[point.job];
    let lost = point.lost.clone();
    match plan::recorded(job, options, point.settings.clone(), answer(point)) {
        Planned::Settled(mut benchmark) | Planned::Faulty(mut benchmark) => {
            benchmark.declaration.provenance = job.provenance.clone();
            benchmark.notes.extend(lost.into_iter().map(Note::Text));
            Slot::Settled(benchmark)
        }
        Planned::Measure(entry) => Slot::of_recorded(Launches::new(*entry, options), lost),
    }
}

/// The program's answer as if it had been asked here.
fn answer(point: Point) -> Result<Description, Refused> {
    match (point.status, point.description) {
        (0, Some(description)) if description.schema == SCHEMA => describe::checked(description),
        (2, _) => Err(Refused::Usage(point.messages)),
        (4, _) => Err(Refused::Skip(point.messages)),
        (_, _) if !point.messages.is_empty() => Err(Refused::Crash(vec![point.messages])),
        (status, _) => {
            let text = format!("it does not describe itself: status {status}");
            Err(Refused::Crash(vec![text]))
        }
    }
}

/// The quiet widths by the probes before the first launch.
fn probed(records: &[u8]) -> QuietWidths {
    let mut widths = QuietWidths::default();
    let mut reader = Reader::default();
    reader.push(records);
    for event in reader.finish().0 {
        if let Event::Probes { cpu: Some(cpu), widths: found, windows } = event {
            let probed = ProcessorProbes { cpu, widths: found, windows, ..Default::default() };
            widths.add_probes(&probed);
        }
    }
    widths
}

fn ended(launch: Launch, request: &LaunchRequest) -> EndedLaunch {
    let mut reader = Reader::default();
    reader.push(&launch.records);
    let exit = match (reader.fault(), exit(&launch)) {
        (Some(fault), ProcessExit::Exit(_)) => ProcessExit::BadRecord(fault.to_owned()),
        (_, exit) => exit,
    };
    let (events, garbled) = reader.finish();
    EndedLaunch {
        round: launch.round,
        started: launch.started,
        took: launch.took,
        request: LaunchRequest {
            quiet_width: launch.quiet_width,
            batch_ns: launch.batch_ns,
            ..request.clone()
        },
        output: ProcessOutput {
            events,
            garbled,
            messages: launch.messages,
            orphans: launch.orphans,
            exit,
            batches_took: launch.batches_took,
        },
    }
}

fn exit(launch: &Launch) -> ProcessExit {
    match launch.exit {
        Exit::Exited(status) => ProcessExit::Exit(status),
        Exit::Signalled(signal) => ProcessExit::Signal(signal),
        Exit::Hung => ProcessExit::Hung(launch.took),
        Exit::TimedOut => ProcessExit::TimedOut(launch.took),
        Exit::Flooded => ProcessExit::Flooded,
        Exit::NotStarted => ProcessExit::NotStarted(launch.messages.clone()),
    }
}
