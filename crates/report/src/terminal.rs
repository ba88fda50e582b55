//! A view as text, and lists and tables that fit the terminal.

use textwrap::core::display_width;

use crate::view::{Part, Section, Span, Table, Text, Tone, View};
use crate::wrap::{wrap, wrapped};

/// Minimum room for a text beside its name, or for a wrapped last column.
const LEAST_TEXT: usize = 24;

/// Indentation of what follows below a name, or of a line's continuation.
const BELOW: &str = "  ";

/// A terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Its width in columns. `None`: lines stay whole.
    pub width: Option<usize>,
    /// Whether it shows colours.
    pub has_colours: bool,
}

/// The text of a view, with an empty line between its sections.
pub fn text(view: &View, terminal: Terminal) -> String {
    let sections = view.sections.iter().map(|section| terminal.section(section));
    sections.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

impl Terminal {
    /// A section. Empty if all of its parts are drawings.
    fn section(self, section: &Section) -> String {
        let parts = self.parts(&section.parts);
        if parts.is_empty() { parts } else { self.wrapped(&harmless(&section.title)) + &parts }
    }

    fn parts(self, parts: &[Part]) -> String {
        parts.iter().map(|part| self.part(part)).collect()
    }

    fn part(self, part: &Part) -> String {
        match part {
            Part::Line(line) => self.wrapped(&self.line(line)),
            Part::List(lines) => lines.iter().map(|l| self.wrapped(&self.line(l))).collect(),
            Part::Facts(facts) => {
                let width = facts.iter().map(|(name, _)| display_width(name)).max();
                let facts = facts.iter().map(|(name, text)| (harmless(name), self.line(text)));
                beside(&facts.collect::<Vec<_>>(), width.unwrap_or_default(), "", self.width)
            }
            Part::Table(table) => self.table(table),
            Part::Markdown(text) => format!("{}\n", text.trim()),
            Part::Folded(title, parts) => self.wrapped(&harmless(title)) + &self.parts(parts),
            Part::Charts(_) | Part::HeatMap(_) => String::new(),
        }
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
            Span::Mark(tone, word) if self.has_colours => {
                format!("\x1b[{}m{}\x1b[0m", tone.code(), harmless(word))
            }
            Span::Mark(_, word) => harmless(word),
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
    pub fn code(self) -> &'static str {
        match self {
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "1;31",
            Tone::Faint => "2",
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
            let line = format!("{indent}{name:name_width$}  {first}");
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

/// Aligned columns; the first row has the titles. Where the terminal is too narrow, the last column
/// is wrapped, else each row's first cell gets a line of its own, else each cell is printed with
/// its title. Control characters in cells become spaces.
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
    let wrapped = wrapped_last(rows, width).filter(fits);
    let split = wrapped.or_else(|| Some(first_above(rows, width)).filter(fits));
    split.unwrap_or_else(|| records(rows, width))
}

/// Wraps the last column. `None` if the others leave it too little room.
fn wrapped_last(rows: &[Vec<String>], width: usize) -> Option<String> {
    let count = rows.iter().map(Vec::len).max()?;
    let before: usize = widths(rows)[..count - 1].iter().map(|w| w + 2).sum();
    let room = width.checked_sub(before).filter(|r| *r >= LEAST_TEXT)?;
    let mut lines = Vec::new();
    for row in rows {
        let (last, others) = match row.split_last() {
            Some((last, others)) if row.len() == count => (last.as_str(), others),
            _ => ("", &row[..]),
        };
        for (i, part) in wrap(last, room, "").iter().enumerate() {
            let mut cells = vec![String::new(); count];
            if i == 0 {
                cells[..others.len()].clone_from_slice(others);
            }
            cells[count - 1] = part.to_string();
            lines.push(cells);
        }
    }
    Some(aligned(&lines))
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

#[cfg(test)]
mod tests {
    use super::*;

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
