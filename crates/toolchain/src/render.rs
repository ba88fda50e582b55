//! Renders diagnostics for a person: place and message, the source line with the fault underlined,
//! and the help text.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use yamba_lang::diagnostic::{Diagnostic, Label, Severity};
use yamba_lang::source::{FileId, SourceMap};

/// Labels at least this many lines apart are shown as separate snippets, because rendering time
/// grows with snippet length.
const FAR: u32 = 200;

/// Renders `diagnostics` in the order given. An empty line follows each.
pub fn diagnostics(sources: &SourceMap, diagnostics: &[Diagnostic], colour: bool) -> String {
    diagnostics.iter().map(|d| diagnostic(sources, d, colour)).collect()
}

/// Renders one diagnostic. The first line is `FILE:LINE:COLUMN: error[KIND]: MESSAGE`, which
/// editors and terminals recognize.
pub fn diagnostic(sources: &SourceMap, d: &Diagnostic, colour: bool) -> String {
    let mut group = Group::with_level(level(d.severity));
    for piece in pieces(sources, d) {
        group = group.element(piece.snippet(sources));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut out = header(sources, d, colour);
    out.push_str(renderer.render(&[group]).trim_end());
    if let Some(help) = &d.help {
        let help = help.replace('\n', "\n      ");
        out.push_str(&format!("\n{}: {help}", paint("help", "\x1b[1;96m", colour)));
    }
    out.push_str("\n\n");
    out
}

/// `2 errors, 1 warning`; `None` without errors and warnings.
pub fn summary(diagnostics: &[Diagnostic]) -> Option<String> {
    let errors = count(diagnostics, Severity::Error, "error");
    let warnings = count(diagnostics, Severity::Warning, "warning");
    match (errors, warnings) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(one),
        (Some(errors), Some(warnings)) => Some(format!("{errors}, {warnings}")),
    }
}

fn count(diagnostics: &[Diagnostic], severity: Severity, name: &str) -> Option<String> {
    match diagnostics.iter().filter(|d| d.severity == severity).count() {
        0 => None,
        1 => Some(format!("1 {name}")),
        n => Some(format!("{n} {name}s")),
    }
}

fn header(sources: &SourceMap, d: &Diagnostic, colour: bool) -> String {
    let place = sources.line_column(d.primary.span);
    let path = &sources.file(d.primary.span.file).path;
    let (word, style) = match d.severity {
        Severity::Error => ("error", "\x1b[1;91m"),
        Severity::Warning => ("warning", "\x1b[1;33m"),
    };
    let kind = paint(&format!("{word}[{}]", d.code), style, colour);
    let message = paint(&visible(&d.message), "\x1b[1m", colour);
    format!("{}:{}:{}: {kind}: {message}\n", visible(path), place.line, place.column)
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    }
}

fn paint(text: &str, style: &str, colour: bool) -> String {
    if colour { format!("{style}{text}\x1b[0m") } else { text.to_string() }
}

/// Replaces control characters, which a compiler's message or a file name may hold, so that they do
/// not reach the terminal.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// Consecutive lines of one file with the labels in them.
struct Piece<'a> {
    file: FileId,
    /// First and last line, from 1.
    lines: (u32, u32),
    labels: Vec<(AnnotationKind, &'a Label)>,
    /// Whether it holds the primary label, whose path the header already names.
    is_primary: bool,
}

fn pieces<'a>(sources: &SourceMap, d: &'a Diagnostic) -> Vec<Piece<'a>> {
    let mut pieces = vec![Piece::new(sources, AnnotationKind::Primary, &d.primary, true)];
    for label in &d.secondary {
        let new = Piece::new(sources, AnnotationKind::Context, label, false);
        match pieces.iter_mut().find(|p| p.is_near(&new)) {
            Some(piece) => piece.join(new),
            None => pieces.push(new),
        }
    }
    pieces
}

impl<'a> Piece<'a> {
    fn new(
        sources: &SourceMap,
        kind: AnnotationKind,
        label: &'a Label,
        is_primary: bool,
    ) -> Piece<'a> {
        let first = sources.line_column(label.span).line;
        let last = sources.line_column(label.span.after()).line;
        Piece {
            file: label.span.file,
            lines: (first, last),
            labels: vec![(kind, label)],
            is_primary,
        }
    }

    fn is_near(&self, other: &Piece) -> bool {
        self.file == other.file
            && other.lines.0 <= self.lines.1.saturating_add(FAR)
            && self.lines.0 <= other.lines.1.saturating_add(FAR)
    }

    fn join(&mut self, other: Piece<'a>) {
        self.lines = (self.lines.0.min(other.lines.0), self.lines.1.max(other.lines.1));
        self.labels.extend(other.labels);
    }

    fn snippet<'s>(self, sources: &'s SourceMap) -> Snippet<'s, Annotation<'s>>
    where
        'a: 's,
    {
        let range = self.range(sources);
        let file = sources.file(self.file);
        let path = (!self.is_primary).then_some(file.path.as_str());
        Snippet::source(&file.text[range.clone()])
            .line_start(self.lines.0 as usize)
            .path(path)
            .annotations(
                self.labels.into_iter().map(|(kind, label)| annotation(kind, label, range.start)),
            )
    }

    fn range(&self, sources: &SourceMap) -> Range<usize> {
        let start = sources.line_span(self.file, self.lines.0).map_or(0, |s| s.start);
        let end = sources.line_span(self.file, self.lines.1).map_or(start, |s| s.end);
        start as usize..end as usize
    }
}

fn annotation(kind: AnnotationKind, label: &Label, offset: usize) -> Annotation<'_> {
    let start = label.span.start as usize - offset;
    let end = label.span.end as usize - offset;
    let text = (!label.text.is_empty()).then_some(label.text.as_str());
    kind.span(start..end).label(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use yamba_lang::source::Span;

    fn show(
        text: &str,
        start: u32,
        end: u32,
        extra: impl Fn(FileId, Diagnostic) -> Diagnostic,
    ) -> String {
        let mut sources = SourceMap::default();
        let file = sources.add("a.yamba", text);
        let span = Span { file, start, end };
        let d = extra(file, Diagnostic::error("some-kind", span, "this is wrong"));
        diagnostics(&sources, &[d], false)
    }

    #[test]
    fn place_sentence_underline_and_help() {
        let shown = show("yamba x\n{\n    import(foo);\n}\n", 21, 24, |_, d| {
            d.here("not known").help("write `bar`")
        });
        assert_eq!(
            shown,
            "a.yamba:3:12: error[some-kind]: this is wrong\n  |\n3 |     import(foo);\n  |            ^^^ not known\nhelp: write `bar`\n\n"
        );
    }

    #[test]
    fn tabs_and_wide_characters_keep_the_underline_in_place() {
        let shown = show("\té日 x\n", 7, 8, |_, d| d);
        assert!(shown.starts_with("a.yamba:1:5:"), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[2], "1 |     é日 x");
        assert_eq!(lines[3], "  |         ^");
    }

    #[test]
    fn empty_range_at_end_of_text_is_marked() {
        for text in ["", "yamba x {", "yamba x {\n", "yamba x {\r\n"] {
            let end = text.len() as u32;
            let shown = show(text, end, end, |_, d| d);
            assert!(shown.contains('^'), "{text:?}: {shown}");
        }
    }

    #[test]
    fn distant_secondary_label_has_its_own_excerpt() {
        let text = format!("a\n{}b\n", "\n".repeat(1000));
        let end = text.len() as u32;
        let shown = show(&text, 0, 1, |file, d| {
            let span = Span { file, start: end - 2, end: end - 1 };
            d.also(span, "first here")
        });
        assert!(shown.contains("a.yamba:1002:1"), "{shown}");
        assert!(shown.lines().count() < 12, "{shown}");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut sources = SourceMap::default();
        let file = sources.add("a\x1b[31m.yamba", "\x1b[31mx\n");
        let span = Span { file, start: 0, end: 6 };
        let d = Diagnostic::error("k", span, "bad \x1b[0m");
        assert!(!diagnostics(&sources, &[d], false).contains('\x1b'));
    }
}
