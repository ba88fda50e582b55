//! Plans the structs of a composition: one for each layer of each chain, shared where chains begin
//! alike.

use std::collections::BTreeSet;

use yamba_lang::ast::MemberKind;
use yamba_lang::model::{Analysis, ClassId, Composition, Layer};

pub(crate) struct Node<'a> {
    /// Its name in C++.
    pub(crate) name: String,
    /// The class that it implements.
    pub(crate) class: ClassId,
    /// The struct that it inherits from, an index into [`StructPlan::nodes`].
    pub(crate) base: Option<usize>,
    /// The first composition that it belongs to.
    pub(crate) composition: &'a Composition,
    /// Its index in that composition's chain.
    pub(crate) layer: usize,
    /// The nodes of the chain up to and including this one, in the order of `composition.layers`.
    pub(crate) chain: Vec<usize>,
    /// Keys of members that some composition with this node defines. Alternatives without a
    /// definition are left out of the C++.
    pub(crate) defined: BTreeSet<String>,
}

impl Node<'_> {
    /// The layer's imports and references.
    pub(crate) fn layer(&self) -> &Layer {
        &self.composition.layers[self.layer]
    }
}

/// All structs of one variant, each after those that it needs.
pub(crate) struct StructPlan<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    /// The last struct of each part of the composition.
    pub(crate) parts: Vec<usize>,
    /// The last struct of the composition itself.
    pub(crate) main: usize,
}

impl<'a> StructPlan<'a> {
    pub(crate) fn new(analysis: &Analysis, composition: &'a Composition) -> StructPlan<'a> {
        let mut plan = StructPlan { nodes: Vec::new(), parts: Vec::new(), main: 0 };
        for part in &composition.parts {
            let last = plan.add(analysis, part);
            plan.parts.push(last);
        }
        plan.main = plan.add(analysis, composition);
        plan
    }

    fn add(&mut self, analysis: &Analysis, composition: &'a Composition) -> usize {
        let mut chain: Vec<usize> = Vec::new();
        for (index, layer) in composition.layers.iter().enumerate() {
            let base = chain.last().copied();
            let known = self.nodes.iter().position(|n| n.base == base && n.class == layer.class);
            let node = known.unwrap_or_else(|| self.push(analysis, composition, index, base));
            chain.push(node);
            self.nodes[node].chain = chain.clone();
        }
        let defined = defined_keys(analysis, composition);
        for node in &chain {
            self.nodes[*node].defined.extend(defined.iter().cloned());
        }
        chain.last().copied().unwrap_or(0)
    }

    fn push(
        &mut self,
        analysis: &Analysis,
        composition: &'a Composition,
        layer: usize,
        base: Option<usize>,
    ) -> usize {
        let class = composition.layers[layer].class;
        let twins = self.nodes.iter().filter(|n| n.class == class).count();
        let plain = format!("yamba_{}", analysis.class(class).name());
        let name = if twins == 0 { plain } else { format!("{plain}_{}", twins + 1) };
        self.nodes.push(Node {
            name,
            class,
            base,
            composition,
            layer,
            chain: Vec::new(),
            defined: BTreeSet::new(),
        });
        self.nodes.len() - 1
    }

    /// The struct of layer `index` in the chain that ends with `node`.
    pub(crate) fn in_chain(&self, node: &Node, index: usize) -> &Node<'a> {
        &self.nodes[node.chain[index]]
    }
}

fn defined_keys(analysis: &Analysis, composition: &Composition) -> Vec<String> {
    let members = composition.members.iter();
    members
        .filter(|(_, member)| analysis.member(**member).kind.is_definition())
        .map(|(key, _)| key.clone())
        .collect()
}

/// The name of a member that later layers may redefine.
pub(crate) fn member_name(kind: &MemberKind) -> Option<&str> {
    match kind {
        MemberKind::Function { name, .. } | MemberKind::Evidence { name, .. } => Some(&name.text),
        MemberKind::Bitstring(b) => Some(&b.name.text),
        _ => None,
    }
}
