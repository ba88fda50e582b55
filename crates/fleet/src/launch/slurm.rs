//! Slurm: one array of jobs, each task of which is bound to its node. `sbatch` reads its usual
//! environment variables, such as `SBATCH_PARTITION`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::launch::command::{exited, killed, output, output_in_own_locale, with_message};
use crate::launch::slurm_output::{Row, Submitted, TaskState, exit_code, offered, rows, submitted};
use crate::launch::{Job, LaunchError, Launcher, Node, Running, State, Task};

/// A cluster with Slurm.
pub(crate) struct Slurm;

/// The file name of the script in the folder.
const SCRIPT: &str = "task.sh";

impl Launcher for Slurm {
    fn nodes(&self, hosts: &[String]) -> Result<Vec<Node>, LaunchError> {
        let offered = offered_now()?;
        if hosts.is_empty() {
            return Ok(offered);
        }
        let named = |host: &String| {
            let known = offered.iter().find(|node| node.name == *host).cloned();
            known.unwrap_or_else(|| Node {
                name: host.clone(),
                unusable: Some("Slurm has no such node in this partition".to_owned()),
            })
        };
        Ok(hosts.iter().map(named).collect())
    }

    fn script(&self, job: &Job, tasks: &[Task]) -> String {
        let ranks: Vec<String> = tasks.iter().map(|task| task.rank.to_string()).collect();
        let minutes = job.limit.as_secs().div_ceil(60);
        format!(
            "#!/bin/sh
#SBATCH --job-name=yamba-{fleet}
#SBATCH --array={ranks}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --time={minutes}
#SBATCH --no-requeue
#SBATCH --output=%a.log
exec ./{bundle} --fleet {fleet} --node \"$SLURMD_NODENAME\" --rank \"$SLURM_ARRAY_TASK_ID\" \\
    --job \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\" --into \"$SLURM_ARRAY_TASK_ID.json\"
",
            fleet = job.fleet,
            ranks = ranks.join(","),
            bundle = Job::BUNDLE,
        )
    }

    fn start(&self, job: &Job, tasks: &[Task]) -> Result<Box<dyn Running>, LaunchError> {
        let script = job.folder.join(SCRIPT);
        fs::write(&script, self.script(job, tasks)).map_err(|e| {
            let message = format!("{}: {e}", script.display());
            LaunchError::new(message, "name a folder that every node can write")
        })?;
        let job_id = submit(slurm("sbatch"), &job.folder, &script)?;
        let id = job_id.id;
        if let Some(cluster) = job_id.cluster {
            let _ = output(slurm("scancel").args(["-M", &cluster, &id]), "");
            return Err(LaunchError::new(
                format!("sbatch sent the job to the cluster {cluster}"),
                "unset SBATCH_CLUSTERS and SLURM_CLUSTERS, and run yamba on that cluster",
            ));
        }
        let begun = bind(&id, tasks).and_then(|()| release(&id));
        if let Err(error) = begun {
            let _ = output(slurm("scancel").arg(&id), "");
            return Err(error);
        }
        Ok(Box::new(Array { job: job.clone(), tasks: tasks.to_vec(), ids: vec![id] }))
    }

    fn attach(&self, job: &Job, tasks: &[Task], ids: &[String]) -> Option<Box<dyn Running>> {
        (!ids.is_empty()).then(|| {
            Box::new(Array { job: job.clone(), tasks: tasks.to_vec(), ids: ids.to_vec() }) as _
        })
    }
}

/// A program of Slurm. Variables that change what it lists, or how, have no effect: with
/// `SQUEUE_PARTITION`, tasks of other partitions would look as if they had ended.
fn slurm(program: &str) -> Command {
    let mut command = Command::new(program);
    let is_for_lists = |name: &str| {
        let prefixes = ["SQUEUE_", "SINFO_", "SCONTROL_", "SCANCEL_"];
        prefixes.iter().any(|prefix| name.starts_with(prefix)) || name == "SLURM_TIME_FORMAT"
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_for_lists) {
            command.env_remove(name);
        }
    }
    command
}

/// Submits the script with `sbatch`. The array is held until each of its tasks is bound to its
/// node. Slurm copies the environment into the job, so the benchmarks would run in the locale of
/// `sbatch`.
fn submit(mut sbatch: Command, folder: &Path, script: &Path) -> Result<Submitted, LaunchError> {
    sbatch.args(["--parsable", "--hold"]).arg("--chdir");
    sbatch.arg(folder).arg(script);
    submitted(&output_in_own_locale(&mut sbatch, "")?)
}

/// Binds each task of a held array to its node. One `scontrol` takes all of it.
fn bind(id: &str, tasks: &[Task]) -> Result<(), LaunchError> {
    let update = |task: &Task| {
        let (rank, node) = (task.rank, &task.node);
        format!("update JobId={id}_{rank} ReqNodeList={node}\n")
    };
    let updates: String = tasks.iter().map(update).collect();
    output(slurm("scontrol").arg("--quiet"), &updates).map(drop)
}

fn release(id: &str) -> Result<(), LaunchError> {
    output(slurm("scontrol").args(["release", id]), "").map(drop)
}

/// The nodes with their states: name, state, partition, and the reason that an administrator gave.
fn listed() -> Result<String, LaunchError> {
    output(slurm("sinfo").args(["-h", "-N", "-o", "%N\t%T\t%P\t%E"]), "")
}

/// The nodes of the partition to which `sbatch` submits.
fn offered_now() -> Result<Vec<Node>, LaunchError> {
    let partition = std::env::var("SBATCH_PARTITION").ok();
    offered(&listed()?, partition.as_deref())
}

/// An array of jobs, or several if a fleet was resumed.
struct Array {
    job: Job,
    tasks: Vec<Task>,
    ids: Vec<String>,
}

impl Array {
    /// The lines of all tasks that Slurm still knows.
    fn rows(&self) -> Result<String, LaunchError> {
        let mut ask = slurm("squeue");
        ask.args(["-h", "-r", "-t", "all", "-o", "%F|%K|%T|%r", "-j"]);
        match output(ask.arg(self.ids.join(",")), "") {
            // All tasks ended some minutes ago.
            Err(error) if error.message.contains("Invalid job id") => Ok(String::new()),
            said => said,
        }
    }

    /// Gives up a task whose node takes no tasks now. The reason is that of the node.
    fn give_up(&self, row: &Row<'_>, reason: &str) -> Result<State, LaunchError> {
        let name = format!("{}_{}", row.id, row.rank);
        output(slurm("scancel").arg(name), "")?;
        Ok(State::Ended(Some(reason.to_owned())))
    }

    fn state(&self, row: &Row<'_>, nodes: &BTreeMap<String, String>) -> Result<State, LaunchError> {
        let log = self.job.log(row.rank);
        let ended = |reason: String| Ok(State::Ended(Some(with_message(reason, &log))));
        match &row.state {
            TaskState::Pending => {
                let node = self.tasks.iter().find(|task| task.rank == row.rank);
                match node.and_then(|task| nodes.get(&task.node)) {
                    Some(reason) => self.give_up(row, reason),
                    None => Ok(State::Waiting(row.reason.to_owned())),
                }
            }
            TaskState::Running => Ok(State::Running),
            TaskState::Completed => Ok(State::Ended(None)),
            TaskState::Failed => ended(self.how(row)),
            TaskState::TimedOut => {
                let minutes = self.job.limit.as_secs().div_ceil(60);
                ended(format!("took longer than its limit of {minutes} min"))
            }
            TaskState::Cancelled => ended("its job was cancelled".to_owned()),
            TaskState::NodeFailed => ended("its node failed".to_owned()),
            TaskState::OutOfMemory => {
                ended("its job needed more memory than it may have".to_owned())
            }
            TaskState::Ended(state) => ended(format!("Slurm ended its job: {state}")),
        }
    }

    /// How a failed task ended.
    fn how(&self, row: &Row<'_>) -> String {
        let name = format!("{}_{}", row.id, row.rank);
        let mut ask = slurm("scontrol");
        let said = output(ask.args(["show", "job", "--oneliner", &name]), "");
        let code = said.ok().and_then(|said| exit_code(&said));
        match code {
            Some((_, signal)) if signal != 0 => killed(signal),
            Some((status, _)) => exited(status),
            None => "failed".to_owned(),
        }
    }
}

impl Running for Array {
    fn ids(&self) -> Vec<String> {
        self.ids.clone()
    }

    fn states(&mut self) -> Result<Vec<(u64, State)>, LaunchError> {
        let said = self.rows()?;
        let mut last: BTreeMap<u64, Row<'_>> = BTreeMap::new();
        // A resumed task has a row in each array; the array with the greatest number is the latest.
        for row in rows(&said, &self.ids)? {
            let number = |row: &Row<'_>| row.id.parse().unwrap_or(0_u64);
            match last.get(&row.rank) {
                Some(known) if number(known) > number(&row) => {}
                _ => drop(last.insert(row.rank, row)),
            }
        }
        let nodes = if last.values().any(|row| row.state == TaskState::Pending) {
            let all = offered_now()?.into_iter();
            let out = all.filter_map(|node| Some((node.name, node.unusable?)));
            out.collect()
        } else {
            BTreeMap::new()
        };
        let state = |task: &Task| {
            let state = match last.get(&task.rank) {
                Some(row) => self.state(row, &nodes)?,
                // Slurm forgets a job some minutes after its end.
                None => State::Ended(None),
            };
            Ok((task.rank, state))
        };
        self.tasks.iter().map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_names_its_tasks_and_rounds_the_limit_up() {
        let job = Job {
            fleet: "june".to_owned(),
            folder: "/shared/june".into(),
            limit: std::time::Duration::from_secs(90),
        };
        let task = |rank| Task::new(rank, &format!("n{rank}"));
        let script = Slurm.script(&job, &[task(0), task(3)]);
        assert!(script.contains("#SBATCH --array=0,3\n"), "{script}");
        assert!(script.contains("#SBATCH --time=2\n"), "{script}");
        let shell = Command::new("sh").args(["-n", "-c", &script]).status();
        assert!(shell.unwrap().success());
    }

    #[test]
    fn job_keeps_the_user_s_locale() {
        // Stands in for `sbatch`: succeeds only in the locale of the user.
        let mut sbatch = Command::new("sh");
        sbatch.args(["-c", "test \"$LC_ALL\" = nb_NO.UTF-8 && echo 12", "sbatch"]);
        sbatch.env("LC_ALL", "nb_NO.UTF-8");
        let job = submit(sbatch, Path::new("/shared"), Path::new("/shared/task.sh"));
        assert_eq!(job.unwrap().id, "12");
    }
}
