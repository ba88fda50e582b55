//! MPI: one `mpirun` for each host, of Open MPI or MPICH. A common one would end all tasks with the
//! first that fails.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::launch::command::{
    command, failed, is_host_name, last_line, output, quoted, shell_line, with_message, words,
};
use crate::launch::limited::LimitedChild;
use crate::launch::processes::{Processes, Transport};
use crate::launch::{Job, LaunchError, Launcher, Node, Running, State, Task};

/// The hosts of the allocation in which yamba runs, or those that are named.
pub(crate) struct Mpi;

impl Launcher for Mpi {
    fn nodes(&self, hosts: &[String]) -> Result<Vec<Node>, LaunchError> {
        let mut names = hosts.to_vec();
        if names.is_empty() {
            let program = ["sh", "-c", PRINT_NAME];
            names = host_names(&output(command(&mpirun()).args(program), "")?)?;
            names.sort();
            names.dedup();
        }
        Ok(names.iter().map(|name| Node::named(name)).collect())
    }

    fn script(&self, job: &Job, tasks: &[Task]) -> String {
        let folder = quoted(&job.folder.to_string_lossy());
        let mut text = format!("cd {folder}\n");
        for task in tasks {
            text.push_str(&format!("{}\n", shell_line(&line(job, task))));
        }
        text
    }

    fn start(&self, job: &Job, tasks: &[Task]) -> Result<Box<dyn Running>, LaunchError> {
        let processes = Processes::new(job, tasks, Transport::SharedFolder, line);
        Ok(Box::new(processes))
    }

    fn start_together(
        &self,
        job: &Job,
        tasks: &[Task],
        source: &Path,
    ) -> Result<Box<dyn Running>, LaunchError> {
        let program = job.folder.join("together");
        let mut compile = command(&words("YAMBA_MPICXX", "mpicxx"));
        compile.args(["-std=c++17", "-O2", "-o"]).arg(&program);
        output(compile.arg(source), "")?;
        let refused = |e: std::io::Error| {
            LaunchError::new(format!("mpirun: {e}"), "YAMBA_MPIRUN names another command")
        };
        let log = File::create(job.folder.join(LOG)).map_err(refused)?;
        let mut command = command(&line_together(job, tasks, &program));
        command.stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(refused)?).stderr(log);
        Ok(Box::new(Together {
            job: job.clone(),
            ranks: tasks.iter().map(|task| task.rank).collect(),
            child: LimitedChild::spawn(&mut command, job.limit).map_err(refused)?,
            end: None,
        }))
    }
}

/// Prints the name of a host between marks: `mpirun` and the shells of the hosts may print lines of
/// their own.
const PRINT_NAME: &str = "printf '\\nyamba-host=%s;\\n' \"$(uname -n)\"";
const MARK: &str = "yamba-host=";

/// The names of the hosts, of which each process has printed one.
fn host_names(said: &str) -> Result<Vec<String>, LaunchError> {
    let name = |text: &str| {
        let (name, _) = text.split_once(';')?;
        is_host_name(name).then(|| name.to_owned())
    };
    let names: Option<Vec<String>> = said.split(MARK).skip(1).map(name).collect();
    names.filter(|names| !names.is_empty()).ok_or_else(|| {
        let line = last_line(said).unwrap_or_default();
        LaunchError::new(
            format!("mpirun printed no name of a host: {line:?}"),
            "name the hosts: add --host HOST for each",
        )
    })
}

fn mpirun() -> Vec<String> {
    words("YAMBA_MPIRUN", "mpirun")
}

fn line(job: &Job, task: &Task) -> Vec<String> {
    let mut line = mpirun();
    line.extend(["-n", "1", "-host", &task.address].map(str::to_owned));
    line.push(job.bundle().to_string_lossy().into_owned());
    for (option, value) in [
        ("--fleet", job.fleet.clone()),
        ("--node", task.node.clone()),
        ("--rank", task.rank.to_string()),
        ("--into", job.capture(task.rank).to_string_lossy().into_owned()),
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
    child: LimitedChild,
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
        let failure = match self.child.ended()? {
            Ok(status) if status.success() => None,
            Ok(status) => Some(with_message(failed(status), &log)),
            Err(reason) => Some(reason),
        };
        Some(State::Ended(failure))
    }
}

/// The command of all tasks. The rank of MPI is that of the task.
fn line_together(job: &Job, tasks: &[Task], program: &Path) -> Vec<String> {
    let hosts: Vec<&str> = tasks.iter().map(|task| task.address.as_str()).collect();
    let variable = |name: &&str| std::env::var(name).ok();
    let id = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"].iter().find_map(variable);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = since.map_or(1, |since| since.as_nanos() as u64 | 1);
    let mut line = mpirun();
    line.extend(["-n".to_owned(), tasks.len().to_string(), "-host".to_owned(), hosts.join(",")]);
    let path = |path: &Path| path.to_string_lossy().into_owned();
    line.extend([path(program), path(&job.bundle()), path(&job.folder)]);
    line.extend([job.fleet.clone(), id.unwrap_or_default(), seed.to_string()]);
    line
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use yamba_mutants::{Change, Form, text};

    use super::*;

    /// Two processes each on two hosts, with a banner and a warning of Open MPI.
    const SAID: &str = "\
Welcome to the cluster
[n1:4242] mca_base_component_repository_open: unable to open mca_btl_openib

yamba-host=n1;

yamba-host=n2.example.org;
[1,2]<stdout>:yamba-host=n1;
yamba-host=n2.example.org;
";

    #[test]
    fn names_are_found_between_other_lines() {
        let names: BTreeSet<String> = host_names(SAID).unwrap().into_iter().collect();
        assert!(names.iter().eq(["n1", "n2.example.org"]));
        for said in ["", "n1\n", "yamba-host=n1", "yamba-host=;\n", "yamba-host=a b;\n"] {
            assert!(host_names(said).is_err(), "{said}");
        }
    }

    /// Two hosts, each once: no repetition hides a lost one.
    const ONCE: &str = "\
Welcome to the cluster

yamba-host=n1;
[1,2]<stdout>:yamba-host=n2.example.org;
";

    /// A number in a name is part of the name: `n-1` is another valid name of one host.
    #[test]
    fn changed_output_gives_the_same_hosts_or_is_refused() {
        let form = Form { separator: ";", fields: &["0.5", "x", ""] };
        let hosts = |said: &str| host_names(said).map(BTreeSet::from_iter);
        let original: BTreeSet<String> = hosts(ONCE).unwrap();
        let mut read = 0;
        for mutant in text(ONCE, form, 1, 10_000) {
            let Ok(found) = hosts(&mutant.text) else {
                assert!(!mutant.change.keeps_figures(), "{mutant:?}");
                continue;
            };
            read += 1;
            match mutant.change {
                // The whole print of a host is lost, and nothing says how many there are.
                Change::LineRemoved | Change::Truncated | Change::FieldRemoved
                    if mutant.text.matches(MARK).count() < 2 =>
                {
                    assert!(found.is_subset(&original), "{mutant:?}");
                }
                Change::NotANumber | Change::Infinite | Change::Negative | Change::Exponent => {
                    let known = found.intersection(&original).count();
                    assert!(found.len() == 2 && known >= 1, "{mutant:?}");
                }
                _ => assert_eq!(found, original, "{mutant:?}"),
            }
        }
        assert!(read > 5000, "{read}");
    }
}
