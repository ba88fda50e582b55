//! Slurm: one array of jobs, each task of which is bound to its node. `sbatch` reads its usual environment variables, such as `SBATCH_PARTITION`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::command::{exited, killed, output, with_message};
use crate::{Job, LaunchError, Launcher, Node, Running, State, Task};

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
        let mut submit = Command::new("sbatch");
        // The array is held until each of its tasks is bound to its node.
        submit.args(["--parsable", "--hold"]).arg("--chdir");
        submit.arg(&job.folder).arg(&script);
        let said = output(&mut submit, "")?;
        let id = said.trim().split(';').next().unwrap_or_default().to_owned();
        let begun = bind(&id, tasks).and_then(|()| release(&id));
        if let Err(error) = begun {
            let _ = output(Command::new("scancel").arg(&id), "");
            return Err(error);
        }
        Ok(Box::new(Array {
            job: job.clone(),
            tasks: tasks.to_vec(),
            ids: vec![id],
        }))
    }

    fn attach(&self, job: &Job, tasks: &[Task], ids: &[String]) -> Option<Box<dyn Running>> {
        (!ids.is_empty()).then(|| {
            Box::new(Array {
                job: job.clone(),
                tasks: tasks.to_vec(),
                ids: ids.to_vec(),
            }) as _
        })
    }
}

/// Binds each task of a held array to its node. One `scontrol` takes all of it.
fn bind(id: &str, tasks: &[Task]) -> Result<(), LaunchError> {
    let update = |task: &Task| {
        let (rank, node) = (task.rank, &task.node);
        format!("update JobId={id}_{rank} ReqNodeList={node}\n")
    };
    let updates: String = tasks.iter().map(update).collect();
    output(Command::new("scontrol").arg("--quiet"), &updates).map(drop)
}

fn release(id: &str) -> Result<(), LaunchError> {
    output(Command::new("scontrol").args(["release", id]), "").map(drop)
}

/// The nodes with their states: name, state, partition, and the reason that an administrator gave.
fn listed() -> Result<String, LaunchError> {
    output(
        Command::new("sinfo").args(["-h", "-N", "-o", "%N|%T|%P|%E"]),
        "",
    )
}

/// The nodes of the partition to which `sbatch` submits.
fn offered_now() -> Result<Vec<Node>, LaunchError> {
    let partition = std::env::var("SBATCH_PARTITION").ok();
    Ok(offered(&listed()?, partition.as_deref()))
}

/// The nodes of a partition, or of the usual one.
fn offered(listed: &str, partition: Option<&str>) -> Vec<Node> {
    let rows: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.splitn(4, '|').map(str::trim).collect())
        .filter(|row: &Vec<&str>| row.len() == 4)
        .collect();
    let has_usual = rows.iter().any(|row| row[2].ends_with('*'));
    let is_in = |row: &&Vec<&str>| match partition {
        Some(partition) => row[2].trim_end_matches('*') == partition,
        None => !has_usual || row[2].ends_with('*'),
    };
    let mut known = BTreeSet::new();
    let own = rows.iter().filter(is_in);
    own.filter(|row| known.insert(row[0]))
        .map(|row| Node {
            name: row[0].to_owned(),
            unusable: unusable(row[1], row[3]),
        })
        .collect()
}

/// Why a node in this state takes no task. `None` if it does. An idle node that does not respond yet may have been resumed a moment ago; Slurm takes
/// it down later if it stays silent.
fn unusable(state: &str, reason: &str) -> Option<String> {
    let word = state.trim_end_matches(['*', '~', '#', '!', '%', '$', '@', '^', '-', '+']);
    let out = ["drain", "down", "fail", "maint", "unk", "reboot", "power"];
    let is_given = !["", "none", "(null)"].contains(&reason.to_lowercase().as_str());
    let why = if state.ends_with('*') {
        format!("the node is {word} and does not respond")
    } else {
        format!("the node is {word}")
    };
    out.iter().any(|out| word.starts_with(out)).then(|| {
        if is_given {
            format!("{why}: {reason}")
        } else {
            why
        }
    })
}

/// An array of jobs, or several if a fleet was resumed.
struct Array {
    job: Job,
    tasks: Vec<Task>,
    ids: Vec<String>,
}

/// A task of an array, as Slurm lists it.
struct Row<'a> {
    id: &'a str,
    rank: u64,
    state: &'a str,
    reason: &'a str,
}

fn row(line: &str) -> Option<Row<'_>> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [id, rank, state, reason] = fields[..] else {
        return None;
    };
    let rank = rank.parse().ok()?;
    Some(Row {
        id,
        rank,
        state,
        reason,
    })
}

impl Array {
    /// The lines of all tasks that Slurm still knows.
    fn rows(&self) -> Result<String, LaunchError> {
        let mut ask = Command::new("squeue");
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
        output(Command::new("scancel").arg(name), "")?;
        Ok(State::Ended(Some(reason.to_owned())))
    }

    fn state(&self, row: &Row<'_>, nodes: &BTreeMap<String, String>) -> Result<State, LaunchError> {
        let log = self.job.log(row.rank);
        let ended = |reason: String| Ok(State::Ended(Some(with_message(reason, &log))));
        match row.state {
            "PENDING" => {
                let node = self.tasks.iter().find(|task| task.rank == row.rank);
                match node.and_then(|task| nodes.get(&task.node)) {
                    Some(reason) => self.give_up(row, reason),
                    None => Ok(State::Waiting(row.reason.to_owned())),
                }
            }
            "COMPLETED" => Ok(State::Ended(None)),
            "FAILED" => ended(self.how(row)),
            "TIMEOUT" => {
                let minutes = self.job.limit.as_secs().div_ceil(60);
                ended(format!("took longer than its limit of {minutes} min"))
            }
            "CANCELLED" => ended("its job was cancelled".to_owned()),
            "NODE_FAIL" => ended("its node failed".to_owned()),
            "OUT_OF_MEMORY" => ended("its job needed more memory than it may have".to_owned()),
            "BOOT_FAIL" | "DEADLINE" | "PREEMPTED" | "REVOKED" | "SPECIAL_EXIT" => {
                ended(format!("Slurm ended its job: {}", row.state))
            }
            _ => Ok(State::Running),
        }
    }

    /// How a failed task ended.
    fn how(&self, row: &Row<'_>) -> String {
        let name = format!("{}_{}", row.id, row.rank);
        let mut ask = Command::new("scontrol");
        let said = output(ask.args(["show", "job", "--oneliner", &name]), "");
        let code = said.ok().and_then(|said| exit_code(&said));
        match code {
            Some((_, signal)) if signal != 0 => killed(signal),
            Some((status, _)) => exited(status),
            None => "failed".to_owned(),
        }
    }
}

/// The field `ExitCode=STATUS:SIGNAL`.
fn exit_code(said: &str) -> Option<(i32, i32)> {
    let mut words = said.split_whitespace();
    let code = words.find_map(|word| word.strip_prefix("ExitCode="))?;
    let (status, signal) = code.split_once(':')?;
    Some((status.parse().ok()?, signal.parse().ok()?))
}

impl Running for Array {
    fn ids(&self) -> Vec<String> {
        self.ids.clone()
    }

    fn states(&mut self) -> Result<Vec<(u64, State)>, LaunchError> {
        let said = self.rows()?;
        let mut last: BTreeMap<u64, Row<'_>> = BTreeMap::new();
        // A resumed task has a row in each array; the array with the greatest number is the latest.
        for row in said.lines().filter_map(row) {
            let number = |row: &Row<'_>| row.id.parse().unwrap_or(0_u64);
            match last.get(&row.rank) {
                Some(known) if number(known) > number(&row) => {}
                _ => drop(last.insert(row.rank, row)),
            }
        }
        let nodes = if last.values().any(|row| row.state == "PENDING") {
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

    /// Lines of `sinfo` of Slurm 22.05: two partitions, of which `main` is the usual one.
    const SINFO: &str = "\
n1|idle|main*|none
n1|idle|big|none
n2|drained|main*|bad DIMM
n3|mixed|main*|none
n4|down*|main*|Not responding
n6|idle*|main*|none
n5|down|big|none
";

    #[test]
    fn nodes_of_the_partition_are_listed_once_with_their_reasons() {
        let node = |name: &str, unusable: Option<&str>| Node {
            name: name.to_owned(),
            unusable: unusable.map(str::to_owned),
        };
        let usual = [
            node("n1", None),
            node("n2", Some("the node is drained: bad DIMM")),
            node("n3", None),
            node(
                "n4",
                Some("the node is down and does not respond: Not responding"),
            ),
            node("n6", None),
        ];
        assert_eq!(offered(SINFO, None), usual);
        let big = [node("n1", None), node("n5", Some("the node is down"))];
        assert_eq!(offered(SINFO, Some("big")), big);
    }

    #[test]
    fn exit_code_has_status_and_signal() {
        let said = "JobId=7 ArrayJobId=5 ArrayTaskId=2 JobState=FAILED ExitCode=0:9 Reason=x";
        assert_eq!(exit_code(said), Some((0, 9)));
        assert_eq!(exit_code("JobId=7"), None);
    }

    #[test]
    fn script_names_its_tasks_and_rounds_the_limit_up() {
        let job = Job {
            fleet: "june".to_owned(),
            folder: "/shared/june".into(),
            limit: std::time::Duration::from_secs(90),
        };
        let task = |rank| Task {
            rank,
            node: format!("n{rank}"),
        };
        let script = Slurm.script(&job, &[task(0), task(3)]);
        assert!(script.contains("#SBATCH --array=0,3\n"), "{script}");
        assert!(script.contains("#SBATCH --time=2\n"), "{script}");
        let shell = Command::new("sh").args(["-n", "-c", &script]).status();
        assert!(shell.unwrap().success());
    }
}
