//! Facts about a program's inputs that are not stored as text: its tools and options.

use std::collections::BTreeMap;
use std::io;

use yamba_record::run::UserFlags;

use super::command_lines::{self, CommandLines};
use super::identity;
use super::key::{self, Key};
use super::observe::Observed;
use super::read_file::ReadFile;
use super::tool::{Tool, first_line};
use super::user_flags;

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
    key.add(&identity::together(&parts));
    Ok(format!("{title} ({})", key::short(&key.finish())))
}
