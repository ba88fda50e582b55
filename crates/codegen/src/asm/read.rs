//! Converts the assembler's object file to blocks.

use std::collections::BTreeMap;

use yamba_lang::Diagnostic;
use yamba_lang::ast::AsmPiece;
use yamba_lang::model::Analysis;
use yamba_lang::source::Span;

use super::block::{AsmBlock, AssembledBlock, Field, FieldBits, Syntax};
use super::learn::{Probes, learn, probe_values};
use super::listing::{
    LineOrigin, Listing, begin_symbol, end_symbol, hole_symbol, probe_section_name, probe_symbol,
    section_name,
};

/// A place in a section that a linker would have to fill.
#[derive(Clone, Debug)]
pub struct Relocation {
    /// The first byte.
    pub offset: u64,
    /// The symbol; empty if it has no name.
    pub symbol: String,
    /// The section that defines the symbol, if one does.
    pub section: Option<String>,
    /// The type of relocation, as a number of the object format.
    pub kind: Option<u32>,
    /// Width in bits of a plain address, and whether it is read as signed; `None` for anything
    /// else.
    pub absolute: Option<(u32, bool)>,
    /// The number to add to the symbol; `None`: the section's bytes contain it.
    pub addend: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its bytes.
    pub data: Vec<u8>,
    pub relocations: Vec<Relocation>,
}

/// The parts of an object file that are needed.
#[derive(Clone, Debug, Default)]
pub struct ObjectFile {
    /// By name.
    pub sections: BTreeMap<String, Section>,
    /// For each symbol its section and its offset.
    pub symbols: BTreeMap<String, (String, u64)>,
}

/// Converts the assembled full listing to blocks.
///
/// # Errors
/// A message at each block that refers to something outside itself, leaves its section, or has a
/// `${}` that is no plain field.
pub fn read(
    analysis: &Analysis,
    syntax: &Syntax,
    blocks: &[AsmBlock],
    listing: &Listing,
    object: &ObjectFile,
) -> Result<Vec<AssembledBlock>, Vec<Diagnostic>> {
    let mut assembled = Vec::new();
    let mut errors = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        match (Reader { analysis, syntax, listing, object, block, index }).block() {
            Ok(done) => assembled.push(done),
            Err(error) => errors.push(*error),
        }
    }
    if errors.is_empty() { Ok(assembled) } else { Err(errors) }
}

struct Reader<'a> {
    analysis: &'a Analysis,
    syntax: &'a Syntax,
    listing: &'a Listing,
    object: &'a ObjectFile,
    block: &'a AsmBlock,
    index: usize,
}

impl Reader<'_> {
    fn block(&self) -> Result<AssembledBlock, Box<Diagnostic>> {
        let name = section_name(self.index);
        let empty = Section::default();
        let section = self.object.sections.get(&name).unwrap_or(&empty);
        self.stays(&name, section)?;
        for relocation in section.relocations.iter().filter(|r| !self.is_filled(&name, r)) {
            self.inside(relocation)?;
        }
        let fields = (0..self.block.holes())
            .map(|hole| self.field(hole, section))
            .collect::<Result<_, _>>()?;
        Ok(AssembledBlock { span: self.block.span, bytes: section.data.clone(), fields })
    }

    /// Checks that the block's code stays in its section: other sections are lost.
    fn stays(&self, name: &str, section: &Section) -> Result<(), Box<Diagnostic>> {
        let at = |symbol: String, offset: usize| {
            self.object.symbols.get(&symbol).is_some_and(|(s, o)| s == name && *o == offset as u64)
        };
        if at(begin_symbol(self.index), 0) && at(end_symbol(self.index), section.data.len()) {
            return Ok(());
        }
        let message = "this block leaves the section that it is assembled in";
        let help = "leave out .section, .text, .data, .org and the like: a block is bytes that are copied to where they are needed";
        Err(Box::new(Diagnostic::error("asm-leaves-section", self.block.span, message).help(help)))
    }

    /// Whether a relocation needs no further work: its target moves with the block, and the bits
    /// are filled in.
    fn is_filled(&self, section: &str, relocation: &Relocation) -> bool {
        let known = relocation.kind.is_some_and(|k| self.syntax.filled_relocations.contains(&k));
        known && relocation.section.as_deref() == Some(section)
    }

    fn inside(&self, relocation: &Relocation) -> Result<(), Box<Diagnostic>> {
        let symbol = relocation.symbol.as_str();
        if let Some(hole) = (0..self.block.holes()).find(|h| hole_symbol(self.index, *h) == symbol)
        {
            return if relocation.absolute.is_some() {
                Ok(())
            } else {
                Err(self.no_field(
                    hole,
                    "it is the target of a jump or an address relative to the instruction",
                ))
            };
        }
        let (message, text) =
            if symbol.is_empty() || symbol.starts_with(".yamba.") || symbol.starts_with('*') {
                (
                    "this block refers to an address outside itself".to_owned(),
                    "it would not survive being moved",
                )
            } else {
                (
                    format!("this block refers to `{symbol}`, which is outside it"),
                    "the reference would not survive being moved",
                )
            };
        let help = "jump to local labels (`1:`, `jne 1b`), or bring an address in as a value, with `${}` or `abs(FUNCTION, BITS)`";
        let error = Diagnostic::error("asm-outside-reference", self.find(symbol), message);
        Err(Box::new(error.here(text).help(help)))
    }

    /// The place of this word in the block's text, or else the whole block.
    fn find(&self, word: &str) -> Span {
        let text = self.analysis.text(self.block.span);
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '$';
        let found = text.match_indices(word).find(|(at, _)| {
            !word.is_empty()
                && !text[..*at].ends_with(is_word)
                && !text[at + word.len()..].starts_with(is_word)
        });
        found.map_or(self.block.span, |(at, _)| {
            let start = self.block.span.start + at as u32;
            Span::new(self.block.span.file, start, start + word.len() as u32)
        })
    }

    fn hole_span(&self, hole: usize) -> Span {
        let mut holes = self.block.pieces.iter().filter_map(|p| match p {
            AsmPiece::Hole(cpp) => Some(cpp.span),
            AsmPiece::Text { .. } => None,
        });
        holes.nth(hole).unwrap_or(self.block.span)
    }

    fn no_field(&self, hole: usize, why: &str) -> Box<Diagnostic> {
        let message = "this value has no plain field of its own in the instruction";
        let help = "choose a form of the instruction with an immediate or a displacement, or write its bits with `word` and casts";
        let error = Diagnostic::error("asm-hole-no-field", self.hole_span(hole), message);
        Box::new(error.here(why).help(help))
    }

    fn field(&self, hole: usize, section: &Section) -> Result<Field, Box<Diagnostic>> {
        if self.syntax.symbolic_immediate.is_some() {
            return self.relocated_field(hole, section);
        }
        learn(&self.probes(hole)).map_err(|why| self.no_field(hole, &why))
    }

    fn relocated_field(&self, hole: usize, section: &Section) -> Result<Field, Box<Diagnostic>> {
        let symbol = hole_symbol(self.index, hole);
        let mut found = section.relocations.iter().filter(|r| r.symbol == symbol);
        let Some(relocation) = found.next() else {
            return Err(self.no_field(hole, "the assembler leaves nothing to fill in"));
        };
        if found.next().is_some() {
            return Err(self.no_field(hole, "it is stored in several places"));
        }
        let (width, signed) = relocation.absolute.unwrap_or((0, false));
        let bias =
            relocation.addend.unwrap_or_else(|| in_place(&section.data, relocation.offset, width));
        Ok(plain_field(relocation.offset, width, signed, bias))
    }

    /// The assembled block for each test value.
    fn probes(&self, hole: usize) -> Probes {
        let name = probe_section_name(self.index, hole);
        let mut probes = Probes::new();
        let Some(section) = self.object.sections.get(&name) else {
            return probes;
        };
        let mut start = 0usize;
        for place in &self.listing.probes {
            let LineOrigin::Probe { block, hole: h, value } = *place else {
                continue;
            };
            if block != self.index || h != hole {
                continue;
            }
            let Some((_, end)) = self.object.symbols.get(&probe_symbol(block, hole, value)) else {
                continue;
            };
            let end = *end as usize;
            let within = |r: &&Relocation| (start..end).contains(&(r.offset as usize));
            let moved =
                section.relocations.iter().filter(within).any(|r| !self.is_filled(&name, r));
            if let Some(bytes) = section.data.get(start..end).filter(|_| !moved) {
                probes.insert(probe_values()[value], bytes.to_vec());
            }
            start = end;
        }
        probes
    }
}

/// The number in the bytes of a relocation.
fn in_place(data: &[u8], offset: u64, width: u32) -> i64 {
    let bytes = data.get(offset as usize..offset as usize + width as usize / 8).unwrap_or_default();
    let value = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
    let unused = 64 - width.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

/// A little-endian field of whole bytes.
fn plain_field(offset: u64, width: u32, signed: bool, bias: i64) -> Field {
    let half = 1i128 << (width.max(1) - 1);
    let top = if signed { half - 1 } else { 2 * half - 1 };
    let bias_wide = i128::from(bias);
    Field {
        min: (-half - bias_wide).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
        max: (top - bias_wide).clamp(0, i128::from(u64::MAX)) as u64,
        multiple: 1,
        bias,
        bits: vec![FieldBits { value_bit: 0, block_bit: offset as u32 * 8, count: width }],
    }
}
