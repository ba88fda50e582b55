//! Diagnostics as plain text for expectation files. The binary renders them with more detail.

use yamba_lang::source::{SourceMap, Span};
use yamba_lang::{Diagnostic, Label, Severity};

/// All messages in order, separated by blank lines.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let messages: Vec<String> = diagnostics.iter().map(|d| message(sources, d)).collect();
    messages.join("\n")
}

fn message(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{severity}[{}]: {}\n", diagnostic.code, diagnostic.message);
    out += &place(sources, &diagnostic.primary, '^');
    for label in &diagnostic.secondary {
        out += &place(sources, label, '-');
    }
    if let Some(help) = &diagnostic.help {
        out += &format!("  help: {help}\n");
    }
    out
}

/// The position, its line, and an underline of the range (to the end of its first line).
fn place(sources: &SourceMap, label: &Label, mark: char) -> String {
    let Span { file, start, end } = label.span;
    let at = sources.line_column(label.span);
    let line = sources.line_span(file, at.line).expect("the line of a place");
    // Control characters are replaced, since they would make the expectation file binary.
    let visible = |c: char| {
        if c.is_control() && c != '\t' { '\u{fffd}' } else { c }
    };
    let text: String = sources.text(line).trim_end().chars().map(visible).collect();
    let shown_end = end.min(line.end).max(start);
    let marked =
        sources.text(Span { file, start, end: shown_end }).trim_end().chars().count().max(1);
    let lead: String = text
        .chars()
        .chain(std::iter::repeat(' '))
        .take(at.column as usize - 1)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let underline = std::iter::repeat_n(mark, marked).collect::<String>();
    let path = &sources.file(file).path;
    let position = format!("  {path}:{}:{}\n", at.line, at.column);
    let shown = format!("    | {text}\n");
    let below = format!("    | {lead}{underline} {}", label.text);
    format!("{position}{shown}{}\n", below.trim_end())
}
