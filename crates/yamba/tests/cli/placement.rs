//! The processor that each launch chooses.

use serde_json::Value;
use yamba_child_guard::StartGuarded;

use crate::support::{Yamba, json, needs};

const SPIN: &str = "yamba spin
{
    void benchmark() { for (volatile unsigned i = 0; i < 100; i = i + 1) {} }
}
";

/// Least gain of quiet time for which a launch leaves the processor of the earlier ones.
const CLEAR_GAIN: f64 = 0.25;

/// Competitors on one processor: more than other tests may have there.
const COMPETITORS: usize = 3;

/// Most runs until a launch sees them.
const RUNS: usize = 5;

/// A number of a launch's probes, by processor.
fn by_processor(launch: &Value, name: &str) -> Vec<(u64, f64)> {
    let probed = launch["placement"]["probed"].as_array().unwrap();
    let each = probed.iter();
    each.map(|p| (p["cpu"].as_u64().unwrap(), p[name].as_f64().unwrap())).collect()
}

fn at(cpu: u64, values: &[(u64, f64)]) -> f64 {
    values.iter().find(|(each, _)| *each == cpu).unwrap().1
}

/// Processes that compete for the processor of the first run lead the launches of the second one
/// away. Other load can be on all processors, so the probes that are recorded say what the launches
/// should have done.
#[test]
#[ignore = "needs g++, taskset and two processors"]
fn launches_leave_busy_processor() {
    needs(&["taskset"]);
    let yamba = Yamba::new().file("spin.yamba", SPIN);
    let mut yamba = yamba.env("YAMBA_NEIGHBOURS", "discard");
    let words = "run spin.yamba --json --raw --launches 8 --time 400ms";
    let first = json(&mut yamba, words);
    let busy = first["benchmarks"][0]["launches"][0]["placement"]["cpu"].as_u64();
    let busy = busy.unwrap();
    let mut competitor = yamba.other("taskset");
    let on = busy.to_string();
    competitor.args(["-c", &on, "sh", "-c", "while :; do :; done"]);
    let competitors: Vec<_> = (0..COMPETITORS).map(|_| competitor.start()).collect();
    // A launch that gets the processor at once, for a whole turn, does not see the competitors. On
    // a loaded machine many do, so that a run may have no other.
    let has_seen = (0..RUNS).any(|_| {
        let run = json(&mut yamba, words);
        some_launch_saw_competitors(run["benchmarks"][0]["launches"].as_array().unwrap(), busy)
    });
    drop(competitors);
    assert!(has_seen);
}

/// Checks where each launch of a run measured. Returns whether one saw or left the busy processor.
#[track_caller]
fn some_launch_saw_competitors(launches: &[Value], busy: u64) -> bool {
    let (mut seen, mut calm, mut left, mut away) = (0, 0, 0, 0);
    for launch in launches {
        let shares = by_processor(launch, "quiet_share");
        let cpu = launch["placement"]["cpu"].as_u64().unwrap();
        // A launch whose processor is quiet does not probe others.
        if shares.len() == 1 {
            assert!(at(cpu, &shares) > 1.0 - CLEAR_GAIN, "{launch:#}");
            away += usize::from(cpu != busy);
            continue;
        }
        let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        assert!(at(cpu, &shares) > most - CLEAR_GAIN, "{launch:#}");
        let waited = by_processor(launch, "waited_share");
        seen += usize::from(at(busy, &waited) > 0.3);
        // Whether another processor was clearly quieter, so that the launch had to leave.
        let is_calm = most - at(busy, &shares) >= CLEAR_GAIN;
        calm += usize::from(is_calm);
        left += usize::from(is_calm && cpu != busy);
    }
    assert_eq!(calm, left, "{launches:#?}");
    seen + away > 0
}
