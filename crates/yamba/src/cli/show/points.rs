//! Selects points of a sweep.

use indexmap::IndexSet;
use serde_json::Value;
use yamba_record::parameters::{Written, plain};
use yamba_record::{Benchmark, Run};

use super::Failure;

/// The names under which `--at` selects the numbers of processes and threads.
const PROCESSES: &str = "P";
const THREADS: &str = "T";

/// Keeps the entries that have all of these values. Values are written as for `--set`, so `16K` is
/// 16384.
pub(super) fn choose(run: &mut Run, at: &[(String, String)]) -> Result<(), Failure> {
    for (name, wanted) in at {
        let known = run.benchmarks.iter().filter_map(|b| value(b, name));
        let known: Vec<Value> = known.collect();
        if known.is_empty() {
            return Err(Failure::new(format!("no benchmark here has a parameter {name}"))
                .help("`yamba show` without --at shows the points with their parameters"));
        }
        let written = Written::among(wanted, &known);
        let is_wanted = |value: &Value| written.is(value);
        if !known.iter().any(is_wanted) {
            let known: IndexSet<String> = known.iter().map(plain).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Failure::new(format!("no point has {name}={wanted}"))
                .help(format!("those that were measured: {known}")));
        }
        run.benchmarks.retain(|b| value(b, name).as_ref().is_some_and(is_wanted));
    }
    Ok(())
}

fn value(benchmark: &Benchmark, name: &str) -> Option<Value> {
    match benchmark.parameters.get(name) {
        None if name == PROCESSES => Some(Value::from(benchmark.environment.processes)),
        None if name == THREADS => Some(Value::from(benchmark.environment.threads)),
        value => value.cloned(),
    }
}
