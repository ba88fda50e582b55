//! `yamba predict`

mod files;
mod notice;
mod page;
mod table;
mod total;
mod words;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use yamba_harness::Stop;
use yamba_jvm::library::Jvm;
use yamba_predict::change::{CostChange, Replacement};
use yamba_session::predict::{Callbacks, Changes, Notice, PredictionRequest, predict};

use super::output::StatusLine;
use super::{Answer, Failure, StoreOption, Terminal, arguments, java, output, system_failure};
use files::FileOptions;

/// Predict what an application costs on a machine
///
/// An application vector says how often the application uses each primitive of the platform for one
/// unit of its work. A run has the cost of each primitive whose benchmark it measured. The sum of
/// the products is the kernel time of a unit, with an interval. If the vector has traced times,
/// these are the level, and the costs only carry them from the machine of the trace to others;
/// without them, a prediction is usually too low, since benchmarks find their caches warm.
/// `--elapsed` adds user time and waiting.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba predict server.vector --elapsed                on this machine, with user time and waiting
  yamba predict server.vector                          its kernel time; missing costs are measured once
  yamba predict nginx --on latest                      the latest stored vector of nginx
  yamba predict server.vector --on latest --on other.json   ranks systems
  yamba predict server.vector --on other.json --traced-on base   from the machine of `base` to another one
  yamba predict new.vector --against old.vector        the ratio of two versions
  yamba predict server.vector --cost 'connect(tcp)=0.5x'     what if a primitive cost less?
  yamba predict server.vector --replace 'read(file)@4K*16=read(file)@64K'   other calls?
  yamba predict cgi.vector --replace 'fork=' --context static.vector   with times of static.vector
  yamba predict server.vector --elapsed --on other.json --user-scale lat_integer_multiply   there
  yamba predict server.vector --on latest --on other.json --page page.html   stacked bars
  yamba predict server.vector --files server.files --memory 512M   the time of its file reads with less memory
  yamba predict app.vector --jvm java --jvm /opt/jdk-25/bin/java   ranks Java virtual machines
  yamba predict server.vector --measure                runs it here, too; prints the error

A run is named by its id or the beginning of one, a tag, `latest`, `latest~N`, or the file of its document.")]
pub(super) struct Predict {
    /// Application vectors: files, or stored ones by application, tag, id, `latest-vector` or
    /// `latest-vector~N`
    #[arg(value_name = "VECTOR", required = true)]
    vectors: Vec<PathBuf>,
    /// The run that measured the costs; several are ranked [default: the best figures of all stored
    /// runs of this machine; missing ones are measured and stored]
    #[arg(long, value_name = "RUN")]
    on: Vec<String>,
    /// For Java: a virtual machine on this machine with its options, such as `java
    /// -XX:TieredStopAtLevel=1`; several are ranked. Missing costs are measured once
    #[arg(long, value_name = "COMMAND", value_parser = java::jvm)]
    jvm: Vec<Jvm>,
    /// A run of the machine where the vectors were traced [default: the latest one with costs]
    #[arg(long, value_name = "RUN", hide_short_help = true)]
    traced_on: Option<String>,
    /// The version that ratios are taken to
    #[arg(long, value_name = "VECTOR", hide_short_help = true)]
    against: Option<PathBuf>,
    /// Measure the costs of all primitives of this machine, which takes minutes [default: within a
    /// minute, those that no stored run has and that the predictions need]
    #[arg(long, conflicts_with_all = ["on", "jvm"], hide_short_help = true)]
    thorough: bool,
    /// Another cost of a primitive: NAME=FACTORx
    #[arg(long, value_name = "CHANGE", value_parser = CostChange::read)]
    cost: Vec<CostChange>,
    /// Other calls: NAME@SIZE*COUNT=NAME@SIZE*COUNT
    ///
    /// An empty side removes or adds calls.
    #[arg(long, value_name = "CHANGE", value_parser = Replacement::read)]
    replace: Vec<Replacement>,
    /// Without the processes that the application starts: their calls, faults and user time are
    /// removed; `--replace` removes the calls that start them
    #[arg(long, hide_short_help = true)]
    without_processes: bool,
    /// Take the times of calls from this vector, traced on the same machine: an application or
    /// request that already lacks what the change removes
    #[arg(long, value_name = "VECTOR", hide_short_help = true)]
    context: Option<PathBuf>,
    /// Scale user time from the machine of the trace to other systems, as the figure of this
    /// benchmark differs [default: by the work that `yamba trace --user` counted, if it did]
    #[arg(long, value_name = "BENCHMARK", hide_short_help = true)]
    user_scale: Option<String>,
    /// Elapsed and processor time with user time and waiting
    ///
    /// The totals of several vectors are added.
    #[arg(long)]
    elapsed: bool,
    /// Run the application here, too, and print its kernel time
    ///
    /// For 10 s of processor time, or up to 30 s until its kernel time is precise.
    #[arg(long, conflicts_with_all = ["cost", "replace", "without_processes", "context"])]
    measure: bool,
    /// Write a page with stacked bars to this file; `-` is standard output
    #[arg(long, value_name = "FILE.html", conflicts_with = "json")]
    page: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    files: FileOptions,
}

impl Predict {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let begun = Instant::now();
        output::check(self.page.as_deref())?;
        let request = PredictionRequest {
            vectors: self.vectors,
            against: self.against,
            runs: self.on,
            jvms: self.jvm,
            traced_on: self.traced_on,
            is_thorough: self.thorough,
            changes: Changes {
                costs: self.cost,
                replacements: self.replace,
                without_processes: self.without_processes,
                context: self.context,
            },
            user_scale: self.user_scale,
            elapsed: self.elapsed,
            measures: self.measure,
            file_reads: self.files.reads()?,
            store: self.store.choice(),
            arguments: own_arguments(),
        };
        let line = Cell::new(None);
        let show = |notice: Notice| {
            let text = notice::text(&notice);
            match notice {
                Notice::Running { .. } => line.set(Some(StatusLine::new(&text))),
                Notice::RunEnded => line.set(None),
                _ => output::note(&text),
            }
        };
        let callbacks = Callbacks {
            observer: &Terminal::default(),
            notice: &show,
            stop: &|| Stop::on_signals().map_err(system_failure),
        };
        let found = predict(&request, begun, callbacks)?;
        let predictions = &found.predictions;
        match &self.page {
            Some(path) => {
                let misses = request.file_reads.map(|reads| self.files.miss_ratios(&reads));
                output::page(&page::page(predictions, misses.as_ref()), path)
            }
            None => output::json_or_text(self.json, predictions, |found| {
                table::text(found, output::width())
            }),
        }?;
        Ok(if found.is_stopped { Answer::No } else { Answer::Done })
    }
}

/// The command line as runs record it. Its first word is the command, which marks runs that no user
/// requested.
fn own_arguments() -> Vec<String> {
    let mut all = arguments();
    let command = all.iter().position(|word| word == "predict");
    if let Some(place) = command {
        all[..=place].rotate_right(1);
    }
    all
}
