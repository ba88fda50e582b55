//! `yamba run`

mod asked;
mod circle_table;
mod keep;
mod progress;
pub(super) mod rehearsal;
mod remote;
mod scaling;
mod skipped;
mod spool;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_ulong;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use yamba_lang::{Analysis, ClassId, Diagnostic, Severity, Target};
use yamba_record::run::{About, Producer};
use yamba_record::{Benchmark, event};

use super::Answer;
use super::build::failure;
use super::failure::{Failure, of_system};
use super::gaps::{self, Standing};
use super::kept;
use super::output::{self, StatusLine};
use super::quantity;
use super::select::{self, How, Names, Selection};
use super::store_option::StoreOption;
use super::target::TargetOption;
use crate::about;
use crate::build::{self, BuildError, BuildOptions, Built};
use crate::disasm::{self, Code};
use crate::embedded;
use crate::groups;
use crate::run::{
    self, Job, NoProgram, Options, Origin, Packed, Placement, Program, Progress, Stop, UsageError,
};
pub(super) use asked::{build_options, study_build_options};
pub(super) use keep::Keeper;
use progress::{Bar, StopNotice};
use remote::Remote;
pub(super) use table::{Style, table};

/// Lines of a listing before and after the instruction that crashed.
const AROUND_A_CRASH: usize = 4;

/// Measure
///
/// With no name: the whole suite, in which long sweeps are thinned and a benchmark has the time of two points at most; by name, or with
/// --thorough, all is measured. What is tagged `demonstration` runs only when its name, its file or that tag is given.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba run pagefault                          one benchmark, with its sweep
  yamba run 'lat_*' --quick                    several, briefly
  yamba run pagefault --set scale=64           one point of a sweep
  yamba run mine.yamba --sweep length=10,100   other points
  yamba run --tag memory --json > run.json     raw samples and all
  yamba run --quick --dry-run                  what would be measured, and for how long
  yamba run bw_mem_copy -P 1,2,4               with several processes at the same time
  yamba run --time 10s                         the whole suite, 10 s a benchmark
  yamba run lat_tcp --remote user@server       between this machine and another

Each figure comes from several launches: fresh processes, in turns with those of the other benchmarks.

Exit status: 0 all figures are valid (or skipped), 1 one is invalid or crashed, 2 nothing was measured.")]
pub(super) struct Run {
    #[command(flatten)]
    names: Names,
    /// Give a parameter this value; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Measure at each of these values of a parameter; may be repeated
    #[arg(long, value_name = "NAME=A,B,C", value_parser = sweep)]
    sweep: Vec<(String, Vec<String>)>,
    #[command(flatten)]
    effort: Effort,
    /// Measure between this machine and that one, where ssh starts the other end: host=ssh:HOST, placement=apart. Of several, the
    /// benchmarks that have two hosts
    #[arg(long, value_name = "HOST")]
    remote: Option<Remote>,
    /// Of what is named, only the benchmarks with this tag; may be repeated: with any of these
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Build, and tell what would be measured and how long it takes; what benchmarks find missing when they begin is not known then
    #[arg(long)]
    dry_run: bool,
    /// Of a measuring circle, also the table of all its tests, as the Kanata Bench prints it
    #[arg(long)]
    table: bool,
    /// One JSON document, with every raw interval
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    store: StoreOption,
}

/// How much is measured, how often, how long and where: what every command takes that measures benchmarks.
#[derive(Args)]
pub(super) struct Effort {
    /// A short look: shorter sweeps, 0.3 s a point, two launches, shorter intervals under load
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// A long one: 20 s a point
    #[arg(long)]
    thorough: bool,
    #[command(flatten)]
    protocol: Protocol,
}

impl Effort {
    pub(super) fn options(&self) -> Result<Options, Failure> {
        let usual = match (self.quick, self.thorough) {
            (true, _) => Options::quick(),
            (_, true) => Options::thorough(),
            _ => Options::default(),
        };
        let protocol = &self.protocol;
        let mut processes = protocol.processes.clone();
        processes.sort_unstable();
        processes.dedup();
        Ok(Options {
            processes,
            launches: protocol.launches,
            intervals: protocol.intervals,
            benchmark_time: protocol.time,
            precision: protocol.precision,
            warmup: protocol.warmup,
            seed: protocol.seed,
            realtime: protocol.realtime,
            placement: protocol.placement()?,
            disk_limit: protocol.disk_limit,
            process_limit: protocol.process_limit,
            timeout: protocol.timeout,
            ..usual
        })
    }
}

/// How often, how long and where.
#[derive(Args)]
struct Protocol {
    /// Time for a whole benchmark with all its points and launches, instead of 2 s a point; points that there is no time for
    /// are left out. However little it is, each launch sets up, warms up and times its least number of intervals; where that takes more
    /// than twice the time, a note says so
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    time: Option<Duration>,
    /// Measure with so many processes at the same time, one after the other of these numbers
    #[arg(short = 'P', long, value_name = "P,...", value_delimiter = ',', default_value = "1",
          value_parser = quantity::count(1..=4096))]
    processes: Vec<u64>,
    /// Exactly so many launches, fresh processes, a point [default: 6, or more while the interval is wide and there is time;
    /// --quick: 2]
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=10000))]
    launches: Option<u64>,
    /// At least so many timed intervals a launch (lmbench's repetitions) [default: 11; with several processes 2]
    #[arg(short = 'N', long, value_name = "N", value_parser = quantity::count(1..=u64::MAX))]
    intervals: Option<u64>,
    /// Run for so long before anything is timed; a plain number is microseconds, as of lmbench's -W
    #[arg(short = 'W', long, value_name = "TIME", value_parser = quantity::microseconds)]
    warmup: Option<Duration>,
    /// Stop early when the interval is within this share of the figure
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = quantity::share)]
    precision: f64,
    /// Let the launches take turns in the order that this number gives [default: drawn, and recorded]
    #[arg(long, value_name = "N", value_parser = quantity::count(0..=u64::MAX))]
    seed: Option<u64>,
    /// Let the benchmarks' files have at most so many bytes at any time, and less where the disk has less to spare. What needs more
    /// is skipped
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = quantity::bytes)]
    disk_limit: u64,
    /// End a launch that has more processes and threads at any time [default: 1024, or 16 for each processor; 128 more for each further
    /// process of -P; less where the system has less to spare]
    #[arg(long, value_name = "N", value_parser = quantity::count(1..=u64::MAX))]
    process_limit: Option<u64>,
    /// End a launch that takes longer, set-up and all [default: one that says nothing for 60 s, or takes 20 times those and
    /// its planned time]
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    timeout: Option<Duration>,
    /// Ask the system for a real-time class
    #[arg(long)]
    realtime: bool,
    /// Keep the benchmark on one processor, or let the system move it [default: pinned]
    #[arg(long, value_name = "HOW")]
    placement: Option<HowPlaced>,
    /// Keep it on this processor
    #[arg(long, value_name = "N", value_parser = quantity::count(0..=u64::MAX))]
    cpu: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HowPlaced {
    /// On one processor that is chosen; several processes on one each
    Pinned,
    /// Wherever the system puts it
    Free,
}

impl Protocol {
    fn placement(&self) -> Result<Placement, Failure> {
        let Some(cpu) = self.cpu else {
            return Ok(match self.placement {
                Some(HowPlaced::Free) => Placement::Free,
                _ => Placement::Pinned,
            });
        };
        if self.placement == Some(HowPlaced::Free) {
            return Err(
                Failure::new("--cpu and --placement free contradict each other")
                    .help("leave out one of them"),
            );
        }
        let allowed = allowed_processors(affinity)?;
        if !allowed.contains(&cpu) {
            let all: Vec<String> = allowed.iter().map(u64::to_string).collect();
            return Err(
                Failure::new(format!("--cpu {cpu}: no such processor may be used"))
                    .help(format!("there are {}", all.join(", "))),
            );
        }
        Ok(Placement::On(cpu))
    }
}

/// No system has more processors.
const MOST_PROCESSORS: usize = 1 << 20;

/// A set of processors as the system tells it: a bit for each.
type Mask = [c_ulong];

/// The processors that this process, and so what it starts, may run on. `tell` refuses a mask that is too small for this system's numbers
/// as invalid: then a larger one is tried.
fn allowed_processors(tell: impl Fn(&mut Mask) -> io::Result<()>) -> Result<Vec<u64>, Failure> {
    const WORD: usize = c_ulong::BITS as usize;
    let mut mask = vec![0; 1024 / WORD];
    while let Err(e) = tell(&mut mask) {
        let is_small = e.kind() == io::ErrorKind::InvalidInput;
        if !is_small || mask.len() * WORD >= MOST_PROCESSORS {
            return Err(of_system(e));
        }
        mask = vec![0; mask.len() * 2];
    }
    let is_set = |cpu: &usize| mask[cpu / WORD] >> (cpu % WORD) & 1 == 1;
    let all = (0..mask.len() * WORD).filter(is_set);
    Ok(all.map(|cpu| cpu as u64).collect())
}

/// Elsewhere nobody can be kept off a processor.
#[cfg(not(target_os = "linux"))]
fn affinity(mask: &mut Mask) -> io::Result<()> {
    let bits = c_ulong::BITS as usize;
    for cpu in 0..std::thread::available_parallelism()?
        .get()
        .min(mask.len() * bits)
    {
        mask[cpu / bits] |= 1 << (cpu % bits);
    }
    Ok(())
}

/// The C library's own set has room for 1024 processors; the call itself has no limit.
#[cfg(target_os = "linux")]
fn affinity(mask: &mut Mask) -> io::Result<()> {
    let bytes = size_of_val(mask);
    // SAFETY: the system writes at most so many bytes into the mask.
    let done = unsafe { libc::sched_getaffinity(0, bytes, mask.as_mut_ptr().cast()) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

fn sweep(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = assignment(text).map_err(|_| "write NAME=A,B,C".to_owned())?;
    let values: Vec<String> = values.split(',').map(|v| v.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err("write NAME=A,B,C: a value is empty".to_owned());
    }
    Ok((name, values))
}

impl Run {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let mut options = self.options()?;
        let selection = select::select(&self.names)?;
        let target = self.target.resolve(&selection.analysis)?;
        let analysis = &selection.analysis;
        let mut classes = self.classes(&selection)?;
        if let Some(remote) = &self.remote {
            let asked = self.set.iter().map(|(name, _)| name);
            remote.check(asked.chain(self.sweep.iter().map(|(name, _)| name)))?;
            classes = remote.choose(&selection, classes, &target)?;
        }
        let jobs = jobs(analysis, &classes, &target, &self.build_options())?;
        let groups = grouped(analysis, &classes);
        let stop = Stop::on_signals().map_err(of_system)?;
        if self.dry_run {
            let plan = run::rehearse(&jobs, &options, &stop);
            let plan = plan.map_err(|UsageError(text)| Failure::whole(text))?;
            output::result(&rehearsal::text(&plan, &selection, &groups, self.json)?)?;
            return Ok(Answer::Done);
        }
        options.origin = origin(analysis, &jobs, &target);
        let Measured { run, is_in_vain } = measured(&jobs, &options, &target, &stop, &self.store)?;
        if self.json {
            output::json(&run)?;
        }
        if is_in_vain {
            // Nothing but wrong input: it has been told, and a table would only tell it again.
            return Err(Failure::Shown);
        }
        let run = run.map(|b| without_samples(b.unpack()));
        if !self.json {
            let given = self.set.iter().map(|(name, _)| name.clone());
            output::result(&table(
                &run,
                &Style {
                    colour: output::colour_on(&io::stdout()),
                    given: given.collect(),
                    tests: self.table,
                    groups,
                    width: output::width(),
                },
            ))?;
        }
        Ok(if run.failed() || run.interrupted {
            Answer::No
        } else {
            Answer::Done
        })
    }

    fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            set: self.set.clone(),
            preset: self.remote.iter().flat_map(Remote::preset).collect(),
            sweep: self.sweep.clone(),
            whole: self.names.names.is_empty() && !self.effort.thorough,
            ..self.effort.options()?
        })
    }

    fn classes(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        let mut found = self.tagged(selection)?;
        // Several by one word stand in the order of the groups; what was named one by one, in that order.
        if selection.chosen.iter().any(|c| c.how == How::Pattern) {
            let analysis = &selection.analysis;
            found.sort_by_cached_key(|class| {
                let folder = groups::folder(analysis, *class).to_owned();
                let name = analysis.class(*class).name().to_owned();
                (groups::place(&folder), folder, name)
            });
        }
        Ok(found)
    }

    fn tagged(&self, selection: &Selection) -> Result<Vec<ClassId>, Failure> {
        if self.tags.is_empty() {
            return selection.benchmarks();
        }
        let analysis = &selection.analysis;
        let has = |c: &ClassId, tag: &String| analysis.tags(*c).contains(tag);
        let mut found: Vec<ClassId> = if self.tags.iter().any(|t| t == "demonstration") {
            let listed = selection.chosen.iter();
            listed
                .map(|c| c.class)
                .filter(|c| analysis.is_listed(*c))
                .collect()
        } else {
            selection.benchmarks()?
        };
        if let Some(unknown) = self.tags.iter().find(|t| !found.iter().any(|c| has(c, t))) {
            return Err(
                Failure::new(format!("none of these benchmarks is tagged {unknown}"))
                    .help("`yamba list` shows the tags"),
            );
        }
        found.retain(|c| self.tags.iter().any(|t| has(c, t)));
        Ok(found)
    }
}

/// A run, and whether no benchmark of it could be built.
pub(super) struct Measured {
    pub(super) run: yamba_record::Run<Packed<Benchmark>>,
    pub(super) is_in_vain: bool,
}

/// Measures, shows how far it is, and keeps what is measured in the store.
pub(super) fn measured(
    jobs: &[Job],
    options: &Options,
    target: &Target,
    stop: &Stop,
    store: &StoreOption,
) -> Result<Measured, Failure> {
    let is_unbuilt = |job: &Job| matches!(job.program, Err(NoProgram::Unbuilt(_)));
    let is_in_vain = jobs.iter().all(is_unbuilt);
    let mut keeper = match is_in_vain {
        true => Keeper::none(),
        false => Keeper::open(store)?,
    };
    let mut bar = progress();
    let measurement = run::Measurement {
        jobs,
        options,
        isa: &target.isa,
        system: &target.system,
        progress: bar.as_mut(),
        stop,
        listing: &listing,
    };
    let run = measurement.packed(&mut keeper);
    let run = run.map_err(|UsageError(text)| Failure::whole(text))?;
    if keeper.finish(&run) && io::stderr().is_terminal() {
        output::note(&format!("run {} stored\n", kept::short(&run.id, &[])));
    }
    Ok(Measured { run, is_in_vain })
}

/// What a table shows of an entry.
pub(super) fn without_samples(mut benchmark: Benchmark) -> Benchmark {
    benchmark.intervals = Vec::new();
    benchmark.samples = Vec::new();
    benchmark.sizing = Vec::new();
    benchmark
}

/// The group of each class, where there are several groups.
pub(super) fn grouped(analysis: &Analysis, classes: &[ClassId]) -> BTreeMap<String, String> {
    let title = |class: &ClassId| groups::title(groups::folder(analysis, *class)).to_owned();
    let titles: BTreeSet<String> = classes.iter().map(title).collect();
    if titles.len() < 2 {
        return BTreeMap::new();
    }
    let each = classes.iter();
    each.map(|c| (analysis.class(*c).name().to_owned(), title(c)))
        .collect()
}

/// Builds all benchmarks that exist here, several at the same time; the others say why not.
pub(super) fn jobs(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
) -> Result<Vec<Job>, Failure> {
    let exists = |c: &&ClassId| !analysis.program(**c, target).variants.is_empty();
    let buildable: Vec<ClassId> = classes.iter().filter(exists).copied().collect();
    let built_of_all = |done: usize| format!("built {done} of {}", buildable.len());
    let line = StatusLine::new(&built_of_all(0));
    let show = |done: usize| line.show(&built_of_all(done));
    let outcomes = build::build_all(analysis, &buildable, target, options, show);
    drop(line);
    let mut built: BTreeMap<ClassId, _> = buildable.iter().copied().zip(outcomes).collect();
    let each = classes.iter();
    each.map(|class| match built.remove(class) {
        Some(outcome) => finished(analysis, *class, target, outcome),
        None => Ok(absent(analysis, *class, target)),
    })
    .collect()
}

/// Builds one benchmark, or says why it cannot run here.
pub(super) fn job(analysis: &Analysis, class: ClassId, target: &Target) -> Result<Job, Failure> {
    if analysis.program(class, target).variants.is_empty() {
        return Ok(absent(analysis, class, target));
    }
    let outcome = build::build(analysis, class, target, &BuildOptions::default());
    finished(analysis, class, target, outcome)
}

fn absent(analysis: &Analysis, class: ClassId, target: &Target) -> Job {
    let standing = gaps::somewhere(&analysis.program(class, target));
    Job {
        class: analysis.class(class).name().to_owned(),
        program: Err(NoProgram::Absent(why_not(analysis, standing, target))),
        about: described(analysis, class, target),
        texts: BTreeMap::new(),
    }
}

fn finished(
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    outcome: Result<Built, BuildError>,
) -> Result<Job, Failure> {
    let mut about = described(analysis, class, target);
    let mut texts = BTreeMap::new();
    let program = match outcome {
        Ok(built) => {
            about.program = Some(built.identity);
            about.inputs = Some(built.inputs);
            texts = built.texts;
            select::show(analysis, &built.warnings)?;
            Ok(Program {
                path: built.program,
                emulated: !built.runner.is_empty(),
                runner: built.runner,
            })
        }
        Err(error) => {
            let reason = unbuilt(analysis, &error);
            failure(analysis, error).report();
            Err(NoProgram::Unbuilt(reason))
        }
    };
    Ok(Job {
        class: analysis.class(class).name().to_owned(),
        program,
        about,
        texts,
    })
}

/// What is recorded of a class; no path in it says where the library was found.
fn described(analysis: &Analysis, class: ClassId, target: &Target) -> About {
    let home = embedded::home().ok();
    let root = home.as_ref().and_then(|h| h.suite.parent());
    about::about(analysis, class, target, root.unwrap_or(Path::new("")))
}

/// What measures here, and the texts of what it measures. Of the command line, no password.
pub(super) fn origin(analysis: &Analysis, jobs: &[Job], target: &Target) -> Origin {
    let arguments = std::env::args_os().skip(1);
    Origin {
        producer: Producer {
            version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
            arguments: arguments
                .map(|a| yamba_store::without_password(&a.to_string_lossy()))
                .collect(),
            compiler: build::compiler_version(analysis, target),
            imported: None,
            from_document: false,
            study: None,
        },
        sources: sources(analysis, jobs),
    }
}

/// The texts of which the programs of `jobs` are made, each under its hash.
fn sources(analysis: &Analysis, jobs: &[Job]) -> BTreeMap<String, String> {
    let mut sources = about::sources(analysis, jobs.iter().map(|j| &j.about));
    for job in jobs {
        sources.extend(job.texts.clone());
    }
    sources
}

/// A line for the record; the whole message has been shown.
fn unbuilt(analysis: &Analysis, error: &BuildError) -> String {
    let BuildError::Diagnostics(all) = error else {
        return format!("not built: {error}");
    };
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let Some(first) = all.iter().find(is_error) else {
        return "not built".to_owned();
    };
    let place = analysis.sources.line_column(first.primary.span);
    let path = &analysis.sources.file(first.primary.span.file).path;
    format!(
        "not built: {path}:{}:{}: {}",
        place.line, place.column, first.message
    )
}

fn why_not(analysis: &Analysis, standing: Standing, target: &Target) -> String {
    match standing {
        Standing::Absent(needs) => needs,
        Standing::Incomplete(gaps) => {
            let all: Vec<String> = gaps.iter().map(|g| analysis.gap_text(g)).collect();
            format!("no port for {target} defines {}", all.join("; "))
        }
        Standing::Runs(_) => format!("nothing runs on {target}"),
    }
}

pub(super) fn progress() -> Box<dyn Progress> {
    match io::stderr().is_terminal() {
        true => Box::new(Bar::default()),
        false => Box::new(StopNotice),
    }
}

/// The composed code around a crash. A record holds it in the same form as `--compose` prints it.
pub(super) fn listing(code: &event::Code, address: u64) -> Option<String> {
    let value = serde_json::to_value(code).ok()?;
    let code: Code = serde_json::from_value(value).ok()?;
    Some(disasm::render(
        &disasm::listing(&code),
        Some(address),
        Some(AROUND_A_CRASH),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_may_have_large_numbers() {
        let tell = |mask: &mut Mask| {
            if size_of_val(mask) < 1024 {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
            let word = c_ulong::BITS as usize;
            for cpu in [0, 63, 64, 1500, 8191] {
                mask[cpu / word] |= 1 << (cpu % word);
            }
            Ok(())
        };
        let Ok(all) = allowed_processors(tell) else {
            panic!("it is told");
        };
        assert_eq!(all, [0, 63, 64, 1500, 8191]);
        for kind in [io::ErrorKind::InvalidInput, io::ErrorKind::PermissionDenied] {
            assert!(allowed_processors(|_: &mut Mask| Err(kind.into())).is_err());
        }
    }

    #[test]
    fn this_process_may_run_somewhere() {
        let Ok(all) = allowed_processors(affinity) else {
            panic!("it is told");
        };
        assert!(!all.is_empty());
    }
}
