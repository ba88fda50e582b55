//! A result as a person sees it: sections of lines, facts, tables and charts.
//!
//! Three printers show it: [`terminal::text`](crate::terminal::text),
//! [`markdown::document`](crate::markdown::document) and [`page`](crate::page).

use std::ops::Add;

use serde::Serialize;
use yamba_record::machine::details::Fix;

use crate::chart::Chart;

/// A result as a person sees it.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The title of the page and of the Markdown document. A terminal shows none.
    pub title: String,
    pub sections: Vec<Section>,
}

/// A part of a view with a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its heading; empty for none.
    pub title: String,
    /// Its parts. A section without any is not shown.
    pub parts: Vec<Part>,
}

/// A part of a section.
#[derive(Clone, Debug)]
pub enum Part {
    /// A paragraph.
    Line(Text),
    /// Remarks; a list in Markdown.
    List(Vec<Text>),
    /// Names with their values.
    Facts(Vec<(Text, Text)>),
    /// How to change what the part before it says.
    Fix(Fix),
    Table(Table),
    /// The author's own Markdown.
    Markdown(String),
    /// A title, and parts that the reader unfolds. A terminal shows all.
    Folded(String, Vec<Part>),
    /// Charts, which Markdown leaves out. A table of the view has their figures.
    Charts(Vec<Chart>),
    /// A heat map, which only `page` draws.
    HeatMap(HeatMap),
    /// A coloured matrix, which only pages draw.
    Matrix(Matrix),
}

/// Values over two dimensions. The colours are on a logarithmic scale.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// A sentence about it, with the unit.
    pub caption: String,
    /// The quantity by which the rows differ.
    pub corner: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The values of each row. `None` where nothing was measured.
    pub values: Vec<Vec<Option<f64>>>,
    /// The values of the palest and the fullest colour.
    pub ends: [f64; 2],
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    /// A sentence about it. A terminal does not show it.
    pub caption: String,
    /// The titles of its columns.
    pub titles: Vec<String>,
    /// Its rows. A row may be shorter than the titles.
    pub rows: Vec<Vec<Text>>,
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Plain text.
    Plain(String),
    /// Emphasised text. A terminal shows it plain.
    Strong(String),
    /// A name or a command.
    Code(String),
    /// A word that judges what follows it.
    Mark(Tone, String),
    /// A ratio at several times, which only a page draws. Other printers leave its column out.
    History(Vec<Option<f64>>),
}

/// The tone of a mark: its colour in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The reader should know something.
    Warning,
    /// A failure.
    Bad,
}

/// The data of a heat map. Lists over nodes and resources have the resources of the first node
/// first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatMap {
    /// The nodes, class by class.
    pub nodes: Vec<String>,
    /// The class of each node.
    pub classes: Vec<String>,
    pub resources: Vec<String>,
    /// The figures, and the index of the resource of each.
    pub figures: Vec<(String, usize)>,
    /// The names of the jobs.
    pub jobs: Vec<String>,
    /// For each job: the node's time divided by that of its class, minus 1, in units of 0.01 %.
    /// `None` if it is unknown.
    pub ratios: Vec<Vec<Option<i32>>>,
    /// For the last job: the distance from the class in tenths of a standard deviation.
    pub scores: Vec<Option<i32>>,
    /// For each node: a letter for each figure, from `a` (five deviations faster) by `m` (as its
    /// class) to `y` (five slower, or more), or `.` if it is unknown.
    pub letters: Vec<String>,
    /// The slow nodes: index of the node and of the resource.
    pub slow: Vec<[usize; 2]>,
}

impl View {
    /// A view without sections.
    pub fn new(title: impl Into<String>) -> View {
        View { title: title.into(), sections: Vec::new() }
    }

    /// Adds a section.
    pub fn section(mut self, title: impl Into<String>, parts: impl Into<Vec<Part>>) -> View {
        self.sections.push(Section { title: title.into(), parts: parts.into() });
        self
    }
}

impl Part {
    /// Paragraphs.
    pub fn lines<T: Into<Text>>(lines: impl IntoIterator<Item = T>) -> Vec<Part> {
        lines.into_iter().map(|line| Part::Line(line.into())).collect()
    }

    /// Names with their values.
    pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, Text)>) -> Part {
        Part::Facts(facts.into_iter().map(|(name, text)| (name.into(), text)).collect())
    }
}

impl Table {
    /// A table without a caption.
    pub fn new<T: Into<Text>>(titles: &[&str], rows: impl IntoIterator<Item = Vec<T>>) -> Table {
        let cells = |row: Vec<T>| row.into_iter().map(Into::into).collect();
        Table {
            caption: String::new(),
            titles: titles.iter().map(|title| (*title).to_owned()).collect(),
            rows: rows.into_iter().map(cells).collect(),
        }
    }

    /// The table with a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Table {
        self.caption = caption.into();
        self
    }

    /// Titles and rows without the columns that only a page draws.
    pub(crate) fn readable(&self) -> (Vec<&str>, Vec<Vec<&Text>>) {
        let is_drawn = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.any(|cell| matches!(cell.0[..], [Span::History(_)]))
        };
        let columns: Vec<usize> = (0..self.titles.len()).filter(|c| !is_drawn(*c)).collect();
        let rows = self.rows.iter();
        let rows = rows.map(|row| columns.iter().filter_map(|c| row.get(*c)).collect()).collect();
        (columns.iter().map(|c| self.titles[*c].as_str()).collect(), rows)
    }
}

impl Text {
    /// A name or a command.
    pub fn code(text: impl Into<String>) -> Text {
        Text(vec![Span::Code(text.into())])
    }

    /// Emphasised text.
    pub fn strong(text: impl Into<String>) -> Text {
        Text(vec![Span::Strong(text.into())])
    }

    /// A word that judges what follows it.
    pub fn mark(tone: Tone, word: impl Into<String>) -> Text {
        Text(vec![Span::Mark(tone, word.into())])
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(vec![Span::Plain(text)])
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        text.to_owned().into()
    }
}

impl<T: Into<Text>> Add<T> for Text {
    type Output = Text;

    fn add(mut self, more: T) -> Text {
        self.0.extend(more.into().0);
        self
    }
}
