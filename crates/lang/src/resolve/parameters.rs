//! The value and sweeps of each parameter, and the order of evaluation.

use super::chain::Chain;
use crate::ast::{Cpp, MemberKind, Param, Sweep, Values};
use crate::cpp;
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, EffectiveParameter, Gap, MemberRef};

/// The parameters of a chain, ordered so that each follows those in its value. Parameters without a
/// value are gaps.
pub(crate) fn effective(
    analysis: &Analysis,
    chain: &Chain,
    faults: &mut Vec<Diagnostic>,
) -> (Vec<EffectiveParameter>, Vec<Gap>) {
    let mut gaps = Vec::new();
    let mut found = Vec::new();
    for declared in declarations(analysis, chain) {
        let name = param(analysis, declared).name.text.clone();
        let givers = givers(analysis, chain, &name);
        let with = |is: fn(&Values) -> bool| -> Vec<_> {
            givers.iter().copied().filter(|g| is(g.values)).collect()
        };
        let mut chosen = |from: Vec<_>| choose(chain, &name, from, &mut gaps);
        let value = chosen(with(|v| v.value.is_some()));
        let over = chosen(with(|v| v.over.is_some()));
        // An overriding sweep replaces the inherited one entirely, so the inherited `quick` values
        // no longer apply.
        let mut quick = with(|v| v.quick.is_some());
        quick.retain(|g| over.is_none_or(|o| !chain.is_below(g.layer, o.layer)));
        let quick = chosen(quick);
        if value.is_none() {
            gaps.push(Gap::Missing(declared));
        }
        found.push(EffectiveParameter {
            declared,
            value: value.map(|g| g.member),
            over: over.map(|g| g.member),
            quick: quick.map(|g| g.member),
            name,
        });
    }
    (in_order(analysis, found, faults), gaps)
}

/// A member that assigns a value or a sweep to a parameter.
#[derive(Clone, Copy)]
struct Giver<'a> {
    layer: usize,
    member: MemberRef,
    values: &'a Values,
}

/// The most specific assignment. Several equally specific ones are a gap.
fn choose<'a>(
    chain: &Chain,
    name: &str,
    mut givers: Vec<Giver<'a>>,
    gaps: &mut Vec<Gap>,
) -> Option<Giver<'a>> {
    let layers: Vec<usize> = givers.iter().map(|g| g.layer).collect();
    let best = chain.most_specific(&layers);
    givers.retain(|g| best.contains(&g.layer));
    givers.dedup_by_key(|g| g.layer); // duplicates in one class are reported elsewhere
    if givers.len() > 1 {
        let gap = Gap::Ambiguous {
            name: name.to_owned(),
            definitions: givers.iter().map(|g| g.member).collect(),
        };
        // Ports that contradict each other in value and sweep are reported once.
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
    givers.last().copied()
}

fn param(analysis: &Analysis, member: MemberRef) -> &Param {
    match &analysis.member(member).kind {
        MemberKind::Param(param) => param,
        _ => unreachable!("only parameters are asked for"),
    }
}

fn members<'a>(
    analysis: &'a Analysis,
    chain: &'a Chain,
) -> impl Iterator<Item = (usize, MemberRef, &'a MemberKind)> {
    let layers = chain.classes.iter().enumerate();
    layers.flat_map(move |(layer, class)| {
        let members = analysis.members(*class);
        members.map(move |(member, m)| (layer, member, &m.kind))
    })
}

fn declarations(analysis: &Analysis, chain: &Chain) -> Vec<MemberRef> {
    members(analysis, chain)
        .filter(|(.., kind)| matches!(kind, MemberKind::Param(_)))
        .map(|(_, member, _)| member)
        .collect()
}

fn givers<'a>(analysis: &'a Analysis, chain: &'a Chain, wanted: &str) -> Vec<Giver<'a>> {
    let values = |kind: &'a MemberKind| match kind {
        MemberKind::Param(param) if param.name.text == wanted => Some(&param.values),
        MemberKind::Assign { name, values } if name.text == wanted => Some(values),
        _ => None,
    };
    members(analysis, chain)
        .filter_map(|(layer, member, kind)| {
            let values = values(kind)?;
            Some(Giver { layer, member, values })
        })
        .collect()
}

fn in_order(
    analysis: &Analysis,
    found: Vec<EffectiveParameter>,
    faults: &mut Vec<Diagnostic>,
) -> Vec<EffectiveParameter> {
    let mentions: Vec<Vec<usize>> = found.iter().map(|p| mentioned(analysis, p, &found)).collect();
    let mut order: Vec<usize> = Vec::new();
    while order.len() < found.len() {
        let is_ready =
            |i: &usize| !order.contains(i) && mentions[*i].iter().all(|m| order.contains(m));
        let next = (0..found.len()).find(is_ready).unwrap_or_else(|| {
            let stuck = (0..found.len()).find(|i| !order.contains(i)).unwrap_or_default();
            faults.push(cyclic(analysis, &found[stuck]));
            stuck
        });
        order.push(next);
    }
    order.into_iter().map(|i| found[i].clone()).collect()
}

/// The parameters in a value or a sweep. A sweep may use its own parameter, which already has a
/// value.
fn mentioned(
    analysis: &Analysis,
    parameter: &EffectiveParameter,
    all: &[EffectiveParameter],
) -> Vec<usize> {
    let words = |cpp: &Cpp| -> Vec<usize> {
        let words = own_words(analysis.cpp(*cpp));
        let index = |word: &&str| all.iter().position(|p| p.name == *word);
        words.iter().filter_map(index).collect()
    };
    let mut found: Vec<usize> = analysis.value(parameter).iter().flat_map(words).collect();
    let swept = sweeps(analysis, parameter);
    let of_sweeps = swept.iter().flat_map(words);
    found.extend(of_sweeps.filter(|i| all[*i].name != parameter.name));
    found
}

/// All expressions of the effective sweeps.
fn sweeps(analysis: &Analysis, parameter: &EffectiveParameter) -> Vec<Cpp> {
    let values = |member: Option<MemberRef>| member.and_then(|m| analysis.values(m));
    let over = values(parameter.over).and_then(|v| v.over.as_ref());
    let mut all = match over {
        Some(Sweep::List(list)) => list.clone(),
        Some(Sweep::Log(a, b, c) | Sweep::Linear(a, b, c)) => vec![*a, *b, *c],
        None => Vec::new(),
    };
    let quick = values(parameter.quick).and_then(|v| v.quick.as_ref());
    all.extend(quick.into_iter().flatten());
    all
}

/// The unqualified words of an expression, which may name parameters: `platform.page_size` does not
/// use a parameter `page_size`.
fn own_words(text: &str) -> Vec<&str> {
    let tokens = cpp::tokens(text);
    let word = |i: usize| &text[tokens[i].range.clone()];
    let is_own = |i: &usize| {
        tokens[*i].kind == cpp::CppTokenKind::Word
            && (*i == 0 || !matches!(word(*i - 1), "." | "::"))
    };
    (0..tokens.len()).filter(is_own).map(word).collect()
}

fn cyclic(analysis: &Analysis, parameter: &EffectiveParameter) -> Diagnostic {
    let name = &param(analysis, parameter.declared).name;
    let place = analysis.value(parameter).map_or(name.span, |v| v.span);
    error!("cyclic-parameters" at place, "the value or sweep of `{name}` depends on itself";
        help "values and sweeps may use other parameters, but not in a circle")
    .also(name.span, "declared here")
}
