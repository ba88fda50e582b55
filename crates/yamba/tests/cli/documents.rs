//! Every piece of Yamba in the documentation is checked. After the fence's ```yamba may stand: `members` (the inside of a
//! class), `terms` (the inside of a bitstring on x86_64), `error[KIND]` (the first error that it must give).

use std::fs;
use std::path::{Path, PathBuf};

use yamba::embedded::Home;
use yamba::files::Disk;
use yamba::render;
use yamba_lang::{Input, Severity};

use crate::support::root;

struct Snippet {
    path: PathBuf,
    line: usize,
    info: String,
    text: String,
}

#[test]
fn every_snippet_is_what_it_says() {
    let home = Home {
        runtime: root().join("runtime"),
        library: root().join("library"),
        suite: root().join("suite"),
    };
    let disk = Disk::new(Vec::new(), &home).unwrap();
    let snippets = all();
    assert!(snippets.len() >= 15, "{} snippets", snippets.len());
    let faults: Vec<String> = snippets.iter().filter_map(|s| fault(s, &disk)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn fault(snippet: &Snippet, disk: &Disk) -> Option<String> {
    let place = format!("{}:{}", snippet.path.display(), snippet.line);
    let (wrap, expected) = match snippet.info.split_once("error[") {
        Some((wrap, code)) => (wrap.trim(), Some(code.trim_end_matches(']'))),
        None => (snippet.info.as_str(), None),
    };
    let text = match wrap {
        "" => snippet.text.clone(),
        "members" => format!("yamba abstract example {{ {} }}", snippet.text),
        "terms" => format!(
            "yamba example on x86_64 {{ import(x86_64); unsigned int n; void benchmark() {{}} static void function() {{}} bitstring other = 0x90; bitstring example_bits(unsigned int index) {{ {} }} }}",
            snippet.text
        ),
        other => return Some(format!("{place}: a snippet cannot be `{other}`")),
    };
    let path = "documentation/snippet.yamba".to_owned();
    let analysis = yamba_lang::analyse(vec![Input { path, text }], disk);
    let first = analysis
        .diagnostics
        .iter()
        .find(|d| d.severity == Severity::Error);
    if first.map(|d| d.code) == expected {
        return None;
    }
    let shown = render::diagnostics(&analysis.sources, &analysis.diagnostics, false);
    Some(format!("{place}: expected {expected:?}\n{shown}"))
}

fn all() -> Vec<Snippet> {
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let docs = fs::read_dir(root().join("docs")).unwrap().flatten();
    files.extend(
        docs.map(|e| e.path())
            .filter(|p| p.extension().is_some_and(|e| e == "md")),
    );
    files.iter().flat_map(|f| snippets(f)).collect()
}

fn snippets(path: &Path) -> Vec<Snippet> {
    let text = fs::read_to_string(path).unwrap();
    let mut found: Vec<Snippet> = Vec::new();
    let mut fence: Option<bool> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), fence) {
            (Some(info), None) => {
                let words = info
                    .strip_prefix("yamba")
                    .filter(|rest| rest.is_empty() || rest.starts_with(' '));
                fence = Some(words.is_some());
                if let Some(words) = words {
                    let info = words.trim().to_owned();
                    found.push(Snippet {
                        path: path.to_owned(),
                        line: index + 1,
                        info,
                        text: String::new(),
                    });
                }
            }
            (Some(_), Some(_)) => fence = None,
            (None, Some(true)) => {
                let text = &mut found.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    found
}
