//! `yamba list`

mod document;
mod matrix;

use clap::Args;
use serde_json::{Value, json};
use yamba_lang::model::Gap;
use yamba_lang::{Analysis, ClassId, Target};

use super::{Answer, Failure, Names, Selection, output, select};
use yamba_session::standing::{self, Standing};
use yamba_toolchain::build::host;
use yamba_toolchain::provenance;

/// Show what can be measured here, and what is missing where something cannot
///
/// With no name: the whole suite, and each --lib.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba list                       what runs here, and why the rest does not
  yamba list 'lat_*' --json        names, tags, runs_here, missing
  yamba list --platforms           the matrix of benchmarks against platforms
  yamba list --platforms --md      the same, as Markdown
  yamba list --md                  the suite as docs/suite.md has it")]
pub(super) struct List {
    #[command(flatten)]
    names: Names,
    /// The matrix of benchmarks against platforms
    #[arg(long)]
    platforms: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// As a Markdown table
    #[arg(long, conflicts_with = "json")]
    md: bool,
}

/// One listed benchmark.
struct Row {
    class: ClassId,
    name: String,
    summary: String,
    tags: Vec<String>,
    standing: Standing,
}

impl List {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let selection = select::select(&self.names)?;
        let rows = rows(&selection);
        let analysis = &selection.analysis;
        let text = match (self.json, self.md, self.platforms) {
            (true, _, platforms) => as_json(analysis, &rows, platforms),
            (_, true, true) => matrix::markdown(analysis, &rows),
            (_, true, false) => document::markdown(analysis, &rows),
            (_, _, true) => matrix::plain(analysis, &rows),
            _ => as_text(analysis, &rows),
        };
        output::result(&text)?;
        Ok(Answer::Done)
    }
}

fn rows(selection: &Selection) -> Vec<Row> {
    let analysis = &selection.analysis;
    let mut ids: Vec<ClassId> = Vec::new();
    for chosen in &selection.chosen {
        if analysis.is_listed(chosen.class) && !ids.contains(&chosen.class) {
            ids.push(chosen.class);
        }
    }
    let mut rows: Vec<Row> = ids.into_iter().map(|id| row(analysis, id)).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn row(analysis: &Analysis, id: ClassId) -> Row {
    let class = analysis.class(id);
    Row {
        class: id,
        name: class.name().to_string(),
        summary: provenance::first_sentence(&class.ast.doc),
        tags: analysis.tags(id),
        standing: standing::here(&analysis.program(id, &host())),
    }
}

impl Row {
    fn runs(&self) -> bool {
        matches!(self.standing, Standing::Runs(_))
    }

    fn gaps(&self) -> &[Gap] {
        match &self.standing {
            Standing::Incomplete(gaps) => gaps,
            _ => &[],
        }
    }

    /// The summary, followed by the tags.
    fn what(&self) -> String {
        match self.tags.is_empty() {
            true => self.summary.clone(),
            false => format!("{} [{}]", self.summary, self.tags.join(", ")),
        }
    }
}

fn as_text(analysis: &Analysis, rows: &[Row]) -> String {
    let (here, elsewhere): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|r| r.runs());
    let listed: Vec<Vec<String>> = here
        .iter()
        .map(|r| vec![r.name.clone(), r.what()])
        .collect();
    let mut out = output::columns(&listed);
    if !elsewhere.is_empty() {
        if !here.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("Not on this machine ({}):\n", host()));
        for row in elsewhere {
            out.push_str(&reasons(analysis, row));
        }
    }
    out
}

fn reasons(analysis: &Analysis, row: &Row) -> String {
    match &row.standing {
        Standing::Runs(_) => String::new(),
        Standing::Absent(needs) => format!("  {}: {needs}\n", row.name),
        Standing::Incomplete(gaps) => {
            let mut out = format!("  {}: no port defines\n", row.name);
            for gap in gaps {
                out.push_str(&format!("      {}\n", analysis.gap_text(gap)));
            }
            out
        }
    }
}

/// The platforms on which the benchmark runs, in as few words as possible.
fn platforms(analysis: &Analysis, row: &Row) -> String {
    let targets = analysis.targets();
    let runs = |t: &&Target| {
        matches!(
            standing::somewhere(&analysis.program(row.class, t)),
            Standing::Runs(_)
        )
    };
    let (on, off): (Vec<&Target>, Vec<&Target>) = targets.iter().partition(|t| runs(t));
    if off.is_empty() {
        return "all".to_string();
    }
    if on.is_empty() {
        return nowhere(analysis, row);
    }
    let mut words: Vec<String> = Vec::new();
    for target in &on {
        // If it runs on all platforms of a system or instruction set, only that name is shown.
        let whole_system = !off.iter().any(|t| t.system == target.system);
        let whole_isa = !off.iter().any(|t| t.isa == target.isa);
        let word = match (whole_system, whole_isa) {
            (true, _) => target.system.clone(),
            (_, true) => target.isa.clone(),
            _ => target.to_string(),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

fn nowhere(analysis: &Analysis, row: &Row) -> String {
    let gaps = row.gaps().iter();
    let missing: Vec<String> = gaps
        .map(|g| format!("`{}`", analysis.gap_text(g)))
        .collect();
    match &row.standing {
        Standing::Absent(needs) => needs.clone(),
        _ => format!("missing: {}", missing.join(", ")),
    }
}

/// Escapes a text for a Markdown table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn as_json(analysis: &Analysis, rows: &[Row], platforms: bool) -> String {
    let all: Vec<Value> = rows
        .iter()
        .map(|r| object(analysis, r, platforms))
        .collect();
    let text = serde_json::to_string_pretty(&all).unwrap_or_default();
    text + "\n"
}

fn object(analysis: &Analysis, row: &Row, platforms: bool) -> Value {
    let class = analysis.class(row.class);
    let mut object = json!({
        "name": row.name,
        "summary": row.summary,
        "doc": class.ast.doc,
        "file": analysis.sources.file(class.file).path,
        "tags": row.tags,
        "runs_here": row.runs(),
        "missing": described(analysis, row.gaps()),
        "needs": match &row.standing {
            Standing::Absent(needs) => Some(needs),
            _ => None,
        },
    });
    if platforms {
        object["platforms"] = analysis
            .targets()
            .iter()
            .map(|t| on_target(analysis, row.class, t))
            .collect();
    }
    object
}

fn on_target(analysis: &Analysis, class: ClassId, target: &Target) -> (String, Value) {
    let value = match standing::somewhere(&analysis.program(class, target)) {
        Standing::Runs(_) => json!({"runs": true, "missing": [], "needs": null}),
        Standing::Absent(needs) => json!({"runs": false, "missing": [], "needs": needs}),
        Standing::Incomplete(gaps) => {
            json!({"runs": false, "missing": described(analysis, &gaps), "needs": null})
        }
    };
    (target.to_string(), value)
}

fn described(analysis: &Analysis, gaps: &[Gap]) -> Vec<String> {
    gaps.iter().map(|g| analysis.gap_text(g)).collect()
}
