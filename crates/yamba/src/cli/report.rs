//! `yamba report`

use std::path::{Path, PathBuf};

use clap::Args;
use yamba_record::Run;
use yamba_store::Detail;

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::store_option::StoreOption;
use super::study::of_run;

/// Make a page of runs: one file that opens in a browser, offline
///
/// Several runs stand side by side. Tables can be sorted and filtered; each figure unfolds to its launches, its samples, its evidence and the command that shows
/// its raw intervals.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba report                                 the latest run, to report.html
  yamba report latest~1 latest -o both.html    two runs side by side
  yamba report run.json -o - > page.html       a document that `yamba run --json` wrote, to standard output")]
pub(super) struct Report {
    /// A kept run (an id or its beginning, a tag, `latest`, `latest~1`), or the path of a run's document
    #[arg(value_name = "RUN", default_value = "latest")]
    runs: Vec<String>,
    /// Where the page goes; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    #[command(flatten)]
    store: StoreOption,
}

impl Report {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let mut kept = kept::Runs::new(&self.store);
        let each = self.runs.iter();
        let runs = each.map(|reference| kept.load(reference, Detail::Samples));
        let runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
        let stores = self.runs.iter().map(|r| kept.store_of(r));
        let stores: Vec<Option<String>> = stores.collect::<Result<_, _>>()?;
        let page = yamba_report::html(&runs, &studies(&runs), &stores);
        if self.output == Path::new("-") {
            output::content(&page)?;
            return Ok(Answer::Done);
        }
        output::whole(&self.output, |out| out.write_all(page.as_bytes()))?;
        output::note(&format!(
            "{}: {} bytes\n",
            self.output.display(),
            page.len()
        ));
        Ok(Answer::Done)
    }
}

/// Those that the runs were measured for. What cannot be read of one is said, and the page has the figures.
fn studies(runs: &[Run]) -> Vec<yamba_report::Study> {
    let pages = runs
        .iter()
        .enumerate()
        .map(|(number, run)| of_run::page(run, number));
    let read = pages.filter_map(|page| {
        page.unwrap_or_else(|why| {
            output::note(&format!("note: the study of a run is left out: {why}\n"));
            None
        })
    });
    read.collect()
}
