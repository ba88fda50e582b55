//! Simulates neighbours that come and go: their turns last from a tenth of a millisecond to
//! seconds, and the clock rate changes as well. A simulated program measures with probes, and its
//! figures must be true or marked as disturbed.

use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;
use yamba_compare::{Pair, Verdict, compare_launches, has_figure, unit};
use yamba_record::event::{Begin, Placement, RawBatch};
use yamba_record::program::Program;
use yamba_record::{Benchmark, Event, Workers};
use yamba_stats::median;

use super::*;
use crate::assemble::Recorded;
use crate::launch_status::LaunchStatus;
use crate::process_output::{ProcessExit, ProcessOutput};
use crate::summary::{Protocol, summarise};

/// Length of a core cycle in ns at the two clock rates.
const CYCLES_NS: [f64; 2] = [0.263, 0.256];
/// Times of the simulated work on an undisturbed core, in cycles: a width probe, a reference chain,
/// a batch, and the longest dummy.
const PROBE: f64 = 30_000.0;
const REFERENCE: f64 = 12_288.0;
const BATCH: f64 = 760_000.0;
const DUMMY: f64 = 40_000.0;
/// True cycles per operation.
const TRUTH: f64 = 360.0;
/// Factors by which a neighbour lengthens them.
const SLOW_PROBE: f64 = 1.6;
const SLOW_REFERENCE: f64 = 1.03;
const SLOW_BATCH: f64 = 1.35;
/// The quiet width: cycles of 10 000 instructions.
const QUIET_WIDTH: f64 = 1702.0;
/// Largest error of a figure that is not marked.
const LARGEST_ERROR: f64 = 0.02;

/// A machine with a neighbour. Both change state at random moments.
struct Host {
    random: Rng,
    now_ns: f64,
    is_busy: bool,
    until_ns: f64,
    /// Mean duration of the neighbour's turns and of its pauses, in ns.
    turn_ns: f64,
    pause_ns: f64,
    rate: usize,
    rate_until_ns: f64,
    /// Length of a batch, in multiples of [`BATCH`].
    batch: f64,
    /// Whether the turns are those of the hypervisor: the processor does nothing else during them.
    interrupts: bool,
    /// The length of a cycle by the second chain, as a multiple of that by the first.
    check: f64,
}

impl Host {
    fn new(seed: u64, turn_ns: f64, pause_ns: f64) -> Host {
        let mut host = Host {
            random: Rng::with_seed(seed),
            now_ns: 0.0,
            is_busy: false,
            until_ns: 0.0,
            turn_ns,
            pause_ns,
            rate: 0,
            rate_until_ns: 3e7,
            batch: 1.0,
            interrupts: false,
            check: 1.0,
        };
        host.is_busy = host.random.f64() < turn_ns / (turn_ns + pause_ns);
        host.until_ns = host.next_turn();
        host
    }

    fn next_turn(&mut self) -> f64 {
        let mean = if self.is_busy { self.turn_ns } else { self.pause_ns };
        self.now_ns - mean * (1.0 - self.random.f64()).ln()
    }

    /// Does work of `cycles` that a neighbour makes longer by the factor `slow`. Returns its
    /// duration in ns.
    fn work(&mut self, cycles: f64, slow: f64) -> f64 {
        let begin = self.now_ns;
        let mut left = cycles;
        while left > 0.0 {
            if self.is_busy && self.interrupts {
                self.now_ns = self.until_ns;
                self.is_busy = false;
                self.until_ns = self.next_turn();
                continue;
            }
            let cycle = CYCLES_NS[self.rate] * if self.is_busy { slow } else { 1.0 };
            let event = self.until_ns.min(self.rate_until_ns);
            let end = self.now_ns + left * cycle;
            if end < event {
                self.now_ns = end;
                break;
            }
            left -= (event - self.now_ns) / cycle;
            self.now_ns = event;
            if event == self.rate_until_ns {
                self.rate = 1 - self.rate;
                self.rate_until_ns += 3e7;
            } else {
                self.is_busy = !self.is_busy;
                self.until_ns = self.next_turn();
            }
        }
        // A clock with steps of 10 ns.
        ((self.now_ns - begin) / 10.0).round() * 10.0
    }

    /// Reads the reference chain twice. If the readings differ, the shorter one counts.
    fn cycle_ns(&mut self) -> f64 {
        let [first, second] = [(); 2].map(|()| self.work(REFERENCE, SLOW_REFERENCE) / REFERENCE);
        if (first / second - 1.0).abs() <= 0.02 {
            return f64::midpoint(first, second);
        }
        first.min(second)
    }

    /// Cycles of the dummy.
    fn dummy(&self) -> f64 {
        DUMMY.min(BATCH * self.batch / 2.0)
    }

    fn operations(&self) -> u64 {
        ((BATCH * self.batch - self.dummy()) / TRUTH) as u64
    }

    fn width(&mut self, cycle_ns: f64) -> Option<f64> {
        let ns = self.work(PROBE, SLOW_PROBE);
        Some((QUIET_WIDTH * ns / PROBE / cycle_ns).round())
    }

    /// Measures one batch in the order of the runtime.
    fn batch(&mut self) -> Batch {
        let probe_ns = self.work(PROBE, SLOW_PROBE);
        let cycle_before = self.cycle_ns();
        let operations = self.operations();
        let ns = self.work(self.dummy() + TRUTH * operations as f64, SLOW_BATCH);
        let cycle_after = self.cycle_ns();
        let between = self.width(cycle_after);
        let dummy_before = self.cycle_ns();
        let dummy_ns = self.work(self.dummy(), SLOW_BATCH);
        let dummy_after = self.cycle_ns();
        Batch {
            passes: operations,
            operations,
            ns,
            dummy_ns,
            cycle_ns: Some(f64::midpoint(cycle_before, cycle_after)),
            dummy_cycle_ns: Some(f64::midpoint(dummy_before, dummy_after)),
            check_cycle_ns: Some(self.check * dummy_after),
            probes: Probes {
                before: Some((QUIET_WIDTH * probe_ns / PROBE / cycle_before).round()),
                between,
                after: self.width(dummy_after),
                cycle_change_ppm: Some(1e6 * (cycle_after / cycle_before - 1.0)),
                dummy_cycle_change_ppm: Some(1e6 * (dummy_after / dummy_before - 1.0)),
                ..Probes::default()
            },
            ..Batch::default()
        }
    }

    /// Measures one launch for this time; three times as long while there are fewer than 11 quiet
    /// batches.
    fn launch(&mut self, time_ns: f64, quiet_width: QuietWidth) -> Vec<Batch> {
        let begin = self.now_ns;
        let mut batches: Vec<Batch> = Vec::new();
        loop {
            batches.push(self.batch());
            let spent = self.now_ns - begin;
            let taken = Taken::by(batches.iter().map(|b| &b.probes));
            let is_good = |f| matches!(f, Finding::Quiet | Finding::Unknown);
            let count = |b: &&Batch| is_good(finding(&b.probes, quiet_width, taken));
            let is_enough = batches.iter().filter(count).count() >= 11;
            if batches.len() >= 11 && spent > if is_enough { time_ns } else { 3.0 * time_ns } {
                return batches;
            }
        }
    }
}

fn output(batches: Vec<Batch>) -> ProcessOutput {
    let begin = Event::Begin(Begin {
        placement: Placement { kind: "pinned".to_owned(), cpu: Some(1), ..Placement::default() },
        processes: 1,
        threads: 1,
        ..Begin::default()
    });
    let batch = |(index, batch)| Event::Batch(RawBatch { index, value: None, batch });
    let batches = (0..).zip(batches).map(batch);
    ProcessOutput {
        events: [begin].into_iter().chain(batches).collect(),
        garbled: 0,
        messages: String::new(),
        orphans: Vec::new(),
        exit: ProcessExit::Exit(0),
        batches_took: Duration::ZERO,
    }
}

/// Measures an entry in six launches of 40 ms, with other entries' launches in between.
fn measure(host: &mut Host, earlier: Option<f64>) -> Benchmark {
    let widths = QuietWidths::new(earlier.into_iter().map(|w| (1, w)).collect());
    measure_launches(host, widths, |_, _, _| {})
}

/// The probes of ten launches of other entries.
fn widths_of_others(host: &mut Host) -> QuietWidths {
    let mut widths = QuietWidths::new(BTreeMap::from([(1, QUIET_WIDTH)]));
    for _ in 0..10 {
        let batches = host.launch(4e7, widths.width(1));
        widths.add(1, &batches, &[]);
    }
    widths
}

/// Measures an entry after others, whose probes give the length of its batches.
fn measure_adapted(host: &mut Host) -> Benchmark {
    let widths = widths_of_others(host);
    measure_launches(host, widths, |host, widths, _| {
        let short = widths.short_batch();
        host.batch = short.map_or(1.0, |short| short.as_nanos() as f64 / BATCH_NS);
    })
}

/// `before` may change the host before each launch, whose number it gets.
fn measure_launches(
    host: &mut Host,
    mut widths: QuietWidths,
    before: impl Fn(&mut Host, &QuietWidths, u64),
) -> Benchmark {
    let program = Program {
        class: "simulated".to_owned(),
        figure: Some("latency".to_owned()),
        unit: Some("ns".to_owned()),
        ..Program::default()
    };
    let mut recorded = Recorded::new(&program, Workers::ONE);
    let mut records = Vec::new();
    for number in 0..6 {
        before(host, &widths, number);
        let batches = host.launch(4e7, widths.width(1));
        widths.add(1, &batches, &[]);
        records.push(recorded.append(&program, &output(batches)));
        host.work(1e9, 1.0);
    }
    let protocol = Protocol {
        launches: 6,
        percentiles: false,
        is_emulated: false,
        cpu_quota: None,
        quiet: &BTreeMap::from([(1, widths.width(1))]),
    };
    summarise(&program, protocol, &recorded, records, &[const { LaunchStatus::Complete }; 6])
}

/// Relative error of a latency in cycles.
fn error(cycles: f64) -> f64 {
    cycles / TRUTH - 1.0
}

/// A simulated host. Turns and pauses of its neighbour are in ns, the length of a batch in
/// multiples of [`BATCH`].
fn host(seed: u64, turn_ns: f64, pause_ns: f64, batch: f64) -> Host {
    Host { batch, ..Host::new(seed, turn_ns, pause_ns) }
}

/// Approximate length of a batch of [`BATCH`] cycles, in ns.
const BATCH_NS: f64 = 2e5;

/// Of 1000 unmarked figures in cycles, at least 998 are within 2 % of the truth and all within 3 %.
/// At most a tenth of the figures is marked if a tenth of the time is quiet, and the turns and
/// pauses of the neighbour are much longer than a batch.
#[test]
fn unmarked_figures_are_true_beside_any_neighbour() {
    let durations = [1e5, 3e5, 1e6, 4e6, 1e7, 1e8, 1e9];
    let (mut wrong_without_probes, mut wrong, mut marked, mut all) = (0, 0, 0, 0);
    let (mut findable, mut missed, mut outside) = (0, 0, 0);
    for batch in [1.0, 5.0, 25.0, 100.0] {
        for (turn_ns, pause_ns) in durations.iter().flat_map(|t| durations.map(|p| (*t, p))) {
            for seed in 0..10 {
                let mut host = host(seed, turn_ns, pause_ns, batch);
                let entry = measure(&mut host, Some(QUIET_WIDTH));
                let batches = entry.records.batches();
                let cycles = batches.iter().filter_map(crate::cycles::cycles);
                let unfiltered = error(median(&cycles.collect::<Vec<f64>>()).unwrap());
                wrong_without_probes += u64::from(unfiltered.abs() > LARGEST_ERROR);
                let error = error(entry.details.cycles.unwrap().median);
                let quiet = 1.0 - entry.interference.contended.unwrap();
                let case = format!(
                    "turns of {turn_ns} ns, pauses of {pause_ns} ns, batches of {batch}: {error}, {quiet}"
                );
                let long = 50.0 * batch * BATCH_NS;
                // The clock steps during most of the longest batches.
                let is_slow = turn_ns >= long && pause_ns >= long && batch < 100.0;
                if !entry.interference.is_disturbed && error.abs() > LARGEST_ERROR {
                    assert!(error.abs() < 1.5 * LARGEST_ERROR, "{case}");
                    wrong += 1;
                }
                let [low, high] = entry.details.cycles.unwrap().confidence_interval;
                if entry.interference.is_disturbed && !(low..=high).contains(&TRUTH) {
                    println!("outside of [{low}, {high}]: {case}");
                    outside += 1;
                }
                let is_findable = is_slow && quiet >= 0.1;
                findable += u64::from(is_findable);
                missed += u64::from(is_findable && entry.interference.is_disturbed);
                all += 1;
                marked += u64::from(entry.interference.is_disturbed);
            }
        }
    }
    println!(
        "{marked} of {all} marked, {wrong} wrong, {wrong_without_probes} wrong without probes"
    );
    println!("{outside} of {marked} marked intervals do not hold the truth");
    println!("{missed} of {findable} marked though a tenth was quiet");
    assert!(10 * missed <= findable, "{missed} of {findable}");
    assert!(100 * outside <= marked, "{outside} of {marked}");
    assert!(1000 * wrong <= 2 * all, "{wrong} of {all}");
    assert!(2 * wrong_without_probes > all, "{wrong_without_probes}");
}

/// A few quiet launches do not vouch for launches beside a neighbour whose turns are shorter than a
/// batch.
#[test]
fn quiet_launches_do_not_hide_blind_ones() {
    for (seed, quiet) in (0..6).flat_map(|seed| [1, 2, 3].map(|quiet| (seed, quiet))) {
        let mut host = host(seed, 1e5, 1e5, 1.0);
        let widths = QuietWidths::new(BTreeMap::from([(1, QUIET_WIDTH)]));
        let entry = measure_launches(&mut host, widths, |host, _, number| {
            (host.turn_ns, host.pause_ns) = if number < quiet { (1.0, 1e12) } else { (1e5, 1e5) };
            host.is_busy = false;
            host.until_ns = host.next_turn();
        });
        let error = error(entry.details.cycles.unwrap().median);
        assert!(entry.interference.is_disturbed || error.abs() < LARGEST_ERROR, "{quiet}: {error}");
    }
}

/// A hypervisor that interrupts the processor for some microseconds, at random moments, lengthens
/// probes and batches alike. The batches become so short that most have no interruption. More than
/// half of the figures from batches of the usual length are wrong or marked.
#[test]
fn interruptions_make_batches_shorter_until_figures_are_true() {
    let turns = |pause: f64| [2e3, 7e3, 2.1e4].map(|turn| (turn, pause));
    let (mut marked, mut wrong_if_long, mut all) = (0, 0, 0);
    for (turn_ns, pause_ns) in [4e4, 8e4, 1.6e5, 3.2e5, 6.4e5].into_iter().flat_map(turns) {
        for seed in 0..10 {
            let interrupted = || Host { interrupts: true, ..Host::new(seed, turn_ns, pause_ns) };
            let entry = measure_adapted(&mut interrupted());
            let off = error(entry.details.cycles.unwrap().median);
            let case = format!("{turn_ns} ns every {pause_ns} ns: {off}");
            assert!(entry.interference.is_disturbed || off.abs() < 0.002, "{case}");
            marked += u64::from(entry.interference.is_disturbed);
            let long = measure(&mut interrupted(), Some(QUIET_WIDTH));
            let off = error(long.details.cycles.unwrap().median);
            wrong_if_long += u64::from(long.interference.is_disturbed || off.abs() > 0.002);
            all += 1;
        }
    }
    println!("{marked} of {all} marked; {wrong_if_long} marked or wrong with long batches");
    assert!(10 * marked <= all, "{marked} of {all}");
    assert!(2 * wrong_if_long > all, "{wrong_if_long} of {all}");
}

/// Turns of 5 ms leave the batches about as long as any neighbour does, whatever the length of the
/// batches before.
#[test]
fn slow_turns_do_not_make_batches_shorter() {
    for (seed, batch) in (0..10).flat_map(|seed| [0.25, 1.0, 25.0].map(|batch| (seed, batch))) {
        let mut host = host(seed, 5e6, 5e6, batch);
        let short = widths_of_others(&mut host).short_batch().unwrap();
        assert!(short >= Duration::from_micros(40), "{batch}: {short:?}");
    }
}

/// A new machine has no quiet width from earlier runs.
#[test]
fn quiet_width_is_learned_from_first_run() {
    let entry = measure(&mut Host::new(1, 1e7, 1e7), None);
    assert!(error(entry.details.cycles.unwrap().median).abs() < LARGEST_ERROR);
    assert!(!entry.interference.is_disturbed);
}

/// A neighbour that never rests is found if an earlier run knew the quiet width. On a new machine
/// its level looks like that of an undisturbed core.
#[test]
fn neighbour_that_never_rests_is_found_by_known_width() {
    let never_quiet = measure(&mut Host::new(2, 1e12, 1.0), Some(QUIET_WIDTH));
    assert!(
        never_quiet.interference.is_disturbed && never_quiet.interference.contended == Some(1.0)
    );
}

/// A neighbour lengthens the two chains differently. Then a figure has cycles only with the bounds
/// of a disturbed one.
#[test]
fn disturbed_figure_has_cycles_though_the_chains_disagree() {
    for (turn_ns, pause_ns) in [(1e12, 1.0), (1.0, 1e12)] {
        let mut host = Host { check: 1.006, ..Host::new(5, turn_ns, pause_ns) };
        let entry = measure(&mut host, Some(QUIET_WIDTH));
        let found = entry.details.cycles.map(|cycles| cycles.confidence_interval);
        assert_eq!(entry.interference.is_disturbed, found.is_some(), "{:?}", entry.notes);
        let holds = |[low, high]: [f64; 2]| (low..=high).contains(&TRUTH);
        assert!(found.is_none_or(holds), "{found:?}");
    }
}

/// A neighbour that comes and stays does not become the quiet level, whatever its share of the
/// probes.
#[test]
fn level_does_not_rise_within_a_run() {
    let mut widths = QuietWidths::default();
    let quiet = Host::new(3, 1.0, 1e12).launch(4e7, QuietWidth::Unknown);
    widths.add(1, &quiet, &[]);
    let level = widths.width(1).level().unwrap();
    for seed in 0..200 {
        let busy = Host::new(seed, 1e12, 1.0).launch(1e7, QuietWidth::Unknown);
        widths.add(1, &busy, &[]);
    }
    assert_eq!(widths.width(1), QuietWidth::Known(level));
}

/// An interrupted reading is missing: that is no sign of a quiet core.
#[test]
fn batch_without_its_readings_is_not_quiet() {
    let mut batches = Host::new(4, 1.0, 1e12).launch(4e6, QuietWidth::Unknown);
    batches[3].probes = Probes::default();
    batches[5].probes.between = None;
    mark(&mut batches, true, |_| QuietWidth::Known(QUIET_WIDTH));
    let marked: Vec<usize> =
        (0..batches.len()).filter(|i| !batches[*i].disturbed.is_empty()).collect();
    assert_eq!(marked, [3, 5]);
}

/// Two measurements of the same work with the same neighbour, one after the other.
fn measure_twice(random: &mut Rng) -> [Benchmark; 2] {
    let mut duration = || 10_f64.powf(5.0 + 4.0 * random.f64());
    let (turn_ns, pause_ns) = (duration(), duration());
    let batch = [1.0, 5.0, 25.0][random.usize(..3)];
    let mut host = host(random.u64(..), turn_ns, pause_ns, batch);
    [(); 2].map(|()| measure(&mut host, Some(QUIET_WIDTH)))
}

/// The medians of launches that a comparison uses.
fn pair([a, b]: &[Benchmark; 2]) -> Pair {
    let choice = unit::choose_unit(a, b);
    let [a, b] = [a, b].map(|side| unit::Medians::new(side).within(choice.unit).to_vec());
    Pair { among: choice.among, ..Pair::new("", &a, &b) }
}

/// At most one of a hundred comparisons of a machine with itself has a false alarm, with neighbours
/// whose turns and pauses last between 0.1 ms and 1 s.
#[test]
fn comparisons_beside_neighbours_rarely_have_a_false_alarm() {
    const COMPARISONS: usize = 300;
    const BENCHMARKS: usize = 4;
    let mut random = Rng::with_seed(21);
    let (mut alarms, mut compared) = (0, 0);
    for _ in 0..COMPARISONS {
        let both: Vec<_> = (0..BENCHMARKS).map(|_| measure_twice(&mut random)).collect();
        let usable = both.iter().filter(|sides| sides.iter().all(has_figure));
        let pairs: Vec<Pair> = usable.map(pair).collect();
        compared += pairs.len();
        let mut verdicts = compare_launches(&pairs).into_iter().map(|c| c.verdict);
        alarms += usize::from(verdicts.any(|verdict| verdict == Verdict::Suspect));
    }
    println!("{compared} pairs compared, {alarms} false alarms");
    assert!(100 * alarms <= COMPARISONS, "{alarms} false alarms");
    assert!(compared > 2 * COMPARISONS, "{compared} pairs");
}
