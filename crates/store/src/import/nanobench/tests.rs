//! Tests of the reader of nanobench.

use crate::import::cases::{has, left_out, read_text, refused};

const JSON: &str = include_str!("../samples/nanobench.json");

#[test]
fn time_of_a_unit_and_rate_of_units() {
    has(
        JSON,
        &[
            "string | pipe title=copies: 0.000000019842771423214 s",
            "vector title=bytes: 0.000000000013321358816964282 s",
            "vector title=bytes counter=byte/s: 75067417201.20436 B/s",
            "string title=bytes complexityN=8.0: 0.0000000003437062230603442 s",
            "string title=bytes complexityN=8.0 counter=byte/s: 2909461432.1965036 B/s",
            "sleep: 0.00212509 s",
        ],
        &[],
    );
    let run = read_text(JSON).unwrap();
    assert_eq!(run.benchmarks[1].details.samples.len(), 11);
    assert_eq!(
        run.benchmarks[1].notes,
        ["the median of 11 epochs in one process", "the time of one byte, of 4096 in an operation"]
    );
    assert_eq!(run.benchmarks[2].declaration.figure.as_deref(), Some("bandwidth"));
    let rows = read_text(&JSON.replace("\"byte\"", "\"row\"")).unwrap();
    assert_eq!(rows.benchmarks[2].declaration.figure.as_deref(), Some("rate"));
    assert_eq!(rows.benchmarks[2].unit.as_deref(), Some("row/s"));
}

#[test]
fn results_that_contradict_themselves_are_left_out() {
    for (from, to, reason) in [
        ("\"epochs\": 5", "\"epochs\": 6", "5 measurements, and it says 6"),
        ("\"median(elapsed)\": 0.00212509", "\"median(elapsed)\": 0.002", "have the median"),
        ("\"median(elapsed)\": 0.00212509", "\"median(elapsed)\": inf", "median(elapsed) is inf"),
    ] {
        let run = read_text(&JSON.replacen(from, to, 1)).unwrap();
        assert_eq!(run.benchmarks.len(), 5, "{to}");
        let [only] = left_out(&run) else { panic!("{to}") };
        assert!(only.starts_with("\"sleep\": ") && only.contains(reason), "{only}");
    }
    refused(r#"{"results": [{"median(elapsed)": 1}]}"#, "results[0]: no name in it");
}

const TABLE: &str = include_str!("../samples/nanobench.txt");

/// The times of the table are 0.62, 19.84, 0.01, 0.34, 2.13 and 180277.83, and the rates of the
/// first four have more digits.
#[test]
fn table_is_read_with_its_rounding() {
    let run = read_text(TABLE).unwrap();
    let names: Vec<String> = run.benchmarks.iter().map(shown).collect();
    assert_eq!(
        names,
        [
            "add title=copies: 0.6212845 ns",
            "string | pipe title=copies: 19.84277 ns",
            "vector title=bytes: 0.01332136 ns",
            "vector title=bytes counter=byte/s: 75067420000 B/s",
            "string title=bytes complexityN=8.0: 0.3437062 ns",
            "string title=bytes complexityN=8.0 counter=byte/s: 2909461000 B/s",
            "sleep: 2.125082 ms",
            "once title=one: 180277.8 ns",
        ]
    );
    assert_eq!(left_out(&run), [""; 0]);
    let notes =
        |at: usize| run.benchmarks[at].notes.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(notes(0), ["nanobench rounds it by up to 3.1e-12 of its value"]);
    assert_eq!(notes(6), ["nanobench rounds it by up to 1.1e-5 of its value"]);
    assert_eq!(notes(7), ["nanobench rounds it by up to 2.8e-8 of its value"]);
    // The same program wrote the JSON, which has the same figures.
    let json = read_text(JSON).unwrap();
    let of_json = json.benchmarks[0].median.unwrap() * 1e9;
    let of_table = run.benchmarks[1].median.unwrap();
    assert!((of_table / of_json - 1.0).abs() < 1e-9, "{of_table} {of_json}");
}

/// An entry with seven digits.
fn shown(entry: &yamba_record::Benchmark) -> String {
    let rounded: f64 = format!("{:.6e}", entry.median.unwrap()).parse().unwrap();
    let unit = entry.unit.as_deref().unwrap();
    format!("{} {}: {rounded} {unit}", entry.name, entry.parameters).replace(" :", ":")
}

const HEAD: &str = "|   ns/op |   op/s | err% | total | benchmark\n|--:|--:|--:|--:|:--\n";

#[test]
fn rows_that_are_not_understood_are_named() {
    let good = "| 100.00 | 10,000,000.00 | 0.1% | 0.00 | `a`\n";
    for (row, named) in [
        ("| 100.00 | 20,000,000.00 | 0.1% | 0.00 | `b`", "contradict each other"),
        ("| 100,00 | 10,000,000.00 | 0.1% | 0.00 | `b`", "100,00"),
        ("| 100.00 | 1,00,00,000.00 | 0.1% | 0.00 | `b`", "1,00,00"),
        ("| -100.00 | 10,000,000.00 | 0.1% | 0.00 | `b`", "-100.00"),
        ("| 100.00 | 10,000,000.00 | 0.1% | `b`", "`b`"),
        ("| 100.00 | 10,000,000.00 | 0.1% | 0.00 | b", "0.00 | b"),
        ("some output", "some output"),
    ] {
        let run = read_text(&format!("{HEAD}{row}\n{good}")).unwrap();
        assert_eq!(run.benchmarks.len(), 1, "{row}");
        let [only] = left_out(&run) else { panic!("{row}") };
        assert!(only.starts_with("line 3: ") && only.contains(named), "{only}");
    }
    // nanobench prints a program's row below the head of an earlier one.
    let apart = format!("{HEAD}{good}\n{}", good.replace("`a`", "`b`"));
    has(&apart, &["a: 100 ns", "b: 100 ns"], &[]);
    let failed = format!("{HEAD}{good}|  - |  - |  - |  - | :boom: `b` (iterations overflow)\n");
    has(&failed, &["a: 100 ns", "b: Crashed"], &[]);
    let twice = format!("{HEAD}{good}{good}");
    has(&twice, &["a: 100 ns"], &["line 4: a stands again; the first counts"]);
    // The rest of a last line may be missing.
    let cut = format!("{HEAD}{good}| 100.00 | 10,000,000.00 | 0.1% | 0.00 | `b`");
    let cut = read_text(&cut).unwrap();
    assert_eq!((cut.benchmarks.len(), cut.interrupted), (1, true));
    // nanobench prints the head with the first row.
    let bare = format!("{HEAD}{good}\n{HEAD}");
    has(&bare, &["a: 100 ns"], &["line 5: the head of a table without a row"]);
    assert!(read_text(&bare).unwrap().interrupted && !read_text(&apart).unwrap().interrupted);
}

/// The order of the columns, which is always the same, says which number is the time.
#[test]
fn rows_below_an_unknown_head_are_left_out() {
    let good = "| 100.00 | 10,000,000.00 | 0.1% | 0.00 | `a`\n";
    for (from, to) in [
        ("|   ns/op |   op/s |", "|   op/s |   ns/op |"),
        ("ns/op", "m/op"),
        ("|--:|--:|--:|--:|:--\n", ""),
    ] {
        let second = HEAD.replacen(from, to, 1).replace("benchmark", "other");
        let run = read_text(&format!("{HEAD}{good}\n{second}{good}")).unwrap();
        assert_eq!(run.benchmarks.len(), 1, "{to}");
        assert!(left_out(&run).len() >= 2, "{to}");
    }
    let columns = HEAD.replace("| err%", "| size | err%").replace("|--:|--:|", "|--:|--:|--:|");
    let row = "| 100.00 | 10,000,000.00 | 4k | 0.1% | 0.00 | `a`\n";
    has(&format!("{columns}{row}"), &["a size=4k: 100 ns"], &[]);
    let complexity =
        "|   coefficient |   err% | complexity\n|--:|--:|--\n|  3.5e-09 |  1.2% | O(n)\n";
    has(&format!("{HEAD}{good}\n{complexity}"), &["a: 100 ns"], &[]);
}
