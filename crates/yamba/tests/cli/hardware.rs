//! `yamba hardware`, with benchmarks whose curves have known answers.

use serde_json::Value;

use crate::support::Yamba;

/// A benchmark in place of `load_sizes`, with the times of a processor of this rule: `x` is from 1
/// to 48. A neighbour does not change the size of the third cache, so that every pass counts.
fn with_curve(time: &str) -> Yamba {
    let class = format!(
        r#"
/// A known curve.
yamba load_sizes extends HardwareCurve
{{
    const char *unit()     {{ return "B"; }}
    const char *inferred() {{ return "l3.size"; }}
    const char *x_unit()   {{ return "B"; }}
    std::vector<double> points()
    {{
        std::vector<double> found;
        for (int n = 1; n <= 48; n++) found.push_back(n);
        return found;
    }}
    double pass(double x) {{ return {time}; }}
}}
"#
    );
    Yamba::new().file("load_sizes.yamba", &class)
}

/// Three caches; the third one ends at this point.
fn levels(end: u32) -> String {
    format!("x <= 8 ? 2 : x <= 20 ? 6 : x <= {end} ? 30 : 100")
}

fn parameters(mut yamba: Yamba) -> Vec<Value> {
    let answer = yamba.run("hardware --lib . l3.size --quick --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    document["parameters"].as_array().unwrap().clone()
}

#[test]
fn known_curve_gives_its_parameter() {
    let found = parameters(with_curve(&levels(36)));
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["name"], &found[0]["unit"]), (&"l3.size".into(), &"B".into()));
    assert_eq!(found[0]["found"], 36.0);
    assert_eq!(found[0]["interval"], serde_json::json!([36.0, 37.0]));
    assert!(found[0]["reason"].is_null());
}

#[test]
fn curve_that_does_not_tell_gives_the_reason() {
    let found = parameters(with_curve("2 + 0 * x"));
    assert!(found[0]["found"].is_null());
    let reason = found[0]["reason"].as_str().unwrap();
    assert!(reason.contains("has no step up to 48"), "{reason}");
    let found = parameters(with_curve(
        "x <= 8 ? 2 : x <= 14 ? 6 : x <= 20 ? 20 : x >= 44 ? 100 : 20 + (x - 20) * 80 / 24",
    ));
    let reason = found[0]["reason"].as_str().unwrap();
    assert!(reason.contains("the step lies anywhere from") || reason.contains("steps"), "{reason}");
}

#[test]
fn run_is_stored_with_its_curve() {
    let mut yamba = with_curve(&levels(36));
    let answer = yamba.run("hardware --lib . l3.size --quick").ok();
    answer.says(&["l3.size    36 B"]);
    let stored = yamba.run("show latest --json --raw").ok();
    let document: Value = serde_json::from_str(&stored.out).unwrap();
    assert_eq!(document["benchmarks"][0]["name"], "load_sizes");
    assert_eq!(document["benchmarks"][0]["median"], 36.0);
    let parameters = document["benchmarks"][0]["hardware"].as_array().unwrap();
    let third = parameters.iter().find(|p| p["name"] == "l3.size").unwrap();
    assert_eq!(third["found"], 36.0);
}

#[test]
fn unknown_parameter_is_refused_with_the_list() {
    let answer = Yamba::new().run("hardware l9.size");
    answer.refused(&["no parameter is called l9.size", "rob.entries"]);
}

#[test]
fn reads_in_sequence_fetch_at_least_as_much_as_random_ones() {
    let mut yamba = Yamba::new();
    let answer = yamba.run("hardware storage.block readahead.bytes --quick --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    let found: Vec<Option<f64>> =
        document["parameters"].as_array().unwrap().iter().map(|p| p["found"].as_f64()).collect();
    match found[..] {
        [Some(block), Some(ahead)] => assert!(512.0 <= block && block <= ahead, "{document}"),
        _ => {
            let reason = document["parameters"][1]["reason"].as_str().unwrap();
            assert!(reason.contains("memory") || reason.contains("does not count"), "{reason}");
        }
    }
}
