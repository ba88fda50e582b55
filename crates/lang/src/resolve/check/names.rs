//! Checks for duplicate names, and for names reserved by C++ or the compiler.

use std::collections::HashMap;

use super::super::members;
use super::lookup::{imported, visible};
use crate::ast::{Ident, MemberKind, Parameter};
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class};
use crate::source::Span;
use crate::syntax::words;

/// Keywords of bitstring bodies, where a member with such a name could not be used.
const TERM_WORDS: &[&str] =
    &["le", "be", "bits", "word", "unroll", "label", "rel", "offset", "align", "abs", "super"];

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    reserved(&class.ast.name, false, found);
    if class.ast.name.text == "nothing" {
        found.push(error!("reserved-name" at class.ast.name.span,
            "`nothing` stands for the base of a root class";
            help "give the class another name"));
    }
    let mut seen: HashMap<String, (Span, bool)> = HashMap::new();
    for member in &class.ast.members {
        if let MemberKind::Bitstring(bitstring) = &member.kind {
            duplicate_parameters(&bitstring.params, found);
        }
        if let MemberKind::Function { params, .. } = &member.kind {
            duplicate_parameters(params, found);
        }
        let Some(name) = member.kind.name() else {
            continue;
        };
        reserved(name, matches!(member.kind, MemberKind::Bitstring(_)), found);
        own_class(class, name, found);
        import_of_name(analysis, class, name, found);
        let is_function = matches!(member.kind, MemberKind::Function { .. });
        match seen.get(&name.text) {
            Some((_, true)) if is_function => {} // overloads; their types are compared below
            Some((first, _)) => {
                found.push(twice("duplicate-member", &name.text, name.span, *first))
            }
            None => {
                seen.insert(name.text.clone(), (name.span, is_function));
            }
        }
    }
    given_twice(class, found);
    same_overloads(analysis, class, found);
    twice_in_chain(analysis, class, found);
    imports(analysis, class, found);
}

fn twice(code: &'static str, name: &str, again: Span, first: Span) -> Diagnostic {
    error!(code at again, "`{name}` is declared twice"; help "give one of them another name")
        .here("again here")
        .also(first, "first declared here")
}

fn reserved(name: &Ident, is_bitstring: bool, found: &mut Vec<Diagnostic>) {
    let reason = if words::is_cpp(&name.text) {
        "is a word of C++"
    } else if is_bitstring && TERM_WORDS.contains(&name.text.as_str()) {
        "is a word of bitstring bodies"
    } else if words::is_macro(&name.text) {
        "is a macro of C or of Yamba"
    } else if name.text.starts_with("yamba_")
        || name.text.starts_with("compose_")
        || name.text.starts_with("__")
    {
        "begins like the names of generated code"
    } else {
        return;
    };
    found.push(error!("reserved-name" at name.span, "`{name}` cannot be a name: it {reason}";
        help "choose another name"));
}

fn own_class(class: &Class, name: &Ident, found: &mut Vec<Diagnostic>) {
    if name.text == class.name() {
        let fault = error!("member-named-as-class" at name.span,
            "a member of `{name}` cannot bear the class's name");
        found.push(
            fault
                .also(class.ast.name.span, "the class")
                .help("C++ would take it for a constructor; choose another name"),
        );
    }
}

fn import_of_name(analysis: &Analysis, class: &Class, name: &Ident, found: &mut Vec<Diagnostic>) {
    if imported(analysis, class.id, &name.text).is_some() {
        let fault = error!("member-named-as-import" at name.span,
            "`{name}` is the name of an imported class here");
        found.push(fault.help("give the member another name: `NAME.member` must mean the import"));
    }
}

/// Rejects an import with the name of an inherited member, which it would hide, from the harness
/// too.
fn inherited_of_name(
    analysis: &Analysis,
    class: &Class,
    import: &Ident,
    found: &mut Vec<Diagnostic>,
) {
    let inherited = class.parent.and_then(|p| visible(analysis, p, &import.text));
    let Some(inherited) = inherited else { return };
    let base = analysis.class(inherited.class).name();
    let noun = members::noun(&analysis.member(inherited).kind);
    let mut fault = error!("import-named-as-member" at import.span,
        "`{import}` cannot be imported here: it is the name of {noun} that this class has from `{base}`";
        help "give the imported class another name: `NAME.member` must mean the import");
    if let Some(name) = analysis.member(inherited).kind.name() {
        fault = fault.also(name.span, "declared here");
    }
    found.push(fault);
}

fn duplicate_parameters(params: &[Parameter], found: &mut Vec<Diagnostic>) {
    let names: Vec<&Ident> = params.iter().filter_map(|p| p.name.as_ref()).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = names[..at].iter().find(|n| n.text == name.text) {
            found.push(twice("duplicate-argument", &name.text, name.span, first.span));
        }
    }
}

/// Rejects a second assignment to a parameter in one class.
fn given_twice(class: &Class, found: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for member in &class.ast.members {
        let name = match &member.kind {
            MemberKind::Param(param) => &param.name,
            MemberKind::Assign { name, .. } => name,
            _ => continue,
        };
        let is_given = matches!(member.kind, MemberKind::Assign { .. });
        if let Some(first) = seen.insert(&name.text, name.span)
            && is_given
        {
            found.push(
                error!("given-twice" at name.span, "this class says twice what `{name}` takes";
                help "put value, `over` and `quick` into one member")
                .also(first, "first here"),
            );
        }
    }
}

fn same_overloads(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    let mut seen = HashMap::new();
    for member in &class.ast.members {
        if let MemberKind::Function { name, .. } = &member.kind {
            let key = members::key(&analysis.sources, &member.kind);
            if let Some(first) = seen.insert(key, name.span) {
                found.push(twice("duplicate-member", &name.text, name.span, first));
            }
        }
    }
}

/// Rejects a second declaration of state or of a parameter in the chain, which would silently hide
/// the first.
fn twice_in_chain(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    let Some(parent) = class.parent else { return };
    for member in &class.ast.members {
        let (name, help) = match &member.kind {
            MemberKind::State { name, .. } => {
                (name, "use the inherited one, or give this one another name".to_owned())
            }
            MemberKind::Param(param) => (
                &param.name,
                format!(
                    "leave out `param` and the type: `{} = VALUE over {{VALUES}};` gives the inherited parameter what it takes here",
                    param.name.text
                ),
            ),
            _ => continue,
        };
        let Some(inherited) = visible(analysis, parent, &name.text) else {
            continue;
        };
        let inherited = analysis.member(inherited);
        if std::mem::discriminant(&inherited.kind) == std::mem::discriminant(&member.kind)
            && let Some(first) = inherited.kind.name()
        {
            found.push(
                error!("declared-in-base" at name.span,
                "`{name}` is already declared in a class that this one builds on";
                help help)
                .also(first.span, "declared here"),
            );
        }
    }
}

fn imports(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for member in &class.ast.members {
        let MemberKind::Import(name) = &member.kind else {
            continue;
        };
        inherited_of_name(analysis, class, name, found);
        if let Some(first) = seen.insert(&name.text, name.span) {
            found.push(
                error!("duplicate-import" at name.span, "`{name}` is imported twice";
                help "leave one out")
                .also(first, "first imported here"),
            );
        }
    }
}
