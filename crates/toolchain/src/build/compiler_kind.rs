//! The kind of a compiler, which decides the options that it takes.
//!
//! The compiler itself says it, by its macros. Names do not: on macOS `g++` is clang++, and a
//! wrapper script may have any name.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::key::Key;
use super::messages::Columns;
use super::tool::Tool;
use crate::embedded;

/// Compilers that take the same options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompilerKind {
    Gnu,
    /// `zig c++`: clang++ with a linker and libraries of its own.
    Zig,
    /// clang++, and compilers that take the options that it shares with g++.
    Other,
}

impl CompilerKind {
    /// The unit in which this compiler counts columns.
    pub(super) fn columns(self) -> Columns {
        match self {
            CompilerKind::Gnu => Columns::Characters,
            CompilerKind::Zig | CompilerKind::Other => Columns::Bytes,
        }
    }

    /// Options without which this compiler would make programs that cannot be compared with those
    /// of others: it compiles for the processor at hand, without `assert`, and at `-O0` with checks
    /// of undefined behaviour. Options of the user follow these.
    pub(super) fn usual_options(self) -> &'static [&'static str] {
        match self {
            CompilerKind::Zig => &["-mcpu=baseline", "-fno-sanitize=undefined", "-UNDEBUG"],
            CompilerKind::Gnu | CompilerKind::Other => &[],
        }
    }

    /// Whether its linker lists the files that it reads.
    pub(super) fn lists_linked_files(self) -> bool {
        self != CompilerKind::Zig
    }

    /// The value of `-march` for a processor that g++ and clang++ call `name`.
    pub(super) fn processor(self, name: &str) -> String {
        match self {
            CompilerKind::Zig => name.replace('-', "_"),
            CompilerKind::Gnu | CompilerKind::Other => name.to_owned(),
        }
    }

    /// The text for people of a compiler with this first line of `--version`.
    pub(super) fn title(self, version_line: &str) -> String {
        match self {
            CompilerKind::Zig => format!("zig c++ ({version_line})"),
            CompilerKind::Gnu | CompilerKind::Other => version_line.to_owned(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            CompilerKind::Gnu => "gnu",
            CompilerKind::Zig => "zig",
            CompilerKind::Other => "other",
        }
    }
}

/// A C++ file of which a preprocessor leaves one line. clang++ defines `__GNUC__`, too, and so do
/// compilers of EDG. Only zig defines a macro of the C++ library before a header is read.
const QUESTION: &str = "#if defined __clang__ && defined _LIBCPP_ABI_VERSION
yamba compiler zig
#elif defined __clang__ || defined __EDG__
yamba compiler other
#elif defined __GNUC__ && defined __cplusplus
yamba compiler gnu
#endif
";

/// The kind of the compiler `tool`, asked once per process. It is kept in the cache for the version
/// of the compiler, because a preprocessor takes several times as long as `--version`.
///
/// # Errors
/// Why it is no C++ compiler.
pub(super) fn find(tool: &Tool) -> Result<CompilerKind, String> {
    type Known = BTreeMap<(PathBuf, Vec<String>), Result<CompilerKind, String>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = (tool.path.clone(), tool.arguments.clone());
    known.entry(asked).or_insert_with(|| find_kept(tool)).clone()
}

fn find_kept(tool: &Tool) -> Result<CompilerKind, String> {
    let place = place(tool);
    let text = place.as_ref().ok().and_then(|place| fs::read_to_string(place).ok());
    if let Some(kind) = text.and_then(|text| kind_in(&text)) {
        return Ok(kind);
    }
    let kind = ask(tool)?;
    if let Ok(place) = place {
        // Without the file, only the next start is slower.
        let _ = keep(&place, kind);
    }
    Ok(kind)
}

/// The file that keeps the kind of this compiler, at its present version.
fn place(tool: &Tool) -> io::Result<PathBuf> {
    let mut key = Key::new();
    key.add(QUESTION);
    key.add_tool(tool)?;
    key.add(&tool.version()?);
    Ok(embedded::cache_root()?.join("compilers").join(key.finish()))
}

fn keep(place: &Path, kind: CompilerKind) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "yamba compiler {}", kind.word())?;
    file.persist(place).map_err(|e| e.error)?;
    Ok(())
}

fn ask(tool: &Tool) -> Result<CompilerKind, String> {
    let cannot_start = |e| format!("it cannot be started: {e}");
    let output = answer(tool, &["-E", "-P"]).map_err(cannot_start)?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let why = errors.lines().map(str::trim).find(|line| !line.is_empty());
        return Err(why.map_or_else(|| output.status.to_string(), str::to_owned));
    }
    let kind = kind_in(&text);
    let kind = kind.ok_or("its preprocessor has the macros of no known compiler")?;
    // gcc and clang compile C++ too, and leave out its library.
    let commands = answer(tool, &["-###"]).map_err(cannot_start)?;
    if links_only_c(&String::from_utf8_lossy(&commands.stderr)) {
        return Err("it links programs without the C++ library".to_owned());
    }
    Ok(kind)
}

/// The output of the compiler with these options for a file that has [`QUESTION`].
fn answer(tool: &Tool, options: &[&str]) -> io::Result<std::process::Output> {
    let folder = tempfile::tempdir()?;
    let question = folder.path().join("question.cc");
    fs::write(&question, QUESTION)?;
    tool.command().args(options).args(["-x", "c++"]).arg(question).output()
}

/// Whether the commands that a driver would run (`-###`) link the C library and no library of C++.
/// Other texts than such commands are no reason to refuse a compiler.
fn links_only_c(commands: &str) -> bool {
    let words = || commands.split_whitespace().map(|word| word.trim_matches('"'));
    let is_cpp = |word: &str| ["stdc++", "c++", "cxx"].iter().any(|end| word.contains(end));
    let is_library = |word: &str| word.starts_with("-l") || word.contains("/lib");
    words().any(|word| word == "-lc") && !words().any(|word| is_library(word) && is_cpp(word))
}

/// The kind in a preprocessed [`QUESTION`]; `None` unless it has exactly one line, with a kind.
fn kind_in(text: &str) -> Option<CompilerKind> {
    let text = text.trim_start_matches('\u{feff}');
    // A compiler may ignore `-P`.
    let is_line = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut lines = text.lines().map(str::trim).filter(is_line);
    let word = lines.next()?.strip_prefix("yamba compiler ")?;
    let all = [CompilerKind::Gnu, CompilerKind::Zig, CompilerKind::Other];
    let kind = all.into_iter().find(|kind| kind.word() == word)?;
    lines.next().is_none().then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_answer_gives_the_same_kind_or_none() {
        let text = "# 1 \"question.cc\"\n\nyamba compiler other\n";
        assert_eq!(kind_in(text), Some(CompilerKind::Other));
        let form = yamba_mutants::Form { separator: " ", fields: &["gnu2", "compile", "zi"] };
        for mutant in yamba_mutants::text(text, form, 73, 10_000) {
            let read = kind_in(&mutant.text);
            if mutant.change.keeps_figures() {
                assert_eq!(read, Some(CompilerKind::Other), "{mutant:?}");
            }
            assert!(read.is_none_or(|kind| kind == CompilerKind::Other), "{mutant:?}");
        }
        for strange in ["", "yamba compiler\n", QUESTION, "yamba compiler gnu\nint x;\n"] {
            assert_eq!(kind_in(strange), None, "{strange}");
        }
    }

    #[test]
    fn drivers_of_c_link_no_library_of_cpp() {
        for (commands, is_c) in [
            (" collect2 -pie /lib/crt1.o /tmp/x.o \"-lgcc\" -lc -lgcc", true),
            (" \"/usr/bin/ld\" \"/tmp/x.o\" \"-lstdc++\" \"-lm\" \"-lc\"", false),
            (" \"/usr/bin/ld\" \"/tmp/x.o\" \"-lc++\" \"-lc\"", false),
            (" ld.lld /cache/libc++.a /tmp/x.o -lc", false),
            ("unknown option -###", false),
        ] {
            assert_eq!(links_only_c(commands), is_c, "{commands}");
        }
    }

    #[test]
    #[ignore = "needs g++"]
    fn gcc_without_the_library_is_refused() {
        assert!(ask(&tool("gcc")).unwrap_err().contains("without the C++ library"));
        assert_eq!(ask(&tool("gcc -lstdc++")), Ok(CompilerKind::Gnu));
    }

    fn tool(name: &str) -> Tool {
        Tool::find_command(name).unwrap_or_else(|| panic!("no {name}"))
    }

    #[test]
    #[ignore = "needs g++"]
    fn gcc_is_gnu() {
        assert_eq!(ask(&tool("g++")), Ok(CompilerKind::Gnu));
    }

    #[test]
    #[ignore = "needs clang++"]
    fn clang_is_other() {
        assert_eq!(ask(&tool("clang++")), Ok(CompilerKind::Other));
    }

    #[test]
    fn program_that_is_no_compiler_has_no_kind() {
        assert!(ask(&tool("true")).unwrap_err().contains("no known compiler"));
        assert!(ask(&tool("false")).unwrap_err().contains("exit status: 1"));
        let unstartable = Tool::find_command("/etc/passwd").unwrap();
        assert!(ask(&unstartable).unwrap_err().contains("cannot be started"));
    }
}
