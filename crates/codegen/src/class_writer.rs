//! The layer that is being written, its context, and the file that it is written to.

use std::collections::HashSet;

use yamba_lang::ast::Cpp;

use crate::context::Context;
use crate::plan::{Node, StructPlan, member_name};
use crate::text;
use crate::used::Used;
use crate::virtuals::Virtuals;
use crate::writer::Writer;

/// Writes one class: the class, its context, and the output.
pub(crate) struct ClassWriter<'a, 'o, 'w> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) plan: &'a StructPlan<'a>,
    pub(crate) node: &'a Node<'a>,
    /// Every word of the program's own C++. A bitstring whose name is not among them needs no
    /// wrapper for C++.
    pub(crate) words: &'a HashSet<&'a str>,
    /// Bitstrings that may be composed.
    pub(crate) used: &'a Used<'a>,
    /// Members that are virtual.
    pub(crate) virtuals: &'a Virtuals<'a>,
    /// Labels that terms can name, outermost body first.
    pub(crate) labels: Vec<Vec<String>>,
    pub(crate) out: &'w mut Writer<'o>,
}

impl<'a> ClassWriter<'a, '_, '_> {
    /// The prefix of a member with this name: `virtual ` or nothing.
    pub(crate) fn if_virtual(&self, name: &str) -> &'static str {
        let own = self.node.chain.last().copied().unwrap_or(0);
        if self.virtuals.holds(own, name) { "virtual " } else { "" }
    }

    /// The characters of a piece of C++.
    pub(crate) fn cpp(&self, cpp: Cpp) -> &'a str {
        self.context.analysis.cpp(cpp)
    }

    /// C++ with each `super::x` replaced by the layer that it refers to.
    pub(crate) fn with_super(&self, source: &str) -> String {
        text::replace_super(source, |name| self.super_layer(name))
    }

    /// The struct for `super::NAME`, unless `super`, the struct's base, finds the same definition.
    fn super_layer(&self, name: &str) -> Option<String> {
        let target = *self.node.layer().supers.get(name)?;
        let declares = |layer: &usize| {
            let class = self.context.analysis.class(self.node.composition.layers[*layer].class);
            class.ast.members.iter().any(|m| member_name(&m.kind) == Some(name))
        };
        let nearest = (0..self.node.layer).rev().find(declares);
        (nearest != Some(target)).then(|| self.plan.in_chain(self.node, target).name.clone())
    }

    /// The struct whose `compose_NAME` a `super::NAME` term means.
    pub(crate) fn super_of_term(&self, name: &str) -> String {
        self.super_layer(name).unwrap_or_else(|| "super".to_owned())
    }
}
