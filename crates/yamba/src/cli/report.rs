//! `yamba report`

use std::path::{Path, PathBuf};

use super::study::of_run;
use super::{Failure, StoreOption, output, run_ref};
use crate::views::compare::side_by_side;
use clap::Args;
use yamba_record::Run;
use yamba_report::RunLocation;
use yamba_store::Detail;

/// Make an HTML page of runs
///
/// The page is one file that opens in a browser, offline. `--md` writes tables for a paper.
/// On the page, several runs stand side by side; of two, each row has the ratio and a verdict.
/// Tables can be sorted and filtered; each figure unfolds to its launches, its samples, its
/// evidence and the command that shows its raw batches.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba report                                 the latest run, to report.html
  yamba report --md latest~1 latest            the tables of two runs as Markdown (pandoc makes LaTeX of them)
  yamba report latest~1 latest -o both.html    two runs side by side
  yamba report run.json -o - > page.html       a document that `yamba run --json` wrote, to standard output")]
pub(super) struct Report {
    /// A stored run (an id or its beginning, a tag, `latest`, `latest~1`), or the path of a run's
    /// document
    #[arg(value_name = "RUN", default_value = "latest")]
    runs: Vec<String>,
    /// The figures of each run as Markdown, a table for each group, as `yamba show --md` has them
    #[arg(long)]
    md: bool,
    /// Where it goes; `-` is standard output [default: report.html, and for --md standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOption,
}

impl Report {
    pub(super) fn run(self) -> Result<(), Failure> {
        let text = if self.md { self.tables()? } else { self.page()? };
        // Tables go to standard output by default.
        let usual = if self.md { "-" } else { "report.html" };
        let named = self.output.as_deref();
        output::page(&text, named.unwrap_or(Path::new(usual)))
    }

    /// Each run's figures as Markdown tables.
    fn tables(&self) -> Result<String, Failure> {
        let mut kept = run_ref::Runs::new(self.store.choice());
        let each = self.runs.iter().map(|reference| {
            let run = run_ref::load_for_page(&mut kept, reference, Detail::Figures)?;
            let place = run_ref::place(&self.store, Some(reference))?;
            Ok(yamba_report::summary(&run, &place))
        });
        let each: Vec<String> = each.collect::<Result<_, Failure>>()?;
        Ok(each.join("\n"))
    }

    fn page(&self) -> Result<String, Failure> {
        let mut kept = run_ref::Runs::new(self.store.choice());
        let runs = self.runs.iter();
        let runs = runs.map(|run| run_ref::load_for_page(&mut kept, run, Detail::Samples));
        let runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
        let places = self.runs.iter().map(|r| run_ref::place(&self.store, Some(r)));
        let places: Vec<RunLocation> = places.collect::<Result<_, _>>()?;
        let comparison = match &runs[..] {
            [a, b] => side_by_side(a, b),
            _ => None,
        };
        Ok(yamba_report::html(&runs, &studies(&runs), &places, comparison.as_ref()))
    }
}

/// The studies for which the runs were measured. An unreadable study is reported, and the page
/// still shows its figures.
fn studies(runs: &[Run]) -> Vec<yamba_report::Study> {
    let read = runs.iter().enumerate().filter_map(|(number, run)| {
        of_run::page(run, number).unwrap_or_else(|why| {
            output::note(&format!("note: the study of a run is left out: {why}\n"));
            None
        })
    });
    read.collect()
}
