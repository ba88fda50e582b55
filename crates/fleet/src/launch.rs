//! Starts the tasks of a fleet: on each node one bundle, through a scheduler of a cluster, MPI, or
//! ssh.
//!
//! A launcher is one file with an implementation of [`Launcher`], and a line in [`LAUNCHERS`]. It
//! knows its engine and nothing of benchmarks. Each task leaves its capture as a file in the
//! fleet's folder; the file appears when it is complete.

mod command;
mod limited;
mod mpi;
mod processes;
mod slurm;
mod slurm_output;
mod ssh;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The launchers by name.
pub const LAUNCHERS: [(&str, &dyn Launcher); 3] =
    [("slurm", &slurm::Slurm), ("mpi", &mpi::Mpi), ("ssh", &ssh::Ssh)];

pub fn launcher(name: &str) -> Option<&'static dyn Launcher> {
    let found = LAUNCHERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, launcher)| *launcher)
}

/// An engine that starts tasks on nodes.
pub trait Launcher: Sync {
    /// The nodes that the engine offers, or those of `hosts` if it is not empty.
    ///
    /// # Errors
    /// If the engine is missing, or does not answer.
    fn nodes(&self, hosts: &[String]) -> Result<Vec<Node>, LaunchError>;

    /// The text that starts the tasks: a script, or one command for each task.
    fn script(&self, job: &Job, tasks: &[Task]) -> String;

    /// Starts the tasks.
    ///
    /// # Errors
    /// If the engine refuses them. No task runs then.
    fn start(&self, job: &Job, tasks: &[Task]) -> Result<Box<dyn Running>, LaunchError>;

    /// Starts the tasks so that all nodes measure at the same time. `source` is the C++ of the
    /// program that starts the bundles and connects them.
    ///
    /// # Errors
    /// If the engine cannot do that, or refuses the tasks.
    fn start_together(
        &self,
        _job: &Job,
        _tasks: &[Task],
        _source: &Path,
    ) -> Result<Box<dyn Running>, LaunchError> {
        Err(LaunchError::new(
            "nodes measure at the same time only over MPI",
            "--together goes with --with mpi",
        ))
    }

    /// The tasks of jobs that an earlier process started. `None` if they ended with that process.
    fn attach(&self, _job: &Job, _tasks: &[Task], _ids: &[String]) -> Option<Box<dyn Running>> {
        None
    }
}

/// Tasks that were started.
pub trait Running {
    /// The names of their jobs in the engine, for [`Launcher::attach`].
    fn ids(&self) -> Vec<String>;

    /// The state of each task that the engine knows, by rank.
    ///
    /// # Errors
    /// If the engine does not answer now.
    fn states(&mut self) -> Result<Vec<(u64, State)>, LaunchError>;
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for its node, for this reason.
    Waiting(String),
    /// It runs.
    Running,
    /// It has ended. The reason says why it failed; `None` if the engine saw no failure.
    Ended(Option<String>),
}

/// A node, as the engine names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    /// Why no task can start on it. `None` if tasks can.
    pub unusable: Option<String>,
}

impl Node {
    /// A node that can take tasks.
    pub fn named(name: &str) -> Node {
        Node { name: name.to_owned(), unusable: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The number of the task in the fleet.
    pub rank: u64,
    /// The node that it runs on.
    pub node: String,
    /// The node with the user who logs in there, such as `ann@node1`; else the node.
    pub address: String,
}

impl Task {
    /// The task of a node, which may be named with a user.
    pub fn new(rank: u64, address: &str) -> Task {
        let (_, node) = address.rsplit_once('@').unwrap_or(("", address));
        Task { rank, node: node.to_owned(), address: address.to_owned() }
    }
}

/// The common part of all tasks.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name of the fleet: letters, digits, `.`, `_` and `-`.
    pub fleet: String,
    /// The absolute path of the fleet's folder. It holds the bundle, and gets the captures.
    pub folder: PathBuf,
    /// Longest duration of a task.
    pub limit: Duration,
}

impl Job {
    /// The file name of the bundle in the folder.
    pub const BUNDLE: &str = "measure";

    pub fn bundle(&self) -> PathBuf {
        self.folder.join(Job::BUNDLE)
    }

    /// The file with the capture of a task, once it is complete.
    pub fn capture(&self, rank: u64) -> PathBuf {
        self.folder.join(format!("{rank}.json"))
    }

    /// The file with the messages of a task.
    pub fn log(&self, rank: u64) -> PathBuf {
        self.folder.join(format!("{rank}.log"))
    }
}

/// Why an engine cannot be used, and the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    /// The engine's program and the fault.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl LaunchError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> LaunchError {
        LaunchError { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
