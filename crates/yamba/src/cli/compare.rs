//! `yamba compare`

mod table;

use clap::Args;
use yamba_record::Run;
use yamba_store::Detail;

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::store_option::StoreOption;
use crate::compare::identity::Difference;
use crate::compare::{Comparison, comparison, least_floor};

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
        let mut runs = kept::Runs::new(&self.store);
        let mut a = runs.load(&self.a, Detail::Figures)?;
        let mut b = runs.load(&self.b, Detail::Figures)?;
        kept::choose(&mut [&mut a, &mut b], &self.names)?;
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
