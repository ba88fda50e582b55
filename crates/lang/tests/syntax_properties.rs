//! Properties of parsing any text, valid or not: it terminates, and all positions in its messages
//! exist.

#[path = "support/tree.rs"]
mod tree;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use yamba_lang::Diagnostic;
use yamba_lang::source::{FileId, SourceMap, Span};

/// Fragments of the language, from which random texts are generated that resemble valid ones.
const PIECES: &[&str] = &[
    "yamba",
    "abstract",
    "a",
    "b",
    "extends",
    "ports",
    "on",
    "nothing",
    "x86_64",
    "linux",
    ">=",
    "<",
    "6.1",
    "&&",
    "||",
    "!",
    "root",
    "cpu(",
    "file(\"",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    ".",
    "=",
    "*",
    "native",
    "param",
    "int",
    "over",
    "log(",
    "quick",
    "bitstring",
    "c_function(",
    "void",
    "evidence",
    "double",
    "expects",
    "[0, 1]",
    "at_least",
    "1 cycle",
    "chart",
    "stands_for",
    "against",
    "by",
    "fit",
    "linear",
    "tags",
    "compile",
    "import(",
    "0x8B",
    "0b01",
    "0x",
    "7",
    "le(",
    "be(",
    "bits(",
    "word(8)",
    "asm {",
    "${",
    "unroll (;;)",
    "if (",
    "else",
    "label",
    "rel(",
    "align(",
    "abs(",
    "offset(",
    "super::",
    "//",
    "///",
    "/*",
    "*/",
    "\"",
    "'",
    "R\"d(",
    ")d\"",
    "\\",
    "#",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "\u{0}",
    "é",
    "\u{202e}",
    "“",
];

fn parse(text: &str) -> (SourceMap, yamba_lang::ast::File, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let file = sources.add("t.yamba", text);
    let (tree, diagnostics) = yamba_lang::syntax::parse(&sources, file);
    (sources, tree, diagnostics)
}

fn spans(diagnostics: &[Diagnostic]) -> impl Iterator<Item = Span> {
    let labels = diagnostics.iter().flat_map(|d| std::iter::once(&d.primary).chain(&d.secondary));
    labels.map(|label| label.span)
}

/// Checks that parsing ends, and that all ranges in messages and tree are within the text and on
/// character boundaries.
fn check(text: &str) -> Result<(), TestCaseError> {
    let (sources, tree, diagnostics) = parse(text);
    for span in spans(&diagnostics) {
        prop_assert_eq!(span.file, FileId(0));
        prop_assert!(span.start <= span.end, "{:?}", span);
        prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{:?}", span);
        sources.line_column(span);
    }
    // The printer reads every range of the tree from the text.
    tree::print(&sources, &tree);
    for class in &tree.classes {
        for member in &class.members {
            prop_assert!(
                class.header.end <= member.span.start && member.span.start < member.span.end
            );
        }
    }
    Ok(())
}

/// The programs in this crate's tests.
fn corpus() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut texts = Vec::new();
    for folder in ["syntax", "resolve"] {
        for entry in fs::read_dir(tests.join(folder)).expect("a folder of programs") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "yamba") {
                texts.push(fs::read_to_string(path).expect("a program"));
            }
        }
    }
    texts
}

fn near_correct() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..80).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_parsed(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_sequence_of_fragments_is_parsed(text in near_correct()) {
        check(&text)?;
        check(&format!("yamba a {{ {text} }}"))?;
        check(&format!("yamba a {{ bitstring b {{ {text} }} }}"))?;
    }

    #[test]
    fn text_with_removed_part_is_parsed(
        text in prop::sample::select(corpus()),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let chars: Vec<char> = text.chars().collect();
        let (a, b) = (cut.0.index(chars.len()), cut.1.index(chars.len()));
        let (a, b) = (a.min(b), a.max(b));
        check(&chars[..a].iter().collect::<String>())?;
        check(&chars[..a].iter().chain(&chars[b..]).collect::<String>())?;
    }

    #[test]
    fn concatenated_texts_give_all_classes(
        texts in prop::collection::vec(prop::sample::select(corpus()), 1..4),
    ) {
        let correct: Vec<&String> = texts.iter().filter(|t| parse(t).2.is_empty()).collect();
        let mut apart = String::new();
        for text in &correct {
            let (sources, tree, _) = parse(text);
            apart += &tree::print(&sources, &tree);
        }
        let joined: String = correct.iter().map(|t| format!("{t}\n")).collect();
        let (sources, tree, diagnostics) = parse(&joined);
        prop_assert!(diagnostics.is_empty(), "{:?}", diagnostics);
        // Line numbers of assembly count from the start of the text.
        let without_lines = |text: &str| -> Vec<String> {
            text.lines().map(|l| l.trim_start().trim_start_matches("line ").trim_start_matches(char::is_numeric).to_owned()).collect()
        };
        prop_assert_eq!(without_lines(&tree::print(&sources, &tree)), without_lines(&apart));
    }
}

/// Texts on which quadratic steps would take very long.
#[test]
fn long_texts_are_parsed_in_linear_time() {
    let repeated = [
        "yamba a\n",
        "yamba a on ",
        "yamba a { ",
        "yamba a /*\n",
        "yamba a { R\"x(\n",
        "yamba a { bitstring b { asm {\n",
        "yamba a { int x\n",
        "{",
        "}",
        "(",
        "[",
        "([{",
        "a(",
        "int a = ",
        "x ",
        "x\n",
        ", ",
        "yamba a { } }",
        "/",
        "\"",
        "'",
        "asm {",
        "asm { ${",
        "yamba a ports b\n",
        "native {",
        "yamba a { bitstring b { if (n) {",
        "\u{0}a",
        "é ",
        "yamba a { } ) ( ",
        "/// d\n",
        "yamba a { bitstring<",
        "<",
        "!",
        "&& ",
        "yamba a { int a<",
        "else if (n) { } ",
    ];
    for piece in repeated {
        let text = piece.repeat((1 << 17) / piece.len());
        parse(&text);
        parse(&format!("yamba a {{ {text}"));
        parse(&format!("yamba a {{ bitstring b {{ if (n) {{ }} {text}"));
        parse(&format!("yamba a {{ void f() {{ {text}"));
        parse(&format!("yamba a on linux {text} {{ }}"));
        parse(&format!("yamba a {{ param int x = {text}; }}"));
        parse(&format!("yamba a {{ void f({text}); }}"));
    }
}
