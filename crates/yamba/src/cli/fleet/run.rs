//! `yamba fleet run`

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use yamba_harness::unix_s;
use yamba_record::number::counted;
use yamba_session::fleet::overlap::Overlap;
use yamba_session::fleet::{self, Event, Outcome, Question, Request};
use yamba_store::Location;

use crate::cli::output::{self, StatusLine};
use crate::cli::{
    Answer, Failure, Names, StoreOption, TargetOption, Terminal, arguments, quantity,
};

/// Measure each node of a fleet and store its run
///
/// Builds one bundle, starts it on each node, and stores each run as soon as it is complete. A node
/// that fails, is drained or vanishes is named with the reason, and costs only itself. Repeat the
/// command, or use --resume, to measure the missing nodes. With Slurm and MPI, all nodes must share
/// the folder of --into.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba fleet run --with slurm -N 100 --quick memory
  yamba fleet run --with slurm --name june --into /shared/june   all nodes of the partition
  yamba fleet run --with mpi --host node1 --host node2 lat_pipe
  yamba fleet run --with ssh --host ann@node1 --host node2 --quick
  yamba fleet run --with slurm -N 100 --dry-run                  print the script, start nothing
  yamba fleet run --resume june --into /shared/june              measure what the fleet lacks

Environment:
  SBATCH_*      options of sbatch: SBATCH_PARTITION, SBATCH_ACCOUNT
  YAMBA_MPIRUN  the command of MPI, with its options (default: mpirun)
  YAMBA_MPICXX  the compiler of that MPI for `--together` (default: mpicxx)
  YAMBA_SSH     the command of ssh, with its options (default: ssh)

Exit status: 0 each task has a complete run; 1 some have none; 2 nothing was started.")]
pub(super) struct Run {
    #[command(flatten)]
    names: Names,
    /// The engine: slurm, mpi or ssh
    #[arg(long, value_name = "ENGINE", required_unless_present = "resume")]
    with: Option<String>,
    /// Number of tasks, each on a node of its own while there are enough nodes [default: one for
    /// each node]
    #[arg(short = 'N', long, value_name = "N", value_parser = quantity::count(1..=100_000))]
    nodes: Option<u64>,
    /// A node; may be repeated [default: those that the engine offers]
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Measure briefly: shorter sweeps, 0.3 s a point, two launches
    #[arg(long)]
    quick: bool,
    /// Measure on all nodes at the same time, over MPI; then check on the record that they did
    #[arg(long, conflicts_with = "resume")]
    together: bool,
    /// The name of the fleet [default: `fleet-` with the date]
    #[arg(long, value_name = "FLEET", conflicts_with = "resume")]
    name: Option<String>,
    /// Measure what this fleet lacks
    #[arg(long, value_name = "FLEET", conflicts_with_all = ["with", "nodes", "hosts", "quick", "names"])]
    resume: Option<String>,
    /// The folder of the fleet, or the database that stores its runs [default: a folder with the
    /// name of the fleet]
    #[arg(long, value_name = "FOLDER|URL")]
    into: Option<OsString>,
    /// Longest time of a task, besides the time for which it waits
    #[arg(long, value_name = "TIME", default_value = "60min", value_parser = quantity::time)]
    limit: Duration,
    /// Print the script or the commands, and start nothing
    #[arg(long)]
    dry_run: bool,
    /// Print {fleet, measured, missing, unusable} as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: TargetOption,
    #[command(flatten)]
    store: StoreOption,
}

impl Run {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let request = self.request()?;
        if self.dry_run {
            let question = request.question.as_ref().ok_or_else(|| {
                Failure::new("a resumed fleet has its script in its folder")
                    .help("--dry-run goes with --with")
            })?;
            output::result(&fleet::script(&request, question, &Terminal::default())?)?;
            return Ok(Answer::Done);
        }
        let name = request.name.clone();
        let line = RefCell::new(None);
        let outcome = fleet::run(request, &Terminal::default(), &mut |event| show(event, &line));
        line.take();
        let outcome = outcome?;
        if self.json {
            output::json(&document(&name, &outcome))?;
        } else {
            output::result(&summary(&name, &outcome))?;
        }
        if outcome.missing.is_empty() {
            let is_apart = outcome.overlap.is_some_and(|overlap| overlap.outside > 0);
            return Ok(if is_apart { Answer::No } else { Answer::Done });
        }
        let again = format!("help: `yamba fleet run --resume {name}` measures the missing ones\n");
        output::note(&again);
        Ok(Answer::No)
    }

    fn request(&self) -> Result<Request, Failure> {
        let named = self.resume.clone().or_else(|| self.name.clone());
        let name = named.unwrap_or_else(|| format!("fleet-{}", today()));
        let mut store = self.store.choice();
        let mut folder = PathBuf::from(&name);
        match self.into.as_ref().map(|into| Location::parse(into)).transpose()? {
            Some(Location::File(path)) => folder = path,
            Some(Location::Server(_)) => store.named.clone_from(&self.into),
            None => {}
        }
        let question = self.with.as_ref().map(|with| Question {
            with: with.clone(),
            count: self.nodes,
            hosts: self.hosts.clone(),
            names: self.names.names.clone(),
            quick: self.quick,
            together: self.together,
            target: self.target.target.clone(),
            libraries: self.names.lib.dirs.clone(),
        });
        Ok(Request { name, folder, question, arguments: arguments(), limit: self.limit, store })
    }
}

/// The date in UTC.
fn today() -> String {
    let seconds = unix_s().unwrap_or(0.0);
    let now = chrono::DateTime::from_timestamp(seconds as i64, 0).unwrap_or_default();
    now.format("%Y-%m-%d").to_string()
}

/// Shows an event: progress in place, and the rest on lines of their own.
fn show(event: &Event<'_>, line: &RefCell<Option<StatusLine>>) {
    let progress = |text: String| match &mut *line.borrow_mut() {
        Some(line) => line.show(&text),
        none => *none = Some(StatusLine::new(&text)),
    };
    match event {
        Event::Started { tasks, jobs } => {
            let jobs =
                if jobs.is_empty() { String::new() } else { format!(", job {}", jobs.join(", ")) };
            output::note(&format!("started {}{jobs}\n", counted(*tasks, "task", "tasks")));
        }
        Event::Measured { task, done, all } => {
            progress(format!("{done} of {all} measured, last {}", task.node));
        }
        Event::Missing { task, reason } => output::note(&format!(
            "warning: {} (task {}) is not measured: {reason}\n",
            task.node, task.rank
        )),
        Event::Lacks { task, parts } => output::note(&format!(
            "note: the capture of {} (task {}) lacks {}\n",
            task.node,
            task.rank,
            parts.join("; ")
        )),
        Event::Waiting { why } => progress(format!("waiting: {why}")),
    }
}

fn summary(name: &str, outcome: &Outcome) -> String {
    let (measured, missing) = (&outcome.measured, &outcome.missing);
    let all = measured.len() + missing.len();
    let tasks = counted(all, "task", "tasks");
    let mut text = format!("{name}: {} of {tasks} measured\n", measured.len());
    for (task, reason) in missing {
        text += &format!("missing: {} (task {}): {reason}\n", task.node, task.rank);
    }
    for node in &outcome.unusable {
        let reason = node.unusable.as_deref().unwrap_or_default();
        text += &format!("not used: {}: {reason}\n", node.name);
    }
    text + &outcome.overlap.as_ref().map_or_else(String::new, overlap)
}

fn overlap(overlap: &Overlap) -> String {
    let (batches, outside) = (overlap.batches, overlap.outside);
    let error = overlap.clock_error_ns / 1e3;
    if outside == 0 {
        return format!(
            "at the same time: each of {batches} timed batches, with clocks known within {error:.1} us\n"
        );
    }
    let mut text = format!("not at the same time: {outside} of {batches} timed batches\n");
    for example in &overlap.examples {
        text += &format!("  {example}\n");
    }
    text
}

fn document(name: &str, outcome: &Outcome) -> Value {
    let measured = outcome.measured.iter();
    let missing = outcome.missing.iter();
    let unusable = outcome.unusable.iter();
    json!({
        "fleet": name,
        "measured": measured
            .map(|(task, id)| json!({"rank": task.rank, "node": task.node, "id": id}))
            .collect::<Vec<Value>>(),
        "missing": missing
            .map(|(task, why)| json!({"rank": task.rank, "node": task.node, "reason": why}))
            .collect::<Vec<Value>>(),
        "unusable": unusable
            .map(|node| json!({"node": node.name, "reason": node.unusable}))
            .collect::<Vec<Value>>(),
        "together": outcome.overlap.as_ref().map(|overlap| json!({
            "batches": overlap.batches, "outside": overlap.outside,
            "examples": overlap.examples, "clock_error_ns": overlap.clock_error_ns,
        })),
    })
}
