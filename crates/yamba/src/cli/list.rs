//! `yamba list`

mod class;
mod description;
mod document;
mod matrix;

use std::io;

use clap::Args;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};
use yamba_lang::model::World;
use yamba_lang::{Analysis, ClassId};

use super::select::{Found, How};
use super::{Failure, Names, Selection, TargetOption, output, select};
use yamba_report::wrapped;
use yamba_session::standing;
use yamba_toolchain::build::host;
use yamba_toolchain::{provenance, suite_topics};

/// List benchmarks, or describe one
///
/// With no name: the whole suite, and each --lib, with what is missing where something cannot be
/// measured. A glob or a word lists some; a word is searched for in the names, tags and
/// documentation.
///
/// The name of a class, or a file, describes it: which class gave which member, and the parameters
/// with their values. On this machine the ports are those that apply here. For another target,
/// other machines of it may have more: they follow with their conditions.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba list                       what runs here, and why the rest does not
  yamba list clock                 the benchmarks whose name, tags or documentation have this word
  yamba list 'lat_*' --json        names, tags, runs_here, missing
  yamba list pagefault             one benchmark, with its parameters and members
  yamba list pagefault --target riscv64-linux
  yamba list compiler              a class to import, with its port for this machine
  yamba list lat_mem_rd --json | jq '.[].composition.parameters'
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
    /// As Markdown
    #[arg(long, conflicts_with = "json")]
    md: bool,
    #[command(flatten)]
    target: TargetOption,
}

struct ListedBenchmark {
    class: ClassId,
    name: String,
    summary: String,
    tags: Vec<String>,
    standing: World,
}

impl List {
    pub(super) fn run(self) -> Result<(), Failure> {
        let Found { selection, words } = select::search(&self.names)?;
        let names_patterns = selection.chosen.iter().any(|chosen| chosen.how == How::Pattern);
        if !self.names.names.is_empty() && !names_patterns && !self.platforms && !self.md {
            return self.describe(&selection);
        }
        if self.target.target.is_some() {
            return Err(Failure::new("--target is for the description of a class")
                .help("name a class; `--platforms` shows where each benchmark runs"));
        }
        let rows = rows(&selection);
        if !words.is_empty() {
            self.print_heading(&words, rows.is_empty())?;
        }
        let analysis = &selection.analysis;
        if self.json {
            let all = rows.iter().map(|r| object(analysis, r, self.platforms));
            return output::json(&all.collect::<Vec<Value>>());
        }
        output::result(&match (self.md, self.platforms) {
            (true, true) => matrix::markdown(analysis, &rows),
            (true, false) => document::markdown(analysis, &rows),
            (false, true) => matrix::plain(analysis, &rows, output::width()),
            (false, false) => as_text(analysis, &rows, output::width()),
        })
    }

    /// Says that no class has one of these names, and what the rows below have instead.
    fn print_heading(&self, words: &[String], is_empty: bool) -> Result<(), Failure> {
        if is_empty {
            let all = quoted(words);
            return Err(Failure::new(format!(
                "no benchmark's name, tags or documentation have {all}"
            ))
            .help("`yamba list` shows what there is"));
        }
        let (class, it) = match words.len() {
            1 => ("No class has", "that has this word"),
            _ => ("No classes have", "that has one of these words"),
        };
        let heading = format!(
            "{class} the name {}. Each benchmark with a name, tag or documentation {it}:\n\n",
            quoted(words)
        );
        // JSON and Markdown have no place for this heading, so it goes to standard error.
        if self.json || self.md {
            output::note(&heading);
            return Ok(());
        }
        output::result(&wrapped(heading.trim_end(), output::width(), ""))?;
        output::result("\n")
    }

    fn describe(&self, selection: &Selection) -> Result<(), Failure> {
        if selection.chosen.is_empty() {
            return Err(Failure::new("there is no class in what was named")
                .help("`yamba list` shows what there is"));
        }
        let analysis = &selection.analysis;
        let target = self.target.resolve(analysis)?;
        let chosen = selection.chosen.iter();
        let all = chosen.map(|chosen| description::description(analysis, chosen.class, &target));
        let all: Vec<_> = all.collect();
        output::json_or_text(self.json, &all, |all| {
            let texts: Vec<String> = all.iter().map(class::text).collect();
            texts.join("\n")
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

/// The benchmarks that run here by topic, then the others with what is missing.
fn as_text(analysis: &Analysis, rows: &[ListedBenchmark], width: Option<usize>) -> String {
    let runs = |row: &&ListedBenchmark| matches!(row.standing, World::Runs(_));
    let (here, elsewhere): (Vec<&ListedBenchmark>, Vec<&ListedBenchmark>) =
        rows.iter().partition(runs);
    let names = here.iter().map(|row| row.name.chars().count());
    let name_width = names.max().unwrap_or(0);
    let mut parts = Vec::new();
    let topics = by_topic(analysis, here.into_iter());
    for (folder, rows) in &topics {
        let rows = rows.iter().map(|r| (r.name.clone(), r.what()));
        let rows: Vec<(String, String)> = rows.collect();
        parts.push(if topics.len() > 1 {
            let title = suite_topics::title(folder);
            let title = output::painted(title, "1", output::colour_on(&io::stdout()));
            let entries = output::entries(&rows, name_width, "  ", width);
            format!("{title}\n{entries}")
        } else {
            output::entries(&rows, name_width, "", width)
        });
    }
    if !elsewhere.is_empty() {
        let mut part = format!("Not on this machine ({}):\n", host());
        for row in elsewhere {
            let (needs, missing) = lacks(analysis, &row.standing);
            let needs = needs.unwrap_or("no port defines");
            part.push_str(&wrapped(&format!("  {}: {needs}", row.name), width, "    "));
            for member in missing {
                part.push_str(&wrapped(&format!("      {member}"), width, "        "));
            }
        }
        parts.push(part);
    }
    parts.join("\n")
}

/// The benchmarks by topic, in display order.
fn by_topic<'a, 'b>(
    analysis: &'a Analysis,
    rows: impl Iterator<Item = &'b ListedBenchmark>,
) -> IndexMap<&'a str, Vec<&'b ListedBenchmark>> {
    let mut topics: IndexMap<&str, Vec<&ListedBenchmark>> = IndexMap::new();
    for row in rows {
        let folder = suite_topics::folder(analysis, row.class);
        topics.entry(folder).or_default().push(row);
    }
    topics.sort_by_key(|folder, _| suite_topics::place(folder));
    topics
}

fn quoted(words: &[String]) -> String {
    let words = words.iter().map(|word| format!("`{word}`"));
    words.collect::<Vec<_>>().join(" or ")
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
            let mut value = on_platform(analysis, &standing, "runs");
            value["untested"] = json!(standing::is_untested(analysis, &target));
            (target.to_string(), value)
        });
        object["platforms"] = targets.collect();
    }
    object
}

fn on_platform(analysis: &Analysis, standing: &World, runs: &str) -> Value {
    let (needs, missing) = lacks(analysis, standing);
    json!({runs: matches!(standing, World::Runs(_)), "missing": missing, "needs": needs})
}
