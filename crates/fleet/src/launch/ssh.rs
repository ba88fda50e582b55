//! ssh: one connection to each host. It carries the bundle there and the capture back, so no shared
//! folder is needed.

use crate::launch::command::{quoted, shell_line, words};
use crate::launch::processes::{Processes, Transport};
use crate::launch::{Job, LaunchError, Launcher, Node, Running, Task};

/// Hosts that are named by the user.
pub(crate) struct Ssh;

/// Never asks, and notices within a minute that a host has vanished.
const OPTIONS: [&str; 8] = [
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=20",
    "-o",
    "ServerAliveInterval=15",
    "-o",
    "ServerAliveCountMax=4",
];

impl Launcher for Ssh {
    fn nodes(&self, hosts: &[String]) -> Result<Vec<Node>, LaunchError> {
        if hosts.is_empty() {
            return Err(LaunchError::new(
                "ssh needs the names of hosts",
                "add --host HOST for each",
            ));
        }
        Ok(hosts.iter().map(|host| Node::named(host)).collect())
    }

    fn script(&self, job: &Job, tasks: &[Task]) -> String {
        let lines = tasks.iter().map(|task| {
            let line = shell_line(&line(job, task));
            format!("{line} <{} >{}.json\n", Job::BUNDLE, task.rank)
        });
        lines.collect()
    }

    fn start(&self, job: &Job, tasks: &[Task]) -> Result<Box<dyn Running>, LaunchError> {
        let processes = Processes::new(job, tasks, Transport::Pipe, line);
        Ok(Box::new(processes))
    }
}

fn line(job: &Job, task: &Task) -> Vec<String> {
    let mut line = words("YAMBA_SSH", "ssh");
    line.extend(OPTIONS.map(str::to_owned));
    line.extend([task.address.clone(), there(job, task)]);
    line
}

/// Runs the bundle from standard input. The text is one word of any login shell, such as fish or
/// csh, so it has no single quotes.
const THERE: &str = r#"d=$(mktemp -d) && trap "rm -rf \"\$d\"" EXIT && cat >"$d/m" && chmod +x "$d/m" && "$d/m" --fleet "$1" --node "$2" --rank "$3""#;

/// The command line for the shell of the host.
fn there(job: &Job, task: &Task) -> String {
    let [fleet, node] = [quoted(&job.fleet), quoted(&task.node)];
    format!("exec sh -c '{THERE}' sh {fleet} {node} {}", task.rank)
}
