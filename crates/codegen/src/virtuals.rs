//! Which members are virtual in the C++. One that no call has to find at run time need not be, and the C++ compiler leaves out a function that is neither virtual nor called: a seventh of
//! the suite's.
//!
//! What a timed interval runs stays as virtual as any member could need, so that a shorter build makes no measured call another one.

use std::collections::{HashMap, HashSet};

use yamba_lang::ast::{Cpp, Member, MemberKind};
use yamba_lang::cpp::{self, Kind};
use yamba_lang::model::{Analysis, ClassId};

use crate::class::{add_words, member_name};
use crate::plan::Plan;

/// What is timed.
const TIMED: [&str; 2] = ["benchmark", "benchmark_dummy"];

/// Names, not members: what is said of one overload is said of all, however their types are spelt.
pub(crate) struct Virtuals<'a> {
    /// For each struct of the plan what has to be found at run time.
    late: Vec<HashSet<&'a str>>,
    /// What the author's own structs may redefine or call, and what runs in a timed interval.
    kept: HashSet<&'a str>,
}

impl<'a> Virtuals<'a> {
    /// `natives` are the words of the C++ in which an author may write structs and functions of his own.
    pub(crate) fn new(
        analysis: &'a Analysis,
        plan: &Plan,
        natives: &HashSet<&'a str>,
    ) -> Virtuals<'a> {
        let mut virtuals = Virtuals {
            late: late(analysis, plan),
            kept: natives.clone(),
        };
        virtuals.keep_named(analysis, plan);
        virtuals.keep_timed(analysis, plan);
        virtuals
    }

    /// Whether the members of this name are virtual in the struct `node` of the plan.
    pub(crate) fn holds(&self, node: usize, name: &str) -> bool {
        self.kept.contains(name) || self.late[node].contains(name)
    }

    /// Adds the words of members that look at objects in another way than by calling their own functions.
    fn keep_named(&mut self, analysis: &'a Analysis, plan: &Plan) {
        for node in &plan.nodes {
            for member in &analysis.class(node.class).ast.members {
                let mut words = HashSet::new();
                add_words(analysis.text(member.span), &mut words);
                if words.iter().any(|w| names_struct(w)) {
                    self.kept.extend(words);
                }
            }
        }
    }

    /// Adds what a pass may call, told by the words of its C++ and of what that calls.
    fn keep_timed(&mut self, analysis: &'a Analysis, plan: &Plan) {
        let mut bodies: HashMap<&str, Vec<Cpp>> = HashMap::new();
        for node in &plan.nodes {
            for member in &analysis.class(node.class).ast.members {
                if let (Some(name), Some(body)) = (member_name(&member.kind), body(member)) {
                    bodies.entry(name).or_default().push(body);
                }
            }
        }
        let mut reached: Vec<&str> = self.kept.iter().copied().chain(TIMED).collect();
        self.kept.extend(TIMED);
        while let Some(name) = reached.pop() {
            for body in bodies.remove(name).unwrap_or_default() {
                let mut words = HashSet::new();
                add_words(analysis.cpp(body), &mut words);
                reached.extend(words.difference(&self.kept));
                self.kept.extend(words);
            }
        }
    }
}

/// Whether a piece of C++ with this word may look at an object of the program through a struct that it names, or be part of another struct.
fn names_struct(word: &str) -> bool {
    matches!(word, "struct" | "class") || word.starts_with("yamba_")
}

fn body(member: &Member) -> Option<Cpp> {
    match member.kind {
        MemberKind::Function { body, .. } | MemberKind::Evidence { body, .. } => body,
        _ => None,
    }
}

/// For each struct the names that a struct after it redefines, or one before it declares, where something before the later of the two may call it.
fn late<'a>(analysis: &'a Analysis, plan: &Plan) -> Vec<HashSet<&'a str>> {
    let classes: Vec<Class> = plan
        .nodes
        .iter()
        .map(|node| Class::new(analysis, node.class))
        .collect();
    let mut late = vec![HashSet::new(); classes.len()];
    for node in &plan.nodes {
        let Some((own, bases)) = node.chain.split_last() else {
            continue;
        };
        let is_called = |name: &&str| {
            let of_any = || classes.iter().any(|c| c.accesses.contains(name));
            bases.iter().any(|b| classes[*b].calls.contains(name)) || of_any()
        };
        for base in bases {
            let both = classes[*base]
                .members
                .iter()
                .filter(|(name, _)| classes[*own].members.contains_key(**name));
            for (name, is_bound) in both {
                if !is_bound || is_called(name) {
                    late[*base].insert(*name);
                    late[*own].insert(*name);
                }
            }
        }
    }
    late
}

/// What the C++ of a class says of functions.
struct Class<'a> {
    /// Functions, evidence and bitstrings; whether each is a function with a body.
    members: HashMap<&'a str, bool>,
    /// Words that stand alone, beside the names that members declare: calls of the object's own.
    calls: HashSet<&'a str>,
    /// Words after `.`, `->` or `::`: calls of any object's.
    accesses: HashSet<&'a str>,
}

impl<'a> Class<'a> {
    fn new(analysis: &'a Analysis, class: ClassId) -> Class<'a> {
        let mut read = Class {
            members: HashMap::new(),
            calls: HashSet::new(),
            accesses: HashSet::new(),
        };
        for member in &analysis.class(class).ast.members {
            let name = member_name(&member.kind);
            if let Some(name) = name {
                let is_bound = read.members.entry(name).or_insert(true);
                *is_bound &= body(member).is_some();
            }
            read.words(analysis.text(member.span), name);
        }
        read
    }

    /// `declared` stands in the text once without being a call. `super::NAME` names its function whatever is virtual.
    fn words(&mut self, text: &'a str, mut declared: Option<&str>) {
        let (mut before, mut last) = ("", "");
        for token in cpp::tokens(text) {
            let own = &text[token.range.clone()];
            if token.kind == Kind::Word {
                match last {
                    _ if declared == Some(own) => declared = None,
                    "::" if before == "super" => {}
                    "." | ">" | "::" => drop(self.accesses.insert(own)),
                    _ => drop(self.calls.insert(own)),
                }
            }
            (before, last) = (last, own);
        }
    }
}
