//! Checks that a class does not mix the two forms of `benchmark`, since the harness calls only one.

use crate::ast::{Ident, MemberKind};
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class};

pub(super) fn check(_: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    let forms = |wanted: &str| -> Vec<(&Ident, bool)> {
        let form = |kind| match kind {
            &MemberKind::Function { ref name, ref params, body: Some(_), .. }
                if name.text == wanted =>
            {
                Some((name, !params.is_empty()))
            }
            _ => None,
        };
        class.ast.members.iter().filter_map(|m| form(&m.kind)).collect()
    };
    if class.parent.is_none() {
        return; // the root class declares both forms
    }
    let (benchmark, dummy) = (forms("benchmark"), forms("benchmark_dummy"));
    if let [(first, a), (second, b)] = benchmark.as_slice()
        && a != b
    {
        found.push(error!("two-forms" at second.span,
            "this class defines both `benchmark()` and `benchmark(iter_t iterations)`";
            help "keep `benchmark()` for what the harness repeats, or `benchmark(iter_t iterations)` for what loops itself")
            .also(first.span, "the other form"));
    } else if let ([(name, form)], [(dummy, dummy_form)]) = (benchmark.as_slice(), dummy.as_slice())
        && form != dummy_form
    {
        found.push(error!("dummy-form" at dummy.span,
            "`benchmark_dummy` takes other arguments than `benchmark`, so the two cannot be compared";
            help "give both the same form: `()` or `(iter_t iterations)`")
            .also(name.span, "the benchmark"));
    }
}
