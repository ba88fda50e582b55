//! A view as text, and lists and tables that fit the terminal.

use std::borrow::Cow;

use textwrap::core::display_width;
use yamba_record::machine::details::Fix;

use crate::markdown::author_markdown;
use crate::plot::plot;
use crate::view::{Part, Section, Span, Table, Text, Tone, View};

/// Minimum room for a text beside its name.
const LEAST_TEXT: usize = 24;

/// Minimum width of a column whose cells are wrapped.
const LEAST_COLUMN: usize = 12;

/// Width of a chart without a terminal.
const CHART_WIDTH: usize = 80;

/// Indentation of what follows below a name, or of a line's continuation.
const BELOW: &str = "  ";

#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Its width in columns. `None`: lines stay whole.
    pub width: Option<usize>,
    /// Whether it shows colours.
    pub has_colours: bool,
}

/// The text of a view, with an empty line between its sections.
pub fn text(view: &View, terminal: Terminal) -> String {
    sections(&view.sections, terminal)
}

/// The text of sections, with an empty line between them.
pub fn sections(all: &[Section], terminal: Terminal) -> String {
    let parts = all.iter().flat_map(|section| &section.parts);
    let facts = parts.filter_map(|p| if let Part::Facts(facts) = p { Some(facts) } else { None });
    let names = facts.flatten().map(|(name, _)| display_width(&terminal.line(name)));
    let names = names.max().unwrap_or_default();
    let sections = all.iter().map(|section| terminal.section(section, names));
    sections.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

impl Terminal {
    /// A section. Empty if all of its parts are drawings. `names` is the width of the names of
    /// facts, which are indented below a heading.
    fn section(self, section: &Section, names: usize) -> String {
        let is_titled = !section.title.is_empty();
        let indent = if is_titled { BELOW } else { "" };
        let parts = section.parts.iter().map(|part| self.part(part, names, indent));
        let parts: String = parts.collect();
        if parts.is_empty() || !is_titled {
            return parts;
        }
        self.wrapped(&self.painted("1", &harmless(&section.title))) + &parts
    }

    fn part(self, part: &Part, names: usize, indent: &str) -> String {
        match part {
            Part::Line(line) => self.wrapped(&self.line(line)),
            Part::List(lines) => {
                let lines = lines.iter().map(|line| format!("{BELOW}{}", self.line(line)));
                lines.map(|line| wrapped(&line, self.width, "    ")).collect()
            }
            Part::Facts(facts) => {
                let facts = facts.iter().map(|(name, text)| (self.line(name), self.line(text)));
                beside(&facts.collect::<Vec<_>>(), names, indent, self.width)
            }
            // A command stays whole, so that it can be copied.
            Part::Fix(Fix::Command(command)) => {
                format!("    $ {}\n", self.painted("36", &harmless(command)))
            }
            Part::Fix(Fix::Advice(advice)) => {
                wrapped(&format!("      {}", harmless(advice)), self.width, "      ")
            }
            Part::Table(table) => self.table(table),
            Part::Markdown(text) => self.markdown(text),
            Part::Folded(title, parts) => {
                let parts = parts.iter().map(|part| self.part(part, names, indent));
                self.wrapped(&harmless(title)) + &parts.collect::<String>()
            }
            Part::Charts(charts) => {
                let width = self.width.unwrap_or(CHART_WIDTH);
                let charts = charts.iter().map(|chart| plot(chart, width));
                charts.collect::<Vec<_>>().join("\n")
            }
            Part::HeatMap(_) | Part::Matrix(_) => String::new(),
        }
    }

    /// The author's Markdown. Lines of code stay whole.
    fn markdown(self, text: &str) -> String {
        let text = author_markdown(text);
        let is_whole =
            |line: &str| line.is_empty() || line.starts_with("    ") || line.starts_with('\t');
        let lines = text.lines().map(|line| match is_whole(line) {
            true => format!("{line}\n"),
            false => wrapped(line, self.width, ""),
        });
        lines.collect()
    }

    fn painted(self, code: &str, text: &str) -> String {
        if self.has_colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn table(self, table: &Table) -> String {
        let (titles, rows) = table.readable();
        let titles = titles.into_iter().map(harmless).collect();
        let rows = rows.iter().map(|row| row.iter().map(|cell| self.line(cell)).collect());
        fitted(&std::iter::once(titles).chain(rows).collect::<Vec<_>>(), self.width)
    }

    /// A text in one line.
    fn line(self, text: &Text) -> String {
        let spans = text.0.iter().map(|span| match span {
            Span::Plain(text) | Span::Strong(text) | Span::Code(text) => harmless(text),
            Span::Mark(tone, word) => self.painted(tone.code(), &harmless(word)),
            Span::History(_) => String::new(),
        });
        spans.collect()
    }

    fn wrapped(self, text: &str) -> String {
        wrapped(text, self.width, BELOW)
    }
}

impl Tone {
    /// Its code of "select graphic rendition".
    fn code(self) -> &'static str {
        match self {
            Tone::Warning => "33",
            Tone::Bad => "1;31",
        }
    }
}

/// The width of each column: that of its longest cell.
pub fn widths<R: AsRef<[String]>>(rows: &[R]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = display_width(cell).max(*width);
        }
    }
    widths
}

/// Aligns columns by their longest cell, with two spaces between and none at the line's end.
/// Control characters in cells become spaces.
pub fn columns(rows: &[Vec<String>]) -> String {
    aligned(&all_harmless(rows))
}

fn all_harmless(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| harmless(cell)).collect()).collect()
}

fn aligned(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(c, width)| format!("{c}{:1$}", "", width - display_width(c) + 2));
        out.push_str(cells.collect::<String>().trim_end());
        out.push('\n');
    }
    out
}

/// Names with their texts in two columns, each text wrapped. On a narrow terminal each text follows
/// below its name. `name_width` is the width of the first column. Without a terminal nothing is
/// wrapped. Control characters become spaces.
pub fn entries(
    rows: &[(String, String)],
    name_width: usize,
    indent: &str,
    width: Option<usize>,
) -> String {
    let rows = rows.iter().map(|(name, text)| (harmless(name), harmless(text)));
    beside(&rows.collect::<Vec<_>>(), name_width, indent, width)
}

fn beside(
    rows: &[(String, String)],
    name_width: usize,
    indent: &str,
    width: Option<usize>,
) -> String {
    let begin = indent.len() + name_width + 2;
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(begin));
    let is_beside = room >= LEAST_TEXT;
    let mut out = String::new();
    for (name, text) in rows {
        let margin = if is_beside { " ".repeat(begin) } else { format!("{indent}{BELOW}") };
        let room =
            if is_beside { room } else { width.unwrap_or(usize::MAX).saturating_sub(margin.len()) };
        let mut lines = wrap(text, room, "").into_iter();
        let first = lines.next().unwrap_or_default();
        if is_beside {
            let blank = name_width.saturating_sub(display_width(name)) + 2;
            let line = format!("{indent}{name}{:blank$}{first}", "");
            out.push_str(&format!("{}\n", line.trim_end()));
        } else {
            out.push_str(&format!("{indent}{name}\n"));
            out.push_str(&format!("{margin}{first}\n"));
        }
        for line in lines {
            out.push_str(&format!("{margin}{line}\n"));
        }
    }
    out
}

/// Aligned columns; the first row has the titles. Where the terminal is too narrow, the widest
/// columns are wrapped, else each row's first cell gets a line of its own, else each cell is
/// printed with its title. Control characters in cells become spaces.
pub fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    fitted(&all_harmless(rows), width)
}

fn fitted(rows: &[Vec<String>], width: Option<usize>) -> String {
    let whole = aligned(rows);
    let Some(width) = width else {
        return whole;
    };
    let fits = |text: &String| text.lines().all(|line| display_width(line) <= width);
    if fits(&whole) {
        return whole;
    }
    let wrapped = wrapped_cells(rows, width).filter(fits);
    let split = wrapped.or_else(|| Some(first_above(rows, width)).filter(fits));
    split.unwrap_or_else(|| records(rows, width))
}

/// Wraps the cells of the widest columns. `None` if these would be too narrow.
fn wrapped_cells(rows: &[Vec<String>], width: usize) -> Option<String> {
    let mut widths = widths(rows);
    while widths.iter().map(|w| w + 2).sum::<usize>() > width + 2 {
        let widest = widths.iter_mut().max()?;
        if *widest <= LEAST_COLUMN {
            return None;
        }
        *widest -= 1;
    }
    let lines = rows.iter().flat_map(|row| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| wrap(cell, *width, ""));
        let cells: Vec<Vec<Cow<str>>> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let part = |cell: &Vec<Cow<str>>, at: usize| cell.get(at).map_or("", |p| p).to_owned();
        let line = |at| cells.iter().map(|cell| part(cell, at)).collect();
        (0..height).map(line).collect::<Vec<Vec<String>>>()
    });
    Some(aligned(&lines.collect::<Vec<_>>()))
}

/// Each first cell on a line of its own, wrapped, and the other cells below it, aligned.
fn first_above(rows: &[Vec<String>], width: usize) -> String {
    let others = rows.iter().map(|row| row.get(1..).unwrap_or_default());
    let others: Vec<Vec<String>> = others.map(<[String]>::to_vec).collect();
    let others = aligned(&others);
    let mut out = String::new();
    for (row, line) in rows.iter().zip(others.lines()) {
        out.push_str(&first_lines(row, width));
        if !line.is_empty() {
            out.push_str(&format!("{BELOW}{line}\n"));
        }
    }
    out
}

/// Each first cell on a line of its own, and the other cells below it, each after its title.
fn records(rows: &[Vec<String>], width: usize) -> String {
    let Some((titles, rows)) = rows.split_first() else {
        return String::new();
    };
    let mut out = first_lines(titles, width);
    for row in rows {
        out.push_str(&first_lines(row, width));
        let mut line = String::new();
        for (title, cell) in titles.iter().zip(row).skip(1).filter(|(_, c)| !c.is_empty()) {
            let cell = format!("{title} {cell}");
            let cell = cell.trim_start();
            let length = display_width(&line) + 2 + display_width(cell);
            if !line.is_empty() && BELOW.len() + length > width {
                out.push_str(&format!("{BELOW}{line}\n"));
                line.clear();
            }
            let parts = wrap(cell, width.saturating_sub(BELOW.len()), BELOW);
            let (last, full) = parts.split_last().expect("a text has a line");
            for part in full {
                out.push_str(&format!("{BELOW}{part}\n"));
            }
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(last);
        }
        if !line.is_empty() {
            out.push_str(&format!("{BELOW}{line}\n"));
        }
    }
    out
}

fn first_lines(row: &[String], width: usize) -> String {
    let lines = wrap(row.first().map_or("", String::as_str), width, BELOW);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A text whose control characters cannot break its line.
fn harmless(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Wraps to at most `width` columns, at spaces only, so that commands and paths stay unbroken.
/// Continuation lines begin with `indent`.
pub fn wrap<'a>(text: &'a str, width: usize, indent: &'a str) -> Vec<Cow<'a, str>> {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
}

/// Wraps each line of a text. `None`: there is no terminal, and lines stay whole.
pub fn wrapped(text: &str, width: Option<usize>, indent: &str) -> String {
    let lines = text.lines();
    let parts = lines.flat_map(|line| wrap(line, width.unwrap_or(usize::MAX), indent));
    parts.map(|part| format!("{part}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> View {
        let facts = [("load", Text::mark(Tone::Warning, "high") + " word".repeat(40).as_str())];
        let long = Fix::Command("x".repeat(120));
        View::new("").section("Group", [Part::facts(facts), Part::Fix(long)])
    }

    #[test]
    fn lines_are_wrapped_and_commands_are_not() {
        for width in [96, 70, 60] {
            let text = text(&machine(), Terminal { width: Some(width), has_colours: false });
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[0], "Group");
            assert!(lines[1].starts_with("  load  high word"));
            let (command, others) = lines.split_last().unwrap();
            let longest = others.iter().map(|l| l.len()).max().unwrap();
            assert!((width - 5..=width).contains(&longest), "{lines:?}");
            assert_eq!(command.len(), 126);
        }
    }

    #[test]
    fn markdown_of_the_author_has_no_control_characters() {
        let markdown = Part::Markdown("\n# A\u{1b}[2J\r\n\tcode\u{7}\u{9b}31m\n".to_owned());
        let shown = text(&View::new("").section("", [markdown]), Terminal::default());
        assert_eq!(shown, "# A [2J\n\tcode  31m\n");
    }

    #[test]
    fn markdown_of_the_author_is_wrapped() {
        let markdown =
            "What the machine costs, and why it does.\n\n    code stays as whole as it is\n";
        let view = View::new("").section("", [Part::Markdown(markdown.to_owned())]);
        let shown = text(&view, Terminal { width: Some(24), has_colours: false });
        let lines: Vec<&str> = shown.lines().collect();
        let expected =
            ["What the machine costs,", "and why it does.", "", "    code stays as whole as it is"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn colours_change_no_widths() {
        let coloured = |has_colours| text(&machine(), Terminal { width: Some(60), has_colours });
        let shown = coloured(true);
        assert!(shown.contains("  load  \x1b[33mhigh\x1b[0m word"), "{shown:?}");
        let codes = ["\x1b[33m", "\x1b[1m", "\x1b[36m", "\x1b[0m"];
        let plain = codes.iter().fold(shown, |text, code| text.replace(code, ""));
        assert_eq!(plain, coloured(false));
    }

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|c| (*c).to_owned()).collect();
        rows.iter().map(row).collect()
    }

    #[test]
    fn table_fits_every_width() {
        let rows = rows(&[
            &["benchmark", "A", "B", "verdict"],
            &["lat_mem_rd size=64Ki", "1.25 ns", "1.5 ns", "slower"],
            &["lat_pipe", "5 us", "5 us", "~"],
            &["geometric mean of 2"],
        ]);
        assert_eq!(table(&rows, None), columns(&rows));
        assert_eq!(table(&rows, Some(80)), columns(&rows));
        let narrow = "benchmark\n  A        B       verdict\nlat_mem_rd size=64Ki\n  1.25 ns  1.5 ns  slower\nlat_pipe\n  5 us     5 us    ~\ngeometric mean of 2\n";
        assert_eq!(table(&rows, Some(30)), narrow);
        let least = "benchmark\nlat_mem_rd\n  size=64Ki\n  A 1.25 ns\n  B 1.5 ns\n  verdict slower\nlat_pipe\n  A 5 us  B 5 us\n  verdict ~\ngeometric mean\n  of 2\n";
        assert_eq!(table(&rows, Some(16)), least);
    }

    #[test]
    fn last_column_wraps_if_it_has_room() {
        let rows =
            rows(&[&["run", "what"], &["3f2a", "several benchmarks with a long description"]]);
        assert_eq!(
            table(&rows, Some(36)),
            "run   what\n3f2a  several benchmarks with a long\n      description\n"
        );
    }

    #[test]
    fn texts_stand_beside_their_names_or_below() {
        let rows = [("lat_pipe".to_owned(), "A token through a pipe".to_owned())];
        let shown = |width| entries(&rows, 8, "  ", width);
        assert_eq!(shown(None), "  lat_pipe  A token through a pipe\n");
        assert_eq!(shown(Some(30)), "  lat_pipe\n    A token through a pipe\n");
        let below = "  lat_pipe\n    A token through\n    a pipe\n";
        assert_eq!(shown(Some(20)), below);
    }
}
