//! Identity and properties of members.

use std::fmt;

use crate::ast::{MemberKind, Parameter};
use crate::cpp;
use crate::source::SourceMap;

/// The identity of a member within a chain: its name, and for a function its parameter types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    name: String,
    types: Option<Vec<String>>,
}

impl Key {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.types {
            None => f.write_str(&self.name),
            Some(types) => write!(f, "{}({})", self.name, types.join(", ")),
        }
    }
}

/// The key of a member that can be redefined. `None` for imports, assignments, bounds, charts, tags
/// and native blocks.
pub(crate) fn key(sources: &SourceMap, kind: &MemberKind) -> Option<Key> {
    let types = match kind {
        MemberKind::Function { params, .. } => Some(types(sources, params)),
        MemberKind::State { .. } | MemberKind::Bitstring(_) | MemberKind::Evidence { .. } => None,
        _ => return None,
    };
    kind.name().map(|name| Key { name: name.text.clone(), types })
}

/// The normalised types of parameters.
pub(crate) fn types(sources: &SourceMap, params: &[Parameter]) -> Vec<String> {
    let suffix = |p: &Parameter| p.suffix.map_or("", |s| sources.text(s.span));
    params
        .iter()
        .map(|p| cpp::normalised(&format!("{} {}", sources.text(p.ty.span), suffix(p))))
        .collect()
}

/// The noun for a kind of member in messages.
pub(crate) fn noun(kind: &MemberKind) -> &'static str {
    match kind {
        MemberKind::Import(_) => "an import",
        MemberKind::Param(_) => "a parameter",
        MemberKind::Assign { .. } => "a value",
        MemberKind::State { .. } => "state",
        MemberKind::Function { .. } => "a function",
        MemberKind::Bitstring(b) if b.signature.is_some() => "a callable bitstring",
        MemberKind::Bitstring(_) => "a bitstring",
        MemberKind::Evidence { .. } => "an evidence",
        MemberKind::Bound { .. } => "a physical bound",
        MemberKind::Requires(_) => "a condition on parameters",
        MemberKind::Chart(_) => "a chart",
        MemberKind::StandsFor(_) => "the name of a primitive",
        MemberKind::Tags(_) => "tags",
        MemberKind::Compile(_) => "a `compile` clause",
        MemberKind::Native(_) => "native code",
    }
}

/// Whether `name` occurs as a word in a piece of C++.
pub(crate) fn name_of(text: &str, name: &str) -> bool {
    cpp::tokens(text)
        .iter()
        .any(|t| t.kind == cpp::CppTokenKind::Word && &text[t.range.clone()] == name)
}
