//! Counts the table of docs/porting.md from the sources. `UPDATE_EXPECT=1` rewrites it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use yamba_lang::ast::{Class, Parent};
use yamba_lang::source::SourceMap;
use yamba_lang::{Severity, syntax};

const BEGIN: &str = "<!-- counted from suite/ by crates/yamba/tests/port_labour.rs -->\n";
const END: &str = "<!-- end of the count -->";

/// A class, and the number of its lines that are not blank or comments.
struct Counted {
    class: Class,
    lines: usize,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn yamba_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the suite can be listed") {
        let path = entry.expect("the suite can be listed").path();
        if path.is_dir() {
            yamba_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "yamba") {
            out.push(path);
        }
    }
}

/// Counts from the `yamba` line to the closing brace, without blank and comment lines.
fn count(text: &str, class: &Class) -> usize {
    let start = text[..class.header.start as usize].rfind('\n').map_or(0, |i| i + 1);
    let last = class.members.last().map_or(class.header.end, |m| m.span.end) as usize;
    let end = last + text[last..].find('}').expect("a class ends") + 1;
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    text[start..end].lines().map(str::trim).filter(is_code).count()
}

fn suite() -> Vec<Counted> {
    let mut paths = Vec::new();
    yamba_files(&repository().join("suite"), &mut paths);
    paths.sort();
    let mut counted = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a suite file is readable");
        let mut sources = SourceMap::default();
        let id = sources.add(path.display().to_string(), text.clone());
        let (file, diagnostics) = syntax::parse(&sources, id);
        assert!(diagnostics.iter().all(|d| d.severity != Severity::Error), "{diagnostics:#?}");
        counted.extend(
            file.classes.into_iter().map(|class| Counted { lines: count(&text, &class), class }),
        );
    }
    counted
}

fn ports_by_template(suite: &[Counted]) -> BTreeMap<&str, Vec<&Counted>> {
    let mut ports: BTreeMap<&str, Vec<&Counted>> = BTreeMap::new();
    for counted in suite {
        if let Parent::Ports(base) = &counted.class.parent {
            ports.entry(&base.text).or_default().push(counted);
        }
    }
    ports
}

fn table(suite: &[Counted]) -> String {
    let mut out =
        String::from("\n| template | lines | lines of each port |\n| --- | --- | --- |\n");
    for (template, ports) in ports_by_template(suite) {
        let Some(base) = suite.iter().find(|c| c.class.name.text == template) else {
            continue;
        };
        let shown: Vec<String> = ports
            .iter()
            .map(|p| {
                let name = &p.class.name.text;
                let short = name
                    .strip_prefix(template)
                    .map_or(name.as_str(), |n| n.trim_start_matches('_'));
                format!("{short} {}", p.lines)
            })
            .collect();
        let _ = writeln!(out, "| `{template}` | {} | {} |", base.lines, shown.join(", "));
    }
    out.push('\n');
    out
}

#[test]
fn documented_port_sizes_match_sources() {
    let path = repository().join("docs/porting.md");
    let text = std::fs::read_to_string(&path).expect("docs/porting.md");
    let start = text.find(BEGIN).expect("the table's first mark") + BEGIN.len();
    let end = text.find(END).expect("the table's last mark");
    let counted = table(&suite());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let updated = format!("{}{counted}{}", &text[..start], &text[end..]);
        std::fs::write(&path, updated).expect("docs/porting.md is writable");
    } else {
        assert_eq!(
            &text[start..end],
            counted,
            "run the tests with UPDATE_EXPECT=1 and review docs/porting.md"
        );
    }
}

#[test]
fn port_of_pagefault_has_at_most_twenty_lines() {
    let suite = suite();
    let ports = &ports_by_template(&suite)["pagefault"];
    assert!(ports.len() >= 5, "four instruction sets and a system");
    for port in ports {
        assert!(port.lines <= 20, "{} has {} lines", port.class.name.text, port.lines);
    }
}
