//! The suite as a documentation page, with a heading for each folder.

use yamba_lang::Analysis;
use yamba_toolchain::suite_topics;

use super::{ListedBenchmark, by_topic};

/// The text of `yamba list --md`: a line for each benchmark. Of those that run only if they are
/// named, it has only the names.
pub(super) fn markdown(analysis: &Analysis, rows: &[ListedBenchmark]) -> String {
    let mut out = String::new();
    let folders = by_topic(analysis, rows.iter());
    for (folder, rows) in &folders {
        if folders.len() > 1 {
            out.push_str(&format!("\n## {}\n\n", suite_topics::title(folder)));
        }
        let has = |row: &ListedBenchmark, tag: &str| row.tags.iter().any(|own| own == tag);
        let tag_that_excludes = |row: &ListedBenchmark| {
            ["demonstration", "optional"].into_iter().find(|tag| has(row, tag))
        };
        for row in rows.iter().filter(|row| tag_that_excludes(row).is_none()) {
            out.push_str(&format!("- `{}`", row.name));
            let summary = first_clause(&row.summary);
            if !summary.is_empty() {
                out.push_str(&format!(": {summary}"));
            }
            out.push('\n');
        }
        for tag in ["optional", "demonstration"] {
            let rows = rows.iter().filter(|row| tag_that_excludes(row) == Some(tag));
            let names: Vec<String> = rows.map(|row| format!("`{}`", row.name)).collect();
            if !names.is_empty() {
                out.push_str(&format!("- {tag}: {}\n", names.join(", ")));
            }
        }
    }
    out.trim_start().to_string()
}

/// The summary up to the first colon or semicolon that ends a clause.
fn first_clause(summary: &str) -> &str {
    let end = [": ", "; "].iter().filter_map(|mark| summary.find(mark)).min();
    &summary[..end.unwrap_or(summary.len())]
}
