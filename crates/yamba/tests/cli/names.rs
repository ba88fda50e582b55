//! Product Rust names no benchmark of the suite, and no class or parameter of the library: those
//! belong to Yamba code.
//!
//! A string literal that equals such a name is a fault, unless [`EXCEPTIONS`] has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use yamba_lang::ast::MemberKind;
use yamba_lang::{Files, Input};

use crate::rust_tokens::{Token, tokens};
use crate::support::root;

/// Literals that equal a name: the file or folder in `crates`, the literals, and the reason.
const EXCEPTIONS: &[(&str, &[&str], &str)] = &[
    (
        "lang/src/resolve",
        &["Benchmark", "Latency", "InstructionSet", "OperatingSystem"],
        "the language's root classes and its default parent",
    ),
    ("codegen/src/program.rs", &["Benchmark"], "a root class"),
    ("toolchain/src/source_snapshot.rs", &["InstructionSet", "OperatingSystem"], "root classes"),
    (
        "session/src/time",
        &["Instruction", "code", "number", "x86_64"],
        "writes classes that extend `Instruction` and `Statement`, and sweeps their parameters",
    ),
    (
        "session/src/selftest",
        &[
            "lat_integer_add",
            "lat_integer_multiply",
            "lat_l1_load",
            "known_delay",
            "known_time",
            "known_sleep",
            "known_fault",
        ],
        "the table of benchmarks with figures that are known in advance",
    ),
    (
        "store/src/import/lmbench.rs",
        &["lat_ctx", "size", "stride", "operation", "microseconds"],
        "lmbench's own names, and words of its results",
    ),
    (
        "machine/src",
        &["linux", "x86_64", "x86_32", "aarch64", "riscv64"],
        "platforms that differ in what the machine reports",
    ),
    (
        "toolchain/src",
        &["darwin", "x86_64", "x86_32", "aarch64", "riscv64"],
        "platforms, for this machine's name and for the disassembler",
    ),
    ("store/src/export/go.rs", &["x86_64", "aarch64"], "platforms with another name in Go"),
    (
        "machine/src",
        &["memory", "Instruction", "huge_pages"],
        "a controller of control groups, a word of the CPUID database, a rule",
    ),
    ("harness/src/control_group.rs", &["memory"], "a controller of control groups"),
    ("compare/src/identity.rs", &["compiler", "memory"], "facts of a run"),
    ("toolchain/src/build/facts.rs", &["compiler"], "a fact of a run"),
    ("toolchain/src/build/snapshot_includes.rs", &["files"], "a folder of the cache"),
    ("toolchain/src/suite_topics.rs", &["memory"], "a folder of the suite"),
    ("yamba/src/cli/compare/comment.rs", &["Benchmark"], "the head of a column"),
    ("report/src", &["Benchmark", "number"], "the head of a column, and a class of the page"),
    ("store/src/export/google.rs", &["size"], "a key of Google Benchmark"),
    ("yamba/src/cli/check.rs", &["files", "kind", "message", "line"], "keys of `check --json`"),
    ("yamba/src/cli/groups.rs", &["check"], "a command"),
    (
        "trace/src/bpf",
        &["files", "host", "x86_64"],
        "fields of the kernel's structs of a thread and of a cached file, and the processor whose registers the programs read",
    ),
    (
        "yamba/src/cli/machine/facts.rs",
        &["sockets", "code", "size", "cache"],
        "words of `yamba machine`",
    ),
    ("yamba/src/cli/predict/table.rs", &["size"], "the head of a column"),
    ("store/src/location.rs", &["host"], "a key of PostgreSQL's service files"),
    ("yamba/src/cli/runs.rs", &["memory"], "a key of `runs --json`"),
];

#[test]
fn rust_names_no_benchmark_and_nothing_of_the_library() {
    let names = names();
    for (name, meaning) in
        [("lat_pipe", "a benchmark"), ("host", "a parameter"), ("hosts", "a class")]
    {
        assert_eq!(names[name], meaning);
    }
    let mut faults = Vec::new();
    let mut unused: BTreeSet<(&str, &str)> = EXCEPTIONS
        .iter()
        .flat_map(|(place, literals, _)| literals.iter().map(move |l| (*place, *l)))
        .collect();
    for (file, literals) in product_literals() {
        for literal in literals {
            let Some(meaning) = names.get(&literal) else {
                continue;
            };
            let excepted = EXCEPTIONS.iter().find(|(place, literals, _)| {
                Path::new(&file).starts_with(place) && literals.contains(&literal.as_str())
            });
            match excepted {
                Some((place, ..)) => unused.retain(|u| *u != (*place, literal.as_str())),
                None => faults.push(format!("{file}: \"{literal}\" is {meaning}")),
            }
        }
    }
    assert!(
        faults.is_empty(),
        "declare it in the Yamba code instead, for example by a tag or a property (docs/language.md):\n{}",
        faults.join("\n")
    );
    assert!(unused.is_empty(), "exceptions without use: {unused:?}");
}

#[test]
fn literals_of_product_code_are_found() {
    let text = r##"
        //! "in a comment"
        #[serde(rename = "in an attribute")]
        const A: &str = "one";
        #[cfg(test)]
        mod away;
        fn f<'a>() -> char { g!(r#"two"#, '"', b"bytes", ["three\n"]); '\'' }
        #[cfg(test)]
        #[allow(dead_code)]
        fn of_tests() { "in a test" }
        #[cfg(test)]
        mod tests { const B: &str = "in a test"; }
        const C: [&str; 1] = ["four"];
    "##;
    let mut found = Literals::default();
    found.read(&tokens(text));
    assert_eq!(found.literals, ["one", "two", "three\n", "four"]);
    assert_eq!(found.test_modules, ["away"]);
}

/// The names, each with what it is.
fn names() -> BTreeMap<String, &'static str> {
    let inputs = ["library", "suite"].map(|folder| files(&root().join(folder), "yamba"));
    let inputs = inputs.iter().flatten().map(|path| Input {
        path: path.display().to_string(),
        text: fs::read_to_string(path).unwrap(),
    });
    let analysis = yamba_lang::analyse(inputs.collect(), &Alone);
    let library = root().join("library");
    let mut names = BTreeMap::new();
    for class in &analysis.classes {
        if !Path::new(&analysis.sources.file(class.file).path).starts_with(&library) {
            if analysis.is_listed(class.id) {
                names.insert(class.name().to_owned(), "a benchmark");
            }
            continue;
        }
        names.insert(class.name().to_owned(), "a class");
        for member in &class.ast.members {
            if let MemberKind::Param(parameter) = &member.kind {
                names.insert(parameter.name.text.clone(), "a parameter");
            }
        }
    }
    names
}

/// No file but those that are given.
struct Alone;

impl Files for Alone {
    fn find(&self, _: &str, _: &str) -> Option<Input> {
        None
    }

    fn around(&self, _: &str) -> Vec<Input> {
        Vec::new()
    }
}

/// Each product file, as a path in `crates`, with its string literals.
fn product_literals() -> BTreeMap<String, Vec<String>> {
    let crates = root().join("crates");
    let (mut found, mut of_tests) = (BTreeMap::new(), Vec::new());
    for folder in fs::read_dir(&crates).unwrap().flatten() {
        for path in files(&folder.path().join("src"), "rs") {
            let mut literals = Literals::default();
            literals.read(&tokens(&fs::read_to_string(&path).unwrap()));
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let inner = match stem {
                "lib" | "main" | "mod" => path.parent().unwrap().to_owned(),
                _ => path.with_extension(""),
            };
            let modules = literals.test_modules.iter();
            of_tests
                .extend(modules.flat_map(|m| [inner.join(m), inner.join(m).with_extension("rs")]));
            found.insert(path, literals.literals);
        }
    }
    found.retain(|path, _| !of_tests.iter().any(|t| path.starts_with(t)));
    assert!(found.len() > 200, "{} files", found.len());
    let shown = |path: PathBuf| path.strip_prefix(&crates).unwrap().display().to_string();
    found.into_iter().map(|(path, of)| (shown(path), of)).collect()
}

/// The content of a Rust text outside its attributes, comments and tests.
#[derive(Default)]
struct Literals {
    /// The values of its string literals.
    literals: Vec<String>,
    /// The modules with a file of their own that exist only in tests.
    test_modules: Vec<String>,
}

impl Literals {
    fn read(&mut self, text: &[Token]) {
        let mut tokens = text.iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Mark('#') => {
                    tokens.next_if(|t| **t == Token::Mark('!'));
                    let attribute = tokens.next().expect("an attribute");
                    if attribute.to_string() == "[cfg(test)]" {
                        self.pass_over(&mut tokens);
                    }
                }
                Token::Group(_, inside) => self.read(inside),
                Token::Literal(literal) => self.literals.extend(value(literal)),
                _ => {}
            }
        }
    }

    /// Passes over the item of a test: to its block or semicolon.
    fn pass_over<'a>(&mut self, tokens: &mut impl Iterator<Item = &'a Token>) {
        let mut before: Vec<String> = Vec::new();
        for token in tokens {
            match token {
                Token::Group('{', _) => return,
                Token::Mark(';') => {
                    if let [.., of, name] = &before[..]
                        && of == "mod"
                    {
                        self.test_modules.push(name.clone());
                    }
                    return;
                }
                _ => before.push(token.to_string()),
            }
        }
    }
}

/// The value of a string literal. `None` for another literal.
fn value(literal: &str) -> Option<String> {
    let raw = literal.strip_prefix('r').map(|l| l.trim_matches('#'));
    let inside = raw.unwrap_or(literal).strip_prefix('"')?.strip_suffix('"')?;
    Some(match raw {
        Some(_) => inside.to_owned(),
        None => inside.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\"),
    })
}

/// The files with this extension in a folder and its folders.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}
