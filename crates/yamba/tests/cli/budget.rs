//! The time of a run of the whole suite, on machines of any size.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::support::{Yamba, json};

/// Sizes of the last cache and of the memory.
const MACHINES: [(&str, &str); 5] =
    [("256K", "512M"), ("32M", "64G"), ("480M", "64G"), ("1G", "1T"), ("1G", "512M")];

/// The plan of the whole suite, and its notes of one kind.
fn plan(cache: &str, memory: &str, options: &str) -> Value {
    let sizes = format!("last_cache_size={cache} memory_size={memory}");
    let mut yamba = Yamba::new().env("YAMBA_SIZES", sizes);
    let mut plan = || json(&mut yamba, &format!("run {options} --dry-run --json"));
    let mut is_built = IS_SUITE_BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_built {
        drop(is_built);
        return plan();
    }
    let first = plan();
    *is_built = true;
    first
}

/// Whether a plan has built the programs of the suite. Two processes that build them at the same
/// time would build each twice.
static IS_SUITE_BUILT: Mutex<bool> = Mutex::new(false);

fn entries(plan: &Value) -> impl Iterator<Item = &Value> {
    plan["benchmarks"].as_array().unwrap().iter()
}

fn with_note<'a>(plan: &'a Value, note: &str) -> Vec<&'a str> {
    let noted = entries(plan).filter(|entry| {
        let mut notes = entry["notes"].as_array().unwrap().iter();
        notes.any(|n| n.as_str().unwrap().contains(note))
    });
    noted.map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "needs a C++ compiler"]
fn plan_of_whole_suite_keeps_its_time_with_any_cache_and_memory() {
    for (cache, memory) in MACHINES {
        for (options, limit_s, fewest) in [("--quick", 90.0, 150), ("", 720.0, 300)] {
            let plan = plan(cache, memory, options);
            let machine = format!("{cache} {memory} {options}");
            assert!(plan["time_s"].as_f64().unwrap() <= limit_s, "{machine}");
            let measured = entries(&plan).filter(|e| e["launches"].as_u64() > Some(0));
            assert!(measured.count() >= fewest, "{machine}");
            let dropped = entries(&plan)
                .filter(|e| e["launches"].as_u64() == Some(0) && e["skipped"].is_null());
            assert_eq!(dropped.count(), 0, "{machine}: no entry without a reason");
        }
    }
}

/// Sizes are reduced only where they have to be, and each reduction is noted before the run starts.
#[test]
#[ignore = "needs a C++ compiler"]
fn plan_notes_sizes_for_which_there_is_no_time() {
    let small = plan("8M", "8G", "--quick");
    assert_eq!(with_note(&small, "there is no time for more"), [""; 0]);
    let large = plan("1G", "64G", "--quick");
    let reduced = with_note(&large, "there is no time for more");
    assert!(reduced.len() >= 15, "{reduced:?}");
    let skipped = with_note(&large, "fit into the last cache of 1024 MiB");
    assert!(!skipped.is_empty());
    assert!(!with_note(&large, "the last cache (1024 MiB) may hold it").is_empty());
}

/// A reduced size is far beyond a cache of which a virtual machine has only a small part.
#[test]
#[ignore = "needs a C++ compiler"]
fn measured_cache_decides_whether_a_reduced_size_is_memory() {
    let plan = plan("1G", "64G measured_cache=12M", "--quick");
    assert_eq!(with_note(&plan, "fit into the last cache of 1024 MiB"), [""; 0]);
    let beyond = with_note(&plan, "times the largest cache that was measured");
    assert!(beyond.contains(&"stream_triad"), "{beyond:?}");
}

/// The reason names the cache that decides, which may be much smaller than the reported one.
#[test]
#[ignore = "needs a C++ compiler"]
fn array_within_four_times_the_measured_cache_is_skipped_for_it() {
    let plan = plan("1G", "64G measured_cache=48M", "--quick");
    assert_eq!(with_note(&plan, "fit into the last cache of 1024 MiB"), [""; 0]);
    let within = "less than four times the largest cache that was measured (48 MiB)";
    assert!(with_note(&plan, within).contains(&"stream_triad"));
}

#[test]
#[ignore = "needs a C++ compiler"]
fn wrong_size_is_refused() {
    for text in ["last_cache=1M", "l2_size=x", "l2_size=1Mb", "l2_size 1M"] {
        let mut yamba = Yamba::new().env("YAMBA_SIZES", text);
        let answer = yamba.run("run lat_syscall_getppid --dry-run");
        answer.refused(&["YAMBA_SIZES", text, "last_cache_size=480M"]);
    }
}
