//! `yamba gc profile`

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::demand::Demand;
use yamba_jvm::library::JavaCommand;
use yamba_jvm::run::{LIMITS, Limits, OTHERS, Stage, profile, remove_varied};
use yamba_record::number::bytes;
use yamba_session::java::failure;

use super::{costs, jvm, needed};
use crate::cli::output::StatusLine;
use crate::cli::{Failure, output, quantity};

/// Record how much a Java application allocates, and how long its objects live
///
/// The application runs up to 31 times, with `--collector serial` nine times. In the first run,
/// with the Serial collector, all live objects are copied and counted by age after each step of
/// allocation. Ages are in bytes allocated, so they do not depend on the speed of the machine. The
/// others, up to three for each collector and heap size, show the cost of ordinary collections.
/// After 60 s of a collector's runs, only those begin that each heap needs once. Options of `java`
/// for heap and collector are replaced.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba gc profile -o app.gc -- java -jar app.jar
  yamba gc profile -o app.gc --step 1M -- java -cp classes Main    a small application
  yamba gc profile -o app.gc --collector serial -- java -jar app.jar    fewer runs, less certain for other collectors")]
pub(super) struct Profile {
    /// The file for the profile, `yamba-gc-profile/1`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Allocation between two counts
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = quantity::bytes)]
    step: u64,
    /// Costs of ordinary collections with Serial and this collector only; may be repeated [default:
    /// all]
    #[arg(long = "collector", value_name = "NAME", value_parser = ["serial", "parallel", "g1", "shenandoah", "z"])]
    collectors: Vec<String>,
    /// Longest time of each run
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = quantity::time)]
    time_limit: std::time::Duration,
    /// `java` and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,
}

impl Profile {
    pub(super) fn run(self) -> Result<(), Failure> {
        output::check(Some(&self.output))?;
        let mut command = JavaCommand::parse(&self.command).map_err(failure)?;
        let removed = remove_varied(&mut command);
        let jvm = jvm(home(&self.command[0]).as_deref())?;
        let others = self.others();
        let profiled = [&[Collector::Serial], &others[..]].concat();
        let costs = costs(&jvm, needed(&profiled))?;
        let serial = Collector::Serial.name();
        if !costs.collectors.contains_key(serial) {
            let reason = costs.skipped.get(serial);
            let failure = Failure::new(reason.map_or("no costs of Serial", String::as_str));
            return Err(
                failure.help("`yamba gc characterise --collector serial --force` tries again")
            );
        }
        if !removed.is_empty() {
            output::note(&format!("replaced options: {}\n", removed.join(" ")));
        }
        let limits = Limits { time: self.time_limit, ..LIMITS };
        let shown = Shown::new(&command.name(), &others);
        let found =
            profile(&jvm, &costs, &others, &command, self.step, limits, &|stage| shown.show(stage));
        drop(shown);
        let found = found.map_err(|e| Failure::new(e).help("run the command by itself first"))?;
        output::whole(&self.output, |out| Ok(serde_json::to_writer(out, &found)?))?;
        output::result(&summary(&found))
    }

    /// Collectors of ordinary runs beside Serial.
    fn others(&self) -> Vec<Collector> {
        let is_chosen = |collector: &Collector| {
            self.collectors.is_empty()
                || self.collectors.iter().any(|name| name == collector.name())
        };
        OTHERS.into_iter().filter(is_chosen).collect()
    }
}

/// Says how long a profile takes, and shows its runs.
struct Shown {
    line: StatusLine,
    begun: Instant,
    /// Runs after the first one, at most.
    more: usize,
}

impl Shown {
    fn new(application: &str, others: &[Collector]) -> Self {
        // Each collector has two heaps with three runs each. G1 has one run with each heap for its
        // cards.
        let of_g1 = if others.contains(&Collector::G1) { 0 } else { 2 };
        Self {
            line: StatusLine::new(&format!("{application}: counting live objects")),
            begun: Instant::now(),
            more: 6 * (1 + others.len()) + of_g1,
        }
    }

    fn show(&self, stage: Stage) {
        let Stage::Ordinary(collector, step) = stage else {
            return;
        };
        let name = collector.name();
        if (collector, step.number) == (Collector::Serial, 1) {
            let seconds = self.begun.elapsed().as_secs() + 1;
            let more = self.more;
            output::note(&format!(
                "the run that counts took {seconds} s; at most {more} follow, 60 s for each collector unless one run with each heap takes longer\n"
            ));
        }
        let (number, count) = (step.number, step.count);
        self.line.show(&format!("ordinary runs with {name}: {number} of {count}"));
    }
}

/// The JDK of a command like `/opt/jdk/bin/java`.
fn home(java: &str) -> Option<PathBuf> {
    let java = std::fs::canonicalize(java).ok().filter(|_| java.contains('/'))?;
    Some(Path::new(&java).parent()?.parent()?.to_owned())
}

fn summary(demand: &Demand) -> String {
    format!(
        "{}: {} allocated, at most {} alive, {} counts\nnot measured: {}\n",
        demand.application,
        bytes(demand.allocated_bytes as u64),
        bytes(demand.largest_live_bytes() as u64),
        demand.censuses.len(),
        demand.not_measured.join("; ")
    )
}
