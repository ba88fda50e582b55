//! Tests of the reader of Catch2.

use yamba_record::Note;

use crate::import::cases::{figures, has, left_out, read_text, refused};

const VERSION_2: &str = include_str!("../samples/catch2.xml");
const VERSION_3: &str = include_str!("../samples/catch2-3.xml");

/// Catch2 runs the part before a section again for each section.
#[test]
fn names_have_test_case_and_sections() {
    has(
        VERSION_2,
        &[
            "Fibonacci / Fibonacci 5: 29.2123 ns",
            "Fibonacci / deep / Fibonacci 10: 273.206 ns",
            "Fibonacci / deep / inner / in & <out>: 43.8527 ns",
            "Fibonacci / other / Fibonacci 10: 478.993 ns",
            "strings / copy: 66.7896 ns",
            "fails / throws: Crashed",
            "fails / after: 7.03454 ns",
        ],
        &[
            "line 29: \"Fibonacci / Fibonacci 5\" stands again; the first counts",
            "line 55: the test case \"fails\" failed",
        ],
    );
    let run = read_text(VERSION_2).unwrap();
    let notes =
        |at: usize| run.benchmarks[at].notes.iter().map(Note::to_string).collect::<Vec<_>>();
    let mean = "the mean of 10 samples in one process, of about six digits";
    assert_eq!(notes(0), [mean]);
    assert_eq!(notes(5)[0], "bad");
    assert_eq!(notes(6), [mean, "its test case failed"]);
    assert!(run.benchmarks.iter().all(|b| b.confidence_interval.is_none()));
    // Paths of source files may name the machine's owner.
    assert!(!serde_json::to_string(&run).unwrap().contains("ct.cpp"));
}

/// Version 3 has another root and no groups. A test case with a generator runs several times.
#[test]
fn version_3_is_read() {
    has(
        VERSION_3,
        &["fails / throws: Crashed", "generated / fib of n: 9.47143 ns"],
        &[
            "line 3: the test case \"fails\" failed",
            "line 19: \"generated / fib of n\" stands again; the first counts",
        ],
    );
    let run = read_text(VERSION_3).unwrap();
    assert_eq!(run.producer.version, "Catch2 3.7.1");
    assert!(!serde_json::to_string(&run).unwrap().contains("somebody"));
}

#[test]
fn results_that_contradict_themselves_are_left_out() {
    let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="b" rng-seed="1" xml-format-version="3" catch2-version="3.5.2">
  <TestCase name="t" filename="t.cpp" line="3">
    <BenchmarkResults name="x" samples="100" resamples="100000" iterations="9">
      <!-- All values in nano seconds -->
      <mean value="1.5e+06" lowerBound="1.4e+06" upperBound="1.6e+06" ci="0.95"/>
    </BenchmarkResults>
  </TestCase>
</Catch2TestRun>
"#;
    has(text, &["t / x: 1500000 ns"], &[]);
    for (from, to, reason) in [
        ("<!-- All values in nano seconds -->", "", "\"t / x\": no unit in it"),
        ("lowerBound=\"1.4e+06\"", "lowerBound=\"1.55e+06\"", "does not lie between"),
        ("value=\"1.5e+06\"", "value=\"1,5\"", "value of its mean is \"1,5\""),
        ("samples=\"100\"", "samples=\"0\"", "its number of samples is \"0\""),
        (" name=\"x\"", "", "a part without a name"),
        ("<mean ", "<median ", "no mean in it"),
    ] {
        refused(&text.replacen(from, to, 1), reason);
    }
}

#[test]
fn other_xml_and_parts_of_xml_are_refused() {
    refused("<?xml version=\"1.0\"?><testsuites/>", "is XML with the root \"testsuites\"");
    refused("<Catch name=\"x\"></Catch>", "holds no figure");
    for length in (6..VERSION_2.trim_end().len()).step_by(31) {
        let error = read_text(&VERSION_2[..length]).unwrap_err().0;
        assert!(error.starts_with("is no XML"), "{error}");
    }
    let deep =
        format!("<Catch>{}{}</Catch>", "<Section>".repeat(100_000), "</Section>".repeat(100_000));
    refused(&deep, "holds no figure");
    let entities = "<!DOCTYPE a [<!ENTITY b \"c\">]><Catch name=\"&b;\"/>";
    refused(&format!("<?xml version=\"1.0\"?>{entities}"), "is no XML");
    let twice = VERSION_2.replacen(
        "<mean value=\"66.7896\"",
        "<mean value=\"1\"/><mean value=\"66.7896\"",
        1,
    );
    let run = read_text(&twice).unwrap();
    assert_eq!(figures(&run).len(), 6);
    assert_eq!(left_out(&run)[1], "line 47: \"strings / copy\": mean stands twice");
}
