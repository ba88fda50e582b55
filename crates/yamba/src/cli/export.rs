//! `yamba export`

use std::path::PathBuf;

use super::{Failure, StoreOption, output, run_ref};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use yamba_store::Detail;
use yamba_store::export::{self, FORMATS, Format};

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
        let run = run_ref::Runs::new(self.store.choice()).load(&self.run, format.detail)?;
        match &self.output {
            Some(path) => output::whole(path, |out| (format.write)(&run, out))?,
            None => output::written(|out| (format.write)(&run, out))?,
        }
        let all = run.benchmarks.len();
        if run.vector.is_some() && format.name != "json" {
            output::note(
                "note: the run holds an application's vector, which only `--format json` contains; `yamba show RUN` prints it alone\n",
            );
        }
        if format.detail == Detail::Batches {
            output::note_without_batches(&run);
        }
        let lacking = export::without_figure(&run);
        if format.omits_reasons && lacking > 0 {
            output::note(&format!(
                "{lacking} of {all} entries have no valid figure, and none here\n"
            ));
        }
        let repeated = (format.repeated)(&run);
        if repeated > 0 {
            output::note(&format!(
                "{repeated} of {all} entries stand there already, with the same parameters, and are left out\n"
            ));
        }
        Ok(())
    }
}
