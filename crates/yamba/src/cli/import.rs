//! `yamba import`

mod captures;

use std::path::{Path, PathBuf};

use super::{Failure, StoreOption, output, quantity, run_ref};
use clap::Args;
use serde_json::{Value, json};
use yamba_record::Run;
use yamba_session::{clock, vectors};
use yamba_store::{Detail, import};

/// Import runs, vectors, captures and results of other programs
///
/// Reads documents and vectors from other machines, captures of bundles, and results of lmbench,
/// Google Benchmark, JMH, hyperfine, Go's benchmarks, pytest-benchmark, pyperf, criterion,
/// nanobench, divan, Catch2, sel4bench and Kanata Bench.
///
/// If one run cannot be imported, or is stored already, nothing changes. The tags of a document are
/// not imported: `yamba tag` names a run here. Results of another program are marked as such: they
/// are single numbers, without intervals, except those of several processes. A capture is what a
/// file of `yamba bundle` printed, or the log of a serial line with it. All captures of one run
/// become one run; what they lack is named.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba import their.json                   a run measured elsewhere; prints its id
  yamba import old/*.json --store all.sqlite
  yamba import nginx.vector                 an application's vector; `yamba predict nginx` finds it
  yamba import results/x86_64-linux-gnu/*.[0-9]   what lmbench measured
  yamba import their-gbench.json            --benchmark_format=json of Google Benchmark
  yamba import jmh.json                     `-rf json -rff jmh.json` of JMH; a fork is a launch
  yamba import times.json                   `--export-json times.json` of hyperfine
  yamba import go.txt                       `go test -bench . ./... > go.txt`
  yamba import pytest.json                  `--benchmark-json pytest.json` of pytest-benchmark
  yamba import pyperf.json                  `-o pyperf.json` of pyperf; a run is a launch
  yamba import target/criterion             the folder of criterion
  yamba import nanobench.txt divan.txt      the tables that nanobench and divan print
  yamba import catch2.xml                   `-r xml -o catch2.xml` of Catch2
  yamba import sel4bench.json kbench.txt    what sel4bench and Kanata Bench print
  yamba import console.log --bundle measure the log of a serial line; `yamba bundle` made `measure`
  yamba run --json pagefault > mine.json    what another machine can import

Exit status: 0 taken; 2 nothing was.")]
pub(super) struct Import {
    /// Run documents, vectors, captures of bundles, and results of other programs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The most bytes that all files together may have
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = quantity::bytes)]
    limit: u64,
    /// An array of {file, id, left_out}: the run of each file, and what of it is no known figure
    #[arg(long)]
    json: bool,
    /// The bundle that measured, for captures of a serial line: such a line does not carry the
    /// sources and origins of the benchmarks
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOption,
}

/// A run to store: the file that named it, the run, its tags, and what is missing.
type Read<'a> = (&'a Path, Run, Vec<String>, Vec<String>);

impl Import {
    /// Reads all files.
    fn read(&self) -> Result<Vec<Read<'_>>, Failure> {
        let mut left = self.limit;
        let (mut runs, others) = captures::read(&self.files, self.bundle.as_deref(), &mut left)?;
        for path in others {
            let (mut run, length) = import::read_with_length(path, left, Detail::Batches)?;
            // Foreign tags are dropped: here a tag such as `baseline` names the run that a local
            // user chose.
            let tags = std::mem::take(&mut run.tags);
            let left_out = run.left_out().to_vec();
            left = left.saturating_sub(length);
            runs.push((path, run, tags, left_out));
        }
        for (path, run, ..) in &runs {
            if run.vector.is_some() {
                vectors::from_run(run, &path.display().to_string())?;
            }
            if clock::ahead(run.started_unix_s).is_some() {
                let message =
                    format!("{}: the run says that it began in the future", path.display());
                return Err(Failure::new(message)
                .help("it would be `latest` until then: set this machine's clock, or correct started_unix_s in the document"));
            }
        }
        Ok(runs)
    }

    pub(super) fn run(self) -> Result<(), Failure> {
        let runs = self.read()?;
        let mut store = self.store.choice().open()?;
        let known: Vec<String> = store.runs()?.into_iter().map(|r| r.id).collect();
        for (place, (path, run, ..)) in runs.iter().enumerate() {
            let shown = path.display();
            if known.contains(&run.id) {
                let id = &run.id;
                let message = format!("{shown}: the run {id} is in the store already");
                let help = format!("`yamba show {id}` shows it; `yamba rm {id}` takes it out");
                return Err(Failure::new(message).help(help));
            }
            if let Some((other, ..)) = runs[..place].iter().find(|(_, r, ..)| r.id == run.id) {
                return Err(Failure::new(format!("{shown}: the same run as {}", other.display()))
                    .help("name each run once"));
            }
        }
        store.add_all(&runs.iter().map(|(_, run, ..)| run).collect::<Vec<_>>())?;
        for (path, run, tags, _) in &runs {
            output::note(&untagged(path, run, tags));
        }
        if self.json {
            let taken = runs.iter().map(|(path, run, _, left_out)| {
                let file = path.to_string_lossy();
                json!({"file": file, "id": run.id, "left_out": left_out})
            });
            return output::json(&taken.collect::<Vec<Value>>());
        }
        for (path, run, _, left_out) in &runs {
            output::result(&format!("{}\n", run.id))?;
            output::note(&run_ref::missing(&path.to_string_lossy(), run, left_out));
        }
        Ok(())
    }
}

/// A note about the document's tags that are not imported.
fn untagged(path: &Path, run: &Run, tags: &[String]) -> String {
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
