//! `yamba fleet report`

use std::path::PathBuf;

use clap::Args;
use yamba_fleet::slow_nodes::{document, report};
use yamba_record::number::counted;
use yamba_session::document_file;
use yamba_session::fleet_report;

use crate::cli::{Answer, Failure, StoreOption, output};
use crate::views;

/// Find the slow nodes of a fleet
///
/// Nodes of one kind are compared with each other: nodes with the same processor, system and
/// settings are a class, and levels that many nodes share, such as two clock rates, are modes
/// within it. A node is slow if the figures of a resource are slower than those of its class. About
/// one report in twenty names a node that is not slow; with more than 250 nodes, expect at most one
/// such node for 5000. The report always says which slowdown it could find.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba fleet report results/                    a folder of documents, one of each node
  yamba fleet report cluster -o cluster.html     a fleet in the store, with a page
  yamba fleet report a.json b.json c.json d.json e.json
  yamba fleet report results/ --json | jq '.slow[].node'

A document names its node, or its file does. Documents of several jobs are in one folder for each job, or name their job; the last job decides.

Exit status: 0 nodes were compared; 1 there was nothing to compare; 2 wrong usage or input.")]
pub(in crate::cli) struct FleetReport {
    /// The name of a fleet in the store, a folder of documents, or runs: ids, tags or files
    #[arg(value_name = "FLEET|FOLDER|RUN", required = true)]
    names: Vec<String>,
    /// Nodes that should have a document, one a line: those without are listed as missing
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// Also make a page with a heat map and the history of each node
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl FleetReport {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let found = fleet_report::read(&self.names, &self.store.choice())?;
        if found.runs.is_empty() {
            return Err(nothing(&self.names, &found.failed));
        }
        output::check(self.output.as_deref())?;
        let expected = [found.expected, self.expected()?].concat();
        let report = report(&found.runs);
        let document = document(&self.name(), &report, &found.failed, &expected);
        output::json_or_text(self.json, &document, |document| {
            output::text(&views::fleet::view(document, &report))
        })?;
        if let Some(path) = &self.output {
            output::page(&yamba_report::page(&views::fleet::page(&document, &report)), path)?;
        }
        Ok(if document.has_tests() { Answer::Done } else { Answer::No })
    }

    /// The name of the report.
    fn name(&self) -> String {
        match &self.names[..] {
            [one] => one.trim_end_matches('/').to_owned(),
            several => counted(several.len(), "run", "runs"),
        }
    }

    fn expected(&self) -> Result<Vec<String>, Failure> {
        let Some(path) = &self.nodes else {
            return Ok(Vec::new());
        };
        let names = |text: &str| {
            let names = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(names.map(str::to_owned).collect())
        };
        let help = "name a file with one node a line";
        document_file::read(path, names, help, help)
    }
}

fn nothing(names: &[String], failed: &[yamba_fleet::slow_nodes::Failed]) -> Failure {
    let reason = failed.first().map_or("", |first| &first.reason);
    Failure::new(format!("{}: no run could be read: {reason}", names.join(", ")))
        .help("name a fleet, a folder of documents of `yamba run --json`, or runs")
}
