//! MPI: one `mpirun` for each host, of Open MPI or MPICH. A common one would end all tasks with the first that fails.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::command::{failed, output, quoted, with_message, words};
use crate::processes::{Processes, Transport};
use crate::{Job, LaunchError, Launcher, Node, Running, State, Task};

/// The hosts of the allocation in which yamba runs, or those that are named.
pub(crate) struct Mpi;

impl Launcher for Mpi {
    fn nodes(&self, hosts: &[String]) -> Result<Vec<Node>, LaunchError> {
        let mut names = hosts.to_vec();
        if names.is_empty() {
            let words = mpirun();
            let mut ask = Command::new(&words[0]);
            let said = output(ask.args(&words[1..]).args(["uname", "-n"]), "")?;
            names = said.lines().map(|line| line.trim().to_owned()).collect();
            names.sort();
            names.dedup();
        }
        let node = |name: String| Node {
            name,
            unusable: None,
        };
        Ok(names.into_iter().map(node).collect())
    }

    fn script(&self, job: &Job, tasks: &[Task]) -> String {
        let folder = quoted(&job.folder.to_string_lossy());
        let mut text = format!("cd {folder}\n");
        for task in tasks {
            let words: Vec<String> = line(job, task).iter().map(|w| quoted(w)).collect();
            text.push_str(&format!("{}\n", words.join(" ")));
        }
        text
    }

    fn start(&self, job: &Job, tasks: &[Task]) -> Result<Box<dyn Running>, LaunchError> {
        let command = |job: &Job, task: &Task| {
            let words = line(job, task);
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            command
        };
        let commands = Box::new(command);
        Ok(Box::new(Processes::new(
            job,
            tasks,
            Transport::SharedFolder,
            commands,
        )))
    }

    fn start_together(
        &self,
        job: &Job,
        tasks: &[Task],
        source: &Path,
    ) -> Result<Box<dyn Running>, LaunchError> {
        let program = job.folder.join("together");
        let mut compile = Command::new("mpicxx");
        compile.args(["-std=c++17", "-O2", "-o"]).arg(&program);
        output(compile.arg(source), "")?;
        let refused = |e: std::io::Error| {
            LaunchError::new(format!("mpirun: {e}"), "YAMBA_MPIRUN names another command")
        };
        let line = line_together(job, tasks, &program);
        let log = File::create(job.folder.join(LOG)).map_err(refused)?;
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).stdin(Stdio::null());
        command
            .stdout(log.try_clone().map_err(refused)?)
            .stderr(log);
        Ok(Box::new(Together {
            job: job.clone(),
            ranks: tasks.iter().map(|task| task.rank).collect(),
            child: command.spawn().map_err(refused)?,
            started: Instant::now(),
            end: None,
        }))
    }
}

fn mpirun() -> Vec<String> {
    words("YAMBA_MPIRUN", "mpirun")
}

fn line(job: &Job, task: &Task) -> Vec<String> {
    let mut line = mpirun();
    line.extend(["-n", "1", "-host", &task.node].map(str::to_owned));
    line.push(job.bundle().to_string_lossy().into_owned());
    for (option, value) in [
        ("--fleet", job.fleet.clone()),
        ("--node", task.node.clone()),
        ("--rank", task.rank.to_string()),
        (
            "--into",
            job.capture(task.rank).to_string_lossy().into_owned(),
        ),
    ] {
        line.extend([option.to_owned(), value]);
    }
    line
}

/// The messages of the common `mpirun`.
const LOG: &str = "together.log";

/// One `mpirun` for all tasks, which measure at the same time.
struct Together {
    job: Job,
    ranks: Vec<u64>,
    child: Child,
    started: Instant,
    end: Option<State>,
}

impl Running for Together {
    fn ids(&self) -> Vec<String> {
        Vec::new()
    }

    fn states(&mut self) -> Result<Vec<(u64, State)>, LaunchError> {
        if self.end.is_none() {
            self.end = self.ended();
        }
        let state = self.end.clone().unwrap_or(State::Running);
        let state = |rank: &u64| (*rank, state.clone());
        Ok(self.ranks.iter().map(state).collect())
    }
}

impl Together {
    fn ended(&mut self) -> Option<State> {
        let log = self.job.folder.join(LOG);
        match self.child.try_wait() {
            Ok(None) if self.started.elapsed() > self.job.limit => {
                let _ = self.child.kill();
                let seconds = self.job.limit.as_secs();
                let why = format!("took longer than its limit of {seconds} s");
                Some(State::Ended(Some(why)))
            }
            Ok(None) => None,
            Ok(Some(status)) if status.success() => Some(State::Ended(None)),
            Ok(Some(status)) => Some(State::Ended(Some(with_message(failed(status), &log)))),
            Err(e) => Some(State::Ended(Some(e.to_string()))),
        }
    }
}

/// The command of all tasks. The rank of MPI is that of the task.
fn line_together(job: &Job, tasks: &[Task], program: &Path) -> Vec<String> {
    let hosts: Vec<&str> = tasks.iter().map(|task| task.node.as_str()).collect();
    let variable = |name: &&str| std::env::var(name).ok();
    let id = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"]
        .iter()
        .find_map(variable);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = since.map_or(1, |since| since.as_nanos() as u64 | 1);
    let mut line = mpirun();
    line.extend([
        "-n".to_owned(),
        tasks.len().to_string(),
        "-host".to_owned(),
        hosts.join(","),
    ]);
    let path = |path: &Path| path.to_string_lossy().into_owned();
    line.extend([path(program), path(&job.bundle()), path(&job.folder)]);
    line.extend([job.fleet.clone(), id.unwrap_or_default(), seed.to_string()]);
    line
}
