//! The points of a sweep that are meant.

use yamba_record::parameters::plain;
use yamba_record::{Benchmark, Run};

use super::Failure;

/// What a point's number of processes is called beside its parameters.
const PROCESSES: &str = "P";

/// Leaves the entries that have each of these values.
pub(super) fn choose(run: &mut Run, at: &[(String, String)]) -> Result<(), Failure> {
    for (name, wanted) in at {
        let known: Vec<String> = run
            .benchmarks
            .iter()
            .filter_map(|b| value(b, name))
            .collect();
        if known.is_empty() {
            return Err(
                Failure::new(format!("no benchmark here has a parameter {name}"))
                    .help("`yamba show` without --at shows the points with their parameters"),
            );
        }
        if !known.contains(wanted) {
            return Err(Failure::new(format!("no point has {name}={wanted}"))
                .help(format!("those that were measured: {}", each_once(known))));
        }
        run.benchmarks
            .retain(|b| value(b, name).as_ref() == Some(wanted));
    }
    Ok(())
}

fn value(benchmark: &Benchmark, name: &str) -> Option<String> {
    match benchmark.parameters.get(name) {
        None if name == PROCESSES => Some(benchmark.processes.to_string()),
        value => value.map(plain),
    }
}

fn each_once(values: Vec<String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once.join(", ")
}
