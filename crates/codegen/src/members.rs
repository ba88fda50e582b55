//! Writes the members of a class as members of a struct.

use yamba_lang::ast::{Bitstring, Cpp, Member, MemberKind, Param, Parameter, Sweep, Values};
use yamba_lang::cpp;
use yamba_lang::source::Span;
use yamba_lang::{Analysis, ClassId};

use crate::class_writer::ClassWriter;
use crate::text::{add_words, quote};
use crate::writer::{line, open};

pub(crate) fn write(w: &mut ClassWriter, member: &Member) {
    match &member.kind {
        MemberKind::Param(param) => write_param(w, &member.doc, param),
        MemberKind::Assign { name, values } => write_values(w, &name.text, values),
        MemberKind::State { .. } => write_state(w, member),
        MemberKind::Function { .. } => write_function(w, member),
        MemberKind::Bitstring(bitstring) => write_bitstring(w, member, bitstring),
        MemberKind::Evidence { .. } => write_evidence(w, member),
        MemberKind::Native(body) => {
            let text = w.with_super(w.cpp(*body));
            w.out.user(body.span, &text);
        }
        MemberKind::Requires(condition) => {
            line!(w.out; "bool yamba_requires_{}() {{ return bool(", requirement(w.context.analysis, w.node.class, *condition));
            expression(w, *condition, ");");
            w.out.line("}");
        }
        // Imports are members already; bounds, charts and tags go into the tables, `compile` into
        // the compiler's command line.
        MemberKind::Import(_)
        | MemberKind::Bound { .. }
        | MemberKind::Chart(_)
        | MemberKind::StandsFor(_)
        | MemberKind::Tags(_)
        | MemberKind::Compile(_) => {}
    }
}

/// The number of a condition among those of its class.
pub(crate) fn requirement(analysis: &Analysis, class: ClassId, condition: Cpp) -> usize {
    let members = analysis.class(class).ast.members.iter();
    let mut conditions = members.filter_map(|m| match m.kind {
        MemberKind::Requires(condition) => Some(condition),
        _ => None,
    });
    conditions.position(|c| c == condition).unwrap_or(0)
}

fn write_param(w: &mut ClassWriter, doc: &str, param: &Param) {
    w.out.doc(doc);
    let declaration = format!("{} {}{{}};", w.cpp(param.ty), param.name.text);
    w.out.user(param.ty.span, &declaration);
    write_values(w, &param.name.text, &param.values);
}

fn write_values(w: &mut ClassWriter, name: &str, given: &Values) {
    if let Some(value) = given.value {
        value_function(w, name, value);
    }
    let values = format!("yamba::Values<decltype({name})>");
    if let Some(over) = &given.over {
        open!(w.out; "{values} yamba_over_{name}() {{");
        let (maker, list) = match over {
            Sweep::List(list) => ("values", list.clone()),
            Sweep::Log(a, b, c) => ("log_values", vec![*a, *b, *c]),
            Sweep::Linear(a, b, c) => ("linear_values", vec![*a, *b, *c]),
        };
        sweep(w, name, maker, &list);
        w.out.close("}");
    }
    if let Some(quick) = &given.quick {
        open!(w.out; "{values} yamba_quick_{name}() {{");
        sweep(w, name, "values", quick);
        w.out.close("}");
    }
}

fn sweep(w: &mut ClassWriter, name: &str, maker: &str, list: &[Cpp]) {
    line!(w.out; "return yamba::{maker}<decltype({name})>(");
    for (i, value) in list.iter().enumerate() {
        expression(w, *value, if i + 1 < list.len() { "," } else { "" });
    }
    w.out.line(");");
}

/// One C++ expression of the author, followed by `after`.
fn expression(w: &mut ClassWriter, value: Cpp, after: &str) {
    let text = w.with_super(w.cpp(value)) + after;
    w.out.user(value.span, &text);
}

/// Writes a parameter's value as a function in the class where it was written, so that its names
/// have the right scope.
fn value_function(w: &mut ClassWriter, name: &str, value: Cpp) {
    line!(w.out; "auto yamba_value_{name}() {{ return");
    expression(w, value, ";");
    w.out.line("}");
}

fn write_state(w: &mut ClassWriter, member: &Member) {
    let MemberKind::State { ty, name, array, init } = &member.kind else {
        return;
    };
    w.out.doc(&member.doc);
    // The second name of a declaration stands apart from its type.
    if ty.span.end <= member.span.start {
        line!(w.out; "{}", w.cpp(*ty));
    }
    let parts = [*array, *init].into_iter().flatten();
    let end = parts.map(|part| part.span.end).fold(name.span.end, u32::max);
    let declared = w.context.analysis.text(Span { end, ..member.span });
    let text = if init.is_some() { format!("{declared};") } else { format!("{declared}{{}};") };
    w.out.user(member.span, &text);
}

/// Whether the harness calls this function in its timed loop. Such a function must not be inlined
/// into the loop.
fn is_timed(name: &str) -> bool {
    matches!(name, "benchmark" | "benchmark_dummy")
}

fn write_function(w: &mut ClassWriter, member: &Member) {
    let MemberKind::Function { ret, name, qualifiers, body, .. } = &member.kind else {
        return;
    };
    let analysis = w.context.analysis;
    let mut words = std::collections::HashSet::new();
    add_words(analysis.cpp(*ret), &mut words);
    let may_be_virtual = !["static", "constexpr", "auto", "template", "friend", "virtual"]
        .iter()
        .any(|k| words.contains(k));
    let mut text = analysis.text(member.span).to_owned();
    if let Some(qualifiers) = qualifiers {
        let at = (qualifiers.span.start - member.span.start) as usize;
        blank_const(&mut text, at, analysis.cpp(*qualifiers));
    }
    let text = w.with_super(&text);
    let is_defined = |key: String| w.node.defined.contains(&key);
    if body.is_none() && !analysis.key(&member.kind).is_some_and(is_defined) {
        return;
    }
    w.out.doc(&member.doc);
    let noinline = if is_timed(&name.text) { "[[gnu::noinline]] " } else { "" };
    let r#virtual = match body {
        _ if !may_be_virtual => "",
        Some(_) => w.if_virtual(&name.text),
        None => "virtual ",
    };
    line!(w.out; "{noinline}{virtual}");
    let text = if body.is_some() {
        text
    } else {
        format!("{} = 0;", text.trim_end().trim_end_matches(';'))
    };
    w.out.user(member.span, &text);
}

/// Removes `const` from a member function. Objects and the functions that it may call are not
/// const: a const function would hide the one that it redefines, or be hidden by one.
fn blank_const(text: &mut String, at: usize, qualifiers: &str) {
    let own = qualifiers.split("->").next().unwrap_or_default();
    for token in cpp::tokens(own) {
        if &own[token.range.clone()] == "const" {
            let range = at + token.range.start..at + token.range.end;
            text.replace_range(range, "     ");
        }
    }
}

fn write_evidence(w: &mut ClassWriter, member: &Member) {
    let MemberKind::Evidence { ty, name, expects, body } = &member.kind else {
        return;
    };
    w.out.doc(&member.doc);
    let ty = w.cpp(*ty);
    match body {
        None => line!(w.out; "virtual {ty} {}() = 0;", name.text),
        Some(body) => {
            line!(w.out; "{}{ty} {}() {{", w.if_virtual(&name.text), name.text);
            let text = w.with_super(w.cpp(*body));
            w.out.user(body.span, &text);
            w.out.line("}");
        }
    }
    if let Some((low, high)) = expects {
        for (end, value) in [("low", low), ("high", high)] {
            line!(w.out; "double yamba_{end}_{}() {{ return double(", name.text);
            expression(w, *value, ");");
            w.out.line("}");
        }
    }
}

fn write_bitstring(w: &mut ClassWriter, member: &Member, bitstring: &Bitstring) {
    let name = &bitstring.name.text;
    if !w.used.holds(w.node.class, name) {
        return;
    }
    w.out.doc(&member.doc);
    let params = Params::new(w, bitstring);
    let Some(body) = &bitstring.body else {
        let declaration = format!(
            "virtual void compose_{name}(yamba::Composer &yamba_out{}) = 0;",
            params.declared("", true)
        );
        head(w, bitstring, &declaration);
        if let Some(returned) = wrapper_type(w, bitstring) {
            let declaration =
                format!("virtual {returned} {name}({}) = 0;", params.declared("", false));
            head(w, bitstring, &declaration);
        }
        return;
    };
    let declaration = format!(
        "YAMBA_COMPOSES {}void compose_{name}(yamba::Composer &yamba_out{})",
        w.if_virtual(name),
        params.declared("[[maybe_unused]] ", true)
    );
    head(w, bitstring, &declaration);
    w.out.open("{");
    let class = w.context.analysis.class(w.node.class).name();
    let member_name = quote(&format!("{class}.{name}"));
    line!(w.out; "const yamba::Member yamba_member(yamba_out, {member_name}{});",
        params.passed(true));
    w.body(body);
    w.out.close("}");
    write_wrapper(w, bitstring, &params, &member_name);
}

/// Writes the head of a function for a bitstring. The compiler must report an unknown type in it at
/// the bitstring.
fn head(w: &mut ClassWriter, bitstring: &Bitstring, declaration: &str) {
    if bitstring.params.is_empty() && bitstring.signature.is_none() {
        w.out.line(declaration);
    } else {
        w.out.user(bitstring.name.span, declaration);
    }
}

/// The return type of the wrapper through which C++ calls the bitstring; `None` if no C++ names it.
fn wrapper_type(w: &ClassWriter, bitstring: &Bitstring) -> Option<String> {
    let name = bitstring.name.text.as_str();
    if !w.words.contains(name) {
        return None;
    }
    Some(match signature(w, bitstring) {
        Some(signature) => format!("yamba::Code<{signature}>"),
        None => "yamba::Bits".to_owned(),
    })
}

/// `void(byte_t **targets)`.
fn signature(w: &ClassWriter, bitstring: &Bitstring) -> Option<String> {
    let signature = bitstring.signature.as_ref()?;
    let args: Vec<String> = signature
        .args
        .iter()
        .map(|a| declared(w, a, a.name.as_ref().map_or("", |n| &n.text)))
        .collect();
    Some(format!("{}({})", w.cpp(signature.ret), args.join(", ")))
}

fn write_wrapper(w: &mut ClassWriter, bitstring: &Bitstring, params: &Params, member_name: &str) {
    let Some(returned) = wrapper_type(w, bitstring) else {
        return;
    };
    let name = &bitstring.name.text;
    let declaration = format!(
        "YAMBA_COMPOSES {}{returned} {name}({})",
        w.if_virtual(name),
        params.declared("", false)
    );
    head(w, bitstring, &declaration);
    w.out.open("{");
    let call = format!(
        "[&](yamba::Composer &yamba_out) {{ {}::compose_{name}(yamba_out{}); }}",
        w.node.name,
        params.passed(true)
    );
    match signature(w, bitstring) {
        Some(signature) => {
            line!(w.out; "return yamba::make_code<{signature}>({member_name}, {call});")
        }
        None => line!(w.out; "return yamba::Bits({call});"),
    }
    w.out.close("}");
}

/// `TYPE NAME SUFFIX`.
fn declared(w: &ClassWriter, parameter: &Parameter, name: &str) -> String {
    let suffix = parameter.suffix.map_or("", |s| w.cpp(s));
    format!("{} {name}{suffix}", w.cpp(parameter.ty)).trim_end().to_owned()
}

/// The parameters of a bitstring, each with a name.
struct Params {
    declarations: Vec<String>,
    names: Vec<String>,
}

impl Params {
    fn new(w: &ClassWriter, bitstring: &Bitstring) -> Params {
        let mut params = Params { declarations: Vec::new(), names: Vec::new() };
        for (i, parameter) in bitstring.params.iter().enumerate() {
            let name = parameter
                .name
                .as_ref()
                .map_or_else(|| format!("yamba_argument_{i}"), |n| n.text.clone());
            params.declarations.push(declared(w, parameter, &name));
            params.names.push(name);
        }
        params
    }

    fn declared(&self, attribute: &str, comma: bool) -> String {
        let all: Vec<String> =
            self.declarations.iter().map(|d| format!("{attribute}{d}")).collect();
        let lead = if comma && !all.is_empty() { ", " } else { "" };
        format!("{lead}{}", all.join(", "))
    }

    fn passed(&self, comma: bool) -> String {
        let lead = if comma && !self.names.is_empty() { ", " } else { "" };
        format!("{lead}{}", self.names.join(", "))
    }
}
