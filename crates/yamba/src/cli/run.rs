//! `yamba run`

mod circle_table;
pub(super) mod dry_run;
pub(super) mod parameters;
mod program;
mod scaling;
mod skipped;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use yamba_harness::{Options, Origin, Placement, Stop};
use yamba_record::Workers;
use yamba_session::measure::{Measured, Request, prepare};
use yamba_session::processors;
use yamba_session::remote::Remote;

use super::code::CodeOptions;
use super::common_options::{HowPlaced, RunName};
use super::{
    Answer, Failure, Names, StoreOption, TargetOption, Terminal, arguments, output, quantity,
    run_ref, system_failure,
};
use crate::cli::{Command, recorded};

pub(super) use table::{Style, table};

/// Measure benchmarks
///
/// Without a name: the whole suite, with thinned sweeps and the time of two points for each
/// benchmark. Named benchmarks, and all with --thorough, are measured at every point. Benchmarks
/// with the tags `demonstration` and `optional` run only if they are named. docs/method.md
/// describes how, docs/limits.md what a benchmark may take.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba run pagefault                          one benchmark, with its sweep
  yamba run 'lat_*' --quick                    several, briefly
  yamba run pagefault --set scale=64           one point of a sweep
  yamba run mine.yamba --sweep length=10,100   other points
  yamba run lat_pipe --name base               named: `yamba compare base latest` later
  yamba run --only-tag memory --json > run.json   figures and samples; with --raw every batch
  yamba run --quick --dry-run                  what would be measured, and for how long
  yamba run bw_mem_copy -P 1,2,4               with several processes at the same time
  yamba run --time 10s                         the whole suite, 10 s a benchmark
  yamba run lat_tcp --remote user@server       between this machine and another
  yamba run mine.yamba -O3 --link libmylib.a   with a library of your own

Exit status: 0 all figures are valid or skipped, 1 one is not, 2 no benchmark could be built.")]
pub(super) struct Run {
    #[command(flatten)]
    names: Names,
    /// Give a parameter this value; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameters::assignment)]
    set: Vec<(String, String)>,
    /// Measure at each of these values of a parameter; may be repeated
    #[arg(long, value_name = "NAME=A,B,C", value_parser = parameters::sweep)]
    sweep: Vec<(String, Vec<String>)>,
    /// Only benchmarks with this tag; repeat to allow several
    #[arg(long = "only-tag", visible_alias = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Measure between this machine and HOST, where ssh starts the other end. Without a name: all
    /// benchmarks that measure between two machines
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    remote: Option<Remote>,
    /// Measure a program of another harness, or of the protocol: docs/ab.md
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["names", "tags", "remote", "dry_run", "prebuilt", "target"], hide_short_help = true)]
    program: Option<String>,
    /// Build, and print what would be measured and for how long
    ///
    /// A benchmark may still be skipped when it begins.
    #[arg(long)]
    dry_run: bool,
    /// Measure built programs, as where no compiler is: docs/release.md
    #[arg(long, hide_short_help = true)]
    prebuilt: bool,
    #[command(flatten)]
    name: RunName,
    /// For a measuring circle, also print all its tests, as Kanata Bench does
    #[arg(long, hide_short_help = true)]
    pub(super) table: bool,
    /// Print one JSON document, with the samples
    #[arg(long)]
    json: bool,
    /// With --json, also every raw batch
    #[arg(long, requires = "json", hide_short_help = true)]
    raw: bool,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    store: StoreOption,
    // Headings go on to the options that follow: those with a heading are last.
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    code: CodeOptions,
}

/// Options of every command that measures benchmarks: amount, number, duration and place of the
/// measurements.
#[derive(Args)]
pub(super) struct Effort {
    #[command(flatten)]
    duration: DurationOptions,
    #[command(flatten)]
    samples: SampleOptions,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    placement: PlacementOptions,
}

/// How long a benchmark is measured.
#[derive(Args)]
#[command(next_help_heading = "Duration")]
struct DurationOptions {
    /// Measure briefly: shorter sweeps, 0.3 s a point, two launches
    ///
    /// Batches under load are shorter, too.
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// Measure for 20 s a point
    #[arg(long)]
    thorough: bool,
    /// Time for a whole benchmark with all its points and launches
    ///
    /// Instead of 2 s a point. Points beyond that time are left out.
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    time: Option<Duration>,
    /// Stop early when the half width of the interval is below this share of the figure
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = quantity::share, hide_short_help = true)]
    precision: f64,
}

/// The copies that run at the same time, and the number of launches.
#[derive(Args)]
#[command(next_help_heading = "Samples")]
struct SampleOptions {
    /// Measure with this number of processes at the same time
    ///
    /// Several numbers are measured one after the other.
    #[arg(short = 'P', long, value_name = "P,...", value_delimiter = ',', default_value = "1",
          value_parser = quantity::count(1..=4096))]
    processes: Vec<u64>,
    /// Measure with this many threads, each with its own object of the class
    #[arg(short = 'T', long, value_name = "T,...", value_delimiter = ',', conflicts_with = "processes",
          value_parser = quantity::count(1..=4096))]
    threads: Vec<u64>,
    /// Launches (fresh processes) for each point [default: 6, or more while the interval is wide
    /// and there is time; --quick: 2]
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=10000), hide_short_help = true)]
    launches: Option<u64>,
    /// Least number of timed batches in a launch (lmbench's repetitions) [default: 11; with several
    /// processes or threads 2]
    #[arg(short = 'N', long, value_name = "N", value_parser = quantity::count(1..=u64::MAX), hide_short_help = true)]
    batches: Option<u64>,
    /// Time to run before the first timed batch; a plain number is in microseconds, like lmbench's
    /// -W
    #[arg(short = 'W', long, value_name = "TIME", value_parser = quantity::microseconds, hide_short_help = true)]
    warmup: Option<Duration>,
    /// Also time single operations, each alone: p50, p90, p99, p99.9, longest
    ///
    /// docs/percentiles.md describes for which operations that is possible.
    #[arg(long)]
    percentiles: bool,
    /// Seed of the random order of launches [default: random, and recorded]
    #[arg(long, value_name = "N", value_parser = quantity::count(0..=u64::MAX), hide_short_help = true)]
    seed: Option<u64>,
}

/// The limits of a benchmark.
#[derive(Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Most bytes of the benchmarks' files at any time, less if the disk has less to spare. A
    /// benchmark that needs more is skipped
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = quantity::bytes, hide_short_help = true)]
    disk_limit: u64,
    /// End a launch that has more processes and threads than this [default: see docs/limits.md]
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=u64::MAX), hide_short_help = true)]
    process_limit: Option<u64>,
    /// End a launch that takes longer than this, set-up included [default: see docs/limits.md]
    #[arg(long, value_name = "TIME", value_parser = quantity::time, hide_short_help = true)]
    timeout: Option<Duration>,
}

/// Where a benchmark runs.
#[derive(Args)]
#[command(next_help_heading = "Placement")]
struct PlacementOptions {
    /// Ask the system for real-time scheduling
    #[arg(long, hide_short_help = true)]
    realtime: bool,
    /// Keep the benchmark on one processor, or let the system move it [default: pinned, unless its
    /// own threads run while it is timed]
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    placement: Option<HowPlaced>,
    /// Keep the benchmark on this processor
    #[arg(long, value_name = "N", value_parser = quantity::count(0..=u64::MAX), hide_short_help = true)]
    cpu: Option<u64>,
}

impl Effort {
    pub(super) fn options(&self) -> Result<Options, Failure> {
        let Effort { duration, samples, limits, placement } = self;
        let usual = match (duration.quick, duration.thorough) {
            (true, _) => Options::quick(),
            (_, true) => Options::thorough(),
            _ => Options::default(),
        };
        Ok(Options {
            workers: samples.workers(),
            launches: samples.launches,
            batches: samples.batches,
            benchmark_time: duration.time,
            precision: duration.precision,
            percentiles: samples.percentiles,
            warmup: samples.warmup,
            seed: samples.seed,
            realtime: placement.realtime,
            placement: placement.choice()?,
            disk_limit: limits.disk_limit,
            process_limit: limits.process_limit,
            timeout: limits.timeout,
            ..usual
        })
    }
}

impl SampleOptions {
    /// The numbers of processes or of threads, ascending.
    fn workers(&self) -> Vec<Workers> {
        let processes = self.processes.iter().copied().map(Workers::processes);
        let threads = self.threads.iter().copied().map(Workers::threads);
        let all: BTreeSet<Workers> = match self.threads[..] {
            [] => processes.collect(),
            _ => threads.collect(),
        };
        all.into_iter().collect()
    }
}

impl PlacementOptions {
    fn choice(&self) -> Result<Placement, Failure> {
        match (self.cpu, self.placement) {
            (None, how) => Ok(HowPlaced::placement(how)),
            (Some(_), Some(HowPlaced::Free)) => {
                Err(Failure::new("--cpu and --placement free contradict each other")
                    .help("leave out one of them"))
            }
            (Some(cpu), _) => processors::placement_on(cpu),
        }
    }
}

impl Run {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        if let Some(program) = &self.program {
            return self.run_program(program);
        }
        let terminal = Terminal::default();
        let prepared = prepare(self.request()?, &terminal)?;
        let topics = prepared.topics.clone();
        let stop = Stop::on_signals().map_err(system_failure)?;
        if self.dry_run {
            let plan = prepared.dry_run(&stop)?;
            dry_run::print(&plan, &prepared.selection, &topics, self.json)?;
            return if prepared.is_in_vain() { Err(Failure::Shown) } else { Ok(Answer::Done) };
        }
        let measured = prepared.measure(&stop, &self.store.choice(), &terminal)?;
        self.answer(measured, topics)
    }

    /// Prints what was measured.
    fn answer(
        &self,
        measured: Measured,
        topics: BTreeMap<String, String>,
    ) -> Result<Answer, Failure> {
        note_stored(&measured);
        let Measured { run, is_in_vain, .. } = measured;
        if self.raw {
            output::document(&run)?;
        }
        let run = run.summary();
        if self.json && !self.raw {
            output::document(&run)?;
        }
        if is_in_vain {
            // The only problem is wrong input, which has been reported; a table would repeat it.
            return Err(Failure::Shown);
        }
        if !self.json {
            let style = Style {
                colour: output::colour_on(&io::stdout()),
                set_parameters: self.set_parameters(),
                tests: self.table,
                topics,
                width: output::width(),
            };
            output::result(&table(&run, &style))?;
        }
        let is_bad = run.failed() || run.interrupted;
        Ok(if is_bad { Answer::No } else { Answer::Done })
    }

    fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            set: self.set.clone(),
            sweep: self.sweep.clone(),
            origin: Origin { tags: self.name.tags(&self.store)?, ..Origin::default() },
            ..self.effort.options()?
        })
    }

    fn request(&self) -> Result<Request, Failure> {
        parameters::each_once(&self.set, &self.sweep)?;
        let is_whole = self.names.names.is_empty() && !self.effort.duration.thorough;
        Ok(Request {
            options: Options { whole: is_whole, ..self.options()? },
            names: self.names.request(),
            tags: self.tags.clone(),
            remote: self.remote.clone(),
            compile: self.code.settings(),
            target: self.target.target.clone(),
            prebuilt: self.prebuilt,
            arguments: arguments(),
        })
    }
}

/// Prints the id of the stored run, if standard error is a terminal.
pub(super) fn note_stored(measured: &Measured) {
    if measured.is_stored && io::stderr().is_terminal() {
        let id = run_ref::short(&measured.run.id, &[]);
        output::note(&format!("run {id} stored\n"));
    }
}

impl Run {
    /// Parses the recorded arguments of a `yamba run`.
    pub(in crate::cli) fn from_arguments(arguments: &[String]) -> Option<Run> {
        match recorded(arguments)? {
            Command::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Whether the whole suite was requested.
    pub(in crate::cli) fn is_whole(&self) -> bool {
        self.names.names.is_empty() && self.tags.is_empty() && self.program.is_none()
    }

    /// The parameters that `--set` gave a value.
    fn set_parameters(&self) -> Vec<String> {
        self.set.iter().map(|(name, _)| name.clone()).collect()
    }
}
