//! Writes one layer of a chain as a struct.

use yamba_lang::{Analysis, ClassId};

use crate::class_writer::ClassWriter;
use crate::members;
use crate::writer::{line, open};

/// Tag of imported classes that are never timed. They are compiled without optimisation, which
/// takes half as long.
const COLD: &str = "cold";

/// Writes the struct.
pub(crate) fn write(w: &mut ClassWriter) {
    let class = w.context.analysis.class(w.node.class);
    let base = w.node.base.map(|b| w.plan.nodes[b].name.clone());
    w.out.line("");
    w.out.doc(&class.ast.doc);
    let inherits = base.as_ref().map_or(String::new(), |b| format!(" : {b}"));
    let is_cold = is_cold(w);
    if is_cold {
        w.out.line("YAMBA_COLD_BEGIN");
    }
    open!(w.out; "struct {}{inherits} {{", w.node.name);
    match base {
        Some(base) => line!(w.out; "using super = {base};"),
        None => line!(w.out; "virtual ~{}() = default;", w.node.name),
    }
    for (name, part) in &w.node.layer().imports {
        let part = &w.plan.nodes[w.plan.parts[*part]].name;
        line!(w.out; "{part} {name};");
    }
    for member in &class.ast.members {
        members::write(w, member);
    }
    w.out.close("};");
    if is_cold {
        w.out.line("YAMBA_COLD_END");
    }
}

/// Whether the class is only imported and has the tag [`COLD`].
fn is_cold(w: &ClassWriter) -> bool {
    let is_imported = w.node.composition.class != w.context.program.class;
    is_imported && says_cold(w.context.analysis, w.node.class)
}

/// Whether the class, or the class that it ports, has the tag. A class that extends a cold one may
/// time its own members.
fn says_cold(analysis: &Analysis, class: ClassId) -> bool {
    let class = analysis.class(class);
    let ported = class.parent.filter(|_| class.is_port);
    class.ast.tags().any(|tag| tag == COLD) || ported.is_some_and(|base| says_cold(analysis, base))
}
