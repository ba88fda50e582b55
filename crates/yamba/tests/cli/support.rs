//! Runs the command for all command-line tests, through [`Yamba`].

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use yamba_child_guard::{Guarded, StartGuarded};

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A working folder and a prepared `yamba` command, with a cache that all tests share.
pub struct Yamba {
    pub folder: tempfile::TempDir,
    command: Command,
}

/// The exit status and output of a command.
pub struct Answer {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Yamba {
    pub fn new() -> Yamba {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_yamba"));
        command.current_dir(folder.path()).stdin(Stdio::null());
        command
            .env("YAMBA_HOME", root())
            .env("YAMBA_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        command.env("YAMBA_STORE", folder.path().join("results.sqlite"));
        // Tests of other things hold on a busy host, too.
        command.env("YAMBA_NEIGHBOURS", "count");
        // `cargo test` sets LD_LIBRARY_PATH. It is an input of every program, and each of cargo's
        // packages has another value.
        for variable in ["NO_COLOR", "CXX", "TERM", "LD_LIBRARY_PATH"] {
            command.env_remove(variable);
        }
        Yamba { folder, command }
    }

    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Yamba {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Yamba {
        self.command.env(name, value);
        self
    }

    pub fn without(mut self, name: &str) -> Yamba {
        self.command.env_remove(name);
        self
    }

    /// Runs `yamba` with words separated by spaces.
    pub fn run(&mut self, words: &str) -> Answer {
        self.run_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_words(&mut self, words: &[&str]) -> Answer {
        Answer::read(self.command(words).output().unwrap())
    }

    /// The command itself, for tests that need more than its output.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.surrounded(self.command.get_program());
        command.args(words);
        command
    }

    /// Starts the command beside the test, without its output.
    pub fn begin(&self, words: &[&str]) -> Guarded {
        let mut command = self.command(words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.start()
    }

    /// Another program in the same environment, which finds `yamba` through `PATH`.
    pub fn other(&self, program: &str) -> Command {
        let own = Path::new(self.command.get_program()).parent().unwrap();
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(own.to_owned()).chain(std::env::split_paths(&paths));
        let mut command = self.surrounded(program);
        command.env("PATH", std::env::join_paths(all).unwrap());
        command
    }

    /// Another program in the same environment.
    pub fn surrounded(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }
}

impl Answer {
    pub fn read(output: Output) -> Answer {
        Answer {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn ok(self) -> Answer {
        assert_eq!(self.status, 0, "{}{}", self.out, self.err);
        self
    }

    /// Expects status 2, nothing on standard output, and on standard error all of `parts` and help.
    #[track_caller]
    pub fn refused(self, parts: &[&str]) -> Answer {
        assert_eq!((self.status, self.out.as_str()), (2, ""), "{}", self.err);
        assert!(has_help(&self.err), "no help in\n{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "no `{part}` in\n{}", self.err);
        }
        self
    }

    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Answer {
        for part in parts {
            assert!(self.out.contains(part), "no `{part}` in\n{}", self.out);
        }
        self
    }
}

/// Whether an error message includes help, either on its own line or within the sentence.
fn has_help(err: &str) -> bool {
    let is_help = |line: &str| {
        let text = line.trim_start_matches([' ', '|', '=']);
        text.starts_with("help: ")
    };
    let is_of_reader = err.contains("For more information, try '--help'.");
    err.lines().any(is_help)
        || is_of_reader && OF_READER.iter().any(|words| err.contains(words))
        || WITHIN.iter().any(|words| err.contains(words))
}

/// Texts of the argument parser that count as help beside its closing line "For more information";
/// the last two belong to rejected values.
const OF_READER: [&str; 4] = ["tip: ", "Usage: yamba ", "[possible values: ", ": write "];

/// Phrases that name the accepted or available values. Compiler messages about the author's
/// underlined text also count, since only the author knows the correct text.
const WITHIN: [&str; 9] = [
    ": it must be ",
    "; it must be ",
    "; it has ",
    ": after ssh: stands ",
    ": a port is written as in ",
    "the C++ compiler says: ",
    "the assembler for ",
    "; write the bound in ",
    "Usage: yamba <COMMAND>",
];

/// Processes whose environment has this folder as `TMPDIR`: a run started there, and its
/// descendants.
pub fn processes_of(folder: &Path) -> Vec<u32> {
    let told = format!("TMPDIR={}\0", folder.display());
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut places = environment.windows(told.len());
        places.any(|w| w == told.as_bytes())
    })
    .collect()
}

/// Waits until `holds` is true. The limit only ends a test that would never end: no busy machine
/// reaches it.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(600), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Fails if a program is missing. A path stands for itself.
#[track_caller]
pub fn needs(programs: &[&str]) {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    for program in programs {
        let is_here = std::env::split_paths(&paths).any(|p| p.join(program).is_file());
        assert!(is_here, "{program} is missing: scripts/install-missing test installs it");
    }
}

/// A class with many points.
pub const MANY: &str = "yamba many extends Latency
{
    param int size = 1 over linear(1, 200, 1);
    volatile int sum;
    void benchmark(iter_t iterations) { while (iterations-- > 0) sum = sum + size; }
}
";

/// The document of a run that no store took, in this folder of temporary files.
pub fn rescued(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files = files.filter_map(|path| path.to_str().map(str::to_owned));
    files.find(|path| path.contains("/yamba-run-") && path.ends_with(".json")).unwrap()
}

/// The JSON document that a command prints.
pub fn json(yamba: &mut Yamba, words: &str) -> Value {
    serde_json::from_str(&yamba.run(words).ok().out).unwrap()
}

/// Runs `yamba` with another command as a prefix, such as `taskset` or `sh -c 'ulimit ...'`.
pub fn behind(words: &[&str], yamba: &Yamba, arguments: &[&str]) -> Answer {
    let inner = yamba.command(arguments);
    let mut command = yamba.surrounded(words[0]);
    command.args(&words[1..]).arg(inner.get_program());
    command.args(inner.get_args());
    Answer::read(command.output().unwrap())
}

/// An element of a column: one value, or a value and its number of repetitions.
fn repeated(element: &serde_json::Value) -> Vec<serde_json::Value> {
    match element.as_array().map(Vec::as_slice) {
        Some([value, count]) => vec![value.clone(); count.as_u64().unwrap() as usize],
        _ => vec![element.clone()],
    }
}

/// A column of an entry's batches in a document, a value for each batch. `of` is one field, or two
/// with a `/` between them.
pub fn column(entry: &serde_json::Value, of: &str) -> Vec<serde_json::Value> {
    let batches = &entry["batches"];
    let count = batches["ns"].as_array().unwrap_or_else(|| panic!("{entry:#}")).len();
    match batches.pointer(&format!("/{of}")) {
        Some(serde_json::Value::Array(each)) => each.iter().flat_map(repeated).collect(),
        Some(shared) => vec![shared.clone(); count],
        None => vec![0.into(); count],
    }
}
