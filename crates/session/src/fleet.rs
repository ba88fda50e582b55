//! Runs a bundle on each node of a fleet, and stores the run of each. A task that fails costs only
//! itself; a later call measures the missing ones.

mod captures;
pub mod overlap;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use yamba_fleet::launch::{Job, LaunchError, Launcher, Node, Running, State, Task, launcher};

use yamba_record::Run;
use yamba_store::{Detail, Store};

use super::bundle::{bundle, selected};
use super::{Failure, Observer, StoreChoice, home_failure};
use captures::Captures;
use overlap::Overlap;
pub(crate) use plan::Plan;
pub use plan::Question;
use plan::replace;
use yamba_toolchain::embedded;

/// Longest time for which the engine, or the store, may not answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// Time for a file of another node to become visible here.
const VISIBLE: Duration = Duration::from_secs(60);

/// Bounds of the time between two looks at the engine.
const LOOKS: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(10)];

/// A fleet to run or to resume.
pub struct Request {
    /// The name of the fleet.
    pub name: String,
    /// The folder for bundle and captures. With Slurm and MPI, all nodes share it.
    pub folder: PathBuf,
    /// The benchmarks and the nodes. `None` resumes the fleet of that name.
    pub question: Option<Question>,
    /// The command line, for the results.
    pub arguments: Vec<String>,
    /// Longest duration of a task.
    pub limit: Duration,
    /// The store of the runs.
    pub store: StoreChoice,
}

/// An event while a fleet runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// Tasks were started.
    Started {
        /// Their number.
        tasks: usize,
        /// Their jobs in the engine.
        jobs: &'a [String],
    },
    /// The run of a task is stored.
    Measured {
        task: &'a Task,
        /// The number of tasks that are measured.
        done: usize,
        /// The number of all tasks.
        all: usize,
    },
    /// A task has ended without a complete run.
    Missing {
        task: &'a Task,
        /// Why.
        reason: &'a str,
    },
    /// A capture lacks parts.
    Lacks {
        task: &'a Task,
        /// The missing parts.
        parts: &'a [String],
    },
    /// The engine or the store does not answer now. It is asked again.
    Waiting { why: &'a str },
}

/// Receives events.
pub type Report<'a> = &'a mut dyn FnMut(&Event<'_>);

/// The result of each task.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The tasks whose complete run is stored, with the id of the run.
    pub measured: Vec<(Task, String)>,
    /// The tasks without a complete run, with the reason.
    pub missing: Vec<(Task, String)>,
    /// Nodes without a task that could not take one.
    pub unusable: Vec<Node>,
    /// For a fleet that measured at the same time: whether its records show that.
    pub overlap: Option<Overlap>,
}

/// The text that would start the tasks of a question. The nodes are unknown if their names are not
/// given.
///
/// # Errors
/// If the name, the launcher or a benchmark is unknown: what starts the tasks refuses that, too.
pub fn script(
    request: &Request,
    question: &Question,
    observer: &dyn Observer,
) -> Result<String, Failure> {
    check_name(&request.name)?;
    selected(&question.measure(Vec::new()), observer)?;
    let launcher = known_launcher(&question.with)?;
    let mut nodes: Vec<Node> = question.hosts.iter().map(|h| Node::named(h)).collect();
    if nodes.is_empty() {
        let placeholders = (0..question.count.unwrap_or(1)).map(|n| format!("NODE{n}"));
        nodes = placeholders.map(|name| Node::named(&name)).collect();
    }
    let plan = Plan::new(&request.name, question.clone(), &nodes);
    let job = job(request, std::path::absolute(&request.folder).unwrap_or_default());
    Ok(launcher.script(&job, &plan.tasks()))
}

/// Runs a fleet, or the missing part of it, until each task has ended.
///
/// # Errors
/// If the bundle cannot be built, the engine refuses the tasks, or the store does not answer for a
/// long time. Stored runs stay.
pub fn run(
    request: Request,
    observer: &dyn Observer,
    report: Report<'_>,
) -> Result<Outcome, Failure> {
    check_name(&request.name)?;
    let job = job(&request, folder(&request)?);
    let _lock = lock(&job.folder)?;
    let mut store = request.store.open()?;
    let (mut plan, offered) = planned(&request, &job, &mut store, observer)?;
    let launcher = known_launcher(&plan.question.with)?;
    let mut captures = Captures::new(&job, plan.tasks(), &mut store)?;
    captures.take_all(&mut *report)?;
    if !captures.is_complete() {
        prepare_bundle(&job, &plan.question, &request, observer)?;
        let running = start(launcher, &job, &mut plan, &mut captures, report)?;
        collect(running, &mut captures, report)?;
    }
    let outcome = outcome(&plan, captures, offered);
    checked(outcome, plan.question.together, &mut store)
}

fn outcome(plan: &Plan, captures: Captures<'_>, offered: Vec<Node>) -> Outcome {
    let own: BTreeSet<&String> = plan.nodes.iter().collect();
    let is_other = |node: &Node| node.unusable.is_some() && !own.contains(&node.name);
    let [measured, missing] = captures.results();
    Outcome {
        measured,
        missing,
        unusable: offered.into_iter().filter(is_other).collect(),
        overlap: None,
    }
}

/// Checks the stored runs of a fleet that measured at the same time.
fn checked(mut outcome: Outcome, together: bool, store: &mut Store) -> Result<Outcome, Failure> {
    if together && outcome.missing.is_empty() {
        let ids = outcome.measured.iter().map(|(_, id)| id);
        let runs = ids.map(|id| store.run(id, Detail::Batches));
        let runs: Vec<Run> = runs.collect::<Result<_, _>>()?;
        outcome.overlap = Some(overlap::check(&runs));
    }
    Ok(outcome)
}

fn known_launcher(name: &str) -> Result<&'static dyn Launcher, Failure> {
    launcher(name).ok_or_else(|| {
        let known: Vec<&str> = yamba_fleet::launch::LAUNCHERS.iter().map(|(n, _)| *n).collect();
        Failure::new(format!("there is no launcher `{name}`"))
            .help(format!("write one of {}", known.join(", ")))
    })
}

/// A name is a part of scripts and of file names.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(Failure::new(format!("{name:?} is no name of a fleet"))
        .help("use letters, digits, `.`, `_` and `-`, and begin with a letter or digit"))
}

fn job(request: &Request, folder: PathBuf) -> Job {
    Job { fleet: request.name.clone(), folder, limit: request.limit }
}

fn folder_failure(folder: &Path, e: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {e}", folder.display()))
        .help("--into names another folder; with Slurm and MPI, all nodes must share it")
}

/// The folder of the fleet, with its absolute path.
fn folder(request: &Request) -> Result<PathBuf, Failure> {
    let folder = &request.folder;
    if request.question.is_some() {
        fs::create_dir_all(folder).map_err(|e| folder_failure(folder, &e))?;
    }
    fs::canonicalize(folder).map_err(|e| folder_failure(folder, &e))
}

/// Locks the folder, so that no second command uses it at the same time.
fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(".lock");
    let file = File::create(&path).map_err(|e| folder_failure(folder, &e))?;
    // Some shared file systems have no locks.
    if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        return Err(Failure::new(format!("{}: another command runs this fleet", folder.display()))
            .help("wait for it, or name another fleet with --name"));
    }
    Ok(file)
}

/// The plan in the folder, or a new one, and the nodes that the engine offered for it.
fn planned(
    request: &Request,
    job: &Job,
    store: &mut Store,
    observer: &dyn Observer,
) -> Result<(Plan, Vec<Node>), Failure> {
    let folder = job.folder.as_path();
    let known = Plan::read(folder)?;
    let name = &request.name;
    match (known, &request.question) {
        (Some(plan), None) => Ok((plan, Vec::new())),
        (Some(plan), Some(question)) if plan.question == *question => Ok((plan, Vec::new())),
        (Some(_), Some(_)) => Err(Failure::new(format!(
            "the fleet {name} was started with other nodes, benchmarks or options"
        ))
        .help(format!(
            "`--resume {name}` alone measures what it lacks; --name starts another fleet"
        ))),
        (None, None) => {
            Err(Failure::new(format!("{}: there is no fleet {name} to resume", folder.display()))
                .help("--into names its folder"))
        }
        (None, Some(_)) if !store.fleet(name)?.is_empty() => Err(Failure::new(format!(
            "the store has a fleet {name} already, and {} is not its folder",
            folder.display()
        ))
        .help("--name starts another fleet; --into names the folder of that one")),
        (None, Some(question)) => {
            let launcher = known_launcher(&question.with)?;
            let nodes = launcher.nodes(&question.hosts).map_err(launcher_failure)?;
            if nodes.is_empty() {
                return Err(Failure::new(format!("{} offers no node", question.with))
                    .help("--host names nodes"));
            }
            let plan = Plan::new(name, question.clone(), &nodes);
            remove_bundle(folder)?;
            // Benchmarks that cannot be built leave no plan, so that others can take this name.
            prepare_bundle(job, question, request, observer)?;
            plan.write(folder)?;
            Ok((plan, nodes))
        }
    }
}

/// Removes the bundle of an earlier plan: the folder of a new one needs its own.
fn remove_bundle(folder: &Path) -> Result<(), Failure> {
    match fs::remove_file(folder.join(Job::BUNDLE)) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(folder_failure(folder, &e)),
        _ => Ok(()),
    }
}

fn launcher_failure(e: LaunchError) -> Failure {
    Failure::new(e.message).help(e.help)
}

/// Builds the bundle if the folder has none.
fn prepare_bundle(
    job: &Job,
    question: &Question,
    request: &Request,
    observer: &dyn Observer,
) -> Result<(), Failure> {
    let path = job.bundle();
    if path.exists() {
        return Ok(());
    }
    let made = bundle(question.measure(request.arguments.clone()), observer)?;
    replace(&path, &made.packed.bytes, 0o755).map_err(|e| folder_failure(&job.folder, &e))
}

/// Starts the tasks that are neither measured nor running, unless their nodes take no task.
fn start(
    launcher: &dyn Launcher,
    job: &Job,
    plan: &mut Plan,
    captures: &mut Captures<'_>,
    report: Report<'_>,
) -> Result<Vec<Box<dyn Running>>, Failure> {
    let mut tasks = captures.missing();
    let mut running = Vec::new();
    if let Some(mut earlier) = launcher.attach(job, &tasks, &plan.jobs) {
        let states: BTreeMap<u64, State> =
            earlier.states().map_err(launcher_failure)?.into_iter().collect();
        let is_alive =
            |task: &Task| !matches!(states.get(&task.rank), None | Some(State::Ended(_)));
        let (alive, ended): (Vec<Task>, Vec<Task>) = tasks.into_iter().partition(is_alive);
        running.extend(launcher.attach(job, &alive, &plan.jobs).filter(|_| !alive.is_empty()));
        tasks = ended;
    }
    let nodes: BTreeSet<String> = tasks.iter().map(|task| task.address.clone()).collect();
    let nodes: Vec<String> = nodes.into_iter().collect();
    let offered = if nodes.is_empty() {
        Vec::new()
    } else {
        launcher.nodes(&nodes).map_err(launcher_failure)?
    };
    let reasons: BTreeMap<String, String> =
        offered.into_iter().filter_map(|node| Some((node.name, node.unusable?))).collect();
    for task in &tasks {
        if let Some(reason) = reasons.get(&task.address) {
            captures.fail(task, reason, report);
        }
    }
    tasks.retain(|task| !reasons.contains_key(&task.address));
    if !tasks.is_empty() {
        captures.started();
        let started = if plan.question.together {
            start_together(launcher, job, plan, &tasks)?
        } else {
            launcher.start(job, &tasks).map_err(launcher_failure)?
        };
        plan.jobs.extend(started.ids());
        plan.write(&job.folder)?;
        report(&Event::Started { tasks: tasks.len(), jobs: &started.ids() });
        running.push(started);
    }
    Ok(running)
}

/// Starts all tasks of a fleet that measures at the same time. A part of it would be measured under
/// another load.
fn start_together(
    launcher: &dyn Launcher,
    job: &Job,
    plan: &Plan,
    tasks: &[Task],
) -> Result<Box<dyn Running>, Failure> {
    if tasks.len() != plan.nodes.len() {
        return Err(Failure::new(
            "the nodes of this fleet measure at the same time, and some are measured already or take no task",
        )
        .help("--name starts another fleet, --host names its nodes"));
    }
    let home = embedded::home().map_err(home_failure)?;
    let source = home.runtime.join("mpi/together.cc");
    let started = launcher.start_together(job, tasks, &source);
    started.map_err(launcher_failure)
}

/// Stores captures as they appear, until each task has one or has ended.
fn collect(
    mut running: Vec<Box<dyn Running>>,
    captures: &mut Captures<'_>,
    report: Report<'_>,
) -> Result<(), Failure> {
    let started = Instant::now();
    let mut answered = Instant::now();
    // When a task was first seen to have ended without a failure that the engine knows.
    let mut ended: BTreeMap<u64, Instant> = BTreeMap::new();
    loop {
        // Captures are looked for after the states: a task that has ended has written its capture
        // before.
        let states = states(&mut running);
        let looked = captures.take_all(&mut *report);
        match (&states, looked) {
            (Ok(_), Ok(())) => answered = Instant::now(),
            (_, Err(failure)) => wait(failure, answered, report)?,
            (Err(error), Ok(())) => wait(launcher_failure(error.clone()), answered, report)?,
        }
        for (rank, state) in states.unwrap_or_default() {
            let Some(task) = captures.missing().into_iter().find(|task| task.rank == rank) else {
                continue;
            };
            let State::Ended(reason) = state else {
                continue;
            };
            let since = *ended.entry(rank).or_insert_with(Instant::now);
            match reason {
                Some(reason) => captures.fail(&task, &reason, report),
                None if captures.is_stopped(rank) => {
                    captures.fail(&task, "was stopped before its end", report);
                }
                None if since.elapsed() < VISIBLE => {}
                None => captures.fail(&task, "ended without a capture", report),
            }
        }
        if captures.missing().is_empty() {
            return Ok(());
        }
        std::thread::sleep((started.elapsed() / 20).clamp(LOOKS[0], LOOKS[1]));
    }
}

fn states(running: &mut [Box<dyn Running>]) -> Result<Vec<(u64, State)>, LaunchError> {
    let mut all = Vec::new();
    for tasks in running {
        all.extend(tasks.states()?);
    }
    Ok(all)
}

/// Passes on a failure that has lasted for too long.
fn wait(failure: Failure, answered: Instant, report: Report<'_>) -> Result<(), Failure> {
    if answered.elapsed() > PATIENCE {
        return Err(failure);
    }
    if let Failure::Sentence { message, .. } = &failure {
        report(&Event::Waiting { why: message });
    }
    Ok(())
}
