//! Writes the terms of a bitstring as calls of the Composer.

use yamba_lang::ast::{Cpp, Ident, Reference, Term, TermKind};
use yamba_lang::source::Span;

use crate::asm::{AssembledBlock, Field};
use crate::class_writer::ClassWriter;
use crate::text::{brief, is_number, quote, replace_offset};
use crate::writer::line;

impl ClassWriter<'_, '_, '_> {
    /// Writes a body, or one repetition of an `unroll`, which has its own labels.
    pub(crate) fn body(&mut self, terms: &[Term]) {
        let mut labels = Vec::new();
        collect_labels(terms, &mut labels);
        for label in &labels {
            line!(self.out; "const yamba::Label {}(yamba_out, {});",
                label_name(label), quote(label));
        }
        self.labels.push(labels);
        self.terms(terms);
        self.labels.pop();
    }

    fn terms(&mut self, terms: &[Term]) {
        for term in terms {
            self.term(term);
        }
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Literal(bits) => self.literal(bits),
            TermKind::Reference(reference) => self.reference(term, reference),
            TermKind::Le(value, bits) => self.call("le", &[*value, *bits], term),
            TermKind::Be(value, bits) => self.call("be", &[*value, *bits], term),
            TermKind::Slice(value, high, low) => self.call("slice", &[*value, *high, *low], term),
            TermKind::Word(bits, terms) => self.word(*bits, terms, term),
            TermKind::Asm(_) => self.asm(term),
            TermKind::Unroll { init, condition, step, body } => {
                self.unroll([*init, *condition, *step], body)
            }
            TermKind::If { condition, then, otherwise } => self.choice(*condition, then, otherwise),
            TermKind::Label(name) => line!(self.out; "{}.place();", label_name(&name.text)),
            TermKind::Rel(name, bits) => self.relative(name, *bits, term),
            TermKind::Align(bytes) => self.align(*bytes, term),
            TermKind::Abs(function, bits) => self.absolute(*function, *bits, term),
        }
    }

    fn literal(&mut self, bits: &[bool]) {
        if bits.is_empty() {
            return;
        }
        if bits.len() <= 64 {
            let value = bits.iter().fold(0u64, |v, b| v << 1 | u64::from(*b));
            let digits = bits.len().div_ceil(4);
            line!(self.out; "yamba_out.put(0x{value:0digits$X}u, {});", bits.len());
            return;
        }
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|c| c.iter().enumerate().fold(0, |v, (i, b)| v | u8::from(*b) << (7 - i)))
            .collect();
        self.out.open("{");
        self.byte_array(&bytes);
        line!(self.out; "yamba_out.literal(yamba_bytes, {});", bits.len());
        self.out.close("}");
    }

    fn byte_array(&mut self, bytes: &[u8]) {
        self.out.open("static constexpr unsigned char yamba_bytes[] = {");
        for row in bytes.chunks(16) {
            let row: Vec<String> = row.iter().map(|b| format!("0x{b:02X}")).collect();
            line!(self.out; "{},", row.join(", "));
        }
        self.out.close("};");
    }

    /// Writes a C++ expression with labels and `super` resolved. A plain number needs no `#line`.
    fn expression(&mut self, value: Cpp, after: &str) {
        let text = self.rewritten(value);
        if is_number(&text) {
            line!(self.out; "{text}{after}");
        } else {
            self.out.user(value.span, &(text + after));
        }
    }

    fn rewritten(&self, value: Cpp) -> String {
        let text = self.with_super(self.cpp(value));
        replace_offset(&text, |name| {
            let known = self.labels.iter().any(|scope| scope.iter().any(|l| l == name));
            let site = self.site(&format!("offset({name})"), value.span);
            known.then(|| format!("yamba::offset({}, {site})", label_name(name)))
        })
    }

    /// `{"le(index * 8, 32)", "suite/pagefault.yamba", 31}`.
    fn site(&self, text: &str, span: Span) -> String {
        let sources = &self.context.analysis.sources;
        let path = quote(&sources.file(span.file).path);
        format!("{{{}, {path}, {}}}", quote(&brief(text)), sources.line_column(span).line)
    }

    fn site_of(&self, span: Span) -> String {
        self.site(self.context.analysis.text(span), span)
    }

    /// `yamba_out.FUNCTION(ARGUMENTS, SITE);`
    fn call(&mut self, function: &str, arguments: &[Cpp], term: &Term) {
        let site = self.site_of(term.span);
        line!(self.out; "yamba_out.{function}(");
        for argument in arguments {
            self.expression(*argument, ",");
        }
        line!(self.out; "{site});");
    }

    fn reference(&mut self, term: &Term, reference: &Reference) {
        let name = &reference.name.text;
        let callee = match (&reference.class, reference.is_super) {
            (_, true) => format!("{}::compose_{name}", self.super_of_term(name)),
            (Some(class), _) => format!("{}compose_{name}", self.owner(class)),
            (None, _) => format!("compose_{name}"),
        };
        let arguments = reference.args.as_deref().unwrap_or_default();
        if arguments.is_empty() {
            line!(self.out; "{callee}(yamba_out);");
            return;
        }
        let site = self.site_of(term.span);
        line!(self.out; "{callee}(yamba_out");
        for argument in arguments {
            if is_number(&self.rewritten(*argument)) {
                let number = self.rewritten(*argument);
                line!(self.out; ", yamba::argument(yamba_out, {number}, {site})");
                continue;
            }
            self.out.line(", yamba::argument(yamba_out,");
            self.expression(*argument, ",");
            line!(self.out; "{site})");
        }
        self.out.line(");");
    }

    /// The object before the dot: an import, or a class of the chain itself.
    fn owner(&self, class: &Ident) -> String {
        let node = self.node;
        let imports = |layer: usize| {
            node.composition.layers[layer].imports.iter().any(|(n, _)| *n == class.text)
        };
        if (0..=node.layer).any(imports) {
            return format!("{}.", class.text);
        }
        let own = node
            .chain
            .iter()
            .map(|n| &self.plan.nodes[*n])
            .find(|n| self.context.analysis.class(n.class).name() == class.text);
        own.map_or_else(|| format!("{}.", class.text), |n| format!("{}::", n.name))
    }

    fn word(&mut self, bits: Cpp, terms: &[Term], term: &Term) {
        let head = Span { end: term.span.start, ..term.span };
        let site = self.site(&format!("word({})", self.cpp(bits)), head);
        self.out.open("{");
        self.out.line("const yamba::Word yamba_word(yamba_out,");
        self.expression(bits, ",");
        line!(self.out; "{site});");
        self.terms(terms);
        self.out.close("}");
    }

    fn unroll(&mut self, header: [Cpp; 3], body: &[Term]) {
        self.out.line("for (");
        for (part, after) in header.into_iter().zip([";", ";", ""]) {
            let text = self.rewritten(part) + after;
            if text.is_empty() {
                continue;
            }
            self.out.user(part.span, &text);
        }
        self.out.line(")");
        self.out.open("{");
        self.out.line("yamba_out.turn();");
        self.body(body);
        self.out.close("}");
    }

    fn choice(&mut self, condition: Cpp, then: &[Term], otherwise: &[Term]) {
        self.out.line("if (");
        let text = self.rewritten(condition);
        self.out.user(condition.span, &text);
        self.out.line(")");
        self.out.open("{");
        self.terms(then);
        if !otherwise.is_empty() {
            self.out.reopen("} else {");
            self.terms(otherwise);
        }
        self.out.close("}");
    }

    fn relative(&mut self, name: &Ident, bits: Cpp, term: &Term) {
        let site = self.site_of(term.span);
        line!(self.out; "yamba_out.rel({},", label_name(&name.text));
        self.expression(bits, ",");
        line!(self.out; "{site});");
    }

    fn align(&mut self, bytes: Cpp, term: &Term) {
        let site = self.site_of(term.span);
        self.out.line("yamba_out.align(");
        self.expression(bytes, ",");
        line!(self.out; "yamba_pad, {site});");
    }

    fn absolute(&mut self, function: Cpp, bits: Cpp, term: &Term) {
        let site = self.site_of(term.span);
        self.out.line("yamba_out.le(reinterpret_cast<uintptr_t>(&");
        self.expression(function, "),");
        self.expression(bits, ",");
        line!(self.out; "{site});");
    }

    fn asm(&mut self, term: &Term) {
        let TermKind::Asm(block) = &term.kind else {
            return;
        };
        for line in self.context.analysis.text(block.body).lines().filter(|l| !l.trim().is_empty())
        {
            let line = format!("// {}", line.trim());
            self.out.line(line.trim_end_matches(['\\', ' ']));
        }
        let Some(assembled) = self.context.blocks.get(&block.body).copied() else {
            // Without assembled blocks the text is only compared or checked. The expressions in
            // holes must still be compiled.
            for hole in block.holes() {
                self.out.line("static_cast<void>(");
                self.expression(hole, ");");
            }
            return;
        };
        if assembled.bytes.is_empty() {
            return;
        }
        self.out.open("{");
        self.byte_array(&assembled.bytes);
        self.out.line("yamba_out.block(yamba_bytes, sizeof yamba_bytes);");
        for (index, hole) in block.holes().enumerate() {
            self.hole(assembled, index, hole);
        }
        self.out.close("}");
    }

    fn hole(&mut self, assembled: &AssembledBlock, index: usize, hole: Cpp) {
        let Field { min, max, multiple, bias, bits } = &assembled.fields[index];
        let parts: Vec<String> = bits
            .iter()
            .map(|b| format!("{{{}, {}, {}}}", b.value_bit, b.block_bit, b.count))
            .collect();
        line!(self.out; "static constexpr yamba::FieldBits yamba_bits_{index}[] = {{{}}};",
            parts.join(", "));
        let min = if *min == i64::MIN { "INT64_MIN".to_owned() } else { min.to_string() };
        let field =
            format!("{{{min}, {max}u, {multiple}u, {bias}, yamba_bits_{index}, {}}}", bits.len());
        line!(self.out; "static constexpr yamba::Field yamba_field_{index} = {field};");
        let site = self.site(&format!("${{{}}}", self.cpp(hole)), hole.span);
        line!(self.out; "yamba_out.hole(yamba_field_{index},");
        self.expression(hole, ",");
        line!(self.out; "{site});");
    }
}

fn label_name(label: &str) -> String {
    format!("yamba_label_{label}")
}

/// Collects the labels of a body, except those inside an `unroll`, which are local to each
/// repetition.
fn collect_labels(terms: &[Term], labels: &mut Vec<String>) {
    for term in terms {
        match &term.kind {
            TermKind::Label(name) if !labels.contains(&name.text) => labels.push(name.text.clone()),
            TermKind::Unroll { .. } => {}
            _ => {
                for block in term.blocks() {
                    collect_labels(block, labels);
                }
            }
        }
    }
}
