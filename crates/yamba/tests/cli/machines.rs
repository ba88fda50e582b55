//! Predictions beside the kernel time that was measured on the same machine: `tests/data/machines`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Yamba, json as document, root};

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A prediction beside the measured time of its application.
struct Compared {
    error: f64,
    is_within: bool,
}

/// Predicts an application of this folder on its own machine.
fn compare(folder: &Path, application: &str, measured_ns: f64) -> Compared {
    let [vector, costs] = [format!("{application}.vector"), "costs.json".to_owned()]
        .map(|name| folder.join(name).display().to_string());
    let found = document(&mut Yamba::new(), &format!("predict {vector} --on {costs} --json"));
    let first = &found["predictions"][0];
    let ns = first["predicted_ns"].as_f64().unwrap();
    let [low, high] = [0, 1].map(|end| first["interval_ns"][end].as_f64().unwrap());
    // Neighbours change times only: nearly all calls have a cost, though many figures are
    // disturbed.
    let covered = first["coverage"]["kernel_time"].as_f64().unwrap();
    assert!(covered > 0.9, "{application}: {covered}");
    Compared { error: ns / measured_ns - 1.0, is_within: low < measured_ns && measured_ns < high }
}

/// Half of the errors are at most 10 %, and four of five 90 % intervals hold the measured time: the
/// hosts were busy, and a trace and its measurement have different neighbours.
#[test]
fn applications_take_the_predicted_time_on_their_machines() {
    let mut all = Vec::new();
    for machine in fs::read_dir(root().join("tests/data/machines")).unwrap() {
        let folder = machine.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let measured = read(&folder.join("measured.json"));
        for (application, times) in measured.as_object().unwrap() {
            let measured_ns = times["measured_ns"].as_f64().unwrap();
            all.push(compare(&folder, application, measured_ns));
        }
    }
    assert!(all.len() >= 18, "{}", all.len());
    let mut errors: Vec<f64> = all.iter().map(|one| one.error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] <= 0.1, "{errors:?}");
    let within = all.iter().filter(|one| one.is_within).count();
    assert!(5 * within >= 4 * all.len(), "{within} of {}", all.len());
}
