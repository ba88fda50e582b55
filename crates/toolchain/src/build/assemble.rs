//! Runs the assembler and reads its output.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use object::{
    Object, ObjectSection, ObjectSymbol, RelocationEncoding, RelocationFlags, RelocationKind,
    RelocationTarget,
};
use yamba_codegen::asm::{
    self, AsmBlock, AssembledBlock, LineOrigin, Listing, ObjectFile, Relocation, Section, Syntax,
};
use yamba_lang::ast::AsmPiece;
use yamba_lang::source::Span;
use yamba_lang::{Analysis, Diagnostic, Severity};

use super::assembler_help::help;
use super::att;
use super::command::show;
use super::error::BuildError;
use super::tool::Tool;

pub(super) struct Assembler<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) tool: &'a Tool,
    /// The instruction set.
    pub(super) isa: &'a str,
    pub(super) syntax: &'a Syntax,
    pub(super) blocks: &'a [AsmBlock],
    pub(super) folder: &'a Path,
}

impl Assembler<'_> {
    /// Assembles all blocks of a program. If field positions are derived from sample values, a
    /// trial run first finds the values that the assembler rejects.
    pub(super) fn assemble(&self) -> Result<Vec<AssembledBlock>, BuildError> {
        let foreign = self.foreign_operands();
        if !foreign.is_empty() {
            return Err(BuildError::Diagnostics(foreign));
        }
        let mut probes = BTreeSet::new();
        if let Some(trial) = Listing::trial(self.syntax, self.blocks) {
            let (output, _) = self.run(&trial.text)?;
            let refused: BTreeSet<LineOrigin> = messages(&output)
                .filter(|m| m.severity == Severity::Error)
                .map(|m| m.place)
                .collect();
            probes = trial.probes.difference(&refused).copied().collect();
        }
        let listing = Listing::full(self.syntax, self.blocks, probes);
        let (output, command) = self.run(&listing.text)?;
        let found = self.diagnostics(&output);
        let is_changed = found.iter().any(|d| d.severity == Severity::Error);
        if !output.status.success() && found.is_empty() {
            let output = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(BuildError::Tool { command, output });
        }
        if !output.status.success() || is_changed {
            return Err(BuildError::Diagnostics(found));
        }
        let object = self.object()?;
        asm::read(self.analysis, self.syntax, self.blocks, &listing, &object)
            .map_err(BuildError::Diagnostics)
    }

    /// Registers in AT&T's syntax. In a block of Intel's syntax, GNU as would take the operands in
    /// Intel's order, and a memory operand for its register.
    fn foreign_operands(&self) -> Vec<Diagnostic> {
        if !self.syntax.header.contains(".intel_syntax") {
            return Vec::new();
        }
        let is_intel =
            |block: &&AsmBlock| texts(block).all(|(text, _)| !text.contains(".att_syntax"));
        let mut found = Vec::new();
        for block in self.blocks.iter().filter(is_intel) {
            for (text, line) in code_lines(block) {
                if let Some(operand) = att::operand(text) {
                    let text = format!("`{operand}` is an operand in AT&T's syntax");
                    let place = self.line(block, line);
                    found.push(Diagnostic::error("foreign-operand", place, text).help(att::HELP));
                }
            }
        }
        found
    }

    fn run(&self, text: &str) -> Result<(Output, String), BuildError> {
        let source = self.folder.join("blocks.s");
        std::fs::write(&source, text)?;
        let mut command = self.tool.command();
        command.arg("-o").arg(self.folder.join("blocks.o")).arg(&source);
        let output = command.output()?;
        std::fs::remove_file(&source)?;
        Ok((output, show(&command)))
    }

    fn object(&self) -> Result<ObjectFile, BuildError> {
        let path = self.folder.join("blocks.o");
        let data = std::fs::read(&path)?;
        std::fs::remove_file(&path)?;
        read_object(&data).map_err(|e| BuildError::Tool {
            command: show(&self.tool.command()),
            output: format!("its object file cannot be read: {e}"),
        })
    }

    fn diagnostics(&self, output: &Output) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        for message in messages(output) {
            let LineOrigin::Block(index) = message.place else {
                continue;
            };
            let Some(block) = self.blocks.get(index) else {
                continue;
            };
            let span = self.line(block, message.line);
            let text = format!("the assembler for {} says: {}", self.isa, message.text);
            let mut diagnostic = match message.severity {
                Severity::Error => Diagnostic::error("assembler-error", span, text),
                // The code is another instruction than that of the text.
                Severity::Warning if changes_value(&message.text) => {
                    Diagnostic::error("assembler-error", span, text)
                }
                Severity::Warning => {
                    Diagnostic::error("assembler-warning", span, text).as_warning()
                }
            };
            let has_holes = block.holes() > 0 && message.text.contains("out of range");
            let help = if has_holes {
                Some("the fields of `${}` are learnt by assembling the block with 0 and other values in them".to_owned())
            } else {
                // A suggested line has a sample value in place of `${}`.
                let suggestion = message.suggestion.filter(|_| block.holes() == 0);
                help(&message.text, suggestion.as_deref())
            };
            if let Some(help) = help {
                diagnostic = diagnostic.help(help);
            }
            if !errors.contains(&diagnostic) {
                errors.push(diagnostic);
            }
        }
        errors
    }

    /// The part of a source line that belongs to the block, without surrounding white space.
    fn line(&self, block: &AsmBlock, line: u32) -> Span {
        let Some(whole) = self.analysis.sources.line_span(block.span.file, line) else {
            return block.span;
        };
        let (start, end) = (whole.start.max(block.span.start), whole.end.min(block.span.end));
        if start >= end {
            return block.span;
        }
        let text = self.analysis.text(Span { start, end, ..whole });
        let lead = (text.len() - text.trim_start().len()) as u32;
        let trail = (text.len() - text.trim_end().len()) as u32;
        if lead + trail >= end - start {
            return block.span;
        }
        Span { start: start + lead, end: end - trail, ..whole }
    }
}

/// The text of a block around its `${}`, each part with the number of its first line.
fn texts(block: &AsmBlock) -> impl Iterator<Item = (&str, u32)> {
    block.pieces.iter().filter_map(|piece| match piece {
        AsmPiece::Text { text, line } => Some((text.as_str(), *line)),
        AsmPiece::Hole(_) => None,
    })
}

/// The lines of a block with their numbers, or the parts of a line around its `${}`, without those
/// behind the `#` of a comment.
fn code_lines(block: &AsmBlock) -> Vec<(&str, u32)> {
    let mut found = Vec::new();
    let mut is_comment = false;
    for (text, first) in texts(block) {
        for (place, (part, line)) in text.split('\n').zip(first..).enumerate() {
            is_comment &= place == 0;
            if !is_comment {
                found.push((part, line));
            }
            is_comment |= part.contains('#');
        }
    }
    found
}

/// An assembler message about a place that the listing names.
struct Message {
    place: LineOrigin,
    line: u32,
    severity: Severity,
    text: String,
    /// The line that the assembler suggests instead.
    suggestion: Option<String>,
}

/// Parses `NAME:LINE: Error: TEXT` of GNU as and `NAME:LINE:COLUMN: error: TEXT` of clang.
fn messages(output: &Output) -> impl Iterator<Item = Message> {
    all_messages(&String::from_utf8_lossy(&output.stderr)).into_iter()
}

fn all_messages(text: &str) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    let mut is_suggested = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let is_suggestion = std::mem::replace(&mut is_suggested, line.ends_with(SUGGESTS));
        if let Some(message) = message(line) {
            all.push(message);
        } else if is_suggestion
            && let Some((_, suggestion)) = line.split_once(INFORMS)
            && let Some(last) = all.last_mut()
        {
            last.suggestion = Some(suggestion.trim().to_owned());
        }
    }
    all
}

/// Whether GNU as warns that it assembled another value than the written one.
fn changes_value(text: &str) -> bool {
    ["shortened to", "truncated to"].iter().any(|words| text.contains(words))
}

/// GNU as suggests a line in two messages `NAME:LINE: Info: TEXT`. The first ends so, and the
/// second has the line.
const SUGGESTS: &str = "Info:    did you mean this?";
const INFORMS: &str = ": Info:";

fn message(line: &str) -> Option<Message> {
    let (name, rest) = line.split_once(':')?;
    let place = LineOrigin::parse(name)?;
    let (number, mut rest) = rest.split_once(':')?;
    if let Some((column, after)) = rest.split_once(':')
        && column.parse::<u32>().is_ok()
    {
        rest = after;
    }
    let (severity, text) = rest.trim_start().split_once(':')?;
    let severity = match severity.to_ascii_lowercase().as_str() {
        "error" | "fatal error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    Some(Message {
        place,
        line: number.parse().ok()?,
        severity,
        text: text.trim().to_owned(),
        suggestion: None,
    })
}

fn read_object(data: &[u8]) -> object::Result<ObjectFile> {
    let file = object::File::parse(data)?;
    let mut read = ObjectFile::default();
    for section in file.sections() {
        let name = section.name()?.to_owned();
        if !name.starts_with(".yamba.") {
            continue;
        }
        let relocations =
            section.relocations().map(|(offset, r)| relocation(&file, offset, &r)).collect();
        read.sections
            .insert(name, Section { data: section.uncompressed_data()?.into_owned(), relocations });
    }
    for symbol in file.symbols() {
        let Some(section) = symbol.section_index() else {
            continue;
        };
        let section = file.section_by_index(section)?.name()?.to_owned();
        read.symbols.insert(symbol.name()?.to_owned(), (section, symbol.address()));
    }
    Ok(read)
}

fn relocation(file: &object::File, offset: u64, r: &object::Relocation) -> Relocation {
    let target = match r.target() {
        RelocationTarget::Symbol(index) => file.symbol_by_index(index).ok(),
        _ => None,
    };
    let symbol = target.as_ref().and_then(|s| s.name().ok()).unwrap_or_default().to_owned();
    let section = target.and_then(|s| {
        file.section_by_index(s.section_index()?).ok()?.name().ok().map(str::to_owned)
    });
    let kind = match r.flags() {
        RelocationFlags::Elf { r_type } => Some(r_type),
        _ => None,
    };
    let signed = r.encoding() == RelocationEncoding::X86Signed;
    let absolute = (r.kind() == RelocationKind::Absolute && matches!(r.size(), 8 | 16 | 32 | 64))
        .then(|| (u32::from(r.size()), signed));
    Relocation {
        offset,
        symbol,
        section,
        kind,
        absolute,
        addend: (!r.has_implicit_addend()).then(|| r.addend()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of a changed line keeps its block and line, or is not read. The other lines keep
    /// theirs.
    #[test]
    fn changed_messages_have_no_other_place() {
        let output = "blocks.s: Assembler messages:\nyamba-block-0:12: Error: operand mismatch -- `mov w0,x1'\nyamba-block-0:12: Info:    did you mean this?\nyamba-block-0:12: Info:    \tmov w0, w1\nyamba-block-2:17:5: error: invalid instruction mnemonic 'foo'\nyamba-block-10:1500: Warning: `sub' is long\n";
        let form = yamba_mutants::Form { separator: ":", fields: &[" error", "5", " note"] };
        let read = |text: &str| -> Vec<(LineOrigin, u32, String)> {
            let all = all_messages(text).into_iter();
            all.map(|m| (m.place, m.line, m.text)).collect()
        };
        let whole = read(output);
        assert_eq!(whole.len(), 3);
        let first_lines = [1, 4, 5];
        for mutant in yamba_mutants::text(output, form, 55, 10_000) {
            let found = read(&mutant.text);
            if mutant.change.keeps_figures() {
                assert_eq!(found, whole, "{mutant:?}");
            }
            for (message, at) in whole.iter().zip(first_lines) {
                let is_changed = mutant.line.is_some_and(|line| {
                    line == at || (mutant.change == yamba_mutants::Change::Truncated && line <= at)
                });
                assert!(is_changed || found.contains(message), "{mutant:?}");
            }
            for (place, line, _) in &found {
                let is_named = whole.iter().any(|(p, l, _)| (p, l) == (place, line));
                let is_in_text = mutant.text.contains(&format!(":{line}"));
                assert!(is_named || is_in_text, "{mutant:?}: {line}");
            }
        }
    }

    #[test]
    fn messages_of_both_assemblers_are_read() {
        let gnu = message("yamba-block-2:17: Error: no such instruction: `foo'").unwrap();
        assert_eq!(
            (gnu.place, gnu.line, gnu.text.as_str()),
            (LineOrigin::Block(2), 17, "no such instruction: `foo'")
        );
        let clang =
            message("yamba-block-2:17:5: error: invalid instruction mnemonic 'foo'").unwrap();
        assert_eq!((clang.line, clang.severity), (17, Severity::Error));
        assert!(message("blocks.s: Assembler messages:").is_none());
        let several = all_messages(
            "yamba-block-0:1: Error: operand mismatch -- `mov w0,x1'
yamba-block-0:1: Info:    did you mean this?
yamba-block-0:1: Info:    \tmov w0, w1
yamba-block-0:1: Info:    other valid variant(s):
yamba-block-0:1: Info:    \tmov x0, x1
yamba-block-0:2: Error: unknown mnemonic `frob' -- `frob x0'
",
        );
        let suggestions = several.iter().map(|m| m.suggestion.as_deref());
        assert!(suggestions.eq([Some("mov w0, w1"), None]));
    }
}
