//! Parts of a document in Markdown: CommonMark with GitHub's tables. Each part ends its line; a
//! document has an empty line between its parts.
//!
//! A `line` is Markdown already, made by [`text`], [`code`] and [`strong`]. Other texts may contain
//! any characters.

use pulldown_cmark::{Event, Parser, TagEnd};
use yamba_record::direction::{changes_direction, without_directions};
use yamba_record::machine::details::Fix;

use crate::view::{Part, Section, Span, Table, Text, View};

/// A view as a document whose title is a heading of this level.
pub fn document(view: &View, level: usize) -> String {
    [heading(level, &view.title), sections(&view.sections, level + 1)].concat().join("\n")
}

/// The blocks of sections whose titles are headings of this level.
pub fn sections(all: &[Section], level: usize) -> Vec<String> {
    let named = |section: &Section| {
        let parts = blocks(&section.parts);
        if parts.is_empty() { parts } else { [heading(level, &section.title), parts].concat() }
    };
    all.iter().flat_map(named).collect()
}

fn heading(level: usize, title: &str) -> Vec<String> {
    let is_named = !title.is_empty();
    is_named.then(|| format!("{} {}\n", "#".repeat(level), text(title))).into_iter().collect()
}

fn blocks(parts: &[Part]) -> Vec<String> {
    parts.iter().flat_map(block).collect()
}

/// The blocks of a part. A drawing has none.
fn block(part: &Part) -> Vec<String> {
    match part {
        Part::Line(text) => vec![paragraph(&line(text))],
        Part::List(lines) => vec![list(&lines.iter().map(line).collect::<Vec<_>>())],
        Part::Facts(facts) => {
            let facts =
                facts.iter().map(|(name, value)| format!("{}: {}", line(name), line(value)));
            vec![list(&facts.collect::<Vec<_>>())]
        }
        Part::Fix(Fix::Command(command)) => vec![paragraph(&format!("Fix: {}", code(command)))],
        Part::Fix(Fix::Advice(advice)) => vec![paragraph(&format!("Fix: {}", text(advice)))],
        Part::Table(table) => vec![view_table(table)],
        Part::Markdown(text) => vec![author_markdown(text)],
        Part::Folded(title, parts) => {
            let summary = format!("<details><summary>{}</summary>\n", text(title));
            [&[summary][..], &blocks(parts), &["</details>\n".to_owned()]].concat()
        }
        Part::Charts(_) | Part::HeatMap(_) | Part::Matrix(_) => Vec::new(),
    }
}

fn view_table(shown: &Table) -> String {
    let (titles, rows) = shown.readable();
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.into_iter().map(line).collect()).collect();
    table(&shown.caption, &titles, &rows)
}

/// A text as a line.
fn line(line: &Text) -> String {
    let spans = line.0.iter().map(|span| match span {
        Span::Plain(plain) => text(plain),
        Span::Strong(word) | Span::Mark(_, word) => strong(word),
        Span::Code(name) => code(name),
        Span::History(_) => String::new(),
    });
    spans.collect()
}

/// A paragraph. Escapes a first character that would start another kind of block.
pub fn paragraph(line: &str) -> String {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let starts_block = match rest.chars().next() {
        Some('.' | ')') => digits > 0,
        Some('#' | '+' | '-' | '=' | ':') => digits == 0,
        _ => false,
    };
    format!("{number}{}{rest}\n", if starts_block { "\\" } else { "" })
}

/// A list with one line for each item.
pub fn list(lines: &[String]) -> String {
    let items = lines.iter().map(|line| format!("- {}", paragraph(line)));
    items.collect()
}

/// A table with a caption above it, unless that is empty. The cells are lines.
pub fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = String::new();
    if !caption.is_empty() {
        out = format!("{}\n", paragraph(&text(caption)));
    }
    let head: Vec<String> = head.iter().map(|title| text(title)).collect();
    let rule = vec!["---".to_owned(); head.len()];
    for cells in [&head, &rule].into_iter().chain(rows) {
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// Escapes all characters that are special in Markdown or HTML.
pub fn text(plain: &str) -> String {
    let mut out = String::new();
    for c in plain.chars().filter(|c| !changes_direction(*c)) {
        if "\\`*_[]<>|&~$".contains(c) {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

/// Emphasised text.
pub fn strong(plain: &str) -> String {
    format!("**{}**", text(plain.trim()))
}

/// A figure, which is Markdown already, with its fault in front.
pub fn marked(mark: &str, figure: &str) -> String {
    match figure {
        "" => strong(mark),
        figure => format!("{} ({figure})", strong(mark)),
    }
}

/// A code span, or escaped text if the code contains a character that would end the span or the
/// table cell.
pub fn code(code: &str) -> String {
    let is_simple =
        |c: char| !c.is_control() && !changes_direction(c) && c != '`' && c != '|' && c != '\\';
    if code.trim() == code && !code.is_empty() && code.chars().all(is_simple) {
        format!("`{code}`")
    } else {
        text(code)
    }
}

/// The author's own Markdown. Control characters would act on a terminal that shows it.
pub(crate) fn author_markdown(markdown: &str) -> String {
    let lines = markdown.trim().lines();
    let acts = |c: char| c.is_control() && c != '\t';
    lines.map(|line| without_directions(&line.replace(acts, " ")) + "\n").collect()
}

/// Plain text of Markdown, one text per paragraph, for readers without a Markdown renderer.
pub fn paragraphs(markdown: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(t) | Event::Code(t) | Event::Html(t) | Event::InlineHtml(t) => {
                open.push_str(&t);
            }
            Event::SoftBreak | Event::HardBreak => open.push(' '),
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::CodeBlock,
            ) => {
                all.push(std::mem::take(&mut open));
            }
            _ => {}
        }
    }
    all.push(open);
    all.retain(|paragraph| !paragraph.trim().is_empty());
    all
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::Options;

    use super::*;

    const HOSTILE: &str =
        "a|b `c` <script>x</script> *d* _e_ [f](g) \\ &amp; ~~h~~ $i$ #1 # - {j} \u{1b}[31m\n## k";

    /// The text that a Markdown reader shows, and every element that is not plain text.
    fn seen(markdown: &str) -> (String, Vec<String>) {
        let mut words = String::new();
        let mut other = Vec::new();
        for event in Parser::new_ext(markdown, Options::all()) {
            match event {
                Event::Text(t) => words.push_str(&t),
                Event::Start(_) | Event::End(_) | Event::SoftBreak => {}
                event => other.push(format!("{event:?}")),
            }
        }
        (words, other)
    }

    #[test]
    fn text_escapes_all_special_characters() {
        let (words, other) = seen(&paragraph(&text(HOSTILE)));
        assert_eq!(words, HOSTILE.replace(['\n', '\u{1b}'], " "));
        assert_eq!(other, Vec::<String>::new());
    }

    /// Names come from documents that anyone may have written.
    #[test]
    fn hostile_texts_of_a_view_stay_texts() {
        let hostile = || Text::from(HOSTILE);
        let parts = vec![
            Part::Line(hostile()),
            Part::List(vec![hostile(), Text::code(HOSTILE), Text::strong(HOSTILE)]),
            Part::Facts(vec![(hostile(), hostile())]),
            Part::Fix(Fix::Command(HOSTILE.to_owned())),
            Part::Fix(Fix::Advice(HOSTILE.to_owned())),
            Part::Table(Table::new(&[HOSTILE], [vec![hostile()]]).caption(HOSTILE)),
            Part::Markdown("*author* \u{1b}[31m".to_owned()),
        ];
        let shown = document(&View::new(HOSTILE).section(HOSTILE, parts), 1);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        let (words, other) = seen(&shown);
        assert_eq!(other, Vec::<String>::new());
        let visible = HOSTILE.replace(['\n', '\u{1b}'], " ");
        assert_eq!(words.matches(&visible).count(), 13, "{words}");
        // Nothing but the headings, the list items and the rows that the view has.
        let starts = |start: &str| shown.lines().filter(|l| l.starts_with(start)).count();
        assert_eq!((starts("#"), starts("- "), starts("|")), (2, 4, 3), "{shown}");
    }

    #[test]
    fn names_do_not_change_the_direction_of_text() {
        let name = "a\u{202e}21\u{2066}b";
        assert_eq!([text(name), code(name), strong(name)], ["a21b", "a21b", "**a21b**"]);
        assert_eq!(author_markdown(name), "a21b\n");
    }

    #[test]
    fn paragraphs_are_plain_text() {
        let text = "One *a*\n`b`.\n\n- <b>c</b>\n- [d](e)\n";
        assert_eq!(paragraphs(text), ["One a b.", "<b>c</b>", "d"]);
        assert_eq!(paragraphs("\n"), [""; 0]);
    }

    #[test]
    fn code_span_falls_back_to_text() {
        assert_eq!(code("lat_mem_rd"), "`lat_mem_rd`");
        assert_eq!(code("a`b|c"), "a\\`b\\|c");
        assert_eq!(code("<b>"), "`<b>`");
    }

    #[test]
    fn first_character_of_line_starts_no_block() {
        for first in ["# a", "- a", "+ a", "1. a", "23) a", "=== a", ": a", "> a", "* a"] {
            let (words, other) = seen(&paragraph(&text(first)));
            assert_eq!((words.as_str(), other.len()), (first, 0), "{first}");
        }
    }

    #[test]
    fn cell_content_does_not_split_row() {
        let row = vec![code("p|q"), text(HOSTILE)];
        let text = table("", &["x|y", "z"], &[row]);
        let cells = Parser::new_ext(&text, Options::ENABLE_TABLES)
            .filter(|e| matches!(e, Event::End(pulldown_cmark::TagEnd::TableCell)));
        assert_eq!(cells.count(), 4, "{text}");
    }
}
