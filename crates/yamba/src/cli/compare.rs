//! `yamba compare`

mod table;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use clap::Args;
use globset::{Glob, GlobMatcher};
use yamba_record::Run;
use yamba_store::Detail;

use super::Answer;
use super::failure::Failure;
use super::output;
use super::select::did_you_mean;
use super::store_option::StoreOption;
use crate::compare::identity::Difference;
use crate::compare::{Comparison, comparison, least_floor};
use crate::files;

/// What differs between two runs?
///
/// Each benchmark of both has the ratio of B to A with its interval. The unit of observation is the launch, and over the whole comparison the probability of
/// any false suspicion is 1 %. `~`: no difference is shown; `suspect`: it differs as far as these launches tell, which only measuring both again could confirm.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba compare latest~1 latest               the run before the last with the last
  yamba compare base latest 'lat_*'           a tagged run, some benchmarks
  yamba compare before.json after.json        two documents of `yamba run --json`
  yamba compare base latest --json | jq '.benchmarks[] | select(.suspect)'
  yamba compare laptop.json server.json --across

A run is named by its id or the beginning of one, a tag, `latest`, `latest~N`, or the file of its document.

Exit status: 0 compared, whatever differs; 2 the machines are unlike, or there is nothing to compare.")]
pub(super) struct Compare {
    /// The run that ratios are taken to
    a: String,
    /// The run that is compared with it
    b: String,
    /// Only these benchmarks: names or globs
    #[arg(value_name = "NAME|GLOB")]
    names: Vec<String>,
    /// Compare unlike machines too
    #[arg(long)]
    across: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Compare {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let (mut a, mut b) = (self.load(&self.a)?, self.load(&self.b)?);
        only(&self.names, &mut a, &mut b)?;
        let found = comparison(&a, &b, &least_floor);
        self.same_machine(&found)?;
        if found.benchmarks.is_empty() {
            return Err(Failure::new(format!(
                "{} and {} have no benchmark in common",
                self.a, self.b
            ))
            .help("the same benchmark has the same name, parameters and number of processes"));
        }
        self.warn(&found, &a, &b);
        if self.json {
            output::json(&found)?;
        } else {
            output::result(&table::text(&found, &self.a, &self.b))?;
        }
        Ok(Answer::Done)
    }

    /// A document where there is a file of that name, else from the store.
    fn load(&self, reference: &str) -> Result<Run, Failure> {
        let path = Path::new(reference);
        if path.is_file() {
            return document(path);
        }
        let mut store = self.store.open()?;
        let id = store.find(reference).map_err(|e| {
            Failure::new(e.to_string()).help(
                "name an id, a tag, `latest`, `latest~N` or the file of a document of `yamba run --json`",
            )
        })?;
        Ok(store.run(&id, Detail::Figures)?)
    }

    fn same_machine(&self, found: &Comparison) -> Result<(), Failure> {
        if self.across || found.machine.must.is_empty() {
            return Ok(());
        }
        let each: Vec<String> = found.machine.must.iter().map(told).collect();
        Err(
            Failure::new(format!("these are two machines: {}", each.join("; ")))
                .help("--across compares them nevertheless"),
        )
    }

    fn warn(&self, found: &Comparison, a: &Run, b: &Run) {
        let machine = &found.machine;
        for difference in machine.must.iter().chain(&machine.should) {
            output::note(&format!("warning: {}\n", told(difference)));
        }
        if !a.id.is_empty() && a.id == b.id {
            output::note("warning: A and B are the same run\n");
        }
        for (side, run) in [("A", a), ("B", b)] {
            if run.interrupted {
                output::note(&format!("warning: {side} was stopped before it was done\n"));
            }
        }
    }
}

/// `kernel is 6.1 in A, 6.2 in B`
fn told(difference: &Difference) -> String {
    let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
    format!(
        "{} is {} in A, {} in B",
        difference.name,
        said(&difference.a),
        said(&difference.b)
    )
}

fn document(path: &Path) -> Result<Run, Failure> {
    let place = path.display();
    let file =
        File::open(path).map_err(|e| Failure::new(format!("{place}: {}", files::plain(&e))))?;
    let run: Run = serde_json::from_reader(BufReader::new(file)).map_err(|e| {
        Failure::new(format!("{place}: no document of a run: {e}"))
            .help("`yamba run --json` writes one")
    })?;
    if run.schema != yamba_record::run::SCHEMA {
        return Err(Failure::new(format!(
            "{place}: its schema is `{}`, and only `{}` is known here",
            run.schema,
            yamba_record::run::SCHEMA
        )));
    }
    Ok(run)
}

/// Leaves the others out of both runs.
fn only(names: &[String], a: &mut Run, b: &mut Run) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    let all = a.benchmarks.iter().chain(&b.benchmarks);
    let known: BTreeSet<String> = all.map(|b| b.name.clone()).collect();
    let known: Vec<String> = known.into_iter().collect();
    let mut matchers: Vec<GlobMatcher> = Vec::new();
    for name in names {
        let glob = Glob::new(name)
            .map_err(|e| Failure::new(format!("`{name}` is no glob: {}", e.kind())))?;
        let matcher = glob.compile_matcher();
        if !known.iter().any(|k| matcher.is_match(k)) {
            let failure = Failure::new(format!("neither run has a benchmark {name}"));
            return Err(match did_you_mean(name, &known) {
                Some(text) => failure.help(text),
                None => failure,
            });
        }
        matchers.push(matcher);
    }
    let is_meant = |name: &str| matchers.iter().any(|m| m.is_match(name));
    for run in [a, b] {
        run.benchmarks.retain(|b| is_meant(&b.name));
    }
    Ok(())
}
