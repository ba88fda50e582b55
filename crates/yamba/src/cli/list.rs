//! `yamba list`

mod document;
mod matrix;

use clap::Args;
use indexmap::IndexSet;
use serde_json::{Value, json};
use yamba_lang::model::World;
use yamba_lang::{Analysis, ClassId, Target};

use super::{Failure, Names, Selection, output, select};
use yamba_session::standing;
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
struct ListedBenchmark {
    class: ClassId,
    name: String,
    summary: String,
    tags: Vec<String>,
    standing: World,
}

impl List {
    pub(super) fn run(self) -> Result<(), Failure> {
        let selection = select::select(&self.names)?;
        let rows = rows(&selection);
        let analysis = &selection.analysis;
        if self.json {
            let all = rows.iter().map(|r| object(analysis, r, self.platforms));
            return output::json(&all.collect::<Vec<Value>>());
        }
        output::result(&match (self.md, self.platforms) {
            (true, true) => matrix::markdown(analysis, &rows),
            (true, false) => document::markdown(analysis, &rows),
            (false, true) => matrix::plain(analysis, &rows),
            (false, false) => as_text(analysis, &rows),
        })
    }
}

fn rows(selection: &Selection) -> Vec<ListedBenchmark> {
    let analysis = &selection.analysis;
    let listed = selection.chosen.iter().map(|chosen| chosen.class);
    let listed: IndexSet<ClassId> = listed.filter(|id| analysis.is_listed(*id)).collect();
    let mut rows: Vec<ListedBenchmark> = listed.into_iter().map(|id| row(analysis, id)).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn row(analysis: &Analysis, id: ClassId) -> ListedBenchmark {
    let class = analysis.class(id);
    ListedBenchmark {
        class: id,
        name: class.name().to_string(),
        summary: provenance::first_sentence(&class.ast.doc),
        tags: analysis.tags(id),
        standing: standing::here(&analysis.program(id, &host())),
    }
}

impl ListedBenchmark {
    /// The summary, followed by the tags.
    fn what(&self) -> String {
        match self.tags.join(", ") {
            none if none.is_empty() => self.summary.clone(),
            tags => format!("{} [{tags}]", self.summary),
        }
    }
}

fn as_text(analysis: &Analysis, rows: &[ListedBenchmark]) -> String {
    let runs = |row: &&ListedBenchmark| matches!(row.standing, World::Runs(_));
    let (here, elsewhere): (Vec<&ListedBenchmark>, Vec<&ListedBenchmark>) =
        rows.iter().partition(runs);
    let listed = here.iter().map(|r| vec![r.name.clone(), r.what()]);
    let mut out = output::columns(&listed.collect::<Vec<_>>());
    if !elsewhere.is_empty() {
        if !here.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("Not on this machine ({}):\n", host()));
    }
    for row in elsewhere {
        let (needs, missing) = lacks(analysis, &row.standing);
        let needs = needs.unwrap_or("no port defines");
        out.push_str(&format!("  {}: {needs}\n", row.name));
        for member in missing {
            out.push_str(&format!("      {member}\n"));
        }
    }
    out
}

/// The platform feature that is missing, and the members that no port defines.
fn lacks<'a>(analysis: &Analysis, standing: &'a World) -> (Option<&'a str>, Vec<String>) {
    match standing {
        World::Runs(_) => (None, Vec::new()),
        World::Absent(needs) => (Some(needs), Vec::new()),
        World::Incomplete(gaps) => {
            let missing = gaps.iter().map(|gap| analysis.gap_text(gap));
            (None, missing.collect())
        }
    }
}

/// The platforms on which the benchmark runs, in as few words as possible.
fn platforms(analysis: &Analysis, row: &ListedBenchmark) -> String {
    let targets = analysis.targets();
    let runs = |t: &&Target| {
        let standing = standing::somewhere(&analysis.program(row.class, t));
        matches!(standing, World::Runs(_))
    };
    let (on, off): (Vec<&Target>, Vec<&Target>) = targets.iter().partition(runs);
    if off.is_empty() {
        return "all".to_string();
    }
    if on.is_empty() {
        let (needs, missing) = lacks(analysis, &row.standing);
        let missing = missing.iter().map(|member| format!("`{member}`"));
        let missing = missing.collect::<Vec<_>>().join(", ");
        return needs.map_or(format!("missing: {missing}"), str::to_owned);
    }
    let words = on.iter().map(|target| {
        // If it runs on all platforms of a system or instruction set, only that name is shown.
        if !off.iter().any(|t| t.system == target.system) {
            target.system.clone()
        } else if !off.iter().any(|t| t.isa == target.isa) {
            target.isa.clone()
        } else {
            target.to_string()
        }
    });
    let words: IndexSet<String> = words.collect();
    words.into_iter().collect::<Vec<_>>().join(", ")
}

/// Escapes a text for a Markdown table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn object(analysis: &Analysis, row: &ListedBenchmark, platforms: bool) -> Value {
    let class = analysis.class(row.class);
    let mut object = on_platform(analysis, &row.standing, "runs_here");
    object["name"] = json!(row.name);
    object["summary"] = json!(row.summary);
    object["doc"] = json!(class.ast.doc);
    object["file"] = json!(analysis.sources.file(class.file).path);
    object["tags"] = json!(row.tags);
    if platforms {
        let targets = analysis.targets().into_iter().map(|target| {
            let standing = standing::somewhere(&analysis.program(row.class, &target));
            (target.to_string(), on_platform(analysis, &standing, "runs"))
        });
        object["platforms"] = targets.collect();
    }
    object
}

fn on_platform(analysis: &Analysis, standing: &World, runs: &str) -> Value {
    let (needs, missing) = lacks(analysis, standing);
    json!({runs: matches!(standing, World::Runs(_)), "missing": missing, "needs": needs})
}
