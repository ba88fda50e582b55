//! `yamba import` and `yamba export`: documents are transferred completely or not at all.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use yamba_store::export::FORMATS;

use crate::support::{Yamba, root};

pub fn document() -> Value {
    let entry = |name: &str, is_valid: bool| {
        json!({
            "name": name, "class": name, "ports": [], "parameters": {"size": 8}, "processes": 1,
            "status": if is_valid { "ok" } else { "invalid" }, "valid": is_valid, "unit": "ns", "operations": 1.0, "median": 2.5,
            "confidence_interval": [2.0, 3.0], "samples": [2.5], "evidence": {}, "notes": ["<script>"], "figure": "latency",
            "launches": [{"median": 2.5, "samples": 1, "cycles": null, "cycle_ns": null}],
        })
    };
    json!({
        "schema": "yamba-run/1", "started_unix_s": 1.5e9,
        "machine": {"isa": "x86_64", "system": "linux", "kernel": "6.1", "cpu": null, "cpus": 2, "memory": null,
            "page_size": 4096, "root": false, "virtual_machine": null, "scratch": null},
        "benchmarks": [entry("good", true), entry("bad", false)],
    })
}

fn yamba() -> Yamba {
    Yamba::new().file("old.json", document().to_string())
}

#[test]
fn imported_document_is_exported_unchanged() {
    let mut yamba = yamba();
    let id = yamba.run("import old.json").ok().out.trim().to_owned();
    assert_eq!(id.len(), 16);
    for reference in ["", "latest", &id, &id[..6]] {
        let text = yamba.run(&format!("export {reference} --format json")).ok().out;
        let out: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(out["id"], id);
        assert_eq!(out["benchmarks"][0]["samples"], json!([2.5]));
        assert_eq!(out["benchmarks"][1]["valid"], json!(false));
    }
    let direct = yamba.run("export old.json --format json").ok().out;
    let stored = yamba.run("export --format json").ok().out;
    let [direct, stored]: [Value; 2] = [direct, stored].map(|t| serde_json::from_str(&t).unwrap());
    assert_eq!(direct["benchmarks"], stored["benchmarks"]);
}

/// Medians and samples are enough for everything except raw batches.
#[test]
#[ignore = "needs g++"]
fn document_without_batches_is_imported_compared_and_reported() {
    let mut yamba = Yamba::new();
    let text = yamba.run("run lat_call --quick --json --time 1s").out;
    let run: Value = serde_json::from_str(&text).unwrap();
    assert!(run["benchmarks"][0].get("batches").is_none());
    assert!(run["benchmarks"][0].get("sizing").is_none());
    yamba = yamba.file("summary.json", &text);

    let other = "--store other.sqlite";
    let id = yamba.run(&format!("import summary.json {other}")).ok().out;
    assert_eq!(id.trim(), run["id"]);
    let stored = yamba.run(&format!("show latest --json {other}")).ok().out;
    let stored: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored["benchmarks"], run["benchmarks"]);

    let compared = yamba.run(&format!("compare latest summary.json --json {other}"));
    let compared: Value = serde_json::from_str(&compared.ok().out).unwrap();
    let all = compared["benchmarks"].as_array().unwrap();
    assert!(all.iter().all(|b| b["ratio"] == 1.0), "{compared}");
    let unmatched = compared["unmatched"].as_array().unwrap();
    assert_eq!(all.len() + unmatched.len(), run["benchmarks"].as_array().unwrap().len());

    yamba.run(&format!("report latest -o page.html {other}")).ok();
    let page = fs::read_to_string(yamba.folder.path().join("page.html")).unwrap();
    assert!(page.contains("lat_call"));
}

#[test]
fn importing_the_same_run_twice_is_rejected() {
    let mut yamba = yamba().file("copy.json", document().to_string());
    yamba
        .run("import old.json copy.json")
        .refused(&["copy.json: the same run as old.json", "help:"]);
    let none = yamba.run("export --format csv");
    assert_eq!(none.status, 2, "something was stored: {}", none.out);
    yamba.run("import old.json").ok();
    yamba.run("import copy.json").refused(&["is in the store already", "help:"]);
}

#[test]
fn import_cannot_take_tag_or_id_of_stored_run() {
    let mut tagged = document();
    tagged["tags"] = json!(["baseline"]);
    let mut future = document();
    future["started_unix_s"] = json!(4e12);
    let mut yamba =
        yamba().file("tagged.json", tagged.to_string()).file("future.json", future.to_string());
    yamba
        .run("import tagged.json future.json")
        .refused(&["future.json: the run says that it began in the future", "help:"]);
    let said = yamba.run("import tagged.json").ok().err;
    assert!(said.contains("its tags are not taken: baseline"), "{said}");
    let listed: Value = serde_json::from_str(&yamba.run("runs --json").ok().out).unwrap();
    assert_eq!(listed[0]["tags"], json!([]));
}

#[test]
fn one_bad_file_of_two_imports_nothing() {
    let text = document().to_string();
    let mut yamba = yamba().file("cut.json", &text[..text.len() / 2]);
    yamba
        .run("import old.json cut.json")
        .refused(&["cut.json: ends too early", "help: it was cut short"]);
    yamba.run("export --format csv").refused(&[]);
    yamba.run("import old.json --limit 10").refused(&["longer than 10 bytes", "--limit"]);
}

#[test]
fn every_export_format_reports_omissions() {
    let mut document = document();
    document["benchmarks"][0]["batches"] = json!({"passes": 1, "operations": 1, "ns": [2.5]});
    let mut yamba = Yamba::new().file("old.json", document.to_string());
    let parts = [
        ("json", "\"good\""),
        ("csv", ",good,"),
        ("csv-batches", "dummy_ns"),
        ("google-benchmark", "error_occurred"),
        ("go", "BenchmarkGood/size=8-1 1 2.5 ns/op\n"),
        ("prometheus", "yamba_valid{benchmark=\"bad\",processes=\"1\",parameter_size=\"8\"} 0\n"),
        ("openmetrics", "yamba_valid{benchmark=\"bad\",processes=\"1\",parameter_size=\"8\"} 0\n"),
        ("bencher", "\"good size=8\": {\n    \"latency\""),
        ("github-action-smaller", "\"name\": \"good size=8\""),
        ("github-action-bigger", ""),
        ("hyperfine", "\"command\": \"good size=8\""),
        ("ktap", "not ok 2 bad size=8\n"),
        ("influx", ",status=\"invalid\",valid=false,reason="),
    ];
    let texts = FORMATS.iter().map(|f| f.name);
    let tested: BTreeSet<&str> = parts.iter().map(|(format, _)| *format).collect();
    assert_eq!(tested, texts.collect());
    for (format, part) in parts {
        let answer = yamba.run(&format!("export old.json --format {format}"));
        if format == "github-action-bigger" {
            // Latencies are no rates: a list without entries would say nothing.
            answer.refused(&["no entry has a valid figure that github-action-bigger", "csv"]);
            continue;
        }
        let answer = answer.ok().says(&[part]);
        let is_told = answer.err.contains("1 of 2 entries have no figure here");
        let gives_reasons =
            ["json", "csv", "csv-batches", "google-benchmark", "influx", "ktap"].contains(&format);
        assert_eq!(is_told, !gives_reasons, "{format}: {}", answer.err);
    }
}

#[test]
fn help_of_a_metric_says_which_intervals_there_are() {
    let text = yamba().run("export old.json --format prometheus").ok().out;
    let help = "# HELP yamba_latency_interval_seconds The interval of the figure: a distribution-free 95 % confidence interval between launches; or one that holds the figure of the next run of this kind in 90 % of cases; or a 95 % confidence interval within launches, which says nothing of other runs.\n";
    assert!(text.contains(help), "{text}");
}

/// An empty file would look like a run without benchmarks.
#[test]
fn export_without_any_entry_or_batch_is_refused() {
    let mut empty = document();
    empty["benchmarks"] = json!([]);
    let mut yamba = yamba().file("empty.json", empty.to_string());
    for format in FORMATS.iter().map(|f| f.name).filter(|name| *name != "json") {
        let answer = yamba.run(&format!("export empty.json --format {format} -o out"));
        answer.refused(&["the run has no entry", "help:"]);
    }
    for words in ["export old.json --format csv-batches -o out", "show old.json --raw"] {
        yamba.run(words).refused(&["there are no raw batches", "--raw", "help:"]);
    }
    assert!(!yamba.folder.path().join("out").exists());
    yamba.run("export empty.json --format json").ok();
    let imported = lmbench().run("show host.0 --raw");
    imported.refused(&["only benchmarks that Yamba timed have them"]);
}

/// The table of missing figures and the descriptions of the page.
#[test]
fn page_of_exports_describes_every_format() {
    let page = fs::read_to_string(root().join("docs/export.md")).unwrap();
    for name in FORMATS.iter().map(|f| f.name) {
        let is_row = |l: &str| l.starts_with("| `") && l.contains(&format!("`{name}`"));
        assert!(page.lines().any(is_row), "{name} has no row");
        assert!(page.contains(&format!("**{name}**")), "{name} has no description");
    }
}

#[test]
fn failed_export_leaves_file_unchanged() {
    let mut yamba = yamba();
    yamba.run("export old.json --format go -o out.txt").ok();
    let path = yamba.folder.path().join("out.txt");
    let before = fs::read_to_string(&path).unwrap();
    assert!(before.contains("BenchmarkGood"));
    yamba.run("export none --format csv -o out.txt").refused(&["no run is kept"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    yamba.run("export old.json --format csv -o out.txt").ok();
    assert!(fs::read_to_string(&path).unwrap().starts_with("run,name,"));
    yamba
        .run("export old.json --format csv -o .")
        .refused(&["is no file that could be replaced", "help:"]);
    yamba
        .run("export old.json --format csv -o no/such/out.csv")
        .refused(&["cannot write no/such/out.csv"]);
    let left = fs::read_dir(yamba.folder.path()).unwrap().flatten();
    assert!(!left.into_iter().any(|e| e.file_name().to_string_lossy().starts_with(".yamba")));
}

/// Each command that takes a RUN also takes a document file.
#[test]
fn document_is_shown_without_a_store() {
    let mut yamba = yamba();
    yamba.run("show old.json").ok().says(&["good", "2.5 ns"]);
    let shown = yamba.run("show old.json good --json").ok().out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["benchmarks"].as_array().unwrap().len(), 1);
    yamba.run("show none.json").refused(&["none.json: there is no such file", "help:"]);
    assert!(!yamba.folder.path().join("results.sqlite").exists());
}

#[test]
fn run_without_benchmarks_is_shown_as_such() {
    let mut empty = document();
    empty["benchmarks"] = json!([]);
    let answer = Yamba::new().file("empty.json", empty.to_string()).run("show empty.json").ok();
    assert_eq!(
        (answer.out.as_str(), answer.err.as_str()),
        ("", "note: this run has no benchmarks\n")
    );
}

#[test]
fn report_rejects_unwritable_page() {
    let mut yamba = yamba();
    yamba.run("report old.json -o page.html").ok();
    yamba.run("report old.json -o no/such/page.html").refused(&["cannot write no/such/page.html"]);
    yamba.run("report old.json -o .").refused(&["is no file that could be replaced", "help:"]);
}

/// A replacement file keeps the permissions of the file that it replaces.
#[test]
fn replaced_file_keeps_its_permissions() {
    let mut yamba = yamba().file("page.html", "old");
    let page = yamba.folder.path().join("page.html");
    fs::set_permissions(&page, fs::Permissions::from_mode(0o600)).unwrap();
    yamba.run("report old.json -o page.html").ok();
    let about = fs::metadata(&page).unwrap();
    assert!(about.len() > 1000);
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
}

#[test]
fn unknown_export_format_is_rejected() {
    yamba().run("export old.json --format excel").refused(&["excel", "csv-batches", "prometheus"]);
}

/// Two result files of lmbench from one machine.
fn lmbench() -> Yamba {
    let text = |syscall: &str| {
        format!(
            "[lmbench3.0 results for Linux host 6.1.0 x86_64 GNU/Linux]\n[SYSNAME: Linux]\n[MACHINE: x86_64]\n[RELEASE: 6.1.0]\n\
             Simple syscall: {syscall} microseconds\nSegmentation fault\u{1b}[31m\n<script>alert(1)</script>\u{1b}[2J: 2.0000 microseconds\n\n\
             \"size=0k ovr=0.75\n2 1.50\n\n[Mon Mar  4 10:12:00 UTC 2024]\n"
        )
    };
    Yamba::new().file("host.0", text("0.1250")).file("host.1", text("0.1500"))
}

/// Imported results are marked as such in every command, and their differences are not judged.
#[test]
fn imported_results_are_marked_as_such() {
    let mut yamba = lmbench();
    let answer = yamba.run("import host.0 host.1").ok();
    assert_eq!(answer.out.lines().count(), 2);
    let note = "host.0: no known figure, and left out:\n  line 6: Segmentation fault[31m\n";
    assert!(answer.err.contains(note), "{}", answer.err);
    let id = answer.out.lines().next().unwrap().to_owned();
    yamba.run("runs").ok().says(&["x86_64, linux 6.1.0", "lmbench 3.0, 3 entries"]);
    let shown = yamba.run(&format!("show {id}")).ok().says(&[
        "Simple syscall",
        "125 ns",
        "no interval",
        "Measured by lmbench 3.0, not by Yamba",
    ]);
    assert!(!shown.out.contains('\u{1b}'), "{:?}", shown.out);
    yamba
        .run_words(&["show", &id, "--source", "Simple syscall"])
        .ok()
        .says(&["==> host.0 <==", "Simple syscall: 0.1250 microseconds"]);
    let compared = yamba.run("compare host.0 host.1");
    assert_eq!(compared.status, 2, "{}", compared.err);
    assert!(compared.err.contains("warning: A: Measured by lmbench 3.0"), "{}", compared.err);
    let reason = "not compared, one number without launches in A, one number without launches in B";
    assert!(compared.out.contains(reason), "{}", compared.out);
    assert!(!compared.out.contains('\u{1b}'), "{:?}", compared.out);
    yamba.run("report host.0 host.1 -o page.html").ok();
    let page = fs::read_to_string(yamba.folder.path().join("page.html")).unwrap();
    assert!(page.contains("not by Yamba") && !page.contains("<script>alert"));
    assert!(page.contains("Measured by lmbench 3.0: Yamba knows nothing of disturbance."));
    for claim in ["valid and undisturbed", "Each figure is a median", "95 %", ", . "] {
        assert!(!page.contains(claim), "{claim}");
    }
    let tables = yamba.run("report host.0 --md").ok().out;
    assert!(
        tables.contains("\n\nlinux 6.1.0. There is no raw batch: another program measured."),
        "{tables}"
    );
    let csv = yamba.run("export host.0 --format csv").ok().out;
    let mut lines = csv.lines().map(|line| line.split(','));
    let at = lines.next().unwrap().position(|title| title == "has_sound_interval").unwrap();
    assert_eq!(lines.next().unwrap().nth(at), Some("false"), "{csv}");
    let text = yamba.run(&format!("export {id} --format json")).ok().out;
    crate::schema::is_run(&serde_json::from_str(&text).unwrap());
}

/// A name or unit with a line break cannot look like another entry.
#[test]
fn name_cannot_inject_a_line() {
    let mut forged = document();
    forged["benchmarks"][0]["name"] = json!("good\nok  better  1 ns\u{202e}");
    forged["benchmarks"][0]["unit"] = json!("ns\nok  best  1 ns");
    forged["benchmarks"][0]["figure"] = json!("value");
    let mut yamba = Yamba::new().file("forged.json", forged.to_string());
    yamba.run("import forged.json").ok();
    for (words, status) in [("show", 0), ("runs", 0), ("compare latest latest", 2)] {
        let answer = yamba.run(words);
        assert_eq!(answer.status, status, "{}", answer.err);
        let out = answer.out;
        assert!(!out.lines().any(|l| l.starts_with("ok  be")), "{out}");
        assert!(!out.contains('\u{202e}'), "{out}");
    }
}

#[test]
fn imported_results_of_another_machine_are_rejected() {
    let mut yamba = lmbench().file("old.json", document().to_string().replace("x86_64", "riscv64"));
    yamba.run("compare old.json host.0").refused(&["these are two machines", "--across"]);
}
