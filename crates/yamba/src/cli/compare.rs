//! `yamba compare`

mod again;
mod earlier;
mod looking;
mod table;

use std::time::Duration;

use clap::Args;
use yamba_record::{Benchmark, Run};
use yamba_store::Detail;

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::quantity;
use super::store_option::StoreOption;
use crate::compare::again::not_measured;
use crate::compare::budget::{NO_TIME, Wish, within};
use crate::compare::floors::Floors;
use crate::compare::gate::{self, gate};
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

Exit status: 0 compared, whatever differs; 1 with --fail-above: something is slower by more, or measuring was stopped; 2 the machines are unlike, or there is
nothing to compare, or nothing that the gate could judge.")]
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
        let earlier = earlier::runs(&self.store, &a, &b);
        let floors = Floors::of(&a, &b, &earlier, &of_pair);
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
        self.measure_anew(&mut found, &a, &b, &earlier)?;
        found.gate = self.fail_above.map(|limit| gate(&found, limit));
        if self.json {
            output::json(&found)?;
        } else {
            output::result(&table::text(&found, &self.a, &self.b))?;
        }
        if found.gate.as_ref().is_some_and(|gate| gate.gated == 0) {
            return Err(Failure::new("there is nothing that the gate could judge")
                .help("the reasons stand above; measure what has no figure again"));
        }
        let is_stopped = found.again.as_ref().is_some_and(|again| again.interrupted);
        let has_failed = found.gate.as_ref().is_some_and(|gate| !gate.passed);
        Ok(match is_stopped || has_failed {
            true => Answer::No,
            false => Answer::Done,
        })
    }

    /// With `--again` whatever has a ratio, for a gate what it could fail for: no program is slower than itself.
    fn measure_anew(
        &self,
        found: &mut Comparison,
        a: &Run,
        b: &Run,
        earlier: &[Run],
    ) -> Result<(), Failure> {
        let is_meant = |entry: &Entry| match (self.again, self.fail_above) {
            (true, _) => entry.ratio.is_some(),
            (false, Some(limit)) => gate::is_candidate(entry, limit),
            (false, None) => false,
        };
        let all = pairing::paired(&a.benchmarks, &b.benchmarks).both;
        let meant = all.iter().zip(&found.benchmarks);
        let meant = meant
            .filter(|(_, entry)| is_meant(entry))
            .map(|((_, of_a, of_b), entry)| (entry, *of_a, *of_b));
        let is_unchanged = found.machine.must.is_empty() && found.machine.should.is_empty();
        let is_settled = |(_, of_a, of_b): &(&Entry, &Benchmark, &Benchmark)| {
            let program = of_a.about.program.as_ref();
            !self.again
                && is_unchanged
                && program.is_some()
                && program == of_b.about.program.as_ref()
        };
        let (settled, meant): (Vec<_>, Vec<_>) = meant.partition(is_settled);
        let settled = settled.into_iter().filter(|(entry, ..)| entry.suspect);
        let settled: Vec<&Benchmark> = settled.map(|(_, of_a, _)| of_a).collect();
        let fits = self.fits(&meant, again::first_launches(&a.plan, &b.plan));
        let (pairs, late): (Vec<_>, Vec<_>) = meant.iter().zip(fits).partition(|(_, fits)| *fits);
        let pairs: Vec<_> = pairs
            .iter()
            .map(|((_, of_a, of_b), _)| (*of_a, *of_b))
            .collect();
        let late: Vec<&Benchmark> = late.iter().map(|((_, of_a, _), _)| *of_a).collect();
        if !pairs.is_empty() {
            let gate = self.fail_above.map(|limit| again::Judged {
                limit,
                time: self.at_most,
            });
            let request = again::Request {
                trusts_documents: self.trust_sources,
                a,
                b,
                pairs,
                earlier,
                store: &self.store,
                gate,
            };
            again::again(&request, found)?;
        }
        for (left, reason) in [(settled, ONE_PROGRAM), (late, NO_TIME)] {
            let is_left = |entry: &Entry| left.iter().any(|of| entry.is_of(of));
            not_measured(found, reason, &is_left);
        }
        Ok(())
    }

    /// What of it a gate has the time to measure; with `--again` everything.
    fn fits(&self, meant: &[(&Entry, &Benchmark, &Benchmark)], launches: u64) -> Vec<bool> {
        if self.again {
            return vec![true; meant.len()];
        }
        let wish = |(entry, of_a, of_b): &(&Entry, &Benchmark, &Benchmark)| Wish {
            slowdown: gate::apparent(entry).unwrap_or(0.0),
            seconds: looking::seconds(of_a, launches) + looking::seconds(of_b, launches),
        };
        let wishes: Vec<Wish> = meant.iter().map(wish).collect();
        within(&wishes, self.at_most.as_secs_f64())
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
