//! Entries of several launches: one saved launch is replayed with changed numbers.

use std::time::Duration;

use yamba_record::batch::{Batch, Load};
use yamba_record::event::{Begin, Event};
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Status, Workers};

use super::process_output::{ProcessExit, ProcessOutput};
use super::tests::{changed, output, program, replay_all, replay_workers, until};

/// A launch in which each operation takes `by` ns longer.
fn slower(by: f64) -> ProcessOutput {
    with(|_, raw| raw.ns += by * raw.operations as f64)
}

fn with(change: impl Fn(usize, &mut Batch)) -> ProcessOutput {
    output(&changed(change), ProcessExit::Exit(0))
}

pub(super) fn launches(by: &[f64]) -> Vec<ProcessOutput> {
    by.iter().map(|b| slower(*b)).collect()
}

pub(super) const SIX: [f64; 6] = [0.0, 3.0, 1.0, 5.0, 2.0, 4.0];

pub(super) fn entry(launches: &[ProcessOutput]) -> Benchmark {
    replay_all(&program(), 1, launches)
}

fn crashed() -> ProcessOutput {
    output(&until("\"index\": 2,"), ProcessExit::Signal(9))
}

#[test]
fn six_launches() {
    let b = entry(&launches(&SIX));
    assert_eq!((b.status, b.interval_scope), (Status::Ok, Some(IntervalScope::BetweenLaunches)));
    // Each launch's median is 31 plus its slowdown.
    assert_eq!((b.median, b.confidence_interval), (Some(33.5), Some([31.0, 36.0])));
    assert_eq!((b.details.samples.len(), b.records.batches().len(), b.launches.len()), (66, 66, 6));
    assert_eq!(b.launches[3].median, Some(36.0));
    assert_eq!(b.launches[3].cycles, Some(144.0));
    assert_eq!((b.launches[3].samples, b.launches[3].cycle_ns), (11, Some(0.25)));
    assert_eq!(b.environment.cycle_ns, [Some(0.25); 6]);
    let cycles = b.details.cycles.unwrap();
    assert_eq!((cycles.median, cycles.confidence_interval), (134.0, [123.866, 144.134]));
    assert_eq!(b.records.batches().get(12).unwrap().launch, 1);
    assert_eq!(b.records.unpack().sizing.len(), 36);
    assert_eq!(b.notes, ["not detected, assumed: cache_line = 64"], "said once");
    assert_eq!(b.details.throughput.unwrap().unit, "operations/s");
}

#[test]
fn few_launches_give_batch_within_launches() {
    let b = entry(&launches(&SIX[..2]));
    assert_eq!(b.interval_scope, Some(IntervalScope::WithinLaunches));
    assert_eq!(b.median, Some(32.5));
}

#[test]
fn discarded_batches_are_recorded() {
    let disturb = |i: usize, raw: &mut Batch| {
        if i < 2 {
            raw.ns *= 10.0;
            raw.disturbed = vec!["switch".to_owned()];
        }
    };
    let mut all = launches(&SIX[..5]);
    all.push(with(disturb));
    let b = entry(&all);
    assert_eq!(
        (b.status, b.interference.discarded, b.interference.disturbed["switch"]),
        (Status::Ok, 2, 2)
    );
    assert_eq!((b.details.samples.len(), b.records.batches().len()), (64, 66));
    assert_eq!(b.launches[5].samples, 9);
    assert!(b.details.samples.iter().all(|s| *s < 50.0));
}

/// A launch whose batches after the first `calm` ran beside a competitor, which doubled their
/// times.
fn beside_a_competitor(calm: usize) -> ProcessOutput {
    with(|i, raw| {
        if i >= calm {
            raw.ns *= 2.0;
            raw.disturbed = vec!["stolen".to_owned()];
        }
    })
}

/// The first three of the saved batches have a median of 30 ns. The launches agree, so that the
/// interval is a step of the clock.
#[test]
fn figure_uses_undisturbed_batches_if_each_launch_has_some() {
    let b = entry(&vec![beside_a_competitor(3); 6]);
    assert_eq!((b.status, b.interference.is_disturbed), (Status::Ok, false));
    assert_eq!((b.interference.discarded, b.details.samples.len()), (48, 18));
    // The clock of the saved records steps by 20 ns, and a batch has 100 operations.
    let [low, high] = b.confidence_interval.unwrap();
    assert_eq!(b.median, Some(30.0));
    assert!((low - 29.8).abs() < 1e-9 && (high - 30.2).abs() < 1e-9);
    assert_eq!(
        b.notes[0],
        "the machine is disturbed: 48 of 66 batches (48 stolen); only the others count"
    );
}

#[test]
fn all_batches_count_on_a_disturbed_machine() {
    let b = entry(&[beside_a_competitor(2), beside_a_competitor(5)]);
    assert_eq!((b.status, b.interference.is_disturbed), (Status::Ok, true));
    assert_eq!((b.interference.discarded, b.details.samples.len()), (0, 22));
    assert_eq!(
        b.notes[0],
        "the machine is disturbed: 15 of 22 batches (15 stolen); all of them count"
    );
    let json = serde_json::to_value(&b).unwrap();
    assert_eq!(json["is_disturbed"], true);
}

/// Processor, clock and privileges are recorded for each launch. A lock that was only requested is
/// not recorded as held.
#[test]
fn launch_records_placement_clock_and_privileges() {
    let launch = |cpu: u64, cost: f64, locked: Option<bool>, realtime: bool| {
        let mut lines = String::new();
        for line in changed(|_, _| {}).lines() {
            let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
            let is_begin = event["event"] == "begin";
            if is_begin {
                event["placement"] = serde_json::json!({"kind": "pinned", "cpu": cpu});
                event["clock"]["cost_ns"] = cost.into();
                event["realtime"] = realtime.into();
                // Older programs reported this before they had tried.
                event["locked"] = true.into();
            }
            lines += &format!("{event}\n");
            if let Some(held) = locked.filter(|_| is_begin) {
                lines += &format!("{{\"event\":\"locked\",\"held\":{held}}}\n");
            }
        }
        output(&lines, ProcessExit::Exit(0))
    };
    let mut all = vec![
        launch(3, 20.0, Some(true), true),
        launch(1, 25.0, Some(false), false),
        launch(2, 30.0, None, false),
    ];
    all.push(crashed());
    let b = entry(&all);
    assert!(!b.notes.iter().any(|n| n.to_string().contains("were none")));
    let own = b.launches.iter().map(|l| {
        let cpu = l.placement.as_ref().and_then(|p| p.cpu);
        let cost = l.clock.as_ref().and_then(|c| c.cost_ns);
        (cpu, cost, l.locked, l.realtime)
    });
    assert_eq!(
        own.collect::<Vec<_>>(),
        [
            (Some(3), Some(20.0), Some(true), true),
            (Some(1), Some(25.0), Some(false), false),
            (Some(2), Some(30.0), None, false),
            (None, Some(21.5), None, false),
        ]
    );
    // An entry has a processor only if its launches have the same. Otherwise even the short
    // document has that of each launch.
    let processors = |b: &Benchmark| {
        let of_entry = b.environment.placement.as_ref().unwrap().cpu;
        let each = b.launches.iter();
        let each = each.map(|l| l.placement.as_ref().and_then(|p| p.cpu));
        (of_entry, each.collect::<Vec<_>>())
    };
    let short = processors(&b.summary());
    assert_eq!(short, (None, vec![Some(3), Some(1), Some(2), None]));
    let alike = entry(&[3, 3].map(|cpu| launch(cpu, 20.0, None, false)));
    assert_eq!(processors(&alike), (Some(3), vec![Some(3); 2]));
    assert_eq!(processors(&alike.summary()), (Some(3), vec![None; 2]));
}

/// The run-queue wait of a process, and its kind of disturbance, are recorded.
#[test]
fn run_queue_wait_is_recorded() {
    let waiting = |i: usize, raw: &mut Batch| {
        raw.disturbance.waited_ns = (i > 0).then_some(i as f64);
        raw.disturbed = match i {
            1 => vec!["queue".to_owned()],
            2 => vec!["wait".to_owned()],
            _ => Vec::new(),
        };
    };
    let b = entry(&[with(waiting)]);
    let waited = |i: usize| b.records.batches().get(i).unwrap().disturbance.waited_ns;
    assert_eq!((waited(0), waited(5)), (None, Some(5.0)));
    assert_eq!((b.interference.disturbed["queue"], b.interference.disturbed["wait"]), (1, 1));
    assert_eq!(b.interference.discarded, 2);
}

/// A thread that sleeps has a time, and no cycles in any field of the document.
#[test]
fn blocked_thread_has_no_cycles() {
    let with_cycles = |i: usize, raw: &mut Batch| {
        let _ = i;
        raw.cycle_ns = Some(0.25);
    };
    let sleeping = |i: usize, raw: &mut Batch| {
        with_cycles(i, raw);
        raw.disturbance.stolen_ns = 0.98 * (raw.ns + raw.dummy_ns);
        raw.disturbance.voluntary = 5;
    };
    let computes = entry(&[with(with_cycles)]);
    assert!(computes.details.cycles.is_some() && computes.launches[0].cycles.is_some());
    let b = entry(&[with(sleeping)]);
    assert_eq!(b.status, Status::Ok);
    assert!(b.median.is_some());
    assert_eq!((b.details.cycles, b.launches[0].cycles), (None, None));
    assert!(
        b.notes.iter().any(|n| n
            .to_string()
            .starts_with("no cycles: the thread was off the processor for 98 %")),
        "{:?}",
        b.notes
    );
}

/// The figure of the other launches is kept, but invalid.
#[test]
fn one_crashed_launch_makes_figure_invalid() {
    let mut all = launches(&SIX);
    all[2] = crashed();
    let b = entry(&all);
    assert_eq!((b.status, b.valid), (Status::Invalid, false));
    assert_eq!(b.notes[0], "launch 3 of 6: sample was ended by SIGKILL (killed)");
    assert_eq!((b.median, b.details.samples.len()), (Some(34.0), 55));
    assert_eq!(b.records.batches().len(), 57, "also those of the crashed launch");
    assert_eq!((b.launches[2].median, b.launches[2].samples), (None, 0));
    assert_eq!(b.launches[3].median, Some(36.0));

    let b = entry(&[crashed(), crashed()]);
    assert_eq!((b.status, b.median), (Status::Crashed, None));
    assert_eq!(b.notes[0], "sample was ended by SIGKILL (killed)");
    assert_eq!(b.notes[1], "4 batches were measured before; they are kept in `batches`");
}

#[test]
fn suspended_launch_has_its_own_note() {
    let limit = Duration::from_secs(60);
    let b = entry(&[output(&until("\"index\": 2,"), ProcessExit::Suspended(limit))]);
    assert_eq!(b.notes[0], "sample was stopped by a signal, said nothing for 60 s and was ended");
    assert_eq!(b.status, Status::Crashed);
}

#[test]
fn stopped_run_has_finished_launches() {
    let mut all = launches(&SIX);
    all[5] = output(&until("\"index\": 2,"), ProcessExit::Stopped);
    let b = entry(&all);
    assert_eq!((b.status, b.median), (Status::Ok, Some(33.0)));
    assert_eq!(b.interval_scope, Some(IntervalScope::WithinLaunches));
    assert_eq!(b.notes[0], "stopped after 5 of 6 launches");
    all[5].exit = ProcessExit::OutOfTime;
    let b = entry(&all);
    assert_eq!((b.status, b.median), (Status::Ok, Some(33.0)));
    assert_eq!(b.notes[0], "the time of the run was over after 5 of 6 launches");
}

/// One launch may be disturbed so much that it shows no growth.
#[test]
fn time_must_grow_with_passes_in_most_launches() {
    let flat = || {
        let lines = changed(|_, _| {});
        let flat = lines.replace("\"passes\":20,\"ns\":8", "\"passes\":20,\"ns\":4");
        assert_ne!(lines, flat);
        output(&flat, ProcessExit::Exit(0))
    };
    let mut all = launches(&SIX);
    all[0] = flat();
    assert_eq!(entry(&all).status, Status::Ok);
    for launch in &mut all[1..4] {
        *launch = flat();
    }
    let b = entry(&all);
    assert_eq!(b.notes[0], "nothing measurable: twice the passes do not take longer");
}

#[test]
fn entry_has_no_cycles_if_chains_disagree() {
    let doubtful = |_: usize, raw: &mut Batch| raw.check_cycle_ns = Some(0.251);
    let b = entry(&[with(doubtful), with(doubtful)]);
    assert_eq!((b.status, b.details.cycles), (Status::Ok, None));
    assert_eq!(
        b.notes[1],
        "cycles are unknown: two chains of instructions disagree on their length by 0.4 %"
    );
}

/// One launch of two processes, which get the saved batches alternately.
fn loaded(change: impl Fn(usize, &mut Batch)) -> ProcessOutput {
    let lines = changed(|i, raw| {
        let round = (i / 2) as f64;
        raw.process = (i % 2) as u64;
        raw.disturbed = vec!["switch".to_owned()];
        raw.load = Some(Load {
            ready_ns: round * 3e9,
            begin_ns: round * 3e9 + 1e9,
            end_ns: round * 3e9 + 2e9,
            left_ns: round * 3e9 + 2.5e9,
        });
        change(i, raw);
    });
    let mut all = output(&lines, ProcessExit::Exit(0));
    for event in &mut all.events {
        if let Event::Begin(begin) = event {
            *begin = Begin { processes: 2, ..begin.clone() };
        }
    }
    // Removes the last of twelve batches, so the last of six rounds is incomplete.
    let last = |e: &Event| matches!(e, Event::Batch(raw) if raw.index == 10);
    all.events.retain(|e| !last(e));
    all
}

/// The same launch of threads of one process.
fn with_threads(mut of: ProcessOutput, threads: u64) -> ProcessOutput {
    for event in &mut of.events {
        match event {
            Event::Begin(begin) => (begin.processes, begin.threads) = (1, threads),
            Event::Batch(raw) => {
                raw.batch.thread = raw.batch.process;
                raw.batch.process = 0;
            }
            _ => {}
        }
    }
    of
}

#[test]
fn two_threads_give_throughput() {
    let all: Vec<ProcessOutput> = (0..6).map(|_| with_threads(loaded(|_, _| {}), 2)).collect();
    let b = replay_workers(&program(), Workers::threads(2), &all);
    assert_eq!((b.status, b.environment.processes, b.environment.threads), (Status::Ok, 1, 2));
    assert_eq!(b.details.median_of_medians, Some(30.0));
    let together = b.details.throughput.unwrap();
    assert!((together.sum - (1e9 / 31.0 + 1e9 / 29.0)).abs() < 1e-3);
    // A program that ignores `--threads` is noticed.
    let b = replay_workers(&program(), Workers::threads(2), &[loaded(|_, _| {})]);
    let note = "measured with P=2 instead of T=2";
    assert!(b.notes.iter().any(|n| *n == note), "{:?}", b.notes);
}

#[test]
fn two_concurrent_processes_give_throughput() {
    let all: Vec<ProcessOutput> = (0..6).map(|_| loaded(|_, _| {})).collect();
    let b = replay_all(&program(), 2, &all);
    assert_eq!((b.status, b.environment.processes), (Status::Ok, 2));
    // The first process has 31, 30, 28, 32, 34; the second has 29, 35, 33, 27, 26.
    assert_eq!(b.median, Some(30.5));
    assert_eq!(b.details.median_of_medians, Some(30.0));
    let together = b.details.throughput.unwrap();
    assert!((together.sum - (1e9 / 31.0 + 1e9 / 29.0)).abs() < 1e-3);
    assert_eq!(
        (b.interference.discarded, b.interference.disturbed["switch"]),
        (0, 60),
        "that is the load"
    );
    assert_eq!(b.interval_scope, Some(IntervalScope::BetweenLaunches));
}

#[test]
fn processes_that_do_not_overlap_invalidate_load() {
    let late = |i: usize, raw: &mut Batch| {
        if i == 3 {
            raw.load.as_mut().unwrap().ready_ns += 1.5e9;
        }
    };
    let b = replay_all(&program(), 2, &[loaded(|_, _| {}), loaded(late)]);
    assert_eq!(b.status, Status::Invalid);
    assert_eq!(
        b.notes[0],
        "not under load: process 1 only began running the benchmark 500000 us after process 0's batch began (round 2 of launch 2)"
    );
    // The same records of threads name the thread.
    let threads = |of: ProcessOutput| with_threads(of, 2);
    let of_threads = [loaded(|_, _| {}), loaded(late)].map(threads);
    let b = replay_workers(&program(), Workers::threads(2), &of_threads);
    assert_eq!((b.status, b.environment.threads), (Status::Invalid, 2));
    assert!(b.notes[0].to_string().contains("thread 1 only began running"), "{:?}", b.notes);
    // A program that ran alone is no load.
    let b = replay_all(&program(), 2, &launches(&SIX));
    assert_eq!(b.status, Status::Invalid);
    assert_eq!(b.notes[0], "measured with P=1 instead of P=2");
}

#[test]
fn short_batches_under_load_are_noted() {
    let short = |_: usize, raw: &mut Batch| {
        let load = raw.load.as_mut().unwrap();
        load.end_ns = load.begin_ns + 1e8;
    };
    let b = replay_all(&program(), 2, &[loaded(short)]);
    assert_eq!(b.status, Status::Ok);
    assert!(
        b.notes[0].to_string().starts_with("batches of 100 ms are shorter than 1 s"),
        "{:?}",
        b.notes
    );
}
