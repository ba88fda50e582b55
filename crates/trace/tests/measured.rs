//! The measurement of a server without a tracer. Alone in its program, since it ends all
//! descendants of this process.

use std::time::Duration;

use yamba_trace::live::{Enough, Units, Workload, measure};

/// Notes that it started, and works for each line that it reads.
const SERVER: &str = "cd \"$0\"; echo >> starts; exec 3<>requests
while read line <&3; do i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; echo > done; done";

const LOAD: &str = "rm -f done; echo > requests; until [ -e done ]; do sleep 0.01; done";

/// A trace has one load for each start, and a server may keep what a load brought. A load is far
/// shorter than the measurement, on a slow machine, too.
#[test]
fn server_starts_once_for_each_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("requests")).status();
    assert!(made.unwrap().success());
    let workload = Workload {
        command: ["sh", "-c", SERVER, path].map(str::to_owned).to_vec(),
        load: Some(format!("cd {path}; {LOAD}")),
        runs: 1,
        rounds: 1,
        bare: Vec::new(),
        units: Units::Number(1.0),
        hides_output: true,
    };
    let enough = Enough {
        least: Duration::from_millis(200),
        most: Duration::from_millis(200),
        half_width: f64::INFINITY,
        limit: Duration::from_secs(600),
    };
    let found = measure(&workload, &enough, true, &|| false).unwrap();
    let starts = std::fs::read_to_string(folder.path().join("starts")).unwrap();
    assert!(found.units >= 2.0, "{found:?}");
    assert_eq!(starts.lines().count() as f64, found.units);
}
