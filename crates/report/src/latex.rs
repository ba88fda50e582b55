//! A document as LaTeX without a preamble, to be read into a paper by `\input`. It needs no package.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::{Block, Document, Line, Span, Table};

/// The share of a line's length that all columns of a table have together.
const TABLE_WIDTH: f64 = 0.88;

/// Lines of a table that surely go on a page.
const MOST_LINES: usize = 44;

/// Characters of a table that surely go on a line of the page.
const LINE_LENGTH: f64 = 72.0;

/// Signs of units and texts that no font of LaTeX has without a package, or not as they are written.
const SIGNS: [(char, &str); 17] = [
    ('\u{b5}', "\\ensuremath{\\mu}"),
    ('\u{3bc}', "\\ensuremath{\\mu}"),
    ('\u{b1}', "\\ensuremath{\\pm}"),
    ('\u{d7}', "\\ensuremath{\\times}"),
    ('\u{b7}', "\\ensuremath{\\cdot}"),
    ('\u{b0}', "\\ensuremath{{}^\\circ}"),
    ('\u{b2}', "\\ensuremath{{}^2}"),
    ('\u{b3}', "\\ensuremath{{}^3}"),
    ('\u{2020}', "\\ensuremath{\\dagger}"),
    ('\u{2260}', "\\ensuremath{\\ne}"),
    ('\u{2264}', "\\ensuremath{\\le}"),
    ('\u{2265}', "\\ensuremath{\\ge}"),
    ('\u{2248}', "\\ensuremath{\\approx}"),
    ('\u{2192}', "\\ensuremath{\\to}"),
    ('\u{221e}', "\\ensuremath{\\infty}"),
    ('\u{3c3}', "\\ensuremath{\\sigma}"),
    ('\u{2126}', "\\ensuremath{\\Omega}"),
];

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
    let parts = parts(table, &widths);
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

/// Rows that go on a page together; one part without rows where there are none.
fn parts<'a>(table: &'a Table, widths: &[f64]) -> Vec<&'a [Vec<Line>]> {
    let lines = |cells: &Vec<Line>| {
        let each = cells.iter().zip(widths).map(|(cell, width)| {
            let length: usize = cell.iter().map(length).sum();
            (length as f64 / (width * LINE_LENGTH)).ceil() as usize
        });
        each.max().unwrap_or(0).max(1)
    };
    let mut parts = Vec::new();
    let (mut start, mut count) = (0, 0);
    for (i, row) in table.rows.iter().enumerate() {
        let more = lines(row);
        if i > start && count + more > MOST_LINES {
            parts.push(&table.rows[start..i]);
            (start, count) = (i, 0);
        }
        count += more;
    }
    parts.push(&table.rows[start..]);
    parts
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

/// Each column is as wide as its longest word; what is left they share by the square root of their longest cell: a long text may wrap.
fn widths(table: &Table) -> Vec<f64> {
    let columns = 0..table.head.len();
    let cells = |column: usize| table.rows.iter().filter_map(move |r| r.get(column));
    let words = |column: usize| {
        let spans = cells(column).flatten().map(words_of);
        let longest = spans.chain([longest_word(&table.head[column])]).max();
        longest.unwrap_or(0) as f64 / LINE_LENGTH
    };
    let weight = |column: usize| {
        let longest = cells(column).map(|c| c.iter().map(length).sum()).max();
        let title = table.head[column].chars().count();
        (longest.unwrap_or(0).max(title).clamp(4, 60) as f64).sqrt()
    };
    let least: Vec<f64> = columns.clone().map(words).collect();
    let weights: Vec<f64> = columns.map(weight).collect();
    let all: f64 = weights.iter().sum();
    let needed: f64 = least.iter().sum();
    // More words than there is room for: all columns are narrower than they should be.
    let shrunk = (TABLE_WIDTH / needed).min(1.0);
    let left = TABLE_WIDTH - needed * shrunk;
    let each = least.iter().zip(&weights);
    each.map(|(l, w)| l * shrunk + left * w / all).collect()
}

fn words_of(span: &Span) -> usize {
    let (Span::Plain(text) | Span::Code(text) | Span::Strong(text)) = span;
    longest_word(text)
}

/// Of what [`text`] lets a line be broken between.
fn longest_word(text: &str) -> usize {
    let words = text.split([' ', '_', '=']);
    words.map(|w| w.chars().count() + 1).max().unwrap_or(0)
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

/// A name or a command; its quotation marks are those of a shell.
fn code_text(code: &str) -> String {
    let name = text(code).replace('\'', "\\textquotesingle{}");
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
            '{' | '}' | '$' | '&' | '#' | '%' => {
                out.push('\\');
                out.push(c);
            }
            // Where a long name may be broken.
            '_' => out.push_str("\\_\\allowbreak{}"),
            '=' => out.push_str("=\\allowbreak{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\ensuremath{<}"),
            '>' => out.push_str("\\ensuremath{>}"),
            '|' => out.push_str("\\ensuremath{|}"),
            '"' => out.push_str("''"),
            c if c.is_control() => out.push(' '),
            c => match SIGNS.iter().find(|(sign, _)| *sign == c) {
                Some((_, command)) => out.push_str(command),
                None => out.push(c),
            },
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
            "50\\% of \\$x\\_\\allowbreak{}1 \\& \\{y\\}\\# \\textbackslash{}input\\{z\\} a\\textasciicircum{}b\\textasciitilde{}c \
             \\ensuremath{<}d\\ensuremath{>} -{}- `{}`?{}` x-y"
        );
        assert_eq!(text("a\n\nb\u{7}"), "a  b ");
        assert_eq!(line(&code("lat_x")), "\\texttt{lat\\_\\allowbreak{}x}");
    }

    /// What LaTeX sees of a text that this writer made: its groups and environments closed in order, its cells counted, nothing else that commands.
    fn rows_of_a_sound_text(tex: &str) -> Vec<usize> {
        const KNOWN: [&str; 33] = [
            "section",
            "subsection",
            "subsubsection",
            "caption",
            "begin",
            "end",
            "item",
            "textbf",
            "texttt",
            "emph",
            "ensuremath",
            "hline",
            "footnotesize",
            "raggedright",
            "tabcolsep",
            "linewidth",
            "tabularnewline",
            "textbackslash",
            "textquotesingle",
            "textasciicircum",
            "textasciitilde",
            "allowbreak",
            "newline",
            "mbox",
            "ttfamily",
            "mu",
            "pm",
            "dagger",
            "times",
            "medskip",
            "hrule",
            "circ",
            "le",
        ];
        let mut open = Vec::new();
        let mut rows = Vec::new();
        let mut cells = 1;
        let (comment, mut rest) = tex.split_once('\n').unwrap();
        assert!(comment.starts_with("% "));
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '{' => open.push("{".to_owned()),
                '}' => assert_eq!(open.pop().as_deref(), Some("{"), "before {rest}"),
                '&' => cells += 1,
                '%' | '$' | '#' | '_' | '~' => panic!("{c} means something before {rest}"),
                '\\' if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) => rest = &rest[1..],
                '\\' => {
                    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap();
                    let (word, after) = rest.split_at(end);
                    assert!(KNOWN.contains(&word), "\\{word}");
                    rest = after;
                    match word {
                        "begin" => open.push(after.split(['{', '}']).nth(1).unwrap().to_owned()),
                        "end" => assert_eq!(open.pop().as_deref(), after.split(['{', '}']).nth(1)),
                        "tabularnewline" => rows.push(std::mem::replace(&mut cells, 1)),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        rows
    }

    #[test]
    fn whatever_a_text_holds_the_document_is_sound() {
        let mut every: String = (' '..='~').chain("µ±×†²°≤".chars()).collect();
        every.push_str("\\end{tabular} \\\\ }{ %\n && \u{7}");
        let cell = || {
            vec![
                Span::Plain(every.clone()),
                Span::Strong(every.clone()),
                Span::Code(every.clone()),
            ]
        };
        let document = Document {
            title: every.clone(),
            blocks: vec![
                Block::Section(every.clone()),
                Block::Written(format!(
                    "{every}\n\n- {every}\n\n> {every}\n\n1. {every}\n\n```\n{every}\n```\n\n---\n"
                )),
                Block::Paragraph(cell()),
                Block::List(vec![cell(), cell()]),
                Block::Table(Table {
                    caption: every.clone(),
                    head: vec![every.clone(); 3],
                    rows: vec![vec![cell(), cell(), Vec::new()]; 41],
                }),
            ],
        };
        let rows = rows_of_a_sound_text(&latex(&document));
        // Each part of a long table has its head.
        assert!(
            rows.len() > 41 && rows.iter().all(|cells| *cells == 3),
            "{rows:?}"
        );
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
        let table = |rows: usize, cell: &str| Table {
            caption: "All".to_owned(),
            head: vec!["a".to_owned()],
            rows: vec![vec![plain(cell)]; rows],
        };
        for (rows, tables) in [(0, 1), (1, 1), (44, 1), (45, 2), (120, 3)] {
            let text = table_text(&table(rows, "row."));
            assert_eq!(text.matches("\\begin{table}").count(), tables, "{rows}");
            assert_eq!(text.matches("row.").count(), rows);
        }
        let text = table_text(&table(45, "row."));
        assert!(text.contains("\\caption{All (2 of 2)}"), "{text}");
        assert!(table_text(&table(44, "row.")).contains("\\caption{All}"));
        // Rows of two lines each.
        let wrapped = table_text(&table(44, &"word ".repeat(20)));
        assert_eq!(wrapped.matches("\\begin{table}").count(), 2);
    }

    #[test]
    fn a_column_is_as_wide_as_its_longest_word() {
        let table = Table {
            caption: String::new(),
            head: vec!["Verdict".to_owned(), "b".to_owned()],
            rows: vec![vec![plain("a_b"), plain("w ".repeat(200))]],
        };
        let shares = widths(&table);
        assert!(shares[0] * LINE_LENGTH > 8.0, "{shares:?}");
        assert!((shares.iter().sum::<f64>() - TABLE_WIDTH).abs() < 1e-9);
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
