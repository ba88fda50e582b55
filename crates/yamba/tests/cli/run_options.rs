//! Options of `yamba run` for launches, time and placement.

use serde_json::Value;

use crate::support::{Answer, Yamba, column, root};

const SPIN: &str = "yamba spin
{
    param int rounds = 100 over {100, 101, 102, 103, 104, 105, 106, 107} quick {100};
    volatile int sum;
    void benchmark(iter_t iterations) { while (iterations-- > 0) for (int i = 0; i < rounds; i++) sum = sum + i; }
}
";

fn document(answer: Answer) -> Value {
    serde_json::from_str(&answer.ok().out).unwrap()
}

/// The report page has room for twelve.
#[test]
fn suite_has_twelve_headline_benchmarks_of_most_topics() {
    let listed = document(Yamba::new().run("list --json"));
    let all = listed.as_array().unwrap().iter();
    let has_tag = |b: &&Value| b["tags"].as_array().unwrap().iter().any(|t| t == "headline");
    let files: Vec<&str> = all.filter(has_tag).map(|b| b["file"].as_str().unwrap()).collect();
    assert_eq!(files.len(), 12, "{files:?}");
    let topic = |file: &str| file.rsplit('/').nth(1).unwrap().to_owned();
    let topics: std::collections::BTreeSet<String> = files.iter().map(|f| topic(f)).collect();
    assert!(topics.len() >= 6, "{topics:?}");
}

#[test]
#[ignore = "needs g++"]
fn headline_tag_does_not_change_what_runs() {
    let tagged =
        SPIN.replace("spin", "quoted").replace("    param", "    tags headline;\n    param");
    let mut yamba = Yamba::new().file("both.yamba", format!("{SPIN}{tagged}"));
    let mut planned = |words: &str| -> Vec<String> {
        let plan = document(yamba.run(&format!("run both.yamba --quick --dry-run --json {words}")));
        let all = plan["benchmarks"].as_array().unwrap().iter();
        all.map(|b| b["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(planned(""), ["spin", "quoted"]);
    assert_eq!(planned("--tag headline"), ["quoted"]);
}

/// Each invalid value gives one message that names its option.
#[test]
fn run_rejects_wrong_values() {
    let mut yamba = Yamba::new().file("spin.yamba", SPIN);
    for (words, parts) in [
        ("--time 10", &["--time", "with its unit"][..]),
        ("--time 0s", &["--time", "more than nothing"]),
        ("--time 5h", &["--time", "with its unit"]),
        ("--time 100000min", &["--time", "30 days"]),
        ("--warmup -5", &["unexpected argument '-5'"]),
        ("--warmup long", &["--warmup", "with its unit"]),
        ("-W 5x", &["--warmup", "with its unit"]),
        ("--precision 0", &["--precision", "1% or 0.01"]),
        ("--precision 1", &["--precision", "1% or 0.01"]),
        ("--precision 200%", &["--precision", "1% or 0.01"]),
        ("-P 0", &["--processes", "from 1 to 4096"]),
        ("-P 1,two", &["--processes", "two"]),
        ("-P 5000", &["--processes", "from 1 to 4096"]),
        ("-T 0", &["--threads", "from 1 to 4096"]),
        ("-T 2 -P 2", &["--threads", "cannot be used with", "--processes"]),
        ("--launches 0", &["--launches", "from 1 to 10000"]),
        ("--batches 0", &["--batches", "at least 1"]),
        ("-N none", &["--batches", "none"]),
        ("--seed x", &["--seed", "a whole number, as 7"]),
        ("--disk-limit much", &["--disk-limit", "512M"]),
        ("--placement here", &["--placement", "pinned, free"]),
        ("--cpu first", &["--cpu", "first"]),
        ("--cpu 65535", &["--cpu 65535", "there are 0"]),
        ("--cpu 0 --placement free", &["--cpu", "contradict"]),
        ("--set length=1 --set length=2", &["length has values twice", "--sweep length=A,B"]),
        ("--set length=1 --sweep length=2,3", &["length has values twice"]),
        ("--sweep length=2,3,2", &["--sweep", "the value 2 is there twice"]),
        ("--quick --thorough", &["--quick", "--thorough", "cannot be used"]),
    ] {
        yamba.run(&format!("run spin.yamba {words}")).refused(parts);
    }
}

/// No sleep is shorter than asked for, and none of these is counted twice or left out. A spin that
/// ends within 100 ns is too short.
#[test]
#[ignore = "needs g++"]
fn percentiles_are_those_of_single_operations() {
    let mut yamba = Yamba::new().file("spin.yamba", SPIN);
    let words =
        "run lat_usleep --percentiles --set microseconds=500 --time 1s --quick --json --raw";
    let run = document(yamba.run(words));
    let sleep = &run["benchmarks"][0];
    let found = &sleep["distribution"];
    let buckets = found["histogram"].as_array().unwrap();
    let counted: u64 = buckets.iter().map(|b| b[1].as_u64().unwrap()).sum();
    assert_eq!(Some(counted), found["count"].as_u64());
    assert!(counted >= 50, "{found}");
    // The cost of the clock is subtracted, and a bucket has its upper limit.
    assert!(buckets[0][0].as_f64().unwrap() >= 499e3, "{found}");
    let percentiles = found["percentiles"].as_array().unwrap();
    let ns: Vec<f64> = percentiles.iter().map(|p| p["ns"].as_f64().unwrap()).collect();
    assert!(
        ns.is_sorted() && ns[0] >= 499e3 && ns[ns.len() - 1] <= found["max_ns"].as_f64().unwrap()
    );
    assert_eq!(run["plan"]["percentiles"], true);
    let run = document(yamba.run("run spin.yamba --percentiles --set rounds=1 --quick --json"));
    let spin = &run["benchmarks"][0];
    assert!(spin.get("distribution").is_none());
    let notes = spin["notes"].to_string();
    assert!(notes.contains("no percentiles: an operation"), "{notes}");
}

#[test]
#[ignore = "needs g++"]
fn run_records_its_plan() {
    let mut yamba = Yamba::new().file("spin.yamba", SPIN);
    let words = "run spin.yamba --quick --json --launches 3 -N 5 -W 2000 --precision 2% --seed 7 --placement free";
    let run = document(yamba.run(words));
    let plan = &run["plan"];
    for (field, value) in [
        ("seed", Value::from(7)),
        ("launches", 3.into()),
        ("batches", 5.into()),
        ("precision", 0.02.into()),
        ("time_ns", 300_000_000.into()),
        ("warmup_ns", 2_000_000.into()),
        ("placement", "free".into()),
        ("realtime", false.into()),
    ] {
        assert_eq!(plan[field], value, "{field}");
    }
    let spin = &run["benchmarks"][0];
    assert_eq!(spin["launches"].as_array().unwrap().len(), 3);
    assert_eq!(spin["interval_scope"], "between runs");
    assert_eq!(spin["placement"]["kind"], "free");
    let drawn = |run: Value| run["plan"]["seed"].as_u64().unwrap();
    let quickly = "run spin.yamba --quick --json";
    let (first, second) =
        (drawn(document(yamba.run(quickly))), drawn(document(yamba.run(quickly))));
    assert_ne!(first, second, "each run has its own order");
}

/// A benchmark without disk space is skipped with the reason and help. Sweeps adapt to the space,
/// and leftovers of earlier launches and benchmarks are removed for it.
#[test]
#[ignore = "needs g++"]
fn files_of_benchmarks_stay_within_disk_limit() {
    let writes = |name: &str, bytes: &str, each: &str| {
        format!(
            "yamba {name} extends Latency
{{
    native {{ #include <sys/stat.h>
#include <dirent.h> }}
    param uint64_t size = {bytes} over {{ {bytes}, {bytes} / 2 }} quick {{ {bytes} }};
    struct stat about;
    volatile int sum;
    void {each} {{ char path[64]; snprintf(path, sizeof path, \"data-%d\", getpid()); must(stat(scratch_file(path, size), &about)); }}
    void benchmark(iter_t iterations) {{ while (iterations-- > 0) sum = sum + 1; }}
    evidence double files() expects [1, 1] {{ return about.st_size == off_t(size); }}
}}
"
        )
    };
    let classes = [
        ("all", "platform.disk_room", "prepare()"),
        ("most", "platform.disk_room - 5", "setup()"),
        ("each", "platform.disk_room_each", "setup()"),
        ("more", "platform.disk_room + 1", "prepare()"),
        ("beyond", "platform.disk_room_each + 1", "setup()"),
    ];
    let mut yamba = Yamba::new();
    for (name, bytes, each) in classes {
        yamba = yamba.file(&format!("{name}.yamba"), writes(name, bytes, each));
    }
    let words = "run all.yamba most.yamba each.yamba more.yamba --quick --json --disk-limit 1M";
    let run = document(yamba.run(words));
    let size = |b: &Value| b["parameters"]["size"].as_u64().unwrap();
    let all: Vec<(String, u64, &str)> = run["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| (b["name"].as_str().unwrap().to_owned(), size(b), b["status"].as_str().unwrap()))
        .collect();
    const MIB: u64 = 1 << 20;
    let expected = [
        ("all", MIB, "ok"),
        ("most", MIB - 5, "ok"),
        ("each", MIB, "ok"),
        ("more", MIB + 1, "skipped"),
    ];
    assert_eq!(all, expected.map(|(name, size, status)| (name.to_owned(), size, status)));
    let note = run["benchmarks"][3]["notes"][0].as_str().unwrap();
    assert_eq!(note, "needs 1.001 MiB on disk and may use 1 MiB: --disk-limit lets it have more");
    let words = "run each.yamba beyond.yamba -P 1,2 --quick --json --disk-limit 1M";
    let run = document(yamba.run(words));
    for (i, status) in ["ok", "ok", "ok", "skipped"].into_iter().enumerate() {
        let b = &run["benchmarks"][i];
        assert_eq!(b["status"], status, "{}", b["notes"]);
        assert_eq!(size(b), MIB / 2 + u64::from(i > 1));
    }
}

/// The points of a benchmark share its time. If it is too short, some points are left out, but
/// never the ends.
#[test]
#[ignore = "needs g++"]
fn short_benchmark_time_subsamples_sweep() {
    let mut yamba = Yamba::new().file("spin.yamba", SPIN);
    let run = document(yamba.run("run spin.yamba --json --time 400ms --launches 2"));
    let points = run["benchmarks"].as_array().unwrap();
    let rounds: Vec<i64> =
        points.iter().map(|b| b["parameters"]["rounds"].as_i64().unwrap()).collect();
    assert_eq!(rounds, [100, 104, 107]);
    let note = "3 of 8 points of its sweep: 0.4 s are not enough for 100 ms a point";
    for point in points {
        let notes = point["notes"].as_array().unwrap();
        assert!(notes.contains(&note.into()), "{notes:?}");
    }
}

/// A number in an unknown unit would be wrong by that unit's factor.
#[test]
#[ignore = "needs g++"]
fn unknown_units_of_options_are_rejected() {
    let class = |name: &str, unit: &str| {
        format!(
            "yamba {name} extends Bandwidth {{
    const char *unit() {{ return \"{unit}\"; }}
    uint64_t bytes() {{ return 8; }}
    volatile int sum;
    void benchmark(iter_t iterations) {{ while (iterations-- > 0) sum = sum + 1; }}
}}
"
        )
    };
    let mut yamba = Yamba::new()
        .file("odd.yamba", class("odd", "Mb/s"))
        .file("bits.yamba", class("bits", "Gbit/s"));
    yamba.run("run odd.yamba --quick").refused(&[
        "odd: `Mb/s` is no unit of a bandwidth",
        "Mbit/s",
        "GiB/s",
    ]);
    let bits = document(yamba.run("run bits.yamba --quick --json --raw"));
    let bits = &bits["benchmarks"][0];
    let sample = bits["median"].as_f64().unwrap();
    let number = |field: &str| column(bits, field)[0].as_f64().unwrap();
    let own = 8.0 * number("operations") / (number("ns") - number("dummy_ns"));
    // A sample has seven significant digits.
    assert!((number("sample") / own - 1.0).abs() < 1e-6);
    assert!(sample > 0.0);
}

/// The document contains everything needed to rebuild the program.
#[test]
#[ignore = "needs g++"]
fn run_contains_its_sources() {
    let mut yamba = Yamba::new().file("mine.yamba", NOTHING_MUCH);
    let answer = yamba.run("run mine.yamba --quick --json").ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(run["producer"]["arguments"][1], "mine.yamba");
    let compiler = run["producer"]["compiler"].as_str().unwrap();
    assert!(compiler.contains("g++"), "{compiler}");
    let about = &run["benchmarks"][0]["provenance"];
    assert_eq!(about["summary"], "Not much");
    let files = about["files"].as_array().unwrap();
    let text = |path: &str| {
        let file = files.iter().find(|f| f["path"] == path).unwrap();
        &run["sources"][file["hash"].as_str().unwrap()]
    };
    assert_eq!(text("mine.yamba"), NOTHING_MUCH);
    let library = std::fs::read_to_string(root().join("library/Latency.yamba")).unwrap();
    assert_eq!(text("library/Latency.yamba"), &library);
}

const NOTHING_MUCH: &str = "/// Not much. But something.\nyamba nothing_much extends Latency { void benchmark() { getppid(); } }\n";
