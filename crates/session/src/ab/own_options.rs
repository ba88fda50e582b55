//! Options of a harness that Yamba sets. Of two, a harness takes the last, which is Yamba's: a
//! figure that the user chose by such an option would silently be another.

use std::path::Path;
use std::time::Duration;

use super::adapter::{Adapter, Launch, Program};
use super::program::Side;
use crate::Failure;

/// Options of which a harness takes several, or that Yamba joins with those of the user.
const JOINED: [&str; 2] = ["p", "inherit-environ"];

/// Refuses a program with an option that Yamba sets.
///
/// # Errors
/// If the program has one.
pub(super) fn check(side: &Side, adapter: &dyn Adapter) -> Result<(), Failure> {
    let Some(word) = replaced(&side.program, adapter) else {
        return Ok(());
    };
    let message = format!("--{}: {word} would not count, as Yamba sets this option", side.name);
    Err(Failure::new(message).help(
        "leave it out; `yamba ab --benchmark-time TIME` sets how long a process measures each benchmark",
    ))
}

/// The first word of the user that is an option of Yamba's own.
fn replaced(program: &Program, adapter: &dyn Adapter) -> Option<String> {
    let (folder, benchmark_time) = (Path::new(""), Duration::from_secs(1));
    let words = adapter.start(program, &Launch { only: None, benchmark_time, folder }).words;
    let own = program.words.len();
    let at = words.windows(own).position(|words| words == program.words)?;
    let added = &words[at + own..];
    // A flag without a value does the same twice.
    let has_value = |at: usize| {
        added[at].contains('=') || added.get(at + 1).is_some_and(|next| name(next).is_none())
    };
    let added = added.iter().enumerate().filter(|(at, _)| has_value(*at));
    let names: Vec<&str> = added.filter_map(|(_, word)| name(word)).collect();
    let is_replaced =
        |word: &&String| name(word).is_some_and(|n| names.contains(&n) && !JOINED.contains(&n));
    program.words.iter().skip(1).find(is_replaced).cloned()
}

/// The name of an option, without the dashes and its value.
fn name(word: &str) -> Option<&str> {
    let option = word.strip_prefix('-')?.trim_start_matches('-');
    option.split('=').next()
}

#[cfg(test)]
mod tests {
    use super::super::adapters::named;
    use super::*;

    #[test]
    fn options_that_yamba_sets_are_found() {
        for (adapter, line, expected) in [
            ("google-benchmark", "./b --benchmark_min_time=100x", "--benchmark_min_time=100x"),
            ("google-benchmark", "./b --benchmark_filter=sort --v=1", ""),
            ("go", "./b -test.v --test.benchtime 100x", "--test.benchtime"),
            ("go", "./b -test.bench=Sort -test.cpu=1", ""),
            ("jmh", "b.jar -wi 5", "-wi"),
            ("jmh", "java -jar b.jar -p size=3", ""),
            ("pytest-benchmark", "pytest -q -p no:x --benchmark-only b.py", ""),
            (
                "pytest-benchmark",
                "pytest --benchmark-min-rounds=9 b.py",
                "--benchmark-min-rounds=9",
            ),
            ("pyperf", "python3 b.py --inherit-environ=X", ""),
            ("pyperf", "python3 b.py --processes 4", "--processes"),
            ("criterion", "./b --sample-size 50", "--sample-size"),
            ("command", "sleep --benchmark_min_time=1", ""),
        ] {
            let words = line.split(' ').map(str::to_owned).collect();
            let program = Program { words, ..Program::default() };
            let found = replaced(&program, named(adapter).unwrap()).unwrap_or_default();
            assert_eq!(found, expected, "{line}");
        }
    }
}
