//! `yamba export`

use std::io;
use std::path::PathBuf;

use super::{Failure, StoreOption, output, run_ref};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use yamba_record::Run;
use yamba_store::Detail;
use yamba_store::export::{BATCHES, FORMATS, Format};

/// Write a run in a form that other programs read
///
/// No format contains an invalid figure as if it were valid. docs/export.md says for each format
/// how it marks or omits them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba export --format csv -o latest.csv               the latest run as a table
  yamba export before --format go > before.txt          then: benchstat before.txt after.txt
  yamba export --format prometheus -o /var/lib/node_exporter/yamba.prom
  yamba export --format influx | influx write --bucket speed
  yamba export 3f09 --format json | jq '.benchmarks[].name'
  yamba export latest-vector --format json -o app.json   what `yamba trace` counted last, for `yamba import` elsewhere
  yamba export old.json --format csv-batches          a document that is in no store")]
pub(super) struct Export {
    /// A run of the store (an id or its beginning, a tag, latest, latest~N), or a file with a run
    /// document
    #[arg(default_value = "latest")]
    run: String,
    /// The form
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: &'static Format,
    /// Write this file, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOption,
}

fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let names = FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.about));
    let parser = PossibleValuesParser::from(names.collect::<Vec<_>>());
    parser.try_map(|name| FORMATS.iter().find(|f| f.name == name).ok_or("no such format"))
}

impl Export {
    pub(super) fn run(self) -> Result<(), Failure> {
        let format = self.format;
        let mut runs = run_ref::Runs::new(self.store.choice());
        let run = run_ref::load(&mut runs, &self.run, format.detail)?;
        check(format, &run)?;
        // Whether such a format has a figure is known only when it is written.
        let mut text = Vec::new();
        let held = format.needs_figures.then(|| (format.write)(&run, &mut text));
        if matches!(held, Some(Ok(0))) {
            let message = format!("no entry has a valid figure that {} can contain", format.name);
            return Err(Failure::new(message).help(
                "`--format csv` contains all entries; `yamba export --help` lists the others",
            ));
        }
        let all = run.benchmarks.len();
        // A closed reader keeps this number: nothing is omitted then.
        let mut written = all;
        let write = |out: &mut (dyn io::Write + Send)| {
            written = match held {
                Some(count) => {
                    let count = count?;
                    out.write_all(&text)?;
                    count
                }
                None => (format.write)(&run, out)?,
            };
            Ok(())
        };
        match &self.output {
            Some(path) => output::whole(path, write)?,
            None => output::written(write)?,
        }
        if format.detail == Detail::Batches {
            output::note_without_batches(&run);
        }
        if written < all {
            output::note(&format!(
                "{} of {all} entries have no figure here: they are invalid, or of a kind that {} does not have, or stand there already\n",
                all - written,
                format.name
            ));
        }
        Ok(())
    }
}

/// Refuses a format in which nothing of the run would stand.
fn check(format: &Format, run: &Run) -> Result<(), Failure> {
    if format.name == "json" {
        return Ok(());
    }
    if run.benchmarks.is_empty() {
        let message = format!("the run has no entry that {} could contain", format.name);
        return Err(Failure::new(message)
            .help("`--format json` contains its document, with the vector of an application"));
    }
    if format.name == BATCHES.name { output::check_batches(run) } else { Ok(()) }
}
