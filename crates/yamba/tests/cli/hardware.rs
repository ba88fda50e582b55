//! `yamba hardware`, with benchmarks whose curves have known answers.

use std::fs;
use std::process::Command;

use serde_json::Value;
use yamba_harness::keep_hardware;
use yamba_record::hardware::HardwareParameter;

use crate::schema;
use crate::support::{Yamba, json};

/// A benchmark in place of `load_sizes`, with the times of a processor of this rule: `x` is from 1
/// to 48. A neighbour does not change the size of the third cache, so that every pass counts.
fn with_curve(time: &str) -> Yamba {
    let class = format!(
        r#"
/// A known curve.
yamba load_sizes extends HardwareCurve
{{
    const char *unit()     {{ return "B"; }}
    const char *inferred() {{ return "l3.size"; }}
    const char *x_unit()   {{ return "B"; }}
    std::vector<double> points()
    {{
        std::vector<double> found;
        for (int n = 1; n <= 48; n++) found.push_back(n);
        return found;
    }}
    double pass(double x) {{ return {time}; }}
}}
"#
    );
    let mut yamba = Yamba::new().file("load_sizes.yamba", &class);
    // On a busy machine the compiler needs the time of a quick run.
    yamba.run("build load_sizes --lib .").ok();
    yamba
}

/// Three caches; the third one ends at this point.
fn levels(end: u32) -> String {
    format!("x <= 8 ? 2 : x <= 20 ? 6 : x <= {end} ? 30 : 100")
}

fn parameters(mut yamba: Yamba) -> Vec<Value> {
    let answer = yamba.run("hardware --lib . l3.size --quick --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    schema::holds("yamba-hardware/1", &document);
    document["parameters"].as_array().unwrap().clone()
}

#[test]
fn known_curve_gives_its_parameter() {
    let found = parameters(with_curve(&levels(36)));
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["name"], &found[0]["unit"]), (&"l3.size".into(), &"B".into()));
    assert_eq!(found[0]["found"], 36.0);
    assert_eq!(found[0]["interval"], serde_json::json!([36.0, 37.0]));
    assert!(found[0]["reason"].is_null());
}

#[test]
fn curve_that_does_not_tell_gives_the_reason() {
    let found = parameters(with_curve("2 + 0 * x"));
    assert!(found[0]["found"].is_null());
    let reason = found[0]["reason"].as_str().unwrap();
    assert!(reason.contains("has no step up to 48"), "{reason}");
    let found = parameters(with_curve(
        "x <= 8 ? 2 : x <= 14 ? 6 : x <= 20 ? 20 : x >= 44 ? 100 : 20 + (x - 20) * 80 / 24",
    ));
    let reason = found[0]["reason"].as_str().unwrap();
    assert!(reason.contains("the step lies anywhere from") || reason.contains("steps"), "{reason}");
}

/// Status 1 is for a benchmark that failed. A parameter may have no value, with status 0.
#[test]
fn failed_benchmark_is_a_failure_without_an_empty_table() {
    let told = with_curve("2 + 0 * x").run("hardware --lib . l3.size --quick").ok();
    assert!(told.out.starts_with("cannot tell"), "{}", told.out);
    let answer = with_curve("(abort(), x)").run("hardware --lib . l3.size --quick");
    assert_eq!(answer.status, 1, "{}", answer.out);
    assert!(answer.out.starts_with("cannot tell"), "{}", answer.out);
}

/// The failure of another benchmark of the run does not count.
#[test]
fn stored_run_fails_only_for_the_parameters_that_are_asked_for() {
    let mut yamba = with_curve(&levels(36));
    let broken = "yamba broken extends load_sizes { double pass(double) { abort(); } }";
    yamba = yamba.file("broken.yamba", broken);
    assert_eq!(yamba.run("run load_sizes broken --lib . --quick").status, 1);
    yamba.run("hardware l3.size --from latest").ok();
}

#[test]
fn run_is_stored_with_its_curve() {
    let mut yamba = with_curve(&levels(36));
    let answer = yamba.run("hardware --lib . l3.size --quick").ok();
    answer.says(&["l3.size    36 B"]);
    let stored = yamba.run("show latest --json --raw").ok();
    let document: Value = serde_json::from_str(&stored.out).unwrap();
    assert_eq!(document["benchmarks"][0]["name"], "load_sizes");
    assert_eq!(document["benchmarks"][0]["median"], 36.0);
    let parameters = document["benchmarks"][0]["hardware"].as_array().unwrap();
    let third = parameters.iter().find(|p| p["name"] == "l3.size").unwrap();
    assert_eq!(third["found"], 36.0);
}

#[test]
fn unknown_parameter_is_refused_with_the_list() {
    let answer = Yamba::new().run("hardware l9.size");
    answer.refused(&["no parameter is called l9.size", "rob.entries"]);
}

#[test]
fn reads_in_sequence_fetch_at_least_as_much_as_random_ones() {
    let mut yamba = Yamba::new();
    let answer = yamba.run("hardware storage.block readahead.bytes --quick --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    let found: Vec<Option<f64>> =
        document["parameters"].as_array().unwrap().iter().map(|p| p["found"].as_f64()).collect();
    match found[..] {
        [Some(block), Some(ahead)] => assert!(512.0 <= block && block <= ahead, "{document}"),
        _ => {
            let reason = document["parameters"][1]["reason"].as_str().unwrap();
            assert!(reason.contains("memory") || reason.contains("does not count"), "{reason}");
        }
    }
}

#[test]
fn parameters_go_to_files_that_programs_read() {
    let mut yamba = with_curve(&levels(36));
    yamba.run("hardware --lib . l3.size --quick --parameters cpu.h").ok();
    let path = |name: &str| yamba.folder.path().join(name);
    let header = fs::read_to_string(path("cpu.h")).unwrap();
    assert!(header.contains("\n#define YAMBA_L3_SIZE_BYTES 36\n"), "{header}");
    // The stored run has the same parameters, and all others with their reasons.
    let folder = path("");
    yamba.run("hardware --from latest --parameters cpu.sh").ok();
    yamba.run("hardware l3.size --from latest --parameters cpu.json").ok();
    let read = Command::new("sh")
        .args(["-ec", ". ./cpu.sh; echo $YAMBA_L3_SIZE_BYTES"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(read.stdout).unwrap(), "36\n");
    let shell = fs::read_to_string(folder.join("cpu.sh")).unwrap();
    assert!(shell.contains("\n# rob.entries: the run lacks its benchmark"), "{shell}");
    let text = fs::read_to_string(folder.join("cpu.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["parameters"].as_array().unwrap().len(), 1);
    assert_eq!(document["parameters"][0]["found"], 36.0);
}

#[test]
fn file_of_another_form_is_refused_before_measuring() {
    let mut yamba = Yamba::new();
    for name in ["cpu.toml", "cpu", "no/such/folder/cpu.h"] {
        let answer = yamba.run(&format!("hardware --parameters {name}"));
        answer.refused(&[name]);
    }
    assert!(!yamba.folder.path().join("results.sqlite").exists(), "a run was stored");
}

#[test]
fn two_machines_are_compared() {
    let mut yamba = with_curve(&levels(36));
    yamba.run("hardware --lib . l3.size --quick").ok();
    let other = with_curve(&levels(24)).run("hardware --lib . l3.size --quick --json").ok();
    let mut yamba = yamba.file("there.json", &other.out);
    let compared = json(&mut yamba, "study hardware latest there.json --json");
    let rows = compared["parameters"].as_array().unwrap();
    let third = rows.iter().find(|p| p["name"] == "l3.size").unwrap();
    assert_eq!(third["found"], serde_json::json!([36.0, 24.0]));
    assert_eq!(third["ratio"], 24.0 / 36.0);
    assert_eq!(third["differs"], true);
    let first = rows.iter().find(|p| p["name"] == "rob.entries").unwrap();
    assert!(first["differs"].is_null());
    yamba.run("study hardware there.json latest").ok().says(&[
        "l3.size",
        "24 B",
        "36 B",
        "1.5",
        "yes",
        "rob.entries of A: it was not measured",
    ]);
    yamba.run("study hardware there.json missing.json").refused(&["missing.json"]);
    yamba.run("study hardware latest").refused(&["2 values required"]);
}

/// A benchmark that hangs in its second launch costs the rest of the time, and no more: the run is
/// whole, live and in the store.
#[test]
fn end_of_the_time_keeps_the_other_curves() {
    let yamba = with_curve(&levels(36));
    let flag = yamba.folder.path().join("launched");
    let class = format!(
        r#"
native {{
    #include <fcntl.h>
    #include <unistd.h>
}}
/// A curve whose second launch hangs.
yamba code_size extends HardwareCurve
{{
    const char *unit()     {{ return "B"; }}
    const char *inferred() {{ return "l1i.size"; }}
    const char *x_unit()   {{ return "B"; }}
    std::vector<double> points() {{ return {{1, 2, 3, 4}}; }}
    void before_curve()
    {{
        while (access("{flag}", F_OK) == 0) pause();
        must(close(must(open("{flag}", O_CREAT | O_WRONLY, 0600))));
    }}
    double pass(double x) {{ return x; }}
}}
"#,
        flag = flag.display()
    );
    let mut yamba = yamba.file("code_size.yamba", &class);
    yamba.run("build code_size --lib .").ok();
    let answer =
        yamba.run("hardware --lib . l3.size l1i.size --quick --json --parameters cpu.h").ok();
    assert!(flag.exists());
    assert!(!answer.err.contains("stopped"), "{}", answer.err);
    assert!(yamba.folder.path().join("cpu.h").exists());
    let live: Value = serde_json::from_str(&answer.out).unwrap();
    let stored = json(&mut yamba, "hardware --from latest l3.size l1i.size --json");
    for document in [&live, &stored] {
        assert!(document["interrupted"].is_null(), "{document}");
        let parameters = document["parameters"].as_array().unwrap();
        let third = parameters.iter().find(|p| p["name"] == "l3.size").unwrap();
        assert_eq!(third["found"], 36.0, "{document}");
    }
    let run = json(&mut yamba, "show latest --json");
    assert_ne!(run["interrupted"], true);
    let hanging = run["benchmarks"].as_array().unwrap().iter().find(|b| b["name"] == "code_size");
    let notes = hanging.unwrap()["notes"].to_string();
    assert!(notes.contains("the time of the run was over after 1 of"), "{notes}");
    let shown = yamba.run("show latest");
    assert!(!shown.out.contains("was stopped"), "{}", shown.out);
}

/// A run takes its sizes from what was found on this machine, and its document has the source.
#[test]
#[ignore = "needs g++"]
fn found_sizes_replace_claimed_ones() {
    let yamba = Yamba::new();
    let cache = yamba.folder.path().join("cache");
    fs::create_dir(&cache).unwrap();
    let machine = yamba_session::machine(&yamba_toolchain::build::host());
    let found = HardwareParameter {
        name: "l2.size".to_owned(),
        unit: "B".to_owned(),
        found: Some(1_224_736.0),
        interval: Some([1_224_736.0; 2]),
        ..HardwareParameter::default()
    };
    keep_hardware(&cache, &machine, &[found], 1.0);
    let mut yamba = yamba.env("YAMBA_CACHE", &cache).without("YAMBA_NEIGHBOURS");
    let plan = json(&mut yamba, "run lat_mem_rd_huge --dry-run --json");
    let sizes = plan["benchmarks"].as_array().unwrap().iter().map(|b| &b["parameters"]["size"]);
    let sizes: Vec<u64> = sizes.map(|size| size.as_u64().unwrap()).collect();
    // Whole pages: 1196 KiB, and a quarter and four times as much.
    for size in [306_176, 1_224_704, 4_898_816] {
        assert!(sizes.contains(&size), "{sizes:?}");
    }
    let machine = json(&mut yamba, "machine --json");
    assert_eq!(machine["hardware"][0]["found"], 1_224_736.0);
    // A busy machine may leave no valid figure.
    yamba.run("run lat_mem_rd_huge --quick --launches 1 --time 50ms");
    let run = json(&mut yamba, "show latest --json");
    assert_eq!(run["machine"]["hardware"][0]["name"], "l2.size");
}
