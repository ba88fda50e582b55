//! `yamba import`

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Failure, StoreOption, output, quantity, run_ref};
use clap::Args;
use serde_json::{Value, json};
use yamba_record::Run;
use yamba_store::import;

/// Import runs into the store: documents from other machines, results of lmbench and of Google Benchmark
///
/// If one run cannot be imported, or is stored already, nothing changes. The tags of a document are not imported: `yamba tag` names a run here. Results of
/// another program are marked as such: they are single numbers, without intervals.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba import their.json                   a run measured elsewhere; prints its id
  yamba import old/*.json --store all.sqlite
  yamba import results/x86_64-linux-gnu/*.[0-9]   what lmbench measured
  yamba import their-gbench.json            --benchmark_format=json of Google Benchmark
  yamba run --json pagefault > mine.json    what another machine can import

Exit status: 0 taken; 2 nothing was.")]
pub(super) struct Import {
    /// Run documents, result files of lmbench, JSON of Google Benchmark
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The most bytes that all files together may have
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = quantity::bytes)]
    limit: u64,
    /// An array of {file, id, left_out}: the run of each file, and its lines that are no known figure
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Import {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut runs = Vec::new();
        let mut left = self.limit;
        for path in &self.files {
            let (mut run, length) = import::read_stored_entries(path, left)?;
            // Foreign tags are dropped: here a tag such as `baseline` names the run that a local user chose.
            let tags = std::mem::take(&mut run.tags);
            if is_to_come(run.started_unix_s) {
                let message = format!(
                    "{}: the run says that it began in the future",
                    path.display()
                );
                return Err(Failure::new(message)
                .help("it would be `latest` until then: set this machine's clock, or correct started_unix_s in the document"));
            }
            left = left.saturating_sub(length);
            runs.push((path, run, tags));
        }
        let mut store = self.store.choice().open()?;
        let known: Vec<String> = store.runs()?.into_iter().map(|r| r.id).collect();
        for (place, (path, run, _)) in runs.iter().enumerate() {
            let shown = path.display();
            if known.contains(&run.id) {
                let id = &run.id;
                let message = format!("{shown}: the run {id} is in the store already");
                let help = format!("`yamba show {id}` shows it; `yamba rm {id}` takes it out");
                return Err(Failure::new(message).help(help));
            }
            if let Some((other, ..)) = runs[..place].iter().find(|(_, r, _)| r.id == run.id) {
                return Err(
                    Failure::new(format!("{shown}: the same run as {}", other.display()))
                        .help("name each run once"),
                );
            }
        }
        store.add_all(&runs.iter().map(|(_, run, _)| run).collect::<Vec<_>>())?;
        for (path, run, tags) in &runs {
            output::note(&untagged(path, run, tags));
        }
        if self.json {
            let taken = runs.iter().map(|(path, run, _)| {
                let file = path.to_string_lossy();
                json!({"file": file, "id": run.id, "left_out": unknown(run)})
            });
            return output::json(&taken.collect::<Vec<Value>>());
        }
        for (path, run, _) in &runs {
            output::result(&format!("{}\n", run.id))?;
            output::note(&left_out(path, run));
        }
        Ok(())
    }
}

/// Whether the start lies more than a day in the future. Clocks and time zones differ by less.
fn is_to_come(started_unix_s: Option<f64>) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let bound = now.map_or(0.0, |d| d.as_secs_f64()) + 86_400.0;
    started_unix_s.is_some_and(|s| s > bound)
}

/// A note about the document's tags that are not imported.
fn untagged<E>(path: &Path, run: &Run<E>, tags: &[String]) -> String {
    if tags.is_empty() {
        return String::new();
    }
    format!(
        "note: {}: its tags are not taken: {}\nhelp: `yamba tag {} NAME` names it here\n",
        path.display(),
        run_ref::plain(&tags.join(" ")),
        run.id
    )
}

/// Parts of another program's results that are missing from the run.
fn unknown<E>(run: &Run<E>) -> &[String] {
    let imported = run.producer.imported.as_ref();
    imported.map_or(&[], |i| &i.left_out)
}

fn left_out<E>(path: &Path, run: &Run<E>) -> String {
    let places = unknown(run);
    if places.is_empty() {
        return String::new();
    }
    let mut text = format!("note: {}: no known figure, and left out:\n", path.display());
    for place in places {
        text.push_str(&format!("  {}\n", run_ref::plain(place)));
    }
    text
}
