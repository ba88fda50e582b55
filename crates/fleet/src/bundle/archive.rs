//! Packs programs behind a runner, and reads the texts and programs of a bundle back.
//! `runtime/bundle/archive.h` is the reader in the bundle itself.
//!
//! The file is the runner, the parts, an index of lines, and an end of 32 bytes: `yamba-bundle/1 `,
//! a zero byte, and place and length of the index as 64-bit numbers, little-endian. Each part is
//! compressed by DEFLATE. The first program is complete; each other one is a patch of it in the
//! format of bsdiff.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::bundle::executable::stripped;
use crate::bundle::item::Item;
use crate::bundle::plan::Plan;

/// Begins the last 32 bytes of a bundle.
const MAGIC: &[u8; 16] = b"yamba-bundle/1 \0";

/// Level of compression: the best one costs seconds for a whole suite.
const LEVEL: u8 = 9;

/// Most bytes of an unpacked part.
const MOST_BYTES: usize = 256 << 20;

/// The contents of a bundle.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The executable that runs the programs.
    pub runner: Vec<u8>,
    /// The executables, in the order of the plan.
    pub programs: Vec<Vec<u8>>,
    pub plan: Plan,
    /// The source texts of the benchmarks, by hash.
    pub sources: BTreeMap<String, String>,
    /// The arguments of every launch, besides parameters.
    pub arguments: Vec<String>,
    /// Longest time without output, in ns.
    pub silence_ns: u64,
    /// Longest duration of a launch, in ns.
    pub timeout_ns: u64,
    /// Length of a batch beside a neighbour, in ns.
    pub short_batch_ns: u64,
    /// Files with facts about the machine, as paths with `*`.
    pub files: Vec<String>,
}

/// A bundle, and its sizes.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Identifies the contents: sixteen hexadecimal digits.
    pub id: String,
}

/// The texts of a bundle.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Identifies the contents.
    pub id: String,
    pub plan: Plan,
    /// The source texts of the benchmarks, by hash.
    pub sources: BTreeMap<String, String>,
}

/// A compressed part: its line in the index, and its bytes.
struct Part {
    kind: &'static str,
    name: String,
    size: usize,
    bytes: Vec<u8>,
}

impl Part {
    fn new(kind: &'static str, name: &str, content: &[u8], size: usize) -> Part {
        Part { kind, name: name.to_owned(), size, bytes: compress_to_vec(content, LEVEL) }
    }

    fn text(name: &str, item: &Item) -> Part {
        let text = serde_json::to_string(item).expect("an item can be written");
        Part::new("part", name, text.as_bytes(), text.len())
    }
}

/// Makes the bundle. `packed` gets the number of programs that are packed.
pub fn pack(contents: &Contents, mut packed: impl FnMut(usize)) -> Packed {
    let mut parts = vec![
        Part::text("plan", &Item::Plan(contents.plan.clone())),
        Part::text("brief", &Item::Plan(contents.plan.brief())),
        Part::text("sources", &Item::Sources { texts: contents.sources.clone() }),
    ];
    let programs = contents.programs.iter().cloned().map(stripped);
    let programs: Vec<Vec<u8>> = programs.collect();
    let named = contents.plan.programs.iter().zip(&programs);
    for (number, (planned, program)) in named.enumerate() {
        let patch = (number > 0).then(|| patch(&programs[0], program));
        let content = patch.as_deref().unwrap_or(program);
        parts.push(Part::new("executable", &planned.class, content, content.len()));
        packed(number + 1);
    }
    assembled(contents, &parts)
}

/// The patch that changes `base` to `program`.
fn patch(base: &[u8], program: &[u8]) -> Vec<u8> {
    let mut patch = Vec::new();
    bsdiff::diff(base, program, &mut patch).expect("a vector can be written");
    patch
}

fn assembled(contents: &Contents, parts: &[Part]) -> Packed {
    let mut bytes = contents.runner.clone();
    let begin = bytes.len();
    let mut index = String::new();
    for part in parts {
        let (kind, name, size) = (part.kind, &part.name, part.size);
        let (offset, length) = (bytes.len(), part.bytes.len());
        line(&mut index, kind, format_args!("{offset} {length} {size} {name}"));
        bytes.extend_from_slice(&part.bytes);
    }
    let sum = crc32fast::hash(&bytes[begin..]);
    settings(&mut index, contents);
    line(&mut index, "begin", format_args!("{begin}"));
    line(&mut index, "crc32", format_args!("{sum}"));
    let id = id(&index, sum);
    index.push_str(&id_line(&index, sum));
    let place = bytes.len() as u64;
    bytes.extend_from_slice(index.as_bytes());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&place.to_le_bytes());
    bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
    Packed { bytes, id }
}

/// Identifies a bundle by its parts, of which `sum` is the checksum, and by the lines of its index
/// before the identity, which have the sizes of all parts.
fn id(lines: &str, sum: u32) -> String {
    format!("{:08x}{sum:08x}", crc32fast::hash(lines.as_bytes()))
}

/// The last line of the index.
fn id_line(lines: &str, sum: u32) -> String {
    format!("id {}\n", id(lines, sum))
}

/// Adds the settings of the runner.
fn settings(index: &mut String, contents: &Contents) {
    let numbers = [
        ("quick", u64::from(contents.plan.quick)),
        ("launches", contents.plan.launches),
        ("launch_time_ns", contents.plan.launch_time_ns),
        ("silence_ns", contents.silence_ns),
        ("timeout_ns", contents.timeout_ns),
        ("short_batch_ns", contents.short_batch_ns),
    ];
    for (name, number) in numbers {
        line(index, name, format_args!("{number}"));
    }
    for argument in &contents.arguments {
        line(index, "argument", format_args!("{argument}"));
    }
    for file in &contents.files {
        line(index, "file", format_args!("{file}"));
    }
}

fn line(index: &mut String, name: &str, value: std::fmt::Arguments<'_>) {
    writeln!(index, "{name} {value}").expect("a text can be written");
}

/// Reads the texts of a bundle. `None` if the bytes are no bundle, or a damaged one.
pub fn unpack(bytes: &[u8]) -> Option<Archive> {
    let index = Index::read(bytes)?;
    let text = |name: &str| index.item(name);
    let (Some(Item::Plan(plan)), Some(Item::Sources { texts })) = (text("plan"), text("sources"))
    else {
        return None;
    };
    Some(Archive { id: index.value("id")?.to_owned(), plan, sources: texts })
}

/// The executables of a bundle.
pub struct Executables<'a> {
    index: Index<'a>,
    /// The first program, which the others are patches of.
    base: Vec<u8>,
}

impl<'a> Executables<'a> {
    /// Reads the first executable. `None` if the bytes are no bundle, a damaged one, or one without
    /// a program.
    pub fn read(bytes: &'a [u8]) -> Option<Executables<'a>> {
        let index = Index::read(bytes)?;
        let first = index.parts("executable").next()?;
        let base = index.content(&first)?;
        Some(Executables { index, base })
    }

    /// The executable of a class. `None` if the bundle has none, or the file is damaged.
    pub fn get(&self, class: &str) -> Option<Vec<u8>> {
        let (number, part) =
            self.index.parts("executable").enumerate().find(|(_, part)| part.name == class)?;
        if number == 0 {
            return Some(self.base.clone());
        }
        let mut patch = &self.index.content(&part)?[..];
        let mut program = Vec::new();
        bsdiff::patch(&self.base, &mut patch, &mut program).ok()?;
        Some(program)
    }
}

/// The lines at the end of a bundle, which name its parts.
struct Index<'a> {
    /// The file without its end.
    bytes: &'a [u8],
    lines: &'a str,
}

/// A line of a part, such as `executable OFFSET LENGTH SIZE NAME`.
struct Place<'a> {
    offset: usize,
    length: usize,
    name: &'a str,
}

impl<'a> Index<'a> {
    /// `None` if the bytes are no bundle, or its checksum is wrong.
    fn read(bytes: &'a [u8]) -> Option<Index<'a>> {
        let (rest, end) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
        let numbers = end.strip_prefix(MAGIC)?;
        let number = |at: usize| {
            Some(u64::from_le_bytes(numbers.get(at..at + 8)?.try_into().ok()?) as usize)
        };
        let lines = rest.get(number(0)?..)?.get(..number(8)?)?;
        let index = Index { bytes: rest, lines: str::from_utf8(lines).ok()? };
        let begin: usize = index.value("begin")?.parse().ok()?;
        let sum: u32 = index.value("crc32")?.parse().ok()?;
        let is_whole = crc32fast::hash(rest.get(begin..number(0)?)?) == sum;
        (is_whole && index.has_own_id(sum)).then_some(index)
    }

    /// Whether the last line is the identity of the lines before it and of the parts.
    fn has_own_id(&self, sum: u32) -> bool {
        let last = self.lines.rfind("id ").map(|at| self.lines.split_at(at));
        last.is_some_and(|(before, line)| line == id_line(before, sum))
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        let mut lines = self.lines.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The parts of a kind, in the order of the file.
    fn parts(&self, kind: &str) -> impl Iterator<Item = Place<'a>> {
        let lines = self.lines.lines().filter_map(|line| line.split_once(' '));
        lines.filter(move |(own, _)| *own == kind).filter_map(|(_, fields)| {
            let mut fields = fields.splitn(4, ' ');
            let offset = fields.next()?.parse().ok()?;
            let length = fields.next()?.parse().ok()?;
            Some(Place { offset, length, name: fields.nth(1)? })
        })
    }

    fn content(&self, part: &Place<'_>) -> Option<Vec<u8>> {
        let packed = self.bytes.get(part.offset..)?.get(..part.length)?;
        decompress_to_vec_with_limit(packed, MOST_BYTES).ok()
    }

    fn item(&self, name: &str) -> Option<Item> {
        let part = self.parts("part").find(|part| part.name == name)?;
        serde_json::from_slice(&self.content(&part)?).ok()
    }
}
