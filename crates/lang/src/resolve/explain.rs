//! Texts about missing members, for `list`, `explain`, `check` and the generated program.

use super::members::key;
use crate::ast::MemberKind;
use crate::model::{Analysis, ClassId, Gap, MemberRef};

impl Analysis {
    /// A member as a declaration: `bitstring touch(unsigned int index)`.
    pub fn declaration(&self, member: MemberRef) -> String {
        let member = self.member(member);
        let body = member.kind.body();
        let end = body.map_or(member.span.end, |body| body.span.start - 1);
        let text =
            &self.sources.file(member.span.file).text[member.span.start as usize..end as usize];
        let text = match &member.kind {
            MemberKind::Bitstring(_) => text.split_once('{').map_or(text, |(head, _)| head),
            _ => text,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ").trim_end_matches(';').trim_end().to_owned()
    }

    /// A one-line description of a gap.
    pub fn gap_text(&self, gap: &Gap) -> String {
        match gap {
            Gap::Missing(member) => self.declaration(*member),
            Gap::Ambiguous { name, definitions } => {
                let names: Vec<&str> =
                    definitions.iter().map(|m| self.class(m.class).name()).collect();
                format!(
                    "`{name}` is defined by {}, none more specific than the others",
                    names.join(" and ")
                )
            }
            Gap::ImportAbsent { importer, imported, needs } => {
                format!(
                    "`{}` imports `{}`, which needs {needs}",
                    self.class(*importer).name(),
                    self.class(*imported).name()
                )
            }
            Gap::ImportCycle { importer, imported } => {
                format!(
                    "`{}` and `{}` import each other",
                    self.class(*importer).name(),
                    self.class(*imported).name()
                )
            }
        }
    }

    /// The condition under which a class exists or a port applies, as source text; `any platform`
    /// without a condition.
    pub fn condition_text(&self, class: ClassId) -> String {
        let formula = if self.class(class).is_port {
            &self.index.applies[class.0]
        } else {
            &self.index.exists[class.0]
        };
        crate::condition::show(formula)
    }

    /// The key of a member in [`crate::model::Composition::members`]: its name, and for a function
    /// its parameter types.
    pub fn key(&self, kind: &MemberKind) -> Option<String> {
        key(&self.sources, kind).map(|key| key.to_string())
    }

    /// The name of a member, if it has one.
    pub fn member_name(&self, member: MemberRef) -> Option<&str> {
        self.member(member).kind.name().map(|n| n.text.as_str())
    }
}
