//! The blocks of a Markdown page. The info string of a fence is a language and marks: `console
//! exact on=x86_64`. Renderers show the language only. CONTRIBUTING.md lists the marks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::root;

/// Beginning of a comment with a shell script that prepares the following commands.
const SCRIPT: &str = "<!-- run first:";

pub struct Page {
    pub name: String,
    pub blocks: Vec<Block>,
}

impl Page {
    /// Whether the page is tested as root, too: it has a command for root, or is README.md.
    pub fn is_for_root(&self) -> bool {
        let is_for_root = |block: &Block| block.marks.get("as-root").is_some();
        self.name == "README.md" || self.blocks.iter().any(is_for_root)
    }
}

pub struct Block {
    /// The line of the fence, from 1.
    pub line: usize,
    pub kind: BlockKind,
    pub marks: Marks,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// A fenced block of this language.
    Fenced(String),
    /// A hidden script in a comment.
    Script,
}

/// The words after a block's language: `NAME`, `NAME=VALUE` or `NAME="WORDS"`. A mark without a
/// value has an empty one.
#[derive(Debug, Default, PartialEq)]
pub struct Marks(BTreeMap<String, String>);

/// README.md, CONTRIBUTING.md, docs/*.md and docs/notes/*.md.
pub fn all() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in ["docs", "docs/notes"] {
        for entry in fs::read_dir(root().join(folder)).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if Path::new(&name).extension().is_some_and(|e| e == "md") {
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    names.sort();
    let page = |name: String| {
        let text = fs::read_to_string(root().join(&name)).unwrap();
        Page::parse(name, &text)
    };
    names.into_iter().map(page).collect()
}

impl Page {
    pub fn parse(name: String, text: &str) -> Page {
        let mut blocks: Vec<Block> = Vec::new();
        let mut end: Option<&str> = None;
        for (index, line) in text.lines().enumerate() {
            if end == Some(line) {
                end = None;
            } else if end.is_some() {
                let text = &mut blocks.last_mut().expect("a block is open").text;
                text.push_str(line);
                text.push('\n');
            } else if let Some(info) = line.strip_prefix("```") {
                let (language, marks) = info.split_once(' ').unwrap_or((info, ""));
                let kind = BlockKind::Fenced(language.to_owned());
                blocks.push(Block::new(index + 1, kind, Marks::parse(marks)));
                end = Some("```");
            } else if line.starts_with(SCRIPT) {
                blocks.push(Block::new(index + 1, BlockKind::Script, Marks::default()));
                end = Some("-->");
            }
        }
        assert_eq!(end, None, "{name}: a block is not closed");
        Page { name, blocks }
    }

    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.name)
    }
}

impl Block {
    fn new(line: usize, kind: BlockKind, marks: Marks) -> Block {
        Block { line, kind, marks, text: String::new() }
    }

    pub fn is(&self, language: &str) -> bool {
        self.kind == BlockKind::Fenced(language.to_owned())
    }
}

impl Marks {
    fn parse(text: &str) -> Marks {
        let mut marks = BTreeMap::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = rest.find([' ', '=']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let (value, after) = match after.strip_prefix('=') {
                None => ("", after),
                Some(quoted) if quoted.starts_with('"') => quoted[1..]
                    .split_once('"')
                    .unwrap_or_else(|| panic!("no second quotation mark in `{text}`")),
                Some(word) => word.split_at(word.find(' ').unwrap_or(word.len())),
            };
            marks.insert(name.to_owned(), value.to_owned());
            rest = after.trim_start();
        }
        Marks(marks)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// KIND of `error[KIND]`.
    pub fn error(&self) -> Option<&str> {
        let mut names = self.0.keys();
        names.find_map(|name| name.strip_prefix("error[")?.strip_suffix(']'))
    }

    pub fn unknown(&self, known: &[&str]) -> Option<&str> {
        let is_unknown = |name: &&String| !known.contains(&name.as_str());
        let mut names = self.0.keys().filter(|n| !n.starts_with("error["));
        names.find(is_unknown).map(String::as_str)
    }
}

/// A command of a block, and the output that the page shows for it.
#[derive(Debug, PartialEq)]
pub struct Command {
    pub line: usize,
    pub text: String,
    pub shown: Vec<String>,
}

/// The commands of a `console` block (lines that begin with `$ `) or of an `sh` block (lines that
/// continue no other).
pub fn commands(block: &Block) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let has_prompts = block.is("console");
    let mut is_open = false;
    for (index, line) in block.text.lines().enumerate() {
        let begins = if has_prompts {
            line.strip_prefix("$ ")
        } else {
            Some(line).filter(|l| !l.trim().is_empty() && !l.starts_with('#'))
        };
        if is_open {
            let text = &mut found.last_mut().expect("a command is open").text;
            text.push('\n');
            text.push_str(line);
            is_open = is_continued(text);
        } else if let Some(text) = begins {
            is_open = is_continued(text);
            found.push(Command {
                line: block.line + index + 1,
                text: text.to_owned(),
                shown: Vec::new(),
            });
        } else if has_prompts {
            let command = found.last_mut().expect("output stands after a command");
            command.shown.push(line.to_owned());
        }
    }
    found
}

/// Whether a quotation is open at the end, or the line ends with a backslash.
fn is_continued(text: &str) -> bool {
    let last = scan(text).pop();
    last.is_some_and(|(_, part)| part == Part::Quoted) || text.ends_with('\\')
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Plain,
    Quoted,
    Comment,
}

/// Each character of a shell command and whether it is quoted or in a comment.
fn scan(text: &str) -> Vec<(char, Part)> {
    let mut quotation = None;
    let mut is_comment = false;
    let mut before = ' ';
    let mut found = Vec::new();
    for c in text.chars() {
        match quotation {
            Some(open) if open == c => quotation = None,
            Some(_) => {}
            None if c == '\n' => is_comment = false,
            None if c == '#' && before.is_whitespace() => is_comment = true,
            None if !is_comment && (c == '\'' || c == '"') => quotation = Some(c),
            None => {}
        }
        let part = match (is_comment, quotation) {
            (true, _) => Part::Comment,
            (_, Some(_)) => Part::Quoted,
            _ => Part::Plain,
        };
        found.push((c, part));
        before = c;
    }
    found
}

/// Each call of `yamba` in a command line, from that word up to the end of the simple command.
pub fn calls(command: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (c, part) in scan(command) {
        if part == Part::Plain && "|;&><\n".contains(c) {
            parts.push(String::new());
        } else if part != Part::Comment {
            parts.last_mut().expect("there is one").push(c);
        }
    }
    // After `-p`, `yamba` is the name of a package.
    let call = |part: &String| {
        let part = format!(" {part} ").replace(" -p yamba ", " ");
        let at = part.find(" yamba ")?;
        Some(part[at..].trim().to_owned())
    };
    parts.iter().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Text.

```console exact on=x86_64
$ yamba one    # it's a comment
shown
$ yamba two
```

<!-- run first:
yamba hidden
-->

```sh not-run=\"needs another host\"
yamba run a \\
    b
jq '.[] |
  .x' FILE
```
";

    #[test]
    fn page_has_blocks_with_marks_and_scripts() {
        let page = Page::parse("p.md".to_owned(), TEXT);
        let lines: Vec<usize> = page.blocks.iter().map(|b| b.line).collect();
        assert_eq!(lines, [3, 9, 13]);
        let [console, script, sh] = &page.blocks[..] else {
            panic!("{}", page.blocks.len());
        };
        assert!(console.is("console") && console.marks.has("exact"));
        assert_eq!(console.marks.get("on"), Some("x86_64"));
        assert_eq!(console.marks.unknown(&["exact"]), Some("on"));
        assert_eq!(script.text, "yamba hidden\n");
        assert_eq!(sh.marks.get("not-run"), Some("needs another host"));
    }

    #[test]
    fn commands_have_their_lines_and_their_output() {
        let page = Page::parse("p.md".to_owned(), TEXT);
        let console = commands(&page.blocks[0]);
        assert_eq!(console.len(), 2);
        assert_eq!((console[0].line, console[1].line), (4, 6));
        assert_eq!(console[0].shown, ["shown"]);
        assert!(console[1].shown.is_empty());
        let sh = commands(&page.blocks[2]);
        let texts: Vec<&str> = sh.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["yamba run a \\\n    b", "jq '.[] |\n  .x' FILE"]);
    }

    #[test]
    fn calls_are_found_within_pipes_and_behind_other_words() {
        assert!(calls("cargo run -p yamba --test cli").is_empty());
        let found = calls(
            "A=. yamba run x --set a='b|c' > y | yamba show; unshare -n yamba list # yamba no",
        );
        assert_eq!(found, ["yamba run x --set a='b|c'", "yamba show", "yamba list"]);
    }
}
