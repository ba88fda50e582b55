//! Chooses the compiler, the assembler and the runner for a target.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use yamba_lang::{Analysis, Target};
use yamba_machine::locale::plain;

use super::error::BuildError;
use super::messages::Columns;

/// The target of this machine. Yamba's names are Rust's, except where a more common name exists.
pub fn host() -> Target {
    let isa = match env::consts::ARCH {
        "x86" => "x86_32",
        other => other,
    };
    let system = match env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    Target { isa: isa.to_owned(), system: system.to_owned() }
}

/// A program and its fixed arguments.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Whether it starts without the environment variables that name header folders.
    pub(super) ignores_header_variables: bool,
}

/// Environment variables that name header folders for g++ and clang++.
pub(super) const HEADER_VARIABLES: [&str; 5] =
    ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "OBJCPLUS_INCLUDE_PATH"];

impl Tool {
    /// A command of this program, whose messages are English.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        plain(&mut command);
        command.args(&self.arguments);
        if self.ignores_header_variables {
            for name in HEADER_VARIABLES {
                command.env_remove(name);
            }
        }
        command
    }

    /// The output of `--version`, queried once per process. A wrapper script may start another
    /// compiler later, so the result is not cached on disk.
    pub(super) fn version(&self) -> io::Result<String> {
        static KNOWN: Mutex<BTreeMap<(PathBuf, Vec<String>), String>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = (self.path.clone(), self.arguments.clone());
        if let Some(version) = known.get(&asked) {
            return Ok(version.clone());
        }
        let mut command = self.command();
        let output = command.arg("--version").output()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        known.insert(asked, version.clone());
        Ok(version)
    }

    /// The unit in which this compiler counts columns: that of g++, or that of clang++. Names do
    /// not tell: on macOS, `g++` is clang++.
    pub(super) fn columns(&self) -> Columns {
        match self.version() {
            Ok(version) if !is_gnu(&version) => Columns::Bytes,
            _ => Columns::Characters,
        }
    }

    /// The first line of the version, for people; `unknown version` without one.
    pub(super) fn version_line(&self) -> io::Result<String> {
        Ok(first_line(&self.version()?).to_owned())
    }
}

/// Whether `--version` printed the notice of a GNU program. Distributions change only the line
/// before it.
fn is_gnu(version: &str) -> bool {
    version.contains("Free Software Foundation")
}

/// The first line of a version that is not empty.
pub(super) fn first_line(version: &str) -> &str {
    let text = version.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or("unknown version")
}

/// The lines of `/proc/cpuinfo` that determine the meaning of `native` for a compiler.
pub(super) fn native_processor(cpuinfo: &str) -> BTreeSet<&str> {
    const NAMES: [&str; 16] = [
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "cache size",
        "flags",
        "Features",
        "CPU implementer",
        "CPU variant",
        "CPU part",
        "mvendorid",
        "marchid",
        "mimpid",
        "isa",
        "uarch",
    ];
    let name = |line: &str| line.split(':').next().unwrap_or_default().trim().to_owned();
    cpuinfo.lines().filter(|line| NAMES.contains(&name(line).as_str())).collect()
}

/// The tools that build and run programs for a target.
#[derive(Clone, Debug)]
pub(super) struct Toolchain {
    pub(super) compiler: Tool,
    pub(super) assembler: Tool,
    /// Compiler options that the instruction set's class specifies.
    pub(super) flags: Vec<String>,
    /// The command prefix that runs the program here.
    pub(super) runner: Vec<String>,
}

/// Options that link g++'s C++ library statically. Linking then takes half as long, and the program
/// starts sooner.
pub(super) const HOLDS_CPP: [&str; 2] = ["-static-libstdc++", "-static-libgcc"];

impl Toolchain {
    /// Options that choose the C++ library's form for a program that runs on this machine. Some
    /// distributions ship only the shared form. A sanitizer's own shared library does not work with
    /// the static one.
    pub(super) fn cpp_library(&self, flags: &[String]) -> &'static [&'static str] {
        let mut all = self.compiler.arguments.iter().chain(&self.flags).chain(flags);
        if all.any(|f| f.starts_with("-fsanitize")) || !has_static_cpp_library(&self.compiler) {
            return &[];
        }
        &HOLDS_CPP
    }
}

/// Whether `compiler` is g++ and has a static C++ library. Queried once.
fn has_static_cpp_library(compiler: &Tool) -> bool {
    static KNOWN: Mutex<BTreeMap<(PathBuf, Vec<String>), bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = (compiler.path.clone(), compiler.arguments.clone());
    *known.entry(asked).or_insert_with(|| {
        compiler.columns() == Columns::Characters && finds_own(compiler, "libstdc++.a")
    })
}

/// Whether g++ finds its own `library`: it prints the path of a library that it finds, and
/// otherwise just the name.
fn finds_own(compiler: &Tool, library: &str) -> bool {
    let asked = format!("-print-file-name={library}");
    let Ok(output) = compiler.command().arg(asked).output() else {
        return false;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success() && text.trim().ends_with(&format!("/{library}"))
}

/// Where the compiler and the assembler of a target are searched.
struct Search {
    /// The variables that name a compiler and an assembler.
    variables: [String; 2],
    /// The names of compilers and assemblers to try.
    names: [Vec<String>; 2],
    /// The prefix of the tools that build for the target; empty where none is known.
    prefix: String,
}

impl Search {
    fn new(analysis: &Analysis, target: &Target) -> Search {
        let host = host();
        let is_native = *target == host;
        let prefix = if is_native || target.system != host.system {
            // A prefix names the tools of an instruction set for this machine's system.
            String::new()
        } else {
            let prefix = analysis.isa_property(&target.isa, "toolchain");
            prefix.unwrap_or_default()
        };
        let mut compilers = Vec::new();
        let mut assemblers = Vec::new();
        // Without a prefix the host's tools would build for the wrong machine.
        if is_native || !prefix.is_empty() {
            compilers.extend(["g++", "clang++"].map(|n| format!("{prefix}{n}")));
            compilers.extend(is_native.then(|| "c++".to_owned()));
            assemblers.push(format!("{prefix}as"));
        }
        let variables = if is_native {
            ["CXX", "AS"].map(str::to_owned)
        } else {
            ["CXX", "AS"].map(|name| format!("{name}_{}", target.isa))
        };
        Search { variables, names: [compilers, assemblers], prefix }
    }

    fn compiler(&self) -> Option<Tool> {
        self.find(0)
    }

    /// The assembler; `compiler` is its driver if there is no program of its own.
    fn assembler(&self, compiler: Option<&Tool>) -> Option<Tool> {
        self.find(1).or_else(|| compiler.map(through_compiler))
    }

    fn find(&self, which: usize) -> Option<Tool> {
        let named = from_environment(&self.variables[which]);
        named.map_or_else(|| first_of(&self.names[which]), |named| find(&named))
    }
}

/// The assembler for `target`; `None` without one on this machine.
pub(super) fn assembler(analysis: &Analysis, target: &Target) -> Option<Tool> {
    let search = Search::new(analysis, target);
    search.assembler(search.compiler().as_ref())
}

pub(super) fn choose(analysis: &Analysis, target: &Target) -> Result<Toolchain, BuildError> {
    let property = |name: &str| analysis.isa_property(&target.isa, name).unwrap_or_default();
    let host = host();
    let is_native = *target == host;
    let search = Search::new(analysis, target);
    let Some(compiler) = search.compiler() else {
        let [variable, _] = &search.variables;
        let [names, _] = &search.names;
        return Err(missing(target, variable, names.clone(), &search.prefix));
    };
    let assembler = search.assembler(Some(&compiler));
    let assembler = assembler.unwrap_or_else(|| through_compiler(&compiler));
    let runs_here =
        is_native || property("native_on").split_whitespace().any(|isa| isa == host.isa);
    let emulator = property("emulator");
    let flags = property("compiler_flags");
    let mut flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
    let loader = property("loader");
    // An emulator would have to find libraries, too.
    let is_dynamic = loader.is_empty()
        || (runs_here && Path::new(&loader).exists() && starts(&compiler, &flags));
    if !is_dynamic {
        flags.push("-static".to_owned());
    }
    Ok(Toolchain {
        compiler,
        assembler,
        flags,
        runner: if runs_here || emulator.is_empty() { Vec::new() } else { vec![emulator] },
    })
}

/// Whether a program that loads the compiler's C library starts here. The machine may have an older
/// one. Tried once.
fn starts(compiler: &Tool, flags: &[String]) -> bool {
    static KNOWN: Mutex<BTreeMap<(PathBuf, Vec<String>), bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let words = [compiler.arguments.as_slice(), flags].concat();
    let tried = (compiler.path.clone(), words);
    *known.entry(tried).or_insert_with(|| try_start(compiler, flags).unwrap_or(false))
}

fn try_start(compiler: &Tool, flags: &[String]) -> io::Result<bool> {
    let folder = tempfile::tempdir()?;
    let [source, program] = ["main.cc", "main"].map(|name| folder.path().join(name));
    fs::write(&source, "#include <stdio.h>\nint main() { return puts(\"\") == EOF; }\n")?;
    let mut command = compiler.command();
    command.args(flags).arg(&source).arg("-o").arg(&program);
    Ok(command.output()?.status.success() && Command::new(&program).output()?.status.success())
}

/// Uses the compiler driver as the assembler.
fn through_compiler(compiler: &Tool) -> Tool {
    let mut tool = compiler.clone();
    tool.arguments.extend(["-c", "-x", "assembler"].map(str::to_owned));
    tool
}

/// Splits a variable such as `CXX="ccache g++"` into program and arguments.
fn from_environment(variable: &str) -> Option<Vec<String>> {
    let value = env::var(variable).ok()?;
    let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

fn find(words: &[String]) -> Option<Tool> {
    let path = in_path(&words[0])?;
    Some(Tool { path, arguments: words[1..].to_vec(), ignores_header_variables: false })
}

fn first_of(names: &[String]) -> Option<Tool> {
    names.iter().find_map(|name| find(std::slice::from_ref(name)))
}

/// Resolves a program name: a path as it is, or a name through `PATH`.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return path.is_file().then_some(path);
    }
    let folders = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn missing(target: &Target, variable: &str, mut tried: Vec<String>, prefix: &str) -> BuildError {
    let named = from_environment(variable);
    let help = match (&named, prefix.trim_end_matches('-')) {
        (Some(_), _) => format!("{variable} names a program that does not exist"),
        (None, "") if *target == host() => {
            "install g++ (Debian: apt install g++) or clang++, or name a compiler with CXX"
                .to_owned()
        }
        (None, "") => format!("name a compiler that builds for {target} with {variable}"),
        (None, triple) => format!(
            "install one (Debian: apt install g++-{}), or name one with {variable}",
            triple.replace('_', "-")
        ),
    };
    match named {
        Some(words) => tried = vec![words[0].clone()],
        None => tried.push(format!("${variable}")),
    }
    BuildError::MissingCompiler { target: target.clone(), tried, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_told_apart_by_their_notice() {
        let notice = "Copyright (C) 2023 Free Software Foundation, Inc.\n";
        for (version, is_gcc, line) in [
            (
                format!("g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\r\n{notice}"),
                true,
                "g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0",
            ),
            (
                format!(
                    "\u{feff}x86_64-conda-linux-gnu-c++ (conda-forge gcc 13.2.0-7) 13.2.0\n{notice}"
                ),
                true,
                "x86_64-conda-linux-gnu-c++ (conda-forge gcc 13.2.0-7) 13.2.0",
            ),
            (
                "Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64-pc-linux-gnu\n".to_owned(),
                false,
                "Ubuntu clang version 18.1.3 (1ubuntu1)",
            ),
            (
                "Apple clang version 15.0.0 (clang-1500.3.9.4)\n".to_owned(),
                false,
                "Apple clang version 15.0.0 (clang-1500.3.9.4)",
            ),
            (String::new(), false, "unknown version"),
        ] {
            assert_eq!(is_gnu(&version), is_gcc, "{version}");
            assert_eq!(first_line(&version), line);
        }
    }

    #[test]
    fn native_processor_differs_by_flags_and_not_by_frequency() {
        let cpuinfo = "processor\t: 0\nmodel name\t: X\ncpu MHz\t\t: 2000.1\nflags\t\t: avx2\n";
        let here = native_processor(cpuinfo);
        let faster = cpuinfo.replace("2000.1", "3000.2");
        assert_eq!(here, native_processor(&faster));
        let other = cpuinfo.replace("avx2", "avx2 avx512f");
        assert_ne!(here, native_processor(&other));
    }
}
