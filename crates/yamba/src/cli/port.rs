//! `yamba port`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use yamba_lang::ast::{Atom, Condition, MemberKind};
use yamba_lang::model::{MemberRef, Role};
use yamba_lang::source::SourceMap;
use yamba_lang::{Analysis, ClassId, Target};

use super::{Failure, Libraries, did_you_mean, output, select};
use yamba_session::standing;

/// Write the skeleton of a port
///
/// It has the members that are missing on a platform, documented as the template documents them.
/// Nothing in a skeleton pretends to be done: each member stands there without a body, and until it
/// has one `yamba list` goes on saying that it is missing.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba port pagefault --on riscv64                       to standard output
  yamba port pagefault --on riscv64 -o pagefault_riscv64.yamba
  yamba port mine.yamba --on 'linux >= 6.1'")]
pub(super) struct Port {
    /// The template, by name or file
    #[arg(value_name = "TEMPLATE")]
    template: String,
    /// The platform, as after `on` in a class: an instruction set, a system, ISA-OS, a condition
    #[arg(long, value_name = "PLATFORM")]
    on: String,
    /// Write to this file, which must not exist [default: standard output]
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    lib: Libraries,
}

impl Port {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (selection, class) = select::one(&self.template, self.lib)?;
        let analysis = &selection.analysis;
        let on = spelt_as_condition(&self.on);
        let condition = condition(&on)?;
        check_names(analysis, &condition)?;
        let missing = missing(analysis, class, &condition)?;
        let text = skeleton(analysis, class, &on, &condition, &missing);
        match &self.output {
            Some(path) => output::new_file(path, &text),
            None => output::result(&text),
        }
    }
}

/// Converts ISA-OS, as in `--target` and the matrix of `list --platforms`, to the language's `ISA
/// && OS`.
fn spelt_as_condition(text: &str) -> String {
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match text.split_once('-') {
        Some((isa, system)) if is_name(isa) && is_name(system) => format!("{isa} && {system}"),
        _ => text.to_owned(),
    }
}

/// Parses a condition with the language's parser, as the header of an empty class.
fn condition(text: &str) -> Result<Condition, Failure> {
    let mut sources = SourceMap::default();
    let file = sources.add("--on", format!("yamba x on {text} {{}}"));
    let (tree, diagnostics) = yamba_lang::syntax::parse(&sources, file);
    let mut classes = tree.classes.into_iter();
    match (classes.next().and_then(|c| c.on), classes.next(), diagnostics.first()) {
        (Some(condition), None, None) => Ok(condition),
        (_, _, first) => {
            let why = first.map_or("not a condition on the platform", |d| d.message.as_str());
            Err(Failure::new(format!("--on '{text}': {why}"))
                .help("for example --on riscv64, --on freebsd, --on 'x86_64 && linux >= 6.1'"))
        }
    }
}

/// Rejects names that no class of the library defines.
fn check_names(analysis: &Analysis, condition: &Condition) -> Result<(), Failure> {
    let targets = analysis.targets().into_iter();
    let known: BTreeSet<String> = targets.flat_map(|t| [t.isa, t.system]).collect();
    let Some(name) = names(condition).into_iter().find(|n| !known.contains(n)) else {
        return Ok(());
    };
    let known: Vec<String> = known.into_iter().collect();
    let help = did_you_mean(&name, &known).unwrap_or(format!("it knows {}", known.join(", ")));
    let fault = format!("no instruction set or system of the library is named {name}");
    Err(Failure::new(fault).help(help))
}

fn names(condition: &Condition) -> Vec<String> {
    match condition {
        Condition::Atom(Atom::Name(name) | Atom::AtLeast(name, _), _) => vec![name.clone()],
        Condition::Atom(..) => Vec::new(),
        Condition::Not(inner) => names(inner),
        Condition::And(a, b) | Condition::Or(a, b) => [names(a), names(b)].concat(),
    }
}

/// Whether the condition can hold on a target. `None` if that depends on the machine.
fn applies(condition: &Condition, target: &Target) -> Option<bool> {
    match condition {
        Condition::Atom(Atom::Name(name), _) => Some(*name == target.isa || *name == target.system),
        Condition::Atom(Atom::AtLeast(name, _), _) if *name != target.system => Some(false),
        Condition::Atom(..) => None,
        Condition::Not(inner) => applies(inner, target).map(|h| !h),
        Condition::And(a, b) => match (applies(a, target), applies(b, target)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Condition::Or(a, b) => match (applies(a, target), applies(b, target)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
    }
}

/// The members that are missing on every target where the condition can hold and the class is
/// incomplete. So a port to an instruction set need not define members that a system's port
/// provides.
fn missing(
    analysis: &Analysis,
    class: ClassId,
    condition: &Condition,
) -> Result<Vec<MemberRef>, Failure> {
    let name = analysis.class(class).name();
    let mut targets = analysis.targets();
    targets.retain(|target| applies(condition, target) != Some(false));
    let each = targets.iter();
    let each: Vec<Vec<MemberRef>> =
        each.map(|target| standing::missing(analysis, class, target)).collect();
    let Some(first) = each.first() else {
        return Err(Failure::new("the condition after --on holds on no platform")
            .help("`yamba list --platforms` shows the platforms"));
    };
    let mut common = first.clone();
    common.retain(|m| each.iter().all(|missing| missing.contains(m)));
    common.sort();
    if !common.is_empty() {
        return Ok(common);
    }
    let mut all = targets.iter().zip(&each);
    Err(match all.find(|(_, missing)| !missing.is_empty()) {
        None => Failure::new(format!("{name} misses nothing there"))
            .help(format!("`yamba list {name}` shows who defines what")),
        Some((target, missing)) => {
            let members: Vec<String> = missing.iter().map(|m| analysis.declaration(*m)).collect();
            Failure::new(format!("no member of {name} is missing everywhere there"))
                .help(format!("on {target} it misses {}", members.join("; ")))
        }
    })
}

fn skeleton(
    analysis: &Analysis,
    id: ClassId,
    on: &str,
    condition: &Condition,
    missing: &[MemberRef],
) -> String {
    let class = analysis.class(id);
    let name = class.name();
    let mut out = documentation(&class.ast.doc, "//");
    out += &format!("yamba {name}_{} ports {name} on {on}\n{{\n", suffix(on));
    out += "    // Give each member a body { ... } in place of its `;`.\n";
    for isa in instruction_sets(analysis, id, condition) {
        out += &format!("    import({isa});\n");
    }
    for member in missing {
        let member = analysis.member(*member);
        // Above a comment, `///` would document nothing.
        let (mark, declaration) = match &member.kind {
            // A port only sets the value of an inherited parameter; it does not redeclare it.
            MemberKind::Param(p) => {
                let (name, ty) = (&p.name.text, analysis.cpp(p.ty));
                let sweep = "a sweep may follow: over {VALUES} quick {VALUES}";
                ("    //", format!("// {name} = VALUE;    (a {ty}; {sweep})"))
            }
            _ => ("    ///", analysis.text(member.span).trim().to_owned()),
        };
        let documentation = documentation(&member.doc, mark);
        out += &format!("\n{documentation}    {declaration}\n");
    }
    out + "}\n"
}

fn documentation(doc: &str, mark: &str) -> String {
    let lines = doc.lines().map(|line| format!("{mark} {}", line.trim()));
    lines.map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Converts a condition to a name: `x86_64 && cpu(erms)` gives `x86_64_cpu_erms`.
fn suffix(on: &str) -> String {
    let words = on.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

/// The instruction sets that the condition requires and the template does not import yet.
fn instruction_sets(analysis: &Analysis, id: ClassId, condition: &Condition) -> Vec<String> {
    let imports = &analysis.class(id).imports;
    let mut required = positive(condition);
    required.retain(|name| {
        let class = analysis.find_class(name);
        class.is_some_and(|c| analysis.class(c).role == Role::InstructionSet)
            && !imports.iter().any(|(imported, _)| imported.text == *name)
    });
    required
}

/// The names that hold whenever the condition does.
fn positive(condition: &Condition) -> Vec<String> {
    match condition {
        Condition::Atom(Atom::Name(name), _) => vec![name.clone()],
        Condition::And(a, b) => [positive(a), positive(b)].concat(),
        _ => Vec::new(),
    }
}
