//! Predictions beside the kernel time that was measured on the same machine: `tests/data/machines`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Yamba, json as document, root};

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The costs are quick ones of a busy host, disturbed in part.
#[test]
fn applications_take_the_predicted_time_on_their_machines() {
    let mut compared = 0;
    for machine in fs::read_dir(root().join("tests/data/machines")).unwrap() {
        let folder = machine.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let measured = read(&folder.join("measured.json"));
        for (application, times) in measured.as_object().unwrap() {
            let [vector, costs] = [format!("{application}.vector"), "costs.json".to_owned()]
                .map(|name| folder.join(name).display().to_string());
            let mut yamba = Yamba::new();
            let found = document(&mut yamba, &format!("predict {vector} --on {costs} --json"));
            let first = &found["predictions"][0];
            let ns = first["predicted_ns"].as_f64().unwrap();
            let measured_ns = times["measured_ns"].as_f64().unwrap();
            let error = ns / measured_ns - 1.0;
            assert!(error.abs() <= 0.1, "{application}: {error}");
            let [low, high] = [0, 1].map(|end| first["interval_ns"][end].as_f64().unwrap());
            assert!(
                low < measured_ns && measured_ns < high,
                "{application}: {measured_ns} in [{low}, {high}]"
            );
            // Neighbours change times only: nearly all calls have a cost, though many figures are
            // disturbed.
            let covered = first["coverage"]["kernel_time"].as_f64().unwrap();
            assert!(covered > 0.9, "{application}: {covered}");
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared}");
}
