//! Chooses the compiler, the assembler and the runner for a target.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use yamba_lang::{Analysis, Target};

use super::command::show;
use super::compiler_kind::{self, CompilerKind};
use super::error::BuildError;
use super::python_package;
use super::temporary::temporary_folder;
use super::tool::{Tool, first_line};

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
    pub(super) kind: CompilerKind,
    pub(super) source: CompilerSource,
    pub(super) assembler: Tool,
    /// Compiler options for this kind of compiler, and those that the instruction set's class
    /// specifies.
    pub(super) flags: Vec<String>,
    /// The command prefix that runs the program here.
    pub(super) runner: Vec<String>,
}

/// Where the compiler comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompilerSource {
    /// The environment names it, or it is installed.
    Installed,
    /// No compiler is installed. This is that of the Python package `ziglang`, whose figures
    /// are compared with those of g++ only where needed.
    PythonPackage,
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
        let is_gnu = self.kind == CompilerKind::Gnu;
        if all.any(|f| f.starts_with("-fsanitize"))
            || !is_gnu
            || !has_static_cpp_library(&self.compiler)
        {
            return &[];
        }
        &HOLDS_CPP
    }

    /// The names by which the compiler may call itself in its messages.
    pub(super) fn compiler_names(&self) -> Vec<String> {
        let words = self.compiler.arguments.iter().map(PathBuf::from);
        let names = [self.compiler.path.clone()].into_iter().chain(words);
        names.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
    }

    /// The compiler and its version, for people.
    pub(super) fn title(&self) -> io::Result<String> {
        Ok(self.kind.title(first_line(&self.compiler.version()?)))
    }
}

/// Whether g++ has a static C++ library. Queried once.
fn has_static_cpp_library(compiler: &Tool) -> bool {
    static KNOWN: Mutex<BTreeMap<(PathBuf, Vec<String>), bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = (compiler.path.clone(), compiler.arguments.clone());
    *known.entry(asked).or_insert_with(|| finds_own(compiler, "libstdc++.a"))
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
    /// Whether the target is this machine.
    is_native: bool,
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
        Search { variables, names: [compilers, assemblers], prefix, is_native }
    }

    fn compiler(&self) -> Option<(Tool, CompilerSource)> {
        let installed = self.find(0).map(|tool| (tool, CompilerSource::Installed));
        installed.or_else(|| {
            let may_search = self.is_native && from_environment(&self.variables[0]).is_none();
            let packaged = may_search.then(python_package::compiler)??;
            Some((packaged, CompilerSource::PythonPackage))
        })
    }

    /// The assembler; `compiler` is its driver if there is no program of its own.
    fn assembler(&self, compiler: Option<&Tool>) -> Option<Tool> {
        self.find(1).or_else(|| compiler.map(through_compiler))
    }

    fn find(&self, which: usize) -> Option<Tool> {
        let named = from_environment(&self.variables[which]);
        named.map_or_else(|| first_of(&self.names[which]), |named| Tool::find_command(&named))
    }
}

/// The assembler for `target`; `None` without one on this machine.
pub(super) fn assembler(analysis: &Analysis, target: &Target) -> Option<Tool> {
    let search = Search::new(analysis, target);
    search.assembler(search.compiler().map(|(compiler, _)| compiler).as_ref())
}

pub(super) fn choose(analysis: &Analysis, target: &Target) -> Result<Toolchain, BuildError> {
    let property = |name: &str| analysis.isa_property(&target.isa, name).unwrap_or_default();
    let search = Search::new(analysis, target);
    let [variable, _] = &search.variables;
    let Some((compiler, source)) = search.compiler() else {
        let [names, _] = &search.names;
        return Err(missing(target, variable, names.clone(), &search.prefix));
    };
    let kind =
        compiler_kind::find(&compiler).map_err(|why| no_compiler(&compiler, variable, &why))?;
    let assembler = search.assembler(Some(&compiler));
    let assembler = assembler.unwrap_or_else(|| through_compiler(&compiler));
    let runs_here = runs_here(analysis, target);
    let mut flags = usual_options(kind, &compiler);
    flags.extend(property("compiler_flags").split_whitespace().map(str::to_owned));
    let loader = property("loader");
    // An emulator would have to find libraries, too.
    let is_dynamic = loader.is_empty()
        || (runs_here && Path::new(&loader).exists() && starts(&compiler, &flags));
    if !is_dynamic {
        flags.push("-static".to_owned());
    }
    Ok(Toolchain { compiler, kind, source, assembler, flags, runner: runner(analysis, target) })
}

/// Whether programs for `target` run on this processor and system.
fn runs_here(analysis: &Analysis, target: &Target) -> bool {
    let host = host();
    let native_on = analysis.isa_property(&target.isa, "native_on").unwrap_or_default();
    *target == host || native_on.split_whitespace().any(|isa| isa == host.isa)
}

/// The command prefix that runs programs for `target` here: an emulator, or nothing.
pub fn runner(analysis: &Analysis, target: &Target) -> Vec<String> {
    let emulator = analysis.isa_property(&target.isa, "emulator").unwrap_or_default();
    let is_needed = !runs_here(analysis, target) && !emulator.is_empty();
    is_needed.then_some(emulator).into_iter().collect()
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

/// The options for this kind of compiler, unless it has some for a processor.
fn usual_options(kind: CompilerKind, compiler: &Tool) -> Vec<String> {
    let chooses_processor = |word: &String| ["-mcpu", "-march"].iter().any(|o| word.starts_with(o));
    let has_processor = compiler.arguments.iter().any(chooses_processor);
    let options = kind.usual_options().iter().map(|option| (*option).to_owned());
    options.filter(|option| !(has_processor && chooses_processor(option))).collect()
}

/// A command line that the environment names, such as `CXX="ccache g++"`.
fn from_environment(variable: &str) -> Option<String> {
    let value = env::var_os(variable)?.to_string_lossy().trim().to_owned();
    (!value.is_empty()).then_some(value)
}

fn first_of(names: &[String]) -> Option<Tool> {
    names.iter().find_map(|name| Tool::find(std::slice::from_ref(name)))
}

/// The error for a program that is no C++ compiler.
fn no_compiler(compiler: &Tool, variable: &str, why: &str) -> BuildError {
    // Without temporary files no compiler can be asked.
    if let Err(fault) = temporary_folder() {
        return fault;
    }
    let command = show(&compiler.command());
    let help = match from_environment(variable) {
        Some(_) => {
            format!("{variable} must name g++, clang++ or a compiler that takes their options")
        }
        None => format!("install it again, or name a compiler with {variable}"),
    };
    BuildError::Setting { fault: format!("`{command}` is no C++ compiler: {why}"), help }
}

fn missing(target: &Target, variable: &str, mut tried: Vec<String>, prefix: &str) -> BuildError {
    if let Some(named) = from_environment(variable) {
        // No prebuilt program and no other compiler replaces what the user chose.
        let program = named.split_whitespace().next().unwrap_or_default();
        return BuildError::Setting {
            fault: format!("{variable}={named}: there is no program `{program}`"),
            help: format!("correct {variable}, or unset it"),
        };
    }
    let help = match prefix.trim_end_matches('-') {
        "" if *target == host() => python_package::how_to_get_compiler(),
        "" => format!("name a compiler that builds for {target} with {variable}"),
        triple => format!(
            "install one (Debian: apt install g++-{}), or name one with {variable}",
            triple.replace('_', "-")
        ),
    };
    tried.push(format!("${variable}"));
    BuildError::MissingCompiler { target: target.clone(), tried, help }
}

#[cfg(test)]
mod tests {
    use super::*;

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
