//! Instructions of x86_64. A single one becomes a chain (latency) and independent copies
//! (throughput); several are repeated as written. A benchmark of the library measures all of them.
//! The assembler translates the text; the decoder determines the operands that it reads and writes.

mod address;
mod back;
mod chain;
mod code;
mod copies;
mod faults;
mod mca;
mod moves;
mod operands;
mod refusal;
mod sequence;
mod stack;
mod start;
#[cfg(test)]
mod tests;
mod vsib;

use iced_x86::Instruction;

pub(super) use faults::explain;

pub(super) use mca::{Model, Prediction};
pub(super) use start::Presets;

use chain::Chain;
use copies::Copies;
use stack::Pair;
use start::Start;

/// Numbers of copies to try besides the maximum. Each costs a fifth of a second.
const FEWER: [usize; 1] = [12];

/// One figure of an instruction, ready to be measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// `latency`, `round-trip`, `throughput` or `sequence`.
    pub(super) aspect: &'static str,
    /// The benchmark's `code`, or why the instruction cannot be measured.
    pub(super) code: Result<String, String>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
    /// Whether the steps only copy registers. A processor may do that by renaming.
    pub(super) is_move: bool,
    /// The steps that `code` repeats.
    steps: Vec<Vec<Instruction>>,
}

impl Figure {
    fn none(aspect: &'static str, why: String) -> Figure {
        Figure { aspect, code: Err(why), notes: Vec::new(), is_move: false, steps: Vec::new() }
    }

    /// The model's cycles per step; `None` for a figure that cannot be measured.
    pub(super) fn prediction(&self, model: &Model) -> Option<Prediction> {
        // Copies for a throughput access different places.
        let may_alias = self.aspect != "throughput";
        self.code.is_ok().then(|| model.cycles(&self.steps, may_alias))
    }

    /// The figures of an instruction or a sequence that cannot be measured.
    pub(super) fn refused(bytes: &[u8], why: &str) -> Vec<Figure> {
        let aspects: &[&'static str] = match code::decode(bytes).len() {
            0 | 1 => &["latency", "throughput"],
            _ => &[sequence::ASPECT],
        };
        let each = aspects.iter().copied();
        each.map(|aspect| Figure::none(aspect, why.to_owned())).collect()
    }
}

/// Latency and throughput of the instruction in `bytes`, the time of a repetition if there are
/// several, or why they cannot be measured. Several figures of one aspect are alternatives, of
/// which the smallest counts. `text` is the instruction as the user wrote it.
pub(super) fn figures(text: &str, bytes: &[u8], presets: &Presets) -> Result<Vec<Figure>, String> {
    let instructions = code::decode(bytes);
    let pair = Pair::find(&instructions);
    if let Some(pair) = pair.filter(|_| instructions.iter().all(|i| address::refusal(i).is_none()))
    {
        let requested = instructions[0];
        let mut figures = vec![latency(&requested, pair.chain(), presets)];
        figures.extend(throughputs(&requested, Ok(pair.copies()), presets));
        return Ok(figures);
    }
    let [instruction] = instructions[..] else {
        return Ok(vec![sequence::figure(&instructions, bytes, presets)?]);
    };
    if let Some(reason) = refusal::refusal(&instruction) {
        return Err(format!("cannot be measured: {reason}"));
    }
    let (chain, copies) = (dependency_chain(&instruction), independent_copies(&instruction));
    let mut figures = vec![latency(&instruction, chain, presets)];
    figures.extend(throughputs(&instruction, copies, presets));
    // Notes show the instruction as the user wrote it.
    let ours = code::show(&instruction);
    for note in figures.iter_mut().flat_map(|f| &mut f.notes) {
        *note = as_typed(note, &ours, text);
    }
    Ok(figures)
}

/// The dependency chain for the latency, or the reason for its absence. Gathers and scatters need
/// special sequences.
fn dependency_chain(original: &Instruction) -> Result<Chain, String> {
    if original.is_vsib() { vsib::chain(original) } else { chain::chain(original) }
}

/// The independent copies for the throughput, or the reason for their absence.
fn independent_copies(original: &Instruction) -> Result<Copies, String> {
    if original.is_vsib() { vsib::copies(original) } else { copies::copies(original) }
}

/// Replaces an instruction in a note's list by its text as the user wrote it.
fn as_typed(note: &str, ours: &str, typed: &str) -> String {
    let Some((head, list)) = note.split_once(": ") else {
        return note.to_owned();
    };
    let each = list.split("; ").map(|i| if i == ours { typed } else { i });
    format!("{head}: {}", each.collect::<Vec<_>>().join("; "))
}

fn latency(requested: &Instruction, chain: Result<Chain, String>, presets: &Presets) -> Figure {
    let chain = match chain {
        Ok(chain) => chain,
        Err(why) => return Figure::none("latency", why),
    };
    let start = Start {
        requested: std::slice::from_ref(requested),
        steps: &chain.steps,
        twins: &chain.twins,
        user: presets,
        word: chain.word,
    };
    let Some(code) = start.code() else {
        let why = "no latency: its chain cannot be encoded";
        return Figure::none("latency", why.to_owned());
    };
    Figure {
        aspect: if chain.is_round_trip { "round-trip" } else { "latency" },
        code: Ok(code),
        notes: vec![chain.note],
        is_move: chain.is_move,
        steps: chain.steps,
    }
}

/// Throughputs with different numbers of copies; the smallest figure counts.
fn throughputs(
    requested: &Instruction,
    copies: Result<Copies, String>,
    presets: &Presets,
) -> Vec<Figure> {
    let all = match copies {
        Ok(copies) => copies,
        Err(why) => return vec![Figure::none("throughput", why)],
    };
    let fewer: Vec<Copies> = FEWER.iter().filter_map(|n| all.fewer(*n)).collect();
    let each = std::iter::once(all).chain(fewer);
    each.map(|copies| {
        let start = Start {
            requested: std::slice::from_ref(requested),
            steps: &copies.steps,
            twins: &copies.twins,
            user: presets,
            word: None,
        };
        let none = || "no throughput: its copies cannot be encoded".to_owned();
        Figure {
            aspect: "throughput",
            code: start.code_of_copies().ok_or_else(none),
            notes: copies.notes,
            is_move: false,
            steps: copies.steps,
        }
    })
    .collect()
}
