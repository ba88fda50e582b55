//! The launches of one entry. They start one at a time, interleaved with those of other entries,
//! until the entry has enough.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use yamba_record::event::{Curve, Event};
use yamba_record::number::number;
use yamba_record::run::{IntervalScope, LaunchRequest};
use yamba_record::{Batch, Benchmark, Note, Status, Workers};
use yamba_stats::median;

use super::assemble::{PackedLaunch, Recorded};
use super::budget::Expected;
use super::child::{self, Limits};
use super::choice::{self, Choice};
use super::contention::{NEIGHBOUR, QuietWidth, QuietWidths};
use super::crash::Listing;
use super::estimate::ENOUGH_LAUNCHES;
use super::launch_status::{LaunchStatus, launch_status};
use super::options::{Options, PROGRAMS_WARMUP, Placement};
use super::plan::PlannedEntry;
use super::process_output::ProcessOutput;
use super::schedule::{self, Cost, Share, Taken};
use super::scratch::Scratch;
use super::summary::{Protocol, summarise};
use super::units::{saturated, whole_ns};
use super::{describe, points};

/// A launch stops early when its own confidence interval has this share of the width that the entry
/// requires.
const WITHIN_A_LAUNCH: f64 = 0.5;

/// Estimated time of a launch besides its timing: process start, set-up and end.
const START: Duration = Duration::from_millis(40);

/// Estimated time to fill one mebibyte of fresh memory, or to lay a chase through it.
const FILL: Duration = Duration::from_millis(1);

/// Longest time of an entry beside neighbours, as a multiple of the planned time.
const PATIENCE: u32 = 3;

/// Most single operations of a launch. With six launches, 60 lie above the 99.9th percentile.
const MOST_SINGLES: u64 = 10_000;

/// The note of an entry that is launched on all processors because of its own threads.
const FREED: &str = "its threads run in parallel, so the system chose the processors; `--placement pinned` keeps them on one";

/// Number of failed launches after which an entry is given up.
const ACCIDENTS: usize = 2;

/// An entry and the records of its launches so far.
pub(super) struct Launches<'a> {
    pub entry: PlannedEntry<'a>,
    recorded: Recorded,
    /// The records of each launch.
    launches: Vec<PackedLaunch>,
    ends: Vec<LaunchStatus>,
    timings: Vec<LaunchTiming>,
    budget: LaunchBudget,
    notes: Vec<String>,
    /// The launches planned before the time of the whole run was too short, and a note of that.
    shortened: Option<(u64, String)>,
    percentiles: bool,
    /// The CPU quota of the control group in which the launches run, in processors.
    cpu_quota: Option<f64>,
    /// Whether an earlier launch ended because its threads need more than one processor.
    is_free: bool,
    accidents: usize,
    is_over: bool,
    /// The quiet width of each processor that a launch ran on.
    quiet: BTreeMap<u64, QuietWidth>,
}

/// Planned launches of an entry, and their time.
struct LaunchBudget {
    /// Planned number of launches.
    goal: u64,
    /// Number of these that were added because a neighbour disturbed the entry.
    returns: u64,
    /// Planned time of all launches together.
    planned: Duration,
    /// Requested warm-up of each launch.
    warmup: Duration,
    spent: Duration,
    share: Share,
}

/// Times and settings of a launch that ran.
struct LaunchTiming {
    round: u64,
    started: Duration,
    took: Duration,
    request: LaunchRequest,
    cost: Option<Cost>,
}

/// A launch that has ended, measured here or recorded elsewhere.
pub(super) struct EndedLaunch {
    pub round: u64,
    /// Start since the start of the run.
    pub started: Duration,
    pub took: Duration,
    pub request: LaunchRequest,
    pub output: ProcessOutput,
}

/// Conditions that all launches of a run share.
pub(super) struct Conditions<'a> {
    pub options: &'a Options,
    pub scratch: &'a Scratch,
    pub limits: Limits,
    pub cpus: u64,
    /// The CPU quota of the control group, in processors.
    pub cpu_quota: Option<f64>,
    /// The width of an undisturbed core, as far as this run knows it.
    pub quiet: RefCell<QuietWidths>,
    /// Draws a seed for each launch that chooses its processor.
    pub seeds: RefCell<Rng>,
    /// The cores of the processors by a test, as an argument of the programs.
    pub cores: Option<String>,
    /// Whether batches beside a neighbour count like all others.
    pub counts_neighbours: bool,
    pub listing: &'a Listing<'a>,
    /// Start of the run.
    pub begun: Instant,
}

impl<'a> Launches<'a> {
    pub fn new(mut entry: PlannedEntry<'a>, options: &Options) -> Launches<'a> {
        let goal = options.planned_launches();
        let share = schedule::share(options, entry.workers, entry.time);
        let warmup = options.warmup.unwrap_or_default();
        let all = saturated(goal);
        Launches {
            budget: LaunchBudget {
                goal,
                returns: 0,
                planned: (share.time + warmup).saturating_mul(all).max(entry.time),
                warmup,
                spent: Duration::ZERO,
                share,
            },
            notes: std::mem::take(&mut entry.notes),
            shortened: None,
            recorded: Recorded::new(&entry.point.program, entry.workers),
            launches: Vec::new(),
            ends: Vec::new(),
            timings: Vec::new(),
            percentiles: options.percentiles,
            cpu_quota: None,
            is_free: false,
            accidents: 0,
            quiet: BTreeMap::new(),
            is_over: false,
            entry,
        }
    }

    /// Number of launches still planned.
    pub fn left(&self) -> u64 {
        if self.is_over {
            return 0;
        }
        self.budget.goal.saturating_sub(self.timings.len() as u64)
    }

    /// Estimated time of the remaining launches.
    pub fn time_left(&self) -> Duration {
        self.each().saturating_mul(saturated(self.left()))
    }

    /// Estimated time of a launch: the mean of those before, or the planned time before the first.
    fn each(&self) -> Duration {
        let filled = FILL.saturating_mul(saturated(self.entry.point.program.setup_bytes >> 20));
        match self.timings.len() as u32 {
            0 => self.budget.planned / saturated(self.budget.goal.max(1)) + START + filled,
            done => self.budget.spent / done,
        }
    }

    /// The remaining launches, for the run's budget.
    pub fn expected(&self) -> Expected {
        Expected { launches: self.left(), least: u64::from(!self.has_begun()), each: self.each() }
    }

    /// Plans this number of further launches, if that is less than before. `budget` is the time of
    /// the whole run.
    pub fn limit(&mut self, further: u64, budget: Duration) {
        if further >= self.left() {
            return;
        }
        let before = std::mem::replace(&mut self.budget.goal, self.timings.len() as u64 + further);
        let dropped = before - self.budget.goal;
        if dropped <= self.budget.returns {
            self.budget.returns -= dropped;
            return;
        }
        let before = before - std::mem::take(&mut self.budget.returns);
        let before = self.shortened.as_ref().map_or(before, |(first, _)| *first);
        let note = format!(
            "{} instead of {before} launches, since each takes {} s and the whole run has {} s: measured alone, it gets all of them",
            self.budget.goal,
            number(self.each().as_secs_f64()),
            number(budget.as_secs_f64()),
        );
        self.shortened = Some((before, note));
    }

    /// Why not even one launch fits into the time of the whole run.
    pub fn without_time(&self, budget: Duration) -> String {
        if budget.is_zero() {
            return format!("no time was left: `yamba run {}` measures it", self.entry.class);
        }
        format!(
            "a launch would take {} s of the {} s of the whole run: `yamba run {}` measures it",
            number(self.each().as_secs_f64()),
            number(budget.as_secs_f64()),
            self.entry.class
        )
    }

    /// Total time of the launches so far.
    pub fn spent(&self) -> Duration {
        self.budget.spent
    }

    /// Plans one launch less for each of these notes, which say that its records are lost.
    pub fn lose(&mut self, lost: &[String]) {
        self.budget.goal = self.budget.goal.saturating_sub(lost.len() as u64);
        self.notes.extend_from_slice(lost);
    }

    /// Notes of the plan and about its changes.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.notes.iter().chain(self.shortened.as_ref().map(|(_, note)| note)).cloned()
    }

    pub fn has_begun(&self) -> bool {
        !self.timings.is_empty()
    }

    /// Starts one fresh process, or one set of processes or threads at the same time. Returns the
    /// entry if this launch was its last. A run that `is_late` does not wait for quiet moments.
    pub fn launch(
        &mut self,
        conditions: &Conditions<'_>,
        round: u64,
        is_late: bool,
    ) -> Option<Benchmark> {
        let options = conditions.options;
        self.cpu_quota = conditions.cpu_quota;
        let scratch = conditions.scratch.folder(self.entry.class);
        let mut request = self.request(options, &conditions.quiet.borrow(), is_late);
        let mut arguments = self.arguments(options, &request);
        let choice = self.choice(conditions, is_late);
        arguments.extend(choice.iter().flat_map(Choice::arguments));
        if self.has_probes() {
            arguments.extend(choice::whole_buffers(&conditions.quiet.borrow().whole_buffers()));
        }
        let limits = self.limits(conditions);
        let started = conditions.begun.elapsed();
        let output = child::run(self.entry.program, &arguments, &scratch, &limits);
        let took = conditions.begun.elapsed() - started;
        if is_failure(&output, self.entry.class, conditions.listing) {
            conditions.scratch.forget(self.entry.class);
        }
        if self.frees(&output, options) {
            return None;
        }
        if let Some(choice) = choice {
            let cpu = output.processor();
            request.quiet_width = cpu.and_then(|cpu| choice.quiet_width(cpu));
        }
        let ended = EndedLaunch { round, started, took, request, output };
        let mut widths = conditions.quiet.borrow_mut();
        let widths = (!conditions.counts_neighbours).then_some(&mut *widths);
        self.take(ended, options, conditions.listing, widths)
    }

    /// Adds a launch that has ended. Returns the entry if this launch was its last. Its probes
    /// update `widths`.
    pub fn take(
        &mut self,
        ended: EndedLaunch,
        options: &Options,
        listing: &Listing<'_>,
        widths: Option<&mut QuietWidths>,
    ) -> Option<Benchmark> {
        let EndedLaunch { took, output, .. } = ended;
        self.budget.spent += took;
        let end = launch_status(self.entry.class, &output, listing);
        self.update_status(&end);
        self.ends.push(end);
        let launch = self.recorded.append(&self.entry.point.program, &output);
        let batches = &launch.records.batches;
        if let Some(widths) = widths {
            self.note_widths(batches, &launch.records.curves, widths);
        }
        let taken = Taken {
            // Without the requested warm-up: that part cannot be saved.
            all: took.saturating_sub(self.budget.warmup),
            batches: output.batches_took,
        };
        self.timings.push(LaunchTiming {
            round: ended.round,
            started: ended.started,
            took,
            request: ended.request,
            cost: schedule::cost(batches, taken),
        });
        if self.timings.len() == 1 {
            self.pace(options, batches, taken);
        }
        self.launches.push(launch.pack());
        if self.left() > 0 {
            return None;
        }
        let summary = self.summary();
        if !self.is_over && options.may_add_launches() {
            self.add_launches(options, &summary);
        }
        if self.may_return(options, &summary) {
            self.budget.goal += 1;
            self.budget.returns += 1;
        }
        (self.left() == 0).then_some(summary)
    }

    /// Whether this launch is replaced by one on all processors: its threads shared one, which no
    /// option demands. Earlier launches, in which they had not run yet, count no more.
    fn frees(&mut self, output: &ProcessOutput, options: &Options) -> bool {
        let needs_free = |event: &Event| matches!(event, Event::Error(e) if e.needs_free);
        let is_automatic = options.placement == Placement::Automatic && !self.is_free;
        if !is_automatic || !output.events.iter().any(needs_free) {
            return false;
        }
        self.is_free = true;
        self.recorded = Recorded::new(&self.entry.point.program, self.entry.workers);
        self.launches.clear();
        self.ends.clear();
        self.timings.clear();
        self.quiet.clear();
        self.notes.push(FREED.to_owned());
        true
    }

    /// Whether probes tell of neighbours. Concurrent processes and threads share cores with each
    /// other, and emulated probes say nothing.
    fn has_probes(&self) -> bool {
        !self.entry.workers.are_several() && !self.entry.program.emulated
    }

    /// Adds the probes of the latest launch, and updates the widths of this entry. Without a fixed
    /// processor nothing is known: the processors may differ.
    fn note_widths(&mut self, batches: &[Batch], curves: &[Curve], widths: &mut QuietWidths) {
        if !self.has_probes() {
            return;
        }
        let placement = self.recorded.latest_placement();
        for probed in placement.map_or(&[][..], |placement| &placement.probed) {
            widths.add_probes(probed);
        }
        // The probes of a benchmark that shares its core with its partner show the partner.
        if let Some(cpu) = self.recorded.latest_processor()
            && !self.recorded.latest_shares_core()
        {
            widths.add(cpu, batches, curves);
            self.quiet.insert(cpu, widths.width(cpu));
        }
        self.update_widths(widths);
    }

    /// Takes over the quiet widths as they are known now. Returns whether one of them judges
    /// batches differently than before.
    fn update_widths(&mut self, widths: &QuietWidths) -> bool {
        let mut is_changed = false;
        for (cpu, width) in &mut self.quiet {
            let now = widths.width(*cpu);
            is_changed |= !now.is_same(*width);
            *width = now;
        }
        is_changed
    }

    fn limits(&self, conditions: &Conditions<'_>) -> Limits {
        let options = conditions.options;
        let workers = self.entry.workers;
        let silence = schedule::silence(options, workers, conditions.cpus, self.budget.share);
        Limits {
            silence,
            timeout: schedule::timeout(options, silence, self.budget.share),
            workers: workers.count(),
            ..conditions.limits.clone()
        }
    }

    /// How the next launch chooses its processor. `None` if it does not.
    fn choice(&self, conditions: &Conditions<'_>, is_late: bool) -> Option<Choice> {
        let placement = self.placement(conditions.options);
        let chooses = matches!(placement, Placement::Automatic | Placement::Pinned)
            && !self.entry.program.emulated
            && !conditions.counts_neighbours;
        let quiet = conditions.quiet.borrow();
        chooses.then(|| Choice {
            seed: conditions.seeds.borrow_mut().u32(..).into(),
            home: self.recorded.latest_processor().or(quiet.latest()),
            widths: quiet.known(),
            cores: conditions.cores.clone(),
            until_quiet: !is_late && !self.entry.workers.are_several(),
        })
    }

    /// The settings of the next launch.
    fn request(&self, options: &Options, quiet: &QuietWidths, is_late: bool) -> LaunchRequest {
        let placement = self.placement(options);
        let is_probed = self.has_probes() && placement != Placement::Free;
        let short = quiet.short_batch().filter(|_| is_probed);
        let is_fixed = matches!(placement, Placement::On(_));
        LaunchRequest {
            quiet_width: quiet.expected().filter(|_| is_probed && is_fixed && !is_late),
            batch_ns: short.map(whole_ns),
            ..plain_request(options, self.budget.share)
        }
    }

    /// The program's command-line arguments; defaults are omitted.
    fn arguments(&self, options: &Options, request: &LaunchRequest) -> Vec<String> {
        let entry = &self.entry;
        let mut arguments = vec!["--run".to_owned()];
        arguments.extend(points::settings(&entry.point.settings));
        arguments.extend(request_arguments(options, self.budget.share, entry.workers, request));
        if self.is_free {
            arguments.extend(Placement::Free.arguments());
        }
        arguments
    }

    /// The placement of the next launch.
    fn placement(&self, options: &Options) -> Placement {
        if self.is_free { Placement::Free } else { options.placement }
    }

    /// Decides whether the entry is over. A crash may be bad luck once; a hang has cost enough
    /// time.
    fn update_status(&mut self, end: &LaunchStatus) {
        match end {
            LaunchStatus::Complete => {}
            LaunchStatus::Skipped { .. } | LaunchStatus::Stopped | LaunchStatus::OutOfTime => {
                self.is_over = true;
            }
            LaunchStatus::Failed { is_final, .. } => {
                self.accidents += 1;
                self.is_over |= *is_final || self.accidents >= ACCIDENTS;
            }
        }
    }

    /// Adapts the plan to the duration of the first launch.
    fn pace(&mut self, options: &Options, first: &[Batch], taken: Taken) {
        if options.batches.is_some() || self.entry.workers.are_several() {
            return;
        }
        let before = self.budget.share;
        let took = self.timings[0].took;
        let fewer = |slow| schedule::slow_launches(slow, before, first, took);
        if let Some(fewer) = options.slow.and_then(fewer) {
            return self.slow_down(fewer, first, took);
        }
        self.budget.share = schedule::paced(before, first, taken);
        if self.budget.share.batches < before.batches {
            self.notes.push(format!(
                "slow: after the first launch of {} batches {} batches a launch",
                first.len(),
                self.budget.share.batches
            ));
        }
    }

    /// Plans `launches` launches, or the present goal if that is smaller. Each takes as long as the
    /// first.
    fn slow_down(&mut self, launches: u64, first: &[Batch], took: Duration) {
        let before = self.budget.goal;
        self.budget.goal = before.min(launches);
        self.budget.planned = took.saturating_mul(saturated(self.budget.goal));
        let alone = match self.budget.goal as usize {
            ..ENOUGH_LAUNCHES => "; so few launches say little of the next process",
            _ => "",
        };
        self.notes.push(format!(
            "slow: the figure rests on {} launches of {} batches, of one pass each{alone}",
            self.budget.goal,
            first.len(),
        ));
    }

    /// A note if the launches took much longer than planned. `None` after a failed launch.
    fn overrun(&self) -> Option<String> {
        if self.accidents > 0 {
            return None;
        }
        let costs = self.timings.iter().filter_map(|timing| timing.cost);
        let costs = costs.map(|c| c.fixed.as_secs_f64());
        let alone = !self.entry.workers.are_several();
        let besides = median(&costs.collect::<Vec<f64>>()).filter(|_| alone);
        let besides = besides.map(Duration::from_secs_f64);
        schedule::overrun(self.budget.planned, self.budget.spent, besides)
    }

    fn add_launches(&mut self, options: &Options, summary: &Benchmark) {
        if summary.status != Status::Ok {
            return;
        }
        // A disturbed entry has no width: further launches may find the machine calm.
        let is_calm = !summary.interference.is_disturbed && !lacks_launches(options, summary);
        let calm = summary.median.filter(|_| is_calm);
        let width = calm.zip(summary.confidence_interval);
        let width = width.map(|(m, [low, high])| ((high - low) / 2.0 / m).abs());
        let (done, time) = (self.timings.len() as u64, self.entry.time);
        let more = schedule::more_launches(done, self.budget.spent, time, width, options.precision);
        self.budget.goal = more.unwrap_or(self.budget.goal);
    }

    /// Whether another launch may find the quiet moments that these did not have. They come and go
    /// within seconds, and the launches of other entries lie between.
    fn may_return(&self, options: &Options, summary: &Benchmark) -> bool {
        let is_disturbed = summary.interference.is_disturbed
            && summary.interference.disturbed.contains_key(NEIGHBOUR);
        let is_disturbed = is_disturbed || lacks_launches(options, summary);
        let has_time =
            self.budget.spent + self.each() <= self.budget.planned.saturating_mul(PATIENCE);
        is_disturbed && !self.is_over && self.left() == 0 && options.launches.is_none() && has_time
    }

    /// The entry with the launches so far.
    pub fn summary(&self) -> Benchmark {
        let is_emulated = self.entry.program.emulated;
        let protocol = Protocol {
            launches: self.budget.goal,
            percentiles: self.percentiles,
            is_emulated,
            cpu_quota: self.cpu_quota,
            quiet: &self.quiet,
        };
        let launches = self.launches.iter().map(PackedLaunch::unpack);
        let program = &self.entry.point.program;
        let mut benchmark = summarise(program, protocol, &self.recorded, launches, &self.ends);
        if is_emulated {
            self.mark_emulated(&mut benchmark);
        }
        benchmark.declaration.provenance = self.entry.provenance.clone();
        benchmark.notes.extend(self.notes().chain(self.overrun()).map(Note::Text));
        for (launch, timing) in benchmark.launches.iter_mut().zip(&self.timings) {
            launch.round = timing.round;
            launch.started_ns = whole_ns(timing.started);
            launch.took_ns = whole_ns(timing.took);
            launch.request = Some(timing.request.clone());
        }
        benchmark
    }

    /// Summarises a finished entry again, if later launches have changed the quiet width of its
    /// processors. The first launches of a run may have seen only a neighbour.
    pub fn judged_again(&mut self, widths: &QuietWidths) -> Option<Benchmark> {
        self.update_widths(widths).then(|| self.summary())
    }

    /// Removes cycles from an emulated entry and notes the emulator: the time of emulated code says
    /// nothing about the processor.
    fn mark_emulated(&self, benchmark: &mut Benchmark) {
        benchmark.details.cycles = None;
        benchmark.details.circles = None;
        let runner = &self.entry.program.runner;
        let by = runner.first().map_or("an emulator", String::as_str);
        let isa = &self.entry.point.program.isa;
        let text = format!("emulated by {by}: the figure says nothing of the speed of {isa}");
        benchmark.notes.push(Note::Text(text));
    }
}

/// The arguments of a launch besides its parameters; defaults are omitted.
pub(super) fn request_arguments(
    options: &Options,
    share: Share,
    workers: Workers,
    request: &LaunchRequest,
) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut give = |option: &str, value: String| arguments.extend([option.to_owned(), value]);
    give("--batches", request.batches.to_string());
    give("--time-ns", request.time_ns.to_string());
    give("--precision", request.precision.to_string());
    if let Some(batch) = request.batch_ns {
        give("--batch-ns", batch.to_string());
    }
    if let Some(width) = request.quiet_width {
        give("--quiet-width", width.round().to_string());
    }
    if let Some(slow) = options.slow {
        give("--slow-batches", slow.batches.to_string());
    }
    if share.warmup.is_some() {
        give("--warmup-ns", request.warmup_ns.to_string());
    }
    if let Some((option, count)) = describe::load_option(workers) {
        let batch = options.loaded_batch().as_nanos();
        give(option, count.to_string());
        give("--loaded-ns", batch.to_string());
    }
    arguments.extend(options.placement.arguments());
    if options.realtime {
        arguments.push("--realtime".to_owned());
    }
    if options.percentiles {
        arguments.extend(["--singles".to_owned(), MOST_SINGLES.to_string()]);
    }
    arguments
}

/// The settings of a launch with this share of the time, beside no neighbour.
pub(super) fn plain_request(options: &Options, share: Share) -> LaunchRequest {
    LaunchRequest {
        quiet_width: None,
        batch_ns: None,
        batches: share.batches,
        time_ns: whole_ns(share.time),
        warmup_ns: whole_ns(share.warmup.unwrap_or(PROGRAMS_WARMUP)),
        precision: options.precision * WITHIN_A_LAUNCH,
    }
}

fn is_failure(output: &ProcessOutput, class: &str, listing: &Listing<'_>) -> bool {
    matches!(launch_status(class, output, listing), LaunchStatus::Failed { .. })
}

/// Whether neighbours left too few launches with quiet batches for an interval between launches. A
/// comparison needs that interval.
fn lacks_launches(options: &Options, summary: &Benchmark) -> bool {
    options.planned_launches() >= ENOUGH_LAUNCHES as u64
        && summary.status == Status::Ok
        && summary.interval_scope == Some(IntervalScope::WithinLaunches)
        && summary.interference.disturbed.contains_key(NEIGHBOUR)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    use crate::assemble;
    use crate::job::Program;
    use crate::points::Point;
    use crate::process_output::ProcessExit;
    use crate::tests;

    /// Calls `test` with the launches of an entry, before the first one.
    fn with_launches<T>(
        options: &Options,
        processes: u64,
        test: impl FnOnce(Launches<'_>) -> T,
    ) -> T {
        let program = Program { path: PathBuf::new(), runner: Vec::new(), emulated: false };
        let entry = PlannedEntry {
            class: "sample",
            program: &program,
            provenance: &yamba_record::run::Provenance::default(),
            point: Point {
                settings: vec![("scale".to_owned(), "16".to_owned())],
                program: tests::program(),
            },
            workers: Workers::processes(processes),
            time: options.time,
            notes: Vec::new(),
        };
        test(Launches::new(entry, options))
    }

    /// The arguments of a launch of this entry, as one line.
    fn request(options: &Options, processes: u64) -> String {
        with_launches(options, processes, |launches| {
            let request = launches.request(options, &QuietWidths::default(), false);
            launches.arguments(options, &request).join(" ")
        })
    }

    /// The first launches of a run see a neighbour and take its width for that of a quiet core.
    /// Later launches see the quiet core.
    #[test]
    fn later_quiet_width_marks_earlier_entries() {
        let options = Options::quick();
        let width_of = |width| QuietWidths::new(BTreeMap::from([(3, width)]));
        let neighbours = width_of(3000.0);
        with_launches(&options, 1, |mut launches| {
            for _ in 0..2 {
                let output = tests::output(&tests::probed(Some(3000.0)), ProcessExit::Exit(0));
                let program = tests::program();
                let end = launch_status("sample", &output, &|_, _| None);
                let launch = launches.recorded.append(&program, &output);
                launches.ends.push(end);
                launches.launches.push(launch.pack());
            }
            launches.quiet.insert(3, neighbours.width(3));
            let first = launches.summary();
            assert_eq!(first.interference.contended, Some(0.0));
            assert!(launches.judged_again(&neighbours).is_none());
            let again = launches.judged_again(&width_of(1700.0)).unwrap();
            let all = again.records.batches();
            assert_eq!(again.interference.contended, Some(1.0));
            assert_eq!(again.interference.disturbed["neighbour"], all.len() as u64);
            assert!(all.iter().all(|batch| batch.disturbed == ["neighbour"]));
            // A level that rises again removes the marks.
            assert_eq!(launches.judged_again(&neighbours).unwrap(), first);
        });
    }

    /// A launch on processor 3 teaches the width of a processor that it only probed.
    #[test]
    fn probes_of_choice_teach_widths_of_other_processors() {
        with_launches(&Options::quick(), 1, |mut launches| {
            let lines = tests::probed(Some(1700.0));
            let (begin, rest) = lines.split_once('\n').unwrap();
            let mut begin: serde_json::Value = serde_json::from_str(begin).unwrap();
            let quiet = [vec![1600.0; 40], vec![2900.0; 20]].concat();
            begin["placement"]["probed"] = serde_json::json!([
                {"cpu": 0, "quiet_width": null, "quiet_share": 0.0, "waited_share": 0.1, "widths": quiet},
                {"cpu": 3, "quiet_width": 1700.0, "quiet_share": 1.0, "waited_share": 0.0, "widths": [1700.0, null]},
            ]);
            let output = tests::output(&format!("{begin}\n{rest}"), ProcessExit::Exit(0));
            launches.recorded.append(&tests::program(), &output);
            let mut widths = QuietWidths::new(BTreeMap::from([(3, 1700.0)]));
            launches.note_widths(&[], &[], &mut widths);
            let known: Vec<(u64, f64)> = widths.known().into_iter().collect();
            assert_eq!(known.len(), 2);
            assert_eq!((known[0].0, known[0].1.round()), (0, 1600.0));
            assert_eq!((known[1].0, known[1].1.round()), (3, 1700.0));
            assert_eq!(widths.latest(), Some(3));
            assert_eq!(output.processor(), Some(3));
        });
    }

    #[test]
    fn program_arguments_follow_options() {
        assert_eq!(
            request(&Options::quick(), 1),
            "--run --set scale=16 --batches 11 --time-ns 150000000 --precision 0.005"
        );
        let all = Options {
            launches: Some(4),
            batches: Some(5),
            precision: 0.02,
            warmup: Some(Duration::from_millis(3)),
            placement: Placement::On(3),
            realtime: true,
            percentiles: true,
            ..Options::default()
        };
        assert_eq!(
            request(&all, 1),
            "--run --set scale=16 --batches 5 --time-ns 500000000 --precision 0.01 --warmup-ns 3000000 --cpu 3 --realtime --singles 10000"
        );
        let loaded = Options { placement: Placement::Free, ..Options::quick() };
        assert_eq!(
            request(&loaded, 8),
            "--run --set scale=16 --batches 2 --time-ns 800000000 --precision 0.005 --processes 8 --loaded-ns 100000000 --free"
        );
    }

    /// Five of six launches had neighbours all the time: the figure says nothing of other runs, and
    /// more launches may find the machine calm.
    #[test]
    fn launches_without_a_quiet_batch_are_repeated() {
        let mut figure = assemble::not_started("sample");
        figure.status = Status::Ok;
        figure.interval_scope = Some(IntervalScope::WithinLaunches);
        let usual = Options::default();
        assert!(!lacks_launches(&usual, &figure));
        figure.interference.disturbed.insert(NEIGHBOUR.to_owned(), 50);
        assert!(lacks_launches(&usual, &figure));
        let quick = Options { quick: true, ..Options::default() };
        assert!(!lacks_launches(&quick, &figure));
        figure.interval_scope = Some(IntervalScope::BetweenLaunches);
        assert!(!lacks_launches(&usual, &figure));
    }
}
