//! A study with its figures: tables with the columns of the 2016 report's summary, and the reasons.

mod page;
mod words;

use indexmap::{IndexMap, IndexSet};
use yamba_record::Run;
use yamba_report::{Part, Table, Text, View};
use yamba_session::study::{Measurement, PredictionVerdict, Study, StudyRow};

pub use page::page;

/// How much a view tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Tables and notes, for a terminal.
    Brief,
    /// Also the reason and the command of each measurement, for a document.
    Whole,
}

/// Titles of the columns of a document.
const TITLES: [&str; 6] = [
    "Operation",
    "Base hardware performance",
    "Estimated software overhead",
    "Predicted",
    "Measured",
    "Verdict",
];

/// Titles of the columns in a terminal, after that of the category.
const BRIEF_TITLES: [&str; 5] = ["base", "overhead", "predicted", "measured", "verdict"];

/// The study with these rows.
pub fn view(study: &Study, run: &Run, rows: &[StudyRow<'_>], extent: Extent) -> View {
    let title = study.title.trim();
    let mut view = View::new(title);
    if extent == Extent::Brief {
        view = view.section("", Part::lines([title]));
    }
    view = view.section("", written(&study.text)).section("", Part::lines([words::origin(run)]));
    let shown = Shown { study, common: words::common(rows) };
    let categories: IndexSet<&String> = study.measurements.iter().map(|m| &m.category).collect();
    for category in categories {
        let rows = rows.iter().filter(|row| row.measurement.category == *category);
        let rows: Vec<&StudyRow<'_>> = rows.collect();
        view = match extent {
            Extent::Brief => view.section("", shown.brief(category, &rows)),
            Extent::Whole => view.section(category, shown.whole(category, &rows)),
        };
    }
    view.section("", Part::lines(words::remarks(rows)))
}

/// The author's own Markdown, unless it is empty.
fn written(markdown: &str) -> Vec<Part> {
    let is_there = !markdown.trim().is_empty();
    is_there.then(|| Part::Markdown(markdown.to_owned())).into_iter().collect()
}

/// A study, and the notes that all of its figures have.
struct Shown<'a> {
    study: &'a Study,
    common: Vec<&'a String>,
}

impl Shown<'_> {
    /// The table of a category, and the notes on its figures.
    fn brief(&self, category: &str, rows: &[&StudyRow<'_>]) -> Vec<Part> {
        let titles = [&[category][..], &BRIEF_TITLES].concat();
        let table = Table::new(&titles, rows.iter().map(|row| self.cells(row, "")));
        let notes = rows.iter().flat_map(|row| {
            let own = row.notes.iter().filter(|n| !self.common.contains(n));
            let first = own.map(|note| note.lines().next().unwrap_or_default());
            first.map(move |note| format!("{}: {note}", words::operation(row)).into())
        });
        vec![Part::Table(table), Part::List(notes.collect())]
    }

    /// The table of a category, and what its measurements are about.
    fn whole(&self, category: &str, rows: &[&StudyRow<'_>]) -> Vec<Part> {
        let title = &self.study.title;
        let caption =
            if category.is_empty() { title.clone() } else { format!("{title}: {category}") };
        let table = Table::new(&TITLES, rows.iter().map(|row| self.cells(row, "NA")));
        let mut parts = vec![Part::Table(table.caption(caption))];
        for measurement in self.study.measurements.iter().filter(|m| m.category == *category) {
            parts.push(Part::Line(self.about(measurement)));
            parts.extend(written(&measurement.text));
            let own = rows.iter().filter(|row| std::ptr::eq(row.measurement, measurement));
            let remarks = remarks(own.copied(), &self.common);
            if !remarks.is_empty() {
                parts.push(Part::List(remarks));
            }
        }
        parts
    }

    /// The cells of a row; `unknown` stands for a cost that the study does not name.
    fn cells(&self, row: &StudyRow<'_>, unknown: &str) -> Vec<Text> {
        let m = row.measurement;
        let cost = |cost: &Option<String>| Text::from(cost.as_deref().unwrap_or(unknown));
        let figure = words::figure(row);
        let verdict = words::verdict(row);
        vec![
            words::operation(row).into(),
            cost(&m.base),
            cost(&m.overhead),
            words::predicted(self.study, m).into(),
            match words::marked(row) {
                None => figure.into(),
                Some(mark) if figure.is_empty() => Text::strong(mark),
                Some(mark) => Text::strong(mark) + format!(" ({figure})"),
            },
            match row.verdict {
                Some(PredictionVerdict::Within) | None => verdict.into(),
                Some(_) => Text::strong(verdict),
            },
        ]
    }

    /// The command of a measurement, and the reason of its prediction.
    fn about(&self, measurement: &Measurement) -> Text {
        let command = Text::code(words::command(measurement));
        let line = Text::strong(&*measurement.label) + ": " + command;
        let Some(prediction) = &measurement.prediction else {
            return line;
        };
        let predicted = words::predicted(self.study, measurement);
        line + format!(". Predicted {predicted}: {}", prediction.reason.trim())
    }
}

/// The distinct notes of rows, each with the points that it applies to.
fn remarks<'a>(rows: impl Iterator<Item = &'a StudyRow<'a>>, common: &[&String]) -> Vec<Text> {
    let mut points: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for row in rows {
        for note in row.notes.iter().filter(|n| !common.contains(n)) {
            points.entry(note).or_default().push(&row.point);
        }
    }
    let remarks = points.into_iter().map(|(note, points)| {
        let note = note.lines().next().unwrap_or_default();
        match points.join(", ").as_str() {
            "" | ", " => note.into(),
            points => format!("{points}: {note}").into(),
        }
    });
    remarks.collect()
}
