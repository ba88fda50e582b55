//! `yamba list --platforms`: a matrix of benchmarks and platforms.

use indexmap::IndexMap;
use yamba_lang::model::World;
use yamba_lang::{Analysis, Target};

use super::{ListedBenchmark, lacks};
use crate::cli::output;
use yamba_session::standing;

const LEGEND: &str = "yes: runs there   (n): n members are missing   -: not for that platform";

/// One line per benchmark and one column per platform, followed by the missing members.
pub(super) fn plain(analysis: &Analysis, rows: &[ListedBenchmark]) -> String {
    let targets = analysis.targets();
    let mut out = format!("{}\n{LEGEND}\n", output::columns(&table(analysis, rows)));
    for row in rows {
        // Platforms with the same missing members are grouped.
        let mut platforms: IndexMap<Vec<String>, Vec<String>> = IndexMap::new();
        for target in &targets {
            let standing = standing::somewhere(&analysis.program(row.class, target));
            let (_, missing) = lacks(analysis, &standing);
            if !missing.is_empty() {
                platforms
                    .entry(missing)
                    .or_default()
                    .push(target.to_string());
            }
        }
        for (missing, on) in platforms {
            out.push_str(&format!("\n{} on {}:\n", row.name, on.join(", ")));
            let missing = missing.iter().map(|member| format!("    {member}\n"));
            out.extend(missing);
        }
    }
    out
}

/// The same table in Markdown, without the missing members.
pub(super) fn markdown(analysis: &Analysis, rows: &[ListedBenchmark]) -> String {
    let mut table = table(analysis, rows);
    table.insert(1, vec!["---".to_owned(); table[0].len()]);
    let lines = table
        .iter()
        .map(|cells| format!("| {} |\n", cells.join(" | ")));
    format!(
        "{}\n{}\n",
        lines.collect::<String>(),
        LEGEND.replace("   ", "; ")
    )
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
        World::Runs(_) => "yes".to_string(),
        World::Absent(_) => "-".to_string(),
        World::Incomplete(gaps) => format!("({})", gaps.len()),
    }
}
