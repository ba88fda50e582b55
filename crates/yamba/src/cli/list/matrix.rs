//! `yamba list --platforms`: a matrix of benchmarks and platforms.

use yamba_lang::{Analysis, Target};

use super::Row;
use crate::cli::output;
use yamba_session::standing::{self, Standing};

const LEGEND: &str = "yes: runs there   (n): n members are missing   -: not for that platform";

/// One line per benchmark and one column per platform, followed by the missing members.
pub(super) fn plain(analysis: &Analysis, rows: &[Row]) -> String {
    let targets = analysis.targets();
    let mut table = vec![heading(&targets)];
    table.extend(rows.iter().map(|row| line(analysis, row, &targets)));
    let mut out = format!("{}\n{LEGEND}\n", output::columns(&table));
    for row in rows {
        for (on, missing) in missing(analysis, row, &targets) {
            out.push_str(&format!("\n{} on {}:\n", row.name, on.join(", ")));
            missing
                .iter()
                .for_each(|m| out.push_str(&format!("    {m}\n")));
        }
    }
    out
}

/// The same table in Markdown, without the missing members.
pub(super) fn markdown(analysis: &Analysis, rows: &[Row]) -> String {
    let targets = analysis.targets();
    let mut out = markdown_line(&heading(&targets));
    out.push_str(&markdown_line(&vec!["---".to_string(); targets.len() + 1]));
    for row in rows {
        out.push_str(&markdown_line(&line(analysis, row, &targets)));
    }
    format!("{out}\n{}\n", LEGEND.replace("   ", "; "))
}

fn markdown_line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn heading(targets: &[Target]) -> Vec<String> {
    let names = targets.iter().map(Target::to_string);
    std::iter::once("benchmark".to_string())
        .chain(names)
        .collect()
}

fn line(analysis: &Analysis, row: &Row, targets: &[Target]) -> Vec<String> {
    let cells = targets.iter().map(|t| cell(analysis, row, t));
    std::iter::once(row.name.clone()).chain(cells).collect()
}

fn cell(analysis: &Analysis, row: &Row, target: &Target) -> String {
    match standing::somewhere(&analysis.program(row.class, target)) {
        Standing::Runs(_) => "yes".to_string(),
        Standing::Absent(_) => "-".to_string(),
        Standing::Incomplete(gaps) => format!("({})", gaps.len()),
    }
}

/// The platforms with their missing members. Platforms with the same missing members are grouped.
fn missing(analysis: &Analysis, row: &Row, targets: &[Target]) -> Vec<(Vec<String>, Vec<String>)> {
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for target in targets {
        let Standing::Incomplete(gaps) = standing::somewhere(&analysis.program(row.class, target))
        else {
            continue;
        };
        let members: Vec<String> = gaps.iter().map(|g| analysis.gap_text(g)).collect();
        match groups.iter_mut().find(|(_, m)| *m == members) {
            Some((on, _)) => on.push(target.to_string()),
            None => groups.push((vec![target.to_string()], members)),
        }
    }
    groups
}
