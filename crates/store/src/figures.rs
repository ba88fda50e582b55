//! Copies an entry without its raw intervals, which are nearly all of its bytes.

use yamba_record::Benchmark;

/// A copy without `samples`, `intervals` and `sizing`.
pub(crate) fn figures(entry: &Benchmark) -> Benchmark {
    Benchmark {
        name: entry.name.clone(),
        class: entry.class.clone(),
        ports: entry.ports.clone(),
        parameters: entry.parameters.clone(),
        swept: entry.swept.clone(),
        processes: entry.processes,
        status: entry.status,
        valid: entry.valid,
        unit: entry.unit.clone(),
        operations: entry.operations,
        median: entry.median,
        interval: entry.interval,
        interval_kind: entry.interval_kind,
        launches: entry.launches.clone(),
        set_aside: entry.set_aside,
        is_disturbed: entry.is_disturbed,
        disturbed: entry.disturbed.clone(),
        throughput: entry.throughput.clone(),
        median_of_medians: entry.median_of_medians,
        placement: entry.placement.clone(),
        harness: entry.harness.clone(),
        samples: Vec::new(),
        evidence: entry.evidence.clone(),
        notes: entry.notes.clone(),
        figure: entry.figure.clone(),
        intervals: Vec::new(),
        sizing: Vec::new(),
        clock: entry.clock.clone(),
        cycle_ns: entry.cycle_ns.clone(),
        cycles: entry.cycles,
        circles: entry.circles.clone(),
        bounds: entry.bounds.clone(),
        charts: entry.charts.clone(),
        platform: entry.platform.clone(),
        about: entry.about.clone(),
    }
}
