//! Runs each task by a local process that starts it on its node, such as ssh. A node runs one task
//! at a time.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use crate::bundle::is_capture;
use crate::launch::command::{command, exited, failed, last_message, with_message};
use crate::launch::limited::LimitedChild;
use crate::launch::{Job, LaunchError, Running, State, Task};

/// Most processes at a time.
const MOST: usize = 64;

/// The exit status of a bundle that was stopped. Its capture is complete up to there.
const STOPPED: i32 = 1;

/// Gives the command line of a task.
pub(crate) type Line = fn(&Job, &Task) -> Vec<String>;

/// How the capture of a task reaches the folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// The task writes it there.
    SharedFolder,
    /// The process sends it to standard output, and takes the bundle from standard input.
    Pipe,
}

/// The tasks that wait, run and have ended.
pub(crate) struct Processes {
    job: Job,
    line: Line,
    transport: Transport,
    waiting: VecDeque<Task>,
    running: Vec<Process>,
    ended: Vec<(u64, State)>,
}

struct Process {
    task: Task,
    child: LimitedChild,
}

impl Processes {
    pub fn new(job: &Job, tasks: &[Task], transport: Transport, line: Line) -> Processes {
        Processes {
            job: job.clone(),
            line,
            transport,
            waiting: tasks.iter().cloned().collect(),
            running: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Starts each task whose node is free.
    fn start_more(&mut self) {
        for _ in 0..self.waiting.len() {
            let Some(task) = self.waiting.pop_front() else {
                return;
            };
            let is_busy = |process: &Process| process.task.node == task.node;
            if self.running.len() >= MOST || self.running.iter().any(is_busy) {
                self.waiting.push_back(task);
                continue;
            }
            match self.spawned(&task) {
                Ok(child) => self.running.push(Process { task, child }),
                Err(e) => self.end(&task, Some(format!("cannot be started: {e}"))),
            }
        }
    }

    fn spawned(&self, task: &Task) -> io::Result<LimitedChild> {
        let log = File::create(self.job.log(task.rank))?;
        let mut command = command(&(self.line)(&self.job, task));
        command.current_dir(&self.job.folder);
        match self.transport {
            Transport::SharedFolder => {
                command.stdin(Stdio::null()).stdout(log.try_clone()?);
            }
            Transport::Pipe => {
                command.stdin(File::open(self.job.bundle())?);
                command.stdout(self.new_part(task)?);
            }
        }
        LimitedChild::spawn(command.stderr(log), self.job.limit)
    }

    /// The capture while it arrives.
    fn part(&self, task: &Task) -> PathBuf {
        self.job.folder.join(format!("{}.part", task.rank))
    }

    /// A new file for the capture. The task of an earlier command may still write into the file
    /// that had its name.
    fn new_part(&self, task: &Task) -> io::Result<File> {
        let path = self.part(task);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => File::create_new(path),
        }
    }

    fn end(&mut self, task: &Task, failure: Option<String>) {
        self.ended.push((task.rank, State::Ended(failure)));
    }

    /// Notes the tasks that have ended, and ends those that take too long.
    fn look_after_running(&mut self) {
        for mut process in std::mem::take(&mut self.running) {
            match process.child.ended() {
                None => self.running.push(process),
                Some(Ok(status)) => {
                    let failure = self.failure(&process.task, status);
                    self.end(&process.task, failure);
                }
                Some(Err(reason)) => self.end(&process.task, Some(reason)),
            }
        }
    }

    fn failure(&self, task: &Task, status: ExitStatus) -> Option<String> {
        let is_complete = status.success() || status.code() == Some(STOPPED);
        let log = self.job.log(task.rank);
        let how = status.code().map_or_else(|| failed(status), exited);
        if self.transport == Transport::Pipe {
            let part = self.part(task);
            match fs::read(&part) {
                Err(e) => return Some(format!("{}: {e}", part.display())),
                // A shell that refuses a login, or an early command of it, also ends with 0 or 1.
                Ok(said) if !is_capture(&said) => {
                    let message = last_message(&log).or_else(|| last_message(&part));
                    let message = message.unwrap_or_else(|| "it printed no capture".to_owned());
                    return Some(format!("{how}: {message}"));
                }
                Ok(_) if is_complete => {
                    if let Err(e) = fs::rename(&part, self.job.capture(task.rank)) {
                        return Some(e.to_string());
                    }
                }
                Ok(_) => {}
            }
        }
        (!status.success()).then(|| with_message(how, &log))
    }
}

impl Running for Processes {
    fn ids(&self) -> Vec<String> {
        Vec::new()
    }

    fn states(&mut self) -> Result<Vec<(u64, State)>, LaunchError> {
        self.look_after_running();
        self.start_more();
        let running = self.running.iter().map(|p| (p.task.rank, State::Running));
        let waiting = |task: &Task| {
            let why = format!("{} runs another task", task.node);
            (task.rank, State::Waiting(why))
        };
        let waiting = self.waiting.iter().map(waiting);
        Ok(running.chain(waiting).chain(self.ended.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// `cat` prints it as the capture.
    const BUNDLE: &str = "{\"schema\":\"yamba-capture/1\",\"items\":[\n]}\n";

    /// Starts a shell for each task with the text of its node, and returns the states at the end.
    fn run(folder: &std::path::Path, texts: &[&str], limit: Duration) -> Vec<(u64, State)> {
        let job = Job { fleet: "f".to_owned(), folder: folder.to_owned(), limit };
        fs::write(job.bundle(), BUNDLE).unwrap();
        let task = |(rank, text): (usize, &&str)| Task::new(rank as u64, text);
        let tasks: Vec<Task> = texts.iter().enumerate().map(task).collect();
        let line: Line = |_, task| ["sh", "-c", &task.node].map(str::to_owned).to_vec();
        let mut processes = Processes::new(&job, &tasks, Transport::Pipe, line);
        loop {
            let mut states = processes.states().unwrap();
            if states.iter().all(|(_, s)| matches!(s, State::Ended(_))) {
                states.sort_by_key(|(rank, _)| *rank);
                return states;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn failed_task_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let texts = [
            "cat",
            "echo no route >&2; exit 255",
            "cat; kill -9 $$",
            "echo mktemp: no space >&2; exit 1",
            "echo This account is not available.; exit 1",
            "echo hello; exit 0",
        ];
        let states = run(folder.path(), &texts, Duration::from_secs(60));
        let reasons = [
            None,
            Some("ended with status 255: no route"),
            Some("killed by signal 9 (SIGKILL)"),
            Some("ended with status 1: mktemp: no space"),
            Some("ended with status 1: This account is not available."),
            Some("ended with status 0: hello"),
        ];
        for ((rank, state), reason) in states.iter().zip(reasons) {
            assert_eq!(*state, State::Ended(reason.map(str::to_owned)), "{rank}");
        }
        let capture = |rank| fs::read_to_string(folder.path().join(format!("{rank}.json")));
        assert_eq!(capture(0).unwrap(), BUNDLE);
        for rank in 1..6 {
            assert!(capture(rank).is_err(), "{rank}");
        }
    }

    /// Each of two tasks with the same node fails if it sees the other one.
    #[test]
    fn node_runs_one_task_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let text = "mkdir busy && sleep 0.1 && rmdir busy && cat";
        let with_user = format!("ann@{text}");
        let states = run(folder.path(), &[text, &with_user], Duration::from_secs(60));
        assert_eq!(states, [(0, State::Ended(None)), (1, State::Ended(None))]);
    }

    /// The task of a command that was killed still has its file open, and writes into it.
    #[test]
    fn earlier_task_does_not_write_into_the_capture() {
        let folder = tempfile::tempdir().unwrap();
        let mut earlier = File::create(folder.path().join("0.part")).unwrap();
        let states = run(folder.path(), &["cat"], Duration::from_secs(60));
        io::Write::write_all(&mut earlier, b"{\"schema\"").unwrap();
        assert_eq!(states, [(0, State::Ended(None))]);
        assert_eq!(fs::read_to_string(folder.path().join("0.json")).unwrap(), BUNDLE);
    }

    #[test]
    fn task_beyond_its_limit_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let states = run(folder.path(), &["exec sleep 600"], Duration::ZERO);
        let reason = "took longer than its limit of 0 s".to_owned();
        assert_eq!(states, [(0, State::Ended(Some(reason)))]);
    }
}
