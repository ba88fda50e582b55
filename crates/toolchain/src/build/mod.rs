//! From a resolved class to a program that runs: assembles, generates, compiles, and keeps what was built.

mod assemble;
mod cache;
mod identity;
mod kept;
mod listing;
mod manifest;
mod messages;
mod observe;
mod search;
mod several;
mod toolchain;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use yamba_codegen::asm::{self, AsmBlock, AssembledBlock, Syntax};
use yamba_lang::{Analysis, ClassId, Diagnostic, Program, Severity, Target};

use yamba_record::run::BuildInputs;

use crate::embedded;
use identity::{Inputs, Product};
pub use kept::KeptIncludes;
use manifest::{Manifest, ReadFile};
use observe::Observer;
pub use several::build_all;
pub use toolchain::host;
use toolchain::{Tool, Toolchain};

/// What may differ from one build to the next.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// More options for the C++ compiler.
    pub flags: Vec<String>,
    /// Whether the program is to start on another machine, which may have other libraries: then it holds them.
    pub elsewhere: bool,
    /// Included files of an earlier run, which are compiled instead of those that lie on the disk now.
    pub includes: Option<KeptIncludes>,
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
    /// A hash of all inputs. The same inputs have the same hash in any cache and at any time.
    pub identity: String,
    /// Inputs of the build other than Yamba source files.
    pub inputs: BuildInputs,
    /// The texts of `inputs.includes`, each under its hash.
    pub texts: BTreeMap<String, String>,
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
    build_with(&cache::Cache::open()?, analysis, class, target, options)
}

/// Builds with a cache that several builds share: it checks each file once.
fn build_with(
    cache: &cache::Cache,
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    Job::new(analysis, class, target, options)?.build(cache)
}

/// How the C++ compiler for `target` names itself; none where there is none.
pub fn compiler_version(analysis: &Analysis, target: &Target) -> Option<String> {
    let toolchain = toolchain::choose(analysis, target).ok()?;
    let text = toolchain.compiler.version().ok()?;
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
    /// The options of `options.flags`, then those that search beside the `.yamba` files.
    search_flags: Vec<String>,
    options: &'a BuildOptions,
    /// The folder below which `options.includes` lie.
    kept: Option<PathBuf>,
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
        let mut toolchain = toolchain::choose(analysis, target)?;
        let mut kept = None;
        if let Some(includes) = &options.includes {
            kept = Some(includes.lay_out(&cache::Cache::open()?)?);
            let compiler = &mut toolchain.compiler;
            compiler.arguments = search::without_header_folders(&compiler.arguments);
            compiler.ignores_header_variables = true;
        }
        let runtime = embedded::home()?.runtime;
        let mut search_flags = options.flags.clone();
        if kept.is_none() {
            search_flags.extend(quote_flags(analysis, class, target, &runtime)?);
        }
        Ok(Job {
            analysis,
            name,
            toolchain,
            runtime,
            search_flags,
            blocks: asm::asm_blocks(analysis, &program),
            syntax: Syntax::of(analysis, &target.isa),
            program,
            options,
            kept,
        })
    }

    fn build(&self, cache: &cache::Cache) -> Result<Built, BuildError> {
        let shared = Shared {
            header: self.header(cache)?,
            harness: self.harness(cache)?,
        };
        let first = self.first_key(&shared)?;
        let mut warnings = Vec::new();
        let found = cache.find(&first, self.name);
        let cached = found.is_some();
        let made = match found {
            Some(made) => made,
            None => cache.fill(&first, self.name, |staging| {
                self.compile(staging, &shared, &mut warnings)
            })?,
        };
        let (program, source) = (
            made.folder.join(self.name),
            made.folder.join(format!("{}.cc", self.name)),
        );
        let product = made.manifest.product;
        Ok(Built {
            command: show(&self.command(&source, &shared, Path::new(self.name))),
            program,
            source,
            cached,
            runner: self.toolchain.runner.clone(),
            warnings,
            identity: product.identity,
            inputs: product.inputs,
            texts: product.texts,
        })
    }

    /// Hashes the inputs of the program that are known before it is compiled.
    fn first_key(&self, shared: &Shared) -> Result<String, BuildError> {
        let mut key = self.key_of(&self.plain_command(&self.runtime))?;
        // The name of the harness's folder is a hash of all files that the harness was built from.
        let harness = shared.harness.parent().and_then(Path::file_name);
        key.bytes(harness.unwrap_or_default().as_encoded_bytes());
        key.add(&yamba_codegen::generate(self.analysis, &self.program, &[]).cpp);
        key.add(&self.listing());
        let assembler = &self.toolchain.assembler;
        if !self.blocks.is_empty() {
            key.add(&assembler.version()?);
        }
        key.add_tool(assembler)?;
        Ok(key.finish())
    }

    /// The input of the assembler.
    fn listing(&self) -> String {
        asm::Listing::full(&self.syntax, &self.blocks, Default::default()).text
    }

    /// The command that compiles the program, without the folders of one build.
    fn plain_command(&self, runtime: &Path) -> Command {
        let anywhere = Shared {
            header: None,
            harness: PathBuf::from("harness"),
        };
        self.command_with(runtime, Path::new("in"), &anywhere, Path::new("out"))
    }

    /// Begins a hash of the inputs of `command` that are known before it is run.
    fn key_of(&self, command: &Command) -> Result<cache::Key, BuildError> {
        let compiler = &self.toolchain.compiler;
        let mut key = cache::Key::new();
        key.add(env!("CARGO_PKG_VERSION"));
        key.add(&self.program.target.to_string());
        key.add(&show(command));
        key.add_tool(compiler)?;
        key.add(&compiler.version()?);
        key.add_folder(&self.runtime)?;
        let environment = search::environment(compiler.ignores_header_variables);
        for (name, value) in &environment {
            key.add(name);
            key.add(value);
        }
        let arguments = || compiler.arguments.iter().chain(&self.options.flags);
        // Machines with different processors may share a cache.
        if arguments().any(|flag| flag.ends_with("=native")) {
            let cpuinfo = yamba_machine::cpuinfo();
            toolchain::native_processor(&cpuinfo)
                .into_iter()
                .for_each(|line| key.add(line));
        }
        // The working directory matters if an argument may hold a relative path.
        let is_usual = |flag: &String| {
            ["-O", "-m", "-std", "-D", "-U"]
                .iter()
                .any(|o| flag.starts_with(o))
        };
        if !environment.is_empty() || !arguments().all(is_usual) {
            key.add(&std::env::current_dir()?.to_string_lossy());
        }
        Ok(key)
    }

    /// What every program includes first, read by the compiler once, if it has been made. The folder that it searches before the runtime's:
    /// what it finds there does not fit, it passes over.
    fn header(&self, cache: &cache::Cache) -> Result<Option<PathBuf>, BuildError> {
        let Some(command) = self.header_command() else {
            return Ok(None);
        };
        let key = self.key_of(&command)?.finish();
        let _alone = cache::alone(&key);
        Ok(cache.find_shared(&key, HEADER))
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
        command: Command,
    ) -> Result<PathBuf, BuildError> {
        let key = self.key_of(&command)?.finish();
        let _alone = cache::alone(&key);
        if let Some(folder) = cache.find_shared(&key, name) {
            return Ok(folder);
        }
        let made = cache.fill(&key, name, |staging| {
            let out = staging.join(name);
            std::fs::create_dir_all(out.parent().unwrap_or(staging))?;
            let mut command = copy(&command);
            command.arg("-o").arg(out);
            let known = self.known_folders();
            let observer = self.observer(staging, &known);
            observer.ask(&mut command, false);
            let output = contained(&mut command, staging).output()?;
            if !output.status.success() {
                return Err(BuildError::Tool {
                    command: show(&command),
                    output: String::from_utf8_lossy(&output.stderr).into_owned(),
                });
            }
            let mut manifest = Manifest::new(Product::default(), true);
            observer.enter(&observer.observed(&output)?, &mut manifest);
            Ok(manifest)
        })?;
        Ok(made.folder)
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
        self.command_with(&self.runtime, source, shared, output)
    }

    fn command_with(
        &self,
        runtime: &Path,
        source: &Path,
        shared: &Shared,
        output: &Path,
    ) -> Command {
        let mut command = self.compiler();
        if let Some(folder) = &shared.header {
            command.arg("-I").arg(folder);
        }
        command.arg("-I").arg(runtime);
        command.args(&self.search_flags[self.options.flags.len()..]);
        command.args(self.kept_arguments());
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
        // `__FILE__` does not depend on the folder of Yamba's installation.
        let home = self.runtime.parent().unwrap_or(Path::new("/"));
        command.arg(format!("{}{}/=", kept::PREFIX_MAP, home.display()));
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
    ) -> Result<Manifest, BuildError> {
        match self.assemble(folder) {
            Ok(blocks) => {
                let (found, manifest) = self.translate(folder, shared, &blocks)?;
                *warnings = found;
                Ok(manifest)
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

    /// Writes the C++ and compiles it. Returns the compiler's warnings, and what was read.
    fn translate(
        &self,
        folder: &Path,
        shared: &Shared,
        blocks: &[AssembledBlock],
    ) -> Result<(Vec<Diagnostic>, Manifest), BuildError> {
        let source = folder.join(format!("{}.cc", self.name));
        let generated = yamba_codegen::generate(self.analysis, &self.program, blocks).cpp;
        std::fs::write(&source, &generated)?;
        let program = folder.join(self.name);
        let mut command = self.command(&source, shared, &program);
        let known = self.known_folders();
        let observer = self.observer(folder, &known);
        observer.ask(&mut command, true);
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
            let observed = observer.observed(&output)?;
            let product = self.product(&observed, &generated, &program)?;
            let is_complete = product.inputs.unlisted.is_none();
            let mut manifest = Manifest::new(product, is_complete);
            observer.enter(&observed, &mut manifest);
            return Ok((found, manifest));
        }
        if !found.iter().any(|d| d.severity == Severity::Error) {
            return Err(BuildError::Tool {
                command: show(&command),
                output: text.into_owned(),
            });
        }
        Err(BuildError::Diagnostics(found))
    }

    /// Describes the built program and its inputs.
    fn product(
        &self,
        observed: &observe::Observed,
        generated: &str,
        program: &Path,
    ) -> Result<Product, BuildError> {
        let listing = self.listing();
        let unlisted = [generated, &listing];
        let mut product = Inputs {
            observed,
            kept: self.kept.as_deref(),
            facts: self.facts(observed)?,
            environment: search::environment(self.toolchain.compiler.ignores_header_variables),
            unlisted: unlisted.into_iter().find_map(listing::unlisted),
        }
        .collect();
        let mut runtime = cache::Key::new();
        runtime.add_folder(&self.runtime)?;
        // Where library and suite lie does not matter.
        let home = self.runtime.parent().unwrap_or(Path::new(""));
        let generated = generated.replace(&*home.to_string_lossy(), "");
        let target = self.program.target.to_string();
        let options = self.options_of(self.plain_command(Path::new("")).get_args());
        let texts = [&generated, &listing, &target, &options, &runtime.finish()];
        let texts = texts.map(String::as_str);
        product.identity = identity::identity(&product.inputs, &texts, program)?;
        Ok(product)
    }

    /// Facts of the program's inputs that are not kept as text.
    fn facts(&self, observed: &observe::Observed) -> Result<BTreeMap<String, String>, BuildError> {
        let described = |tool: &Tool, parts: Vec<&ReadFile>| -> io::Result<String> {
            let version = tool.version()?;
            let own = ReadFile::new(&tool.path)?;
            let parts: Vec<&ReadFile> = parts.into_iter().chain([&own]).collect();
            let first = version.lines().next().unwrap_or_default();
            let mut key = cache::Key::new();
            key.add(&version);
            key.add(&identity::together(&parts));
            Ok(format!("{first} ({})", identity::short(&key.finish())))
        };
        let mut facts = BTreeMap::new();
        let parts = observed.parts.values().collect();
        let compiler = described(&self.toolchain.compiler, parts)?;
        facts.insert("compiler".to_owned(), compiler);
        if !self.blocks.is_empty() {
            let assembler = described(&self.toolchain.assembler, Vec::new())?;
            facts.insert("assembler".to_owned(), assembler);
        }
        let arguments = self.toolchain.compiler.arguments.iter();
        let options = arguments.chain(&self.options.flags);
        let options = self.options_of(options.map(AsRef::as_ref));
        if !options.is_empty() {
            facts.insert("options".to_owned(), options);
        }
        Ok(facts)
    }

    /// The words that matter wherever the files lie.
    fn options_of<'w>(&self, words: impl Iterator<Item = &'w std::ffi::OsStr>) -> String {
        let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let mut words = search::without_folders(&words);
        words.retain(|word| !word.starts_with(kept::PREFIX_MAP));
        words.join(" ")
    }

    fn observer<'o>(&'o self, staging: &'o Path, known: &'o [PathBuf]) -> Observer<'o> {
        Observer {
            tool: &self.toolchain.compiler,
            flags: &self.search_flags,
            staging,
            known,
            kept: self.kept.as_deref(),
            kept_folders: self.kept_folders(),
        }
    }

    /// Folders whose files need not be listed: the first key has the runtime's, and what lies in the cache never changes.
    fn known_folders(&self) -> [PathBuf; 2] {
        let cache = cache::Cache::open().map(|c| c.root().to_owned());
        [
            self.runtime.clone(),
            cache.unwrap_or_else(|_| self.runtime.clone()),
        ]
    }

    fn kept_folders(&self) -> Vec<PathBuf> {
        match (&self.kept, &self.options.includes) {
            (Some(root), Some(includes)) => includes.folders_below(root),
            _ => Vec::new(),
        }
    }

    /// Options with which kept files are included, and are called what they were called.
    fn kept_arguments(&self) -> Vec<std::ffi::OsString> {
        let folders = self.kept_folders().into_iter();
        let mut words: Vec<_> = folders
            .flat_map(|folder| ["-I".into(), folder.into_os_string()])
            .collect();
        if let Some(root) = &self.kept {
            words.push(format!("{}{}=", kept::PREFIX_MAP, root.display()).into());
        }
        words
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

/// Options with which `#include "FILE"` is also looked for beside the `.yamba` files of the program. Files of Yamba's own need none.
fn quote_flags(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    runtime: &Path,
) -> io::Result<Vec<String>> {
    let home = runtime.parent().unwrap_or(Path::new("/"));
    let mut flags: Vec<String> = Vec::new();
    for path in crate::provenance::paths(analysis, class, target) {
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

/// A compiler that speaks English, and keeps what it writes on the way in this folder: that is removed in the end, also where both
/// the compiler and this process are killed.
fn contained<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command.env("LC_ALL", "C").env("TMPDIR", folder)
}

/// The same program with the same arguments and environment.
fn copy(command: &Command) -> Command {
    let mut copied = Command::new(command.get_program());
    copied.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => copied.env(name, value),
            None => copied.env_remove(name),
        };
    }
    copied
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
