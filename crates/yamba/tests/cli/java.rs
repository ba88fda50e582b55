//! Results of JMH as costs, and vectors of Java programs, without a virtual machine.

use serde_json::{Value, json};

use crate::schema;
use crate::support::{Yamba, json as document};

const JMH: &str = include_str!("../../../store/src/import/samples/jmh.json");

/// The sample has a cost of 11.25 ns at 32 characters, from six forks between 9 and 13 ns.
fn prepared() -> Yamba {
    let vector = json!({
        "schema": "yamba-vector/1", "application": "words", "unit": "page", "command": ["java", "-jar", "words.jar"],
        "traced": {"how": "java"},
        "primitives": [{"name": "java.lang.String.lastIndexOf(String)", "size": 32, "count": 1000}],
    });
    Yamba::new().file("jmh.json", JMH).file("words.vector", vector.to_string())
}

#[test]
fn costs_of_jmh_predict_a_java_program() {
    let mut yamba = prepared();
    let found = document(&mut yamba, "predict words.vector --on jmh.json --json");
    schema::holds("yamba-predict/1", &found);
    let prediction = &found["predictions"][0];
    assert_eq!(prediction["platform"], "class_library");
    assert_eq!(prediction["predicted_ns"], 11_250.0);
    assert_eq!(prediction["interval_ns"], json!([9000.0, 13_000.0]));
    let text = yamba.run("predict words.vector --on jmh.json").ok().out;
    assert!(text.contains("predicted class-library time: 11.25 us"), "{text}");
    assert!(!text.contains("kernel"), "{text}");
}

#[test]
fn imported_jmh_has_the_virtual_machine_and_intervals() {
    let mut yamba = prepared();
    let id = yamba.run("import jmh.json").ok().out;
    let run: Value = document(&mut yamba, &format!("show {} --json", id.trim()));
    schema::holds("yamba-run/1", &run);
    assert_eq!(run["machine"]["java"]["flags"], json!(["-XX:TieredStopAtLevel=1"]));
    let shown = yamba.run(&format!("show {}", id.trim())).ok();
    assert!(!shown.out.contains("without intervals"), "{}", shown.out);
}

#[test]
fn command_without_java_is_refused() {
    let mut yamba = Yamba::new();
    yamba.run("trace --java -- python3 app.py").refused(&["python3", "java -jar app.jar"]);
    yamba
        .env("YAMBA_JAVA", "/nowhere")
        .run("trace --java -- java -jar app.jar")
        .refused(&["/nowhere/agent.jar is missing", "make java"]);
}
