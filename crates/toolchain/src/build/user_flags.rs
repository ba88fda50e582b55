//! The compiler's arguments for settings of the user: those of the command line, and those of
//! `compile` clauses.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use yamba_lang::compile::CompileKey;
use yamba_lang::source::Span;
use yamba_lang::{Analysis, ClassId, Diagnostic, Target};
use yamba_record::run::{BuildInputs, Flags, UserFlags};

use super::compiler_kind::CompilerKind;
use super::error::{BuildError, SettingFault};
use super::link_words::{RPATH, link_words, linked_file};
use super::read_file::{self, ReadFile};
use super::tool::Tool;
use super::toolchain;
use super::{key, package, search};

impl From<io::Error> for SettingFault {
    fn from(e: io::Error) -> SettingFault {
        SettingFault {
            text: format!("the compiler cannot be asked for its folders: {e}"),
            help: "CXX names another compiler".to_owned(),
        }
    }
}

/// The arguments for settings of the command line. Paths are relative to the current folder.
///
/// # Errors
/// If a value is impossible, a file, folder or package does not exist, or there is no compiler for
/// `target`.
pub fn command_line_flags(
    settings: &[(CompileKey, String)],
    analysis: &Analysis,
    target: &Target,
) -> Result<Flags, BuildError> {
    let mut flags = Flags::default();
    if settings.is_empty() {
        return Ok(flags);
    }
    let resolver = Resolver::new(analysis, target)?;
    let base = std::env::current_dir()?;
    for (key, value) in settings {
        let checked = key
            .check(value)
            .map_err(|bad| SettingFault { text: bad.fault, help: bad.help.to_owned() });
        let added = checked.and_then(|()| resolver.add(&mut flags, *key, value, &base));
        added.map_err(|SettingFault { text, help }| BuildError::Setting {
            fault: format!("--{}: {text}", key.word().replace('_', "-")),
            help,
        })?;
    }
    Ok(flags)
}

/// The names of macros that these flags define for the user's code, each once. The headers of the
/// runtime do not see them: one called `N` would replace the names of their parameters. Names that
/// begin with an underscore are not among them, since they are meant for the headers of the system,
/// which the runtime includes first.
pub(super) fn macros(flags: &UserFlags) -> Vec<&str> {
    let words = flags.clauses.compile.iter().chain(&flags.command_line.compile);
    let defined = words.filter_map(|word| word.strip_prefix("-D"));
    let names = defined.map(|text| text.split(['=', '(']).next().unwrap_or_default());
    let is_own = |name: &&str| !name.is_empty() && !name.starts_with('_');
    let names: BTreeSet<&str> = names.filter(is_own).collect();
    names.into_iter().collect()
}

/// A library that a `compile` clause names, with its place.
pub(super) type LinkedName = (String, Span);

/// The arguments for the `compile` clauses of a class and of every class that contributes to its
/// program, and the names that they link. Paths are relative to the file of the clause. A setting
/// of a derived class follows those of its bases, so it takes precedence.
pub(super) fn clause_flags(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
) -> Result<(Flags, Vec<LinkedName>), BuildError> {
    let classes = contributing(analysis, class, target);
    let has_settings = |c: &ClassId| analysis.class(*c).ast.compile_settings().next().is_some();
    let (mut flags, mut names, mut faults) = (Flags::default(), Vec::new(), Vec::new());
    if !classes.iter().any(has_settings) {
        return Ok((flags, names));
    }
    let resolver = Resolver::new(analysis, target)?;
    for class in classes.into_iter().map(|c| analysis.class(c)) {
        let path = Path::new(&analysis.sources.file(class.file).path);
        let path = std::path::absolute(path)?;
        let base = path.parent().unwrap_or(Path::new("/"));
        for setting in class.ast.compile_settings() {
            if setting.key == CompileKey::Link && !is_file_name(&setting.value) {
                names.push((setting.value.clone(), setting.span));
            }
            if let Err(fault) = resolver.add(&mut flags, setting.key, &setting.value, base) {
                let fault_of_setting =
                    Diagnostic::error("bad-setting", setting.span, fault.text).help(fault.help);
                faults.push(fault_of_setting);
            }
        }
    }
    if faults.is_empty() { Ok((flags, names)) } else { Err(BuildError::Diagnostics(faults)) }
}

/// The classes that contribute to a program: parts first, then each chain from its root.
fn contributing(analysis: &Analysis, class: ClassId, target: &Target) -> Vec<ClassId> {
    let mut known = BTreeSet::new();
    let program = analysis.program(class, target);
    let compositions = program.variants.iter().flat_map(|variant| {
        let parts = variant.parts.iter();
        parts.chain(std::iter::once(variant))
    });
    let all = compositions.flat_map(|composition| {
        let layers = composition.layers.iter().map(|layer| layer.class);
        layers.chain(composition.ports.iter().copied())
    });
    all.chain([class]).filter(|c| known.insert(*c)).collect()
}

/// Turns settings into arguments.
struct Resolver {
    compiler: Tool,
    kind: CompilerKind,
    /// The prefix of the names of tools for the target; empty for this machine.
    prefix: String,
}

impl Resolver {
    fn new(analysis: &Analysis, target: &Target) -> Result<Resolver, BuildError> {
        let toolchain = toolchain::choose(analysis, target)?;
        let prefix = if *target == toolchain::host() {
            String::new()
        } else {
            let prefix = analysis.isa_property(&target.isa, "toolchain");
            prefix.unwrap_or_default()
        };
        Ok(Resolver { compiler: toolchain.compiler, kind: toolchain.kind, prefix })
    }

    fn add(
        &self,
        flags: &mut Flags,
        key: CompileKey,
        value: &str,
        base: &Path,
    ) -> Result<(), SettingFault> {
        match key {
            CompileKey::IncludeDir => {
                let folder = folder(&base.join(value))?;
                flags.compile.extend(["-I".to_owned(), folder]);
            }
            CompileKey::Define => flags.compile.push(format!("-D{value}")),
            CompileKey::Optimise => flags.compile.push(format!("-O{value}")),
            CompileKey::March => {
                flags.compile.push(format!("-march={}", self.kind.processor(value)));
            }
            CompileKey::Std => flags.compile.push(format!("-std={value}")),
            // One call of the compiler compiles and links.
            CompileKey::Flag => flags.compile.push(value.to_owned()),
            CompileKey::Link if is_file_name(value) => {
                let (folder, file) = library(&base.join(value))?;
                let is_shared = is_shared(&file);
                flags.link.push(text(&file)?);
                if is_shared {
                    self.add_run_time_folder(&mut flags.link, &folder)?;
                }
            }
            CompileKey::Link => flags.link.push(format!("-l{value}")),
            CompileKey::PkgConfig => {
                let (compile, link) = package::flags(&self.prefix, value)?;
                flags.compile.extend(compile);
                for word in link {
                    let folder = word.strip_prefix("-L").map(PathBuf::from);
                    flags.link.push(word);
                    if let Some(folder) = folder {
                        self.add_run_time_folder(&mut flags.link, &folder)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the program search `folder` for its shared libraries, unless the system does so
    /// anyway.
    fn add_run_time_folder(
        &self,
        link: &mut Vec<String>,
        folder: &Path,
    ) -> Result<(), SettingFault> {
        let system = search::system_folders(&self.compiler)?.libraries;
        if !search::is_below(folder, &system) {
            link.extend(["-Xlinker".to_owned(), format!("{RPATH}{}", text(folder)?)]);
        }
        Ok(())
    }
}

/// Whether a value of `link` is a file, rather than a name as after `-l`.
fn is_file_name(value: &str) -> bool {
    let name = Path::new(value);
    let is_library = name.extension().is_some_and(|e| e == "a" || e == "o");
    value.contains('/') || is_library || is_shared(name)
}

/// Whether it is a shared object: `libfoo.so`, `libfoo.so.1`.
fn is_shared(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}

fn folder(path: &Path) -> Result<String, SettingFault> {
    match fs::canonicalize(path) {
        Ok(real) if real.is_dir() => text(&real),
        _ => Err(SettingFault {
            text: format!("there is no folder {}", path.display()),
            help: RELATIVE.to_owned(),
        }),
    }
}

/// The help for a path of a setting that does not exist.
const RELATIVE: &str = "name one that exists; a path is relative to the file of its `compile` clause, and on the command line to the current folder";

/// The real folder of a library, and its path in that folder. Links to the library itself are kept:
/// programs load it by one of these names.
fn library(path: &Path) -> Result<(PathBuf, PathBuf), SettingFault> {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) if path.is_file() => {
            let file = folder.join(name);
            Ok((folder, file))
        }
        _ => Err(SettingFault {
            text: format!("there is no library {}", path.display()),
            help: format!("build it first, or {RELATIVE}"),
        }),
    }
}

fn text(path: &Path) -> Result<String, SettingFault> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| SettingFault {
        text: format!("{} is not UTF-8", path.display()),
        help: "rename it".to_owned(),
    })
}

/// The words without the locations of files and folders.
pub(super) fn without_places(words: &[String]) -> Vec<String> {
    let words = search::without_folders(words);
    let words = words.into_iter().filter(|word| !word.starts_with(RPATH));
    let named = words.map(|word| match linked_file(&word) {
        Some(file) => read_file::name(file),
        None => word,
    });
    named.collect()
}

/// Fails if a program for another machine would need a shared object of the user.
pub(super) fn refuse_shared(flags: &Flags) -> Result<(), BuildError> {
    let mut files = flags.link.iter().filter_map(|word| linked_file(word));
    match files.find(|file| is_shared(file)) {
        Some(file) => Err(BuildError::Setting {
            fault: format!("the program is for another machine, which has no {}", file.display()),
            help: "link a static archive (.a) instead".to_owned(),
        }),
        None => Ok(()),
    }
}

fn linked_files(inputs: &BuildInputs) -> Vec<PathBuf> {
    let words = link_words(&inputs.flags);
    let files = words.iter().filter_map(|word| linked_file(word));
    files.map(Path::to_owned).collect()
}

/// Whether the program was linked with files of the user.
pub(super) fn links_files(inputs: &BuildInputs) -> bool {
    !linked_files(inputs).is_empty()
}

/// Whether the program loads shared objects of the user when it starts, so that its own file does
/// not hold all of it.
pub(super) fn loads_files(inputs: &BuildInputs) -> bool {
    let mut facts = inputs.facts.keys();
    linked_files(inputs).iter().any(|file| is_shared(file))
        || facts.any(|fact| fact.starts_with("library ") && is_shared(Path::new(fact)))
}

/// Why a program with these inputs cannot be linked as before: a library of the user no longer
/// exists, or has changed.
pub fn changed_library(inputs: &BuildInputs) -> Option<String> {
    linked_files(inputs).iter().find_map(|file| {
        let name = read_file::name(file);
        let kinds = ["library", "file"];
        let then = kinds.map(|kind| inputs.facts.get(&format!("{kind} {name}")));
        let then = then.into_iter().flatten().next()?;
        let Ok(read) = ReadFile::new(file) else {
            return Some(format!(
                "it was linked with {}, which no longer exists",
                file.display()
            ));
        };
        let now = key::short(read.hash());
        let is_same = then.split('+').any(|hash| hash == now);
        (!is_same).then(|| {
            format!(
                "it was linked with another {}, of which the run kept only a hash: {then} then, {now} now",
                file.display()
            )
        })
    })
}

/// The flags for search folders of the system, which a rebuild from stored files needs too.
pub(super) fn only_system_folders(flags: &Flags, compiler: &Tool) -> io::Result<Flags> {
    let system = search::system_folders(compiler)?.headers;
    let mut compile = search::without_header_folders(&flags.compile);
    let folders = search::values_of(flags.compile.iter().map(String::as_str), "-I");
    for folder in folders.filter(|folder| search::is_below(Path::new(folder), &system)) {
        compile.extend(["-I".to_owned(), folder.to_owned()]);
    }
    Ok(Flags { compile, link: flags.link.clone() })
}

/// The library that the linker did not find, according to its output.
pub(super) fn missing_name(output: &str) -> Option<&str> {
    let places = [
        "cannot find -l",
        "unable to find library -l",
        "library not found for -l",
        "library not found: ",
    ];
    let rest = places.iter().find_map(|place| output.split_once(place).map(|(_, rest)| rest))?;
    let name = rest.split([':', '\n', '\r', ' ']).next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_of_the_user_are_hidden_from_the_runtime() {
        let words = |words: &[&str]| Flags {
            compile: words.iter().map(|word| (*word).to_owned()).collect(),
            link: Vec::new(),
        };
        let flags = UserFlags {
            command_line: words(&["-DN=100", "-D_GNU_SOURCE", "-O3"]),
            clauses: words(&["-DSUM(a,b)=a+b", "-DN", "-IDN"]),
        };
        assert_eq!(macros(&flags), ["N", "SUM"]);
    }
}
