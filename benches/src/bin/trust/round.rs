//! One whole comparison, as a line of a file keeps it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use yamba::compare::budget::NO_TIME;

use crate::lines;

/// One comparison.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// When it began, in seconds since 1970.
    pub at: u64,
    /// How it was asked for: all rounds of a file are to be alike.
    #[serde(default)]
    pub settings: String,
    /// The ids of the two runs.
    #[serde(default)]
    pub runs: [String; 2],
    pub compared: u64,
    /// Suspected by the two runs alone.
    pub suspected: Vec<String>,
    /// Measured anew before the gate was judged.
    pub anew: u64,
    /// Meant to be slower, as the command line says.
    #[serde(default)]
    pub slowed: Vec<String>,
    /// What the gate could not decide.
    #[serde(default)]
    pub unconfirmed: Vec<String>,
    /// Of that, what it had no time to measure anew.
    #[serde(default)]
    pub late: Vec<String>,
    /// Seconds that the runs took which were made for it, and the comparison with all that it measured and compiled.
    #[serde(default)]
    pub seconds: [f64; 2],
    /// What the gate failed for.
    pub failed: Vec<String>,
    /// By how much, of each.
    pub by: Vec<f64>,
    pub exit: i32,
}

impl Round {
    /// What a document of `yamba compare --fail-above --json` says.
    pub fn of(document: &Value) -> Round {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let benchmarks = list(&document["benchmarks"]);
        // What was measured anew tells what the runs said before.
        let was_suspect = |b: &&Value| match b["stored"].is_null() {
            true => b["suspect"] == true,
            false => b["stored"]["suspect"] == true,
        };
        let slower = list(&document["gate"]["slower"]);
        let unconfirmed = list(&document["gate"]["unconfirmed"]);
        let is_late = |u: &&Value| u["reason"].as_str().is_some_and(|r| r.ends_with(NO_TIME));
        let id = |side: &str| document[side]["id"].as_str().unwrap_or_default().to_owned();
        Round {
            runs: ["a", "b"].map(id),
            compared: benchmarks.iter().filter(|b| !b["ratio"].is_null()).count() as u64,
            suspected: benchmarks.iter().filter(was_suspect).map(name).collect(),
            anew: document["again"]["benchmarks"].as_u64().unwrap_or(0),
            unconfirmed: unconfirmed.iter().map(name).collect(),
            late: unconfirmed.iter().filter(is_late).map(name).collect(),
            failed: slower.iter().map(name).collect(),
            by: slower.iter().filter_map(|s| s["by"].as_f64()).collect(),
            ..Round::default()
        }
    }

    fn is_slowed(&self, which: &str) -> bool {
        self.slowed.iter().any(|slowed| is_named(which, slowed))
    }

    /// What the gate was told: 0.03 for 3 %.
    pub fn limit(&self) -> Option<f64> {
        let mut words = self.settings.split(' ');
        words.find(|word| *word == "--limit")?;
        let percent: f64 = words.next()?.strip_suffix('%')?.parse().ok()?;
        Some(percent / 100.0)
    }

    /// What it failed for without a reason.
    pub fn alarms(&self) -> usize {
        self.failed.iter().filter(|f| !self.is_slowed(f)).count()
    }
}

fn name(of: &Value) -> String {
    let name = of["name"].as_str().unwrap_or_default();
    format!("{name} {}", of["parameters"])
}

/// Whether this benchmark at some point is the one of that name.
pub fn is_named(which: &str, name: &str) -> bool {
    which.split(' ').next() == Some(name)
}

/// The rounds of a file.
pub fn read(path: &Path) -> Result<Vec<Round>, String> {
    lines::read(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_had_no_time_is_told_from_what_stayed_open() {
        let which = |name: &str, reason: &str| json!({"name": name, "parameters": {"n": 1}, "processes": 1, "reason": reason});
        let late = format!("not measured anew: {NO_TIME}");
        let document = json!({
            "a": {"id": "1a"},
            "b": {"id": "2b"},
            "benchmarks": [
                {"name": "x", "parameters": {}, "ratio": 1.1, "suspect": false, "stored": {"suspect": true}},
                {"name": "y", "parameters": {}, "ratio": null, "suspect": false, "stored": null},
            ],
            "again": {"benchmarks": 1},
            "gate": {
                "slower": [{"name": "x", "parameters": {}, "by": 0.1}],
                "unconfirmed": [which("y", &late), which("z", "measured anew, it may still be slower by more")],
            },
        });
        let round = Round {
            slowed: vec!["x".to_owned()],
            ..Round::of(&document)
        };
        assert_eq!(round.runs, ["1a", "2b"]);
        assert_eq!((round.compared, round.anew), (1, 1));
        assert_eq!(round.unconfirmed, [r#"y {"n":1}"#, r#"z {"n":1}"#]);
        assert_eq!(round.late, [r#"y {"n":1}"#]);
        assert_eq!(round.suspected, ["x {}"]);
        assert_eq!((round.alarms(), round.failed.len()), (0, 1));
    }
}
