//! Assembles BPF programs from text, in the notation of LLVM's assembler.
//!
//! ```text
//!     r1 = 5                      numbers and symbols, also sums: thread.times + 8
//!     r1 += r2                    += -= *= /= |= &= <<= >>= with a register or number
//!     r1 = *(u64 *)(r7 + 8)       loads of u8, u16, u32, u64
//!     *(u32 *)(r7 + 8) = r1       stores of a register or number
//!     lock *(u64 *)(r1 + 0) += r2
//!     r2 = fetch *(u64 *)(r1 + 0) += r2     the same, and the value before
//!     r1 = map NAME               a map
//!     r1 = value NAME             the value of a map with one element
//!     call NAME                   a helper function of the kernel
//!     if r1 == 5 goto out         == != < <= > >= s< s>
//!     goto out
//! out:
//!     exit
//! ```

use std::collections::HashMap;

/// One instruction, as the kernel reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    /// Operation.
    pub code: u8,
    /// Destination register in the low four bits, source register in the high four.
    pub registers: u8,
    /// Offset of a memory access or jump.
    pub offset: i16,
    /// Number.
    pub immediate: i32,
}

/// The values of names in a program.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Offsets, sizes and other numbers.
    pub numbers: HashMap<String, i32>,
    /// Descriptors of maps.
    pub maps: HashMap<String, i32>,
}

/// Helper functions of the kernel, with their numbers in `linux/bpf.h`.
const HELPERS: &[(&str, i32)] = &[
    ("map_lookup_elem", 1),
    ("map_update_elem", 2),
    ("ktime_get_ns", 5),
    ("map_push_elem", 87),
    ("map_pop_elem", 88),
    ("probe_read_user", 112),
    ("probe_read_kernel", 113),
    ("probe_read_user_str", 114),
    ("ringbuf_output", 130),
    ("ringbuf_reserve", 131),
    ("ringbuf_submit", 132),
    ("ringbuf_query", 134),
    ("task_storage_get", 156),
    ("get_current_task_btf", 158),
];

/// Operations between registers, with their codes.
const OPERATIONS: &[(&str, u8)] = &[
    (" += ", 0x00),
    (" -= ", 0x10),
    (" *= ", 0x20),
    (" /= ", 0x30),
    (" |= ", 0x40),
    (" &= ", 0x50),
    (" <<= ", 0x60),
    (" >>= ", 0x70),
    (" = ", 0xb0),
];

/// Conditions of jumps, with their codes. A longer one stands before its beginning.
const CONDITIONS: &[(&str, u8)] = &[
    (" == ", 0x10),
    (" != ", 0x50),
    (" s< ", 0xc0),
    (" s> ", 0x60),
    (" <= ", 0xb0),
    (" >= ", 0x30),
    (" < ", 0xa0),
    (" > ", 0x20),
];

/// Sizes of memory accesses, with their codes.
const SIZES: &[(&str, u8)] = &[("u8", 0x10), ("u16", 0x08), ("u32", 0x00), ("u64", 0x18)];

const ALU64: u8 = 0x07;
const JUMP: u8 = 0x05;
const FROM_REGISTER: u8 = 0x08;
const LOAD: u8 = 0x61;
const STORE_NUMBER: u8 = 0x62;
const STORE: u8 = 0x63;
const ATOMIC_ADD: u8 = 0xc3;
/// Marks an addition that returns the value before.
const FETCH: i32 = 1;
const LOAD_64_BIT_NUMBER: u8 = 0x18;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const GOTO: u8 = 0x05;

/// Marks a number as the descriptor of a map.
const MAP: u8 = 1;
/// Marks a number as the descriptor of a map whose value is meant.
const MAP_VALUE: u8 = 2;

/// Assembles a program. The error names the line.
pub fn assemble(text: &str, symbols: &Symbols) -> Result<Vec<Instruction>, String> {
    let mut program =
        Program { symbols, code: Vec::new(), labels: HashMap::new(), jumps: Vec::new() };
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if !line.is_empty() {
            let done = program.line(line);
            done.ok_or_else(|| format!("not an instruction: {line}"))?;
        }
    }
    program.finish()
}

struct Program<'a> {
    symbols: &'a Symbols,
    code: Vec<Instruction>,
    labels: HashMap<&'a str, usize>,
    /// The jumps with their labels.
    jumps: Vec<(usize, &'a str)>,
}

/// The right side of an instruction.
#[derive(Clone, Copy)]
enum Operand {
    Register(u8),
    Number(i32),
}

impl<'a> Program<'a> {
    fn finish(mut self) -> Result<Vec<Instruction>, String> {
        for (at, label) in self.jumps {
            let target = self.labels.get(label);
            let target = target.ok_or_else(|| format!("no label {label}"))?;
            let distance = *target as i64 - at as i64 - 1;
            self.code[at].offset = i16::try_from(distance).map_err(|e| e.to_string())?;
        }
        Ok(self.code)
    }

    fn line(&mut self, line: &'a str) -> Option<()> {
        if let Some(label) = line.strip_suffix(':') {
            return self.labels.insert(label, self.code.len()).is_none().then_some(());
        }
        if line == "exit" {
            return self.push(EXIT, 0, 0, 0, 0);
        }
        if let Some(name) = line.strip_prefix("call ") {
            let (_, number) = HELPERS.iter().find(|(helper, _)| *helper == name)?;
            return self.push(CALL, 0, 0, 0, *number);
        }
        if let Some(label) = line.strip_prefix("goto ") {
            self.jumps.push((self.code.len(), label));
            return self.push(GOTO, 0, 0, 0, 0);
        }
        if let Some(condition) = line.strip_prefix("if ") {
            return self.jump(condition);
        }
        if let Some(rest) = line.strip_prefix("lock ") {
            return self.atomic_add(rest).map(drop);
        }
        if let Some((to, rest)) = line.split_once(" = fetch ") {
            let added = self.atomic_add(rest)?;
            self.code.last_mut()?.immediate = FETCH;
            return (register(to)? == added).then_some(());
        }
        if line.starts_with('*') {
            return self.store(line);
        }
        self.assign(line)
    }

    /// `*(u64 *)(r1 + 0) += r2`. Returns the second register.
    fn atomic_add(&mut self, text: &str) -> Option<u8> {
        let (place, value) = text.split_once(" += ")?;
        let (size, base, offset) = self.memory(place)?;
        let added = register(value)?;
        self.push(ATOMIC_ADD | size, base, added, offset, 0)?;
        Some(added)
    }

    fn jump(&mut self, condition: &'a str) -> Option<()> {
        let (comparison, label) = condition.split_once(" goto ")?;
        self.jumps.push((self.code.len(), label));
        let (sign, code) = CONDITIONS.iter().find(|(sign, _)| comparison.contains(sign))?;
        let (left, right) = comparison.split_once(sign)?;
        self.binary(code | JUMP, register(left)?, self.operand(right)?)
    }

    fn store(&mut self, line: &str) -> Option<()> {
        let (place, value) = line.split_once(" = ")?;
        let (size, base, offset) = self.memory(place)?;
        match self.operand(value)? {
            Operand::Register(from) => self.push(STORE | size, base, from, offset, 0),
            Operand::Number(number) => self.push(STORE_NUMBER | size, base, 0, offset, number),
        }
    }

    fn assign(&mut self, line: &str) -> Option<()> {
        let (sign, code) = OPERATIONS.iter().find(|(sign, _)| line.contains(sign))?;
        let (left, right) = line.split_once(sign)?;
        let to = register(left)?;
        for (word, mark) in [("map ", MAP), ("value ", MAP_VALUE)] {
            if let Some(name) = right.strip_prefix(word) {
                let map = *self.symbols.maps.get(name)?;
                self.push(LOAD_64_BIT_NUMBER, to, mark, 0, map)?;
                return self.push(0, 0, 0, 0, 0);
            }
        }
        if right.starts_with('*') {
            let (size, base, offset) = self.memory(right)?;
            return self.push(LOAD | size, to, base, offset, 0);
        }
        self.binary(code | ALU64, to, self.operand(right)?)
    }

    fn binary(&mut self, code: u8, to: u8, operand: Operand) -> Option<()> {
        match operand {
            Operand::Register(from) => self.push(code | FROM_REGISTER, to, from, 0, 0),
            Operand::Number(number) => self.push(code, to, 0, 0, number),
        }
    }

    /// The size, base and offset of `*(u64 *)(r7 + 8)`.
    fn memory(&self, text: &str) -> Option<(u8, u8, i16)> {
        let (size, place) = text.strip_prefix("*(")?.split_once(" *)(")?;
        let (base, offset) = place.strip_suffix(')')?.split_once(" + ")?;
        let (_, size) = SIZES.iter().find(|(name, _)| *name == size)?;
        let offset = i16::try_from(self.number(offset)?).ok()?;
        Some((*size, register(base)?, offset))
    }

    fn operand(&self, text: &str) -> Option<Operand> {
        match register(text) {
            Some(register) => Some(Operand::Register(register)),
            None => self.number(text).map(Operand::Number),
        }
    }

    /// A sum of numbers and symbols.
    fn number(&self, text: &str) -> Option<i32> {
        text.split(" + ").try_fold(0, |sum, term| {
            let known = self.symbols.numbers.get(term).copied();
            Some(sum + known.or_else(|| term.parse().ok())?)
        })
    }

    fn push(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Option<()> {
        self.code.push(Instruction { code, registers: to | from << 4, offset, immediate });
        Some(())
    }
}

fn register(text: &str) -> Option<u8> {
    let number: u8 = text.strip_prefix('r')?.parse().ok()?;
    (number <= 10).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        Symbols {
            numbers: HashMap::from([("thread.mode".to_owned(), 16)]),
            maps: HashMap::from([("events".to_owned(), 7)]),
        }
    }

    /// The instruction as one number, as `llvm-objdump` shows its bytes.
    fn bytes(text: &str) -> Vec<String> {
        let code = assemble(text, &symbols()).unwrap();
        code.iter()
            .map(|i| {
                let [low, high] = i.offset.to_le_bytes();
                let [a, b, c, d] = i.immediate.to_le_bytes();
                let all = [i.code, i.registers, low, high, a, b, c, d];
                all.map(|byte| format!("{byte:02x}")).join(" ")
            })
            .collect()
    }

    /// The bytes are those of clang 18 and `llvm-objdump -d` for the same text.
    #[test]
    fn instructions_have_the_bytes_of_llvm() {
        for (text, expected) in [
            ("r6 = r1", "bf 16 00 00 00 00 00 00"),
            ("r2 = -5", "b7 02 00 00 fb ff ff ff"),
            ("r2 -= r1", "1f 12 00 00 00 00 00 00"),
            ("r3 &= 7", "57 03 00 00 07 00 00 00"),
            ("r3 <<= 3", "67 03 00 00 03 00 00 00"),
            ("r1 = *(u64 *)(r7 + 8)", "79 71 08 00 00 00 00 00"),
            ("r1 = *(u16 *)(r3 + 136)", "69 31 88 00 00 00 00 00"),
            ("r1 = *(u8 *)(r1 + 0)", "71 11 00 00 00 00 00 00"),
            ("*(u32 *)(r9 + thread.mode + 4) = r1", "63 19 14 00 00 00 00 00"),
            ("*(u64 *)(r7 + thread.mode) = 1", "7a 07 10 00 01 00 00 00"),
            ("lock *(u64 *)(r1 + 0) += r2", "db 21 00 00 00 00 00 00"),
            ("r2 = fetch *(u64 *)(r1 + 0) += r2", "db 21 00 00 01 00 00 00"),
            ("call ktime_get_ns", "85 00 00 00 05 00 00 00"),
            ("exit", "95 00 00 00 00 00 00 00"),
        ] {
            assert_eq!(bytes(text), [expected], "{text}");
        }
        let map = ["18 11 00 00 07 00 00 00", "00 00 00 00 00 00 00 00"];
        assert_eq!(bytes("r1 = map events"), map);
        let value = ["18 21 00 00 07 00 00 00", "00 00 00 00 00 00 00 00"];
        assert_eq!(bytes("r1 = value events"), value);
    }

    #[test]
    fn jumps_reach_their_labels() {
        let text = "begin:\n  if r2 s< 0 goto end // a comment\n  if r1 == r2 goto begin\n  goto end\nend:\n  exit\n";
        let expected = [
            "c5 02 02 00 00 00 00 00",
            "1d 21 fe ff 00 00 00 00",
            "05 00 00 00 00 00 00 00",
            "95 00 00 00 00 00 00 00",
        ];
        assert_eq!(bytes(text), expected);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, part) in [
            ("r11 = 0", "r11 = 0"),
            ("r1 = thread.none", "thread.none"),
            ("call none", "call none"),
            ("goto none", "no label none"),
            ("r3 = fetch *(u64 *)(r1 + 0) += r2", "fetch"),
            ("a:\na:", "a:"),
            ("r1 = *(u24 *)(r1 + 0)", "u24"),
        ] {
            let refused = assemble(text, &symbols()).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
