//! `yamba show`

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use indexmap::IndexSet;
use serde_json::Value;
use yamba_record::Benchmark;
use yamba_record::Run as Document;
use yamba_record::parameters::{Written, plain};
use yamba_record::run::SourceFile;
use yamba_store::{Detail, Listed, Store, export};
use yamba_toolchain::render::visible;

use super::run::{self, Run, Style, table};
use super::{Failure, StoreOption, output, run_ref};

/// Show what a stored run measured
///
/// The table that `yamba run` printed, its whole document, its raw batches, its tables for a paper,
/// its charts, or the texts that a benchmark was made of.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba show                                    the latest run
  yamba show latest~1 'lat_*'                   some benchmarks of the one before
  yamba show baseline --json --raw              the whole document of a run by its tag
  yamba show their.json                         a document that is in no store
  yamba show 3f2a pagefault --raw > raw.csv     every batch, a line each
  yamba show 3f2a lat_mem_rd --raw --at size=16K   those of one point
  yamba show latest --source pagefault          the files that the benchmark was made of
  yamba show latest --md > figures.md           tables for a paper (pandoc makes LaTeX of them)
  yamba show latest-vector > app.vector         what `yamba trace` counted last, to edit
  yamba show lat_mem_rd --plot                  the charts of a sweep, in the terminal")]
pub(super) struct Show {
    /// The beginning of an id, a tag, `latest`, or `latest~N`: the N-th before it; or a file with a
    /// run document [default: latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Benchmarks, by name or glob; all without
    #[arg(value_name = "NAME|GLOB")]
    names: Vec<String>,
    /// Print the run's JSON document, with the samples
    #[arg(long, group = "form")]
    json: bool,
    /// Every timed batch as it was read, a line each, as `yamba export --format csv-batches` writes
    /// them. With --json the whole document, with every batch
    #[arg(long, conflicts_with_all = ["md", "plot"])]
    raw: bool,
    /// Only the points where a parameter has this value; `P` is the number of processes, `T` that
    /// of threads. May be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = run::parameters::assignment, conflicts_with = "source")]
    at: Vec<(String, String)>,
    /// The figures as Markdown, a table for each group
    #[arg(long, group = "form")]
    md: bool,
    /// Charts of what was swept, as text as wide as the terminal
    #[arg(long, group = "form")]
    plot: bool,
    /// The texts of the files that this benchmark was made of
    #[arg(long, value_name = "NAME", conflicts_with_all = ["form", "raw", "names"])]
    source: Option<String>,
    #[command(flatten)]
    store: StoreOption,
}

impl Show {
    pub(super) fn run(self) -> Result<(), Failure> {
        let detail = if self.raw {
            Detail::Batches
        } else if self.json {
            Detail::Samples
        } else {
            Detail::Figures
        };
        let (mut run, names, unfinished) = self.read(detail)?;
        if let Some(name) = &self.source {
            output::result(&texts(&run, name)?)?;
            return Ok(());
        }
        if let Some(vector) = run.vector.as_ref().filter(|_| !self.json && !self.raw) {
            return output::json(vector);
        }
        run_ref::choose(&mut [&mut run], &names)?;
        choose(&mut run, &self.at)?;
        if self.raw {
            if !self.json {
                output::check_batches(&run)?;
            }
            output::note_without_batches(&run);
        }
        if self.json {
            if !self.raw {
                run = run.summary();
            }
            output::document(&run)?;
        } else if self.raw {
            output::written(|out| (export::BATCHES.write)(&run, out).map(drop))?;
        } else if self.md {
            let place = run_ref::place(&self.store, self.run.as_deref())?;
            output::result(&yamba_report::summary(&run, &place))?;
        } else if self.plot {
            output::result(&plots(&run)?)?;
        } else if run.benchmarks.is_empty() {
            output::note("note: this run has no benchmarks\n");
        } else {
            output::result(&table(&run, &style(&run)))?;
        }
        if let Some(why) = unfinished {
            output::note(&format!("note: this run {why}; this is what it had measured\n"));
        }
        Ok(())
    }

    /// Reads the run with the given detail. Also returns the selected benchmark names and, for an
    /// unfinished run, the reason.
    fn read(
        &self,
        detail: Detail,
    ) -> Result<(Document, Vec<String>, Option<&'static str>), Failure> {
        if let Some(file) = self.run.as_ref().filter(|r| run_ref::is_path(r)) {
            let mut runs = run_ref::Runs::new(self.store.choice());
            let run = if self.md {
                run_ref::load_for_page(&mut runs, file, detail)?
            } else {
                run_ref::load(&mut runs, file, detail)?
            };
            let unfinished = run.interrupted.then_some("was stopped");
            return Ok((run, self.names.clone(), unfinished));
        }
        let mut store = self.store.choice().existing()?;
        let (listed, names) = self.meant(&mut store)?;
        let run = store.run(&listed.id, detail)?;
        Ok((run, names, unfinished(&listed)))
    }

    /// The run and the benchmark names. If the first word is no run but matches benchmarks of the
    /// latest run, it is taken as a name.
    fn meant(&self, store: &mut Store) -> Result<(Listed, Vec<String>), Failure> {
        let first = self.run.as_deref().unwrap_or("latest");
        let no_run = match run_ref::find(store, first) {
            Ok(listed) => return Ok((listed, self.names.clone())),
            Err(failure) => failure,
        };
        if self.source.is_some() {
            return Err(no_run);
        }
        let Ok(latest) = run_ref::find(store, "latest") else {
            return Err(no_run);
        };
        for name in &latest.benchmarks {
            if run_ref::means(first, name)? {
                let names = [&[first.to_owned()], &self.names[..]].concat();
                return Ok((latest, names));
            }
        }
        Err(no_run)
    }
}

/// The reason why a run is unfinished.
fn unfinished(run: &Listed) -> Option<&'static str> {
    match (run.complete, run.head.interrupted, run.is_running) {
        (true, _, _) => None,
        (_, true, _) => Some("was stopped"),
        (_, _, Some(true)) => Some("is still measured"),
        (_, _, Some(false)) => Some("was cut off"),
        (_, _, None) => Some("was cut off or is still measured"),
    }
}

/// Width of charts without a terminal.
const PLOT_WIDTH: usize = 80;

fn plots(run: &Document) -> Result<String, Failure> {
    let text = yamba_report::plots(run, output::width().unwrap_or(PLOT_WIDTH));
    if text.is_empty() {
        return Err(Failure::new("there is nothing to draw: no benchmark of these was measured at several values of a name, or at several points of a chart that it declares")
            .help("`yamba run lat_mem_rd` measures a sweep; `yamba list NAME` shows a benchmark's charts"));
    }
    Ok(visible(&text))
}

/// The style that the run's own command line requested.
fn style(run: &Document) -> Style {
    let recorded = Run::from_arguments(&run.producer.arguments);
    Style {
        colour: output::colour_on(&std::io::stdout()),
        set_parameters: run.producer.set_parameters().into_iter().map(str::to_owned).collect(),
        tests: recorded.as_ref().is_some_and(|run| run.table),
        topics: topics(run),
        width: output::width(),
    }
}

/// The group of each benchmark; empty if there is only one group.
fn topics(run: &Document) -> BTreeMap<String, String> {
    let each = run.benchmarks.iter();
    let of = each.filter_map(|b| Some((b.name.clone(), b.declaration.provenance.topic.clone()?)));
    let of: BTreeMap<String, String> = of.collect();
    match of.values().collect::<BTreeSet<_>>().len() {
        0 | 1 => BTreeMap::new(),
        _ => of,
    }
}

/// The names under which `--at` selects the numbers of processes and threads.
const PROCESSES: &str = "P";
const THREADS: &str = "T";

/// Keeps the entries that have all of these values. Values are written as for `--set`, so `16K` is
/// 16384.
fn choose(run: &mut Document, at: &[(String, String)]) -> Result<(), Failure> {
    for (name, wanted) in at {
        let known = run.benchmarks.iter().filter_map(|b| value(b, name));
        let known: Vec<Value> = known.collect();
        if known.is_empty() {
            return Err(Failure::new(format!("no benchmark here has a parameter {name}"))
                .help("`yamba show` without --at shows the points with their parameters"));
        }
        let written = Written::among(wanted, &known);
        let is_wanted = |value: &Value| written.is(value);
        if !known.iter().any(is_wanted) {
            let known: IndexSet<String> = known.iter().map(plain).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(Failure::new(format!("no point has {name}={wanted}"))
                .help(format!("those that were measured: {known}")));
        }
        run.benchmarks.retain(|b| value(b, name).as_ref().is_some_and(is_wanted));
    }
    Ok(())
}

fn value(benchmark: &Benchmark, name: &str) -> Option<Value> {
    match benchmark.parameters.get(name) {
        None if name == PROCESSES => Some(Value::from(benchmark.environment.processes)),
        None if name == THREADS => Some(Value::from(benchmark.environment.threads)),
        value => value.cloned(),
    }
}

/// Each file's text under its path.
fn texts(run: &Document, name: &str) -> Result<String, Failure> {
    let files = files(run, name)?;
    let mut out = String::new();
    for file in files {
        let path = run_ref::plain(&file.path);
        let text = run.sources.get(&file.hash).ok_or_else(|| {
            Failure::new(format!("the run names {path} but does not hold its text"))
                .help("the document that it came from was not whole")
        })?;
        out.push_str(&format!("==> {path} <==\n{text}"));
        out.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(out)
}

fn files<'a>(run: &'a Document, name: &str) -> Result<Vec<&'a SourceFile>, Failure> {
    let named: Vec<_> = run.benchmarks.iter().filter(|b| b.name == name).collect();
    if named.is_empty() {
        return Err(run_ref::unknown(name, &[run]));
    }
    let mut files: Vec<&SourceFile> = Vec::new();
    let includes = named.iter().flat_map(|b| &b.declaration.provenance.inputs);
    let includes = includes.flat_map(|inputs| &inputs.includes);
    for file in named.iter().flat_map(|b| &b.declaration.provenance.files).chain(includes) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Failure::new(format!("the run holds no source of {name}"))
            .help("it is not from a file, or was measured by something that keeps none"));
    }
    Ok(files)
}
