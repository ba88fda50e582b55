//! `yamba gc profile`

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use yamba_harness::Stop;
use yamba_jvm::gc::Collector;
use yamba_jvm::gc::demand::Demand;
use yamba_jvm::run::Stage;
use yamba_record::number::bytes;
use yamba_session::gc::{ProfileRequest, profile};

use super::Shown;
use crate::cli::{Failure, output, quantity};

/// Record allocation and object lifetimes of a Java application
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
    pub(super) fn run(self, stop: &Stop) -> Result<(), Failure> {
        output::check(Some(&self.output))?;
        let request = ProfileRequest {
            command: self.command,
            step_bytes: self.step,
            collectors: self.collectors,
            time_limit: self.time_limit,
        };
        let found = profile(&request, stop, &Shown::default())?;
        output::whole(&self.output, |out| Ok(serde_json::to_writer(out, &found)?))?;
        output::result(&summary(&found))
    }
}

/// Says how long a profile takes.
#[derive(Clone, Copy)]
pub(super) struct ProfileShown {
    begun: Instant,
    /// Runs after the first one, at most.
    more: usize,
}

impl ProfileShown {
    pub(super) fn new(others: &[Collector]) -> ProfileShown {
        // Each collector has two heaps with three runs each. G1 has one run with each heap for its
        // cards.
        let of_g1 = if others.contains(&Collector::G1) { 0 } else { 2 };
        ProfileShown { begun: Instant::now(), more: 6 * (1 + others.len()) + of_g1 }
    }

    /// The status line of a run. Before the first ordinary run, prints the time of the others.
    pub(super) fn text(&self, stage: Stage) -> Option<String> {
        let Stage::Ordinary(collector, step) = stage else {
            return None;
        };
        let name = collector.name();
        if (collector, step.number) == (Collector::Serial, 1) {
            let seconds = self.begun.elapsed().as_secs() + 1;
            let more = self.more;
            output::note(&format!(
                "the run that counts took {seconds} s; at most {more} follow, 60 s for each collector unless one run with each heap takes longer\n"
            ));
        }
        Some(format!("ordinary runs with {name}: {} of {}", step.number, step.count))
    }
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
