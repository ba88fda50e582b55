//! Sample runs.

use serde_json::json;
use yamba_record::{Batch, Benchmark, Machine, Records, Run};

/// Numbers whose last bit is easily lost.
fn awkward(i: usize) -> f64 {
    [0.1 + 0.2, -0.0, 5e-324, f64::MAX, 1.0 / 3.0, 1e23][i % 6] * (1.0 + i as f64 / 7.0).min(1.0)
}

pub fn batch(i: usize) -> Batch {
    let mut batch: Batch = serde_json::from_value(json!({
        "passes": u64::MAX - i as u64, "operations": i, "ns": 0.0, "dummy_ns": 0.0, "process": i % 2,
        "cycle_ns": if i.is_multiple_of(3) { Some(0.3) } else { None },
        "disturbance": {"involuntary": i % 5, "minor_faults": 7, "stolen_ns": 12.5, "waited_ns": if i.is_multiple_of(2) { Some(1) } else { None }},
        "disturbed": if i % 4 == 1 { vec!["clock", "switch"] } else { vec![] },
        "load": if i.is_multiple_of(2) { Some(json!({"ready_ns": 1.5, "begin_ns": 2, "end_ns": 3, "left_ns": 4})) } else { None },
        "group": if i % 3 == 1 { Some(i) } else { None },
    }))
    .unwrap();
    batch.launch = i as u64 / 4;
    if i.is_multiple_of(7) {
        batch.outside.push("faults".to_owned());
    }
    batch.ns = awkward(i);
    batch.dummy_ns = awkward(i + 1);
    batch.sample = (!i.is_multiple_of(5)).then(|| awkward(i + 2));
    if i % 3 != 2 {
        batch.counters.insert("cycles".to_owned(), Some(awkward(i + 3)));
        batch.evidence.insert("faults".to_owned(), Some(awkward(i)));
    }
    if i.is_multiple_of(2) {
        batch.evidence.insert("none".to_owned(), None);
    }
    batch
}

pub fn entry(name: &str, batches: usize) -> Benchmark {
    let mut entry: Benchmark = serde_json::from_value(json!({
        "name": name, "class": name, "ports": ["x86_64-linux"], "parameters": {"scale": 16, "a": "b c"}, "processes": 1, "status": "ok",
        "valid": true, "unit": "ns", "operations": 1, "median": 0.1, "confidence_interval": [0.1, 0.3], "samples": [], "evidence": {}, "notes": ["<b>"],
        "sizing": {"purpose": ["growth"], "passes": 3, "ns": [0.7], "dummy_ns": 0.1},
        "lowest_curve": {"name": "load_latency", "x_unit": "B", "x": [4096], "ns": [1.1]},
        "curves": [{"name": "load_latency", "x_unit": "B", "launch": 1, "x": [4096, 4096], "ns": [1.1, 1.2], "probes_before": [944, null],
                    "probes_after": [945, 1200], "huge_share": 1}],
    }))
    .unwrap();
    let mut records = entry.records.unpack();
    records.batches = (0..batches).map(batch).collect();
    entry.records = Records::packed(records);
    entry.details.samples = (0..batches).map(awkward).collect();
    entry
}

pub fn run(id: &str, started: f64) -> Run {
    let mut run = Run::new(Machine::default());
    run.id = id.to_owned();
    run.started_unix_s = Some(started);
    run.sources = [("h1", "class A;"), ("h2", "class B;")]
        .map(|(hash, text)| (hash.to_owned(), text.to_owned()))
        .into();
    run.benchmarks = vec![entry("lat_a", 40), entry("lat_b", 3), entry("lat_a", 0)];
    run.benchmarks[1].valid = false;
    run
}

/// Several runs that take several pages of a file.
pub fn several_runs() -> Vec<Run> {
    let ids = ["0a", "0b", "0c"];
    let runs = ids.into_iter().zip([1.0, 2.0, 3.0]).map(|(id, started)| {
        let mut run = run(id, started);
        run.tags = vec![format!("tag-{id}")];
        run.benchmarks = (0..6).map(|i| entry(&format!("lat_{i}"), 300)).collect();
        run
    });
    runs.collect()
}
