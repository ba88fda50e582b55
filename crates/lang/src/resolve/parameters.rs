//! Which value each parameter has, and in what order they are evaluated.

use super::chain::Chain;
use crate::ast::{Cpp, MemberKind, Param};
use crate::cpp;
use crate::diagnostic::Diagnostic;
use crate::model::{Analysis, EffectiveParameter, Gap, MemberRef};

/// The parameters of a chain, each after those that its value mentions; those without a value are gaps.
pub(crate) fn effective(
    analysis: &Analysis,
    chain: &Chain,
    faults: &mut Vec<Diagnostic>,
) -> (Vec<EffectiveParameter>, Vec<Gap>) {
    let mut gaps = Vec::new();
    let mut found = Vec::new();
    for declared in declarations(analysis, chain) {
        let name = param(analysis, declared).name.text.clone();
        let values = values(analysis, chain, &name);
        let layers: Vec<usize> = values.iter().map(|(layer, ..)| *layer).collect();
        let best = chain.most_specific(&layers);
        let chosen: Vec<_> = values
            .iter()
            .filter(|(layer, ..)| best.contains(layer))
            .collect();
        match chosen.as_slice() {
            [] => gaps.push(Gap::Missing(declared)),
            [_] => {}
            several => gaps.push(Gap::Ambiguous {
                name: name.clone(),
                definitions: several.iter().map(|(_, m, _)| *m).collect(),
            }),
        }
        found.push(EffectiveParameter {
            declared,
            name,
            value: chosen.last().map(|(.., value)| *value),
        });
    }
    (in_order(analysis, found, faults), gaps)
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
    chain
        .classes
        .iter()
        .enumerate()
        .flat_map(move |(layer, class)| {
            let members = analysis.class(*class).ast.members.iter().enumerate();
            members.map(move |(index, member)| {
                (
                    layer,
                    MemberRef {
                        class: *class,
                        index,
                    },
                    &member.kind,
                )
            })
        })
}

fn declarations(analysis: &Analysis, chain: &Chain) -> Vec<MemberRef> {
    members(analysis, chain)
        .filter(|(.., kind)| matches!(kind, MemberKind::Param(_)))
        .map(|(_, member, _)| member)
        .collect()
}

fn values(analysis: &Analysis, chain: &Chain, wanted: &str) -> Vec<(usize, MemberRef, Cpp)> {
    let value = |kind: &MemberKind| match kind {
        MemberKind::Param(param) if param.name.text == wanted => param.value,
        MemberKind::Assign { name, value } if name.text == wanted => Some(*value),
        _ => None,
    };
    members(analysis, chain)
        .filter_map(|(layer, member, kind)| value(kind).map(|v| (layer, member, v)))
        .collect()
}

fn in_order(
    analysis: &Analysis,
    found: Vec<EffectiveParameter>,
    faults: &mut Vec<Diagnostic>,
) -> Vec<EffectiveParameter> {
    let mentions: Vec<Vec<usize>> = found
        .iter()
        .map(|p| mentioned(analysis, p, &found))
        .collect();
    let mut order: Vec<usize> = Vec::new();
    while order.len() < found.len() {
        let is_ready =
            |i: &usize| !order.contains(i) && mentions[*i].iter().all(|m| order.contains(m));
        let next = (0..found.len()).find(is_ready).unwrap_or_else(|| {
            let stuck = (0..found.len())
                .find(|i| !order.contains(i))
                .unwrap_or_default();
            faults.push(cyclic(analysis, &found[stuck]));
            stuck
        });
        order.push(next);
    }
    order.into_iter().map(|i| found[i].clone()).collect()
}

fn mentioned(
    analysis: &Analysis,
    parameter: &EffectiveParameter,
    all: &[EffectiveParameter],
) -> Vec<usize> {
    let Some(value) = parameter.value else {
        return Vec::new();
    };
    let text = analysis.cpp(value);
    let tokens = cpp::tokens(text);
    let word = |i: usize| &text[tokens[i].range.clone()];
    // `platform.page_size` does not mention a parameter `page_size`.
    let is_own = |i: usize| {
        tokens[i].kind == cpp::Kind::Word && (i == 0 || !matches!(word(i - 1), "." | "::"))
    };
    (0..tokens.len())
        .filter(|i| is_own(*i))
        .filter_map(|i| all.iter().position(|p| p.name == word(i)))
        .collect()
}

fn cyclic(analysis: &Analysis, parameter: &EffectiveParameter) -> Diagnostic {
    let name = &param(analysis, parameter.declared).name;
    let place = parameter.value.map_or(name.span, |v| v.span);
    Diagnostic::error(
        "cyclic-parameters",
        place,
        format!("the value of `{}` depends on itself", name.text),
    )
    .also(name.span, "declared here")
    .help("a parameter's value may use other parameters, but not in a circle")
}
