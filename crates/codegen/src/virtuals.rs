//! Which members are virtual in the C++. One whose name a single struct declares is found without that, and the C++ compiler leaves out a function that is neither virtual nor called: a seventh of
//! the suite's.
//!
//! All others stay virtual: what two structs declare, what C++ of the author's own may redefine, and what a timed interval may run, so that a shorter build makes no measured call another one.
//! Where the text of the program does not tell, so does everything. Words are those of the plain text, with comments and strings: too many names only make more virtual.

use std::collections::{HashMap, HashSet};

use yamba_lang::ast::{Member, MemberKind, Param};
use yamba_lang::model::{Analysis, ClassId};

use crate::plan::{Plan, member_name};

/// What is timed.
const TIMED: [&str; 2] = ["benchmark", "benchmark_dummy"];

/// Of a bitstring `NAME` the function in C++ is `compose_NAME`.
const COMPOSES: &str = "compose_";

/// Names, not members: what is said of one overload is said of all.
pub(crate) struct Virtuals<'a> {
    /// For each struct of the plan what one that it builds on declares too, or one that builds on it.
    twice: Vec<HashSet<&'a str>>,
    /// What is virtual in all structs; `None`: everything.
    kept: Option<HashSet<&'a str>>,
}

impl<'a> Virtuals<'a> {
    /// `natives` is the C++ in which an author may write structs, functions and macros of his own.
    pub(crate) fn new(analysis: &'a Analysis, plan: &Plan, natives: &[&'a str]) -> Virtuals<'a> {
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

/// What C++ of the author's own may redefine or call, and what a pass may.
fn kept<'a>(analysis: &'a Analysis, plan: &Plan, natives: &[&'a str]) -> HashSet<&'a str> {
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

/// All members in which there is C++.
fn members<'a>(analysis: &'a Analysis, plan: &Plan) -> impl Iterator<Item = &'a Member> {
    let classes: HashSet<ClassId> = plan.nodes.iter().map(|node| node.class).collect();
    let all = classes
        .into_iter()
        .flat_map(|class| &analysis.class(class).ast.members);
    all.filter(|m| !matches!(m.kind, MemberKind::Import(_) | MemberKind::Tags(_)))
}

/// All words, whatever they stand for.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_of_word(c))
        .filter(|word| !word.is_empty())
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// All words, and the bitstrings whose functions they are.
fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| {
        [Some(word), word.strip_prefix(COMPOSES)]
            .into_iter()
            .flatten()
    })
}

/// Whether this C++ may speak of members that it does not name: it joins words, includes what only its author knows, or makes a struct of the program part of a type.
fn hides_names(text: &str) -> bool {
    let joins = ["##", "%:%:"].iter().any(|sign| text.contains(sign));
    let includes = includes_own(text, "include") || includes_own(text, "import");
    joins || includes || continues_word(text) || builds_on_struct(text)
}

/// Whether a line ends within a word and goes on with it.
fn continues_word(text: &str) -> bool {
    text.match_indices("\\\n").any(|(at, sign)| {
        text[..at].ends_with(is_of_word) && text[at + sign.len()..].starts_with(is_of_word)
    })
}

/// Whether a struct of the program may be a base or an argument of a template here, whose text may be anywhere: it is named, and neither a pointer, a reference nor a scope.
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

/// Whether a piece of C++ with this word may look at an object of the program through a struct that it names, be part of another struct, or become part of one.
fn is_of_structs(word: &str) -> bool {
    matches!(word, "struct" | "class" | "define") || word.starts_with("yamba_")
}

/// The name of a function whose author says that it is virtual.
fn marked_virtual<'a>(analysis: &'a Analysis, member: &'a Member) -> Option<&'a str> {
    let MemberKind::Function {
        name,
        qualifiers: Some(qualifiers),
        ..
    } = &member.kind
    else {
        return None;
    };
    let is_marked = words(analysis.cpp(*qualifiers)).any(|w| matches!(w, "override" | "final"));
    is_marked.then_some(name.text.as_str())
}

/// For each struct the names that one before it in its chain declares too, or one after it.
fn declared_twice<'a>(analysis: &'a Analysis, plan: &Plan) -> Vec<HashSet<&'a str>> {
    let declared: Vec<HashSet<&str>> = plan
        .nodes
        .iter()
        .map(|node| {
            let members = &analysis.class(node.class).ast.members;
            members
                .iter()
                .filter_map(|m| member_name(&m.kind))
                .collect()
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

/// Adds what a pass may call, told by the words of what it runs and of what that calls.
fn keep_timed<'a>(analysis: &'a Analysis, plan: &Plan, kept: &mut HashSet<&'a str>) {
    let mut texts: HashMap<&str, Vec<&str>> = HashMap::new();
    for member in members(analysis, plan) {
        if let Some(name) = called(&member.kind) {
            texts
                .entry(name)
                .or_default()
                .push(analysis.text(member.span));
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

/// The name through which C++ comes to a member: also to a function that state or a parameter holds.
fn called(kind: &MemberKind) -> Option<&str> {
    match kind {
        MemberKind::State { name, .. }
        | MemberKind::Assign { name, .. }
        | MemberKind::Param(Param { name, .. }) => Some(&name.text),
        _ => member_name(kind),
    }
}
