//! Google Benchmark, a library of C++: <https://github.com/google/benchmark>.

use std::fs;

use serde::Deserialize;
use yamba_harness::CommandRun;
use yamba_record::units::nanoseconds;

use super::super::adapter::{Adapter, Launch, Program, Results, Start, read_file};

pub(super) struct GoogleBenchmark;

impl Adapter for GoogleBenchmark {
    fn name(&self) -> &'static str {
        "google-benchmark"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["--benchmark_filter", "--benchmark_out"])
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("results.json");
        // Versions before 1.8 know no unit.
        let unit = if program.helps_with(&["<integer>x"]) { "s" } else { "" };
        let mut arguments = vec![
            format!("--benchmark_out={}", results.display()),
            "--benchmark_out_format=json".to_owned(),
            format!("--benchmark_min_time={}{unit}", launch.seconds()),
            "--benchmark_repetitions=1".to_owned(),
        ];
        arguments.extend(launch.pattern().map(|names| format!("--benchmark_filter={names}")));
        Start { words: program.with(arguments), results, ..Start::default() }
    }

    /// The processor time stands beside the time on the clock.
    fn read(
        &self,
        _program: &Program,
        start: &Start,
        _ended: &CommandRun,
    ) -> Result<Results, String> {
        let mut results = read_file(&start.results)?;
        let text = fs::read_to_string(&start.results).map_err(|e| e.to_string())?;
        // A file with other values than numbers has been read, without processor times.
        let rows = serde_json::from_str(&text).map_or(Vec::new(), |times: Times| times.benchmarks);
        for reading in &mut results.readings {
            let name = &reading.entry.name;
            let mut same = rows.iter().filter(|row| row.name == *name);
            // Two rows of one name may be of two benchmarks.
            if let (Some(row), None) = (same.next(), same.next())
                && let Some(ns) = row.time_unit.as_deref().and_then(nanoseconds)
                && reading.entry.unit.as_deref() == Some("ns")
                && !CLOCKS.iter().any(|clock| name.contains(clock))
            {
                reading.processor = row.cpu_time.filter(|t| *t > 0.0).map(|time| time * ns);
            }
        }
        Ok(results)
    }
}

/// Parts of the names of benchmarks for which the program chose another time than that of the
/// measuring thread.
const CLOCKS: [&str; 3] = ["/real_time", "/manual_time", "/process_time"];

#[derive(Deserialize)]
struct Times {
    benchmarks: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
}
