//! pytest-benchmark, a plug-in of pytest: <https://pytest-benchmark.readthedocs.io>.

use std::path::{Path, PathBuf};

use yamba_harness::CommandRun;

use super::super::adapter::{Adapter, Launch, Program, Results, Start, read_file};

/// The folder for results that the plug-in makes even for `--help`, unless an option names another.
pub(in super::super) const STORAGE: &str = ".benchmarks";

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

    /// A name begins with the path of its file. Both sides may lie in different folders: the names
    /// lose the folder that the user's arguments have in common. The common folder of the results
    /// may differ between the sides, and between processes.
    fn read(
        &self,
        program: &Program,
        start: &Start,
        _ended: &CommandRun,
    ) -> Result<Results, String> {
        let mut results = read_file(&start.results)?;
        let folder = folder_of(program);
        for reading in &mut results.readings {
            let at = length_within(&folder, &reading.entry.name);
            let short = reading.entry.name.split_off(at);
            reading.entry.declaration.class.clone_from(&short);
            reading.entry.name = short;
        }
        Ok(results)
    }
}

/// Options whose value is the next word, which may be the name of a file.
const WITH_VALUE: [&str; 14] = [
    "-c",
    "-k",
    "-m",
    "-n",
    "-o",
    "-p",
    "-r",
    "-W",
    "--basetemp",
    "--confcutdir",
    "--deselect",
    "--ignore",
    "--junit-xml",
    "--rootdir",
];

/// The folder of all files and folders among the arguments: the present one without any.
fn folder_of(program: &Program) -> PathBuf {
    let here = std::path::absolute(program.folder.as_deref().unwrap_or(Path::new(".")));
    let here = here.unwrap_or_default();
    let is_pytest = |word: &String| {
        Path::new(word).file_name().is_some_and(|name| name == "pytest" || name == "py.test")
    };
    let first = program.words.iter().position(is_pytest).map_or(1, |at| at + 1);
    let mut common: Option<PathBuf> = None;
    let mut is_value = false;
    for word in program.words.iter().skip(first) {
        let is_argument = !is_value && !word.starts_with('-');
        is_value = !is_value && WITH_VALUE.contains(&word.as_str());
        let path = here.join(word.split("::").next().unwrap_or(word));
        let Some(path) = path.canonicalize().ok().filter(|_| is_argument) else {
            continue;
        };
        let folder = if path.is_dir() { &path } else { path.parent().unwrap_or(&path) };
        common = Some(common.map_or_else(|| folder.to_owned(), |known| shared(&known, folder)));
    }
    common.unwrap_or_else(|| here.canonicalize().unwrap_or(here))
}

/// The folder that both paths lie in.
fn shared(x: &Path, y: &Path) -> PathBuf {
    x.components().zip(y.components()).take_while(|(x, y)| x == y).map(|(part, _)| part).collect()
}

/// Bytes at the beginning of a name that are the end of the path of the folder. The name's path
/// begins in a folder above it, which pytest chooses.
fn length_within(folder: &Path, name: &str) -> usize {
    let file = name.split("::").next().unwrap_or(name);
    let slashes = file.rmatch_indices('/').map(|(at, _)| at);
    slashes.into_iter().find(|at| folder.ends_with(&file[..*at])).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_folder_of_the_arguments() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["old/a/test_x.py", "old/b/test_y.py", "pytest.ini"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let short = |line: &str, name: &'static str| {
            let words = line.split(' ').map(str::to_owned).collect();
            let folder = Some(folder.path().to_owned());
            let program = Program { words, folder, ..Program::default() };
            &name[length_within(&folder_of(&program), name)..]
        };
        for (line, name, expected) in [
            ("pytest -q old", "old/a/test_x.py::t[x/y]", "a/test_x.py::t[x/y]"),
            ("python3 -m pytest old/a", "old/a/test_x.py::t", "test_x.py::t"),
            ("pytest old/a/test_x.py::t", "old/a/test_x.py::t", "test_x.py::t"),
            ("pytest old/a old/b/test_y.py", "old/b/test_y.py::t", "b/test_y.py::t"),
            // The root of pytest is the folder itself.
            ("pytest old", "a/test_x.py::t", "a/test_x.py::t"),
            ("pytest -c pytest.ini old/a", "old/a/test_x.py::t", "test_x.py::t"),
            ("pytest", "old/a/test_x.py::t", "old/a/test_x.py::t"),
        ] {
            assert_eq!(short(line, name), expected, "{line}");
        }
    }
}
