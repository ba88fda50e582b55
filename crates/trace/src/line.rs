//! One line of strace's output.

use crate::call::{Arguments, Kind, Property};
use crate::descriptors::shown_kind;

/// A line with its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The process or thread. 0 if the line names none: only one process was traced.
    pub process: u32,
    /// The event.
    pub content: Content<'a>,
}

/// The event that a line reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// A whole call, or the first part of one: `close(3) = 0`, `close(3 <unfinished ...>`.
    Call(&'a str),
    /// The rest of an interrupted call, after `<... close resumed>`.
    Resumed(&'a str),
    /// A signal, the end of a process, or a remark of strace.
    Other(&'a str),
}

/// A call that has returned, as strace shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCall<'a> {
    /// Name of the system call.
    pub name: &'a str,
    /// Its arguments, as strace shows them.
    pub arguments: Vec<&'a str>,
    /// The result. `None`: the call does not return, or its result is an address.
    pub result: Option<i64>,
}

/// Reads a line. `None`: it is not one of strace.
pub fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim();
    let (process, rest) = process(text);
    let rest = without_time(rest);
    let content = if rest.starts_with("--- ") || rest.starts_with("+++ ") {
        Content::Other(rest)
    } else if let Some(rest) = rest.strip_prefix("<... ") {
        Content::Resumed(rest.split_once(" resumed>")?.1)
    } else {
        let (name, _) = rest.split_once('(')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        Content::Call(rest)
    };
    Some(Line { process, content })
}

/// The process at the beginning: `[pid 123] ` or `123 `.
fn process(text: &str) -> (u32, &str) {
    let bracketed = text
        .strip_prefix("[pid ")
        .and_then(|rest| rest.split_once(']'));
    let found = bracketed.or_else(|| text.split_once(' '));
    let number = found.and_then(|(number, rest)| Some((number.trim().parse().ok()?, rest)));
    number.map_or((0, text), |(process, rest)| (process, rest.trim_start()))
}

/// Removes the time that `-t` and `-r` print.
fn without_time(text: &str) -> &str {
    let is_time = |word: &str| {
        word.contains(['.', ':']) && word.chars().all(|c| c.is_ascii_digit() || ".:".contains(c))
    };
    match text.split_once(' ') {
        Some((word, rest)) if is_time(word) => rest.trim_start(),
        _ => text,
    }
}

/// The first part of an interrupted call.
pub fn unfinished(text: &str) -> Option<&str> {
    Some(text.strip_suffix("<unfinished ...>")?.trim_end())
}

/// Reads a whole call. `None`: the text does not have the form of a call with its result.
pub fn call(text: &str) -> Option<ShownCall<'_>> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, rest) = arguments(rest)?;
    let (_, result) = rest.split_once("= ")?;
    let word = result.split([' ', '<']).next()?;
    let result = match word {
        "?" => None,
        word if word.starts_with("0x") => None,
        word => Some(word.parse().ok()?),
    };
    Some(ShownCall {
        name,
        arguments,
        result,
    })
}

/// Splits the arguments at the commas outside brackets and texts. Returns them with the text after the closing bracket.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut found = Vec::new();
    let (mut depth, mut begin, mut in_text, mut escaped) = (0, 0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                found.push(text[begin..at].trim());
                return Some((found, &text[at + 1..]));
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    None
}

impl ShownCall<'_> {
    fn argument(&self, index: usize) -> &str {
        self.arguments.get(index).copied().unwrap_or_default()
    }
}

impl Arguments for ShownCall<'_> {
    fn descriptor(&self, index: usize) -> Option<i64> {
        number(self.argument(index))
    }

    /// `3<TCP:[...]>` with `strace -yy`.
    fn shown_kind(&self, index: usize) -> Option<Kind> {
        let (_, shown) = self.argument(index).split_once('<')?;
        Some(shown_kind(shown))
    }

    fn size(&self, index: usize) -> Option<f64> {
        self.argument(index).parse().ok()
    }

    /// `3</etc/passwd>` with `strace -y` and `-yy`.
    fn shown_path(&self, index: usize) -> Option<&str> {
        let (_, shown) = self.argument(index).split_once('<')?;
        let path = shown.split('>').next()?;
        (path.starts_with('/') && shown_kind(shown) == "file").then_some(path)
    }

    fn path(&self) -> &str {
        let path = self.arguments.iter().find_map(|a| a.strip_prefix('"'));
        path.and_then(|path| path.split('"').next())
            .unwrap_or_default()
    }

    fn pair(&self, index: usize) -> Vec<i64> {
        let both = self.argument(index).trim_matches(['[', ']']).split(',');
        both.filter_map(|n| number(n.trim())).collect()
    }

    fn has(&self, property: Property) -> bool {
        let has = |word: &str| self.arguments.iter().any(|a| a.contains(word));
        match property {
            // strace does not show it.
            Property::Blocked => false,
            Property::Directory => has("O_DIRECTORY"),
            Property::Appends => has("O_APPEND"),
            Property::Thread => has("CLONE_THREAD"),
            Property::SharesMemory => {
                self.name == "vfork" || has("CLONE_VM") && !has("CLONE_THREAD")
            }
            Property::SharesFiles => has("CLONE_FILES") || has("CLONE_THREAD"),
            Property::Duplicates => self.argument(1).starts_with("F_DUPFD"),
            Property::EmptyPath => self.argument(1) == "\"\"",
            Property::Unix => has("AF_UNIX"),
            Property::Netlink => has("AF_NETLINK"),
            Property::Stream => has("SOCK_STREAM"),
            Property::Datagrams => has("SOCK_DGRAM"),
        }
    }
}

/// A descriptor as strace shows it: `3` or `3</etc/passwd>`.
fn number(text: &str) -> Option<i64> {
    let number = text.split('<').next()?.parse().ok();
    number.filter(|number| *number >= 0)
}
