//! criterion, a library of Rust: `cargo bench --no-run` builds the programs.
//! <https://docs.rs/criterion>

use std::path::Path;

use super::super::adapter::{Adapter, Launch, Program, Start, holds};

pub(super) struct Criterion;

impl Adapter for Criterion {
    fn name(&self) -> &'static str {
        "criterion"
    }

    fn is_it(&self, program: &Program) -> bool {
        // Version 0.5 fails on `--help`. Its programs contain this variable and this option.
        let has = |file: &Path| holds(file, b"CRITERION_HOME") && holds(file, b"nresamples");
        program.helps_with(&["--save-baseline", "--measurement-time"])
            || program.file.as_deref().is_some_and(has)
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("criterion");
        // Ten samples are the fewest that criterion takes.
        let arguments = [
            "--bench".to_owned(),
            "--noplot".to_owned(),
            "--sample-size=10".to_owned(),
            format!("--warm-up-time={}", launch.seconds()),
            format!("--measurement-time={}", launch.seconds()),
        ];
        // criterion takes one pattern. A word that is no option may be that of the user, or the
        // value of an option.
        let may_select = program.words.iter().skip(1).any(|word| !word.starts_with('-'));
        let pattern = launch.pattern().filter(|_| !may_select);
        Start {
            words: program.with(arguments.into_iter().chain(pattern)),
            environment: vec![("CRITERION_HOME".to_owned(), results.display().to_string())],
            results,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn there_is_one_pattern() {
        let last = |text: &str| {
            let words = text.split(' ').map(str::to_owned).collect();
            let program = Program { words, ..Program::default() };
            let only = ["sum".to_owned()];
            let benchmark_time = Duration::from_millis(20);
            let launch = Launch { only: Some(&only), benchmark_time, folder: Path::new("/tmp") };
            Criterion.start(&program, &launch).words.last().cloned()
        };
        assert_eq!(last("./b --quiet").as_deref(), Some("^(sum)$"));
        assert_eq!(last("./b sort").as_deref(), Some("--measurement-time=0.02"));
    }
}
