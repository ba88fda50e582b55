//! `yamba gc predict` with documents that were written by hand: no JVM runs.

use serde_json::{Value, json};

use crate::schema;
use crate::support::{Yamba, json as document};

const MEGABYTE: f64 = 1e6;

/// After each 4 MB, 6 to 8 MB are alive. Copying a byte takes 1 ns. The ordinary runs have collections of an Eden of 50 and 150 MB.
fn profile() -> Value {
    let census = |i: usize| {
        let newest = [4e6, 2e6, 3e6][i % 3];
        json!({
            "allocated_bytes": (i + 1) as f64 * 4.0 * MEGABYTE,
            "live_bytes_by_age": [newest, 4e6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "metaspace_bytes": 1e6,
        })
    };
    json!({
        "schema": "yamba-gc-profile/1", "application": "app", "command": ["App"], "jvm": "17",
        "allocated_bytes": 1000.0 * MEGABYTE, "mutator_ns": 1e9,
        "serial": {"runs": [ordinary(188e6, 20.0), ordinary(563e6, 6.0)], "costs": costs()},
        "censuses": (0..250).map(census).collect::<Vec<_>>(), "not_measured": [],
    })
}

/// A run with this heap and number of young collections, which copy 6 MB each.
fn ordinary(heap_bytes: f64, collections: f64) -> Value {
    let time_ns = collections * 6.1e6;
    json!({
        "heap_bytes": heap_bytes,
        "young": {"collections": collections, "bytes": collections * 6e6, "cpu_ns": time_ns, "pause_ns": time_ns},
        "full": {"collections": 0, "bytes": 0, "cpu_ns": 0, "pause_ns": 0},
    })
}

/// Each live byte costs 1 ns in a young collection, and a collection 0.1 ms.
fn costs() -> Value {
    let young = json!({"fixed_ns": 1e5, "ns_per_byte": {"list/24": 1.0, "tree/24": 2.0}});
    let full = json!({"fixed_ns": 1e6, "ns_per_byte": {"list/24": 2.0, "tree/24": 4.0}});
    let none = json!({"fixed_ns": 0.0, "ns_per_byte": {}});
    json!({
        "young_cpu": young, "young_pause": young, "full_cpu": full, "full_pause": full,
        "cycle_cpu": none, "cycle_pause": none, "observations": 4,
    })
}

fn prepared() -> Yamba {
    schema::holds("yamba-gc-profile-1.json", &profile());
    let costs = json!({
        "schema": "yamba-gc-costs/1", "jvm": "25.0.1", "machine": "m",
        "collectors": {"serial": costs(), "parallel": costs()},
        "skipped": {"z": "this JDK lacks it"},
    });
    schema::holds("yamba-gc-costs-1.json", &costs);
    Yamba::new()
        .file("app.gc", profile().to_string())
        .file("costs.json", costs.to_string())
}

#[test]
fn count_and_time_follow_from_profile_and_costs() {
    let options = "gc predict app.gc --costs costs.json --collector serial --heap 128M --json";
    let found = document(&mut prepared(), options);
    schema::holds("yamba-gc-predictions-1.json", &found);
    let of = &found["predictions"][0];
    assert_eq!(
        (&of["collector"], &of["heap_bytes"]),
        (&json!("serial"), &json!(128 << 20))
    );
    let value = |key: &str| of[key]["predicted"].as_f64().unwrap();
    // Eden has 34944 KiB.
    let young = (1000.0 * MEGABYTE / (34944.0 * 1024.0)).floor();
    assert!((young..young + 2.0).contains(&value("collections")), "{of}");
    // Each young collection takes 0.1 ms and copies 4 to 8 MB. At most one full collection is needed.
    let ms = value("gc_cpu_ns") / 1e6;
    assert!((110.0..240.0).contains(&ms), "{of}");
    assert!(value("pause_longest_ns") < value("pause_total_ns"));
    for figure in [
        "collections",
        "gc_cpu_ns",
        "pause_total_ns",
        "pause_longest_ns",
    ] {
        let ends = [0, 1].map(|at| of[figure]["interval"][at].as_f64().unwrap());
        assert!(ends[0] <= value(figure) && value(figure) <= ends[1], "{of}");
        assert!(of[figure]["measured"].is_null());
    }
}

/// Costs of G1 by an earlier version: no refinement.
#[test]
fn costs_that_cannot_serve_for_any_chosen_collector_are_refused() {
    let mut of_g1 = costs();
    of_g1["cycle_cpu"] = json!({"fixed_ns": 1e6, "ns_per_byte": {"list/24": 1.0}});
    let old = json!({
        "schema": "yamba-gc-costs/1", "jvm": "25.0.1", "machine": "m",
        "collectors": {"serial": costs(), "g1": of_g1}, "skipped": {},
    });
    schema::holds("yamba-gc-costs-1.json", &old);
    let mut yamba = prepared().file("old.json", old.to_string());
    let predict = "gc predict app.gc --costs old.json --heap 64M";
    yamba.run(&format!("{predict} --collector g1")).refused(&[
        "old.json: g1: the costs lack refinement",
        "yamba gc characterise --force --json > FILE",
    ]);
    // The costs of Serial serve.
    let found = document(&mut yamba, &format!("{predict} --json"));
    let missing = found["missing"].to_string();
    assert!(missing.contains("the costs lack refinement"), "{missing}");
    assert_eq!(found["predictions"].as_array().unwrap().len(), 1);
}

#[test]
fn collector_without_costs_is_named_with_its_reason() {
    let mut yamba = prepared();
    let found = document(
        &mut yamba,
        "gc predict app.gc --costs costs.json --heap 64M --json",
    );
    let missing = found["missing"].to_string();
    assert!(missing.contains("z: this JDK lacks it"), "{missing}");
    assert!(missing.contains("g1: the costs lack it"), "{missing}");
    assert_eq!(found["predictions"].as_array().unwrap().len(), 2);
}

#[test]
fn profile_of_an_earlier_version_is_refused() {
    let mut old = profile();
    old["ordinary"] = old["serial"]["runs"][0].clone();
    old["serial"] = costs();
    let mut yamba = prepared().file("old.gc", old.to_string());
    yamba
        .run("gc predict old.gc --costs costs.json")
        .refused(&["old.gc: ", "take it again with `yamba gc profile`"]);
}

#[test]
fn file_that_cannot_be_written_is_refused_before_the_application_runs() {
    let mut yamba = prepared();
    for command in [
        "gc profile -o missing/app.gc -- touch ran",
        "trace -o missing/app.vector -- touch ran",
        "trace --files missing/app.files -- touch ran",
        "gc predict app.gc -o missing/page.html --measure",
    ] {
        let refused = yamba.run(command);
        refused.refused(&["cannot write missing/", "name another file"]);
    }
    assert!(!yamba.folder.path().join("ran").exists());
}
