//! Builds the copies of an instruction for a throughput. They are independent, because each writes
//! different registers.

use std::collections::BTreeSet;
use std::ops::Range;

use iced_x86::{Code, EncodingKind, Instruction};

use super::code::{encode, show, show_all};
use super::operands::{Bank, FullRegister, Operand, STACK, Uses, renumbered};

/// The maximum number of copies: enough to fill any processor's units for the time of a latency.
/// More only lengthen the code.
const MOST: usize = 24;

/// The distance of copies in memory: each gets its own cache line.
const LINE: u64 = 64;

/// The note for `vzeroupper` and the like, which have no operand to rename.
const WHOLE_FILE: &str = "copies: all change the same registers; where the processor waits for these, so does the figure";

/// The number of cache lines for copies of an instruction that modifies memory.
const LINES: usize = 16;

/// Independent copies of an instruction.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// Alternating steps.
    pub(super) steps: Vec<Vec<Instruction>>,
    /// Descriptions of the copies for the user.
    pub(super) notes: Vec<String>,
    /// Pairs of registers with equal start values: the first is set to the value of the second.
    pub(super) twins: Vec<(FullRegister, FullRegister)>,
}

/// The copies of one instruction, or why they cannot be independent.
pub(super) fn copies(original: &Instruction) -> Result<Copies, String> {
    let uses = Uses::new(original);
    let renamed = Renaming::new(original, &uses);
    let mut all: Vec<Instruction> = renamed.copies(original);
    if uses.reads_memory && uses.writes_memory {
        all = moved(&all);
    }
    if all.is_empty() {
        return Err(
            "no throughput: its copies would all change the same place in memory".to_owned()
        );
    }
    if let [only] = all[..]
        && writes_part(&only)
    {
        return Err(
            "no throughput: it writes a part of a register that its copies would write too"
                .to_owned(),
        );
    }
    let mut copies = Copies {
        notes: vec![described(&all)],
        steps: all.iter().map(|i| vec![*i]).collect(),
        twins: Vec::new(),
    };
    for place in shared(&all) {
        if uses.operands.is_empty() && place.bank != Bank::General {
            copies.notes = vec![WHOLE_FILE.to_owned()];
        } else {
            copies.free(place)?;
        }
    }
    if uses.flags_read & uses.flags_written != 0 {
        copies.free_flags()?;
    }
    Ok(copies)
}

/// Whether it writes a part of a general register without reading it. Such a write still depends on
/// the rest of the register.
fn writes_part(instruction: &Instruction) -> bool {
    let uses = Uses::new(instruction);
    let part = |o: &Operand| o.place.bank == Bank::General && o.register.size() < 4;
    let mut operands = uses.operands.iter();
    operands.any(|o| o.writes && !o.reads && part(o))
}

fn described(all: &[Instruction]) -> String {
    let shown: Vec<Instruction> = all.iter().take(3).copied().collect();
    let rest = if all.len() > shown.len() { "; ..." } else { "" };
    match all {
        [one] => format!("copies: {}", show(one)),
        _ => format!("{} copies: {}{rest}", all.len(), show_all(&shown)),
    }
}

/// The registers that every copy both reads and writes.
fn shared(all: &[Instruction]) -> BTreeSet<FullRegister> {
    let both = |i: &Instruction| -> BTreeSet<FullRegister> {
        let uses = Uses::new(i);
        let sources = uses.sources();
        uses.written().filter(|p| sources.contains(p)).collect()
    };
    let common = all.iter().map(both).reduce(|common, own| &common & &own);
    common.unwrap_or_default()
}

/// The operands to rename, and the registers to choose from.
struct Renaming {
    /// Operands to rename, in groups that share a register.
    groups: Vec<Vec<Operand>>,
    /// Whether the copies do not read any register that the given instruction writes.
    keeps_given: bool,
    /// Free registers, by bank.
    general: Vec<u32>,
    vector: Vec<u32>,
    mask: Vec<u32>,
}

impl Renaming {
    fn new(original: &Instruction, uses: &Uses) -> Renaming {
        let implicit: BTreeSet<FullRegister> = &uses.implicit_reads | &uses.implicit_writes;
        let mut groups: Vec<Vec<Operand>> = Vec::new();
        for target in uses.operands.iter().filter(|o| o.writes) {
            let group = group(original, uses, target);
            let seen = groups.iter().flatten().any(|o| o.place == target.place);
            if !seen && !group.is_empty() {
                groups.push(group);
            }
        }
        let renamed = |o: &Operand| groups.iter().flatten().any(|r| r.index == o.index);
        let fixed = uses.operands.iter().filter(|o| !renamed(o));
        let mut taken: BTreeSet<FullRegister> = fixed.map(|o| o.place).collect();
        taken.extend(uses.address.iter().copied());
        taken.extend(implicit);
        let free = |bank, numbers: Range<u32>| -> Vec<u32> {
            let is_free = |p: &FullRegister| *p != STACK && !taken.contains(p);
            let all = numbers.map(|number| FullRegister { bank, number });
            all.filter(is_free).map(|p| p.number).collect()
        };
        let is_evex = original.encoding() == EncodingKind::EVEX;
        let mut written = groups.iter().map(|g| g[0].place);
        Renaming {
            keeps_given: !written.any(|p| taken.contains(&p)),
            groups,
            general: free(Bank::General, 0..16),
            vector: free(Bank::Vector, 0..if is_evex { 32 } else { 16 }),
            mask: free(Bank::Mask, 1..8),
        }
    }

    fn numbers(&self, bank: Bank) -> &[u32] {
        match bank {
            Bank::General => &self.general,
            Bank::Vector => &self.vector,
            Bank::Mask => &self.mask,
        }
    }

    /// The copies: the given instruction first, unless the others read a register that it writes,
    /// then those with other registers. Two general registers stay free for dependency-breaking
    /// instructions.
    fn copies(&self, original: &Instruction) -> Vec<Instruction> {
        let mut copies = Vec::new();
        if self.keeps_given || self.groups.is_empty() {
            copies.push(*original);
        }
        copies.extend((1..=MOST).map_while(|turn| self.copy(original, turn)));
        if copies.is_empty() || self.groups.is_empty() {
            return vec![*original];
        }
        copies
    }

    /// Copy number `turn`, from 1; `None` if there are no more free registers.
    fn copy(&self, original: &Instruction, turn: usize) -> Option<Instruction> {
        let mut copy = *original;
        for group in &self.groups {
            let place = group[0].place;
            let places = self.groups.iter().map(|g| g[0].place);
            let own: Vec<FullRegister> = places.filter(|p| p.bank == place.bank).collect();
            let mut numbers = self.numbers(place.bank).to_vec();
            numbers.retain(|n| own.iter().all(|p| p.number != *n));
            let reserve = if place.bank == Bank::General { 2 } else { 0 };
            if turn * own.len() > numbers.len().saturating_sub(reserve) {
                return None;
            }
            let rank = own.iter().position(|p| *p == place)?;
            let number = numbers[(turn - 1) * own.len() + rank];
            for operand in group {
                let register = renumbered(operand.register, number)?;
                copy.set_op_register(operand.index, register);
            }
        }
        encode(&copy).map(|_| copy)
    }
}

/// The operands to rename together: the written operand, and its other mentions if its old value
/// matters or if equal operands make an idiom.
fn group(original: &Instruction, uses: &Uses, target: &Operand) -> Vec<Operand> {
    let other = |o: &&Operand| o.index != target.index && o.place == target.place;
    let mentions: Vec<Operand> = uses.operands.iter().filter(other).copied().collect();
    let whole: Vec<Operand> = std::iter::once(*target).chain(mentions).collect();
    let counts = target.reads || target.is_idle;
    let mut groups = [vec![*target], whole];
    if counts {
        groups.reverse();
    }
    let probe = |group: &[Operand]| {
        // A register that every encoding can name, as a stand-in for all others.
        let number = if target.place.number == 3 { 1 } else { 3 };
        let mut copy = *original;
        for operand in group {
            let register = renumbered(operand.register, number)?;
            copy.set_op_register(operand.index, register);
        }
        encode(&copy)
    };
    let mut groups = groups.into_iter();
    groups.find(|g| probe(g).is_some()).unwrap_or_default()
}

/// The copies, each with its own cache line of the buffer.
fn moved(all: &[Instruction]) -> Vec<Instruction> {
    let numbers = 0..all.len().max(LINES);
    let each = numbers.filter_map(|number| {
        let mut copy = all[number % all.len()];
        let line = (number % LINES) as u64 * LINE;
        copy.set_memory_displacement64(copy.memory_displacement64().wrapping_add(line));
        // Selects a displacement of 32 bits; the library specifies it by the size of the address.
        let address = [copy.memory_base(), copy.memory_index()];
        if let Some(register) = address.into_iter().find(|r| r.is_gpr()) {
            copy.set_memory_displ_size(register.size() as u32);
        }
        encode(&copy).map(|_| copy)
    });
    each.collect()
}

impl Copies {
    /// A variant with fewer copies: the number of copies affects how steps are distributed over
    /// execution units.
    pub(super) fn fewer(&self, count: usize) -> Option<Copies> {
        if self.steps.len() < count + 2 {
            return None;
        }
        let mut fewer = self.clone();
        fewer.steps.truncate(count);
        let own = fewer.steps.iter().filter_map(|s| s.last().copied());
        fewer.notes[0] = described(&own.collect::<Vec<_>>());
        Some(fewer)
    }

    /// A general register that no step uses.
    fn unused(&self) -> Option<FullRegister> {
        let mut used: BTreeSet<FullRegister> = self.twins.iter().map(|(t, _)| *t).collect();
        for uses in self.steps.iter().flatten().map(Uses::new) {
            used.extend(uses.needed().into_iter().chain(uses.written()));
        }
        FullRegister::usable().find(|p| !used.contains(p))
    }

    /// Breaks the dependency through `place`: each copy first reloads its start value from an
    /// unused register.
    fn free(&mut self, place: FullRegister) -> Result<(), String> {
        let stuck = || {
            let kind = match place.bank {
                Bank::General => format!("{:?}", place.register64()).to_lowercase(),
                Bank::Vector => format!("vector register {}", place.number),
                Bank::Mask => format!("k{}", place.number),
            };
            format!(
                "no throughput: every copy needs {kind} of the one before, and no register can take its place"
            )
        };
        if place.bank != Bank::General {
            return Err(stuck());
        }
        let twin = self.unused().ok_or_else(stuck)?;
        let (to, from) = (place.register64(), twin.register64());
        let fresh = Instruction::with2(Code::Mov_r64_rm64, to, from).map_err(|_| stuck())?;
        self.put_before(fresh);
        self.twins.push((twin, place));
        Ok(())
    }

    fn free_flags(&mut self) -> Result<(), String> {
        let stuck = "no throughput: every copy needs the flags of the one before";
        let unused = self.unused().ok_or(stuck)?;
        let register = unused.register32();
        let fresh = Instruction::with2(Code::Test_rm32_r32, register, register);
        self.put_before(fresh.map_err(|_| stuck)?);
        self.twins.push((unused, unused));
        Ok(())
    }

    fn put_before(&mut self, fresh: Instruction) {
        for step in &mut self.steps {
            step.insert(step.len() - 1, fresh);
        }
        self.notes.push(format!(
            "each after `{}`, without which it would wait for the one before; the figure is of both",
            show(&fresh)
        ));
    }
}
