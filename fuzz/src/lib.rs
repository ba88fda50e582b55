//! What is done with a random text, and what must hold: no panic, and messages only about places that exist.

pub mod mutate;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use yamba_lang::source::SourceMap;
use yamba_lang::{Diagnostic, Files, Input};

/// The programs of the project: the library to resolve against, and texts to start from.
pub struct Library {
    files: BTreeMap<String, String>,
}

impl Library {
    /// Reads the library, the suite, the examples and the programs of the tests.
    pub fn read() -> Library {
        let mut files = BTreeMap::new();
        for folder in ["library", "suite", "examples", "tests", "crates/lang/tests"] {
            read_folder(&root().join(folder), &mut files);
        }
        Library { files }
    }

    /// All texts.
    pub fn texts(&self) -> Vec<&str> {
        self.files.values().map(String::as_str).collect()
    }

    fn library(&self) -> impl Iterator<Item = Input> {
        let files = self
            .files
            .iter()
            .filter(|(path, _)| path.contains("/library/"));
        files.map(|(path, text)| Input {
            path: path.clone(),
            text: text.clone(),
        })
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read_folder(folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_folder(&path, files);
            continue;
        }
        let is_program = path.extension().is_some_and(|e| e == "yamba");
        if let Some(text) = is_program.then(|| fs::read_to_string(&path).ok()).flatten() {
            files.insert(path.to_string_lossy().into_owned(), text);
        }
    }
}

impl Files for Library {
    fn find(&self, _from: &str, name: &str) -> Option<Input> {
        let end = format!("/{name}.yamba");
        self.library().find(|input| input.path.ends_with(&end))
    }

    fn around(&self, _from: &str) -> Vec<Input> {
        self.library().collect()
    }
}

/// Parses `text`.
pub fn parse(text: &str) {
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.yamba", text);
    let (_, diagnostics) = yamba_lang::syntax::parse(&sources, file);
    check(&sources, &diagnostics);
}

/// Parses and resolves `text` against the library; what is sound is composed for every target.
pub fn analyse(text: &str, library: &Library) {
    let input = Input {
        path: "fuzz.yamba".to_owned(),
        text: text.to_owned(),
    };
    let analysis = yamba_lang::analyse(vec![input], library);
    check(&analysis.sources, &analysis.diagnostics);
    if analysis.has_errors() {
        return;
    }
    for class in analysis.requested() {
        for target in analysis.targets() {
            analysis.program(class, &target);
        }
    }
}

fn check(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty());
        for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary) {
            // Panics for a range outside the text or inside a character.
            sources.text(label.span);
            sources.line_column(label.span);
        }
    }
}
