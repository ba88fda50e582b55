//! The compiler's command lines for one program, and for the files that all programs of a target
//! share.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::run::{Flags, UserFlags};

use super::cache::Cache;
use super::compiler_kind::CompilerKind;
use super::error::BuildError;
use super::link_words::link_words;
use super::options::BuildOptions;
use super::search;
use super::snapshot_includes::{self, LaidOut};
use super::toolchain::{self, HOLDS_CPP, Toolchain};
use super::user_flags::{self, LinkedName};
use crate::{embedded, provenance};

/// Aligns hot loops to cache lines. A short loop takes one cycle per iteration, but on some
/// processors two if it crosses a 64-byte line. Without alignment, one of two programs with the
/// same loop could be twice as fast.
const ALIGNED_LOOPS: &str = "-falign-loops=64";

/// The tag of classes that load shared libraries at run time. A statically linked program cannot do
/// that.
const LIBRARIES: &str = "libraries";

/// The prebuilt files that all programs of a target are compiled with.
pub(super) struct Shared {
    /// The folder with the precompiled header, if the compiler supports it.
    pub(super) header: Option<PathBuf>,
    /// The object file of the code that does not depend on the benchmark.
    pub(super) harness: PathBuf,
    /// The object files of `runtime/support` that the program needs.
    pub(super) support: Vec<PathBuf>,
}

/// Options that may affect which files the compiler finds.
pub(super) struct SearchOptions<'a> {
    /// The user's options: [`BuildOptions::flags`].
    pub(super) user: &'a [String],
    /// Options that search for `#include "FILE"` beside the `.yamba` files of the program.
    beside_sources: Vec<String>,
    /// Options of the command line and of `compile` clauses, for the program only.
    program: Flags,
}

impl SearchOptions<'_> {
    /// Returns the options in the order of a command line.
    pub(super) fn all(&self) -> Vec<String> {
        let Flags { compile, link } = &self.program;
        [self.user, &self.beside_sources, compile, link].concat()
    }
}

/// The machine on which the program will run. It decides which libraries are linked statically.
enum Destination {
    ThisMachine,
    /// A machine that may have other library versions.
    OtherMachine {
        /// Whether the program loads shared libraries at run time. They need that machine's C
        /// library.
        loads_libraries: bool,
    },
}

/// The compiler's command lines for one program.
pub(super) struct CommandLines<'a> {
    pub(super) target: Target,
    pub(super) toolchain: Toolchain,
    /// The folder of the C++ runtime.
    pub(super) runtime: PathBuf,
    pub(super) search: SearchOptions<'a>,
    /// The options of the command line and of `compile` clauses, as the run records them.
    pub(super) user_flags: UserFlags,
    /// The libraries that `compile` clauses link by name.
    pub(super) linked_names: Vec<LinkedName>,
    /// Stored included files of a previous run, which replace the current ones on disk.
    pub(super) kept: Option<LaidOut>,
    destination: Destination,
}

impl<'a> CommandLines<'a> {
    pub(super) fn new(
        analysis: &Analysis,
        class: ClassId,
        target: &Target,
        options: &'a BuildOptions,
    ) -> Result<CommandLines<'a>, BuildError> {
        let mut toolchain = toolchain::choose(analysis, target)?;
        let mut kept = None;
        if let Some(includes) = &options.includes {
            kept = Some(includes.lay_out(&Cache::open()?)?);
            let compiler = &mut toolchain.compiler;
            compiler.arguments = search::without_header_folders(&compiler.arguments);
            compiler.ignores_header_variables = true;
        }
        let runtime = embedded::home()?.runtime;
        let beside_sources = match kept {
            None => quote_flags(analysis, class, target, &runtime)?,
            Some(_) => Vec::new(),
        };
        let mut linked_names = Vec::new();
        let user_flags = match options.recorded.get(analysis.class(class).name()) {
            Some(flags) => flags.clone(),
            None => {
                let (clauses, names) = user_flags::clause_flags(analysis, class, target)?;
                linked_names = names;
                UserFlags { command_line: options.command_line.clone(), clauses }
            }
        };
        // Options of the command line follow those of the clauses, so they take precedence.
        let UserFlags { command_line, clauses } = &user_flags;
        let mut program = Flags {
            compile: [clauses.compile.as_slice(), &command_line.compile].concat(),
            link: link_words(&user_flags),
        };
        if kept.is_some() {
            program = user_flags::only_system_folders(&program, &toolchain.compiler)?;
        }
        let loads_libraries = || analysis.has_tag(class, LIBRARIES);
        let destination = if options.elsewhere {
            Destination::OtherMachine { loads_libraries: loads_libraries() }
        } else {
            Destination::ThisMachine
        };
        if let Destination::OtherMachine { .. } = destination {
            user_flags::refuse_shared(&program)?;
        }
        Ok(CommandLines {
            target: target.clone(),
            toolchain,
            runtime,
            search: SearchOptions { user: &options.flags, beside_sources, program },
            user_flags,
            linked_names,
            kept,
            destination,
        })
    }

    /// The folder that holds the runtime, the library and the suite.
    pub(super) fn home(&self) -> Option<&Path> {
        self.runtime.parent()
    }

    /// The command that compiles the generated C++ `source` to the program `output`.
    pub(super) fn program(&self, source: &Path, shared: &Shared, output: &Path) -> Command {
        self.program_with(&self.runtime, source, shared, output)
    }

    /// The command that compiles a program, with placeholders for the paths of one build.
    pub(super) fn plain_program(&self, runtime: &Path) -> Command {
        let anywhere =
            Shared { header: None, harness: PathBuf::from("harness"), support: Vec::new() };
        self.program_with(runtime, Path::new("in"), &anywhere, Path::new("out"))
    }

    fn program_with(
        &self,
        runtime: &Path,
        source: &Path,
        shared: &Shared,
        output: &Path,
    ) -> Command {
        let mut command = self.compiler();
        command.args(&self.search.program.compile);
        if let Some(folder) = &shared.header {
            command.arg("-I").arg(folder);
        }
        command.arg("-I").arg(runtime);
        command.args(&self.search.beside_sources);
        if let Some(kept) = &self.kept {
            command.args(kept.arguments());
        }
        // Not used when g++ compiles a header: a library option would make it link.
        command.args(self.libraries());
        command.arg("-o").arg(output).arg(source);
        command.args(&shared.support).arg(&shared.harness);
        command.args(&self.search.program.link);
        command
    }

    /// Whether the program is compiled with other options than the files that all programs share.
    pub(super) fn has_own_options(&self) -> bool {
        !self.search.program.compile.is_empty()
    }

    /// The command that precompiles the common header. Only g++ finds the result without further
    /// options.
    pub(super) fn header(&self) -> Option<Command> {
        if self.toolchain.kind != CompilerKind::Gnu {
            return None;
        }
        let mut command = self.compiler();
        command.arg("-I").arg(&self.runtime);
        command.args(["-x", "c++-header", "-w"]);
        command.arg(self.runtime.join("yamba/program.h"));
        Some(command)
    }

    /// The command that compiles the part of every program that does not depend on its benchmark.
    pub(super) fn harness(&self) -> Command {
        let mut command = self.compiler();
        command.arg("-I").arg(&self.runtime);
        let own = format!("yamba/isa/{}/isa.h", self.target.isa);
        if self.runtime.join(&own).is_file() {
            command.args(["-include", &own]);
        }
        command.arg("-c").arg(self.runtime.join("src/runtime.cc"));
        command
    }

    /// The command that compiles a file of `runtime/support`.
    pub(super) fn support(&self, source: &Path) -> Command {
        let mut command = self.compiler();
        command.arg("-I").arg(&self.runtime).arg("-c").arg(source);
        command
    }

    /// The command that compiles the runner of a bundle, which needs no file of the machine that it
    /// starts on.
    pub(super) fn runner(&self) -> Command {
        let mut command = self.compiler();
        command.args(["-static", "-s"]);
        command.arg(self.runtime.join("bundle/runner.cc"));
        command
    }

    fn compiler(&self) -> Command {
        let mut command = self.toolchain.compiler.command();
        command.args([
            "-std=c++17",
            "-O2",
            "-g1",
            "-Wall",
            "-Wextra",
            "-pthread",
            "-fdiagnostics-color=never",
            "-ftabstop=1",
            ALIGNED_LOOPS,
        ]);
        // Removes the path of Yamba's installation from `__FILE__`.
        let home = self.home().unwrap_or(Path::new("/"));
        command.arg(format!("{}{}/=", snapshot_includes::PREFIX_MAP, home.display()));
        command.args(&self.toolchain.flags).args(self.search.user);
        command
    }

    /// Options that link some libraries statically.
    fn libraries(&self) -> &'static [&'static str] {
        match self.destination {
            Destination::ThisMachine => self.toolchain.cpp_library(&self.search.all()),
            Destination::OtherMachine { loads_libraries: true } => &HOLDS_CPP,
            Destination::OtherMachine { loads_libraries: false } => &["-static"],
        }
    }

    /// The compiler's own fixed arguments, then the user's.
    pub(super) fn given_arguments(&self) -> impl Iterator<Item = &String> {
        let own = self.toolchain.compiler.options();
        own.chain(self.search.user)
    }

    /// Whether the meaning of an option depends on the processor of this machine.
    pub(super) fn names_native(&self) -> bool {
        let mut all = self.given_arguments().chain(&self.search.program.compile);
        all.any(|flag| flag.ends_with("=native"))
    }
}

/// Joins the words of a command, without those that depend on folder locations.
pub(super) fn without_places<'w>(words: impl Iterator<Item = &'w OsStr>) -> String {
    let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
    let mut words = user_flags::without_places(&words);
    words.retain(|word| !word.starts_with(snapshot_includes::PREFIX_MAP));
    words.join(" ")
}

/// Options that also search the folders of the program's `.yamba` files for `#include "FILE"`.
/// Yamba's own files need none.
fn quote_flags(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    runtime: &Path,
) -> io::Result<Vec<String>> {
    let home = runtime.parent().unwrap_or(Path::new("/"));
    let mut flags: Vec<String> = Vec::new();
    for path in provenance::paths(analysis, class, target) {
        let path = std::path::absolute(path)?;
        let Some(folder) = path.parent().and_then(Path::to_str) else {
            continue;
        };
        let is_new = !flags.iter().any(|flag| flag == folder);
        if is_new && path.is_file() && !path.starts_with(home) {
            flags.extend(["-iquote".to_owned(), folder.to_owned()]);
        }
    }
    Ok(flags)
}
