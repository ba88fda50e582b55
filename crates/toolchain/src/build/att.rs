//! Finds operands of x86 in AT&T's syntax.

/// The help for an operand in AT&T's syntax.
pub(super) const HELP: &str = "write Intel's syntax: the destination first, registers without `%`, and memory in brackets, as in `mov rax, [rbx]`";

/// Registers that have no number, or may have none.
const NAMED: &str = "rax rbx rcx rdx rsi rdi rbp rsp rip eax ebx ecx edx esi edi ebp esp eip \
    ax bx cx dx si di bp sp al bl cl dl ah bh ch dh sil dil bpl spl cs ds es fs gs ss st";

/// The first operand of a line that is a register after `%`, or a register alone in parentheses.
/// Texts in quotes, comments, and parentheses in a memory operand do not count.
pub(super) fn operand(line: &str) -> Option<&str> {
    let (mut is_text, mut depth) = (false, 0);
    for (start, sign) in line.char_indices() {
        let rest = &line[start + sign.len_utf8()..];
        match sign {
            '"' => is_text = !is_text,
            _ if is_text => {}
            '#' => return None,
            '[' => depth += 1,
            ']' => depth -= 1,
            '%' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                if is_register(&rest[..end]) {
                    return Some(&line[start..start + 1 + end]);
                }
            }
            '(' if depth == 0 => {
                let end = rest.find(')').unwrap_or_default();
                if is_register(rest[..end].trim()) {
                    return Some(&line[start..=start + 1 + end]);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_register(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if NAMED.split_ascii_whitespace().any(|register| register == name) {
        return true;
    }
    let numbered =
        ["xmm", "ymm", "zmm", "tmm", "mm", "r", "k", "cr", "dr"].iter().find_map(|kind| {
            let number = name.strip_prefix(kind)?;
            let part = ["d", "w", "b", "l"].iter().find_map(|part| number.strip_suffix(part));
            Some(part.filter(|_| *kind == "r").unwrap_or(number))
        });
    numbered.is_some_and(|number| number.parse::<u8>().is_ok_and(|n| n < 32))
}

#[cfg(test)]
mod tests {
    use super::operand;

    #[test]
    fn operands_of_at_and_t_are_found() {
        for (line, found) in [
            ("mov (%rbx), %rax", "%rbx"),
            ("mov rax, (rbx)", "(rbx)"),
            ("mov rax, ( RBX )", "( RBX )"),
            ("subsd %xmm0, %xmm1", "%xmm0"),
            ("kmovd %k1, %r10d", "%k1"),
            ("fadd %st(1)", "%st"),
        ] {
            assert_eq!(operand(line), Some(found), "{line}");
        }
        for line in [
            "mov rax, [rbx]",
            "add rax, 100 % 7",
            "mov rax, [rbx + (4 + 4)]",
            "fadd st(1)",
            "push (kernel)",
            ".type entry, %function",
            "nop  # not %rax",
            "mov rax, [(rbx) + 8]",
            ".ascii \"(si)\"",
        ] {
            assert_eq!(operand(line), None, "{line}");
        }
    }
}
