//! Single instructions of x86_64: each becomes a chain (latency) and independent copies (throughput), which one and the
//! same benchmark of the library measures. The assembler says what the text means, the decoder what that reads and writes.

mod address;
mod back;
mod chain;
mod code;
mod copies;
mod faults;
mod moves;
mod operands;
mod refusal;
mod sequences;
mod stack;
mod start;
#[cfg(test)]
mod tests;
mod vsib;

use iced_x86::Instruction;

pub(super) use faults::explain;

pub(super) use start::Given;

use chain::Chain;
use copies::Copies;
use stack::Pair;
use start::Start;

/// Numbers of copies that are tried beside as many as there are registers. Each costs a fifth of a second.
const FEWER: [usize; 1] = [12];

/// One figure of an instruction, ready to be measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// `latency`, `round-trip` or `throughput`.
    pub(super) aspect: &'static str,
    /// What the benchmark is to run, or why there is nothing to run.
    pub(super) code: Result<String, String>,
    /// What the reader is told of it.
    pub(super) notes: Vec<String>,
    /// Whether its steps only copy registers, which a processor may do by renaming.
    pub(super) is_move: bool,
}

impl Figure {
    fn none(aspect: &'static str, why: String) -> Figure {
        Figure {
            aspect,
            code: Err(why),
            notes: Vec::new(),
            is_move: false,
        }
    }

    /// The figures of an instruction that is refused.
    pub(super) fn refused(why: &str) -> Vec<Figure> {
        let each = ["latency", "throughput"].into_iter();
        each.map(|aspect| Figure::none(aspect, why.to_owned()))
            .collect()
    }
}

/// Latency and throughput of the one instruction that `bytes` are, or why it cannot be measured; those of one aspect are
/// ways to the same figure. `text` is what was typed.
pub(super) fn figures(text: &str, bytes: &[u8], given: &Given) -> Result<Vec<Figure>, String> {
    let instructions = code::decode(bytes);
    let mut refused = instructions.iter().filter_map(refusal::refusal);
    let pair = Pair::of(&instructions);
    if let Some(pair) = pair.filter(|_| instructions.iter().all(|i| address::refusal(i).is_none()))
    {
        let asked = instructions[0];
        let mut figures = vec![latency(&asked, pair.chain(), given)];
        figures.extend(throughputs(&asked, Ok(pair.copies()), given));
        return Ok(figures);
    }
    let [instruction] = instructions[..] else {
        let count = instructions.len();
        return Err(format!(
            "one instruction is needed (or a push with its pop), and this is {count}; give each in an argument of its own"
        ));
    };
    if let Some(reason) = refused.next() {
        return Err(format!("cannot be measured: {reason}"));
    }
    let mut figures = vec![latency(
        &instruction,
        sequences::dependency_chain(&instruction),
        given,
    )];
    figures.extend(throughputs(
        &instruction,
        sequences::independent_copies(&instruction),
        given,
    ));
    // Where it is measured as it was typed, it is shown so.
    let ours = code::show(&instruction);
    for note in figures.iter_mut().flat_map(|f| &mut f.notes) {
        *note = as_typed(note, &ours, text);
    }
    Ok(figures)
}

/// A note with one instruction of a list spelled as it was typed.
fn as_typed(note: &str, ours: &str, typed: &str) -> String {
    let Some((head, list)) = note.split_once(": ") else {
        return note.to_owned();
    };
    let each = list.split("; ").map(|i| if i == ours { typed } else { i });
    format!("{head}: {}", each.collect::<Vec<_>>().join("; "))
}

fn latency(asked: &Instruction, chain: Result<Chain, String>, given: &Given) -> Figure {
    let chain = match chain {
        Ok(chain) => chain,
        Err(why) => return Figure::none("latency", why),
    };
    let start = Start {
        asked,
        steps: &chain.steps,
        twins: &chain.twins,
        given,
        word: chain.word,
    };
    let Some(code) = start.code() else {
        return Figure::none(
            "latency",
            "no latency: its chain cannot be encoded".to_owned(),
        );
    };
    Figure {
        aspect: if chain.is_round_trip {
            "round-trip"
        } else {
            "latency"
        },
        code: Ok(code),
        notes: vec![chain.note],
        is_move: chain.is_move,
    }
}

/// With different numbers of copies; the least figure is the throughput.
fn throughputs(asked: &Instruction, copies: Result<Copies, String>, given: &Given) -> Vec<Figure> {
    let all = match copies {
        Ok(copies) => copies,
        Err(why) => return vec![Figure::none("throughput", why)],
    };
    let fewer: Vec<Copies> = FEWER.iter().filter_map(|n| all.fewer(*n)).collect();
    let each = std::iter::once(all).chain(fewer);
    each.map(|copies| {
        let start = Start {
            asked,
            steps: &copies.steps,
            twins: &copies.twins,
            given,
            word: None,
        };
        let none = || "no throughput: its copies cannot be encoded".to_owned();
        Figure {
            aspect: "throughput",
            code: start.code().ok_or_else(none),
            notes: copies.notes,
            is_move: false,
        }
    })
    .collect()
}
