//! Finding stored runs again.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;
use yamba_record::run::SourceFile;
use yamba_record::{Batch, Benchmark, Run, Status};
use yamba_store::{Location, Store};

use crate::support::{Answer, Yamba};

const FIRST: &str = "0011223344556677";
const SECOND: &str = "0011ffffffffffff";
const THIRD: &str = "abcdef0123456789";

fn entry(name: &str) -> Benchmark {
    let mut entry = yamba_harness::not_started(name);
    entry.status = Status::Ok;
    entry.valid = true;
    entry.unit = Some("ns".to_owned());
    entry.median = Some(12.5);
    entry.confidence_interval = Some([12.0, 13.0]);
    entry.details.samples = vec![12.5];
    let batch = |process, sample| Batch {
        passes: 4,
        operations: 8,
        ns: 120.25,
        dummy_ns: 20.25,
        process,
        sample,
        disturbed: vec!["switch".to_owned()],
        evidence: BTreeMap::from([("faults".to_owned(), Some(1.0))]),
        ..Batch::default()
    };
    entry.records = [batch(0, Some(12.5)), batch(1, None)].into_iter().collect();
    entry
}

fn run(id: &str, started: f64, names: &[&str]) -> Run {
    let mut run = Run::new(yamba_record::Machine::default());
    run.machine.system = "linux".to_owned();
    run.machine.kernel = "6.1.0-25-generic".to_owned();
    run.machine.cpu = Some("Intel(R) Xeon(R) CPU @ 2.10GHz".to_owned());
    run.id = id.to_owned();
    run.started_unix_s = Some(started);
    run.finished_unix_s = Some(started + 1.0);
    run.benchmarks = names.iter().map(|n| entry(n)).collect();
    run
}

/// Three runs: two ids share a prefix, the second run has a source file, the third was stopped.
fn kept() -> Yamba {
    let yamba = Yamba::new();
    let first = run(FIRST, 1.7e9, &["lat_pipe"]);
    let mut second = run(SECOND, 1.7e9 + 60.0, &["lat_pipe", "lat_proc", "bw_pipe"]);
    second.tags = vec!["baseline".to_owned()];
    second.producer.arguments = vec!["run".to_owned(), "--quick".to_owned()];
    second.sources = BTreeMap::from([("aa".to_owned(), "yamba lat_pipe {}\n".to_owned())]);
    second.benchmarks[0].declaration.provenance.files =
        vec![SourceFile { path: "suite/ipc/lat_pipe.yamba".to_owned(), hash: "aa".to_owned() }];
    let mut third = run(THIRD, 1.7e9 + 120.0, &["lat_pipe"]);
    third.interrupted = true;
    third.benchmarks[0].valid = false;
    third.benchmarks[0].status = Status::Invalid;
    let path = yamba.folder.path().join("results.sqlite");
    let mut store = Store::open(&Location::File(path)).unwrap();
    for run in [first, second, third] {
        store.add(&run).unwrap();
    }
    yamba
}

fn json(answer: Answer) -> Value {
    serde_json::from_str(&answer.ok().out).unwrap()
}

#[test]
fn new_store_is_empty() {
    let mut yamba = Yamba::new();
    assert_eq!(json(yamba.run("runs --json")), Value::Array(Vec::new()));
    yamba.run("runs").ok().says(&["`yamba run NAME`"]);
    for words in ["show", "tag latest x", "rm latest", "report", "export --format csv"] {
        yamba.run(words).refused(&["no run is kept", "yamba run"]);
    }
    // Reading does not create a store.
    assert!(!yamba.folder.path().join("results.sqlite").exists());
}

#[test]
fn open_file_of_passwords_is_named_once() {
    let url = "postgresql://ann@localhost:1/none";
    let yamba = Yamba::new().file("passwords", "*:*:*:ann:secret\n");
    let path = yamba.folder.path().join("passwords");
    let mut yamba = yamba.env("PGPASSFILE", path.to_str().unwrap());
    let mut warnings = |mode, command: &str| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let said = yamba.run(command).err;
        let fix = format!("help: chmod 600 {}", path.display());
        assert_eq!(said.matches("is ignored").count(), said.matches(&fix).count());
        said.matches("warning: ").count()
    };
    assert_eq!(warnings(0o640, &format!("runs --store {url}")), 1);
    assert_eq!(warnings(0o604, &format!("show latest --store {url}")), 1);
    assert_eq!(warnings(0o600, &format!("runs --store {url}")), 0);
    assert_eq!(warnings(0o644, "runs --store runs.sqlite"), 0);
    let given = url.replace("ann@", "ann:secret@");
    assert_eq!(warnings(0o644, &format!("runs --store {given}")), 0);
}

#[test]
fn damaged_store_names_the_command_that_recovers() {
    let mut yamba = kept();
    let path = yamba.folder.path().join("results.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    // Content of tables, wherever the pages of the runs lie; the schema is in the first two pages.
    bytes[8192..length].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let shown = [FIRST, SECOND, THIRD].map(|id| yamba.run(&format!("show {id} --raw")));
    let refused = shown.iter().find(|answer| answer.status == 2).unwrap();
    let command = format!("`sqlite3 '{}' .recover | sqlite3 NEW`", path.display());
    assert!(refused.err.contains(&command), "{}", refused.err);
}

#[test]
fn runs_are_listed_latest_first() {
    let mut yamba = kept();
    let all = json(yamba.run("runs --json"));
    let ids: Vec<&str> =
        all.as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [THIRD, SECOND, FIRST]);
    assert_eq!(all[2]["started"], "2023-11-14T22:13:20.000Z");
    assert_eq!(all[2]["machine"]["system"], "linux");
    assert_eq!(all[1]["tags"], serde_json::json!(["baseline"]));
    assert_eq!(all[1]["benchmarks"], serde_json::json!(["bw_pipe", "lat_pipe", "lat_proc"]));
    assert_eq!([&all[0]["complete"], &all[1]["complete"]], [false, true]);

    let table = yamba.run("runs").ok().out;
    let lines: Vec<&str> = table.lines().collect();
    for part in ["abcdef01 ", "2023-11-14 22:15:20", "0/1", "stopped"] {
        assert!(lines[1].contains(part), "no `{part}` in\n{table}");
    }
    for part in [
        "0011ffff ",
        "Intel Xeon, linux 6.1.0",
        "3/3",
        "complete",
        "baseline",
        "whole suite, 3 entries",
    ] {
        assert!(lines[2].contains(part), "no `{part}` in\n{table}");
    }
    assert!(lines[3].ends_with("lat_pipe"), "{table}");
}

#[test]
fn run_is_found_by_id_tag_and_latest() {
    let mut yamba = kept();
    for (reference, id) in [
        ("", THIRD),
        ("latest", THIRD),
        ("latest~2", FIRST),
        ("baseline", SECOND),
        ("00112", FIRST),
        (SECOND, SECOND),
    ] {
        assert_eq!(json(yamba.run(&format!("show {reference} --json")))["id"], id, "{reference}");
    }
    yamba.run("show 0011").refused(&["0011"]);
    yamba.run("show latest~3").refused(&["latest~3"]);
    yamba.run("show nothing").refused(&["nothing"]);
}

#[test]
fn show_prints_run_as_measured() {
    let mut yamba = kept();
    let document = json(yamba.run("show baseline --json --raw"));
    assert_eq!(document["benchmarks"].as_array().unwrap().len(), 3);
    assert_eq!(document["benchmarks"][0]["batches"]["ns"][0], 120.25);
    let summary = json(yamba.run("show baseline --json"));
    assert_eq!(summary["benchmarks"][0].get("batches"), None);
    assert_eq!(summary["benchmarks"][0]["samples"][0], 12.5);
    let table = yamba.run("show baseline").ok().out;
    assert!(table.contains("lat_proc") && table.contains("12.5 ns"), "{table}");

    let chosen = yamba.run("show baseline lat_*").ok().out;
    assert!(chosen.contains("lat_proc") && !chosen.contains("bw_pipe"), "{chosen}");
    yamba.run("show baseline lat_* nosuch").refused(&["nosuch"]);
    yamba.run("show baseline lat_pip").refused(&["did you mean lat_pipe?"]);
    yamba.run("show baseline lat_[").refused(&["is no glob"]);

    // Without a run, the benchmarks of the latest run are shown, with a note that it was stopped.
    let latest = yamba.run("show lat_pipe").ok();
    assert!(latest.out.contains("INVALID"), "{}", latest.out);
    assert!(latest.err.contains("stopped"), "{}", latest.err);
}

#[test]
fn show_raw_prints_one_line_per_batch() {
    let mut yamba = kept();
    let csv = yamba.run("show baseline lat_pipe --raw").ok().out;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with(
            "run,name,parameters,processes,threads,status,unit,launch,process,thread,"
        ),
        "{csv}"
    );
    assert!(lines[1].contains(",lat_pipe,{},1,1,ok,ns,0,0,0,"), "{csv}");
    assert!(lines[1].contains(",4,8,120.25,20.25,"), "{csv}");
    assert!(lines[1].contains(",switch,"), "{csv}");
    assert!(lines[1].contains(r#","{""faults"":1"#), "{csv}");
    assert_eq!(lines.len(), 3);
}

#[test]
fn show_selects_one_point_of_a_sweep() {
    let mut yamba = Yamba::new();
    let mut sweep = run(FIRST, 1.7e9, &["lat_mem", "lat_mem", "lat_mem", "lat_pipe"]);
    for (entry, (size, processes)) in
        sweep.benchmarks.iter_mut().zip([(16384, 1), (32, 1), (32, 4)])
    {
        entry.parameters.0.push(("size".to_owned(), size.into()));
        entry.environment.processes = processes;
    }
    let path = yamba.folder.path().join("results.sqlite");
    let mut store = Store::open(&Location::File(path)).unwrap();
    store.add(&sweep).unwrap();
    let mut lines = |words: &str| yamba.run(words).ok().out.lines().count() - 1;
    assert_eq!(lines("show latest lat_mem --raw"), 6);
    assert_eq!(lines("show latest lat_mem --raw --at size=32"), 4);
    assert_eq!(lines("show latest lat_mem --raw --at size=32 --at P=4"), 2);
    assert_eq!(lines("show latest lat_mem --raw --at size=16K"), 2);
    yamba
        .run("show latest lat_mem --raw --at size=64")
        .refused(&["no point has size=64", "measured: 16384, 32\n"]);
    yamba
        .run("show latest --raw --at stride=1")
        .refused(&["no benchmark here has a parameter stride"]);
}

/// The text that a browser displays.
fn unescaped(html: &str) -> String {
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = html.to_owned();
    signs.iter().fold(text, |t, (sign, c)| t.replace(sign, c))
}

/// The commands in a part of a page, with entities resolved.
pub fn commands(part: &str) -> Vec<String> {
    let after = part.split("<code>yamba show ").skip(1);
    let each = after.filter_map(|rest| rest.split("</code>").next());
    each.map(|words| unescaped(&format!("yamba show {words}"))).collect()
}

/// The details of each figure on a page: its heading and the text below it.
fn figures(page: &str) -> Vec<(String, &str)> {
    let after = page.split("<details id=\"entry-").skip(1);
    let each = after.filter_map(|rest| rest.split("</details>").next());
    each.map(|part| {
        let (heading, below) = part.split_once("</summary>").unwrap();
        let (_, heading) = heading.split_once("Details of ").unwrap();
        (unescaped(heading), below)
    })
    .collect()
}

/// Runs a page's command in a shell as on another day: in another folder, without `YAMBA_STORE`.
pub fn another_day(yamba: &Yamba, command: &str) -> Answer {
    let plain = yamba.command(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "yamba() { \"$0\" \"$@\"; }; eval \"$1\""])
        .arg(plain.get_program())
        .arg(command);
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    shell.env_remove("YAMBA_STORE");
    Answer::read(shell.current_dir("/").output().unwrap()).ok()
}

/// Entries with similar names and points. Each has one batch more than the previous one.
fn hard_to_tell() -> Run {
    let names = [
        "lat_mem",
        "lat_mem",
        "lat_mem",
        "lat_mem",
        "asm/mov rax, [rax]/a",
        "statement/f('$x') & *",
        "--raw",
    ];
    let mut all = run(SECOND, 1.7e9, &names);
    all.sources = BTreeMap::from([("aa".to_owned(), "yamba lat_mem {}\n".to_owned())]);
    let points = [
        ("size", 16384.into(), 1),
        ("size", 32.into(), 1),
        ("size", 32.into(), 4),
        ("size", 32.into(), 1),
    ];
    let points = points
        .into_iter()
        .chain([("code", "it's \"$HOME\"".into(), 1), ("code", "".into(), 1)])
        .chain([("size", "-1".into(), 1)]);
    for (place, (entry, (name, value, processes))) in
        all.benchmarks.iter_mut().zip(points).enumerate()
    {
        entry.parameters.0.push((name.to_owned(), value));
        entry.environment.processes = processes;
        let first = entry.records.batches()[0].clone();
        entry.records = vec![first; place + 1].into_iter().collect();
        entry.declaration.provenance.files =
            vec![SourceFile { path: "suite/lat_mem.yamba".to_owned(), hash: "aa".to_owned() }];
    }
    all.benchmarks[3].environment.threads = 4;
    all
}

/// Each figure's command shows its own raw batches and its source, also if names contain shell or
/// glob characters. A store other than the default is named.
#[test]
fn commands_of_page_show_their_figure() {
    let usual = "yamba/results.sqlite";
    for (file, named, is_told) in [
        (usual, "", false),
        (usual, "--store yamba/results.sqlite", false),
        ("named.sqlite", "--store ./named.sqlite", true),
        ("it's_$HOME.sqlite", "--store it's_$HOME.sqlite", true),
    ] {
        let mut yamba = Yamba::new().without("YAMBA_STORE");
        let folder = yamba.folder.path().to_owned();
        yamba = yamba.env("XDG_DATA_HOME", &folder);
        let location = Location::File(folder.join(file));
        Store::open(&location).unwrap().add(&hard_to_tell()).unwrap();
        let page = yamba.run(&format!("report -o - {named}")).ok().out;
        assert_eq!(page.contains("--store"), is_told, "{named}");
        each_shows_its_own(&yamba, &page);
        if is_told {
            let yamba = yamba.env("YAMBA_STORE", file);
            let answer = yamba.command(&["report", "-o", "-"]).output().unwrap();
            assert_eq!(Answer::read(answer).ok().out, page, "named by the variable");
        }
    }
}

/// Checks the page of [`hard_to_tell`].
fn each_shows_its_own(yamba: &Yamba, page: &str) {
    let figures = figures(page);
    let headings: Vec<&str> = figures.iter().map(|(heading, _)| heading.as_str()).collect();
    let expected = [
        "lat_mem size=16384 P=1 T=1",
        "lat_mem size=32 P=1 T=1",
        "lat_mem size=32 P=4 T=1",
        "lat_mem size=32 P=1 T=4",
        "asm/mov rax, [rax]/a",
        "statement/f('$x') & *",
        "--raw",
    ];
    assert_eq!(headings, expected);
    for (place, (heading, below)) in figures.iter().enumerate() {
        let commands = commands(below);
        let [raw, source] = &commands[..] else {
            panic!("{heading}: {commands:?}");
        };
        let lines = another_day(yamba, raw).out.lines().count();
        assert_eq!(lines - 1, place + 1, "{raw}");
        another_day(yamba, source).says(&["yamba lat_mem {}"]);
    }
}

/// A document is in no store and may predate run ids, so commands name its file.
#[test]
fn commands_of_page_from_document_name_the_file() {
    for id in ["", "0011223344556677"] {
        let mut run = hard_to_tell();
        run.id = id.to_owned();
        let document = serde_json::to_string(&run).unwrap();
        let mut yamba = Yamba::new().file("it's $run.json", document);
        let words = ["report", "it's $run.json", "-o", "-", "--store", "s.sqlite"];
        let page = yamba.run_words(&words).ok().out;
        assert!(!page.contains("--store"));
        each_shows_its_own(&yamba, &page);
    }
}

#[test]
fn show_prints_sources_or_that_none_are_stored() {
    let mut yamba = kept();
    let text = yamba.run("show baseline --source lat_pipe").ok().out;
    assert_eq!(text, "==> suite/ipc/lat_pipe.yamba <==\nyamba lat_pipe {}\n");
    yamba.run("show baseline --source lat_proc").refused(&["no source of lat_proc"]);
    yamba.run("show baseline --source lat_prc").refused(&["did you mean lat_proc?"]);
}

fn tags(yamba: &mut Yamba, id: &str) -> Value {
    let all = json(yamba.run("runs --json"));
    let found = all.as_array().unwrap().iter().find(|r| r["id"] == id);
    found.unwrap()["tags"].clone()
}

#[test]
fn tags_are_added_and_removed() {
    let mut yamba = kept();
    let answer = yamba.run("tag 00112 before quiet").ok();
    assert_eq!(answer.out, format!("{FIRST}: before quiet\n"));
    assert_eq!(json(yamba.run("show quiet --json"))["id"], FIRST);
    yamba.run("tag quiet quiet --remove").ok();
    assert_eq!(tags(&mut yamba, FIRST), serde_json::json!(["before"]));
    yamba.run("show quiet").refused(&["quiet"]);

    // All tags are checked before any is added or removed.
    for bad in ["latest", "cafe", "2026", "a~b"] {
        let words = ["tag", FIRST, "good", bad];
        yamba.run_words(&words).refused(&[bad, "cannot be a tag"]);
    }
    let gone = yamba.run("tag before before gone --remove");
    gone.refused(&["has no tag gone", "yamba runs"]);
    assert_eq!(tags(&mut yamba, FIRST), serde_json::json!(["before"]));
    yamba.run("tag nosuch good").refused(&["nosuch"]);
}

#[test]
fn runs_are_removed_all_or_none() {
    let mut yamba = kept();
    yamba.run("rm latest nosuch").refused(&["nosuch"]);
    assert_eq!(json(yamba.run("runs --json")).as_array().unwrap().len(), 3);
    // References are resolved before anything is removed, so the second is not affected by the
    // first removal.
    yamba.run("rm latest latest~1 baseline").ok();
    let left = json(yamba.run("runs --json"));
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["id"], FIRST);
}
