//! Results of other programs: their history, and their comparison.

use serde_json::{Value, json};

use crate::schema;
use crate::support::{Yamba, json as document, root};

/// Days of November 2025 by `day % 7`.
const DAYS: [&str; 7] = ["Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu"];

/// Results of lmbench of that day.
fn lmbench(day: usize, latency: f64) -> String {
    let date = format!("[{} Nov {day:2} 10:00:00 UTC 2025]", DAYS[day % 7]);
    format!(
        "[lmbench3.0 results for Linux host]\n{date}\nPipe latency: {latency:.4} microseconds\n{date}\n"
    )
}

#[test]
fn single_numbers_have_a_history() {
    let mut yamba = Yamba::new();
    let mut import = "import --store kept.sqlite".to_owned();
    for day in 1..=12 {
        let level = if day < 7 { 5.0 } else { 6.0 };
        let text = lmbench(day, level + 0.01 * (day % 3) as f64);
        yamba = yamba.file(&format!("host.{day}"), text);
        import.push_str(&format!(" host.{day}"));
    }
    yamba.run(&import).ok();
    let found = document(&mut yamba, "history Pipe* --json --store kept.sqlite");
    schema::holds("yamba-history/1", &found);
    let series = &found["benchmarks"][0];
    assert_eq!(series["points"].as_array().unwrap().len(), 12);
    assert_eq!(series["single_numbers"], 12);
    let [change] = &series["changes"].as_array().unwrap()[..] else { panic!("{series}") };
    assert_eq!(change["index"], 6);
    assert!((change["ratio"].as_f64().unwrap() - 1.2).abs() < 0.01);
    yamba.run("history Pipe* --store kept.sqlite").ok().says(&[
        "changed at",
        "12 of 12 are single numbers",
        "12 of 12 do not name their machine",
    ]);
}

#[test]
fn history_says_which_runs_have_no_date() {
    let other = "Pipe latency: 7.5 microseconds\n";
    let mut yamba = Yamba::new().file("host.1", lmbench(1, 5.0)).file("later.0", other);
    yamba.run("import host.1 later.0 --store kept.sqlite").ok();
    let said = yamba.run("history Pipe* --store kept.sqlite").ok();
    said.says(&["1 of 2 do not say when they began", "unknown", "2 runs are too few"]);
}

/// JMH with six forks: a rate, scaled by `factor`, and a time that does not change.
fn jmh(factor: f64) -> String {
    let forks = |level: f64| [0.99, 1.0, 1.01, 1.0, 0.995, 1.005].map(|fork| [level * fork]);
    let row = |mode: &str, unit: &str, level: f64| {
        json!({"jmhVersion": "1.37", "benchmark": "org.ex.Q.work", "mode": mode, "threads": 1, "forks": 6,
            "measurementIterations": 1, "vmName": "VM", "vmVersion": "17",
            "primaryMetric": {"score": level, "scoreUnit": unit, "rawData": forks(level)}})
    };
    json!([row("thrpt", "ops/s", 1000.0 * factor), row("avgt", "us/op", 1000.0)]).to_string()
}

#[test]
fn fewer_operations_a_second_are_slower() {
    let mut yamba = Yamba::new().file("a.json", jmh(1.0)).file("b.json", jmh(0.8));
    let compared = document(&mut yamba, "compare a.json b.json --json");
    schema::holds("yamba-compare/1", &compared);
    let [rate, time] = &compared["benchmarks"].as_array().unwrap()[..] else {
        panic!("{compared}")
    };
    assert_eq!(rate["parameters"], json!({"mode": "thrpt"}));
    assert_eq!((&rate["better"], &rate["suspect"]), (&json!("more"), &json!(true)));
    assert!((rate["ratio"].as_f64().unwrap() - 0.8).abs() < 1e-9);
    assert_eq!((&time["better"], &time["verdict"]), (&json!("less"), &json!("same")));
    yamba.run("compare a.json b.json").ok().says(&["rate (more is better)", "suspect"]);
    yamba.run("compare a.json b.json --md").ok().says(&["seems slower"]);

    let gate = |yamba: &mut Yamba, files: &str| -> Value {
        let answer = yamba.run(&format!("compare {files} --fail-above 5% --strict --json"));
        let found: Value = serde_json::from_str(&answer.out).unwrap();
        found["gate"].clone()
    };
    let slower = gate(&mut yamba, "a.json b.json");
    assert_eq!((&slower["gated"], &slower["undecided"]), (&json!(2), &json!(1)));
    assert_eq!(slower["unconfirmed"][0]["parameters"], json!({"mode": "thrpt"}));
    assert_eq!(slower["passed"], false);
    let mut yamba = yamba.file("c.json", jmh(1.001));
    let same = gate(&mut yamba, "a.json c.json");
    assert_eq!((&same["gated"], &same["passed"]), (&json!(2), &json!(true)));
}

/// The average time and the single shot of one method are no versions of one benchmark.
#[test]
fn modes_of_jmh_are_not_compared() {
    let shot = jmh(1.0).replace("\"avgt\"", "\"ss\"");
    let mut yamba = Yamba::new().file("a.json", jmh(1.0)).file("b.json", shot);
    let compared = document(&mut yamba, "compare a.json b.json --json");
    assert_eq!(compared["benchmarks"].as_array().unwrap().len(), 1);
    let alone = compared["unmatched"].as_array().unwrap();
    let reasons: Vec<&Value> = alone.iter().map(|one| &one["reason"]).collect();
    assert_eq!(reasons, ["only in A", "only in B"]);
    // Without the mode, both have the same name.
    let one_mode = |mode: &str| {
        let mut rows: Vec<Value> = serde_json::from_str(&jmh(1.0)).unwrap();
        rows.retain(|row| row["mode"] == mode);
        json!(rows).to_string()
    };
    yamba
        .file("thrpt.json", one_mode("thrpt"))
        .file("avgt.json", one_mode("avgt"))
        .run("compare thrpt.json avgt.json")
        .refused(&["A has org.ex.Q.work mode=thrpt, and B has org.ex.Q.work\n"]);
}

/// A single number does not say how much it varies.
#[test]
fn single_numbers_are_not_compared() {
    let mut yamba = Yamba::new().file("a.txt", lmbench(1, 1.0)).file("b.txt", lmbench(2, 2.0));
    for option in ["", " --fail-above 5%", " --json"] {
        let answer = yamba.run(&format!("compare a.txt b.txt{option}"));
        assert_eq!(answer.status, 2, "{option}: {}", answer.err);
        assert!(answer.out.contains("one number without launches in A"));
        let help = "help: the reasons stand above; a figure needs several launches";
        assert!(answer.err.contains(help), "{}", answer.err);
        assert!(!answer.err.contains("quieter"), "{}", answer.err);
    }
}

/// The output of six processes of Go's benchmarks, one after another.
fn go(time: f64) -> String {
    let process = |level: f64| {
        format!(
            "goos: linux\ngoarch: amd64\npkg: example.com/shop\n\
             BenchmarkSort-2 \t 100\t {:.1} ns/op\nPASS\nok  \texample.com/shop\t1.2s\n",
            time * level
        )
    };
    [0.99, 1.0, 1.01, 1.0, 0.995, 1.005].map(process).concat()
}

#[test]
fn processes_of_go_are_compared() {
    let mut yamba = Yamba::new().file("a.txt", go(1000.0)).file("b.txt", go(1200.0));
    let compared = document(&mut yamba, "compare ./a.txt ./b.txt --json");
    let [sort] = &compared["benchmarks"].as_array().unwrap()[..] else { panic!("{compared}") };
    assert_eq!(sort["parameters"], json!({"gomaxprocs": 2, "pkg": "example.com/shop"}));
    assert!((sort["ratio"].as_f64().unwrap() - 1.2).abs() < 0.001);
    assert_eq!(sort["suspect"], true);
    yamba.run("show ./a.txt").ok().says(&["BenchmarkSort", "an interval is that of its processes"]);
}

/// A value that cannot be read is named by each command that reads the file.
#[test]
fn left_out_values_are_named_by_each_command() {
    let text = lmbench(1, 5.0).replace("[Sat", "Simple syscall: nan microseconds\n[Sat");
    let mut yamba = Yamba::new().file("host.0", &text).file("host.1", lmbench(2, 5.0));
    let note = "note: host.0: no known figure, and left out:\n  line 2: Simple syscall: nan";
    for words in [
        "show host.0",
        "show host.0 --json",
        "report host.0 -o page.html",
        "report host.0 --md",
        "compare host.0 host.1",
        "export host.0 --format csv",
        "import host.0",
    ] {
        let answer = yamba.run(words);
        assert!(answer.err.contains(note), "{words}: {}", answer.err);
        assert!(!answer.out.contains("left out:\n"), "{words}: {}", answer.out);
    }
    let stored = yamba.run("show").ok();
    assert!(!stored.err.contains("left out"), "{}", stored.err);
}

#[test]
fn history_of_imported_launches_advises_import() {
    let samples = root().join("crates/store/src/import/samples/sel4bench.json");
    let mut yamba = Yamba::new();
    yamba.run_words(&["import", samples.to_str().unwrap(), "--store", "kept.sqlite"]).ok();
    yamba.run("history Signal* --store kept.sqlite").ok().says(&["`yamba import` stores the next"]);
    yamba.run("show --store kept.sqlite").ok().says(&["too few iterations for an"]);
}

/// A folder is named with a slash: a word without one may be a tag.
#[test]
fn folder_of_criterion_is_a_run() {
    let samples = root().join("crates/store/src/import/samples/criterion");
    let folder = samples.to_str().unwrap();
    let mut yamba = Yamba::new();
    yamba.run_words(&["show", folder]).ok().says(&["copy/to_vec/64", "slow/fib"]);
    let id = yamba.run_words(&["import", folder, "--store", "kept.sqlite"]).ok().out;
    let shown = yamba.run(&format!("show {} --store kept.sqlite", id.trim())).ok();
    shown.says(&["copy/to_vec/64", "22.03 us"]);
    yamba.run("import . --store kept.sqlite").refused(&["is a folder", "target/criterion"]);
}
