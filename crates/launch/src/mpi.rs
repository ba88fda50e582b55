//! MPI: one `mpirun` for each host, of Open MPI or MPICH. A common one would end all tasks with the first that fails.

use std::process::Command;

use crate::command::{output, quoted, words};
use crate::processes::{Processes, Transport};
use crate::{Job, LaunchError, Launcher, Node, Running, Task};

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
