//! Writes the assembler's input.

use std::collections::BTreeSet;
use std::fmt::Write;

use yamba_lang::ast::AsmPiece;

use super::block::{AsmBlock, Syntax};
use super::learn::probe_values;

/// The origin of a line of assembler text, encoded in the line's file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineOrigin {
    /// A line of the block's own source file.
    Block(usize),
    /// The value `index` of [`probe_values`] in the hole of a block.
    Probe { block: usize, hole: usize, value: usize },
}

impl LineOrigin {
    fn file_name(self) -> String {
        match self {
            LineOrigin::Block(block) => format!("yamba-block-{block}"),
            LineOrigin::Probe { block, hole, value } => {
                format!("yamba-probe-{block}-{hole}-{value}")
            }
        }
    }

    /// Parses the file name by which the assembler reports a place.
    pub fn parse(file_name: &str) -> Option<LineOrigin> {
        if let Some(block) = file_name.strip_prefix("yamba-block-") {
            return block.parse().ok().map(LineOrigin::Block);
        }
        let mut numbers = file_name.strip_prefix("yamba-probe-")?.split('-').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(LineOrigin::Probe { block: next()?, hole: next()?, value: next()? })
    }
}

/// Text for one run of the assembler.
#[derive(Clone, Debug)]
pub struct Listing {
    pub text: String,
    pub probes: BTreeSet<LineOrigin>,
}

impl Listing {
    /// A listing with every test value in every hole, which shows the values that the assembler
    /// refuses. `None` if relocations show the fields.
    pub fn trial(syntax: &Syntax, blocks: &[AsmBlock]) -> Option<Listing> {
        if syntax.symbolic_immediate.is_some() {
            return None;
        }
        let mut probes = BTreeSet::new();
        for (block, asm) in blocks.iter().enumerate() {
            for hole in 0..asm.holes() {
                probes.extend((0..probe_values().len()).map(|value| LineOrigin::Probe {
                    block,
                    hole,
                    value,
                }));
            }
        }
        (!probes.is_empty()).then(|| {
            let text = probe_text(syntax, blocks, &probes);
            Listing { text, probes }
        })
    }

    /// A listing of the blocks themselves, and of the probes that the assembler accepts.
    pub fn full(syntax: &Syntax, blocks: &[AsmBlock], probes: BTreeSet<LineOrigin>) -> Listing {
        let mut text = String::new();
        for (index, block) in blocks.iter().enumerate() {
            open_section(&mut text, syntax, block, &section_name(index));
            let _ = writeln!(text, "{}:", begin_symbol(index));
            text.push_str(&block_text(syntax, block, index, LineOrigin::Block(index), |_| 0));
            let _ = writeln!(text, "{}:", end_symbol(index));
            close_section(&mut text, syntax);
        }
        text.push_str(&probe_text(syntax, blocks, &probes));
        Listing { text, probes }
    }
}

pub(super) fn section_name(block: usize) -> String {
    format!(".yamba.{block}")
}

pub(super) fn probe_section_name(block: usize, hole: usize) -> String {
    format!(".yamba.{block}.{hole}")
}

pub(super) fn begin_symbol(block: usize) -> String {
    format!("yamba_begin_{block}")
}

pub(super) fn end_symbol(block: usize) -> String {
    format!("yamba_end_{block}")
}

/// The symbol after a probe.
pub(super) fn probe_symbol(block: usize, hole: usize, value: usize) -> String {
    format!("yamba_probe_{block}_{hole}_{value}")
}

pub(super) fn hole_symbol(block: usize, hole: usize) -> String {
    format!("yamba_hole_{block}_{hole}")
}

fn open_section(text: &mut String, syntax: &Syntax, block: &AsmBlock, name: &str) {
    let _ = writeln!(text, "# 1 \"yamba\"\n.section {name},\"ax\",%progbits");
    let hole_header = if block.holes() > 0 { syntax.hole_header.as_str() } else { "" };
    push_lines(text, &syntax.header);
    push_lines(text, hole_header);
}

fn close_section(text: &mut String, syntax: &Syntax) {
    push_lines(text, &syntax.footer);
}

fn push_lines(text: &mut String, lines: &str) {
    text.push_str(lines);
    if !lines.is_empty() && !lines.ends_with('\n') {
        text.push('\n');
    }
}

fn probe_text(syntax: &Syntax, blocks: &[AsmBlock], probes: &BTreeSet<LineOrigin>) -> String {
    let mut text = String::new();
    let mut section = None;
    for place in probes {
        let LineOrigin::Probe { block, hole, value } = *place else {
            continue;
        };
        if section != Some((block, hole)) {
            if section.is_some() {
                close_section(&mut text, syntax);
            }
            section = Some((block, hole));
            open_section(&mut text, syntax, &blocks[block], &probe_section_name(block, hole));
        }
        let chosen = probe_values()[value];
        let values = |h: usize| if h == hole { chosen } else { 0 };
        text.push_str(&block_text(syntax, &blocks[block], block, *place, values));
        let _ = writeln!(text, "{}:", probe_symbol(block, hole, value));
    }
    if section.is_some() {
        close_section(&mut text, syntax);
    }
    text
}

/// One copy of a block under the file name of `place`, with values in its holes.
fn block_text(
    syntax: &Syntax,
    block: &AsmBlock,
    index: usize,
    place: LineOrigin,
    value: impl Fn(usize) -> i128,
) -> String {
    let mut text = String::new();
    let mut hole = 0;
    for piece in &block.pieces {
        match piece {
            AsmPiece::Text { text: source, line } => {
                if text.is_empty() {
                    let _ = writeln!(text, "# {line} \"{}\"", place.file_name());
                }
                text.push_str(source);
            }
            AsmPiece::Hole(_) => {
                match &syntax.symbolic_immediate {
                    Some(prefix) if is_immediate(&text) => text.push_str(prefix),
                    _ => {}
                }
                match syntax.symbolic_immediate {
                    Some(_) => text.push_str(&hole_symbol(index, hole)),
                    None => text.push_str(&value(hole).to_string()),
                }
                hole += 1;
            }
        }
    }
    text + "\n"
}

/// Whether a hole after `before` is an operand outside brackets. A bare symbol there would mean
/// memory.
fn is_immediate(before: &str) -> bool {
    let statement = before.rsplit(['\n', ';']).next().unwrap_or_default();
    let unlabelled = statement.rsplit(':').next().unwrap_or_default().trim_start();
    let depth = statement.matches('[').count() as i64 - statement.matches(']').count() as i64;
    depth <= 0 && !unlabelled.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_origins_round_trip() {
        for place in [LineOrigin::Block(3), LineOrigin::Probe { block: 1, hole: 2, value: 300 }] {
            assert_eq!(LineOrigin::parse(&place.file_name()), Some(place));
        }
        assert_eq!(LineOrigin::parse("yamba"), None);
        assert_eq!(LineOrigin::parse("yamba-probe-1-2"), None);
    }

    #[test]
    fn a_symbol_is_an_immediate_outside_brackets() {
        assert!(is_immediate("mov eax, "));
        assert!(is_immediate("mov [rbx], ebx\n add dword ptr [rcx], "));
        assert!(!is_immediate("mov eax, [rbx + "));
        assert!(!is_immediate("1: .long "));
    }
}
