//! From a resolved class to a program that runs: assembles, generates, compiles, and keeps what was built.

mod assemble;
mod cache;
mod messages;
mod toolchain;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use yamba_codegen::asm::{self, AsmBlock, AssembledBlock, Syntax};
use yamba_lang::{Analysis, ClassId, Diagnostic, Program, Severity, Target};

use crate::embedded;
use toolchain::Toolchain;
pub use toolchain::host;

/// What may differ from one build to the next.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// More options for the C++ compiler.
    pub flags: Vec<String>,
}

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
        let harness = self.harness(&cache)?;
        let key = self.key()?;
        let mut warnings = Vec::new();
        let cached = cache.find(&key, self.name);
        let folder = match &cached {
            Some(folder) => folder.clone(),
            None => cache.fill(&key, self.name, |staging| {
                self.compile(staging, &harness, &mut warnings)
            })?,
        };
        let (program, source) = (
            folder.join(self.name),
            folder.join(format!("{}.cc", self.name)),
        );
        Ok(Built {
            command: show(&self.command(&source, &harness, Path::new(self.name))),
            program,
            source,
            cached: cached.is_some(),
            runner: self.toolchain.runner.clone(),
            warnings,
        })
    }

    /// Names everything that the program depends on.
    fn key(&self) -> Result<String, BuildError> {
        let mut key = cache::Key::new();
        key.add(&yamba_codegen::generate(self.analysis, &self.program, &[]).cpp);
        key.add(&asm::Listing::full(&self.syntax, &self.blocks, Default::default()).text);
        key.add(&self.program.target.to_string());
        key.add(&show(&self.command(
            Path::new("in"),
            Path::new("harness"),
            Path::new("out"),
        )));
        for tool in [&self.toolchain.compiler, &self.toolchain.assembler] {
            key.add_tool(tool)?;
        }
        key.add_folder(&self.runtime)?;
        Ok(key.finish())
    }

    /// The part of every program that does not depend on its benchmark, as an object file. It is most of what a compiler has to do, so it is
    /// built once.
    fn harness(&self, cache: &cache::Cache) -> Result<PathBuf, BuildError> {
        const NAME: &str = "harness.o";
        let mut key = cache::Key::new();
        key.add(&self.program.target.to_string());
        key.add(&show(&self.harness_command(Path::new(NAME))));
        key.add_tool(&self.toolchain.compiler)?;
        key.add_folder(&self.runtime)?;
        let key = key.finish();
        let folder = match cache.find(&key, NAME) {
            Some(folder) => folder,
            None => cache.fill(&key, NAME, |staging| {
                let mut command = self.harness_command(&staging.join(NAME));
                let output = command.env("LC_ALL", "C").output()?;
                if output.status.success() {
                    return Ok(());
                }
                Err(BuildError::Tool {
                    command: show(&command),
                    output: String::from_utf8_lossy(&output.stderr).into_owned(),
                })
            })?,
        };
        Ok(folder.join(NAME))
    }

    fn harness_command(&self, output: &Path) -> Command {
        let mut command = self.compiler();
        let own = format!("yamba/isa/{}/isa.h", self.program.target.isa);
        if self.runtime.join(&own).is_file() {
            command.args(["-include", &own]);
        }
        command.arg("-c").arg("-o").arg(output);
        command.arg(self.runtime.join("main.cc"));
        command
    }

    fn command(&self, source: &Path, harness: &Path, output: &Path) -> Command {
        let mut command = self.compiler();
        command.arg("-o").arg(output).arg(source).arg(harness);
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
        ]);
        command
            .args(&self.toolchain.flags)
            .args(&self.options.flags);
        command.arg("-I").arg(&self.runtime);
        command
    }

    /// Leaves source and program in `folder`.
    fn compile(
        &self,
        folder: &Path,
        harness: &Path,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<(), BuildError> {
        match self.assemble(folder) {
            Ok(blocks) => {
                *warnings = self.translate(folder, harness, &blocks)?;
                Ok(())
            }
            // All faults in one go: the C++ can be judged without the bits, though not what it leads to.
            Err(BuildError::Diagnostics(mut all)) => {
                if let Err(BuildError::Diagnostics(more)) = self.translate(folder, harness, &[]) {
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
        harness: &Path,
        blocks: &[AssembledBlock],
    ) -> Result<Vec<Diagnostic>, BuildError> {
        let source = folder.join(format!("{}.cc", self.name));
        let generated = yamba_codegen::generate(self.analysis, &self.program, blocks).cpp;
        std::fs::write(&source, &generated)?;
        let mut command = self.command(&source, harness, &folder.join(self.name));
        let output = command.env("LC_ALL", "C").output()?;
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
