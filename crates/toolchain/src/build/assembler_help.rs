//! How to fix what an assembler refuses, by the text of its message.

/// Beginnings and parts of messages of GNU as and clang, each with the fix.
const FIXES: &[(&[&str], &str)] = &[
    (
        &["does not support `", "instruction requires: "],
        "`.arch_extension NAME` before it in the block permits the instructions of an extension, as `.arch_extension lse`",
    ),
    (
        &[
            "no such instruction",
            "unknown mnemonic",
            "unrecognized opcode",
            "invalid instruction mnemonic",
            "unrecognized instruction mnemonic",
        ],
        "check the spelling; if it is right, the assembler is older than the instruction: the variable AS names another",
    ),
    (&["shortened to", "truncated to"], "write a number that fits the operand"),
    (&["ambiguous operand size"], "write the size of the memory, as in `dword ptr [rbx]`"),
    (
        &["out of range", "in range"],
        "load the number into a register first, or use a form of the instruction with a wider field",
    ),
    (
        &[
            "operand type mismatch",
            "operand size mismatch",
            "number of operands mismatch",
            "operand mismatch",
            "illegal operands",
            "invalid operand",
        ],
        "the instruction has no form with these operands: check their number, and that the sizes of registers and numbers fit together",
    ),
    (
        &["junk `", "unexpected characters following", "unexpected token", "unknown token"],
        "separate operands by commas, and instructions by line ends or `;`",
    ),
];

/// The fix. `suggestion`: what the assembler itself suggests in place of the line. `None` for a
/// message that no fix is known for.
pub(super) fn help(message: &str, suggestion: Option<&str>) -> Option<String> {
    if let Some(suggestion) = suggestion {
        return Some(format!("did you mean `{suggestion}`?"));
    }
    if let Some(extension) = required_extension(message) {
        return Some(format!(
            "`.option arch, +{extension}` before it in the block permits the instructions of that extension"
        ));
    }
    let fix = FIXES.iter().find(|(parts, _)| {
        let mut parts = parts.iter();
        parts.any(|part| message.contains(part))
    });
    fix.map(|(_, fix)| (*fix).to_owned())
}

/// The first extension that GNU as names for RISC-V: "unrecognized opcode `...', extension `v' or
/// `zve64x' required".
fn required_extension(message: &str) -> Option<&str> {
    let (_, names) = message.strip_suffix(" required")?.split_once(", extension `")?;
    Some(names.split_once('\'')?.0)
}

#[cfg(test)]
mod tests {
    use super::help;

    #[test]
    fn messages_of_both_assemblers_have_a_fix() {
        for (message, fix) in [
            ("no such instruction: `frob eax'", "AS names another"),
            ("unknown mnemonic `frob' -- `frob x0'", "AS names another"),
            ("invalid instruction mnemonic 'frob'", "AS names another"),
            ("selected processor does not support `ldadd x0,x1,[x2]'", ".arch_extension"),
            ("instruction requires: lse", ".arch_extension"),
            (
                "unrecognized opcode `vadd.vv v1,v2,v3', extension `v' or `zve64x' required",
                "`.option arch, +v`",
            ),
            ("unrecognized opcode `frob a0'", "check the spelling"),
            ("ambiguous operand size for `inc'", "dword ptr"),
            ("operand type mismatch for `mov'", "no form with these operands"),
            ("illegal operands `add a0,a1'", "no form with these operands"),
            ("immediate out of range", "into a register first"),
            ("junk `5' after expression", "by commas"),
        ] {
            let found = help(message, None).unwrap_or_default();
            assert!(found.contains(fix), "{message}: {found}");
        }
        assert_eq!(
            help("operand mismatch -- `mov w0,x1'", Some("mov w0, w1")).unwrap(),
            "did you mean `mov w0, w1`?"
        );
        assert_eq!(help("symbol `x' is already defined", None), None);
    }
}
