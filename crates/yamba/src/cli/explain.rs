//! `yamba explain`

use clap::Args;
use yamba_lang::ast::{Cpp, MemberKind, Sweep};
use yamba_lang::model::{Composition, EffectiveParameter, MemberRef, Program};
use yamba_lang::{Analysis, ClassId, Target};

use super::Answer;
use super::failure::Failure;
use super::gaps::{self, Standing};
use super::output;
use super::select::{self, Names};
use super::target::TargetOption;
use crate::build::host;

/// Show which class gave which member, and the parameters with their values
///
/// On this machine the ports are those that apply here; with --target, those that may apply there.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba explain pagefault
  yamba explain pagefault --target riscv64-linux
  yamba explain compiler           a class to import, with its port for this machine")]
pub(super) struct Explain {
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    target: TargetOption,
}

impl Explain {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        if self.names.names.is_empty() {
            return Err(
                Failure::new("explain which class?").help("`yamba list` shows what there is")
            );
        }
        let selection = select::select(&self.names)?;
        let target = self.target.resolve(&selection.analysis)?;
        let texts: Vec<String> = selection
            .chosen
            .iter()
            .map(|c| explain(&selection.analysis, c.class, &target))
            .collect();
        output::result(&texts.join("\n"))?;
        Ok(Answer::Done)
    }
}

fn explain(analysis: &Analysis, id: ClassId, target: &Target) -> String {
    let class = analysis.class(id);
    let place = analysis.sources.line_column(class.ast.name.span);
    let path = &analysis.sources.file(class.file).path;
    let mut out = format!("{} on {target}    {path}:{}\n", class.name(), place.line);
    for line in class.ast.doc.lines() {
        out.push_str(format!("    {}", line.trim()).trim_end());
        out.push('\n');
    }
    if let (true, Some(base)) = (class.is_port, class.parent) {
        out.push_str(&port(analysis, id, analysis.class(base).name()));
        return out;
    }
    let program = analysis.program(id, target);
    let standing = if *target == host() {
        gaps::here(&program)
    } else {
        gaps::somewhere(&program)
    };
    out.push_str(&body(analysis, &program, &standing));
    out
}

/// A port is nothing by itself: what it brings to its base, and where.
fn port(analysis: &Analysis, id: ClassId, base: &str) -> String {
    let members =
        (0..analysis.class(id).ast.members.len()).map(|index| MemberRef { class: id, index });
    let rows: Vec<Vec<String>> = members
        .filter(|m| is_named(&analysis.member(*m).kind))
        .map(|m| vec![declared(analysis, m), from(analysis, m)])
        .collect();
    let condition = analysis.condition_text(id);
    format!(
        "\na port of  {base}, which `yamba explain {base}` shows whole\non         {condition}\n{}",
        section("members", &rows)
    )
}

fn is_named(kind: &MemberKind) -> bool {
    !matches!(
        kind,
        MemberKind::Native(_)
            | MemberKind::Import(_)
            | MemberKind::Tags(_)
            | MemberKind::Bound { .. }
            | MemberKind::Chart(_)
    )
}

fn body(analysis: &Analysis, program: &Program, standing: &Standing) -> String {
    match standing {
        Standing::Absent(needs) => format!("\nnot there: {needs}\n"),
        Standing::Runs(variant) => composition(analysis, &program.variants[*variant]),
        Standing::Incomplete(gaps) => {
            let lines: String = gaps
                .iter()
                .map(|g| format!("    {}\n", analysis.gap_text(g)))
                .collect();
            let shown = program
                .variants
                .first()
                .map(|c| composition(analysis, c))
                .unwrap_or_default();
            format!("\nmissing\n{lines}{shown}")
        }
    }
}

fn composition(analysis: &Analysis, c: &Composition) -> String {
    let name = |id: ClassId| analysis.class(id).name().to_string();
    let chain: Vec<String> = c.layers.iter().rev().map(|l| name(l.class)).collect();
    let ports: Vec<String> = c.ports.iter().map(|p| name(*p)).collect();
    let mut out = format!("\nchain     {}\n", chain.join(" > "));
    out.push_str(&format!("ports     {}\n", or_none(&ports.join(", "))));
    if !c.tags.is_empty() {
        out.push_str(&format!("tags      {}\n", c.tags.join(", ")));
    }
    out.push_str(&section("imports", &imports(analysis, c)));
    out.push_str(&section("parameters", &parameters(analysis, c)));
    out.push_str(&section("members", &members(analysis, c)));
    out.push_str(&section("evidence", &evidence(analysis, c)));
    out.push_str(&section("bounds and charts", &statements(analysis, c)));
    out
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn section(title: &str, rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let lines: String = output::columns(rows)
        .lines()
        .map(|l| format!("    {l}\n"))
        .collect();
    format!("\n{title}\n{lines}")
}

/// What each layer imports, with the ports that the import brings here.
fn imports(analysis: &Analysis, c: &Composition) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for layer in &c.layers {
        for (name, part) in &layer.imports {
            let Some(part) = c.parts.get(*part) else {
                continue;
            };
            let ports: Vec<&str> = part
                .ports
                .iter()
                .map(|p| analysis.class(*p).name())
                .collect();
            let from = format!("from {}", analysis.class(layer.class).name());
            let with = if ports.is_empty() {
                String::new()
            } else {
                format!("with {}", ports.join(", "))
            };
            rows.push(vec![name.clone(), from, with]);
        }
    }
    rows
}

fn parameters(analysis: &Analysis, c: &Composition) -> Vec<Vec<String>> {
    c.parameters
        .iter()
        .map(|p| parameter(analysis, p))
        .collect()
}

fn parameter(analysis: &Analysis, p: &EffectiveParameter) -> Vec<String> {
    let MemberKind::Param(param) = &analysis.member(p.declared).kind else {
        return Vec::new();
    };
    let value = analysis.value(p).map_or("no value", |v| analysis.cpp(v));
    let giver = p.value.unwrap_or(p.declared).class;
    vec![
        format!("{} {}", analysis.cpp(param.ty), p.name),
        format!("= {value}"),
        format!("from {}", analysis.class(giver).name()),
        sweep(analysis, p, giver),
    ]
}

/// `over ... quick ...` on one line, and which classes gave it if not the one that gave the value.
fn sweep(analysis: &Analysis, p: &EffectiveParameter, giver: ClassId) -> String {
    let mut out = Vec::new();
    for (member, is_quick) in [(p.over, false), (p.quick, true)] {
        let Some(member) = member else { continue };
        let Some(values) = analysis.values(member) else {
            continue;
        };
        out.extend(match is_quick {
            false => values.over.as_ref().map(|over| over_text(analysis, over)),
            true => {
                let list = values.quick.as_deref();
                list.map(|list| format!("quick {{{}}}", cpps(analysis, list)))
            }
        });
        // Said once behind what one class gives.
        let goes_on = !is_quick && p.quick.is_some_and(|q| q.class == member.class);
        if member.class != giver && !goes_on {
            out.push(format!("from {}", analysis.class(member.class).name()));
        }
    }
    out.join(" ")
}

fn over_text(analysis: &Analysis, over: &Sweep) -> String {
    match over {
        Sweep::List(list) => format!("over {{{}}}", cpps(analysis, list)),
        Sweep::Log(a, b, c) => format!("over log({})", cpps(analysis, &[*a, *b, *c])),
        Sweep::Linear(a, b, c) => format!("over linear({})", cpps(analysis, &[*a, *b, *c])),
    }
}

fn cpps(analysis: &Analysis, all: &[Cpp]) -> String {
    let one = |cpp: &Cpp| analysis.cpp(*cpp).split_whitespace().collect::<Vec<_>>();
    let texts: Vec<String> = all.iter().map(|cpp| one(cpp).join(" ")).collect();
    texts.join(", ")
}

/// Every function, bitstring and state with the class whose definition counts.
fn members(analysis: &Analysis, c: &Composition) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for reference in c.members.values() {
        let member = analysis.member(*reference);
        let shown = matches!(
            member.kind,
            MemberKind::Bitstring(_) | MemberKind::Function { .. } | MemberKind::State { .. }
        );
        if shown {
            rows.push(vec![
                declared(analysis, *reference),
                from(analysis, *reference),
            ]);
        }
    }
    rows
}

fn declared(analysis: &Analysis, reference: MemberRef) -> String {
    let text = analysis.declaration(reference);
    if let MemberKind::Assign { .. } = analysis.member(reference).kind {
        return text;
    }
    // What an initialiser holds is for the source to show.
    text.split(" = ").next().unwrap_or(&text).to_string()
}

fn from(analysis: &Analysis, reference: MemberRef) -> String {
    let class = analysis.class(reference.class);
    let place = analysis
        .sources
        .line_column(analysis.member(reference).span);
    let path = &analysis.sources.file(class.file).path;
    let file = path.rsplit('/').next().unwrap_or(path);
    format!("from {} ({file}:{})", class.name(), place.line)
}

fn evidence(analysis: &Analysis, c: &Composition) -> Vec<Vec<String>> {
    let row = |e: &yamba_lang::model::EffectiveEvidence| {
        let expects = match &e.expects {
            Some((low, high)) => {
                format!("expects [{}, {}]", analysis.cpp(*low), analysis.cpp(*high))
            }
            None => "recorded, no bound".to_string(),
        };
        vec![e.name.clone(), expects, from(analysis, e.definition)]
    };
    c.evidence.iter().map(row).collect()
}

fn statements(analysis: &Analysis, c: &Composition) -> Vec<Vec<String>> {
    let all = c.bounds.iter().chain(&c.charts);
    all.map(|m| vec![analysis.declaration(*m), from(analysis, *m)])
        .collect()
}
