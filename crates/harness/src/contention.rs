//! Finds batches during which another hardware thread used the same core. Pure.
//!
//! A hardware thread shares the width of its core with the core's other thread. If that thread
//! belongs to another virtual machine, the system here cannot see its work: no context switch, no
//! fault, no stolen time. The width probe sees it (runtime/src/width.h). A change of the clock rate
//! moves the probe and the reference chain by the same factor, so that their quotient, in core
//! cycles, stays. A thread that only waits for memory takes little width, but a part of the reorder
//! buffer (runtime/src/window.h).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use yamba_record::event::{Curve, ProcessorProbes};
use yamba_record::machine::Contention;
use yamba_record::{Batch, Probes};
use yamba_stats::{lower_mode, quantile};

pub(super) mod agreement;
pub(super) mod batch_length;
pub(super) mod blind;
pub(super) mod quiet_time;
mod whole_buffer;

use quiet_time::MOST_LENGTHENED;
use whole_buffer::WholeBuffer;

/// The kind of disturbance of such a batch. The harness marks these batches after a launch;
/// programs mark the other kinds.
pub(super) const NEIGHBOUR: &str = "neighbour";

/// A probe is quiet within this share of the quiet width. Neighbours lengthen a probe by a third
/// and more, the steps of a clock by less than a hundredth.
const WIDTH_TOLERANCE: f64 = 0.02;

/// Probes whose widths differ by less than this share form one level.
const LEVEL: f64 = 0.01;

/// Fewest probes in a level, as a number and as a share, and the least sharpness of a level.
/// Neighbours may have a sharp level too, so a level below theirs may be rare.
const FEWEST_OF_LEVEL: usize = 30;
const LEAST_SHARE: f64 = 0.04;
const SHARP: f64 = 0.5;

/// Relative distance of the quartiles of probes that a neighbour spreads. The steps of a clock
/// spread them by less.
const BROAD: f64 = 0.05;

/// From this share of contended probes on, neighbours use a noticeable part of the time.
const CONTENDED: f64 = 0.04;

/// Fewest probes that have a distribution.
const FEWEST_TO_JUDGE: usize = 20;

/// How batches beside a neighbour are treated.
#[derive(Clone, Debug)]
pub enum Neighbours {
    /// They count like all others, and nothing is said about neighbours.
    Count,
    /// They are discarded. The folder, if there is one, keeps the quiet widths of the processors
    /// from run to run.
    Discard(Option<PathBuf>),
}

impl Neighbours {
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Neighbours::Count => None,
            Neighbours::Discard(folder) => folder.as_deref(),
        }
    }
}

/// The findings of a run about one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProcessorFindings {
    /// The quiet width that the run used at its end.
    pub quiet_width: Option<f64>,
    /// The lowest sharp level of the run's own probes.
    pub own_level: Option<f64>,
    /// Whether the run had probes at the level that it began with.
    pub saw_earlier: bool,
    /// The number of probes.
    pub probes: usize,
    /// The share of lengthened probes. `None` if the quiet width is unknown.
    pub contended: Option<f64>,
    /// The mean lengthening of the probes, as a share. `None` if the quiet width is unknown.
    pub lengthening: Option<f64>,
    /// Entries of the whole reorder buffer by the readings of this run alone: 0 if they do not show
    /// it, and `None` without readings.
    pub own_buffer: Option<u64>,
    /// The number of these readings.
    pub windows: usize,
}

impl ProcessorFindings {
    /// The contention that a run found which ended at `unix_s`, in seconds since 1970.
    pub fn contention(&self, unix_s: f64) -> Option<Contention> {
        let (contended, lengthening) = (self.contended?, self.lengthening);
        Some(Contention { contended, lengthening, unix_s })
    }
}

/// A run saw a level if it had at least this number of probes there, and this share of all.
const FEWEST_SEEN: usize = 5;
const LEAST_SEEN: f64 = 0.001;

/// The width of an undisturbed core, in cycles of 10 000 instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum QuietWidth {
    /// The level of the quiet probes.
    Known(f64),
    /// Probes without any level: each was contended.
    NeverQuiet,
    /// Without probes, or with too few.
    Unknown,
}

impl QuietWidth {
    /// The level of the quiet probes, if it is known.
    pub fn level(self) -> Option<f64> {
        match self {
            QuietWidth::Known(level) => Some(level),
            QuietWidth::NeverQuiet | QuietWidth::Unknown => None,
        }
    }

    /// Whether both judge batches alike, apart from the few batches at the edge of the tolerance.
    pub fn is_same(self, other: QuietWidth) -> bool {
        match (self.level(), other.level()) {
            (Some(one), Some(other)) => (one / other - 1.0).abs() <= LEVEL / 2.0,
            _ => self == other,
        }
    }
}

/// Most probes that are remembered of a processor. Of more, every second one is dropped.
const MOST_READINGS: usize = 1 << 14;

/// Weight of the latest launch in the share of contended probes.
const OF_LATEST: f64 = 0.2;

/// The quiet width of each processor, from the probes of a run and from earlier runs. Processors
/// differ: a machine may have cores of two kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QuietWidths {
    processors: BTreeMap<u64, Processor>,
    /// The processor of the latest launch.
    latest: Option<u64>,
    /// Share of the probes of the latest launches that a neighbour lengthened. Each launch weighs
    /// [`OF_LATEST`].
    contended: f64,
    /// Share of the probes between quiet ones that are lengthened, with the same weights.
    isolated: f64,
}

/// The probes of one processor.
#[derive(Clone, Debug, PartialEq)]
struct Processor {
    /// The level that the run began with.
    kept: Option<f64>,
    earlier: Option<f64>,
    readings: Vec<f64>,
    /// The width by the first `judged` readings.
    width: QuietWidth,
    judged: usize,
    buffer: WholeBuffer,
    /// Readings beside a thread that had a part of the reorder buffer. They are not among the
    /// others, and form no level.
    divided: usize,
}

impl Processor {
    fn new(earlier: Option<f64>) -> Processor {
        Processor {
            buffer: WholeBuffer::default(),
            divided: 0,
            kept: earlier,
            earlier,
            readings: Vec::new(),
            width: earlier.map_or(QuietWidth::Unknown, QuietWidth::Known),
            judged: 0,
        }
    }

    fn add(&mut self, readings: impl Iterator<Item = Reading>) {
        for reading in readings.filter(|reading| reading.width > 0.0) {
            if reading.is_divided {
                self.divided += 1;
            } else {
                self.readings.push(reading.width);
            }
        }
        // The level is computed again only after a tenth more readings: fewer do not move it.
        if self.readings.len() > self.judged + self.judged / 10 {
            self.width = quiet_width(&self.readings, self.earlier);
            self.judged = self.readings.len();
            // A neighbour that comes later and stays does not raise the level.
            self.earlier = self.width.level().or(self.earlier);
        }
        while self.readings.len() > MOST_READINGS {
            self.readings = self.readings.iter().copied().step_by(2).collect();
            self.divided /= 2;
            self.judged = self.readings.len();
        }
    }

    /// The mean lengthening of all probes, as a share.
    fn lengthening(&self) -> Option<f64> {
        let level = match self.width {
            QuietWidth::Known(level) => level,
            QuietWidth::NeverQuiet => return Some(MOST_LENGTHENED),
            QuietWidth::Unknown => return None,
        };
        let whole = self.readings.iter().map(|width| Reading { width: *width, is_divided: false });
        let lengthened: f64 = whole.map(|reading| reading.lengthening(level)).sum();
        // The width of a divided reading is not kept.
        let most = self.divided as f64 * MOST_LENGTHENED;
        Some((lengthened + most) / (self.readings.len() + self.divided) as f64)
    }

    fn findings(&self) -> ProcessorFindings {
        let (all, level) = (self.readings.len() + self.divided, self.width.level());
        let at = |level: f64| self.readings.iter().filter(|w| is_level(**w, level)).count();
        let fewest = FEWEST_SEEN.max((LEAST_SEEN * all as f64) as usize);
        let quiet = match self.width {
            QuietWidth::Known(level) => Some(at(level)),
            QuietWidth::NeverQuiet => Some(0),
            QuietWidth::Unknown => None,
        };
        ProcessorFindings {
            quiet_width: level,
            own_level: sharp_level(&self.readings),
            saw_earlier: self.kept.is_some_and(|level| at(level) >= fewest),
            probes: all,
            contended: quiet.filter(|_| all > 0).map(|n| 1.0 - n as f64 / all as f64),
            lengthening: self.lengthening().filter(|_| all > 0),
            own_buffer: self.buffer.own(),
            windows: self.buffer.readings(),
        }
    }
}

impl QuietWidths {
    /// Starts with the widths that earlier runs found.
    pub fn new(earlier: BTreeMap<u64, f64>) -> QuietWidths {
        let known = earlier.into_iter();
        QuietWidths {
            processors: known.map(|(cpu, w)| (cpu, Processor::new(Some(w)))).collect(),
            latest: None,
            contended: 0.0,
            isolated: 0.0,
        }
    }

    /// Starts also with the whole reorder buffers that earlier runs found.
    pub fn with_buffers(mut self, earlier: BTreeMap<u64, u64>) -> QuietWidths {
        for (cpu, entries) in earlier {
            self.processor(cpu).buffer = WholeBuffer::new(Some(entries));
        }
        self
    }

    fn processor(&mut self, cpu: u64) -> &mut Processor {
        self.processors.entry(cpu).or_insert_with(|| Processor::new(None))
    }

    /// Adds probes of a processor without a benchmark.
    pub fn add_probes(&mut self, probed: &ProcessorProbes) {
        let ProcessorProbes { cpu, widths, windows, .. } = probed;
        let processor = self.processor(*cpu);
        processor.buffer.add(windows);
        let whole = processor.buffer.entries().unwrap_or_default() as f64;
        let is_divided =
            |place: usize| windows.get(place).copied().flatten().is_some_and(|n| n < whole);
        processor.add(readings_of(widths, is_divided));
    }

    /// Adds the probes of a launch on this processor.
    pub fn add(&mut self, cpu: u64, batches: &[Batch], curves: &[Curve]) {
        let processor = self.processor(cpu);
        processor.add(batches.iter().flat_map(|b| readings(&b.probes)));
        for curve in curves {
            let is_divided = |place: usize| curve.is_divided(place);
            processor.add(readings_of(&curve.probes_before, is_divided));
        }
        self.latest = Some(cpu);
        let width = self.width(cpu);
        if let Some(share) = contended_share(batches, |_| width) {
            self.contended += OF_LATEST * (share - self.contended);
        }
        if let Some(share) = batch_length::isolated_share(batches, |_| width) {
            self.isolated += OF_LATEST * (share - self.isolated);
        }
    }

    /// Least length of a batch of the next launch, if neighbours have disturbed the latest launches
    /// so often that the usual batch is too long.
    pub fn short_batch(&self) -> Option<Duration> {
        batch_length::short_batch(self.isolated, self.contended > CONTENDED)
    }

    /// The quiet width of this processor.
    pub fn width(&self, cpu: u64) -> QuietWidth {
        let processor = self.processors.get(&cpu);
        processor.map_or(QuietWidth::Unknown, |p| p.width)
    }

    /// The processor of the latest launch.
    pub fn latest(&self) -> Option<u64> {
        self.latest
    }

    /// The quiet width of the next launch, if it does not choose another processor.
    pub fn expected(&self) -> Option<f64> {
        let last = || self.known().keys().last().copied();
        self.width(self.latest.or_else(last)?).level()
    }

    /// The known entries of whole reorder buffers, by processor.
    pub fn whole_buffers(&self) -> BTreeMap<u64, u64> {
        let each = self.processors.iter();
        let known = each.filter_map(|(cpu, p)| Some((*cpu, p.buffer.entries()?)));
        known.filter(|(_, entries)| *entries > 0).collect()
    }

    /// The findings about each processor that this run probed.
    pub fn findings(&self) -> BTreeMap<u64, ProcessorFindings> {
        let probed = self.processors.iter();
        let probed = probed.filter(|(_, p)| p.readings.len() + p.divided > 0);
        probed.map(|(cpu, p)| (*cpu, p.findings())).collect()
    }

    /// The widths of all processors, of this run and of earlier ones.
    pub fn known(&self) -> BTreeMap<u64, f64> {
        let each = self.processors.iter();
        each.filter_map(|(cpu, p)| Some((*cpu, p.width.level()?))).collect()
    }
}

/// The lower mode of the probes. The core may have a neighbour all the time: the level of such
/// probes is higher than that of an earlier run, which then stays.
fn quiet_width(readings: &[f64], earlier: Option<f64>) -> QuietWidth {
    match (sharp_level(readings), earlier) {
        (Some(level), Some(earlier)) if level > earlier * (1.0 + WIDTH_TOLERANCE) => {
            QuietWidth::Known(earlier)
        }
        (Some(level), _) => QuietWidth::Known(level),
        (None, Some(earlier)) => QuietWidth::Known(earlier),
        (None, None) if is_broad(readings) => QuietWidth::NeverQuiet,
        (None, None) => QuietWidth::Unknown,
    }
}

fn sharp_level(readings: &[f64]) -> Option<f64> {
    let fewest = FEWEST_OF_LEVEL.max((LEAST_SHARE * readings.len() as f64) as usize);
    Some(lower_mode(readings, LEVEL, fewest, SHARP)?.level)
}

fn is_broad(readings: &[f64]) -> bool {
    let quartiles = (quantile(readings, 0.25), quantile(readings, 0.75));
    let (Some(low), Some(high)) = quartiles else {
        return false;
    };
    readings.len() >= FEWEST_TO_JUDGE && high / low > 1.0 + BROAD
}

/// A probe that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    width: f64,
    /// Another thread had a part of the reorder buffer.
    is_divided: bool,
}

impl Reading {
    fn is_quiet(self, level: f64) -> bool {
        !self.is_divided && is_level(self.width, level)
    }

    /// The share by which code may have been longer. A neighbour that takes width lengthens nothing
    /// more than the probe. One that only has a part of the buffers, as while it waits for memory,
    /// may lengthen code that needs all of them, up to twice.
    fn lengthening(self, level: f64) -> f64 {
        if self.is_divided && is_level(self.width, level) {
            return MOST_LENGTHENED;
        }
        (self.width / level - 1.0).clamp(0.0, MOST_LENGTHENED)
    }
}

fn readings_of(
    widths: &[Option<f64>],
    is_divided: impl Fn(usize) -> bool,
) -> impl Iterator<Item = Reading> {
    let each = widths.iter().enumerate();
    each.filter_map(move |(place, width)| {
        Some(Reading { width: (*width)?, is_divided: is_divided(place) })
    })
}

fn readings(probes: &Probes) -> impl Iterator<Item = Reading> {
    all_readings(probes).into_iter().flatten().filter(|reading| reading.width > 0.0)
}

/// The readings that batches of an entry have. An interrupted reading is missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken([bool; 3]);

impl Taken {
    /// All readings that any of these batches has. A quantity has no dummy, and some instruction
    /// sets have no probe.
    pub fn by<'b>(batches: impl Iterator<Item = &'b Probes>) -> Taken {
        batches.fold(Taken::default(), |mut all, probes| {
            for (is_taken, reading) in all.0.iter_mut().zip(all_readings(probes)) {
                *is_taken |= reading.is_some();
            }
            all
        })
    }
}

fn all_readings(probes: &Probes) -> [Option<Reading>; 3] {
    let reading =
        |width: Option<f64>, divided| Some(Reading { width: width?, is_divided: divided > 0 });
    [
        reading(probes.before, probes.divided_before),
        reading(probes.between, probes.divided_between),
        reading(probes.after, probes.divided_after),
    ]
}

/// The verdict of the probes on a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Finding {
    /// Nothing else used the core while the probes ran.
    Quiet,
    /// Another hardware thread used the core.
    Contended,
    /// Without probes or without a quiet width.
    Unknown,
}

/// The verdict of the probes on this batch of an entry with the readings `taken`. A missing reading
/// was interrupted.
pub(super) fn finding(probes: &Probes, width: QuietWidth, taken: Taken) -> Finding {
    if !taken.0.contains(&true) {
        return Finding::Unknown;
    }
    let level = match width {
        QuietWidth::Unknown => return Finding::Unknown,
        QuietWidth::NeverQuiet => return Finding::Contended,
        QuietWidth::Known(level) => level,
    };
    let mut all = taken.0.into_iter().zip(all_readings(probes));
    if all.all(|(taken, reading)| !taken || reading.is_some_and(|r| r.is_quiet(level))) {
        Finding::Quiet
    } else {
        Finding::Contended
    }
}

pub(super) fn is_level(width: f64, level: f64) -> bool {
    (width / level - 1.0).abs() <= WIDTH_TOLERANCE
}

/// Marks the batches that a neighbour disturbed, and only those. A wait that is the figure of a
/// batch (`is_time`) does not become noticeably longer by a neighbour.
pub(super) fn mark(batches: &mut [Batch], is_time: bool, width: impl Fn(&Batch) -> QuietWidth) {
    let taken = Taken::by(batches.iter().map(|batch| &batch.probes));
    for batch in batches {
        batch.disturbed.retain(|kind| kind != NEIGHBOUR);
        let is_contended = finding(&batch.probes, width(batch), taken) == Finding::Contended;
        if is_contended && !(is_time && quiet_time::is_wait(batch)) {
            batch.disturbed.push(NEIGHBOUR.to_owned());
        }
    }
}

/// Whether the system left the batch alone: only a neighbour may have disturbed it.
pub(super) fn is_free_of_others(batch: &Batch) -> bool {
    batch.disturbed.iter().all(|kind| kind == NEIGHBOUR)
}

/// Share of the probes of these batches that a neighbour lengthened. A batch with another kind of
/// disturbance does not count: a context switch lengthens a probe, too. `None` without probes or
/// without a quiet width.
pub(super) fn contended_share(
    batches: &[Batch],
    width: impl Fn(&Batch) -> QuietWidth,
) -> Option<f64> {
    let (mut contended, mut total) = (0_u64, 0_u64);
    for batch in batches {
        let width = width(batch);
        if width == QuietWidth::Unknown || !is_free_of_others(batch) {
            continue;
        }
        for reading in readings(&batch.probes) {
            let is_quiet = width.level().is_some_and(|level| reading.is_quiet(level));
            total += 1;
            contended += u64::from(!is_quiet);
        }
    }
    (total > 0).then(|| contended as f64 / total as f64)
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
