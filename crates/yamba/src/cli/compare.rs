//! `yamba compare`

mod again;
mod earlier;
mod inputs;
mod looking;
mod side;
mod table;

use std::time::Duration;

use clap::Args;
use yamba_record::Run;
use yamba_store::Detail;

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::quantity;
use super::store_option::StoreOption;
use crate::compare::again::not_measured;
use crate::compare::floors::Floors;
use crate::compare::gate::{self, Asked, gate};
use crate::compare::turns::Thresholds;
use crate::compare::unit::of_pair;
use crate::compare::{Comparison, Entry, Terms, comparison, pairing};

/// Why a gate does not measure what it suspects.
const ONE_PROGRAM: &str = "both sides are the same program, so what differs is noise";

/// What differs between two runs?
///
/// Each benchmark of both has the ratio of B to A with its interval. The unit of observation is the launch, and over the whole comparison the probability of
/// any false suspicion is 1 %, as far as the machine did not drift between the runs. `~`: no difference is shown; `suspect`: it differs as far as these launches tell, which only measuring both again could confirm,
/// as --again does: A's programs are made anew from the sources that A kept.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba compare latest~1 latest               the run before the last with the last
  yamba compare base latest 'lat_*'           a tagged run, some benchmarks
  yamba compare before.json after.json        two documents of `yamba run --json`
  yamba compare base latest --json | jq '.benchmarks[] | select(.suspect)'
  yamba compare base latest --again 'lat_*'   both sides measured anew, in turn: slower or faster?
  yamba compare base latest --fail-above 5%   a gate: what seems slower is measured anew first
  yamba compare laptop.json server.json --across

A run is named by its id or the beginning of one, a tag, `latest`, `latest~N`, or the file of its document.

Exit status: 0 compared, whatever differs, also where --again was stopped: the table says so; 1 with --fail-above: something is slower by more, or measuring was
stopped, with --strict also: something is undecided, lost or slower within its own noise; 2 the machines are unlike, or there is nothing to compare, or nothing that the gate could judge or decide.")]
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
    /// Measure both sides anew, in turn and with twice the launches, before anything is called slower or faster
    #[arg(long)]
    again: bool,
    /// Exit with 1 if anything that measuring anew confirms to be slower is slower by more than this; 5% or 0.05
    #[arg(long, value_name = "SHARE", value_parser = quantity::share)]
    fail_above: Option<f64>,
    /// With --fail-above: measure anew for about so long at most; what seems slowest comes first
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = quantity::time)]
    at_most: Duration,
    /// With --fail-above: exit with 1 also if anything is left undecided, has a figure in A and none in B, or is slower by more within its own noise
    #[arg(long, requires = "fail_above")]
    strict: bool,
    /// Compile also the sources of a run that was imported or is read from a file: they run with all your rights
    #[arg(long)]
    trust_sources: bool,
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
        let is_gate = self.fail_above.is_some();
        let earlier = earlier::known(&self.store, &a, &b, is_gate);
        let floors = Floors::of(&a, &b, &earlier.runs, &of_pair);
        let terms = Terms {
            floors: &floors,
            units: &of_pair,
            looks: 1,
        };
        let mut found = comparison(&a, &b, &terms);
        self.same_machine(&found)?;
        if found.benchmarks.is_empty() {
            return Err(Failure::new(format!(
                "{} and {} have no benchmark in common",
                self.a, self.b
            ))
            .help("the same benchmark has the same name, parameters and number of processes"));
        }
        self.warn(&found, &a, &b);
        let limit = self.fail_above;
        let thresholds = limit.map(|limit| Thresholds::of(limit, &a, &b, &earlier.pairs));
        if let Some(thresholds) = &thresholds {
            thresholds.set(&mut found);
        }
        let asked = thresholds.as_ref().zip(limit);
        let asked = asked.map(|(thresholds, limit)| again::Judged {
            limit,
            thresholds,
            time: self.at_most,
        });
        self.measure_anew(&mut found, [&a, &b], &earlier.runs, asked)?;
        found.gate = self.fail_above.map(|limit| {
            let strict = self.strict;
            gate(&found, Asked { limit, strict })
        });
        if self.json {
            output::json(&found)?;
        } else {
            output::result(&table::text(&found, &self.a, &self.b))?;
        }
        answer(&found)
    }

    fn measure_anew(
        &self,
        found: &mut Comparison,
        [a, b]: [&Run; 2],
        earlier: &[Run],
        gate: Option<again::Judged<'_>>,
    ) -> Result<(), Failure> {
        let is_settled = |entry: &Entry| self.is_settled(entry);
        not_measured(found, ONE_PROGRAM, &|e| e.suspect && is_settled(e));
        let all = pairing::paired(&a.benchmarks, &b.benchmarks).both;
        let all = all.into_iter().zip(&found.benchmarks);
        let meant = all.filter(|(_, entry)| self.is_meant(entry) && !is_settled(entry));
        let pairs: Vec<_> = meant.map(|((_, of_a, of_b), _)| (of_a, of_b)).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let request = again::Request {
            trusts_documents: self.trust_sources,
            a,
            b,
            pairs,
            earlier,
            store: &self.store,
            gate,
            is_asked: self.again,
        };
        again::again(request, found)
    }

    /// With `--again` whatever has a ratio, for a gate what it could fail for.
    fn is_meant(&self, entry: &Entry) -> bool {
        match (self.again, self.fail_above) {
            (true, _) => entry.ratio.is_some(),
            (false, Some(limit)) => gate::is_candidate(entry, limit),
            (false, None) => false,
        }
    }

    /// Whether a gate need not measure it: no program is slower than itself.
    fn is_settled(&self, entry: &Entry) -> bool {
        !self.again && self.is_meant(entry) && entry.is_one_program
    }

    fn same_machine(&self, found: &Comparison) -> Result<(), Failure> {
        if self.across || found.machine.must.is_empty() {
            return Ok(());
        }
        let each = found.machine.must.iter();
        let each: Vec<String> = each.map(|d| d.told("in A", "in B")).collect();
        Err(
            Failure::new(format!("these are two machines: {}", each.join("; ")))
                .help("--across compares them nevertheless"),
        )
    }

    fn warn(&self, found: &Comparison, a: &Run, b: &Run) {
        let machine = &found.machine;
        for difference in machine.must.iter().chain(&machine.should) {
            output::note(&format!("warning: {}\n", difference.told("in A", "in B")));
        }
        if !a.id.is_empty() && a.id == b.id {
            output::note("warning: A and B are the same run\n");
        }
        for (side, run) in [("A", a), ("B", b)] {
            if run.interrupted {
                output::note(&format!("warning: {side} was stopped before it was done\n"));
            }
            if let Some(text) = run.whose() {
                output::note(&format!("warning: {side}: {}\n", kept::plain(&text)));
            }
        }
    }
}

/// Without a gate nothing that differs is a failure.
fn answer(found: &Comparison) -> Result<Answer, Failure> {
    let Some(gate) = &found.gate else {
        return Ok(Answer::Done);
    };
    if found.is_stopped() || !gate.slower.is_empty() {
        return Ok(Answer::No);
    }
    match gate.judged {
        0 if gate.gated == 0 => Err(Failure::new("there is nothing that the gate could judge")
            .help("the reasons stand above; measure what has no figure again")),
        0 => Err(Failure::new("there is nothing that the gate could decide")
            .help("the reasons stand above; --at-most gives it more time, a list of benchmarks less to do")),
        _ if gate.passed => Ok(Answer::Done),
        _ => Ok(Answer::No),
    }
}
