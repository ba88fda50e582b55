//! A call with its arguments and result, as strace shows it.

use std::borrow::Cow;

use crate::call::{Arguments, Kind, Pointed, Property};
use crate::descriptors::shown_kind;

/// A call that has returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCall<'a> {
    /// Name of the system call.
    pub name: &'a str,
    /// Its arguments, as strace shows them.
    pub arguments: Vec<&'a str>,
    /// How it returned.
    pub outcome: Outcome,
    /// The first path among the arguments, without escapes.
    path: Cow<'a, str>,
}

/// How a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this result.
    Value(i64),
    /// With an address.
    Address,
    /// With an error.
    Failed,
    /// It did not return: `= ?`.
    None,
}

/// Calls whose result is an address.
const ADDRESSES: [&str; 5] = ["mmap", "mmap2", "brk", "mremap", "shmat"];

/// Calls that never return.
pub const ENDS: [&str; 2] = ["exit", "exit_group"];

/// Calls that make a process or thread.
const MAKING: [&str; 4] = ["fork", "vfork", "clone", "clone3"];

/// Whether the first part of a call is of one that makes a process or thread.
pub fn makes_process(begun: &str) -> bool {
    MAKING.iter().any(|name| is_call_of(begun, name))
}

/// Whether the first part of a call is of the call with this name.
pub fn is_call_of(begun: &str, name: &str) -> bool {
    begun.strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
}

/// Splits a whole call. `None`: it does not have the form of a call with its result.
pub fn split(text: &str) -> Option<ShownCall<'_>> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, rest) = arguments(rest)?;
    let result = rest.trim_start().strip_prefix('=')?.strip_prefix(' ')?;
    let outcome = outcome(result.trim(), ADDRESSES.contains(&name))?;
    let path = arguments.iter().find_map(|argument| text_of(argument));
    let path = path.unwrap_or_default();
    Some(ShownCall { name, arguments, outcome, path })
}

/// Reads the result: a number, an address or an error, and remarks in brackets.
fn outcome(text: &str, is_address: bool) -> Option<Outcome> {
    let (word, rest) = match text.split_once(' ') {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    };
    // `3</etc/passwd>`: the file may have spaces.
    if let Some((number, shown)) = text.split_once('<').filter(|(n, _)| is_digits(n)) {
        let rest = &shown[angle_end(shown)?..];
        let rest = rest.strip_prefix("(deleted)").unwrap_or(rest);
        return are_remarks(rest).then_some(Outcome::Value(number.parse().ok()?));
    }
    let (outcome, rest) = match word {
        "?" => match rest.strip_prefix("ERESTART") {
            Some(reason) => (Outcome::Failed, reason.split_once(' ').map_or("", |both| both.1)),
            None => (Outcome::None, rest.strip_prefix("<unavailable>").unwrap_or(rest)),
        },
        "-1" => (Outcome::Failed, after_error(rest)?),
        word => match word.strip_prefix("0x") {
            Some(digits) => {
                let value = i64::from_str_radix(digits, 16);
                let is_hexadecimal = digits.bytes().all(|b| b.is_ascii_hexdigit());
                if !is_hexadecimal || digits.is_empty() {
                    return None;
                }
                let outcome =
                    if is_address { Outcome::Address } else { Outcome::Value(value.ok()?) };
                (outcome, rest)
            }
            None => {
                let value = word.parse().ok().filter(|_| is_digits(word))?;
                (Outcome::Value(value), rest)
            }
        },
    };
    are_remarks(rest).then_some(outcome)
}

/// The text after the name of an error: `ENOENT (No such file or directory)`.
fn after_error(text: &str) -> Option<&str> {
    if text.starts_with("(errno ") {
        return Some(text);
    }
    let digits = |c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit());
    let end = text.find(digits).unwrap_or(text.len());
    (text.starts_with('E') && end > 1).then(|| text[end..].trim_start())
}

/// Whether nothing but remarks follows a result: `(flags O_RDONLY)`, `(INJECTED)`, and the time of
/// `-T`.
fn are_remarks(text: &str) -> bool {
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = match rest.as_bytes()[0] {
            b'(' => bracket_end(rest),
            b'<' => time_end(rest),
            _ => None,
        };
        match end {
            // truss of FreeBSD shows each result in hexadecimal digits, too.
            Some(end) if !rest.starts_with("(0x") => rest = rest[end..].trim_start(),
            _ => return false,
        }
    }
    true
}

/// The end of a text in round brackets.
fn bracket_end(text: &str) -> Option<usize> {
    let (_, rest) = arguments(text.strip_prefix('(')?)?;
    Some(text.len() - rest.len())
}

/// The end of `<0.000012>`.
fn time_end(text: &str) -> Option<usize> {
    let end = text.find('>')?;
    let number = &text[1..end];
    let is_time = number.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
    (is_time && !number.is_empty()).then_some(end + 1)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Splits the arguments at the commas outside brackets and texts. Returns them with the text after
/// the closing bracket.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut found = Vec::new();
    let (mut depth, mut begin, mut at) = (0_usize, 0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += text_end(&text[at..])? - 1,
            // `3</etc/passwd>`, but neither `1<<CAP_CHOWN` nor `<unfinished ...>`
            b'<' if at > 0 && is_shown(bytes[at - 1]) && bytes.get(at + 1) != Some(&b'<') => {
                at += angle_end(&text[at + 1..])?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                found.push(text[begin..at].trim());
                return Some((found, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                found.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether a number or `AT_FDCWD` ends with this byte, and may have its file or command in angle
/// brackets.
fn is_shown(before: u8) -> bool {
    before.is_ascii_digit() || before == b'D'
}

/// The end of a text behind its opening quotation mark.
fn text_end(text: &str) -> Option<usize> {
    let (mut escaped, mut at) = (false, 1);
    for byte in text.bytes().skip(1) {
        at += 1;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// The length of the text in angle brackets with the closing one. `text` begins behind the opening
/// one.
fn angle_end(text: &str) -> Option<usize> {
    let (mut depth, mut before) = (1, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            // TCP:[127.0.0.1:1->127.0.0.1:2]
            b'>' if before != b'-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        before = byte;
    }
    None
}

/// The text of an argument. `None` if the argument is not a text.
pub fn text_of(argument: &str) -> Option<Cow<'_, str>> {
    let end = text_end(argument).filter(|_| argument.starts_with('"'))?;
    Some(unescaped(&argument[1..end - 1]))
}

/// Replaces the escapes of C, which strace uses for quotation marks and bytes that are not
/// printable, or for all bytes (`-xx`).
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'\\' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let (digits, radix, skipped) = match after.first() {
            Some(b'x') => (after[1..].iter().take(2), 16, 1),
            _ => (after.iter().take(3), 8, 0),
        };
        let is_digit = |b: &&u8| char::from(**b).is_digit(radix);
        let digits: Vec<u8> = digits.take_while(is_digit).copied().collect();
        let number = String::from_utf8_lossy(&digits).into_owned();
        if let Ok(number) = u32::from_str_radix(&number, radix) {
            bytes.push(number as u8);
            rest = &after[skipped + digits.len()..];
            continue;
        }
        let named = match after.first() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'v') => 0x0b,
            Some(b'f') => 0x0c,
            Some(other) => *other,
            None => b'\\',
        };
        bytes.push(named);
        rest = after.get(1..).unwrap_or_default();
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// The texts of a list as strace shows it: `["cat", "/etc/passwd"]`.
pub fn words(list: &str) -> Vec<String> {
    // A closing round bracket ends the list, as it ends the arguments of a call.
    let mut inner = list.strip_prefix('[').unwrap_or(list).to_owned();
    if inner.ends_with(']') {
        inner.pop();
    }
    inner.push(')');
    let parts = arguments(&inner).map_or(Vec::new(), |(parts, _)| parts);
    let texts = parts.iter().filter_map(|part| text_of(part));
    texts.map(Cow::into_owned).collect()
}

impl ShownCall<'_> {
    pub(crate) fn argument(&self, index: usize) -> &str {
        self.arguments.get(index).copied().unwrap_or_default()
    }

    /// The result for [`Call`](crate::call::Call).
    pub fn result(&self) -> Option<i64> {
        match self.outcome {
            Outcome::Value(value) => Some(value),
            Outcome::Failed => Some(-1),
            Outcome::Address | Outcome::None => None,
        }
    }

    /// The process or thread that the call has made.
    pub fn child(&self) -> Option<u32> {
        let result = self.result().filter(|_| MAKING.contains(&self.name))?;
        u32::try_from(result).ok().filter(|child| *child > 0)
    }

    /// Whether the process that the call makes shares the descriptors.
    pub fn shares_files(&self) -> bool {
        self.has(Property::SharesFiles)
    }

    /// The text that `-y` shows for a descriptor, without the angle brackets.
    fn shown(&self, index: usize) -> Option<&str> {
        let (_, shown) = self.argument(index).split_once('<')?;
        shown.get(..angle_end(shown)? - 1)
    }
}

impl Arguments for ShownCall<'_> {
    fn descriptor(&self, index: usize) -> Option<i64> {
        number(self.argument(index))
    }

    /// `3<TCP:[...]>` with `strace -yy`.
    fn shown_kind(&self, index: usize) -> Option<Kind> {
        self.shown(index).map(shown_kind)
    }

    fn size(&self, index: usize) -> Option<f64> {
        self.argument(index).parse().ok()
    }

    /// `[4096]` or `[4096] => [5096]`: the position before the call comes first.
    fn position(&self, index: usize) -> Pointed {
        match self.argument(index) {
            "NULL" => Pointed::Null,
            shown => {
                let first = shown.strip_prefix('[').and_then(|s| s.split_once(']'));
                first
                    .and_then(|(number, _)| number.parse().ok())
                    .map_or(Pointed::Hidden, Pointed::At)
            }
        }
    }

    fn is_shown(&self, index: usize) -> bool {
        self.argument(index).contains('<')
    }

    /// `3</etc/passwd>` with `strace -y` and `-yy`.
    fn shown_path(&self, index: usize) -> Option<&str> {
        let shown = self.shown(index)?;
        let path = shown.split('<').next()?;
        (path.starts_with('/') && shown_kind(shown) == "file").then_some(path)
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn pair(&self, index: usize) -> Vec<i64> {
        let both = self.argument(index).trim_matches(['[', ']']).split(',');
        both.filter_map(|n| number(n.trim())).collect()
    }

    fn has(&self, property: Property) -> bool {
        // Flags are neither in texts nor beside descriptors.
        let is_shown = |a: &str| a.starts_with("AT_FDCWD<") || number(a).is_some();
        let flags = || {
            let others = self.arguments.iter();
            others.filter(|a| !a.starts_with('"') && !is_shown(a))
        };
        let has = |word: &str| flags().any(|a| a.contains(word));
        let has_flag = |flag: &str| {
            let is_end = |c: char| !(c.is_ascii_uppercase() || c == '_');
            flags().any(|a| a.split(is_end).any(|word| word == flag))
        };
        match property {
            // strace does not show it.
            Property::Blocked => false,
            Property::Directory => has("O_DIRECTORY"),
            Property::Direct => has_flag("O_DIRECT"),
            Property::Synchronous => has_flag("O_SYNC") || has_flag("O_DSYNC"),
            Property::SetsFlags => self.argument(1) == "F_SETFL",
            Property::ClosesLater => has("CLOSE_RANGE_CLOEXEC"),
            Property::Appends => has("O_APPEND"),
            Property::Thread => has("CLONE_THREAD"),
            Property::SharesMemory => {
                self.name == "vfork" || has("CLONE_VM") && !has("CLONE_THREAD")
            }
            Property::SharesFiles => has("CLONE_FILES") || has("CLONE_THREAD"),
            Property::Duplicates => self.argument(1).contains("F_DUPFD"),
            Property::EmptyPath => self.argument(1) == "\"\"" || has("AT_EMPTY_PATH"),
            // Versions before 4.13 show families as `PF_`, and Unix sockets as `PF_LOCAL` or
            // `PF_FILE`.
            Property::Unix => ["F_UNIX", "F_LOCAL", "F_FILE"].into_iter().any(has),
            Property::Netlink => has("F_NETLINK"),
            Property::Stream => has("SOCK_STREAM"),
            Property::Datagrams => has("SOCK_DGRAM"),
        }
    }
}

/// A descriptor as strace shows it: `3` or `3</etc/passwd>`.
pub fn number(text: &str) -> Option<i64> {
    let number = text.split('<').next()?;
    number.parse().ok().filter(|_| is_digits(number))
}
