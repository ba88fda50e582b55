//! The captures of a fleet: takes each one from the folder into the store as soon as it appears.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use yamba_fleet::bundle::run_of_capture;
use yamba_fleet::launch::{Job, Task};
use yamba_record::run::FleetMember;
use yamba_record::{Run, RunHead};
use yamba_store::Store;

use super::{Event, Report};
use crate::Failure;
use crate::bundle::import;
use crate::clock;

/// The results of the tasks so far.
pub(super) struct Captures<'a> {
    job: Job,
    tasks: Vec<Task>,
    store: &'a mut Store,
    /// The ids of complete runs in the store, by rank.
    measured: BTreeMap<u64, String>,
    /// The reasons of tasks that have ended without one.
    failed: BTreeMap<u64, String>,
    /// The ids of stored runs that were stopped before their end, by rank, of tasks that were
    /// started since.
    stopped: BTreeMap<u64, String>,
    /// The runs in the store with the name of the fleet, by id: whether each lacks its end.
    known: BTreeMap<String, bool>,
}

impl<'a> Captures<'a> {
    /// Reads from the store which runs it has. A run counts for a task only if the folder has its
    /// capture: the store may have a fleet of the same name from another folder.
    pub fn new(job: &Job, tasks: Vec<Task>, store: &'a mut Store) -> Result<Self, Failure> {
        let stored = store.fleet(&job.fleet)?.into_iter();
        let known = stored.map(|run| (run.id.clone(), is_part(&run))).collect();
        Ok(Captures {
            job: job.clone(),
            tasks,
            store,
            measured: BTreeMap::new(),
            failed: BTreeMap::new(),
            stopped: BTreeMap::new(),
            known,
        })
    }

    pub fn is_complete(&self) -> bool {
        self.tasks.iter().all(|t| self.measured.contains_key(&t.rank))
    }

    /// The tasks that are neither measured nor failed.
    pub fn missing(&self) -> Vec<Task> {
        let is_open = |rank| !self.measured.contains_key(rank) && !self.failed.contains_key(rank);
        let open = self.tasks.iter().filter(|task| is_open(&task.rank));
        open.cloned().collect()
    }

    /// Notes that tasks start.
    pub fn started(&mut self) {
        self.stopped.clear();
    }

    /// Whether a task was stopped, and left the first part of its run.
    pub fn is_stopped(&self, rank: u64) -> bool {
        self.stopped.contains_key(&rank)
    }

    /// Notes that a task has ended without a complete run.
    pub fn fail(&mut self, task: &Task, reason: &str, report: Report<'_>) {
        let reason = match self.stopped.get(&task.rank) {
            Some(id) => format!("{reason}; run {id} has what it measured"),
            None => reason.to_owned(),
        };
        report(&Event::Missing { task, reason: &reason });
        self.failed.insert(task.rank, reason);
    }

    /// Stores each capture that is in the folder and not in the store.
    pub fn take_all(&mut self, report: Report<'_>) -> Result<(), Failure> {
        for task in self.missing() {
            let path = self.job.capture(task.rank);
            match fs::read(&path) {
                Ok(content) => self.take(&task, &content, report)?,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => {
                    let message = format!("{}: {e}", path.display());
                    return Err(Failure::new(message).help("make the file readable, and resume"));
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, task: &Task, content: &[u8], report: Report<'_>) -> Result<(), Failure> {
        let id = run_of_capture(content);
        if let Some(id) = id.filter(|id| self.known.get(id) == Some(&false)) {
            self.measured.insert(task.rank, id);
            return Ok(());
        }
        let (run, lost) = match self.read(task, content) {
            Ok(read) => read,
            Err(reason) => {
                self.put_aside(task);
                self.fail(task, &reason, report);
                return Ok(());
            }
        };
        if !self.known.contains_key(&run.id) {
            self.store.call_again();
            self.store.add(&run)?;
        }
        let is_part = is_part(&run);
        self.known.insert(run.id.clone(), is_part);
        if !lost.is_empty() {
            report(&Event::Lacks { task, parts: &lost });
        }
        if is_part {
            self.put_aside(task);
            self.stopped.insert(task.rank, run.head.id);
            return Ok(());
        }
        self.measured.insert(task.rank, run.head.id);
        report(&Event::Measured { task, done: self.measured.len(), all: self.tasks.len() });
        Ok(())
    }

    /// Reads a capture. The error says why it is not the run of this task.
    fn read(&self, task: &Task, content: &[u8]) -> Result<(Run, Vec<String>), String> {
        let file = format!("{}.json", task.rank);
        let read = import(&[(file.as_str(), content)], None).map_err(|failure| match failure {
            Failure::Sentence { message, .. } => message,
            Failure::Shown => format!("{file} is damaged"),
        })?;
        let [imported] =
            <[_; 1]>::try_from(read).map_err(|_| format!("{file} has several runs"))?;
        let member = imported.run.fleet.as_ref();
        let is_own = |m: &&FleetMember| m.name == self.job.fleet && m.rank == Some(task.rank);
        if member.filter(is_own).is_none() {
            return Err(format!("{file} is the capture of another task"));
        }
        if let Some(ahead) = clock::ahead(imported.run.started_unix_s) {
            return Err(format!("the clock of its node is {ahead:.0} s ahead: set it, and resume"));
        }
        Ok((imported.run, imported.lost))
    }

    /// Renames a capture that is not complete, so that the task can run again.
    fn put_aside(&self, task: &Task) {
        let path = self.job.capture(task.rank);
        let aside = (0..).map(|n| path.with_extension(format!("incomplete{n}")));
        if let Some(free) = aside.into_iter().find(|p| !p.exists()) {
            // A file that stays is looked at again by the next command.
            let _ = fs::rename(&path, free);
        }
    }

    /// The measured tasks with the ids of their runs, and the others with their reasons.
    pub fn results(self) -> [Vec<(Task, String)>; 2] {
        let (mut measured, mut missing) = (Vec::new(), Vec::new());
        for task in self.tasks {
            match self.measured.get(&task.rank) {
                Some(id) => measured.push((task, id.clone())),
                None => {
                    let reason = self.failed.get(&task.rank).cloned();
                    missing.push((task, reason.unwrap_or_default()));
                }
            }
        }
        [measured, missing]
    }
}

/// Whether a run was stopped, or its end is lost.
fn is_part(run: &RunHead) -> bool {
    run.interrupted || run.finished_unix_s.is_none()
}
