//! A document as LaTeX without a preamble, to be read into a paper by `\input`. It needs no package.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::{Block, Document, Line, Span, Table};

/// The share of a line's length that all columns of a table have together.
const TABLE_WIDTH: f64 = 0.88;

/// Rows of a table that surely go on a page, though some cells wrap.
const MOST_ROWS: usize = 40;

/// The whole document.
pub fn latex(document: &Document) -> String {
    let mut out = format!("% Made by Yamba {}.\n", env!("CARGO_PKG_VERSION"));
    out.push_str(&format!("\\section*{{{}}}\n", text(&document.title)));
    for block in &document.blocks {
        out.push('\n');
        out.push_str(&block_text(block));
    }
    out
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Section(title) => format!("\\subsection*{{{}}}\n", text(title)),
        Block::Written(markdown) => format!("{}\n", written(markdown).trim()),
        Block::Paragraph(paragraph) => format!("{}\n", line(paragraph)),
        Block::List(items) => {
            let each = items.iter().map(|i| format!("\\item {{}}{}\n", line(i)));
            let items: String = each.collect();
            format!("\\begin{{itemize}}\n{items}\\end{{itemize}}\n")
        }
        Block::Table(table) => table_text(table),
    }
}

/// LaTeX cuts a table off at the page's end in silence: one that is longer is several, with columns of the same widths.
fn table_text(table: &Table) -> String {
    let widths = widths(table);
    let parts: Vec<_> = match table.rows.is_empty() {
        true => vec![&table.rows[..]],
        false => table.rows.chunks(MOST_ROWS).collect(),
    };
    let texts = parts.iter().enumerate().map(|(i, rows)| {
        let of = match parts.len() {
            1 => String::new(),
            all => format!("({} of {all})", i + 1),
        };
        let caption = format!("{} {of}", table.caption);
        part_text(table, caption.trim(), &widths, rows)
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn part_text(table: &Table, caption: &str, widths: &[f64], rows: &[Vec<Line>]) -> String {
    let columns: String = widths
        .iter()
        .map(|w| format!("p{{{w:.3}\\linewidth}}"))
        .collect();
    let heads: Vec<String> = table.head.iter().map(|h| text(h)).collect();
    let mut out = "\\begin{table}[htbp]\n".to_owned();
    if !caption.is_empty() {
        out.push_str(&format!("\\caption{{{}}}\n", text(caption)));
    }
    // Narrow columns of long words: without it they stick out into each other.
    out.push_str("\\footnotesize\\raggedright\\tabcolsep=0.006\\linewidth\n");
    out.push_str(&format!("\\begin{{tabular}}{{{columns}}}\n\\hline\n"));
    out.push_str(&row(&heads));
    out.push_str("\\hline\n");
    for cells in rows {
        let cells: Vec<String> = cells.iter().map(line).collect();
        out.push_str(&row(&cells));
    }
    out.push_str("\\hline\n\\end{tabular}\n\\end{table}\n");
    out
}

fn row(cells: &[String]) -> String {
    let ragged: Vec<String> = cells
        .iter()
        .map(|c| format!("\\raggedright {{}}{c}"))
        .collect();
    format!("{} \\tabularnewline\n", ragged.join(" & "))
}

/// Columns share the width by the square root of their longest cell: a long text may wrap.
fn widths(table: &Table) -> Vec<f64> {
    let length = |column: usize| {
        let cells = table.rows.iter().filter_map(|r| r.get(column));
        let longest = cells.map(|c| c.iter().map(length).sum()).max().unwrap_or(0);
        let title = table.head[column].chars().count();
        (longest.clamp(title.max(4), 60) as f64).sqrt()
    };
    let lengths: Vec<f64> = (0..table.head.len()).map(length).collect();
    let all: f64 = lengths.iter().sum();
    lengths.iter().map(|l| TABLE_WIDTH * l / all).collect()
}

fn length(span: &Span) -> usize {
    let (Span::Plain(text) | Span::Code(text) | Span::Strong(text)) = span;
    text.chars().count()
}

fn line(spans: &Line) -> String {
    let each = spans.iter().map(|span| match span {
        Span::Plain(plain) => text(plain),
        Span::Strong(strong) => format!("\\textbf{{{}}}", text(strong)),
        Span::Code(code) => code_text(code),
    });
    each.collect()
}

/// A name, which may be broken where its words end.
fn code_text(code: &str) -> String {
    let name = text(code).replace("\\_", "\\_\\allowbreak{}");
    format!("\\texttt{{{name}}}")
}

/// Text in which no character means anything to LaTeX.
fn text(plain: &str) -> String {
    let mut out = String::new();
    let mut last = ' ';
    for c in plain.chars() {
        if is_ligature(last, c) {
            out.push_str("{}");
        }
        last = c;
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\ensuremath{<}"),
            '>' => out.push_str("\\ensuremath{>}"),
            '|' => out.push_str("\\ensuremath{|}"),
            '"' => out.push_str("''"),
            'µ' | 'μ' => out.push_str("\\ensuremath{\\mu}"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Whether LaTeX would make one character of two: a dash, a quotation mark, an inverted question mark.
fn is_ligature(first: char, second: char) -> bool {
    match second {
        '-' | '\'' | ',' | '"' => first == second || (second == '"' && first == '\''),
        '`' => matches!(first, '`' | '?' | '!'),
        _ => false,
    }
}

/// Markdown, as far as a course report needs it: paragraphs, headings, lists, emphasis, code, links. All else is shown as it was written.
fn written(markdown: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for event in Parser::new_ext(markdown, Options::empty()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                in_code = true;
                out.push_str("\\begin{quote}\\ttfamily\n");
            }
            Event::End(TagEnd::CodeBlock) => {
                in_code = false;
                out.push_str("\\end{quote}\n\n");
            }
            Event::Start(tag) => out.push_str(&opening(&tag)),
            Event::End(tag) => out.push_str(closing(tag)),
            Event::Text(words) if in_code => out.push_str(&code_lines(&words)),
            Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => {
                out.push_str(&text(&words));
            }
            Event::Code(words) => out.push_str(&code_text(&words)),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("\\newline\n"),
            Event::Rule => out.push_str("\n\\medskip\\hrule\\medskip\n\n"),
            // Only with extensions of Markdown, and none is on.
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }
    out
}

fn opening(tag: &Tag<'_>) -> String {
    match tag {
        Tag::Heading { level, .. } if *level <= HeadingLevel::H2 => "\\subsection*{".to_owned(),
        Tag::Heading { .. } => "\\subsubsection*{".to_owned(),
        Tag::BlockQuote(_) => "\\begin{quote}\n".to_owned(),
        Tag::List(Some(_)) => "\\begin{enumerate}\n".to_owned(),
        Tag::List(None) => "\\begin{itemize}\n".to_owned(),
        Tag::Item => "\\item {}".to_owned(),
        Tag::Emphasis => "\\emph{".to_owned(),
        Tag::Strong => "\\textbf{".to_owned(),
        _ => String::new(),
    }
}

fn closing(tag: TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "\n\n",
        TagEnd::Heading(_) => "}\n\n",
        TagEnd::BlockQuote(_) => "\\end{quote}\n\n",
        TagEnd::List(true) => "\\end{enumerate}\n\n",
        TagEnd::List(false) => "\\end{itemize}\n\n",
        TagEnd::Item => "\n",
        TagEnd::Emphasis | TagEnd::Strong => "}",
        _ => "",
    }
}

/// Lines that stay lines, and keep their spaces.
fn code_lines(code: &str) -> String {
    let lines = code.lines();
    let each = lines.map(|l| format!("{}\\mbox{{}}\\\\{{}}\n", text(l).replace(' ', "\\ ")));
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{code, plain};

    #[test]
    fn no_character_of_a_text_means_anything() {
        assert_eq!(
            text(r"50% of $x_1 & {y}# \input{z} a^b~c <d> -- ``?` x-y"),
            "50\\% of \\$x\\_1 \\& \\{y\\}\\# \\textbackslash{}input\\{z\\} a\\textasciicircum{}b\\textasciitilde{}c \
             \\ensuremath{<}d\\ensuremath{>} -{}- `{}`?{}` x-y"
        );
        assert_eq!(text("a\n\nb\u{7}"), "a  b ");
        assert_eq!(line(&code("lat_x")), "\\texttt{lat\\_\\allowbreak{}x}");
    }

    #[test]
    fn markdown_becomes_what_it_means() {
        let text = "# Why\n\nA *b* **c** `d_e` <script> 5 % \\input{x}\n\n- one\n- two & three\n\n```\n\\end{quote} $x\n```\n";
        assert_eq!(
            written(text).trim(),
            "\\subsection*{Why}\n\nA \\emph{b} \\textbf{c} \\texttt{d\\_\\allowbreak{}e} \
             \\ensuremath{<}script\\ensuremath{>} 5 \\% \\textbackslash{}input\\{x\\}\n\n\
             \\begin{itemize}\n\\item {}one\n\\item {}two \\& three\n\\end{itemize}\n\n\
             \\begin{quote}\\ttfamily\n\\textbackslash{}end\\{quote\\}\\ \\$x\\mbox{}\\\\{}\n\\end{quote}"
        );
    }

    #[test]
    fn a_table_longer_than_a_page_is_several() {
        let table = |rows: usize| Table {
            caption: "All".to_owned(),
            head: vec!["a".to_owned()],
            rows: (0..rows).map(|i| vec![plain(format!("row{i}."))]).collect(),
        };
        for (rows, tables) in [(0, 1), (1, 1), (40, 1), (41, 2), (120, 3)] {
            let text = table_text(&table(rows));
            assert_eq!(text.matches("\\begin{table}").count(), tables, "{rows}");
            assert_eq!(text.matches("row").count(), rows);
        }
        let text = table_text(&table(41));
        assert!(text.contains("\\caption{All (2 of 2)}"), "{text}");
        assert!(table_text(&table(40)).contains("\\caption{All}"));
    }

    #[test]
    fn columns_share_the_width_of_a_line() {
        let table = Table {
            caption: "All & everything".to_owned(),
            head: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![vec![plain("short"), plain("much longer than short")]],
        };
        let shares = widths(&table);
        assert!((shares.iter().sum::<f64>() - TABLE_WIDTH).abs() < 1e-9);
        assert!(shares[0] < shares[1]);
        let text = table_text(&table);
        assert!(text.contains("\\caption{All \\& everything}"), "{text}");
        assert!(
            text.contains("short & \\raggedright {}much longer"),
            "{text}"
        );
    }
}
