//! `yamba ab`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use yamba_compare::gate::{Asked, gate};
use yamba_harness::{Stop, drawn_seed};
use yamba_record::Run;
use yamba_record::number::listed;
use yamba_report::{command_line, markdown};
use yamba_session::ab::{LaunchPlan, Outcome, Plan, Request, Step, Words, Worktrees, prepare};
use yamba_toolchain::build::host;

use super::compare::{COMMENT_HEADING, answer};
use super::gate_options::GateOptions;
use super::output::{self, StatusLine};
use super::{Answer, Failure, StoreOption, Terminal, arguments, quantity, run_ref, system_failure};
use crate::views;

/// Numbers that are not compared are named up to this count.
const NAMED: usize = 8;

/// The share of their time that the processes of a comparison wait for a processor, from which on a
/// note says so.
const MUCH_WAITING: f64 = 0.05;

/// Compare two builds of benchmarks
///
/// Base and head are programs of Google Benchmark, Catch2, nanobench, criterion, divan, Go,
/// pytest-benchmark, pyperf or JMH: each is asked which. Fresh processes of both alternate in
/// random order, and each process is one observation of each benchmark. It goes on until each
/// benchmark is decided or the time is over. Over all benchmarks, the probability of any false
/// alarm is at most 1 %, if processes are independent.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba ab --base ./old/bench --head ./new/bench                the harness is found by asking the program
  yamba ab --base ./old/bench --head ./new/bench --fail-above 3% --md > comment.md --junit result.xml
  yamba ab --base 'old/bench --data big.txt' --head 'new/bench --data big.txt' --time 2min
  yamba ab --base 'pytest old/bench.py' --head 'pytest new/bench.py'
  yamba ab --base old/benchmarks.jar --head new/benchmarks.jar  JMH
  yamba ab --base 'git-2.39 status' --head 'git-2.47 status' --command --prepare sync
  yamba ab --worktrees main HEAD --build 'cargo bench --no-run' --bench 'target/release/deps/sort-*'

Exit status: 0 compared, whatever differs; 1 with --fail-above: something is slower by more, with --strict also:
something is undecided or lost, or a process failed; 1 too if it was stopped, or processes of a program failed again and again;
2 a program is not found, fails at once, or is of no known harness.")]
pub(super) struct Ab {
    #[command(flatten)]
    sides: Sides,
    /// Run this before each process, untimed
    #[arg(short = 'p', long, value_name = "COMMAND")]
    prepare: Option<String>,
    #[command(flatten)]
    gate: GateOptions,
    /// Stop after this time; six rounds are always measured
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = quantity::time)]
    time: Duration,
    /// How long a process measures each benchmark, where its harness has an option for that
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = quantity::time, hide_short_help = true)]
    benchmark_time: Duration,
    /// Benchmarks without a limit go on until they differ, or by no more than this
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = quantity::share, hide_short_help = true)]
    resolution: f64,
    /// End a process after this time
    #[arg(long, value_name = "TIME", value_parser = quantity::time, hide_short_help = true)]
    timeout: Option<Duration>,
    /// Seed of the random order [default: random, and recorded]
    #[arg(long, value_name = "N", value_parser = quantity::count(0..=u64::MAX), hide_short_help = true)]
    seed: Option<u64>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    /// A comment for a pull request, in Markdown
    #[arg(long, conflicts_with = "json")]
    md: bool,
    /// Also write the result as JUnit's XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    store: StoreOption,
}

/// The two sides, and how their programs are recognised.
#[derive(Args)]
struct Sides {
    /// The program that is compared with, and its arguments
    #[arg(long, value_name = "PROGRAM", required_unless_present = "worktrees", requires = "head")]
    base: Option<String>,
    /// The program that may be slower, and its arguments
    #[arg(long, value_name = "PROGRAM", requires = "base")]
    head: Option<String>,
    /// Two revisions of the git repository instead: each is built in a working tree of its own
    #[arg(long, num_args = 2, value_names = ["BASE", "HEAD"], conflicts_with_all = ["base", "head"], requires = "bench")]
    worktrees: Vec<String>,
    /// With --worktrees: the command that builds the program
    #[arg(long, value_name = "COMMAND", requires = "worktrees")]
    build: Option<String>,
    /// With --worktrees: the program in each working tree, a path or a glob, and its arguments
    #[arg(long, value_name = "PROGRAM", requires = "worktrees")]
    bench: Option<String>,
    /// With --worktrees: keep both working trees in this folder. One that has the build of the same
    /// commit by the same command is not built again
    #[arg(long, value_name = "FOLDER", requires = "worktrees", hide_short_help = true)]
    trees: Option<PathBuf>,
    /// Base and head are whole commands: each process is timed from its start to its end, with its
    /// output into a pipe
    #[arg(long, conflicts_with_all = ["adapter", "worktrees"])]
    command: bool,
    /// The harness, if it is not recognised
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

impl Ab {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        self.gate.check()?;
        output::check(self.junit.as_deref())?;
        let stop = Stop::on_signals().map_err(system_failure)?;
        output::unless_stopped(self.compared(&stop), &stop, Answer::No)
    }

    fn compared(&self, stop: &Stop) -> Result<Answer, Failure> {
        // Without `--trees`, the working trees are removed at the end.
        let trees = self.worktrees(stop)?;
        let sides = self.sides(trees.as_ref())?;
        let prepared = prepare(self.request(sides)?, stop)?;
        let line = StatusLine::new(&format!("{}: round 1", prepared.adapter()));
        let mut step = |step: &Step| line.show(&said(prepared.adapter(), step));
        let terminal = Terminal::default();
        let outcome =
            prepared.measure(&host(), stop, &self.store.choice(), &terminal, &mut step)?;
        drop(line);
        self.answer(outcome, stop)
    }

    fn worktrees(&self, stop: &Stop) -> Result<Option<Worktrees>, Failure> {
        let [base, head] = &self.sides.worktrees[..] else {
            return Ok(None);
        };
        let revisions = [base.clone(), head.clone()];
        let trees =
            Worktrees::new(&revisions, self.sides.build.as_deref(), self.sides.trees.as_deref())?;
        for (side, revision) in [base, head].into_iter().enumerate() {
            if let Some(build) = &self.sides.build {
                let line = StatusLine::new(&format!("building {revision}"));
                trees.build(side, build, stop)?;
                drop(line);
            }
        }
        Ok(Some(trees))
    }

    fn sides(&self, trees: Option<&Worktrees>) -> Result<[Words; 2], Failure> {
        match (trees, &self.sides.bench, &self.sides.base, &self.sides.head) {
            (Some(trees), Some(bench), ..) => {
                Ok([trees.program(0, bench)?, trees.program(1, bench)?])
            }
            (_, _, Some(base), Some(head)) => {
                if self.sides.command {
                    return Words::commands([base, head]);
                }
                Ok([Words::program(base)?, Words::program(head)?])
            }
            _ => Err(Failure::new("there is nothing to compare")
                .help("give --base and --head, or --worktrees and --bench")),
        }
    }

    fn request(&self, sides: [Words; 2]) -> Result<Request, Failure> {
        let prepare = self.prepare.as_deref().map(Words::command).transpose()?;
        let adapter = if self.sides.command {
            Some("command".to_owned())
        } else {
            self.sides.adapter.clone()
        };
        Ok(Request {
            sides,
            adapter,
            plan: Plan {
                launch: LaunchPlan {
                    benchmark_time: self.benchmark_time,
                    timeout: self.timeout,
                    prepare: prepare.map(|prepare| prepare.words),
                    seed: self.seed.unwrap_or_else(drawn_seed),
                },
                time: self.time,
                limits: self.gate.fail_above.clone(),
                resolution: self.resolution,
            },
            arguments: arguments(),
        })
    }

    /// The name of a side: its revision or its program.
    fn name(&self, side: usize, run: &Run) -> String {
        let words = match (self.sides.worktrees.get(side), &self.sides.bench) {
            (Some(revision), Some(bench)) => format!("{revision} {bench}"),
            _ => {
                let words = run.producer.harness.iter().flat_map(|harness| &harness.words);
                command_line(words.map(String::as_str))
            }
        };
        format!("{}: {}", ["base", "head"][side], run_ref::plain(&words))
    }

    fn answer(&self, outcome: Outcome, stop: &Stop) -> Result<Answer, Failure> {
        let Outcome {
            runs: [base, head],
            mut found,
            stored,
            given_up,
            failures,
            left_out,
            not_compared,
            waiting,
            by_processor,
        } = outcome;
        // The result is printed, even if a limit is for no benchmark.
        let limits = self.gate.limits(&[&base, &head]);
        if let (true, Ok(limits)) = (self.gate.is_on(), &limits) {
            let asked = Asked { limits: limits.clone(), strict: self.gate.strict };
            found.gate = Some(gate(&found, &asked));
        }
        let names = [self.name(0, &base), self.name(1, &head)];
        output::note_left_out(&left_out);
        if let Some(why) = &given_up {
            output::note(&format!("warning: measuring ended early. {}\n", why.trim_end()));
        }
        for failure in &failures {
            output::note(&format!("warning: {}\n", failure.trim_end()));
        }
        output::json_or_text(self.json, &found, |f| {
            if self.md {
                markdown::document(
                    &views::compare::comment(f, &names[0], &names[1]),
                    COMMENT_HEADING,
                )
            } else {
                output::text(&views::compare::view(f, &names[0], &names[1]))
            }
        })?;
        let is_undecided = found.benchmarks.iter().any(|entry| entry.reason.is_some());
        if let Some(share) = waiting.filter(|share| is_undecided && *share > MUCH_WAITING) {
            output::note(&format!(
                "note: its processes waited {:.0} % of their time for a processor that others used; a quiet machine decides sooner\n",
                100.0 * share
            ));
        }
        if !not_compared.is_empty() {
            output::note(&format!("note: not compared: {}\n", listed(&not_compared, NAMED)));
        }
        if by_processor > 0 {
            output::note(&format!(
                "note: the figures of {by_processor} of {} benchmarks are processor times: beside a processor, they wait for little, and equally on both sides\n",
                found.benchmarks.len()
            ));
        }
        if let Some(path) = &self.junit {
            let document = views::junit::document(&found);
            output::whole(path, |out| out.write_all(document.as_bytes()))?;
        }
        if !stored.is_empty() {
            output::note(&format!("stored: {}\n", stored.join(", ")));
        }
        let is_whole = given_up.is_none() && !stop.requested();
        if found.benchmarks.iter().all(|entry| entry.ratio.is_none()) && is_whole {
            return Err(Failure::new("nothing could be compared")
                .help("the reasons stand above; base and head must have benchmarks in common"));
        }
        limits?;
        let answer = answer(&found)?;
        Ok(if is_whole { answer } else { Answer::No })
    }
}

fn said(adapter: &str, step: &Step) -> String {
    let undecided = match step.undecided {
        None => format!("decisions after round {}", step.next),
        Some(1) => "1 benchmark is undecided".to_owned(),
        Some(n) => format!("{n} benchmarks are undecided"),
    };
    let left = step.time.saturating_sub(step.spent).as_secs();
    format!("{adapter}: round {}, {undecided}, at most {left} s left", step.rounds + 1)
}
