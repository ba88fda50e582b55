//! Decides which members are virtual in the C++. A member whose name only one struct declares need
//! not be virtual. The C++ compiler leaves out functions that are neither virtual nor called: a
//! seventh of the suite's.
//!
//! All others stay virtual: names that two structs declare, names that the author's C++ may
//! redefine, and names that a timed batch may call, so that a shorter build changes no measured
//! call. If the program's text does not show all names, every member is virtual. Words are those of
//! the plain text, with comments and strings: additional names only make more members virtual.

use std::collections::{HashMap, HashSet};

use yamba_lang::ast::{Member, MemberKind, Param};
use yamba_lang::model::{Analysis, ClassId};

use crate::plan::{StructPlan, member_name};

/// The timed functions.
const TIMED: [&str; 2] = ["benchmark", "benchmark_dummy"];

/// Prefix of a bitstring's function in C++: `compose_NAME`.
const COMPOSES: &str = "compose_";

/// The virtual members by name, for all overloads together.
pub(crate) struct Virtuals<'a> {
    /// For each struct of the plan, the names that one of its bases or derived structs declares,
    /// too.
    twice: Vec<HashSet<&'a str>>,
    /// Names that are virtual in all structs; `None`: all names.
    kept: Option<HashSet<&'a str>>,
}

impl<'a> Virtuals<'a> {
    /// `natives` is the C++ in which an author may write structs, functions and macros.
    pub(crate) fn new(
        analysis: &'a Analysis,
        plan: &StructPlan,
        natives: &[&'a str],
    ) -> Virtuals<'a> {
        let texts = members(analysis, plan).map(|m| analysis.text(m.span));
        let is_told = !natives.iter().copied().chain(texts).any(hides_names);
        Virtuals {
            twice: declared_twice(analysis, plan),
            kept: is_told.then(|| kept(analysis, plan, natives)),
        }
    }

    /// Whether the members of this name are virtual in the struct `node` of the plan.
    pub(crate) fn holds(&self, node: usize, name: &str) -> bool {
        let is_kept = |kept: &HashSet<&str>| kept.contains(name);
        self.twice[node].contains(name) || self.kept.as_ref().is_none_or(is_kept)
    }
}

/// Names that the author's C++ may redefine or call, and names that a pass may call.
fn kept<'a>(analysis: &'a Analysis, plan: &StructPlan, natives: &[&'a str]) -> HashSet<&'a str> {
    let mut kept: HashSet<&str> = natives.iter().copied().flat_map(names).collect();
    for member in members(analysis, plan) {
        let text = analysis.text(member.span);
        if words(text).any(is_of_structs) {
            kept.extend(names(text));
        }
    }
    keep_timed(analysis, plan, &mut kept);
    kept.extend(members(analysis, plan).filter_map(|m| marked_virtual(analysis, m)));
    kept
}

/// All members that contain C++.
fn members<'a>(analysis: &'a Analysis, plan: &StructPlan) -> impl Iterator<Item = &'a Member> {
    let classes: HashSet<ClassId> = plan.nodes.iter().map(|node| node.class).collect();
    let all = classes.into_iter().flat_map(|class| &analysis.class(class).ast.members);
    all.filter(|m| {
        let kind = &m.kind;
        !matches!(kind, MemberKind::Import(_) | MemberKind::Tags(_) | MemberKind::Compile(_))
    })
}

/// All words of a text, including those in comments and strings.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_of_word(c)).filter(|word| !word.is_empty())
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// All words, and the names of bitstrings whose functions they name.
fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| [Some(word), word.strip_prefix(COMPOSES)].into_iter().flatten())
}

/// Whether this C++ may refer to members without naming them: it joins words, includes the author's
/// own files, or makes a struct of the program part of a type.
fn hides_names(text: &str) -> bool {
    let joins = ["##", "%:%:"].iter().any(|sign| text.contains(sign));
    let includes = includes_own(text, "include") || includes_own(text, "import");
    joins || includes || continues_word(text) || builds_on_struct(text)
}

/// Whether a line continuation splits a word.
fn continues_word(text: &str) -> bool {
    text.match_indices("\\\n").any(|(at, sign)| {
        text[..at].ends_with(is_of_word) && text[at + sign.len()..].starts_with(is_of_word)
    })
}

/// Whether a struct of the program may be a base or a template argument here: it is named, and not
/// as a pointer, a reference or a scope.
fn builds_on_struct(text: &str) -> bool {
    let named = text.match_indices("yamba_").any(|(at, _)| {
        let rest = text[at..].trim_start_matches(is_of_word).trim_start();
        !text[..at].ends_with(is_of_word) && !rest.starts_with(['*', '&', ':'])
    });
    let spaceless: String = text.split_whitespace().collect();
    named || spaceless.contains("decltype(*this")
}

/// Whether this directive, or a word like it, is not followed by `<HEADER>`.
fn includes_own(text: &str, directive: &str) -> bool {
    text.match_indices(directive).any(|(at, _)| {
        let rest = &text[at + directive.len()..];
        let rest = rest.strip_prefix("_next").unwrap_or(rest);
        let is_word = !text[..at].ends_with(is_of_word) && !rest.starts_with(is_of_word);
        is_word && !rest.trim_start_matches([' ', '\t']).starts_with('<')
    })
}

/// Whether C++ with this word may access an object of the program through a struct that it names,
/// or define a struct or a macro.
fn is_of_structs(word: &str) -> bool {
    matches!(word, "struct" | "class" | "define") || word.starts_with("yamba_")
}

/// The name of a function that its author declares as virtual.
fn marked_virtual<'a>(analysis: &'a Analysis, member: &'a Member) -> Option<&'a str> {
    let MemberKind::Function { name, qualifiers: Some(qualifiers), .. } = &member.kind else {
        return None;
    };
    let is_marked = words(analysis.cpp(*qualifiers)).any(|w| matches!(w, "override" | "final"));
    is_marked.then_some(name.text.as_str())
}

/// For each struct, the names that a struct before or after it in a chain declares, too.
fn declared_twice<'a>(analysis: &'a Analysis, plan: &StructPlan) -> Vec<HashSet<&'a str>> {
    let declared: Vec<HashSet<&str>> = plan
        .nodes
        .iter()
        .map(|node| {
            let members = &analysis.class(node.class).ast.members;
            members.iter().filter_map(|m| member_name(&m.kind)).collect()
        })
        .collect();
    let mut twice = vec![HashSet::new(); declared.len()];
    for node in &plan.nodes {
        let Some((own, bases)) = node.chain.split_last() else {
            continue;
        };
        for base in bases {
            let both = declared[*own].intersection(&declared[*base]);
            for name in both {
                twice[*own].insert(*name);
                twice[*base].insert(*name);
            }
        }
    }
    twice
}

/// Adds the names that a pass may call, directly or through other members, found by the words of
/// their text.
fn keep_timed<'a>(analysis: &'a Analysis, plan: &StructPlan, kept: &mut HashSet<&'a str>) {
    let mut texts: HashMap<&str, Vec<&str>> = HashMap::new();
    for member in members(analysis, plan) {
        if let Some(name) = called(&member.kind) {
            texts.entry(name).or_default().push(analysis.text(member.span));
        }
    }
    kept.extend(TIMED);
    let mut reached: Vec<&str> = kept.iter().copied().collect();
    while let Some(name) = reached.pop() {
        for text in texts.remove(name).unwrap_or_default() {
            reached.extend(names(text).filter(|name| kept.insert(*name)));
        }
    }
}

/// The name by which C++ uses a member, including state or a parameter that may hold a function.
fn called(kind: &MemberKind) -> Option<&str> {
    match kind {
        MemberKind::State { name, .. }
        | MemberKind::Assign { name, .. }
        | MemberKind::Param(Param { name, .. }) => Some(&name.text),
        _ => member_name(kind),
    }
}
