//! pytest-benchmark, a plug-in of pytest: <https://pytest-benchmark.readthedocs.io>.

use yamba_harness::CommandRun;

use super::super::adapter::{Adapter, Launch, Program, Results, Start, read_file};

pub(super) struct PytestBenchmark;

impl Adapter for PytestBenchmark {
    fn name(&self) -> &'static str {
        "pytest-benchmark"
    }

    fn is_it(&self, program: &Program) -> bool {
        program.helps_with(&["--benchmark-json", "--benchmark-min-rounds"])
    }

    /// All tests are measured each time: the user's own selection stays as it is.
    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start {
        let results = launch.folder.join("results.json");
        let arguments = [
            format!("--benchmark-json={}", results.display()),
            "--benchmark-save-data".to_owned(),
            "--benchmark-only".to_owned(),
            "--benchmark-warmup=on".to_owned(),
            format!("--benchmark-max-time={}", launch.seconds()),
            "--benchmark-min-rounds=3".to_owned(),
            // Files of its own stay out of the user's folder.
            format!("--benchmark-storage=file://{}", launch.folder.display()),
            "-p".to_owned(),
            "no:cacheprovider".to_owned(),
        ];
        Start {
            words: program.with(arguments),
            environment: vec![("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())],
            results,
        }
    }

    /// A name begins with the path of its file. Both sides may lie in different folders.
    fn read(&self, start: &Start, _ended: &CommandRun) -> Result<Results, String> {
        let mut results = read_file(&start.results)?;
        let names = results.readings.iter().map(|reading| reading.entry.name.as_str());
        let length = common_folder(names);
        for reading in &mut results.readings {
            let short = reading.entry.name.split_off(length);
            reading.entry.declaration.class.clone_from(&short);
            reading.entry.name = short;
        }
        Ok(results)
    }
}

/// Bytes of the path of the folder that all names begin with.
fn common_folder<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let file = |name: &'a str| name.split("::").next().unwrap_or(name);
    let folders = names.map(|name| file(name).rfind('/').map_or("", |at| &name[..=at]));
    let common = folders.reduce(|x, y| {
        let parts = x.split_inclusive('/').zip(y.split_inclusive('/'));
        let same = parts.take_while(|(x, y)| x == y);
        &x[..same.map(|(part, _)| part.len()).sum()]
    });
    common.map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_all_files_is_found() {
        let length = |names: &[&'static str]| common_folder(names.iter().copied());
        assert_eq!(length(&["old/bench.py::test_a[1/2]", "old/bench.py::test_b"]), 4);
        assert_eq!(length(&["old/x/a.py::t", "old/xy/a.py::t"]), 4);
        assert_eq!(length(&["a.py::t[x/y]", "old/a.py::t"]), 0);
        assert_eq!(length(&[]), 0);
    }
}
