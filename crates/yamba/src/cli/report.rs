//! `yamba report`

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use yamba_record::{Benchmark, Run};
use yamba_store::{Detail, Store};

use super::Answer;
use super::failure::Failure;
use super::output;
use super::store_option::StoreOption;
use crate::files::plain;

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
        let mut store = None;
        let mut runs = Vec::new();
        for reference in &self.runs {
            let path = Path::new(reference);
            runs.push(match path.is_file() {
                true => document(path)?,
                false => self.kept(&mut store, reference)?,
            });
        }
        let page = yamba_report::html(&runs);
        if self.output == Path::new("-") {
            output::result(&page)?;
            return Ok(Answer::Done);
        }
        std::fs::write(&self.output, &page).map_err(|e| {
            Failure::new(format!("{}: {}", self.output.display(), plain(&e)))
                .help("name another file with -o")
        })?;
        output::note(&format!(
            "{}: {} bytes\n",
            self.output.display(),
            page.len()
        ));
        Ok(Answer::Done)
    }

    /// A run of the store, which is opened once, when the first is wanted.
    fn kept(&self, store: &mut Option<Store>, reference: &str) -> Result<Run, Failure> {
        if looks_like_a_path(reference) {
            return Err(Failure::new(format!("{reference}: there is no such file"))
                .help("name a run's document, or a kept run: `yamba runs` lists them"));
        }
        let store = match store {
            Some(store) => store,
            none => none.insert(self.store.open()?),
        };
        let id = store.find(reference)?;
        Ok(store.run(&id, Detail::Samples)?)
    }
}

/// Ids, tags and `latest~1` have neither a folder nor an ending of a document.
fn looks_like_a_path(reference: &str) -> bool {
    reference.contains('/') || reference.ends_with(".json")
}

/// An entry as a page wants it: its raw intervals, which are nearly all of a document, are forgotten as soon as it is read.
#[derive(Deserialize)]
#[serde(from = "Benchmark")]
struct Light(Benchmark);

impl From<Benchmark> for Light {
    fn from(mut benchmark: Benchmark) -> Light {
        benchmark.intervals = Vec::new();
        benchmark.sizing = Vec::new();
        Light(benchmark)
    }
}

fn document(path: &Path) -> Result<Run, Failure> {
    let failure = |text: String| Failure::new(format!("{}: {text}", path.display()));
    let file = File::open(path).map_err(|e| failure(plain(&e)))?;
    let run: Run<Light> = serde_json::from_reader(BufReader::new(file)).map_err(|e| {
        failure(format!("this is no run's document: {e}"))
            .help("`yamba run NAME --json > run.json` writes one")
    })?;
    if run.schema != yamba_record::run::SCHEMA {
        return Err(failure(format!(
            "its schema is {:?}, and only {:?} is understood",
            run.schema,
            yamba_record::run::SCHEMA
        )));
    }
    Ok(run.map(|light| light.0))
}
