//! Tables for a paper (`yamba show --md`, `yamba report --md`) and charts on a terminal (`yamba
//! show --plot`), of a stored run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;
use yamba_record::program::Chart;
use yamba_record::run::{Cycles, IntervalScope};
use yamba_record::{Benchmark, Machine, Parameters, Run, Status};
use yamba_store::{Location, Store};

use crate::support::Yamba;

fn entry(name: &str, median: f64) -> Benchmark {
    let mut entry = yamba_harness::not_started(name);
    entry.status = Status::Ok;
    entry.valid = true;
    entry.notes = Vec::new();
    entry.declaration.figure = Some("latency".to_owned());
    entry.unit = Some("ns".to_owned());
    entry.median = Some(median);
    entry.confidence_interval = Some([median * 0.9, median * 1.1]);
    entry.interval_scope = Some(IntervalScope::BetweenLaunches);
    entry.declaration.provenance.topic = Some("Memory".to_owned());
    entry
}

/// A stored run with a sweep that has an invalid point, a name with Markdown markup, and a skipped
/// benchmark. It is in the default store.
fn kept() -> Yamba {
    let yamba = Yamba::new();
    let data = yamba.folder.path().join("data");
    let yamba = yamba.without("YAMBA_STORE").env("XDG_DATA_HOME", &data);
    let mut run: Run = Run::new(Machine::default());
    run.id = "0011223344556677".to_owned();
    run.machine.cpu = Some("A & B | C_1".to_owned());
    run.machine.cpus = 2;
    run.producer.arguments = vec!["run".to_owned(), "\u{1b}[31mred".to_owned()];
    run.machine.system = "linux".to_owned();
    run.machine.kernel = "6.1".to_owned();
    for (size, median) in [(16_u64 << 10, 1.0), (1 << 20, 10.0), (64 << 20, 100.0)] {
        let mut point = entry("lat_mem", median);
        point.parameters = Parameters(vec![("size".to_owned(), json!(size))]);
        point.declaration.swept = vec!["size".to_owned()];
        point.declaration.charts = vec![Chart {
            figure: "latency".to_owned(),
            against: "size".to_owned(),
            by: None,
            log: true,
            fit_linear: false,
        }];
        point.details.cycles = Some(Cycles {
            median: 4.0 * median,
            confidence_interval: [3.9 * median, 4.1 * median],
        });
        run.benchmarks.push(point);
    }
    let mut invalid = run.benchmarks[1].clone();
    invalid.parameters.0[0].1 = json!(4 << 20);
    invalid.status = Status::Invalid;
    invalid.valid = false;
    invalid.notes = vec!["faults is 2, but should be 0 | <b>".into()];
    run.benchmarks.push(invalid);
    let mut hostile = entry("statement/a|b & `c` <script>", 7.0);
    hostile.declaration.provenance.topic = Some("Other_things".to_owned());
    run.benchmarks.push(hostile);
    let mut skipped = yamba_harness::not_started("lat_far");
    skipped.status = Status::Skipped;
    skipped.notes = vec!["needs root".into()];
    run.benchmarks.push(skipped);
    let path = data.join("yamba/results.sqlite");
    Store::open(&Location::File(path)).unwrap().add(&run).unwrap();
    yamba
}

/// `UPDATE_EXPECT=1` rewrites the expected file.
#[test]
fn show_md_prints_the_expected_tables() {
    let mut yamba = kept();
    let text = yamba.run("show latest --md").ok().out;
    let path = crate::support::root().join("crates/yamba/tests/study/run.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let have = std::fs::read_to_string(&path).unwrap();
    assert_eq!(have, text, "run the tests with UPDATE_EXPECT=1");
}

/// `report --md` writes to standard output unless `-o` names a file.
#[test]
fn report_md_prints_the_tables_of_each_run() {
    let mut yamba = kept();
    let one = yamba.run("show latest --md").ok().out;
    assert!(yamba.run("report --md").ok().out == one);
    let two = yamba.run("report --md latest 0011 -o -").ok().out;
    assert!(two == format!("{one}\n{one}"));
    yamba.run("report --md -o out.md").ok();
    let path = yamba.folder.path().join("out.md");
    assert!(std::fs::read_to_string(path).unwrap() == one);
    assert!(!yamba.folder.path().join("report.html").exists());
}

#[test]
fn paper_names_store_other_than_the_default() {
    let mut yamba = kept();
    let id = "0011223344556677";
    let usual = yamba.folder.path().join("data/yamba/results.sqlite");
    let other = yamba.folder.path().join("an other.sqlite");
    std::fs::copy(&usual, &other).unwrap();
    let command = format!("`yamba show {id} --raw --store '{}'`", other.display());
    for words in ["show latest --md", "report --md"] {
        yamba.run(words).ok().says(&[&format!("`yamba show {id} --raw`")]);
        let mut words: Vec<&str> = words.split(' ').collect();
        words.extend(["--store", "an other.sqlite"]);
        yamba.run_words(&words).ok().says(&[&command]);
    }
    // Without a named run, a file called `latest` is not read.
    let mut yamba = yamba.file("latest", "{}");
    let command = format!("`yamba show {id} --raw`");
    yamba.run("show --md").ok().says(&[&command]);
    // If `YAMBA_STORE` names another store, commands must name the default one.
    let mut yamba = yamba.env("YAMBA_STORE", &other);
    let usual = usual.to_str().unwrap();
    let command = format!("`yamba show {id} --raw --store {usual}`");
    let words = ["show", "--md", "--store", usual];
    yamba.run_words(&words).ok().says(&[&command]);
}

/// No command is printed if it would name another store.
#[test]
fn paper_of_store_with_unprintable_name_is_rejected() {
    let yamba = kept();
    let usual = yamba.folder.path().join("data/yamba/results.sqlite");
    let other = yamba.folder.path().join(OsStr::from_bytes(b"\xff.sqlite"));
    std::fs::copy(usual, &other).unwrap();
    let mut yamba = yamba.env("YAMBA_STORE", &other);
    yamba.run("show latest").ok();
    for words in ["show latest --md", "report --md", "report -o -"] {
        yamba.run(words).refused(&["not UTF-8", "help: "]);
    }
}

/// An output that is an input would replace what may be the only copy.
#[test]
fn output_replaces_neither_its_document_nor_a_store() {
    let mut yamba = kept();
    let folder = yamba.folder.path().to_owned();
    yamba.run("export latest --format json -o run.json").ok();
    std::fs::hard_link(folder.join("run.json"), folder.join("link.json")).unwrap();
    std::os::unix::fs::symlink("run.json", folder.join("symbolic.json")).unwrap();
    let store = folder.join("data/yamba/results.sqlite");
    std::fs::copy(&store, folder.join("copy.sqlite")).unwrap();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let (document, results) = (read("run.json"), read("copy.sqlite"));
    for output in ["run.json", "link.json", "symbolic.json"] {
        for command in ["report", "report --md", "export --format csv"] {
            let refused = format!("{output} is an input of this command");
            yamba.run(&format!("{command} run.json -o {output}")).refused(&[&refused]);
        }
    }
    let refused = "copy.sqlite is a store of results";
    for command in ["report latest", "export latest --store copy.sqlite --format csv"] {
        yamba.run(&format!("{command} -o copy.sqlite")).refused(&[refused]);
    }
    assert!(read("run.json") == document && read("copy.sqlite") == results);
    // Another file is replaced.
    for _ in 0..2 {
        yamba.run("report run.json -o page.html").ok();
    }
}

/// A store, or a source, may be the only copy as well.
#[test]
fn output_of_commands_replaces_no_store() {
    let mut yamba = kept();
    let folder = yamba.folder.path().to_owned();
    std::fs::copy(folder.join("data/yamba/results.sqlite"), folder.join("copy.sqlite")).unwrap();
    let store = std::fs::read(folder.join("copy.sqlite")).unwrap();
    yamba
        .run("time -c true -r 3 --output copy.sqlite")
        .refused(&["--output copy.sqlite: it is a store of results"]);
    yamba.run("time -c true -r 3 --export-json copy.sqlite").refused(&["is a store of results"]);
    assert!(std::fs::read(folder.join("copy.sqlite")).unwrap() == store);
}

#[test]
fn show_draws_a_chart_in_the_terminal() {
    let mut yamba = kept();
    let text = yamba.run("show lat_mem --plot").ok().out;
    for part in ["lat_mem: latency (ns), logarithmic", "16Ki", "64Mi", "not drawn: 1 invalid"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    yamba.run("show lat_far --plot").refused(&["nothing to draw", "yamba run"]);
    yamba.run("show --plot --md").refused(&["--plot", "--md"]);
}

#[test]
fn page_on_standard_output_equals_the_file() {
    let mut yamba = kept();
    yamba.run("report -o page.html").ok();
    let file = std::fs::read_to_string(yamba.folder.path().join("page.html")).unwrap();
    assert!(file.contains("\u{1b}[31mred"));
    assert!(yamba.run("report -o -").ok().out == file);
}
