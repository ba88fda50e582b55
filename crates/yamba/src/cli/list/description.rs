//! The description of a class on a platform, as `--json` prints it.

use serde::Serialize;
use yamba_lang::ast::{self, Cpp, MemberKind, Sweep};
use yamba_lang::model::{Composition, EffectiveParameter, MemberRef, World};
use yamba_lang::{Analysis, ClassId, Target};

use yamba_session::standing;
use yamba_toolchain::build::host;
use yamba_toolchain::provenance;

/// A class on a platform.
#[derive(Default, Serialize)]
pub(super) struct Description {
    pub name: String,
    pub summary: String,
    pub doc: String,
    pub file: String,
    pub line: u32,
    pub tags: Vec<String>,
    /// Whether it can be measured on this machine. Ports and classes to import are not measured.
    pub runs_here: bool,
    pub target: String,
    /// The port's own contribution, if the class is a port. There is no composition then.
    pub port: Option<Port>,
    /// Whether it can be measured on some machine of the target.
    pub runs: bool,
    /// Members that no port defines.
    pub missing: Vec<String>,
    /// The platform feature that is missing.
    pub needs: Option<String>,
    pub composition: Option<Composed>,
}

/// A port's contribution: its base, its platform and its members.
#[derive(Serialize)]
pub(super) struct Port {
    pub base: String,
    pub on: String,
    pub members: Vec<Member>,
}

/// The parts of a class.
#[derive(Serialize)]
pub(super) struct Composed {
    /// Its base classes, the most general last.
    pub chain: Vec<String>,
    pub ports: Vec<String>,
    /// Ports that apply instead or in addition on some machines of a target that is not this
    /// machine.
    pub may_apply: Vec<MayApply>,
    pub tags: Vec<String>,
    pub imports: Vec<Import>,
    pub parameters: Vec<Parameter>,
    /// Every function, bitstring and state, with the class whose definition applies.
    pub members: Vec<Member>,
    pub evidence: Vec<Evidence>,
    pub bounds_and_charts: Vec<Member>,
}

/// A port, and its condition.
#[derive(Serialize)]
pub(super) struct MayApply {
    pub port: String,
    pub on: String,
}

/// A class that a layer imports, with the ports that the import brings.
#[derive(Serialize)]
pub(super) struct Import {
    pub name: String,
    pub from: String,
    pub ports: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Parameter {
    pub name: String,
    #[serde(rename = "type")]
    pub type_: String,
    pub value: Option<String>,
    /// The class that gave the value.
    pub from: String,
    pub over: Option<Values>,
    pub quick: Option<Values>,
}

/// Values of a sweep, and the class that gave them.
#[derive(Serialize)]
pub(super) struct Values {
    pub text: String,
    pub from: String,
}

#[derive(Serialize)]
pub(super) struct Member {
    pub declaration: String,
    #[serde(flatten)]
    pub place: DefinedAt,
}

/// The class that defines an item, and its source position.
#[derive(Serialize)]
pub(super) struct DefinedAt {
    pub from: String,
    pub file: String,
    pub line: u32,
}

#[derive(Serialize)]
pub(super) struct Evidence {
    pub name: String,
    /// The bounds; `None` if the evidence is only recorded.
    pub expects: Option<[String; 2]>,
    #[serde(flatten)]
    pub place: DefinedAt,
}

/// Describes a class on a target. On this machine, only ports that apply here are listed.
pub(super) fn description(analysis: &Analysis, id: ClassId, target: &Target) -> Description {
    let class = analysis.class(id);
    let mut out = Description {
        name: class.name().to_owned(),
        summary: provenance::first_sentence(&class.ast.doc),
        doc: class.ast.doc.clone(),
        file: analysis.sources.file(class.file).path.clone(),
        line: analysis.sources.line_column(class.ast.name.span).line,
        tags: analysis.tags(id),
        runs_here: analysis.is_listed(id)
            && matches!(standing::here(&analysis.program(id, &host())), World::Runs(_)),
        target: target.to_string(),
        ..Description::default()
    };
    if let (true, Some(base)) = (class.is_port, class.parent) {
        out.port = Some(port(analysis, id, base));
        return out;
    }
    let program = analysis.program(id, target);
    let is_here = *target == host();
    let standing = if is_here { standing::here(&program) } else { standing::somewhere(&program) };
    let composed = match standing {
        World::Absent(needs) => {
            out.needs = Some(needs);
            None
        }
        World::Runs(variant) => {
            out.runs = true;
            program.variants.get(variant)
        }
        World::Incomplete(gaps) => {
            out.missing = gaps.iter().map(|g| analysis.gap_text(g)).collect();
            program.variants.first()
        }
    };
    out.composition = composed.map(|c| composition(analysis, c));
    if let (false, Some(shown), Some(composed)) = (is_here, &mut out.composition, composed) {
        shown.may_apply = others(analysis, &program.variants, composed);
    }
    out
}

/// The ports of all variants that `shown` does not have.
fn others(analysis: &Analysis, variants: &[Composition], shown: &Composition) -> Vec<MayApply> {
    let mut others: Vec<ClassId> = Vec::new();
    for port in variants.iter().flat_map(|v| &v.ports) {
        if !shown.ports.contains(port) && !others.contains(port) {
            others.push(*port);
        }
    }
    let each = others
        .into_iter()
        .map(|port| MayApply { port: name(analysis, port), on: analysis.condition_text(port) });
    each.collect()
}

fn name(analysis: &Analysis, id: ClassId) -> String {
    analysis.class(id).name().to_owned()
}

fn port(analysis: &Analysis, id: ClassId, base: ClassId) -> Port {
    let count = analysis.class(id).ast.members.len();
    let members = (0..count).map(|index| MemberRef { class: id, index });
    let named = members.filter(|m| is_named(&analysis.member(*m).kind));
    Port {
        base: name(analysis, base),
        on: analysis.condition_text(id),
        members: named.map(|m| member(analysis, m)).collect(),
    }
}

fn is_named(kind: &MemberKind) -> bool {
    !matches!(
        kind,
        MemberKind::Native(_)
            | MemberKind::Import(_)
            | MemberKind::Tags(_)
            | MemberKind::Compile(_)
            | MemberKind::Bound { .. }
            | MemberKind::Requires(_)
            | MemberKind::Chart(_)
            | MemberKind::StandsFor(_)
    )
}

fn composition(analysis: &Analysis, c: &Composition) -> Composed {
    let is_shown = |reference: &&MemberRef| {
        matches!(
            analysis.member(**reference).kind,
            MemberKind::Bitstring(_) | MemberKind::Function { .. } | MemberKind::State { .. }
        )
    };
    let shown = c.members.values().filter(is_shown);
    let chain = c.layers.iter().rev();
    let parameters = c.parameters.iter();
    let statements = c.bounds.iter().chain(&c.requirements);
    let statements = statements.chain(&c.stands_for).chain(&c.charts);
    Composed {
        chain: chain.map(|layer| name(analysis, layer.class)).collect(),
        ports: c.ports.iter().map(|p| name(analysis, *p)).collect(),
        may_apply: Vec::new(),
        tags: c.tags.clone(),
        imports: imports(analysis, c),
        parameters: parameters.filter_map(|p| parameter(analysis, p)).collect(),
        members: shown.map(|m| member(analysis, *m)).collect(),
        evidence: evidence(analysis, c),
        bounds_and_charts: statements
            .map(|m| Member { declaration: analysis.declaration(*m), place: place(analysis, *m) })
            .collect(),
    }
}

fn imports(analysis: &Analysis, c: &Composition) -> Vec<Import> {
    let mut all = Vec::new();
    for layer in &c.layers {
        for (imported, part) in &layer.imports {
            all.extend(c.parts.get(*part).map(|part| Import {
                name: imported.clone(),
                from: name(analysis, layer.class),
                ports: part.ports.iter().map(|p| name(analysis, *p)).collect(),
            }));
        }
    }
    all
}

fn parameter(analysis: &Analysis, p: &EffectiveParameter) -> Option<Parameter> {
    let MemberKind::Param(param) = &analysis.member(p.declared).kind else {
        return None;
    };
    let values = |member: Option<MemberRef>, text: &dyn Fn(&ast::Values) -> Option<String>| {
        let member = member?;
        let text = text(analysis.values(member)?)?;
        let from = name(analysis, member.class);
        Some(Values { text, from })
    };
    let list = |all: &[Cpp]| format!("{{{}}}", cpps(analysis, all));
    let over = |v: &ast::Values| {
        Some(match v.over.as_ref()? {
            Sweep::List(all) => list(all),
            Sweep::Log(a, b, c) => format!("log({})", cpps(analysis, &[*a, *b, *c])),
            Sweep::Linear(a, b, c) => format!("linear({})", cpps(analysis, &[*a, *b, *c])),
        })
    };
    Some(Parameter {
        name: p.name.clone(),
        type_: analysis.cpp(param.ty).to_owned(),
        value: analysis.value(p).map(|v| analysis.cpp(v).to_owned()),
        from: name(analysis, p.value.unwrap_or(p.declared).class),
        over: values(p.over, &over),
        quick: values(p.quick, &|v| v.quick.as_deref().map(list)),
    })
}

/// Joins C++ texts on one line, with white space collapsed.
fn cpps(analysis: &Analysis, all: &[Cpp]) -> String {
    let one = |cpp: &Cpp| analysis.cpp(*cpp).split_whitespace().collect::<Vec<_>>();
    let texts: Vec<String> = all.iter().map(|cpp| one(cpp).join(" ")).collect();
    texts.join(", ")
}

fn member(analysis: &Analysis, reference: MemberRef) -> Member {
    let mut declaration = analysis.declaration(reference);
    let is_value = matches!(analysis.member(reference).kind, MemberKind::Assign { .. });
    if let (false, Some(end)) = (is_value, declaration.find(" = ")) {
        // The initialiser is left out; the source shows it.
        declaration.truncate(end);
    }
    Member { declaration, place: place(analysis, reference) }
}

fn place(analysis: &Analysis, reference: MemberRef) -> DefinedAt {
    let class = analysis.class(reference.class);
    let span = analysis.member(reference).span;
    DefinedAt {
        from: class.name().to_owned(),
        file: analysis.sources.file(class.file).path.clone(),
        line: analysis.sources.line_column(span).line,
    }
}

fn evidence(analysis: &Analysis, c: &Composition) -> Vec<Evidence> {
    let bound = |cpp: Cpp| analysis.cpp(cpp).to_owned();
    let each = c.evidence.iter().map(|e| Evidence {
        name: e.name.clone(),
        expects: e.expects.map(|(low, high)| [bound(low), bound(high)]),
        place: place(analysis, e.definition),
    });
    each.collect()
}
