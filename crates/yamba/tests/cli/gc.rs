//! `yamba gc predict` with documents that were written by hand: no JVM runs.

use serde_json::{Value, json};

use crate::schema;
use crate::support::{Yamba, json as document};

const MEGABYTE: f64 = 1e6;

/// After each 4 MB, 6 to 8 MB are alive. Copying a byte takes 1 ns. The ordinary runs have
/// collections of an Eden of 50 and 150 MB.
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
    schema::holds("yamba-gc-profile/1", &profile());
    let costs = json!({
        "schema": "yamba-gc-costs/1", "jvm": "25.0.1", "machine": "m",
        "collectors": {"serial": costs(), "parallel": costs()},
        "skipped": {"z": "this JDK lacks it"},
    });
    schema::holds("yamba-gc-costs/1", &costs);
    Yamba::new().file("app.gc", profile().to_string()).file("costs.json", costs.to_string())
}

#[test]
fn count_and_time_follow_from_profile_and_costs() {
    let options = "gc predict app.gc --costs costs.json --collector serial --heap 128M --json";
    let found = document(&mut prepared(), options);
    schema::holds("yamba-gc-predictions/1", &found);
    let of = &found["predictions"][0];
    assert_eq!((&of["collector"], &of["heap_bytes"]), (&json!("serial"), &json!(128 << 20)));
    let value = |key: &str| of[key]["predicted"].as_f64().unwrap();
    // Eden has 34944 KiB.
    let young = (1000.0 * MEGABYTE / (34944.0 * 1024.0)).floor();
    assert!((young..young + 2.0).contains(&value("collections")), "{of}");
    // Each young collection takes 0.1 ms and copies 4 to 8 MB. At most one full collection is
    // needed.
    let ms = value("gc_cpu_ns") / 1e6;
    assert!((110.0..240.0).contains(&ms), "{of}");
    assert!(value("pause_longest_ns") < value("pause_total_ns"));
    for figure in ["collections", "gc_cpu_ns", "pause_total_ns", "pause_longest_ns"] {
        let ends = [0, 1].map(|at| of[figure]["interval"][at].as_f64().unwrap());
        assert!(ends[0] <= value(figure) && value(figure) <= ends[1], "{of}");
        assert!(of[figure]["measured"].is_null());
    }
}

#[test]
fn heap_below_those_of_the_profile_is_marked() {
    let mut yamba = prepared();
    let predict = "gc predict app.gc --costs costs.json --collector serial";
    let text = yamba.run(&format!("{predict} --heap 128M --heap 256M")).ok().out;
    assert!(text.contains("intervals may not hold: 128 MiB\n"), "{text}");
    let found = document(&mut yamba, &format!("{predict} --heap 128M --heap 256M --json"));
    let marks = [0, 1].map(|at| found["predictions"][at]["is_below_checked"].as_bool());
    assert_eq!(marks, [Some(true), Some(false)]);
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
    schema::holds("yamba-gc-costs/1", &old);
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
    let found = document(&mut yamba, "gc predict app.gc --costs costs.json --heap 64M --json");
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

/// Files that users have in the place of a profile, each by its first lines.
#[test]
fn other_files_are_named_with_the_command_that_makes_a_profile() {
    let files = [
        (
            "gc.log",
            "[0.116s][info][gc] Using G1\n[0,158s][info][gc,start] GC(0) Pause Young\n",
            "a log of a Java virtual machine",
        ),
        (
            "ms.log",
            "[116ms] GC(0) Pause Young (Normal) 6M->3M(64M) 12.1ms\n",
            "a log of a Java virtual machine",
        ),
        (
            "date.log",
            "[2026-11-28T03:00:00.000+0100][0.1s][info][gc,init] CPUs: 2\n",
            "a log of a Java virtual machine",
        ),
        ("old.log", "0.158: [GC (Allocation Failure)  6M->3M(64M), 0.0121 secs]\n", "before JDK 9"),
        ("recording.jfr", "FLR\0\u{2}\0", "a recording of JDK Flight Recorder"),
        ("app.hprof", "JAVA PROFILE 1.0.2\0", "a heap dump"),
        ("verbose.xml", "<?xml version=\"1.0\" ?>\n<verbosegc>\n", "a log in XML"),
        ("costs.json", "", "a document of costs"),
        ("other.json", "{\"schema\": \"yamba-run/1\"}", "a document of the form \"yamba-run/1\""),
        ("plain.json", "[]", "a JSON document without a schema"),
        ("half.gc", "{\"schema\": \"yamba-gc-profile/1\",", "no whole JSON"),
        ("empty.gc", "", "no whole JSON"),
    ];
    let mut yamba = prepared();
    for (name, text, what) in files {
        if name != "costs.json" {
            yamba = yamba.file(name, text);
        }
        let predict = format!("gc predict {name} --costs costs.json");
        let profile = "yamba gc profile -o FILE -- java ...";
        yamba.run(&predict).refused(&[name, what, "yamba-gc-profile/1", profile]);
    }
    yamba = yamba.file("gc.log.gz", b"\x1f\x8b\x08\0");
    yamba
        .run("gc predict gc.log.gz --costs costs.json")
        .refused(&["gc.log.gz: it is compressed by gzip"]);
    yamba
        .run("gc predict app.gc --costs gc.log")
        .refused(&["gc.log: it is a log", "yamba gc characterise --json > FILE"]);
}

#[test]
fn impossible_numbers_are_refused() {
    let mut yamba = prepared();
    let changes = [
        ("allocated_bytes", json!(-1), "allocated_bytes: -1 is not between 0 and 1e18"),
        ("allocated_bytes", json!(1e300), "allocated_bytes: 1e+300 is not"),
        ("censuses", json!([]), "censuses: without one"),
    ];
    for (key, value, fault) in changes {
        let mut wrong = profile();
        wrong[key] = value;
        yamba = yamba.file("wrong.gc", wrong.to_string());
        yamba.run("gc predict wrong.gc --costs costs.json").refused(&["wrong.gc: ", fault]);
    }
    let text = std::fs::read_to_string(yamba.folder.path().join("costs.json")).unwrap();
    let mut costs: Value = serde_json::from_str(&text).unwrap();
    costs["collectors"]["serial"]["young_cpu"]["fixed_ns"] = json!(-5.0);
    let mut yamba = yamba.file("wrong.json", costs.to_string());
    yamba
        .run("gc predict app.gc --costs wrong.json")
        .refused(&["wrong.json: collectors.serial.young_cpu.fixed_ns: -5.0 is not between"]);
}

#[test]
fn profile_with_a_byte_order_mark_is_read() {
    let text = format!("\u{feff}{}", profile().to_string().replace(',', ",\r\n"));
    let mut yamba = prepared().file("mark.gc", text);
    let options = "--costs costs.json --collector serial --heap 128M --json";
    let found = document(&mut yamba, &format!("gc predict mark.gc {options}"));
    let expected = document(&mut yamba, &format!("gc predict app.gc {options}"));
    assert_eq!(found, expected);
}

/// Costs that an earlier version measured in a locale with decimal commas, and rough ones.
#[test]
fn costs_without_pauses_are_refused_and_rough_ones_have_wider_intervals() {
    let file = |change: &dyn Fn(&mut Value)| {
        let mut of_serial = costs();
        change(&mut of_serial);
        json!({
            "schema": "yamba-gc-costs/1", "jvm": "17", "machine": "m",
            "collectors": {"serial": of_serial}, "skipped": {},
        })
        .to_string()
    };
    let none = json!({"fixed_ns": 0.0, "ns_per_byte": {}});
    let mut yamba = prepared()
        .file("exact.json", file(&|_| ()))
        .file("rough.json", file(&|costs| costs["deviation"] = json!(0.8)))
        .file(
            "no.json",
            file(&|costs| {
                costs["young_pause"] = none.clone();
                costs["full_pause"] = none.clone();
            }),
        );
    let predict = "gc predict app.gc --collector serial --heap 128M --json --costs";
    yamba.run(&format!("{predict} no.json")).refused(&["no.json: serial: the costs lack pauses"]);
    let mut width = |name: &str| {
        let found = document(&mut yamba, &format!("{predict} {name}"));
        let of = &found["predictions"][0]["gc_cpu_ns"];
        of["interval"][1].as_f64().unwrap() / of["predicted"].as_f64().unwrap()
    };
    assert!(width("rough.json") > 1.2 * width("exact.json"));
}

#[test]
fn heap_without_room_for_the_live_set_is_refused() {
    let predict = "gc predict app.gc --costs costs.json --collector serial --json --heap";
    let too_small = |live: &str| format!("a heap of 1 MiB is too small: {live} are alive at once");
    let mut yamba = prepared();
    // 8 MB are alive.
    yamba.run(&format!("{predict} 1M")).refused(&[&too_small("7.629 MiB"), "fix: --heap "]);
    // With another heap that has a prediction, it is one of the missing ones.
    let found = document(&mut yamba, &format!("{predict} 1M --heap 64M"));
    assert_eq!(found["predictions"].as_array().unwrap().len(), 1);
    assert!(found["missing"][0].as_str().unwrap().contains(&too_small("7.629 MiB")));
}

#[test]
fn profile_of_a_java_that_is_not_there_is_refused() {
    let command = "gc profile -o app.gc -- /no/such/java -cp . Main";
    prepared().run(command).refused(&["/no/such/java: there is no such program", "of a JDK"]);
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
