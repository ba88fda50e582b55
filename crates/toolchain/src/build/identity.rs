//! The identity of a program, a hash that is the same wherever and whenever the same inputs are
//! built. Also the record of these inputs in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use object::{Object, ObjectSection, SectionKind};
use yamba_record::run::{BuildInputs, SourceFile, UserFlags};

use super::command_lines::{self, CommandLines};
use super::key::{self, Key, short};
use super::manifest::Product;
use super::observe::{Observed, normal};
use super::read_file::{ReadFile, name};
use super::tool::{Tool, first_line};
use super::{listing, search, user_flags};

/// Maximum bytes of included files that a run stores per program. Further files are recorded by
/// hash only.
const MOST_TEXT: usize = 4 << 20;

/// Collects the inputs of one program.
pub(super) struct Inputs<'a> {
    pub(super) observed: &'a Observed,
    /// The folder with stored included files of a previous run, each at its own path below it.
    pub(super) kept: Option<&'a Path>,
    /// Inputs that are not files, such as options.
    pub(super) facts: BTreeMap<String, String>,
    pub(super) environment: BTreeMap<String, String>,
    /// The reason why some input files are unknown.
    pub(super) unlisted: Option<&'a str>,
}

impl Inputs<'_> {
    pub(super) fn collect(mut self) -> Product {
        let mut product = Product::default();
        self.add_headers(&mut product);
        self.add_libraries();
        let is_linked = |path: &Path| self.observed.libraries.contains_key(path);
        let named = &self.observed.named;
        for (path, file) in named.iter().filter(|(path, _)| !is_linked(path)) {
            self.add_fact(format!("file {}", name(path)), short(file.hash()));
        }
        let texts = product.texts.values();
        let own = texts.filter_map(|text| listing::unlisted(text)).next();
        product.inputs.unlisted = own.or(self.unlisted).map(str::to_owned);
        product.inputs.facts = self.facts;
        product.inputs.environment = self.environment;
        product
    }

    /// Adds a value under `name`. Files in different folders may share a name, so several values
    /// are joined with `+`.
    fn add_fact(&mut self, name: String, value: String) {
        let known = self.facts.entry(name).or_default();
        if !known.split('+').any(|one| one == value) {
            known.push_str(if known.is_empty() { "" } else { "+" });
            known.push_str(&value);
        }
    }

    fn add_headers(&mut self, product: &mut Product) {
        let (mut system, mut room) = (Vec::new(), MOST_TEXT);
        let mut includes: BTreeMap<String, String> = BTreeMap::new();
        for (path, file) in &self.observed.headers {
            let kept = self.kept.and_then(|root| path.strip_prefix(root).ok());
            let place = kept.map_or_else(|| path.clone(), |below| Path::new("/").join(below));
            let place = normal(&place);
            if kept.is_none() && search::is_below(&place, &self.observed.system.headers) {
                system.push(file);
                continue;
            }
            let place = place.to_string_lossy().into_owned();
            match text(path, file).filter(|text| text.len() <= room) {
                Some(text) => {
                    room -= text.len();
                    includes.insert(place, file.hash().to_owned());
                    product.texts.insert(file.hash().to_owned(), text);
                }
                None => self.add_fact(format!("file {place}"), short(file.hash())),
            }
        }
        self.facts.insert("system headers".to_owned(), together(&system));
        product.inputs.folders = self.folders(&includes);
        let files = includes.into_iter();
        product.inputs.includes = files.map(|(path, hash)| SourceFile { path, hash }).collect();
    }

    /// The folders in which included files were found.
    fn folders(&self, includes: &BTreeMap<String, String>) -> Vec<String> {
        let mut folders: Vec<String> = Vec::new();
        for folder in &self.observed.search.headers {
            let own = self.kept.and_then(|root| folder.strip_prefix(root).ok());
            let folder = own.map_or_else(|| folder.clone(), |below| Path::new("/").join(below));
            let folder = normal(&folder);
            let holds = includes.keys().any(|path| Path::new(path).starts_with(&folder));
            let folder = folder.to_string_lossy().into_owned();
            if holds && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    fn add_libraries(&mut self) {
        let mut system = Vec::new();
        for (path, file) in &self.observed.libraries {
            if search::is_below(path, &self.observed.system.libraries) {
                system.push(file);
            } else {
                self.add_fact(format!("library {}", name(path)), short(file.hash()));
            }
        }
        self.facts.insert("system libraries".to_owned(), together(&system));
    }
}

/// Hashes a program's inputs together with its code and data.
pub(super) fn identity(
    inputs: &BuildInputs,
    generated: &[&str],
    program: &Path,
) -> io::Result<String> {
    let mut key = Key::new();
    generated.iter().for_each(|text| key.add(text));
    for (name, value) in &inputs.facts {
        // For an included file, the path in its name does not matter.
        key.add(name.split(" /").next().unwrap_or(name));
        key.add(value);
    }
    let hashes: BTreeSet<&String> = inputs.includes.iter().map(|file| &file.hash).collect();
    hashes.into_iter().for_each(|hash| key.add(hash));
    add_code(&mut key, &fs::read(program)?);
    Ok(key.finish())
}

/// Adds the sections that are loaded when the program starts. Other sections name the build folder.
fn add_code(key: &mut Key, program: &[u8]) {
    if add_sections(key, program).is_err() {
        // Another format than that of the compilers known here: all of the file counts.
        key.bytes(program);
    }
}

fn add_sections(key: &mut Key, program: &[u8]) -> object::Result<()> {
    let file = object::File::parse(program)?;
    for section in file.sections() {
        let is_loaded = !matches!(
            section.kind(),
            SectionKind::Debug
                | SectionKind::DebugString
                | SectionKind::OtherString
                | SectionKind::Metadata
                | SectionKind::Note
                | SectionKind::Other
        );
        if is_loaded {
            key.add(section.name()?);
            key.bytes(section.data()?);
        }
    }
    Ok(())
}

/// The text of the file, if it still has the hash of the file that was read.
fn text(path: &Path, file: &ReadFile) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    (crate::provenance::hash(&text) == file.hash()).then_some(text)
}

/// One hash of several files, independent of their order and paths.
pub(super) fn together(files: &[&ReadFile]) -> String {
    let hashes: BTreeSet<&str> = files.iter().map(|file| file.hash()).collect();
    let mut key = Key::new();
    hashes.into_iter().for_each(|hash| key.add(hash));
    short(&key.finish())
}

/// Describes the compiler, the assembler if the program `has_assembly`, and the options that the
/// user chose.
pub(super) fn collect(
    lines: &CommandLines,
    observed: &Observed,
    has_assembly: bool,
) -> io::Result<BTreeMap<String, String>> {
    let mut facts = BTreeMap::new();
    let parts = observed.parts.values().collect();
    let title = lines.toolchain.title()?;
    let compiler = describe(&title, &lines.toolchain.compiler, parts)?;
    facts.insert("compiler".to_owned(), compiler);
    if has_assembly {
        let assembler = &lines.toolchain.assembler;
        let assembler = describe(first_line(&assembler.version()?), assembler, Vec::new())?;
        facts.insert("assembler".to_owned(), assembler);
    }
    let options = command_lines::without_places(lines.given_arguments().map(AsRef::as_ref));
    if !options.is_empty() {
        facts.insert("options".to_owned(), options);
    }
    let UserFlags { command_line, clauses } = &lines.user_flags;
    for (name, flags) in [("command line", command_line), ("compile clauses", clauses)] {
        let words = [flags.compile.as_slice(), &flags.link].concat();
        let words = user_flags::without_places(&words);
        if !words.is_empty() {
            facts.insert(name.to_owned(), words.join(" "));
        }
    }
    Ok(facts)
}

/// The title of a tool, and a hash of its version, its file and its `parts`.
fn describe(title: &str, tool: &Tool, parts: Vec<&ReadFile>) -> io::Result<String> {
    let version = tool.version()?;
    let own = ReadFile::new(&tool.path)?;
    let parts: Vec<&ReadFile> = parts.into_iter().chain([&own]).collect();
    let mut key = Key::new();
    key.add(&version);
    key.add(&together(&parts));
    Ok(format!("{title} ({})", key::short(&key.finish())))
}
