//! `yamba hardware`, with benchmarks whose curves have known answers.

use serde_json::Value;

use crate::support::Yamba;

/// A benchmark in place of `page_sets`, with the times of a processor of this rule.
fn with_curve(time: &str) -> Yamba {
    let class = format!(
        r#"
/// A known curve.
yamba page_sets extends HardwareCurve
{{
    const char *unit()     {{ return "ways"; }}
    const char *inferred() {{ return "tlb1.ways"; }}
    const char *x_unit()   {{ return "pages"; }}
    std::vector<double> points()
    {{
        std::vector<double> found;
        for (int n = 1; n <= 24; n++) found.push_back(n);
        return found;
    }}
    double pass(double x) {{ return {time}; }}
}}
"#
    );
    Yamba::new().file("page_sets.yamba", &class)
}

fn parameters(mut yamba: Yamba) -> Vec<Value> {
    let answer = yamba.run("hardware --lib . tlb1.ways --quick --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    document["parameters"].as_array().unwrap().clone()
}

#[test]
fn known_curve_gives_its_parameter() {
    let found = parameters(with_curve("x <= 6 ? 2 : 5"));
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["name"], &found[0]["unit"]), (&"tlb1.ways".into(), &"ways".into()));
    assert_eq!(found[0]["found"], 6.0);
    assert_eq!(found[0]["interval"], serde_json::json!([6.0, 7.0]));
    assert!(found[0]["reason"].is_null());
}

#[test]
fn curve_that_does_not_tell_gives_the_reason() {
    let found = parameters(with_curve("2 + 0 * x"));
    assert!(found[0]["found"].is_null());
    let reason = found[0]["reason"].as_str().unwrap();
    assert!(reason.contains("has no step up to 24"), "{reason}");
    let found = parameters(with_curve("x <= 4 ? 2 : x >= 20 ? 5 : 2 + (x - 4) * 3 / 16"));
    let reason = found[0]["reason"].as_str().unwrap();
    assert!(reason.contains("the step lies anywhere from"), "{reason}");
}

#[test]
fn run_is_stored_with_its_curve() {
    let mut yamba = with_curve("x <= 6 ? 2 : 5");
    let answer = yamba.run("hardware --lib . tlb1.ways --quick").ok();
    answer.says(&["tlb1.ways  6 ways"]);
    let stored = yamba.run("show latest --json --raw").ok();
    let document: Value = serde_json::from_str(&stored.out).unwrap();
    assert_eq!(document["benchmarks"][0]["name"], "page_sets");
    assert_eq!(document["benchmarks"][0]["median"], 6.0);
    assert_eq!(document["benchmarks"][0]["hardware"][0]["found"], 6.0);
}

#[test]
fn unknown_parameter_is_refused_with_the_list() {
    let answer = Yamba::new().run("hardware l9.size");
    answer.refused(&["no parameter is called l9.size", "rob.entries"]);
}
