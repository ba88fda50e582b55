//! Checks constant widths and values of casts.

use crate::ast::{self, Bitstring, Cpp, MemberKind, Term, TermKind};
use crate::cpp;
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class};
use crate::source::Span;

/// Maximum width of a field at run time. A greater constant is a typing error.
const WIDEST: i128 = 1 << 20;

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    for member in &class.ast.members {
        if let MemberKind::Bitstring(Bitstring { body: Some(body), .. }) = &member.kind {
            ast::walk(body, &mut |term| self::term(analysis, term, found));
        }
    }
}

fn term(analysis: &Analysis, term: &Term, found: &mut Vec<Diagnostic>) {
    let constant = |cpp: &Cpp| cpp::constant_integer(analysis.cpp(*cpp));
    match &term.kind {
        TermKind::Le(value, bits) if whole_bytes(analysis, *bits, "le", found) => {
            fits(analysis, *value, constant(bits), found);
        }
        TermKind::Be(value, bits) => match constant(bits) {
            Some(width) if !(1..=WIDEST).contains(&width) => {
                found.push(bad_width(
                    bits.span,
                    format!("`be` cannot have {width} bits"),
                    "a width is 1 to 1048576 bits",
                ));
            }
            width => fits(analysis, *value, width, found),
        },
        TermKind::Slice(_, high, low) => {
            slice(constant(high), constant(low), high.span.to(low.span), found)
        }
        TermKind::Rel(_, bits) => {
            whole_bytes(analysis, *bits, "rel", found);
        }
        TermKind::Abs(_, bits) => {
            whole_bytes(analysis, *bits, "abs", found);
        }
        TermKind::Word(bits, _) => {
            whole_bytes(analysis, *bits, "word", found);
        }
        TermKind::Align(bytes) => {
            if let Some(n) = constant(bytes)
                && !(1..=4096).contains(&n)
            {
                found.push(error!("bad-alignment" at bytes.span,
                    "code cannot be aligned to {n} bytes";
                    help "code begins at a page, so an alignment is 1 to 4096 bytes"));
            }
        }
        _ => {}
    }
}

fn bad_width(span: Span, message: String, help: &str) -> Diagnostic {
    error!("bad-width" at span, "{message}"; help help)
}

fn whole_bytes(analysis: &Analysis, bits: Cpp, term: &str, found: &mut Vec<Diagnostic>) -> bool {
    let Some(width) = cpp::constant_integer(analysis.cpp(bits)) else {
        return true;
    };
    if (1..=WIDEST).contains(&width) && width % 8 == 0 {
        return true;
    }
    let message = format!("`{term}` cannot have {width} bits");
    let help = match width > WIDEST {
        true => "a width is at most 1048576 bits, 128 KiB",
        false => "its width is a multiple of 8; `be` takes any width",
    };
    found.push(bad_width(bits.span, message, help));
    false
}

/// Checks that a constant fits a width. Its C type decides whether it is signed, as at run time.
fn fits(analysis: &Analysis, value: Cpp, width: Option<i128>, found: &mut Vec<Diagnostic>) {
    let text = analysis.cpp(value);
    let (Some(number), Some(width)) =
        (cpp::constant_integer(text), width.filter(|w| (1..=64).contains(w)))
    else {
        return;
    };
    let is_unsigned = cpp::tokens(text).iter().any(|t| {
        t.kind == cpp::CppTokenKind::Number && is_unsigned_literal(&text[t.range.clone()])
    });
    let (low, high) = if is_unsigned {
        (0, (1i128 << width) - 1)
    } else {
        (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
    };
    if (low..=high).contains(&number) {
        return;
    }
    let kind = if is_unsigned { "unsigned" } else { "signed" };
    let mut help = format!("{width} {kind} bits hold {low} to {high}");
    if !is_unsigned && number > 0 && number < 1i128 << width {
        help = format!("{help}; `{}u` is unsigned and fits", text.trim());
    }
    found.push(error!("value-too-wide" at value.span,
        "the value {number} does not fit into {width} bits";
        help help));
}

/// C++17 [lex.icon]: a literal is unsigned with a suffix `u`, and a non-decimal one also if its
/// signed type is too small.
fn is_unsigned_literal(text: &str) -> bool {
    let value = cpp::constant_integer(text).unwrap_or(0);
    let is_decimal = !text.starts_with('0');
    let needs_the_sign = (1 << 31..1 << 32).contains(&value) || value >= 1 << 63;
    text.contains(['u', 'U']) || !is_decimal && needs_the_sign
}

fn slice(high: Option<i128>, low: Option<i128>, span: Span, found: &mut Vec<Diagnostic>) {
    let outside = |bit: Option<i128>| bit.is_some_and(|b| !(0..64).contains(&b));
    if outside(high) || outside(low) {
        found.push(error!("bad-slice" at span, "a value has no such bit";
            help "bits are numbered from 63, the highest, down to 0"));
    } else if let (Some(h), Some(l)) = (high, low)
        && h < l
    {
        found.push(error!("bad-slice" at span, "the slice from bit {h} down to bit {l} is empty";
            help "write the higher bit first: bits(VALUE, HIGH, LOW)"));
    }
}
