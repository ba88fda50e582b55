//! Invalid programs. `errors/FOLDER/NAME.yamba` must give exactly the messages in `NAME.txt`.
//!
//! `UPDATE_EXPECT=1 cargo test` rewrites the texts; review each of them.

#[path = "support/render.rs"]
mod render;
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use render::render;
use yamba_lang::source::SourceMap;

/// Checks every program of a folder. `read` gets its path and text and returns all messages.
fn check_folder(folder: &str, read: impl Fn(&str, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors").join(folder);
    let programs = programs(&folder);
    assert!(!programs.is_empty(), "no programs in {}", folder.display());
    let wrong: Vec<String> = programs.iter().filter_map(|program| check(program, &read)).collect();
    assert!(wrong.is_empty(), "{}\nUPDATE_EXPECT=1 accepts what is new", wrong.join("\n"));
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "yamba"));
    paths.sort();
    paths
}

/// The difference between expected and actual messages of a program, if any.
fn check(program: &Path, read: impl Fn(&str, &str) -> String) -> Option<String> {
    let name = program.file_name().expect("a file").to_string_lossy().into_owned();
    let text = fs::read_to_string(program).expect("the program");
    let actual = read(&name, &text);
    assert!(!actual.is_empty(), "{name} has no fault");
    let expectation = program.with_extension("txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expectation, &actual).expect("the expectation");
        return None;
    }
    let expected = fs::read_to_string(&expectation).unwrap_or_default();
    (actual != expected).then(|| format!("{name}: expected\n{expected}\nfound\n{actual}"))
}

#[test]
fn syntax() {
    check_folder("syntax", |path, text| {
        let mut sources = SourceMap::default();
        let file = sources.add(path, text);
        let (_, diagnostics) = yamba_lang::syntax::parse(&sources, file);
        render(&sources, &diagnostics)
    });
}

#[test]
fn resolve() {
    check_folder("resolve", |path, text| {
        let analysis = support::Shelf::new().analyse(path, text);
        render(&analysis.sources, &analysis.diagnostics)
    });
}
