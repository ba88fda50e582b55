//! JMH, the Java Microbenchmark Harness, as a jar: <https://github.com/openjdk/jmh>.

use std::time::Duration;

use super::super::adapter::{Adapter, Launch, Program, Start, holds};

/// The list of benchmarks that JMH puts into the jar.
const LIST: &[u8] = b"META-INF/BenchmarkList";

/// The shortest of the three iterations before the measured ones. The second compiler of HotSpot
/// compiles a method after 5000 calls or 40 000 iterations of a loop (`Tier4InvocationThreshold`,
/// `Tier4BackEdgeThreshold`): in 0.9 s those of up to 0.18 ms. After three iterations of 20 ms, a
/// sort of 1000 numbers took four times as long as later.
const WARM_UP: Duration = Duration::from_millis(300);

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
        // One fork is the observation, and a benchmark that fails ends the program.
        let ms = |time: Duration| format!("{}ms", time.as_millis().max(10));
        let (warmup, iteration) =
            (ms(launch.benchmark_time.max(WARM_UP)), ms(launch.benchmark_time));
        let arguments =
            ["-f", "1", "-wi", "3", "-w", &warmup, "-i", "3", "-r", &iteration, "-foe", "true"];
        let arguments = arguments.map(str::to_owned).into_iter();
        let results_in = ["-rf", "json", "-rff", &results.display().to_string()].map(str::to_owned);
        let names = launch.pattern();
        let is_jar = program.words.first().is_some_and(|word| word.ends_with(".jar"));
        let java = ["java", "-jar"].into_iter().filter(|_| is_jar).map(str::to_owned);
        let all = program.with(arguments.chain(results_in).chain(names));
        Start { words: java.chain(all).collect(), results, ..Start::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn warm_up_lets_the_compiler_finish() {
        let program = Program { words: vec!["b.jar".to_owned()], ..Program::default() };
        let warm_up = |ms| {
            let benchmark_time = Duration::from_millis(ms);
            let launch = Launch { only: None, benchmark_time, folder: Path::new("/tmp") };
            let words = Jmh.start(&program, &launch).words;
            let after = |option: &str| {
                let at = words.iter().position(|word| word == option).unwrap();
                words[at + 1].clone()
            };
            [after("-w"), after("-r")]
        };
        assert_eq!(warm_up(20), ["300ms", "20ms"]);
        assert_eq!(warm_up(1000), ["1000ms", "1000ms"]);
    }
}
