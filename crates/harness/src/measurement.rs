//! Measures jobs: interleaves the launches of their entries, and returns the run.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use fastrand::Rng;
use yamba_record::hardware::{HardwareParameter, limits_others};
use yamba_record::machine::{CorePairs, Machine, MeasuredCaches, Scratch as ScratchFacts};
use yamba_record::run::Plan;
use yamba_record::{Benchmark, Run};

use super::caches::{cache_curve, measured};
use super::child::Limits;
use super::clock::unix_s;
use super::contention::{Neighbours, QuietWidths};
use super::core_pairs::{self, cores_argument};
use super::crash::Listing;
use super::earlier_figures::EarlierFigures;
use super::job::{Job, Program, UsageError};
use super::kept_hardware::kept_hardware;
use super::launches::Conditions;
use super::options::{Options, PROGRAMS_WARMUP};
use super::progress::Progress;
use super::random::{drawn_id, drawn_seed};
use super::run_sink::{RunSink, ThrottledSink};
use super::scratch::Scratch;
use super::slot::{Slot, keep_time, measured, settled, slots};
use super::stop::Stop;
use super::units::whole_ns;
use super::width_probes::width_probes;
use super::{quiet_file, sizes};

/// Jobs to measure, and the receiver of progress reports.
pub struct Measurement<'a> {
    /// The benchmarks.
    pub jobs: &'a [Job],
    /// Options for all jobs.
    pub options: &'a Options,
    /// The instruction set that the programs are built for.
    pub isa: &'a str,
    /// The operating system that the programs are built for.
    pub system: &'a str,
    /// Receives the progress.
    pub progress: &'a mut dyn Progress,
    /// Ends the run early; launches so far count. Only a request interrupts it, not the end of its
    /// time.
    pub stop: &'a Stop,
    /// Shows the code around a crash.
    pub listing: &'a Listing<'a>,
    /// How batches beside a neighbour are treated.
    pub neighbours: Neighbours,
}

impl<'a> Measurement<'a> {
    /// Measures every job. Points that crash, hang or cannot run lose only their own figure.
    ///
    /// # Errors
    /// If parameters are not understood: all are checked before anything is measured.
    pub fn run(self) -> Result<Run, UsageError> {
        self.run_into(&mut ())
    }

    /// Measures like [`run`](Measurement::run), and passes each result to `sink` at once.
    ///
    /// # Errors
    /// As [`run`](Measurement::run).
    pub fn run_into(self, sink: &mut dyn RunSink) -> Result<Run, UsageError> {
        let begun = Instant::now();
        let options = self.options;
        let scratch = Scratch::new();
        let mut run = self.begun();
        let widths = self.widths(&run.machine, run.plan.seed);
        run.machine.core_pairs = self.core_pairs(&run.machine, run.plan.seed);
        run.machine.measured_caches = self.caches(&run.machine, &widths);
        let kept = self.neighbours.folder().map(|folder| kept_hardware(folder, &run.machine));
        run.machine.hardware = kept.unwrap_or_default();
        // Sizes of benchmarks, and buffers that limit what `yamba hardware` finds.
        let is_used = |p: &HardwareParameter| sizes::is_used(p) || limits_others(&p.name);
        run.machine.hardware.retain(|kept| is_used(&kept.parameter));
        let limits = Limits {
            sizes: sizes::variable(options, Some(&run.machine)),
            ..Limits::new(options, self.stop, &scratch)
        };
        let conditions = Conditions {
            options,
            scratch: &scratch,
            limits,
            cpus: processors_at_once(&run.machine),
            cpu_quota: cpu_quota(&run.machine),
            listing: self.listing,
            begun,
            quiet: RefCell::new(widths),
            seeds: RefCell::new(Rng::with_seed(run.plan.seed)),
            cores: run.machine.core_pairs.as_ref().and_then(|found| cores_argument(&found.pairs)),
            counts_neighbours: run.plan.counts_neighbours,
        };
        let (mut places, of_job) =
            slots(self.jobs, options, &scratch, &conditions.limits, || begun.elapsed())?;
        let mut sink = ThrottledSink::begin(sink, &run, &of_job)?;
        for (i, place) in places.iter().enumerate() {
            if let Slot::Settled(benchmark) = place {
                sink.tell(i, benchmark);
            }
        }
        let mut rounds = Rounds { random: Rng::with_seed(run.plan.seed), number: 0 };
        rounds.measure(&mut places, &conditions, self.progress, &mut sink);
        let kept = self.neighbours.folder();
        let kept = kept.map(|folder| EarlierFigures::read(folder, &run.machine, &run.plan));
        let mut kept = kept.unwrap_or_default();
        let entries = settled(places, &conditions.quiet.borrow(), &kept);
        for (i, (entry, is_changed)) in entries.into_iter().enumerate() {
            if is_changed {
                sink.tell(i, &entry);
            } else {
                sink.last(i, &entry);
            }
            note_scratch(&mut run, &entry);
            run.benchmarks.push(entry);
        }
        run.interrupted = self.stop.requested();
        run.finished_unix_s = unix_s();
        let quiet = conditions.quiet.borrow();
        note_neighbours(&mut run, &quiet);
        if let Some(folder) = self.neighbours.folder() {
            let now = run.finished_unix_s.unwrap_or_default();
            quiet_file::update(folder, &run.machine, &quiet.findings(), now);
            if !run.interrupted {
                kept.add(&run.benchmarks, now);
                kept.write(folder, &run.machine);
            }
        }
        self.progress.end(run.interrupted);
        Ok(run)
    }

    /// The run before the first launch.
    fn begun(&self) -> Run {
        let mut run = Run::new(yamba_machine::probe(self.isa, self.system));
        run.plan = Plan {
            counts_neighbours: matches!(self.neighbours, Neighbours::Count),
            ..planned(self.options)
        };
        run.producer = self.options.origin.producer.clone();
        run.sources = self.options.origin.sources.clone();
        run.tags = self.options.origin.tags.clone();
        run.id = drawn_id();
        run.started_unix_s = unix_s();
        run
    }

    /// The quiet widths and whole buffers of earlier runs. The first run probes them before its
    /// first figure: a neighbour of that moment could pass for a quiet core.
    fn widths(&self, machine: &Machine, seed: u64) -> QuietWidths {
        let Some(folder) = self.neighbours.folder() else {
            return QuietWidths::default();
        };
        let kept = quiet_file::read(folder, machine);
        let known = quiet_file::widths(&kept);
        let buffers = quiet_file::whole_buffers(&kept);
        let is_first = known.is_empty() || buffers.is_empty();
        let mut widths = QuietWidths::new(known).with_buffers(buffers);
        if is_first && let Some(program) = self.native_program() {
            for probed in width_probes(program, self.options, seed, self.stop) {
                widths.add_probes(&probed);
            }
        }
        widths
    }

    /// Which processors share a core, as this run or one shortly before has tested it.
    fn core_pairs(&self, machine: &Machine, seed: u64) -> Option<CorePairs> {
        let (folder, now) = (self.neighbours.folder()?, unix_s()?);
        if let Some(kept) = core_pairs::valid_core_pairs(folder, machine, now) {
            return Some(kept);
        }
        let program = self.native_program().filter(|_| machine.cpus > 1)?;
        let pairs = core_pairs::test_core_pairs(program, self.options, seed, self.stop)?;
        let found = CorePairs { pairs, unix_s: now };
        core_pairs::keep(folder, machine, &found);
        Some(found)
    }

    /// A program of the run that measures this machine itself.
    fn native_program(&self) -> Option<&Program> {
        let mut programs = self.jobs.iter().filter_map(|job| job.program.as_ref().ok());
        programs.find(|program| !program.emulated)
    }

    /// The caches of this machine: predictions use them, too. If no earlier run has measured them,
    /// a program of a run that may reduce sizes does.
    fn caches(&self, machine: &Machine, widths: &QuietWidths) -> Option<MeasuredCaches> {
        let folder = self.neighbours.folder()?;
        let kept = measured::kept_caches(folder, machine);
        if kept.is_some() || self.options.buffer_room().is_none() {
            return kept;
        }
        let program = self.native_program()?;
        let buffers = widths.whole_buffers();
        let mut curves = Vec::new();
        while curves.len() < measured::MOST_CURVES {
            curves.push(cache_curve(program, self.options, self.stop, None, &buffers).ok()?);
            let found = measured::hardware(&curves, widths.expected(), machine, unix_s()?);
            if let Some(found) = found {
                measured::keep(folder, machine, &found);
                return Some(found);
            }
        }
        None
    }
}

pub(super) fn planned(options: &Options) -> Plan {
    let each = options.workers.iter();
    let batches = each.map(|w| options.planned_batches(*w)).min();
    Plan {
        seed: options.seed.unwrap_or_else(drawn_seed),
        launches: options.planned_launches(),
        batches: batches.unwrap_or_default(),
        precision: options.precision,
        time_ns: whole_ns(options.time),
        benchmark_time_ns: options.benchmark_time.map(whole_ns),
        warmup_ns: whole_ns(options.warmup.unwrap_or(PROGRAMS_WARMUP)),
        placement: options.placement.kind().to_owned(),
        realtime: options.realtime,
        counts_neighbours: false,
        percentiles: options.percentiles,
    }
}

/// Rounds of one launch of each entry that still needs one. Each round has a random order.
struct Rounds {
    random: Rng,
    number: u64,
}

impl Rounds {
    fn measure(
        &mut self,
        places: &mut [Slot<'_>],
        conditions: &Conditions<'_>,
        progress: &mut dyn Progress,
        sink: &mut ThrottledSink<'_>,
    ) {
        loop {
            let mut due: Vec<usize> = measured(places)
                .filter(|(_, launches)| launches.left() > 0)
                .map(|(place, _)| place)
                .collect();
            if due.is_empty() {
                return;
            }
            self.random.shuffle(&mut due);
            for next in due {
                if conditions.limits.stop.requested() {
                    return;
                }
                if conditions.limits.stop.is_out_of_time() {
                    return places.iter_mut().for_each(|place| place.end_time(conditions));
                }
                if let Some(budget) = too_short(&places[next], conditions) {
                    places[next].limit(0, budget);
                    continue;
                }
                progress.left(measured(places).map(|(_, l)| l.left()).sum());
                progress.time_left(measured(places).map(|(_, l)| l.time_left()).sum());
                self.launch(places, next, conditions, progress, sink);
            }
            self.number += 1;
            if let Some(budget) = conditions.options.run_time() {
                keep_time(places, budget, budget.saturating_sub(conditions.begun.elapsed()));
            }
        }
    }

    fn launch(
        &self,
        places: &mut [Slot<'_>],
        number: usize,
        conditions: &Conditions<'_>,
        progress: &mut dyn Progress,
        sink: &mut ThrottledSink<'_>,
    ) {
        let is_late = is_late(places, conditions);
        let place = &mut places[number];
        let Slot::Measured(launches, None) = place else {
            return;
        };
        let entry = &launches.entry;
        progress.launch(entry.class, &entry.point.parameters(), entry.workers);
        match launches.launch(conditions, self.number, is_late) {
            None => sink.launched(number, launches),
            Some(benchmark) => {
                sink.tell(number, &benchmark);
                place.judge(benchmark);
            }
        }
    }
}

/// The time of the run, if the next launch of an entry would end after it: others have taken longer
/// than expected.
fn too_short(place: &Slot<'_>, conditions: &Conditions<'_>) -> Option<Duration> {
    let Slot::Measured(launches, None) = place else {
        return None;
    };
    let ends = conditions.begun.elapsed() + launches.expected().each;
    conditions.options.run_time().filter(|budget| ends > *budget)
}

/// Whether the time of the run is only just enough for the first launches that are still to come.
fn is_late(places: &[Slot<'_>], conditions: &Conditions<'_>) -> bool {
    let first = measured(places).map(|(_, launches)| launches.expected());
    let first: Duration = first.filter(|e| e.least > 0).map(|e| e.each).sum();
    let budget = conditions.options.run_time();
    budget.is_some_and(|budget| conditions.begun.elapsed() + first > budget)
}

/// Records the quiet widths, and the contention of each processor that the run probed.
pub(super) fn note_neighbours(run: &mut Run, quiet: &QuietWidths) {
    let known = quiet.known().into_iter();
    run.machine.quiet_widths = known.map(|(cpu, w)| (cpu.to_string(), w)).collect();
    let buffers = quiet.whole_buffers().into_iter();
    run.machine.whole_buffers = buffers.map(|(cpu, n)| (cpu.to_string(), n)).collect();
    let unix_s = run.finished_unix_s.unwrap_or_default();
    let findings = quiet.findings().into_iter();
    let contention = findings.filter_map(|(cpu, f)| Some((cpu.to_string(), f.contention(unix_s)?)));
    run.machine.contention = contention.collect();
}

/// How many processes can run at the same time: the number of processors, or the CPU quota where
/// that is less.
fn processors_at_once(machine: &Machine) -> u64 {
    cpu_quota(machine).map_or(machine.cpus, |quota| machine.cpus.min(quota as u64))
}

fn cpu_quota(machine: &Machine) -> Option<f64> {
    machine.details.as_deref().and_then(|d| d.virtualisation.cpu_quota)
}

/// Records facts about the scratch disk. Every program sees the same disk, so the first report is
/// taken.
pub(super) fn note_scratch(run: &mut Run, benchmark: &Benchmark) {
    let fact = |name| benchmark.environment.platform.get(name);
    if let Some(is_memory) = fact("scratch_is_memory") {
        run.machine.scratch.get_or_insert(ScratchFacts {
            is_memory: is_memory.as_bool().unwrap_or(false),
            read_ahead: fact("read_ahead").and_then(serde_json::Value::as_u64),
        });
    }
}
