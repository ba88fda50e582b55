//! `yamba compare`

use clap::Args;
use yamba_record::Run;
use yamba_report::{markdown, short_label};
use yamba_store::Detail;

use super::gate_options::GateOptions;
use super::{Answer, Failure, StoreOption, Terminal, arguments, output, run_ref, system_failure};
use yamba_compare::gate::{self, Asked, Limits, gate};
use yamba_compare::unit::choose_unit;
use yamba_compare::{ComparedEntry, Comparison, comparison, pairing};
use yamba_harness::Stop;
use yamba_session::remeasure;

use crate::views;

/// The level of a comment's heading.
pub(super) const COMMENT_HEADING: usize = 3;

/// Compare two runs
///
/// Each benchmark of both has the ratio of B to A with its interval. The unit of observation is the
/// launch, and over the whole comparison the probability of any false suspicion is 1 %, as far as
/// the machine did not drift between the runs. `~`: no difference is shown; `suspect`: it differs
/// as far as these launches show; `same program`: it differs, but both sides are one program. Only
/// re-measuring both sides confirms a suspect: --remeasure rebuilds A's programs from the sources
/// that A kept.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba compare latest~1 latest               the run before the last with the last
  yamba compare base latest 'lat_*'           a tagged run, some benchmarks
  yamba compare before.json after.json        two documents of `yamba run --json`
  yamba compare base latest --json | jq '.benchmarks[] | select(.suspect)'
  yamba compare base latest --remeasure 'lat_*'   both sides re-measured, interleaved: slower or faster?
  yamba compare base latest --fail-above 5%   a gate: what seems slower is re-measured first
  yamba compare base latest --fail-above 5% --fail-above 'lat_tcp*=20%'   other limits for some benchmarks
  yamba compare base latest --fail-above 5% --md > comment.md   for a pull request
  yamba compare laptop.json server.json --across

A run is named by its id or the beginning of one, a tag, `latest`, `latest~N`, or the file of its document.

Exit status: 0 compared, whatever differs, also where --remeasure was stopped: the table says so; 1 with --fail-above: something is slower by more, or re-measuring was
stopped, with --strict also: something is undecided or lost; 2 the machines are unlike, or there is nothing to compare, or no benchmark that the gate could judge.")]
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
    /// Re-measure both sides, interleaved and with three times the launches, before anything is
    /// called slower or faster
    #[arg(long)]
    remeasure: bool,
    #[command(flatten)]
    gate: GateOptions,
    /// Compile also the sources of a run that was imported or is read from a file: they run with
    /// all your rights
    #[arg(long)]
    trust_sources: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
    /// A comment for a pull request, in Markdown: the result in a line, what differs, what is not
    /// decided, and the rest folded
    #[arg(long, conflicts_with = "json")]
    md: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Compare {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let mut runs = run_ref::Runs::new(self.store.choice());
        let mut a = run_ref::load(&mut runs, &self.a, Detail::Figures)?;
        let mut b = run_ref::load(&mut runs, &self.b, Detail::Figures)?;
        run_ref::choose(&mut [&mut a, &mut b], &self.names)?;
        let mut found = comparison(&a, &b, &choose_unit);
        self.same_machine(&found)?;
        self.another_run(&a, &b)?;
        if found.benchmarks.is_empty() {
            return Err(Failure::new(format!(
                "{} and {} have no benchmark in common{}",
                self.a,
                self.b,
                first_labels(&found)
            ))
            .help("the same benchmark has the same name, parameters, and numbers of processes and threads"));
        }
        let limits = self.gate.limits(&[&a, &b])?;
        self.warn(&found, &a, &b);
        self.remeasure(&mut found, [&a, &b], &limits)?;
        found.settle_one_programs();
        if self.gate.is_on() {
            found.gate = Some(gate(&found, &Asked { limits, strict: self.gate.strict }));
        }
        output::json_or_text(self.json, &found, |f| {
            if self.md {
                markdown::document(&views::compare::comment(f, &self.a, &self.b), COMMENT_HEADING)
            } else {
                output::text(&views::compare::view(f, &self.a, &self.b))
            }
        })?;
        answer(&found)
    }

    fn remeasure(
        &self,
        found: &mut Comparison,
        [a, b]: [&Run; 2],
        limits: &Limits,
    ) -> Result<(), Failure> {
        let is_settled = |entry: &ComparedEntry| self.is_settled(entry, limits);
        let all = pairing::paired(&a.benchmarks, &b.benchmarks).both;
        let all = all.into_iter().zip(&found.benchmarks);
        let meant = all.filter(|(_, entry)| self.is_meant(entry, limits) && !is_settled(entry));
        let pairs: Vec<_> = meant.map(|((_, of_a, of_b), _)| (of_a, of_b)).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let arguments = arguments();
        let request = remeasure::Request {
            trusts_documents: self.trust_sources,
            a,
            b,
            pairs,
            arguments: &arguments,
        };
        let terminal = Terminal::default();
        let Some(prepared) = remeasure::prepare(request, found, &terminal)? else {
            return Ok(());
        };
        let stop = Stop::on_signals().map_err(system_failure)?;
        let stored = prepared.measure(found, &stop, &self.store.choice(), &terminal)?;
        if !stored.is_empty() {
            let ids = stored.join(", ");
            output::note(&format!("the re-measured runs are stored: {ids}\n"));
        }
        Ok(())
    }

    /// Selects the benchmarks to re-measure: with `--remeasure` all with a ratio, for a gate those
    /// that could fail it.
    fn is_meant(&self, entry: &ComparedEntry, limits: &Limits) -> bool {
        match limits.limit(&entry.of.name) {
            _ if self.remeasure => entry.ratio.is_some(),
            Some(limit) => gate::is_candidate(entry, limit),
            None => false,
        }
    }

    /// Whether a gate can skip re-measuring: both sides are the same program.
    fn is_settled(&self, entry: &ComparedEntry, limits: &Limits) -> bool {
        !self.remeasure && self.is_meant(entry, limits) && entry.is_one_program
    }

    fn same_machine(&self, found: &Comparison) -> Result<(), Failure> {
        if self.across || found.machine.identity.is_empty() {
            return Ok(());
        }
        let each = found.machine.identity.iter().map(|d| d.describe("in A", "in B"));
        let each = each.collect::<Vec<_>>().join("; ");
        Err(Failure::new(format!("these are two machines: {each}"))
            .help("--across compares them nevertheless"))
    }

    /// A gate of a run against itself would pass whatever was changed. Re-measured it may compare.
    fn another_run(&self, a: &Run, b: &Run) -> Result<(), Failure> {
        if !self.gate.is_on() || self.remeasure || !is_same(a, b) {
            return Ok(());
        }
        Err(Failure::new(format!("A and B are the same run, {}, so no gate can judge", a.id))
            .help("name the run of the changed program as B: `yamba runs` lists all"))
    }

    fn warn(&self, found: &Comparison, a: &Run, b: &Run) {
        let machine = &found.machine;
        for difference in machine.identity.iter().chain(&machine.state) {
            output::note(&format!("warning: {}\n", difference.describe("in A", "in B")));
        }
        if is_same(a, b) {
            output::note("warning: A and B are the same run\n");
        }
        for (side, run) in [("A", a), ("B", b)] {
            if run.interrupted {
                output::note(&format!("warning: {side} was stopped before it was done\n"));
            }
            if let Some(text) = run.whose() {
                output::note(&format!("warning: {side}: {}\n", run_ref::plain(&text)));
            }
        }
    }
}

fn is_same(a: &Run, b: &Run) -> bool {
    !a.id.is_empty() && a.id == b.id
}

/// The first benchmark of each side, whose names may differ in a parameter only.
fn first_labels(found: &Comparison) -> String {
    let first = |side: &str| {
        let of = &found.unmatched.iter().find(|e| e.side == side)?.of;
        Some(short_label(&of.label()))
    };
    let both = first("a").zip(first("b"));
    both.map_or_else(String::new, |(a, b)| format!(": A has {a}, and B has {b}"))
}

/// Without a gate, differences do not affect the exit status.
pub(super) fn answer(found: &Comparison) -> Result<Answer, Failure> {
    let has_ratio = found.benchmarks.iter().any(|entry| entry.ratio.is_some());
    let Some(gate) = &found.gate else {
        return if has_ratio || found.is_stopped() {
            Ok(Answer::Done)
        } else {
            Err(Failure::new("nothing could be compared").help(help(found)))
        };
    };
    if found.is_stopped() || !gate.slower.is_empty() {
        return Ok(Answer::No);
    }
    if gate.gated == 0 {
        return Err(Failure::new("there is nothing that the gate could judge").help(help(found)));
    }
    Ok(if gate.passed { Answer::Done } else { Answer::No })
}

/// How to get figures that can be compared.
fn help(found: &Comparison) -> &'static str {
    let is_single = |entry: &ComparedEntry| entry.launches.iter().any(|count| *count < 2);
    if found.benchmarks.iter().all(is_single) {
        "the reasons stand above; a figure needs several launches on both sides: a single number, as of most other programs, does not say how much it varies"
    } else {
        "the reasons stand above; measure again at a quieter time, or with `--launches 12`: a figure needs six launches with quiet batches"
    }
}
