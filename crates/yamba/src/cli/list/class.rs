//! The description of a class as text: which class gave which member, and the parameters with
//! their values.

use super::description::{
    Composed, DefinedAt, Description, Import, Member, Parameter, Port, Values,
};
use crate::cli::output;

/// The text of `yamba list NAME`.
pub(super) fn text(class: &Description) -> String {
    let mut out = format!("{} on {}    {}:{}\n", class.name, class.target, class.file, class.line);
    for line in class.doc.lines() {
        out.push_str(format!("    {}", line.trim()).trim_end());
        out.push('\n');
    }
    if let Some(Port { base, on, members }) = &class.port {
        out.push_str(&format!(
            "\na port of  {base}, which `yamba list {base}` shows whole\non         {on}\n{}",
            section("members", members.iter().map(member))
        ));
    }
    if let Some(needs) = &class.needs {
        out.push_str(&format!("\nnot there: {needs}\n"));
    }
    let missing = class.missing.iter().map(|gap| vec![gap.clone()]);
    out.push_str(&section("missing", missing));
    out.push_str(&class.composition.as_ref().map_or(String::new(), composition));
    out
}

fn composition(c: &Composed) -> String {
    let ports = match c.ports.join(", ") {
        none if none.is_empty() => "none".to_owned(),
        ports => ports,
    };
    let mut out = format!("\nchain     {}\nports     {ports}\n", c.chain.join(" > "));
    let others = c.may_apply.iter();
    let others = others.map(|other| vec![other.port.clone(), format!("on {}", other.on)]);
    if !c.tags.is_empty() {
        out.push_str(&format!("tags      {}\n", c.tags.join(", ")));
    }
    let evidence = c.evidence.iter().map(|e| {
        let expects = match &e.expects {
            Some([low, high]) => format!("expects [{low}, {high}]"),
            None => "recorded, no bound".to_owned(),
        };
        vec![e.name.clone(), expects, from(&e.place)]
    });
    let statements = c.bounds_and_charts.iter().map(member);
    out += &section("ports of other machines", others);
    out += &section("imports", c.imports.iter().map(import));
    out += &section("parameters", c.parameters.iter().map(parameter));
    out += &section("members", c.members.iter().map(member));
    out += &section("evidence", evidence);
    out += &section("bounds, conditions and charts", statements);
    out
}

fn section(title: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = output::columns(&rows);
    let lines = table.lines().map(|line| format!("    {line}\n"));
    format!("\n{title}\n{}", lines.collect::<String>())
}

fn import(import: &Import) -> Vec<String> {
    let with = match import.ports.join(", ") {
        none if none.is_empty() => none,
        ports => format!("with {ports}"),
    };
    vec![import.name.clone(), format!("from {}", import.from), with]
}

fn parameter(p: &Parameter) -> Vec<String> {
    vec![
        format!("{} {}", p.type_, p.name),
        format!("= {}", p.value.as_deref().unwrap_or("no value")),
        format!("from {}", p.from),
        sweep(p),
    ]
}

/// Formats `over ... quick ...` on one line. Names the class that gave the sweep if another class
/// gave the value.
fn sweep(p: &Parameter) -> String {
    let mut out = Vec::new();
    if let Some(Values { text, from }) = &p.over {
        out.push(format!("over {text}"));
        // If both sweeps come from one class, it is named once, at the end.
        let goes_on = p.quick.as_ref().is_some_and(|quick| quick.from == *from);
        if *from != p.from && !goes_on {
            out.push(format!("from {from}"));
        }
    }
    if let Some(Values { text, from }) = &p.quick {
        out.push(format!("quick {text}"));
        if *from != p.from {
            out.push(format!("from {from}"));
        }
    }
    out.join(" ")
}

fn member(member: &Member) -> Vec<String> {
    vec![member.declaration.clone(), from(&member.place)]
}

fn from(place: &DefinedAt) -> String {
    let DefinedAt { from, file, line } = place;
    let file = file.rsplit('/').next().unwrap_or(file);
    format!("from {from} ({file}:{line})")
}
