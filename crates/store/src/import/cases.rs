//! Results of other programs that users met: each has the right figure, or one clear message.

use yamba_record::{Benchmark, Note, Run, Status};

use super::*;

const REPEATED: &str = include_str!("samples/google-repeated.json");
const OLD: &str = include_str!("samples/google-old.json");
const MODES: &str = include_str!("samples/jmh-modes.json");
const HYPERFINE: &str = include_str!("samples/hyperfine.json");

pub(super) fn read_text(text: &str) -> Result<Run, DocumentFault> {
    run_of(text.as_bytes(), "results", Detail::Batches)
}

pub(super) fn left_out(run: &Run) -> &[String] {
    &run.producer.imported.as_ref().unwrap().left_out
}

/// Formats an entry: `lat_ctx size=0k T=2: 1.5 us`. One without a valid figure has its status.
fn formatted(entry: &Benchmark) -> String {
    let figure = match (entry.status, entry.median) {
        (Status::Ok, Some(median)) => format!("{median} {}", entry.unit.as_deref().unwrap()),
        (status, _) => format!("{status:?}"),
    };
    let mut name = entry.name.clone();
    if !entry.parameters.0.is_empty() {
        name.push_str(&format!(" {}", entry.parameters));
    }
    if entry.environment.threads > 1 {
        name.push_str(&format!(" T={}", entry.environment.threads));
    }
    format!("{name}: {figure}")
}

#[track_caller]
pub(super) fn has(text: &str, figures: &[&str], omitted: &[&str]) {
    let run = read_text(text).unwrap();
    let all: Vec<String> = run.benchmarks.iter().map(formatted).collect();
    assert_eq!(all, figures);
    assert_eq!(left_out(&run), omitted);
}

#[track_caller]
pub(super) fn refused(text: &str, part: &str) {
    let (fault, help) = read_text(text).unwrap_err();
    assert!(fault.contains(part), "no `{part}` in {fault}");
    assert!(help.is_some(), "{fault}");
}

#[test]
fn jmh_modes_are_different_benchmarks() {
    has(
        MODES,
        &[
            "org.ex.Q.work: 10.1875 us",
            "org.ex.Q.work mode=ss: 30.25 us",
            "org.ex.Q.work kind=b size=64 mode=thrpt T=4: 2150.5 ops/s",
            "org.ex.S.m mode=sample: 245.4 ns",
        ],
        &[],
    );
    let run = read_text(MODES).unwrap();
    let figures: Vec<_> = run.benchmarks.iter().map(|b| b.declaration.figure.as_deref()).collect();
    let latency = Some("latency");
    assert_eq!(figures, [latency, latency, Some("rate"), latency]);
}

/// (241.5 * 900 + 260.5 * 100) / 1000 = 243.4, and 247.4 in the second fork.
#[test]
fn jmh_histogram_gives_the_mean_of_each_iteration() {
    let run = read_text(MODES).unwrap();
    let sample = &run.benchmarks[3];
    assert_eq!(sample.details.samples, [243.4, 247.4]);
    let forks: Vec<f64> = sample.launches.iter().filter_map(|l| l.median).collect();
    assert_eq!(forks, [243.4, 247.4]);
    assert_eq!(sample.confidence_interval, None, "two values");
    for (from, to) in [("[260.5, 100]", "[260.5, -1]"), ("[260.5, 100]", "[260.5]")] {
        let run = read_text(&MODES.replace(from, to)).unwrap();
        assert_eq!(run.benchmarks.len(), 3);
        assert!(left_out(&run)[0].starts_with("org.ex.S.m, mode sample: its histogram"));
    }
}

#[test]
fn jmh_parameter_named_mode_keeps_its_name() {
    let text = MODES.replace("\"kind\": \"b\"", "\"mode\": \"b\"");
    let run = read_text(&text).unwrap();
    let parameters = run.benchmarks[2].parameters.to_string();
    assert_eq!(parameters, "mode=b size=64 jmh_mode=thrpt");
}

/// The time of a batch of 100 calls is no time of one call.
#[test]
fn jmh_batches_of_other_sizes_are_different_benchmarks() {
    let of_size = |calls: &str| {
        let size = format!("\"measurementBatchSize\": {calls}, \"forks\": 3");
        MODES.replace("\"forks\": 3", &size)
    };
    let names = |text: &str| {
        let run = read_text(text).unwrap();
        let entries = run.benchmarks[..2].iter().map(formatted);
        entries.collect::<Vec<_>>()
    };
    let of_one_call = ["org.ex.Q.work: 10.1875 us", "org.ex.Q.work mode=ss: 30.25 us"];
    assert_eq!(names(MODES), of_one_call);
    assert_eq!(names(&of_size("1")), of_one_call);
    let of_batches =
        ["org.ex.Q.work batch=100: 10.1875 us", "org.ex.Q.work mode=ss batch=100: 30.25 us"];
    assert_eq!(names(&of_size("100")), of_batches);
    let taken =
        of_size("100").replace("\"forks\": 3", "\"forks\": 3, \"params\": {\"batch\": \"7\"}");
    assert_eq!(names(&taken)[1], "org.ex.Q.work batch=7 mode=ss jmh_batch=100: 30.25 us");
    let shot = |text: &str| {
        let notes = read_text(text).unwrap().benchmarks[1].notes.clone();
        notes.iter().map(Note::to_string).collect::<Vec<_>>().join("; ")
    };
    assert!(shot(&of_size("100")).contains("an operation is a batch of 100 calls"));
    assert!(shot(MODES).contains("does not say how many calls a batch has"));
    assert!(!shot(&of_size("1")).contains("batch"));
    let run = read_text(&of_size("0")).unwrap();
    assert_eq!(run.benchmarks.len(), 2);
    assert!(left_out(&run)[1].ends_with("mode ss, batches of 0: no call in its batches"));
}

#[test]
fn jmh_secondary_metrics_are_named() {
    let metrics = r#""secondaryMetrics": {"gc.count": {"score": 3.5, "scoreUnit": "counts", "rawData": [[3.5], [2.5]]}}"#;
    let text = MODES.replacen("\"secondaryMetrics\": {}", metrics, 1);
    let left = "secondary metrics: only primary ones are read: gc.count";
    assert_eq!(left_out(&read_text(&text).unwrap()), [left]);
}

/// `@Fork(jvmArgsAppend = ...)` gives one benchmark options of its own.
#[test]
fn jmh_benchmarks_of_another_virtual_machine_are_left_out() {
    let own_options =
        MODES.replace("\"forks\": 2", "\"jvmArgs\": [\"-XX:+UseParallelGC\"], \"forks\": 2");
    let options = |name: &str| {
        format!(
            "{name}: its list of options is \"-XX:+UseParallelGC\", \
             and that of the first benchmark is \"\""
        )
    };
    has(
        &own_options,
        &["org.ex.Q.work: 10.1875 us", "org.ex.Q.work mode=ss: 30.25 us"],
        &[
            &options("org.ex.Q.work kind=b size=64, mode thrpt"),
            &options("org.ex.S.m, mode sample"),
        ],
    );
    let run = read_text(&MODES.replacen("17.0.15+6", "21.0.1", 1)).unwrap();
    assert_eq!(run.benchmarks.len(), 1);
    assert_eq!(left_out(&run).len(), 3);
    assert!(left_out(&run)[0].ends_with(
        "mode ss: its Java virtual machine is \"OpenJDK 64-Bit Server VM 17.0.15+6\", \
         and that of the first benchmark is \"OpenJDK 64-Bit Server VM 21.0.1\""
    ));
}

/// A number as text, as another locale or JMH itself writes one.
#[test]
fn jmh_numbers_of_other_forms_are_no_figures() {
    let whole = figures(&read_text(MODES).unwrap());
    // A value of each mode, and the name of its benchmark in messages.
    let values = [
        ("[10.125, ", "org.ex.Q.work, mode avgt"),
        ("[30.125]", "org.ex.Q.work, mode ss"),
        ("[2000.5, ", "org.ex.Q.work kind=b size=64, mode thrpt"),
        ("[260.5, ", "org.ex.S.m, mode sample"),
    ];
    for text in ["1,234", "1.234,5", "1\u{202f}234", "NaN", "Infinity", "1e3", ""] {
        for (place, (value, name)) in values.into_iter().enumerate() {
            let number = value.trim_matches(['[', ']', ',', ' ']);
            let changed = value.replace(number, &format!("\"{text}\""));
            let run = read_text(&MODES.replacen(value, &changed, 1)).unwrap();
            let mut rest = whole.clone();
            rest.remove(place);
            assert_eq!(figures(&run), rest, "{text} in {name}");
            let [only] = left_out(&run) else { panic!("{text} in {name}") };
            assert!(only.starts_with(name), "{only}");
        }
        // The figure is that of the values, and not the score, which JMH rounds from them.
        for member in ["score", "scoreError"] {
            let before = format!("\"{member}\": ");
            let rows = MODES.split(&before).enumerate().map(|(at, part)| match at {
                0 => part.to_owned(),
                _ => {
                    let (_, rest) = part.split_once(',').unwrap();
                    format!("{before}\"{text}\",{rest}")
                }
            });
            let changed: String = rows.collect();
            assert_eq!(figures(&read_text(&changed).unwrap()), whole, "{member} {text}");
        }
    }
}

pub(super) fn figures(run: &Run) -> Vec<String> {
    run.benchmarks.iter().map(formatted).collect()
}

#[test]
fn jmh_mode_unit_and_forks_must_agree() {
    for (from, to, omitted) in [
        ("\"ops/s\"", "\"us/op\"", "its unit \"us/op\" is none of this mode"),
        ("\"ss\"", "\"cold\"", "the mode \"cold\" is not known"),
        ("[30.125], ", "[30.125], [30.125], ", "values of 4 forks, and it says 3"),
        ("[30.125], ", "", "values of 2 of 3 forks"),
        ("[30.125], ", "[30.125, 30.125], ", "2 of 1 iterations in a fork"),
        ("[30.125], ", "[\"NaN\"], ", "one of its values is no number"),
    ] {
        let run = read_text(&MODES.replacen(from, to, 1)).unwrap();
        let [only] = left_out(&run) else { panic!("{to}") };
        assert!(only.ends_with(omitted), "{only}");
    }
    let minutes = MODES.replace("\"us/op\"", "\"min/op\"");
    let run = read_text(&minutes).unwrap();
    assert_eq!(formatted(&run.benchmarks[1]), "org.ex.Q.work mode=ss: 1815 s");
    let old = MODES.replace("\"jmhVersion\": \"1.37\", ", "");
    assert_eq!(read_text(&old).unwrap().producer.version, "JMH");
}

#[test]
fn google_repetitions_threads_and_aggregates() {
    has(
        REPEATED,
        &[
            "BM_sort/64/threads:2: 1600.75 us",
            "BM_sort/64/threads:2 counter=items_per_second: 37500000 items/s",
            "BM_copy<int>/iterations:7: 0.125 s",
            "BM_copy<int>/iterations:7 counter=bytes_per_second: 8192.5 B/s",
            "BM_sums: 4.25 ms",
            "BM_bad: Crashed",
        ],
        &["\"BM_far\": no time in it"],
    );
    let run = read_text(REPEATED).unwrap();
    assert_eq!(run.benchmarks[1].declaration.figure.as_deref(), Some("rate"));
}

/// Files of before 2018 do not say which rows are aggregates.
#[test]
fn google_aggregates_of_old_files_are_no_benchmarks() {
    has(
        OLD,
        &[
            "BM_once/8: 12 ns",
            "BM_once/8 counter=bytes_per_second: 640000000 B/s",
            "BM_thrice: 1.5 ms",
            "BM_sums: 4.25 us",
        ],
        &["\"BM_big_BigO\": no time in it", "\"BM_big_RMS\": no time in it"],
    );
    let alone = OLD.replace("BM_sums_stddev", "BM_other");
    let run = read_text(&alone).unwrap();
    let names: Vec<&str> = run.benchmarks.iter().map(|b| b.name.as_str()).collect();
    assert!(names.ends_with(&["BM_sums_mean", "BM_sums_median", "BM_other"]));
}

#[test]
fn google_counter_that_is_no_number_is_left_out() {
    for (number, shown) in [
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("NaN", "NaN"),
        ("-nan", "-nan"),
        ("inf", "inf"),
    ] {
        let text = REPEATED.replace("\"hits\": 3.0", &format!("\"hits\": {number}"));
        let run = read_text(&text).unwrap();
        assert_eq!(run.benchmarks.len(), 6);
        let named = format!("\"BM_copy<int>/iterations:7\": hits is {shown}");
        assert_eq!(left_out(&run)[0], named);
        let text = REPEATED.replace("\"real_time\": 0.125", &format!("\"real_time\": {number}"));
        let run = read_text(&text).unwrap();
        assert_eq!(run.benchmarks.len(), 5);
        let named = format!("\"BM_copy<int>/iterations:7\": real_time is {shown}");
        assert_eq!(left_out(&run)[0], named);
    }
    let text = REPEATED.replace("\"real_time\": 0.125", "\"real_time\": \"0.125\"");
    let named =
        "\"BM_copy<int>/iterations:7\": real_time is the text \"0.125\" instead of a number";
    assert_eq!(left_out(&read_text(&text).unwrap())[0], named);
}

#[test]
fn google_rows_that_contradict_each_other_are_left_out() {
    let sort = "\"BM_sort/64/threads:2\": ";
    for (from, to, reason) in [
        ("\"repetition_index\": 1", "\"repetition_index\": 0", "a repetition is missing"),
        ("\"repetitions\": 3", "\"repetitions\": 4", "3 rows for 4 repetitions"),
        ("\"time_unit\": \"us\"", "\"time_unit\": \"ms\"", "times in several units: ms, us"),
        (", \"time_unit\": \"us\"", "", "no time_unit"),
        ("\"real_time\": 1500.25, ", "", "real_time in 2 of 3 rows"),
        ("\"real_time\": 1500.25", "\"real_time\": 1, \"real_time\": 2", "real_time stands twice"),
        ("\"run_name\": \"BM_sort", "\"run_name\": \"BM_other", "contradict each other"),
    ] {
        let run = read_text(&REPEATED.replacen(from, to, 1)).unwrap();
        assert!(
            !run.benchmarks
                .iter()
                .any(|b| b.name.starts_with("BM_sort") && b.parameters.0.is_empty())
        );
        let first = &left_out(&run)[0];
        assert!(first.starts_with(sort) && first.contains(reason), "{first}");
    }
    // Two benchmarks that a program registered under one name are not repetitions of each other.
    let text = REPEATED.replace("BM_copy<int>/iterations:7", "BM_sort/64/threads:2");
    let run = read_text(&text).unwrap();
    assert_eq!(formatted(&run.benchmarks[0]), "BM_sort/64/threads:2: 1600.75 us");
    let again = "BM_sort/64/threads:2: stands in the file again; the first counts";
    assert!(left_out(&run).contains(&again.to_owned()));
    refused(
        &REPEATED.replace("\"json_schema_version\": 1", "\"json_schema_version\": 2"),
        "json_schema_version is 2",
    );
}

const NO_HEAD: &str = "Simple syscall: 63.2294 microseconds\nSegmentation fault\nSimple read: 108.3636 microseconds\nPipe latency: 1528.3885 microseconds";

#[test]
fn lmbench_without_its_first_line_is_read() {
    has(
        NO_HEAD,
        &["Simple syscall: 63.2294 us", "Simple read: 108.3636 us", "Pipe latency: 1528.3885 us"],
        &[
            "line 1: the line `[lmbench... results for ...]` is missing: version, machine and date are not known",
            "line 2: Segmentation fault",
        ],
    );
    assert!(read_text(NO_HEAD).unwrap().interrupted);
    refused("Segmentation fault\n", "is no JSON");
    refused("\n                 L M B E N C H  3 . 0   S U M M A R Y\n", "is a summary of lmbench");
}

#[test]
fn lmbench_date_without_brackets_is_named() {
    let text =
        "[lmbench3.0 results]\nSimple read: 1.5 microseconds\nMon Mar  4 10:12:00 UTC 2024\n";
    let run = read_text(text).unwrap();
    let named = "line 3: the date at the end has no brackets: Mon Mar  4 10:12:00 UTC 2024";
    assert_eq!(left_out(&run), [named]);
    assert!(run.interrupted);
}

/// The heading above the strides counts until a line that may be another one.
#[test]
fn lmbench_figures_have_no_heading_of_others() {
    let strides = "\"stride=16\n0.00049 1.25\n\n";
    let text = |middle: &str| {
        format!("[lmbench3.0 results]\nMemory load latency\n{strides}{middle}{strides}[end]\n")
    };
    let memory = "Memory load latency stride=16 MiB=0.00049: 1.25 ns";
    let random = "Random load latency stride=16 MiB=0.00049: 1.25 ns";
    has(&text("Random load latency\n"), &[memory, random], &[]);
    let stride = "line 6: \"stride=16";
    has(&text(""), &[memory], &[stride, "line 7: 0.00049 1.25"]);
    has(
        &text("Random load\n"),
        &[memory],
        &["line 6: Random load", "line 7: \"stride=16", "line 8: 0.00049 1.25"],
    );
}

#[test]
fn lmbench_last_number_may_be_cut() {
    let text = "[lmbench3.0 results]\n\"mappings\n0.524288 7.500\n1.048576 14";
    has(text, &["mappings MB=0.524288: 7.5 us"], &["line 4: 1.048576 14"]);
    let whole = format!("{text}\n");
    assert_eq!(read_text(&whole).unwrap().benchmarks.len(), 2);
}

#[test]
fn lmbench_numbers_of_other_forms_are_left_out() {
    for (line, figure) in [
        ("[MHZ: 2395 MHz, 0.4175 nanosec clock]", Some("MHZ: 2395 MHz")),
        ("[MHZ: 2,395 MHz, 0.4175 nanosec clock]", None),
        ("[MHZ: 2395]", None),
        ("Simple stat: 1,5 microseconds", None),
        ("tlb: -4 pages", Some("tlb: Invalid")),
        ("Avg xfer: 3.2KB, 41.8KB in 2.5 millisecs, 16.5 MB/sec", Some("Avg xfer: 16.5 MB/s")),
        ("Avg xfer: 3.2KB, 41.8KB in 2.5 millisecs, 16.5 0.5 MB/sec", None),
        ("integer add parallelism: 3.5 microseconds", None),
    ] {
        let text = format!("[lmbench3.0 results]\nSimple read: 1.5 microseconds\n{line}\n[end]\n");
        let run = read_text(&text).unwrap();
        let found = run.benchmarks.get(1).map(formatted);
        assert_eq!(found.as_deref(), figure, "{line}");
        assert_eq!(left_out(&run).len(), usize::from(figure.is_none()), "{line}");
    }
}

/// The date at the end is not the start.
#[test]
fn lmbench_start_is_no_later_date() {
    let text = "[lmbench3.0 results]\n[lun. 4 mars 10:00:00 UTC 2024]\nSimple read: 1.5 microseconds\n[Mon Mar  4 10:12:00 UTC 2024]\n";
    let run = read_text(text).unwrap();
    assert_eq!((run.started_unix_s, run.interrupted), (None, false));
}

#[test]
fn hyperfine_commands_are_benchmarks() {
    has(HYPERFINE, &["grep -r foo .: 0.5125 s", "make -j 4 jobs=4: 2.25 s", "false: Crashed"], &[]);
    let run = read_text(HYPERFINE).unwrap();
    assert_eq!(run.benchmarks[0].details.samples, [0.5, 0.5125, 0.525]);
    assert_eq!(run.benchmarks[0].notes, ["the median of 3 runs"]);
    let run = read_text(&HYPERFINE.replace("0.5, 0.5125, 0.525", "0.5, 0.5, 0.525")).unwrap();
    assert_eq!(
        left_out(&run),
        ["\"grep -r foo .\": its times have the median 0.5, and it says 0.5125"]
    );
}

#[test]
fn hyperfine_form_of_a_run_of_yamba_is_refused() {
    let exported = HYPERFINE.replacen('{', "{\"producer\": \"yamba 0.1.0\", ", 1);
    let (fault, help) = read_text(&exported).unwrap_err();
    assert!(fault.starts_with("is a run of Yamba in the form of JSON of hyperfine"), "{fault}");
    assert!(help.unwrap().contains("--format json"));
    let other = exported.replace("yamba 0.1.0", "hyperfine 2");
    assert_eq!(read_text(&other).unwrap().benchmarks.len(), 3);
}

#[test]
fn too_large_number_is_named() {
    for (from, to, reason) in [
        ("\"median\": 0.5125", "\"median\": 1e400", "median is 1e400, which is too large"),
        ("0.5, 0.5125, 0.525", "0.5, 1e400", "one of its times is no number, or too large"),
    ] {
        let run = read_text(&HYPERFINE.replacen(from, to, 1)).unwrap();
        assert_eq!(left_out(&run), [format!("\"grep -r foo .\": {reason}")]);
    }
    let hits = read_text(&REPEATED.replace("\"hits\": 3.0", "\"hits\": 1e400")).unwrap();
    assert_eq!(hits.benchmarks.len(), 6);
    assert_eq!(left_out(&hits)[0], "\"BM_copy<int>/iterations:7\": hits is 1e400");
    let time = REPEATED.replace("\"real_time\": 0.125", "\"real_time\": -1e400");
    let time = read_text(&time).unwrap();
    assert_eq!(time.benchmarks.len(), 5);
    let named = "\"BM_copy<int>/iterations:7\": real_time is -1e400, which is too large";
    assert_eq!(left_out(&time)[0], named);
}

#[test]
fn refusal_lists_the_forms_that_are_read() {
    for text in ["7", "{}", "PK"] {
        let (_, help) = read_text(text).unwrap_err();
        for form in [
            "lmbench",
            "Google Benchmark",
            "JMH",
            "hyperfine",
            "Go's benchmarks",
            "pytest-benchmark",
            "pyperf",
        ] {
            assert!(help.unwrap().contains(form), "{help:?}");
        }
    }
    let utf_16: Vec<u8> = HYPERFINE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf_16 = [&[0xff, 0xfe], &utf_16[..]].concat();
    let (fault, _) = run_of(&utf_16, "results", Detail::Batches).unwrap_err();
    assert_eq!(fault, "is text in UTF-16");
}
