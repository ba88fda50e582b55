//! `yamba list --platforms`: a matrix of benchmarks and platforms.

use indexmap::IndexMap;
use yamba_lang::model::World;
use yamba_lang::{Analysis, Target};

use super::{ListedBenchmark, lacks};
use crate::cli::output;
use yamba_report::wrapped;
use yamba_session::standing;

const LEGEND: &str = "yes: runs there   untested: complete, but nothing was ever run on that system   (n): n members are missing   -: not for that platform";

/// One line per benchmark and one column per platform, followed by the missing members. Where the
/// terminal is too narrow for the columns, each line says in words what they have.
pub(super) fn plain(analysis: &Analysis, rows: &[ListedBenchmark], width: Option<usize>) -> String {
    let targets = analysis.targets();
    let table = table(analysis, rows);
    let columns = output::columns(&table);
    let longest = columns.lines().map(|line| line.chars().count()).max();
    let mut out = if width.is_some_and(|width| longest > Some(width)) {
        in_words(&targets, &table, width)
    } else {
        columns
    };
    out.push('\n');
    out.push_str(&wrapped(LEGEND, width, ""));
    for row in rows {
        // Platforms with the same missing members are grouped.
        let mut platforms: IndexMap<Vec<String>, Vec<String>> = IndexMap::new();
        for target in &targets {
            let standing = standing::somewhere(&analysis.program(row.class, target));
            let (_, missing) = lacks(analysis, &standing);
            if !missing.is_empty() {
                platforms.entry(missing).or_default().push(target.to_string());
            }
        }
        for (missing, on) in platforms {
            let heading = format!("{} on {}:", row.name, on.join(", "));
            out.push_str(&format!("\n{}", wrapped(&heading, width, "  ")));
            let missing = missing.iter();
            out.extend(missing.map(|m| wrapped(&format!("    {m}"), width, "      ")));
        }
    }
    out
}

/// The table as a list: for each system what its instruction sets have. Systems with the same cells
/// share one entry.
fn in_words(targets: &[Target], table: &[Vec<String>], width: Option<usize>) -> String {
    let rows = table.iter().skip(1).map(|cells| {
        let mut systems: IndexMap<&str, IndexMap<&str, Vec<&str>>> = IndexMap::new();
        for (target, cell) in targets.iter().zip(&cells[1..]) {
            let isas = systems.entry(&target.system).or_default();
            isas.entry(cell).or_default().push(&target.isa);
        }
        let mut same: IndexMap<String, Vec<&str>> = IndexMap::new();
        for (system, isas) in &systems {
            let of_isas = isas.iter().map(|(cell, isas)| match isas.len() {
                _ if systems[system].len() == 1 => (*cell).to_owned(),
                _ => format!("{cell} on {}", isas.join(" ")),
            });
            let words = of_isas.collect::<Vec<_>>().join(", ");
            same.entry(words).or_default().push(system);
        }
        let words = same.iter().map(|(w, s)| format!("{}: {w}", s.join(", ")));
        (cells[0].clone(), words.collect::<Vec<_>>().join("; "))
    });
    let rows: Vec<(String, String)> = rows.collect();
    let name_width = rows.iter().map(|(name, _)| name.chars().count()).max();
    output::entries(&rows, name_width.unwrap_or(0), "", width)
}

/// The same table in Markdown, without the missing members.
pub(super) fn markdown(analysis: &Analysis, rows: &[ListedBenchmark]) -> String {
    let mut table = table(analysis, rows);
    table.insert(1, vec!["---".to_owned(); table[0].len()]);
    let lines = table.iter().map(|cells| format!("| {} |\n", cells.join(" | ")));
    format!("{}\n{}\n", lines.collect::<String>(), LEGEND.replace("   ", "; "))
}

fn table(analysis: &Analysis, rows: &[ListedBenchmark]) -> Vec<Vec<String>> {
    let targets = analysis.targets();
    let titles = targets.iter().map(Target::to_string);
    let mut table = vec![["benchmark".to_owned()].into_iter().chain(titles).collect()];
    for row in rows {
        let cells = targets.iter().map(|target| cell(analysis, row, target));
        table.push([row.name.clone()].into_iter().chain(cells).collect());
    }
    table
}

fn cell(analysis: &Analysis, row: &ListedBenchmark, target: &Target) -> String {
    match standing::somewhere(&analysis.program(row.class, target)) {
        World::Runs(_) if standing::is_untested(analysis, target) => "untested".to_string(),
        World::Runs(_) => "yes".to_string(),
        World::Absent(_) => "-".to_string(),
        World::Incomplete(gaps) => format!("({})", gaps.len()),
    }
}
