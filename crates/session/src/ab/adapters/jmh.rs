//! JMH, the Java Microbenchmark Harness, as a jar: <https://github.com/openjdk/jmh>.

use super::super::adapter::{Adapter, Launch, Program, Start, holds};

/// The list of benchmarks that JMH puts into the jar.
const LIST: &[u8] = b"META-INF/BenchmarkList";

pub(super) struct Jmh;

impl Adapter for Jmh {
    fn name(&self) -> &'static str {
        "jmh"
    }

    fn is_it(&self, program: &Program) -> bool {
        // The names of a jar's files are not compressed.
        program.jars.iter().any(|jar| holds(jar, LIST))
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("results.json");
        // One fork is the observation, and a benchmark that fails ends the program. A short
        // iteration of a compiled language settles within its first ones.
        let iteration = format!("{}ms", launch.benchmark_time.as_millis().max(10));
        let arguments =
            ["-f", "1", "-wi", "3", "-w", &iteration, "-i", "3", "-r", &iteration, "-foe", "true"];
        let arguments = arguments.map(str::to_owned).into_iter();
        let results_in = ["-rf", "json", "-rff", &results.display().to_string()].map(str::to_owned);
        let names = launch.pattern();
        let is_jar = program.words.first().is_some_and(|word| word.ends_with(".jar"));
        let java = ["java", "-jar"].into_iter().filter(|_| is_jar).map(str::to_owned);
        let all = program.with(arguments.chain(results_in).chain(names));
        Start { words: java.chain(all).collect(), results, ..Start::default() }
    }
}
