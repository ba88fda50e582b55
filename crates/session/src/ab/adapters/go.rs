//! Test programs of Go: `go test -c` builds them. <https://pkg.go.dev/testing>

use super::super::adapter::{Adapter, Launch, Program, Start, escaped};

pub(super) struct Go;

impl Adapter for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["-test.bench ", "-test.benchtime"])
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let arguments = [
            "-test.run=^$".to_owned(),
            format!("-test.benchtime={}s", launch.seconds()),
            "-test.count=1".to_owned(),
        ];
        // The last of several selections would replace that of the user.
        let selection =
            (!selects(&program.words)).then(|| format!("-test.bench={}", pattern(launch.only)));
        let words = program.with(arguments.into_iter().chain(selection));
        Start { words, results: launch.output(), ..Start::default() }
    }
}

/// Whether the words of the user select benchmarks.
fn selects(words: &[String]) -> bool {
    let option =
        |word: &String| word.trim_start_matches('-').split('=').next() == Some("test.bench");
    words.iter().any(|word| word.starts_with('-') && option(word))
}

/// The benchmarks by name. Go matches each part of a name between slashes by a regular expression
/// of its own, so that it measures more where names have unlike numbers of parts.
fn pattern(only: Option<&[String]>) -> String {
    let Some(names) = only else {
        return ".".to_owned();
    };
    let part = |at: usize| {
        let mut parts: Vec<String> = Vec::new();
        for part in names.iter().filter_map(|name| name.split('/').nth(at)) {
            let part = if at == 0 && !part.starts_with("Benchmark") {
                format!("Benchmark{}", escaped(part))
            } else {
                escaped(part)
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        format!("^({})$", parts.join("|"))
    };
    // A name with fewer parts than the expression is measured whole.
    let depth = names.iter().map(|name| name.split('/').count()).min().unwrap_or(1);
    let mut parts: Vec<String> = (0..depth).map(part).collect();
    // With one processor, a number at the end of the name is read as that of the processors.
    if let Some(last) = parts.last_mut() {
        last.truncate(last.len() - 1);
        last.push_str("(-[0-9]+)?$");
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    #[test]
    fn selection_of_the_user_stays() {
        let words = |text: &str| {
            let words = text.split(' ').map(str::to_owned).collect();
            let program = Program { words, ..Program::default() };
            let only = ["Sum".to_owned()];
            let benchmark_time = Duration::from_millis(20);
            let launch = Launch { only: Some(&only), benchmark_time, folder: Path::new("/tmp") };
            let mut words = Go.start(&program, &launch).words;
            words.retain(|word| word.contains("test.bench=") || word.contains("Sort"));
            words
        };
        assert_eq!(words("./b"), ["-test.bench=^(BenchmarkSum)(-[0-9]+)?$"]);
        assert_eq!(words("./b -test.bench=Sort"), ["-test.bench=Sort"]);
        assert_eq!(words("./b --test.bench Sort"), ["Sort"]);
    }

    #[test]
    fn names_are_matched_by_their_parts() {
        let names = ["Sort/n=10".to_owned(), "Sort/n=100".to_owned(), "BenchmarkX/a+b".to_owned()];
        let expected = r"^(BenchmarkSort|BenchmarkX)$/^(n=10|n=100|a\+b)(-[0-9]+)?$";
        assert_eq!(pattern(Some(&names)), expected);
        assert_eq!(
            pattern(Some(&["Sort/n=10".to_owned(), "Sum".to_owned()])),
            "^(BenchmarkSort|BenchmarkSum)(-[0-9]+)?$"
        );
        assert_eq!(pattern(None), ".");
    }
}
