//! Sample runs for the tests of the page.

use serde_json::json;
use yamba_record::machine::details::{Cache, Details};
use yamba_record::run::{Launch, Provenance};
use yamba_record::{Benchmark, Run};

use super::{Operation, Study};

/// Text that would run, load or close something if a page inserted it as markup.
pub const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&";

fn machine() -> yamba_record::Machine {
    yamba_record::Machine {
        isa: "x86_64".to_owned(),
        system: "linux".to_owned(),
        cpu: Some("Made Up 3000".to_owned()),
        cpus: 2,
        ..yamba_record::Machine::default()
    }
}

/// A benchmark at one point. It has samples and evidence if its status implies a measurement.
pub fn benchmark(name: &str, size: u64, status: &str) -> Benchmark {
    let is_measured = matches!(status, "ok" | "invalid");
    let mut benchmark: Benchmark = serde_json::from_value(json!({
        "name": name, "class": name, "ports": [], "parameters": {"size": size}, "processes": 1, "status": status, "valid": status == "ok",
        "unit": "ns", "operations": 1.0, "median": null, "confidence_interval": null, "samples": [], "evidence": {}, "notes": [],
        "charts": [{"figure": "latency", "against": "size", "by": null, "log": true, "fit_linear": false}],
    }))
    .unwrap();
    if is_measured {
        benchmark.median = Some(size as f64);
        benchmark.confidence_interval = Some([size as f64 * 0.9, size as f64 * 1.1]);
        benchmark.details.samples = (0..66).map(|i| size as f64 + f64::from(i)).collect();
        benchmark.launches = vec![Launch { median: benchmark.median, ..Launch::default() }; 6];
        benchmark.details.evidence = [("faults".to_owned(), serde_json::from_value(json!({"median": 1.0, "min": 0.5, "max": 7.25, "expects": [0.98, null], "outside": 3})).unwrap())].into();
    }
    benchmark
}

/// The entry of a benchmark that measures cache sizes, for a level.
pub fn level_found(level: u64, bytes: u64) -> Benchmark {
    let mut found = benchmark("cache", level, "ok");
    found.parameters.0[0].0 = "level".to_owned();
    found.declaration.provenance.tags = vec!["cache_sizes".to_owned()];
    found.unit = Some("B".to_owned());
    found.median = Some(bytes as f64);
    found
}

/// Machine details with caches: levels and bytes.
pub fn caches(levels: &[(u64, u64)]) -> Box<Details> {
    let caches = levels.iter().map(|(level, bytes)| Cache {
        level: *level,
        kind: "unified".to_owned(),
        bytes: Some(*bytes),
        ..Cache::default()
    });
    Box::new(Details { caches: caches.collect(), ..Details::default() })
}

/// A run with these benchmarks.
pub fn run(benchmarks: Vec<Benchmark>) -> Run {
    let mut run = Run::new(machine());
    run.id = "0123456789abcdef".to_owned();
    run.benchmarks = benchmarks;
    run
}

/// A run in which every text is hostile.
pub fn hostile_run() -> Run {
    let mut one = benchmark(HOSTILE, 1, "ok");
    let mut two = benchmark(HOSTILE, 2, "invalid");
    for b in [&mut one, &mut two] {
        b.notes = vec![HOSTILE.into()];
        b.unit = Some(HOSTILE.to_owned());
        b.declaration.provenance = Provenance {
            topic: Some(HOSTILE.to_owned()),
            summary: Some(HOSTILE.to_owned()),
            ..Provenance::default()
        };
        b.parameters.0.push((HOSTILE.to_owned(), json!(HOSTILE)));
    }
    let mut three = one.clone();
    three.parameters.0[0].1 = json!(3);
    let mut hostile_run = run(vec![one, two, three]);
    hostile_run.id = HOSTILE.to_owned();
    hostile_run.tags = vec![HOSTILE.to_owned()];
    hostile_run.machine.cpu = Some(HOSTILE.to_owned());
    hostile_run.producer.arguments = vec![HOSTILE.to_owned()];
    hostile_run
}

/// A study of the first run: a figure, a line through two, and a skipped operation.
pub fn study() -> Study {
    let figure = |name: &str, value: f64, entries: Vec<usize>| Operation {
        category: "Memory".to_owned(),
        name: name.to_owned(),
        base: "a cache".to_owned(),
        predicted: "1 to 9 us".to_owned(),
        measured: format!("{value} us [1, 9]\u{2020}"),
        value: Some((value, "us".to_owned())),
        verdict: "within\u{2020}".to_owned(),
        is_within: true,
        reason: "It <b>must</b> be.".to_owned(),
        command: "yamba run lat_mem".to_owned(),
        entries,
        ..Operation::default()
    };
    Study {
        title: "What it costs".to_owned(),
        text: "One *paragraph*.".to_owned(),
        operations: vec![
            figure("Load", 8.192, vec![1]),
            figure("Growth", 0.5, vec![0, 1]),
            Operation {
                name: "Absent".to_owned(),
                mark: Some("skipped".to_owned()),
                entries: vec![2],
                ..Operation::default()
            },
        ],
        remarks: vec!["2 predictions: 2 within.".to_owned()],
        ..Study::default()
    }
}

/// A study in which every text is hostile.
pub fn hostile_study() -> Study {
    let text = || HOSTILE.to_owned();
    Study {
        title: text(),
        text: text(),
        operations: vec![Operation {
            category: text(),
            name: text(),
            base: text(),
            overhead: text(),
            predicted: text(),
            measured: text(),
            value: Some((1.0, text())),
            mark: Some(text()),
            verdict: text(),
            reason: text(),
            text: text(),
            notes: vec![text()],
            command: text(),
            entries: vec![0],
            ..Operation::default()
        }],
        remarks: vec![text()],
        ..Study::default()
    }
}
