//! Tests of the reader of criterion's folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::Detail;
use crate::import::cases::{figures, left_out};
use crate::import::{LARGEST, read as read_path, read_with_length};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/import/samples/criterion")
}

/// A copy of the samples.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let inner = to.join(entry.file_name());
        match entry.path() {
            path if path.is_dir() => copy(&path, &inner),
            path => drop(fs::copy(path, inner).unwrap()),
        }
    }
}

#[test]
fn benchmarks_of_a_folder_are_read() {
    let (run, length) = read_with_length(&samples(), LARGEST, Detail::Samples).unwrap();
    assert_eq!(
        figures(&run),
        [
            "copy/a/b: 40.92620798319328 ns",
            "copy/a/b counter=elements_per_second: 2443422074.213812 elements/s",
            "copy/to_vec/64: 28.385768843878402 ns",
            "copy/to_vec/64 counter=bytes_per_second: 2254650925.6803894 B/s",
            "slow/fib: 22030.362068965518 ns",
        ]
    );
    assert_eq!(left_out(&run), [""; 0]);
    let kinds: Vec<_> = run.benchmarks.iter().map(|b| b.declaration.figure.as_deref()).collect();
    assert_eq!(kinds[..4], [Some("latency"), Some("rate"), Some("latency"), Some("bandwidth")]);
    assert_eq!(run.benchmarks[0].details.samples.len(), 10);
    assert_eq!(run.benchmarks[0].notes, ["the median of 10 samples in one process"]);
    assert!(run.benchmarks.iter().all(|b| b.launches.is_empty()));
    assert_eq!((run.producer.from_document, length), (true, 3861));
    // The same files are the same run.
    assert_eq!(read_path(&samples(), LARGEST, Detail::Samples).unwrap().id, run.id);
}

/// Criterion keeps the results of an earlier run, of named baselines, and its reports beside the
/// latest results.
#[test]
fn only_the_latest_results_count() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("criterion");
    copy(&samples(), &root);
    let whole = read_path(&root, LARGEST, Detail::Samples).unwrap();
    for other in ["base", "main", "report", "change"] {
        copy(&samples().join("slow/fib/new"), &root.join("slow/fib").join(other));
    }
    fs::create_dir_all(root.join("report")).unwrap();
    let read = || read_path(&root, LARGEST, Detail::Samples).unwrap();
    assert_eq!(figures(&read()), figures(&whole));
    // A folder of one group, and of one benchmark.
    let slow = read_path(&root.join("slow/fib"), LARGEST, Detail::Samples).unwrap();
    assert_eq!(figures(&slow), ["slow/fib: 22030.362068965518 ns"]);

    fs::remove_file(root.join("slow/fib/new/sample.json")).unwrap();
    let lacking = read();
    assert_eq!(lacking.benchmarks.len(), 4);
    assert_eq!(left_out(&lacking), ["slow/fib: no sample.json in it"]);
    assert_ne!(lacking.id, whole.id);
}

#[test]
fn other_folders_and_large_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = read_path(folder.path(), LARGEST, Detail::Samples).unwrap_err();
    assert!(error.to_string().ends_with(": is a folder"), "{error}");
    assert!(error.help_text().unwrap().contains("target/criterion"));
    let error = read_path(&samples(), 3000, Detail::Samples).unwrap_err().to_string();
    assert!(error.contains("is longer than "), "{error}");
}

#[test]
fn files_that_contradict_each_other_are_left_out() {
    let (files, _) = find(&samples(), LARGEST).unwrap();
    let [_, copy, _] = &files[..] else { panic!("{files:?}") };
    assert_eq!(copy.place, "copy/to_vec/64");
    let changed = |from: &str, to: &str| {
        let replaced = |text: &Option<String>| text.as_ref().map(|t| t.replacen(from, to, 1));
        let files = Files {
            place: copy.place.clone(),
            benchmark: replaced(&copy.benchmark),
            sample: replaced(&copy.sample),
            estimates: replaced(&copy.estimates),
        };
        read("criterion", &[files]).map(|run| (figures(&run), left_out(&run).to_vec()))
    };
    for (from, to, reason) in [
        ("\"iters\":[", "\"iters\":[7.0,", "11 iters and 10 times"),
        ("\"iters\":[", "\"iters\":[0.5,", "0.5 is no number of iterations"),
        ("\"iters\":[", "\"iters\":[null,", "one of its iters is no number"),
        ("\"point_estimate\":28.38", "\"point_estimate\":27.38", "its times have the median"),
        ("\"function_id\":\"to_vec\"", "\"function_id\":\"to_box\"", "is another than its parts"),
        ("\"full_id\"", "full_id", "benchmark.json is damaged"),
    ] {
        let times = from.starts_with("\"iters\"") && to.contains("0.5");
        let (from, to) = (from.to_owned(), to.to_owned());
        let result = if times {
            let more = |text: &Option<String>| {
                let text = text.as_ref().map(|t| t.replacen(&from, &to, 1));
                text.map(|t| t.replacen("\"times\":[", "\"times\":[1.0,", 1))
            };
            read("criterion", &[Files { sample: more(&copy.sample), ..copy.clone() }])
                .map(|run| (figures(&run), left_out(&run).to_vec()))
        } else {
            changed(&from, &to)
        };
        let (fault, _) = result.unwrap_err();
        assert!(fault.contains(reason), "{to}: {fault}");
    }
    let (time, named) = changed("{\"Bytes\":64}", "{\"Fields\":64}").unwrap();
    assert_eq!(time, ["copy/to_vec/64: 28.385768843878402 ns"]);
    assert_eq!(named, ["\"copy/to_vec/64\": its throughput {\"Fields\":64} is not known"]);
    let both = "{\"ElementsAndBytes\":{\"elements\":4,\"bytes\":64}}";
    let (all, _) = changed("{\"Bytes\":64}", both).unwrap();
    assert_eq!(all.len(), 3);
    let (all, _) = changed("{\"Bytes\":64}", "null").unwrap();
    assert_eq!(all.len(), 1);
}
