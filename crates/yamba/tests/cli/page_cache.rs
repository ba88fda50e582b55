//! `yamba page-cache` and `yamba predict --files` with documents that were written by hand.

use serde_json::{Value, json};

use crate::predict::{entry, run, vector};
use crate::schema;
use crate::support::{Yamba, json as document};

/// Two passes over a file of 64 KiB in blocks of 4 KiB, without read-ahead.
fn files() -> Value {
    json!({
        "schema": "yamba-files/1", "application": "server", "unit": "request", "units": 2,
        "files": [{"path": "/srv/data", "pages": 16, "read_ahead_bytes": 0}],
        "accesses": [[0, "read", 0, 4096, 16], [0, "read", 0, 4096, 16]],
    })
}

fn prepared() -> Yamba {
    let uncached = json!({"name": "read(file, uncached)", "by": "block"});
    let mut costs = run(1.0);
    let entries = costs["benchmarks"].as_array_mut().unwrap();
    entries.push(entry("of_uncached", &uncached, 4096, 50_000.0));
    entries.push(entry("of_uncached", &uncached, 1 << 20, 1e6));
    let sequential = json!({"name": "read(file, sequential)"});
    entries.push(entry("of_sequential", &sequential, 4096, 5_000.0));
    Yamba::new()
        .file("server.files", files().to_string())
        .file("server.vector", vector("server", 16.0, None).to_string())
        .file("costs.json", costs.to_string())
        .file("small-caches.json", with_small_caches(costs).to_string())
        .file("lacking.json", run(1.0).to_string())
}

#[test]
fn table_has_the_hits_of_each_size() {
    let mut yamba = prepared();
    schema::holds("yamba-files/1", &files());
    let found = document(&mut yamba, "page-cache server.files --memory 32K --memory 1M --json");
    schema::holds("yamba-page-cache/1", &found);
    let ratios = |key: &str| [0, 1].map(|at| found["sizes"][at][key].as_f64().unwrap());
    assert_eq!(ratios("hit_ratio"), [0.0, 0.5]);
    assert_eq!(ratios("lru_hit_ratio"), [0.0, 0.5]);
    assert_eq!(ratios("requests"), [32.0, 16.0]);
    let answer = yamba.run("page-cache server.files").ok();
    answer.says(&["server: 32 accesses to 64 KiB of different pages", "8 KiB", "50.0 %"]);
    yamba.run("page-cache server.files --memory 0").refused(&["a size of at least a page, 4096"]);
    let mut yamba = yamba.file("bom.files", format!("\u{feff}{}", files()));
    yamba.run("page-cache bom.files").ok().says(&["server: 32 accesses"]);
    // With read-ahead, only the first page of a window is missing.
    let words = "page-cache server.files --memory 1M --read-ahead 64K --json";
    let found = document(&mut yamba, words);
    assert!(found["sizes"][0]["hit_ratio"].as_f64().unwrap() > 0.9);
}

/// Costs of a machine whose last cache holds eight of the sixteen pages, with a cost of reads from
/// memory.
fn with_small_caches(mut costs: Value) -> Value {
    let distant = json!({"name": "read(file, memory)", "by": "block"});
    let entries = costs["benchmarks"].as_array_mut().unwrap();
    entries.push(entry("of_distant", &distant, 4096, 800.0));
    entries.push(entry("of_distant", &distant, 1 << 20, 1e5));
    costs["machine"]["measured_caches"] = json!({"levels": [{"bytes": 32768.0, "latency_ns": 5.0}], "memory_ns": 100.0, "unix_s": 0.0});
    costs
}

/// A loop over twice the last cache: an LRU cache of that size has none of its data.
#[test]
fn data_that_the_processors_caches_cannot_hold_comes_from_memory() {
    let mut yamba = prepared();
    let words =
        "predict server.vector --files server.files --memory 1M --on small-caches.json --json";
    let found = document(&mut yamba, words);
    schema::holds("yamba-predict/1", &found);
    let time = &found["file_times"][0];
    assert_eq!(time["processor_cache_ratio"], 0.0);
    // 32 reads of 800 ns, and 16 misses of 50 000 ns, by two requests.
    assert_eq!(time["from_memory_ns"], 12_800.0);
    assert_eq!(time["from_storage_ns"], 8.0 * 49_200.0);
    // Sixteen short reads of a page are one visit: the data comes from memory, although all but one
    // find the page again.
    let mut short = files();
    short["accesses"] = json!([[0, "read", 0, 256, 256]]);
    let mut yamba = yamba.file("short.files", short.to_string());
    let words =
        "predict server.vector --files short.files --memory 1M --on small-caches.json --json";
    let found = document(&mut yamba, words);
    assert_eq!(found["file_times"][0]["processor_cache_ratio"], 0.0);
}

#[test]
fn predict_prices_hits_and_misses() {
    let mut yamba = prepared();
    let begin = "predict server.vector --files server.files";
    let words = format!("{begin} --memory 32K --memory 1M --on costs.json --json");
    let found = document(&mut yamba, &words);
    schema::holds("yamba-predict/1", &found);
    let times = found["file_times"].as_array().unwrap();
    let of = |time: &Value, key: &str| time[key].as_f64().unwrap();
    // Two requests do 32 reads of 500 ns. Each miss costs 50 000 - 500 ns more.
    for (time, misses) in times.iter().zip([32.0, 16.0]) {
        assert_eq!(of(time, "from_memory_ns"), 8000.0);
        assert_eq!(of(time, "from_storage_ns"), misses / 2.0 * 49_500.0);
    }
    let text = yamba.run(&format!("{begin} --memory 1M --on costs.json")).ok();
    text.says(&[
        "file reads of server with 1 MiB of page cache on costs.json: 404 us",
        "50.0 % of 16 pages hit",
    ]);
    // With read-ahead, few requests are awaited, and the device is faster for those that were made
    // ahead.
    let words = format!("{begin} --memory 1M --read-ahead 64K --on costs.json --json");
    let ahead = &document(&mut yamba, &words)["file_times"][0];
    assert!(of(ahead, "requests") < 8.0);
    let alone = times[1]["from_storage_ns"].as_f64().unwrap();
    assert!(of(ahead, "from_storage_ns") < alone / 2.0);
    // Missing accesses are not part of the time.
    let mut incomplete = files();
    incomplete["unknown"] = json!(7);
    let mut yamba = yamba.file("incomplete.files", incomplete.to_string());
    let begin = "predict server.vector --files incomplete.files";
    let text = yamba.run(&format!("{begin} --memory 1M --on costs.json")).ok();
    text.says(&[
        "costs.json: at least 404 us [",
        "; 7 accesses of the application not in the trace",
    ]);
    let found = document(&mut yamba, &format!("{begin} --memory 1M --on costs.json --json"));
    schema::holds("yamba-predict/1", &found);
    assert!(found["file_times"][0]["interval_ns"][1].is_null());
    let lacking = yamba.run(&format!("{begin} --memory 1M --on lacking.json"));
    lacking.refused(&["it has no cost of read(file,uncached)"]);
}

#[test]
fn page_has_the_miss_ratios_with_measured_points() {
    let mut yamba = prepared();
    let words = "predict server.vector --files server.files --memory 32K --on costs.json --page -";
    let page = yamba.run(&format!("{words} --measured-hits 64K=40%")).ok();
    page.says(&[
        "crosses are measured",
        "<th scope=\"row\">32 KiB</th><td class=\"number\">100 %</td><td class=\"number\">100 %</td><td class=\"number\"></td>",
        "<th scope=\"row\">64 KiB</th><td class=\"number\">50 %</td><td class=\"number\">50 %</td><td class=\"number\">60 %</td>",
        "file reads of server with 32 KiB of page cache",
    ]);
    for wrong in ["64K", "64K=x%", "64K=140%", "64K=40"] {
        yamba.run(&format!("{words} --measured-hits {wrong}")).refused(&["SIZE=PERCENT"]);
    }
}

#[test]
fn faulty_documents_of_files_are_refused() {
    let mut faulty = files();
    faulty["accesses"][0][0] = json!(7);
    let mut yamba = prepared().file("faulty.files", faulty.to_string());
    yamba
        .run("page-cache faulty.files")
        .refused(&["accesses[0]: the list of files has no such file"]);
    yamba.run("page-cache missing.files").refused(&["yamba trace --files"]);
    yamba.run("predict server.vector --memory 1M").refused(&["--files"]);
}
