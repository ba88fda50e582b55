//! Assembles the `asm` blocks of many classes, with few starts of the assembler.

use std::collections::{BTreeMap, BTreeSet};
use yamba_codegen::asm::{self, AsmBlock, Syntax};
use yamba_lang::ast::AsmPiece;
use yamba_lang::source::Span;
use yamba_lang::{Analysis, ClassId, Diagnostic, Target};

use super::assemble::Assembler;
use super::error::BuildError;
use super::temporary::temporary_folder;
use super::toolchain;

/// The result of assembling the blocks of many classes.
#[derive(Debug, Default)]
pub struct AssembledClasses {
    /// Errors in the blocks.
    pub diagnostics: Vec<Diagnostic>,
    /// The instruction sets with blocks for which there is no assembler here.
    pub without_assembler: Vec<String>,
}

/// Assembles each `asm` block in the files of `classes` for each instruction set that uses it.
///
/// # Errors
/// See [`BuildError`].
pub fn assemble_all(
    analysis: &Analysis,
    classes: &[ClassId],
) -> Result<AssembledClasses, BuildError> {
    let mut isas: BTreeMap<String, Vec<Target>> = BTreeMap::new();
    for target in analysis.targets() {
        isas.entry(target.isa.clone()).or_default().push(target);
    }
    let mut found = AssembledClasses::default();
    let folder = temporary_folder()?;
    for (isa, targets) in &mut isas {
        let host = toolchain::host();
        targets.sort_by_key(|target| target.system != host.system);
        let blocks = blocks(analysis, classes, targets);
        if blocks.is_empty() {
            continue;
        }
        let here = targets.first();
        let assembler = here.and_then(|target| toolchain::assembler(analysis, target));
        let Some(tool) = assembler else {
            found.without_assembler.push(isa.clone());
            continue;
        };
        let syntax = Syntax::for_isa(analysis, isa);
        let assemble = |blocks: &[AsmBlock]| {
            let run = Assembler {
                analysis,
                tool: &tool,
                isa,
                syntax: &syntax,
                blocks,
                folder: folder.path(),
            };
            match run.assemble() {
                Ok(_) => Ok(Vec::new()),
                Err(BuildError::Diagnostics(all)) => Ok(all),
                Err(other) => Err(other),
            }
        };
        // A directive of one class, such as `.arch_extension`, must not hide a fault of another.
        let (with_directive, plain): (Vec<AsmBlock>, Vec<AsmBlock>) =
            blocks.into_iter().partition(has_directive);
        let mut alone = by_class(with_directive);
        if !assemble(&plain)?.is_empty() {
            // A symbol that two classes define is no fault: each class decides alone.
            alone.extend(by_class(plain));
        }
        for blocks in &alone {
            for diagnostic in assemble(blocks)? {
                if !found.diagnostics.contains(&diagnostic) {
                    found.diagnostics.push(diagnostic);
                }
            }
        }
    }
    found.diagnostics.sort_by_key(|d| d.primary.span);
    Ok(found)
}

/// The blocks in the files of `classes` that a program for the first possible of `targets` has,
/// each once.
fn blocks(analysis: &Analysis, classes: &[ClassId], targets: &[Target]) -> Vec<AsmBlock> {
    let files = classes.iter().map(|id| analysis.class(*id).file);
    let files: BTreeSet<_> = files.collect();
    let mut seen: BTreeSet<Span> = BTreeSet::new();
    let mut blocks = Vec::new();
    let classes: BTreeSet<ClassId> = classes.iter().map(|id| ported(analysis, *id)).collect();
    for class in classes {
        for target in targets {
            let program = analysis.program(class, target);
            let is_complete = !program.variants.is_empty();
            for block in asm::asm_blocks(analysis, &program) {
                if files.contains(&block.span.file) && seen.insert(block.span) {
                    blocks.push(block);
                }
            }
            // Another system adds the blocks of classes that this machine's system lacks.
            if is_complete {
                break;
            }
        }
    }
    blocks
}

/// The class that a port completes, else the class itself.
fn ported(analysis: &Analysis, id: ClassId) -> ClassId {
    let class = analysis.class(id);
    match class.parent.filter(|_| class.is_port) {
        Some(parent) => ported(analysis, parent),
        None => id,
    }
}

fn has_directive(block: &AsmBlock) -> bool {
    let mut texts = block.pieces.iter().filter_map(|piece| match piece {
        AsmPiece::Text { text, .. } => Some(text),
        AsmPiece::Hole(_) => None,
    });
    texts.any(|text| {
        let mut statements = text.split(['\n', ';']);
        statements.any(|s| s.trim_start().starts_with('.'))
    })
}

fn by_class(blocks: Vec<AsmBlock>) -> Vec<Vec<AsmBlock>> {
    let mut classes: BTreeMap<ClassId, Vec<AsmBlock>> = BTreeMap::new();
    for block in blocks {
        classes.entry(block.class).or_default().push(block);
    }
    classes.into_values().collect()
}
