//! From a resolved class to a program that runs: assembles, generates, compiles, and keeps what was built.

mod assemble;
mod cache;
mod messages;
mod several;
mod toolchain;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use yamba_codegen::asm::{self, AsmBlock, AssembledBlock, Syntax};
use yamba_lang::{Analysis, ClassId, Diagnostic, Program, Severity, Target};

use crate::embedded;
pub use several::build_all;
use toolchain::Toolchain;
pub use toolchain::host;

/// What may differ from one build to the next.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// More options for the C++ compiler.
    pub flags: Vec<String>,
    /// Whether the program is to start on another machine, which may have other libraries: then it holds them.
    pub elsewhere: bool,
}

/// The tag of what loads a shared library when it runs, which a program without any cannot.
const LIBRARIES: &str = "libraries";

/// A program that was built, now or earlier.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: PathBuf,
    /// The C++ that it was made of.
    pub source: PathBuf,
    /// The command that compiles it again.
    pub command: String,
    /// Whether an earlier build was used.
    pub cached: bool,
    /// What must stand before the program to run it here: an emulator, or nothing.
    pub runner: Vec<String>,
    /// What the compiler warned of in the author's C++. Empty for a cached build.
    pub warnings: Vec<Diagnostic>,
    /// A hash of all that decides what the program does.
    pub key: String,
}

/// Why there is no program.
#[derive(Debug)]
pub enum BuildError {
    /// Faults in the author's C++ or assembly.
    Diagnostics(Vec<Diagnostic>),
    /// No compiler for the target.
    MissingCompiler {
        /// The target.
        target: Target,
        /// What was looked for.
        tried: Vec<String>,
        /// How to get one.
        help: String,
    },
    /// The class does not exist on the target, or lacks members there.
    NothingToBuild(String),
    /// A tool failed and said nothing about the author's program.
    Tool {
        /// What was run.
        command: String,
        /// What it said.
        output: String,
    },
    /// A file or a process could not be had.
    Io(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Diagnostics(all) => write!(f, "{} faults in the program", all.len()),
            BuildError::MissingCompiler { target, tried, .. } => {
                write!(
                    f,
                    "no C++ compiler for {target}: looked for {}",
                    tried.join(", ")
                )
            }
            BuildError::NothingToBuild(why) => f.write_str(why),
            BuildError::Tool { command, output } => {
                write!(f, "`{command}` failed:\n{}", output.trim_end())
            }
            BuildError::Io(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<io::Error> for BuildError {
    fn from(e: io::Error) -> BuildError {
        BuildError::Io(e)
    }
}

/// Builds what `class` is on `target`.
///
/// # Errors
/// See [`BuildError`].
pub fn build(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    Job::new(analysis, class, target, options)?.build()
}

/// How the C++ compiler for `target` names itself; none where there is none.
pub fn compiler_version(analysis: &Analysis, target: &Target) -> Option<String> {
    let toolchain = toolchain::choose(analysis, target).ok()?;
    let output = toolchain
        .compiler
        .command()
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned)
}

/// The `asm` blocks of `class` on `target` as bytes, without building anything.
///
/// # Errors
/// See [`BuildError`].
pub fn assemble(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
) -> Result<Vec<AssembledBlock>, BuildError> {
    let folder = tempfile::tempdir()?;
    let options = BuildOptions::default();
    Job::new(analysis, class, target, &options)?.assemble(folder.path())
}

/// The files that programs of a target share.
const HEADER: &str = "yamba/program.h.gch";
const HARNESS: &str = "harness.o";

/// A short loop takes a cycle a turn, and on some processors two where it lies across the end of a line of 64 bytes: of two programs with the same loop
/// one would be twice as fast. So each that the compiler takes for hot begins with a line.
const ALIGNED_LOOPS: &str = "-falign-loops=64";

/// What all programs of a target are made with.
struct Shared {
    /// The folder with the header that the compiler has read already, if it can use one.
    header: Option<PathBuf>,
    /// The object file of what does not depend on the benchmark.
    harness: PathBuf,
}

struct Job<'a> {
    analysis: &'a Analysis,
    name: &'a str,
    program: Program,
    toolchain: Toolchain,
    runtime: PathBuf,
    blocks: Vec<AsmBlock>,
    syntax: Syntax,
    options: &'a BuildOptions,
}

impl<'a> Job<'a> {
    fn new(
        analysis: &'a Analysis,
        class: ClassId,
        target: &Target,
        options: &'a BuildOptions,
    ) -> Result<Job<'a>, BuildError> {
        let program = analysis.program(class, target);
        let name = analysis.class(class).name();
        if program.variants.is_empty() {
            return Err(BuildError::NothingToBuild(format!(
                "{name} has nothing that runs on {target}"
            )));
        }
        Ok(Job {
            analysis,
            name,
            toolchain: toolchain::choose(analysis, target)?,
            runtime: embedded::home()?.runtime,
            blocks: asm::asm_blocks(analysis, &program),
            syntax: Syntax::of(analysis, &target.isa),
            program,
            options,
        })
    }

    fn build(&self) -> Result<Built, BuildError> {
        let cache = cache::Cache::open()?;
        let shared = Shared {
            header: self.header(&cache)?,
            harness: self.harness(&cache)?,
        };
        let key = self.key()?;
        let mut warnings = Vec::new();
        let cached = cache.find(&key, self.name);
        let folder = match &cached {
            Some(folder) => folder.clone(),
            None => cache.fill(&key, self.name, |staging| {
                self.compile(staging, &shared, &mut warnings)
            })?,
        };
        let (program, source) = (
            folder.join(self.name),
            folder.join(format!("{}.cc", self.name)),
        );
        Ok(Built {
            command: show(&self.command(&source, &shared, Path::new(self.name))),
            program,
            source,
            cached: cached.is_some(),
            runner: self.toolchain.runner.clone(),
            warnings,
            key,
        })
    }

    /// Names everything that the program depends on.
    fn key(&self) -> Result<String, BuildError> {
        let mut key = cache::Key::new();
        key.add(&yamba_codegen::generate(self.analysis, &self.program, &[]).cpp);
        key.add(&asm::Listing::full(&self.syntax, &self.blocks, Default::default()).text);
        key.add(&self.program.target.to_string());
        let anywhere = Shared {
            header: None,
            harness: PathBuf::from("harness"),
        };
        key.add(&show(&self.command(
            Path::new("in"),
            &anywhere,
            Path::new("out"),
        )));
        for tool in [&self.toolchain.compiler, &self.toolchain.assembler] {
            key.add_tool(tool)?;
        }
        key.add_folder(&self.runtime)?;
        Ok(key.finish())
    }

    /// What every program includes first, read by the compiler once, if it has been made. The folder that it searches before the runtime's:
    /// what it finds there does not fit, it passes over.
    fn header(&self, cache: &cache::Cache) -> Result<Option<PathBuf>, BuildError> {
        let Some(command) = self.header_command() else {
            return Ok(None);
        };
        let key = self.key_beside(&command)?;
        let _alone = cache::alone(&key);
        Ok(cache.find(&key, HEADER))
    }

    /// It takes longer to make than it saves one program.
    fn make_header(&self, cache: &cache::Cache) -> Result<(), BuildError> {
        match self.header_command() {
            Some(command) => self.beside(cache, HEADER, command).map(drop),
            None => Ok(()),
        }
    }

    /// Only g++ looks for it by itself.
    fn header_command(&self) -> Option<Command> {
        if self.toolchain.compiler.columns() != messages::Columns::Characters {
            return None;
        }
        let mut command = self.compiler();
        command.arg("-I").arg(&self.runtime);
        command.args(["-x", "c++-header", "-w"]);
        command.arg(self.runtime.join("yamba/program.h"));
        Some(command)
    }

    /// The part of every program that does not depend on its benchmark, as an object file. It is most of what a compiler has to do, so it is
    /// built once.
    fn harness(&self, cache: &cache::Cache) -> Result<PathBuf, BuildError> {
        let folder = self.beside(cache, HARNESS, self.harness_command())?;
        Ok(folder.join(HARNESS))
    }

    /// The folder with what `command` makes for all programs. Of several that ask at the same time one makes it.
    fn beside(
        &self,
        cache: &cache::Cache,
        name: &str,
        mut command: Command,
    ) -> Result<PathBuf, BuildError> {
        let key = self.key_beside(&command)?;
        let _alone = cache::alone(&key);
        if let Some(folder) = cache.find(&key, name) {
            return Ok(folder);
        }
        cache.fill(&key, name, |staging| {
            let out = staging.join(name);
            std::fs::create_dir_all(out.parent().unwrap_or(staging))?;
            command.arg("-o").arg(out);
            let output = contained(&mut command, staging).output()?;
            if output.status.success() {
                return Ok(());
            }
            Err(BuildError::Tool {
                command: show(&command),
                output: String::from_utf8_lossy(&output.stderr).into_owned(),
            })
        })
    }

    /// All that decides what `command` makes.
    fn key_beside(&self, command: &Command) -> Result<String, BuildError> {
        let mut key = cache::Key::new();
        key.add(&self.program.target.to_string());
        key.add(&show(command));
        key.add_tool(&self.toolchain.compiler)?;
        key.add_folder(&self.runtime)?;
        Ok(key.finish())
    }

    fn harness_command(&self) -> Command {
        let mut command = self.compiler();
        command.arg("-I").arg(&self.runtime);
        let own = format!("yamba/isa/{}/isa.h", self.program.target.isa);
        if self.runtime.join(&own).is_file() {
            command.args(["-include", &own]);
        }
        command.arg("-c").arg(self.runtime.join("main.cc"));
        command
    }

    fn command(&self, source: &Path, shared: &Shared, output: &Path) -> Command {
        let mut command = self.compiler();
        if let Some(folder) = &shared.header {
            command.arg("-I").arg(folder);
        }
        command.arg("-I").arg(&self.runtime);
        // Beside the compiling of a header g++ would take the choice of a library for a wish to link.
        command.args(self.libraries());
        command.arg("-o").arg(output).arg(source);
        command.arg(&shared.harness);
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
        command
            .args(&self.toolchain.flags)
            .args(&self.options.flags);
        command
    }

    /// Which libraries the program holds itself. One that loads others needs the C library that these fit.
    fn libraries(&self) -> &'static [&'static str] {
        let loads_more = || {
            self.analysis
                .tags(self.program.class)
                .iter()
                .any(|t| t == LIBRARIES)
        };
        match self.options.elsewhere {
            false => self.toolchain.cpp_library(&self.options.flags),
            true if loads_more() => &toolchain::HOLDS_CPP,
            true => &["-static"],
        }
    }

    /// Leaves source and program in `folder`.
    fn compile(
        &self,
        folder: &Path,
        shared: &Shared,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<(), BuildError> {
        match self.assemble(folder) {
            Ok(blocks) => {
                *warnings = self.translate(folder, shared, &blocks)?;
                Ok(())
            }
            // All faults in one go: the C++ can be judged without the bits, though not what it leads to.
            Err(BuildError::Diagnostics(mut all)) => {
                if let Err(BuildError::Diagnostics(more)) = self.translate(folder, shared, &[]) {
                    let is_error = |d: &Diagnostic| d.severity == Severity::Error;
                    all.extend(more.into_iter().filter(is_error));
                }
                Err(BuildError::Diagnostics(all))
            }
            Err(other) => Err(other),
        }
    }

    /// Writes the C++ and compiles it; what the compiler warns of is returned.
    fn translate(
        &self,
        folder: &Path,
        shared: &Shared,
        blocks: &[AssembledBlock],
    ) -> Result<Vec<Diagnostic>, BuildError> {
        let source = folder.join(format!("{}.cc", self.name));
        let generated = yamba_codegen::generate(self.analysis, &self.program, blocks).cpp;
        std::fs::write(&source, &generated)?;
        let mut command = self.command(&source, shared, &folder.join(self.name));
        let output = contained(&mut command, folder).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let compiled = messages::Compiled {
            analysis: self.analysis,
            class: self.program.class,
            name: yamba_codegen::file_name(self.analysis, &self.program),
            text: &generated,
            columns: self.toolchain.compiler.columns(),
        };
        let found = messages::read(&compiled, &text);
        if output.status.success() {
            return Ok(found);
        }
        if !found.iter().any(|d| d.severity == Severity::Error) {
            return Err(BuildError::Tool {
                command: show(&command),
                output: text.into_owned(),
            });
        }
        Err(BuildError::Diagnostics(found))
    }

    fn assemble(&self, folder: &Path) -> Result<Vec<AssembledBlock>, BuildError> {
        if self.blocks.is_empty() {
            return Ok(Vec::new());
        }
        let run = assemble::Assembler {
            analysis: self.analysis,
            tool: &self.toolchain.assembler,
            syntax: &self.syntax,
            blocks: &self.blocks,
            folder,
        };
        run.assemble()
    }
}

/// A compiler that speaks English, and keeps what it writes on the way in this folder: that is removed in the end, also where both
/// the compiler and this process are killed.
fn contained<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command.env("LC_ALL", "C").env("TMPDIR", folder)
}

/// A command as a person types it.
fn show(command: &Command) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=,:@%".contains(c);
    let quote = |s: &std::ffi::OsStr| {
        let text = s.to_string_lossy().into_owned();
        if !text.is_empty() && text.chars().all(plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(quote).collect::<Vec<_>>().join(" ")
}
