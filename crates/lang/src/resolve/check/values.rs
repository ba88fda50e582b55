//! Checks the values of parameters, bounds and charts.

use super::super::suggest;
use super::lookup::{visible, visible_names};
use crate::ast::{Chart, ContainedCount, Cpp, Ident, MemberKind, Param, StandsFor, Sweep, Values};
use crate::cpp;
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class};
use crate::syntax::words;

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    for member in &class.ast.members {
        match &member.kind {
            MemberKind::Param(param) => {
                parameter(analysis, param, found);
                sweep(analysis, &param.values, found);
            }
            MemberKind::Assign { values, .. } => sweep(analysis, values, found),
            MemberKind::Evidence { ty, name, expects, .. } => {
                arithmetic(analysis, *ty, name, found);
                if let Some((low, high)) = expects {
                    bound(analysis, *low, *high, found);
                }
            }
            MemberKind::State { ty, name, array, init } => {
                not_static(analysis, *ty, name, found);
                let counts_itself = init.is_some() && has_word(analysis.cpp(*ty), "static");
                if !counts_itself {
                    sized_array(analysis, name, *array, init.is_some(), found);
                }
            }
            MemberKind::Bound { value, .. } => constant_bound(analysis, *value, found),
            MemberKind::Chart(chart) => check_chart(analysis, class, chart, found),
            MemberKind::StandsFor(clause) => check_primitive(analysis, class, clause, found),
            _ => {}
        }
    }
}

fn arithmetic(analysis: &Analysis, ty: Cpp, name: &Ident, found: &mut Vec<Diagnostic>) {
    let text = cpp::normalised(analysis.cpp(ty));
    if text.contains(['*', '&']) || text == "void" || text.contains("string") {
        found.push(error!("not-arithmetic" at ty.span,
            "`{name}` is `{}`, but an evidence must be a number", analysis.cpp(ty);
            help "use an arithmetic type, such as double, uint64_t or bool"));
    }
}

fn parameter(analysis: &Analysis, param: &Param, found: &mut Vec<Diagnostic>) {
    let ty = cpp::normalised(analysis.cpp(param.ty));
    if is_text_type(analysis.cpp(param.ty)) {
        return;
    }
    let help =
        "a text is `const char *`; a number has an arithmetic type, such as int, double or size_t";
    let shown = analysis.cpp(param.ty);
    let fault = if ty.contains(['*', '&']) || ty == "void" || ty.contains("string") {
        error!("not-arithmetic" at param.ty.span,
            "`{}` is `{shown}`, but a parameter is a number, a bool, an enumeration or a `const char *`",
            param.name.text)
    } else if let Some(value) = param.values.value
        && is_text(analysis.cpp(value))
        && is_number(&ty)
    {
        error!("value-of-other-type" at value.span,
            "`{}` is `{shown}`, and its value is a text", param.name.text)
    } else {
        return;
    };
    found.push(fault.help(help));
}

/// Whether a type is certainly a number. Any other name may be an alias of `const char *`.
fn is_number(ty: &str) -> bool {
    let is_one =
        |word: &str| words::is_type(word) || word == "std" || word == "::" || word.ends_with("_t");
    ty.split_whitespace().all(is_one)
}

fn is_text_type(ty: &str) -> bool {
    cpp::normalised(ty) == "const char *"
}

fn is_text(value: &str) -> bool {
    value.starts_with('"') && cpp::tokens(value).len() == 1
}

/// Rejects `static` members: C++ would need a definition outside the class, and each class has only
/// one object.
fn has_word(text: &str, word: &str) -> bool {
    let tokens = cpp::tokens(text);
    tokens.iter().any(|t| &text[t.range.clone()] == word)
}

fn not_static(analysis: &Analysis, ty: Cpp, name: &Ident, found: &mut Vec<Diagnostic>) {
    let has = |word: &str| has_word(analysis.cpp(ty), word);
    if has("static") && !["const", "constexpr", "inline"].into_iter().any(has) {
        found.push(error!("static-state" at name.span, "the state `{name}` is static";
            help "leave `static` out: each process and each thread has one object; what threads share is a variable of the file's `native` block"));
    }
}

fn sweep(analysis: &Analysis, values: &Values, found: &mut Vec<Diagnostic>) {
    let constant = |cpp: &Cpp| cpp::constant_number(analysis.cpp(*cpp));
    let mut refuse = |place: &Cpp, message: &str, help: &str| {
        found.push(error!("bad-sweep" at place.span, "{message}"; help help))
    };
    match &values.over {
        Some(Sweep::Log(first, last, points)) => {
            if constant(first).is_some_and(|v| v <= 0.0) {
                refuse(
                    first,
                    "a logarithmic sweep cannot start at or below zero",
                    "start at 1, or use linear(FIRST, LAST, STEP)",
                );
            } else if let (Some(a), Some(b)) = (constant(first), constant(last))
                && a > b
            {
                refuse(last, "this sweep ends before it starts", "give the smaller value first");
            }
            if constant(points).is_some_and(|v| v <= 0.0) {
                refuse(
                    points,
                    "a sweep needs at least one point in an octave",
                    "give a positive number of points",
                );
            }
        }
        Some(Sweep::Linear(first, last, step)) => {
            if constant(step).is_some_and(|v| v == 0.0) {
                refuse(step, "a step of zero never reaches the end", "give a step other than zero");
            } else if let (Some(a), Some(b), Some(s)) =
                (constant(first), constant(last), constant(step))
                && (b - a) * s < 0.0
            {
                refuse(
                    last,
                    "this step leads away from the end",
                    "give the step the sign of LAST - FIRST",
                );
            }
        }
        Some(Sweep::List(_)) | None => {}
    }
}

fn bound(analysis: &Analysis, low: Cpp, high: Cpp, found: &mut Vec<Diagnostic>) {
    if let (Some(l), Some(h)) =
        (cpp::constant_number(analysis.cpp(low)), cpp::constant_number(analysis.cpp(high)))
        && l > h
    {
        found.push(error!("empty-bound" at low.span.to(high.span),
            "no value lies between {} and {}", analysis.cpp(low), analysis.cpp(high);
            help "write the lower bound first"));
    }
}

/// Rejects an array without a length: in a class, C++ does not take it from the initialiser.
fn sized_array(
    analysis: &Analysis,
    name: &Ident,
    array: Option<Cpp>,
    has_init: bool,
    found: &mut Vec<Diagnostic>,
) {
    let Some(array) = array else { return };
    if !cpp::normalised(analysis.cpp(array)).contains("[ ]") {
        return;
    }
    let message = format!("the array `{name}` has no length");
    let help = if has_init {
        "count its elements: the initialiser of a member does not tell C++ the length"
    } else {
        "write its length between the brackets, or use a std::vector"
    };
    found.push(error!("array-without-length" at array.span, "{message}"; help help));
}

/// Rejects a bound that is not constant. Physical bounds do not depend on parameters, and are
/// evaluated without a benchmark object.
fn constant_bound(analysis: &Analysis, value: Cpp, found: &mut Vec<Diagnostic>) {
    let text = analysis.cpp(value);
    if cpp::constant_number(text).is_none() {
        found.push(error!("bound-not-constant" at value.span, "`{text}` is not a constant number";
            help "a physical bound is a number; what depends on parameters is an evidence with `expects`"));
    }
}

fn check_chart(analysis: &Analysis, class: &Class, chart: &Chart, found: &mut Vec<Diagnostic>) {
    let is_figure = |name: &str| matches!(name, "latency" | "cycles" | "bandwidth" | "value");
    let is_evidence = |k: &MemberKind| matches!(k, MemberKind::Evidence { .. });
    let is_parameter = |k: &MemberKind| matches!(k, MemberKind::Param(_));
    let is_either = |k: &MemberKind| is_evidence(k) || is_parameter(k);
    let known = |name: &Ident, is: &dyn Fn(&MemberKind) -> bool| {
        visible(analysis, class.id, &name.text).is_some_and(|m| is(&analysis.member(m).kind))
    };
    let mut refuse = |name: &Ident, is: &dyn Fn(&MemberKind) -> bool, expected: &str| {
        let known = visible_names(analysis, class.id, is);
        let help = suggest::help(&name.text, known, format!("name {expected}"));
        found.push(error!("unknown-in-chart" at name.span, "`{name}` is not {expected}";
            help help));
    };
    if !is_figure(&chart.figure.text) && !known(&chart.figure, &is_evidence) {
        refuse(
            &chart.figure,
            &is_evidence,
            "`latency`, `cycles`, `bandwidth`, `value` or an evidence of this class",
        );
    }
    if !known(&chart.against, &is_either) {
        refuse(&chart.against, &is_either, "a parameter or an evidence of this class");
    }
    if let Some(by) = &chart.by
        && !known(by, &is_parameter)
    {
        refuse(by, &is_parameter, "a parameter of this class");
    }
}

fn check_primitive(
    analysis: &Analysis,
    class: &Class,
    clause: &StandsFor,
    found: &mut Vec<Diagnostic>,
) {
    let is_size =
        |k: &MemberKind| matches!(k, MemberKind::Param(p) if !is_text_type(analysis.cpp(p.ty)));
    if let Some(by) = &clause.by {
        let member = visible(analysis, class.id, &by.text);
        if !member.is_some_and(|m| is_size(&analysis.member(m).kind)) {
            let known = visible_names(analysis, class.id, &is_size);
            let help = suggest::help(
                &by.text,
                known,
                "name a parameter with a number as its value".to_owned(),
            );
            found.push(error!("size-of-primitive" at by.span,
                "`{}` is not a parameter of this class with a number as its value", by.text; help help));
        }
    }
    for contained in &clause.contains {
        let part = &contained.primitive;
        if part.text == clause.primitive.text {
            found.push(error!("primitive-in-itself" at part.span,
                "`{}` cannot contain itself", part.text;
                help "list the other primitives that one operation uses"));
        }
        if let ContainedCount::Evidence(evidence) = &contained.count {
            check_count(analysis, class, evidence, found);
        }
    }
}

/// Checks an evidence that says how often a primitive is contained.
fn check_count(analysis: &Analysis, class: &Class, name: &Ident, found: &mut Vec<Diagnostic>) {
    let is_evidence = |k: &MemberKind| matches!(k, MemberKind::Evidence { .. });
    let member = visible(analysis, class.id, &name.text);
    if !member.is_some_and(|m| is_evidence(&analysis.member(m).kind)) {
        let known = visible_names(analysis, class.id, &is_evidence);
        let help = suggest::help(
            &name.text,
            known,
            "name an evidence of this class, or write a whole number above 0".to_owned(),
        );
        found.push(error!("count-of-contained" at name.span,
            "`{}` is not an evidence of this class", name.text; help help));
    }
}
