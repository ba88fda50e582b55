//! Finds the program of a side, and asks it which harness it was written for.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use yamba_harness::{CommandEnd, CommandOutput, ProgramRunner, ProgramStart, Stop, excerpt};

use super::adapter::{Adapter, Program};
use super::adapters;
use crate::Failure;
use crate::commands::in_path;

/// How long a program may take to answer `--help`.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lines of a failed program's output that are shown.
pub(super) const SHOWN_LINES: usize = 8;

/// Bytes of an answer that are read.
const LONGEST_ANSWER: usize = 1 << 20;

/// One of the two programs.
pub(super) struct Side {
    /// `base` or `head`.
    pub name: &'static str,
    pub program: Program,
    /// How it failed when it was asked for its help, if so.
    refusal: Option<String>,
}

impl Side {
    /// Finds the program. Its answer to `--help` is still empty.
    ///
    /// # Errors
    /// If there is no such program.
    pub fn new(
        name: &'static str,
        words: Vec<String>,
        folder: Option<PathBuf>,
    ) -> Result<Side, Failure> {
        let program = words.first().ok_or_else(|| {
            Failure::new(format!("--{name}: there is no program"))
                .help("write a program and its arguments, as './bench --threads 2'")
        })?;
        let file = found(program, folder.as_deref()).ok_or_else(|| {
            Failure::new(format!("--{name}: {program} is not found"))
                .help("write the path of a program, or one that PATH finds")
        })?;
        let mut words = words;
        if folder.is_some() && words[0].contains('/') {
            // `Command` does not define how a relative program is found from another folder.
            let absolute = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
            words[0] = absolute.display().to_string();
        }
        let jars = words.iter().filter(|word| word.ends_with(".jar"));
        let jars = jars.filter_map(|jar| found(jar, folder.as_deref())).collect();
        let program = Program { words, help: String::new(), file: Some(file), folder, jars };
        Ok(Side { name, program, refusal: None })
    }

    /// Whether both sides are one program with one list of arguments.
    pub fn is_like(&self, other: &Side) -> bool {
        self.program.words == other.program.words && self.program.folder == other.program.folder
    }

    /// Asks the program for its help, and removes the empty folder that it may have made meanwhile.
    /// A program of JMH is not started: its jar says what it is.
    ///
    /// # Errors
    /// If a stop is requested.
    pub fn ask(&mut self, stop: &Stop, scratch: &Path) -> Result<(), Failure> {
        let is_jar = self.program.words[0].ends_with(".jar");
        if is_jar || adapters::is_of_jmh(&self.program) {
            return Ok(());
        }
        let output = scratch.join("help");
        // Some programs print their help on standard error.
        let shell = ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1"].map(str::to_owned);
        let words = self.program.with(["--help".to_owned()]);
        let start = ProgramStart {
            words: shell.into_iter().chain(words).collect(),
            folder: self.program.folder.clone(),
            environment: Vec::new(),
            output: CommandOutput::File(output.clone()),
        };
        let storage = self.program.folder.as_deref().unwrap_or(Path::new("."));
        let storage = storage.join(adapters::STORAGE);
        let had_storage = storage.exists();
        let (run, _) = ProgramRunner::new(stop, Some(PATIENCE)).run(&start);
        if !had_storage {
            // A folder with files stays.
            let _ = fs::remove_dir(storage);
        }
        if stop.requested() {
            return Err(
                Failure::new(format!("--{} was stopped", self.name)).help("nothing was measured")
            );
        }
        let mut answer = fs::read(output).unwrap_or_default();
        answer.truncate(LONGEST_ANSWER);
        let has_failed = !run.end.is_success();
        self.refusal = has_failed.then(|| failed(&run.end, &excerpt(&answer, SHOWN_LINES)));
        self.program.help = String::from_utf8_lossy(&answer).into_owned();
        Ok(())
    }

    /// The adapter of its harness.
    ///
    /// # Errors
    /// If it belongs to none that is known.
    pub fn adapter(&self) -> Result<&'static dyn Adapter, Failure> {
        adapters::recognised(&self.program).ok_or_else(|| self.unknown())
    }

    /// The failure of a program that belongs to no known harness.
    pub fn unknown(&self) -> Failure {
        let program = self.program.line();
        if let Some(refusal) = &self.refusal {
            let message =
                format!("--{}: {program} --help, which names its harness, {refusal}", self.name);
            return Failure::new(message).help(
                "run it by itself, and see what is wrong; `yamba ab --adapter NAME` names the harness, and `yamba ab --command` times whole commands",
            );
        }
        let failure = Failure::new(format!("--{}: {program} is of no known harness", self.name));
        if self.program.helps_with(&["PYTEST_ADDOPTS"]) {
            return failure.help(
                "install pytest-benchmark beside pytest (`python3 -m pip install pytest-benchmark`), or time whole commands by `--command`",
            );
        }
        let names = adapters::names().join(", ");
        failure.help(format!(
            "known are {names}; `yamba ab --adapter NAME` forces one, and `yamba ab --command` times whole commands"
        ))
    }
}

/// The file of a word: a path, seen from the folder, or the name of a program in `PATH`.
fn found(word: &str, folder: Option<&Path>) -> Option<PathBuf> {
    if word.contains('/') || word.ends_with(".jar") || word.ends_with(".py") {
        let path = folder.map_or_else(|| PathBuf::from(word), |folder| folder.join(word));
        return path.exists().then_some(path);
    }
    in_path(word)
}

/// How a process ended, with lines of its output.
pub(super) fn failed(end: &CommandEnd, messages: &str) -> String {
    if messages.trim().is_empty() {
        return end.to_string();
    }
    let lines: Vec<String> = messages.lines().map(|line| format!("  {line}")).collect();
    format!("{end}:\n{}", lines.join("\n"))
}
