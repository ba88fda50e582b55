//! Formats a document as Markdown: CommonMark with GitHub's tables.

use pulldown_cmark::{Event, Parser, TagEnd};

use crate::document::{Block, Document, Line, Span, Table};

/// Formats the whole document.
pub fn markdown(document: &Document) -> String {
    let mut out = format!("# {}\n", text(&document.title));
    for block in &document.blocks {
        out.push('\n');
        out.push_str(&block_text(block));
    }
    out
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Section(title) => format!("## {}\n", text(title)),
        Block::Written(markdown) => format!("{}\n", markdown.trim()),
        Block::Paragraph(paragraph) => format!("{}\n", own_line(paragraph)),
        Block::List(items) => items
            .iter()
            .map(|i| format!("- {}\n", own_line(i)))
            .collect(),
        Block::Table(table) => table_text(table),
    }
}

fn table_text(table: &Table) -> String {
    let mut out = String::new();
    if !table.caption.is_empty() {
        out.push_str(&format!(
            "{}\n\n",
            own_line(&vec![Span::Plain(table.caption.clone())])
        ));
    }
    let heads: Vec<String> = table.head.iter().map(|h| text(h)).collect();
    out.push_str(&row(&heads));
    out.push_str(&row(&vec!["---".to_owned(); heads.len()]));
    for cells in &table.rows {
        let cells: Vec<String> = cells.iter().map(line).collect();
        out.push_str(&row(&cells));
    }
    out
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Formats a line at the start of a paragraph or an item. Escapes a first character that would start another kind of block.
fn own_line(spans: &Line) -> String {
    let line = line(spans);
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let after = line[digits..].chars().next();
    match after {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &line[..digits], &line[digits..]),
        Some('#' | '+' | '-' | '=' | ':') if digits == 0 => format!("\\{line}"),
        _ => line,
    }
}

fn line(spans: &Line) -> String {
    spans
        .iter()
        .map(|span| match span {
            Span::Plain(plain) => text(plain),
            Span::Strong(strong) if strong.trim().is_empty() => String::new(),
            Span::Strong(strong) => format!("**{}**", text(strong.trim())),
            Span::Code(code) => code_text(code),
        })
        .collect()
}

/// Escapes all characters that are special in Markdown or HTML.
fn text(plain: &str) -> String {
    let mut out = String::new();
    for c in plain.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A code span, or escaped text if the code contains a character that would end the span or the table cell.
fn code_text(code: &str) -> String {
    let is_simple = |c: char| !c.is_control() && c != '`' && c != '|' && c != '\\';
    if code.trim() == code && !code.is_empty() && code.chars().all(is_simple) {
        format!("`{code}`")
    } else {
        text(code)
    }
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
    use crate::document::{code, plain};

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
        let (words, other) = seen(&own_line(&plain(HOSTILE)));
        assert_eq!(words, HOSTILE.replace(['\n', '\u{1b}'], " "));
        assert_eq!(other, Vec::<String>::new());
    }

    #[test]
    fn paragraphs_are_plain_text() {
        let text = "One *a*\n`b`.\n\n- <b>c</b>\n- [d](e)\n";
        assert_eq!(paragraphs(text), ["One a b.", "<b>c</b>", "d"]);
        assert_eq!(paragraphs("\n"), [""; 0]);
    }

    #[test]
    fn code_span_falls_back_to_text() {
        assert_eq!(line(&code("lat_mem_rd")), "`lat_mem_rd`");
        assert_eq!(line(&code("a`b|c")), "a\\`b\\|c");
        assert_eq!(line(&code("<b>")), "`<b>`");
    }

    #[test]
    fn first_character_of_line_starts_no_block() {
        for first in [
            "# a", "- a", "+ a", "1. a", "23) a", "=== a", ": a", "> a", "* a",
        ] {
            let (words, other) = seen(&own_line(&plain(first)));
            assert_eq!((words.as_str(), other.len()), (first, 0), "{first}");
        }
    }

    #[test]
    fn cell_content_does_not_split_row() {
        let table = Table {
            caption: String::new(),
            head: vec!["x|y".to_owned(), "z".to_owned()],
            rows: vec![vec![code("p|q"), plain(HOSTILE)]],
        };
        let text = table_text(&table);
        let cells = Parser::new_ext(&text, Options::ENABLE_TABLES)
            .filter(|e| matches!(e, Event::End(pulldown_cmark::TagEnd::TableCell)));
        assert_eq!(cells.count(), 4, "{text}");
    }
}
