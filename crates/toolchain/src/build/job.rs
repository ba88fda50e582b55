//! Builds one program: assembles, generates C++, compiles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use yamba_codegen::asm::{self, AsmBlock, AssembledBlock, Syntax};
use yamba_lang::{Analysis, ClassId, Diagnostic, Program, Severity, Target};
use yamba_record::run::BuildInputs;

use super::assemble::Assembler;
use super::cache::Cache;
use super::command::{contained, show};
use super::command_lines::{self, CommandLines, Shared};
use super::error::BuildError;
use super::identity::{self, Inputs};
use super::key::Key;
use super::manifest::{Manifest, Product};
use super::observe::{Observed, Observer};
use super::options::BuildOptions;
use super::temporary::temporary_folder;
use super::toolchain::CompilerSource;
use super::{first_key, listing, messages, search, shared, toolchain, user_flags};

/// A built program, from this build or from the cache.
#[derive(Clone, Debug)]
pub struct Built {
    /// The path of the executable.
    pub program: PathBuf,
    /// The path of the generated C++.
    pub source: PathBuf,
    /// The command that recompiles the program; empty if an input has changed.
    pub command: String,
    /// Whether the program comes from the cache.
    pub cached: bool,
    /// The command prefix that runs the program here, for example an emulator. Empty for native
    /// programs.
    pub runner: Vec<String>,
    /// Compiler warnings about the author's C++. Empty for a cached build.
    pub warnings: Vec<Diagnostic>,
    /// A hash of all inputs. Equal inputs have equal hashes, in any cache and at any time.
    pub identity: String,
    /// Inputs of the build other than Yamba source files.
    pub inputs: BuildInputs,
    /// The texts of `inputs.includes`, by hash.
    pub texts: BTreeMap<String, String>,
}

/// Builds the program of `class` on `target`.
///
/// # Errors
/// See [`BuildError`].
pub fn build(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    build_with(&Cache::open()?, analysis, class, target, options)
}

/// Builds with a cache that several builds share, so that each file is checked once.
pub(super) fn build_with(
    cache: &Cache,
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    options: &BuildOptions,
) -> Result<Built, BuildError> {
    Job::new(analysis, class, target, options)?.build(cache)
}

/// The program of `class` with this identity for this machine, if the cache still holds it and it
/// was linked with static archives of the user. It is found also after these archives have changed.
pub fn kept_program(class: &str, identity: &str) -> Option<Built> {
    let made = Cache::open().ok()?.find_identity(identity, class)?;
    let product = made.manifest.product;
    if user_flags::loads_files(&product.inputs) {
        return None;
    }
    let (program, source) = (made.folder.join(class), made.folder.join(format!("{class}.cc")));
    Some(Built {
        program,
        source,
        command: String::new(),
        cached: true,
        runner: Vec::new(),
        warnings: Vec::new(),
        identity: product.identity,
        inputs: product.inputs,
        texts: product.texts,
    })
}

/// The first line of the C++ compiler's version for `target`; `None` without a compiler.
pub fn compiler_version(analysis: &Analysis, target: &Target) -> Option<String> {
    let toolchain = toolchain::choose(analysis, target).ok()?;
    toolchain.title().ok()
}

/// Where the compiler for `target` comes from.
///
/// # Errors
/// If no compiler is found, or the program that is named cannot compile.
pub fn compiler_source(analysis: &Analysis, target: &Target) -> Result<CompilerSource, BuildError> {
    Ok(toolchain::choose(analysis, target)?.source)
}

/// The path of the runner of a bundle for `target`, which `class` exists on.
///
/// # Errors
/// See [`BuildError`].
pub fn bundle_runner(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
) -> Result<PathBuf, BuildError> {
    let options = BuildOptions { elsewhere: true, ..BuildOptions::default() };
    let lines = CommandLines::new(analysis, class, target, &options)?;
    shared::runner(&Cache::open()?, &lines)
}

/// Assembles the `asm` blocks of `class` on `target` to bytes, without building the program.
///
/// # Errors
/// See [`BuildError`].
pub fn assemble(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
) -> Result<Vec<AssembledBlock>, BuildError> {
    let folder = temporary_folder()?;
    let options = BuildOptions::default();
    Job::new(analysis, class, target, &options)?.assemble(folder.path())
}

/// A program to build.
pub(super) struct Job<'a> {
    analysis: &'a Analysis,
    name: &'a str,
    program: Program,
    pub(super) lines: CommandLines<'a>,
    blocks: Vec<AsmBlock>,
    syntax: Syntax,
}

impl<'a> Job<'a> {
    pub(super) fn new(
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
            lines: CommandLines::new(analysis, class, target, options)?,
            blocks: asm::asm_blocks(analysis, &program),
            syntax: Syntax::for_isa(analysis, &target.isa),
            program,
        })
    }

    fn build(&self, cache: &Cache) -> Result<Built, BuildError> {
        let generated = self.generated(&[]);
        let shared = shared::find(cache, &self.lines, &generated)?;
        let first = self.first_key(&shared, &generated)?;
        let mut warnings = Vec::new();
        let found = cache.find(&first, self.name);
        let cached = found.is_some();
        let made = match found {
            Some(made) => made,
            None => cache
                .fill(&first, self.name, |staging| self.compile(staging, &shared, &mut warnings))?,
        };
        let (program, source) =
            (made.folder.join(self.name), made.folder.join(format!("{}.cc", self.name)));
        let product = made.manifest.product;
        Ok(Built {
            command: show(&self.lines.program(&source, &shared, Path::new(self.name))),
            program,
            source,
            cached,
            runner: self.lines.toolchain.runner.clone(),
            warnings,
            identity: product.identity,
            inputs: product.inputs,
            texts: product.texts,
        })
    }

    /// Hashes the inputs of the program that are known before it is compiled.
    fn first_key(&self, shared: &Shared, generated: &str) -> Result<String, BuildError> {
        let mut key =
            first_key::command_key(&self.lines, &self.lines.plain_program(&self.lines.runtime))?;
        // The folder name of an object file is a hash of all files that it was built from.
        for object in [&shared.harness].into_iter().chain(&shared.support) {
            let folder = object.parent().and_then(Path::file_name);
            key.bytes(folder.unwrap_or_default().as_encoded_bytes());
        }
        key.add(generated);
        key.add(&self.listing());
        let assembler = &self.lines.toolchain.assembler;
        if !self.blocks.is_empty() {
            key.add(&assembler.version()?);
        }
        key.add_tool(assembler)?;
        Ok(key.finish())
    }

    /// The assembler's input.
    fn listing(&self) -> String {
        asm::Listing::full(&self.syntax, &self.blocks, Default::default()).text
    }

    /// Writes the source and the program to `folder`.
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
            // Also compile the C++ without the assembled bytes, to report all errors at once.
            // Warnings of this compilation are dropped.
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

    /// The C++ of the program.
    fn generated(&self, blocks: &[AssembledBlock]) -> String {
        let hidden = user_flags::macros(&self.lines.user_flags);
        yamba_codegen::generate(self.analysis, &self.program, blocks, &hidden)
    }

    /// Writes the C++ and compiles it. Returns the compiler's warnings and the list of files read.
    fn translate(
        &self,
        folder: &Path,
        shared: &Shared,
        blocks: &[AssembledBlock],
    ) -> Result<(Vec<Diagnostic>, Manifest), BuildError> {
        let source = folder.join(format!("{}.cc", self.name));
        let generated = self.generated(blocks);
        std::fs::write(&source, &generated)?;
        let program = folder.join(self.name);
        let mut command = self.lines.program(&source, shared, &program);
        let observer = Observer::new(&self.lines, folder);
        observer.ask(&mut command, true);
        let output = contained(&mut command, folder).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        let compiled = messages::Compiled {
            analysis: self.analysis,
            class: self.program.class,
            name: yamba_codegen::file_name(self.analysis, &self.program),
            text: &generated,
            columns: self.lines.toolchain.kind.columns(),
            compilers: self.lines.toolchain.compiler_names(),
        };
        let found = messages::read(&compiled, &text);
        if output.status.success() {
            let observed = observer.observed(&output, Some(&program))?;
            let product = self.product(&observed, &generated, &program)?;
            let is_complete = product.inputs.unlisted.is_none();
            let mut manifest = Manifest::new(product, is_complete);
            observer.enter(&observed, &mut manifest);
            return Ok((found, manifest));
        }
        if !found.iter().any(|d| d.severity == Severity::Error) {
            if let Some(name) = user_flags::missing_name(&text) {
                return Err(self.no_library(name));
            }
            return Err(BuildError::Tool { command: show(&command), output: text.into_owned() });
        }
        Err(BuildError::Diagnostics(found))
    }

    /// The error for a library that the linker did not find.
    fn no_library(&self, name: &str) -> BuildError {
        let fault = format!("the linker finds no library `{name}`");
        let help = format!(
            "install its files for development, or link it as a file, as in \"../lib/lib{name}.a\""
        );
        let mut names = self.lines.linked_names.iter();
        match names.find(|(linked, _)| linked == name) {
            Some((_, span)) => BuildError::Diagnostics(vec![
                Diagnostic::error("bad-setting", *span, fault).help(help),
            ]),
            None => BuildError::Setting { fault, help },
        }
    }

    /// Describes the built program and its inputs.
    fn product(
        &self,
        observed: &Observed,
        generated: &str,
        program: &Path,
    ) -> Result<Product, BuildError> {
        let lines = &self.lines;
        let listing = self.listing();
        let unlisted = [generated, &listing];
        let mut product = Inputs {
            observed,
            kept: lines.kept.as_ref().map(|kept| kept.root.as_path()),
            facts: identity::collect(lines, observed, !self.blocks.is_empty())?,
            environment: search::environment(lines.toolchain.compiler.ignores_header_variables),
            unlisted: unlisted.into_iter().find_map(listing::unlisted).or(observed.unlisted),
        }
        .collect();
        product.inputs.flags = lines.user_flags.clone();
        let mut runtime = Key::new();
        runtime.add_folder(&lines.runtime)?;
        // The location of library and suite does not affect the identity.
        let home = lines.home().unwrap_or(Path::new(""));
        let generated = generated.replace(&*home.to_string_lossy(), "");
        let target = self.program.target.to_string();
        let options = command_lines::without_places(lines.plain_program(Path::new("")).get_args());
        let texts = [&generated, &listing, &target, &options, &runtime.finish()];
        let texts = texts.map(String::as_str);
        product.identity = identity::identity(&product.inputs, &texts, program)?;
        Ok(product)
    }

    fn assemble(&self, folder: &Path) -> Result<Vec<AssembledBlock>, BuildError> {
        if self.blocks.is_empty() {
            return Ok(Vec::new());
        }
        let run = Assembler {
            analysis: self.analysis,
            tool: &self.lines.toolchain.assembler,
            isa: &self.program.target.isa,
            syntax: &self.syntax,
            blocks: &self.blocks,
            folder,
        };
        run.assemble()
    }
}
