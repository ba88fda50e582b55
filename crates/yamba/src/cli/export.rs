//! `yamba export`

use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use yamba_record::Run;
use yamba_store::export::{self, FORMATS, Format};

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::store_option::StoreOption;

/// Write a run in a form that other programs read
///
/// Figures that are not valid are in none of them as good ones: docs/export.md says what each form has in their place.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba export --format csv -o latest.csv               the latest run as a table
  yamba export before --format go > before.txt          then: benchstat before.txt after.txt
  yamba export --format prometheus -o /var/lib/node_exporter/yamba.prom
  yamba export 3f09 --format json | jq '.benchmarks[].name'
  yamba export --format parquet-intervals -o run.parquet   then: pandas.read_parquet('run.parquet')
  yamba export old.json --format csv-intervals          a document that is in no store")]
pub(super) struct Export {
    /// A run of the store (an id or its beginning, a tag, latest, latest~N), or a file with a run document
    #[arg(default_value = "latest")]
    run: String,
    /// The form
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: String,
    /// Write this file, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOption,
}

fn formats() -> PossibleValuesParser {
    let names = FORMATS
        .iter()
        .map(|f| PossibleValue::new(f.name).help(f.about));
    names.collect::<Vec<_>>().into()
}

impl Export {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let format = FORMATS
            .iter()
            .find(|f| f.name == self.format)
            .ok_or_else(|| Failure::new(format!("{}: no such format", self.format)))?;
        if format.is_binary && self.output.is_none() && io::stdout().is_terminal() {
            return Err(
                Failure::new(format!("{} is nothing for a terminal", format.name))
                    .help("name a file with -o FILE"),
            );
        }
        let run = kept::Runs::new(&self.store).load(&self.run, format.detail)?;
        match &self.output {
            Some(path) => whole(path, format, &run)?,
            None => {
                let mut out = BufWriter::new(io::stdout());
                (format.write)(&run, &mut out)?;
                out.flush()?;
            }
        }
        let lacking = export::without_figure(&run);
        if format.leaves_out && lacking > 0 {
            let all = run.benchmarks.len();
            output::note(&format!(
                "{lacking} of {all} entries have no valid figure, and none here\n"
            ));
        }
        let repeated = (format.repeated)(&run);
        if repeated > 0 {
            output::note(&format!(
                "{repeated} of {} entries stand there already, with the same parameters, and are left out\n",
                run.benchmarks.len()
            ));
        }
        Ok(Answer::Done)
    }
}

/// Writes a file beside and puts it in the place of the one that was there when it is complete.
fn whole(path: &Path, format: &Format, run: &Run) -> Result<(), Failure> {
    let cannot = |e: io::Error| {
        Failure::new(format!(
            "cannot write {}: {}",
            path.display(),
            crate::files::plain(&e)
        ))
    };
    // What a link points to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        return Err(Failure::new(format!(
            "{} is no file that could be replaced",
            path.display()
        ))
        .help("leave -o out and send standard output there"));
    }
    let folder = target
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new()
        .prefix(".yamba-export-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(cannot)?;
    let mut out = BufWriter::new(beside.as_file());
    (format.write)(run, &mut out).map_err(cannot)?;
    out.flush().map_err(cannot)?;
    drop(out);
    beside.as_file().sync_all().map_err(cannot)?;
    beside.persist(&target).map_err(|e| cannot(e.error))?;
    Ok(())
}
