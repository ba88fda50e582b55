//! pyperf, a library of Python: <https://pyperf.readthedocs.io>.

use super::super::adapter::{Adapter, LAYOUT, Launch, Program, Start};

/// The option that names the environment variables of the worker processes.
const INHERIT: &str = "--inherit-environ";

pub(super) struct Pyperf;

impl Adapter for Pyperf {
    fn name(&self) -> &'static str {
        "pyperf"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["--inherit-environ", "--min-time"])
    }

    /// pyperf starts a process of its own for each run and for its calibration. One such process
    /// is the observation.
    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("results.json");
        let arguments = [
            "--processes=1".to_owned(),
            "--values=3".to_owned(),
            "--warmups=1".to_owned(),
            format!("--min-time={}", launch.seconds()),
            "--quiet".to_owned(),
            format!("{INHERIT}={}", inherited(&program.words)),
            "--output".to_owned(),
            results.display().to_string(),
        ];
        Start { words: program.with(arguments), results, ..Start::default() }
    }
}

/// The variables that the user names, and the one whose length varies the place of the stack. Of
/// several such options, pyperf takes the last.
fn inherited(words: &[String]) -> String {
    let mut values =
        words.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix(INHERIT)? {
            "" => words.get(at + 1).map(String::as_str),
            rest => rest.strip_prefix('='),
        });
    values.next_back().map_or(LAYOUT.to_owned(), |own| format!("{own},{LAYOUT}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_user_are_inherited_too() {
        let of = |text: &str| inherited(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("python3 bench.py"), "YAMBA_LAYOUT");
        assert_eq!(of("bench.py --inherit-environ=MODE,X"), "MODE,X,YAMBA_LAYOUT");
        assert_eq!(of("bench.py --inherit-environ MODE --fast"), "MODE,YAMBA_LAYOUT");
    }
}
