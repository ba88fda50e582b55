//! Checks composed bitstrings statically: their length is a multiple of 8 bits, and composition
//! terminates.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Bitstring, Cpp, MemberKind, Reference, Term, TermKind};
use crate::cpp;
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Composition, MemberRef};

/// Checks every bitstring of a composition, and those of its parts that it uses.
pub(super) fn check(analysis: &Analysis, composition: &Composition, found: &mut Vec<Diagnostic>) {
    let mut shapes = Shapes {
        analysis,
        whole: composition,
        lengths: BTreeMap::new(),
        open: Vec::new(),
        endless: BTreeSet::new(),
        is_guarded: false,
        found,
    };
    for (layer, l) in composition.layers.iter().enumerate() {
        for (member, m) in analysis.members(l.class) {
            let MemberKind::Bitstring(bitstring) = &m.kind else {
                continue;
            };
            let place = Definition { part: None, layer, member };
            let length = shapes.length(place);
            if bitstring.signature.is_some() {
                shapes.callable(bitstring, length);
            }
        }
    }
}

/// A definition within a composition (`part: None`) or within one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    part: Option<usize>,
    layer: usize,
    member: MemberRef,
}

/// The known part of a length in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Exactly(u64),
    /// The length modulo 8.
    Modulo(u64),
    Unknown,
}

impl Length {
    fn modulo(self) -> Option<u64> {
        match self {
            Length::Exactly(n) => Some(n % 8),
            Length::Modulo(m) => Some(m),
            Length::Unknown => None,
        }
    }

    fn then(self, next: Length) -> Length {
        match (self, next) {
            (Length::Exactly(a), Length::Exactly(b)) => {
                a.checked_add(b).map_or(Length::Unknown, Length::Exactly)
            }
            (a, b) => match (a.modulo(), b.modulo()) {
                (Some(a), Some(b)) => Length::Modulo((a + b) % 8),
                _ => Length::Unknown,
            },
        }
    }

    fn either(self, other: Length) -> Length {
        match (self, other) {
            (a, b) if a == b => a,
            (a, b) if a.modulo().is_some() && a.modulo() == b.modulo() => {
                Length::Modulo(a.modulo().unwrap_or(0))
            }
            _ => Length::Unknown,
        }
    }
}

struct Shapes<'a, 'b> {
    analysis: &'a Analysis,
    whole: &'a Composition,
    lengths: BTreeMap<Definition, Length>,
    /// The definitions that are currently being composed, on a path without `if` or `unroll`.
    open: Vec<Definition>,
    endless: BTreeSet<Definition>,
    /// Whether the terms are inside an `if` or `unroll`, where only lengths that are already known
    /// count.
    is_guarded: bool,
    found: &'b mut Vec<Diagnostic>,
}

impl<'a> Shapes<'a, '_> {
    fn composition(&self, part: Option<usize>) -> &'a Composition {
        part.map_or(self.whole, |p| &self.whole.parts[p])
    }

    fn bitstring(&self, place: Definition) -> Option<&'a Bitstring> {
        match &self.analysis.member(place.member).kind {
            MemberKind::Bitstring(bitstring) => Some(bitstring),
            _ => None,
        }
    }

    fn length(&mut self, place: Definition) -> Length {
        if let Some(known) = self.lengths.get(&place) {
            return *known;
        }
        let Some(body) = self.bitstring(place).and_then(|b| b.body.as_ref()) else {
            return Length::Unknown;
        };
        if let Some(start) = self.open.iter().position(|p| *p == place) {
            self.report_endless(start);
            return Length::Unknown;
        }
        if self.open.len() > 200 {
            return Length::Unknown; // the depth limit at run time applies instead
        }
        self.open.push(place);
        let length = self.terms(place, body);
        self.open.pop();
        self.lengths.insert(place, length);
        length
    }

    fn report_endless(&mut self, start: usize) {
        let circle = self.open[start..].to_vec();
        let Some(first) = circle.iter().min().copied() else {
            return;
        };
        let name = |p: &Definition| self.bitstring(*p).map(|b| b.name.clone());
        let (Some(ident), names) =
            (name(&first), circle.iter().filter_map(name).collect::<Vec<_>>())
        else {
            return;
        };
        if self.endless.insert(first) {
            let mut shown: Vec<&str> = names.iter().map(|n| n.text.as_str()).collect();
            shown.extend(names.first().map(|n| n.text.as_str()));
            self.found.push(error!("endless-bitstring" at ident.span,
                "composing `{ident}` never ends: {}", shown.join(" -> ");
                help "a bitstring may refer to itself only inside an `if` or `unroll` that ends"));
        }
    }

    fn terms(&mut self, place: Definition, terms: &'a [Term]) -> Length {
        let mut sum = Length::Exactly(0);
        for term in terms {
            let length = self.term(place, term);
            sum = sum.then(length);
        }
        sum
    }

    fn term(&mut self, place: Definition, term: &'a Term) -> Length {
        match &term.kind {
            TermKind::Literal(bits) => Length::Exactly(bits.len() as u64),
            TermKind::Le(_, bits)
            | TermKind::Be(_, bits)
            | TermKind::Rel(_, bits)
            | TermKind::Abs(_, bits) => self.width(*bits),
            TermKind::Slice(_, high, low) => match (self.constant(*high), self.constant(*low)) {
                (Some(h), Some(l)) if h >= l && h - l < 64 => Length::Exactly((h - l + 1) as u64),
                _ => Length::Unknown,
            },
            TermKind::Word(bits, _) if self.is_guarded => self.width(*bits),
            TermKind::Word(bits, inner) => self.word(place, *bits, inner, term),
            TermKind::Asm(_) => Length::Modulo(0),
            TermKind::Label(_) => Length::Exactly(0),
            TermKind::Align(_) => Length::Unknown,
            TermKind::Reference(reference) => match self.target(place, reference) {
                Some(target) if self.is_guarded => {
                    self.lengths.get(&target).copied().unwrap_or(Length::Unknown)
                }
                Some(target) => self.length(target),
                None => Length::Unknown,
            },
            TermKind::Unroll { body, .. } => match self.guarded(place, body).modulo() {
                Some(0) => Length::Modulo(0),
                _ => Length::Unknown,
            },
            TermKind::If { then, otherwise, .. } => {
                self.guarded(place, then).either(self.guarded(place, otherwise))
            }
        }
    }

    /// Terms that are composed conditionally: a cycle through them may terminate.
    fn guarded(&mut self, place: Definition, terms: &'a [Term]) -> Length {
        let outer = std::mem::replace(&mut self.is_guarded, true);
        let length = self.terms(place, terms);
        self.is_guarded = outer;
        length
    }

    fn constant(&self, cpp: Cpp) -> Option<i128> {
        cpp::constant_integer(self.analysis.cpp(cpp))
    }

    fn width(&self, bits: Cpp) -> Length {
        self.constant(bits)
            .and_then(|b| u64::try_from(b).ok())
            .map_or(Length::Unknown, Length::Exactly)
    }

    fn word(&mut self, place: Definition, bits: Cpp, inner: &'a [Term], term: &Term) -> Length {
        let (width, content) = (self.width(bits), self.terms(place, inner));
        if let (Length::Exactly(width), Length::Exactly(content)) = (width, content)
            && width != content
        {
            self.found.push(error!("word-length" at term.span,
                "the terms of this word give {content} bits, not {width}";
                help "the fields of a word add up to its width"));
        }
        width
    }

    /// The definition that a reference resolves to here.
    fn target(&self, place: Definition, reference: &Reference) -> Option<Definition> {
        let composition = self.composition(place.part);
        let name = &reference.name.text;
        if reference.is_super {
            let layer = *composition.layers[place.layer].supers.get(name)?;
            let class = composition.layers[layer].class;
            return Some(Definition {
                part: place.part,
                layer,
                member: super::lookup::own(self.analysis, class, name)?,
            });
        }
        let part = match &reference.class {
            None => place.part,
            Some(class) => Some(self.import(composition, place.layer, &class.text)?),
        };
        let composition = self.composition(part);
        let member = *composition.members.get(name)?;
        let layer = composition.layers.iter().position(|l| l.class == member.class)?;
        Some(Definition { part, layer, member })
    }

    fn import(&self, composition: &Composition, layer: usize, name: &str) -> Option<usize> {
        composition.layers[..=layer]
            .iter()
            .rev()
            .find_map(|l| l.imports.iter().find(|(n, _)| n == name).map(|(_, part)| *part))
    }

    fn callable(&mut self, bitstring: &Bitstring, length: Length) {
        let Some(rest @ 1..) = length.modulo() else {
            return;
        };
        let shown = if let Length::Exactly(n) = length {
            format!("{n} bit{}", if n == 1 { "" } else { "s" })
        } else {
            format!("a length with {rest} bits beyond a byte")
        };
        self.found.push(error!("partial-bytes" at bitstring.name.span,
            "`{}` can be called, but has {shown}, which is no whole number of bytes",
            bitstring.name.text;
            help "instructions are whole bytes: look for a literal that lacks a digit"));
    }
}
