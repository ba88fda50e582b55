//! The suite as a documentation page, with a heading for each folder.

use yamba_lang::Analysis;

use super::{ListedBenchmark, by_topic, cell, platforms};
use yamba_toolchain::suite_topics;

/// The text of `yamba list --md`.
pub(super) fn markdown(analysis: &Analysis, rows: &[ListedBenchmark]) -> String {
    let mut out = String::new();
    let folders = by_topic(analysis, rows.iter());
    for (folder, rows) in &folders {
        if folders.len() > 1 {
            out.push_str(&format!("\n## {}\n\n", suite_topics::title(folder)));
        }
        out.push_str("| benchmark | what it measures | on |\n| --- | --- | --- |\n");
        for row in rows {
            out.push_str(&format!(
                "| `{}` | {} | {} |\n",
                row.name,
                cell(&row.what()),
                cell(&platforms(analysis, row))
            ));
        }
    }
    out.trim_start().to_string()
}
