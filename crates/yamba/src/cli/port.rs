//! `yamba port`

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use yamba_lang::ast::{Atom, Condition, MemberKind};
use yamba_lang::model::{MemberRef, Role};
use yamba_lang::source::SourceMap;
use yamba_lang::{Analysis, ClassId, Target};

use super::{Answer, Failure, Libraries, did_you_mean, output, select};
use yamba_session::standing;

/// Write the skeleton of a port: the members that are missing on a platform, documented as the template documents them
///
/// Nothing in a skeleton pretends to be done: each member stands there without a body, and until it has one `yamba list`
/// goes on saying that it is missing.
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
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let (selection, class) = select::one(&self.template, self.lib)?;
        let analysis = &selection.analysis;
        let on = spelt_as_condition(&self.on);
        let condition = condition(&on)?;
        check_names(analysis, &condition)?;
        let missing = missing(analysis, class, &condition)?;
        let text = skeleton(analysis, class, &on, &condition, &missing);
        match &self.output {
            Some(path) => create(path, &text)?,
            None => output::result(&text)?,
        }
        Ok(Answer::Done)
    }
}

fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let written = opened.and_then(|mut file| {
        // Remove a partly written port, which would block the next attempt.
        let written = file.write_all(text.as_bytes());
        written.inspect_err(|_| drop(fs::remove_file(path)))
    });
    written.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Failure::new(format!("{} exists already", path.display()))
            .help("a port is not written over; name another file"),
        _ => output::cannot_write(path, &e).help("name another file with -o, or leave -o out"),
    })
}

/// Converts ISA-OS, as in `--target` and the matrix of `list --platforms`, to the language's `ISA && OS`.
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
    match (
        classes.next().and_then(|c| c.on),
        classes.next(),
        diagnostics.first(),
    ) {
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
    let known: Vec<String> = analysis
        .targets()
        .into_iter()
        .flat_map(|t| [t.isa, t.system])
        .collect();
    for name in names(condition) {
        if !known.contains(&name) {
            let mut unique = known.clone();
            unique.sort();
            unique.dedup();
            let help =
                did_you_mean(&name, &unique).unwrap_or(format!("it knows {}", unique.join(", ")));
            return Err(Failure::new(format!(
                "no instruction set or system of the library is named {name}"
            ))
            .help(help));
        }
    }
    Ok(())
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
fn holds(condition: &Condition, target: &Target) -> Option<bool> {
    match condition {
        Condition::Atom(Atom::Name(name), _) => Some(*name == target.isa || *name == target.system),
        Condition::Atom(Atom::AtLeast(name, _), _) if *name != target.system => Some(false),
        Condition::Atom(..) => None,
        Condition::Not(inner) => holds(inner, target).map(|h| !h),
        Condition::And(a, b) => match (holds(a, target), holds(b, target)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Condition::Or(a, b) => match (holds(a, target), holds(b, target)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
    }
}

/// The members that are missing on every target where the condition can hold and the class is incomplete. So a port to an instruction set need not
/// define members that a system's port provides.
fn missing(
    analysis: &Analysis,
    class: ClassId,
    condition: &Condition,
) -> Result<Vec<MemberRef>, Failure> {
    let name = analysis.class(class).name();
    let targets: Vec<Target> = analysis
        .targets()
        .into_iter()
        .filter(|t| holds(condition, t) != Some(false))
        .collect();
    if targets.is_empty() {
        return Err(
            Failure::new("the condition after --on holds on no platform")
                .help("`yamba list --platforms` shows the platforms"),
        );
    }
    let each: Vec<Vec<MemberRef>> = targets
        .iter()
        .map(|t| standing::missing(analysis, class, t))
        .collect();
    let mut common: Vec<MemberRef> = each[0].clone();
    common.retain(|m| each.iter().all(|missing| missing.contains(m)));
    if common.is_empty() {
        return Err(nothing_missing(analysis, name, &targets, &each));
    }
    common.sort();
    Ok(common)
}

fn nothing_missing(
    analysis: &Analysis,
    name: &str,
    targets: &[Target],
    each: &[Vec<MemberRef>],
) -> Failure {
    match targets
        .iter()
        .zip(each)
        .find(|(_, missing)| !missing.is_empty())
    {
        None => Failure::new(format!("{name} misses nothing there"))
            .help(format!("`yamba explain {name}` shows who defines what")),
        Some((target, missing)) => {
            let members: Vec<String> = missing.iter().map(|m| analysis.declaration(*m)).collect();
            Failure::new(format!("no member of {name} is missing everywhere there"))
                .help(format!("on {target} it misses {}", members.join("; ")))
        }
    }
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
    let mut out: String = class
        .ast
        .doc
        .lines()
        .map(|line| format!("// {}", line.trim()).trim_end().to_owned() + "\n")
        .collect();
    out.push_str(&format!(
        "yamba {name}_{} ports {name} on {on}\n{{\n",
        suffix(on)
    ));
    out.push_str("    // Give each member a body { ... } in place of its `;`.\n");
    for isa in instruction_sets(analysis, id, condition) {
        out.push_str(&format!("    import({isa});\n"));
    }
    for member in missing {
        let member = analysis.member(*member);
        out.push('\n');
        // Above a comment, `///` would document nothing.
        let mark = match member.kind {
            MemberKind::Param(_) => "//",
            _ => "///",
        };
        out.push_str(&documentation(&member.doc, mark));
        out.push_str(&declaration(
            analysis,
            &member.kind,
            analysis.text(member.span),
        ));
    }
    out.push_str("}\n");
    out
}

fn documentation(doc: &str, mark: &str) -> String {
    doc.lines()
        .map(|line| format!("    {mark} {}", line.trim()).trim_end().to_string() + "\n")
        .collect()
}

fn declaration(analysis: &Analysis, kind: &MemberKind, text: &str) -> String {
    match kind {
        // A port only sets the value of an inherited parameter; it does not redeclare it.
        MemberKind::Param(p) => {
            format!(
                "    // {} = VALUE;    (a {}; a sweep may follow: over {{VALUES}} quick {{VALUES}})\n",
                p.name.text,
                analysis.cpp(p.ty)
            )
        }
        _ => format!("    {}\n", text.trim()),
    }
}

/// Converts a condition to a name: `x86_64 && cpu(erms)` gives `x86_64_cpu_erms`.
fn suffix(on: &str) -> String {
    let words = on
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// The instruction sets that the condition requires and the template does not import yet.
fn instruction_sets(analysis: &Analysis, id: ClassId, condition: &Condition) -> Vec<String> {
    let imported: Vec<&str> = analysis
        .class(id)
        .imports
        .iter()
        .map(|(name, _)| name.text.as_str())
        .collect();
    let mut wanted = positive(condition);
    wanted.retain(|name| {
        let is_isa = analysis
            .find_class(name)
            .is_some_and(|c| analysis.class(c).role == Role::InstructionSet);
        is_isa && !imported.contains(&name.as_str())
    });
    wanted
}

/// The names that hold whenever the condition does.
fn positive(condition: &Condition) -> Vec<String> {
    match condition {
        Condition::Atom(Atom::Name(name), _) => vec![name.clone()],
        Condition::And(a, b) => [positive(a), positive(b)].concat(),
        _ => Vec::new(),
    }
}
