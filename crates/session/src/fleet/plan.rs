//! The plan of a fleet: its tasks, and the jobs that were started for them. A file in the fleet's
//! folder, so that a later command can resume it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use yamba_fleet::launch::{Node, Task};
use yamba_record::system_error::reason;
use yamba_store::inputs;

use crate::Failure;
use crate::measure;
use crate::select::Names;

/// The schema of the file.
const SCHEMA: &str = "yamba-fleet/1";

/// The name of the file.
const FILE: &str = "fleet.json";

/// The question of the user. A fleet is resumed only with the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The name of the launcher.
    pub with: String,
    /// The number of tasks; `None`: one for each node.
    pub count: Option<u64>,
    /// The nodes that the user named.
    pub hosts: Vec<String>,
    /// The benchmarks that the user named.
    pub names: Vec<String>,
    /// Whether sweeps are shorter.
    pub quick: bool,
    /// Whether all nodes measure at the same time.
    #[serde(default)]
    pub together: bool,
    /// The target of the bundle; `None`: this machine.
    #[serde(default)]
    pub target: Option<String>,
    /// Folders with further benchmarks.
    #[serde(default)]
    pub libraries: Vec<PathBuf>,
}

impl Question {
    /// The benchmarks of the bundle, and their effort.
    pub(super) fn measure(&self, arguments: Vec<String>) -> measure::Request {
        let names = Names { names: self.names.clone(), libraries: self.libraries.clone() };
        measure::Request::for_bundle(names, self.target.clone(), self.quick, arguments)
    }
}

/// The plan of a fleet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    schema: String,
    /// The name of the fleet.
    pub name: String,
    /// The question of the user.
    pub question: Question,
    /// The nodes of the tasks, by rank, as the user or the engine names them.
    pub nodes: Vec<String>,
    /// The jobs in the engine that were started.
    pub jobs: Vec<String>,
}

impl Plan {
    /// Distributes the tasks: to usable nodes first, and to each node again only if all have one.
    pub fn new(name: &str, question: Question, offered: &[Node]) -> Plan {
        let (usable, others): (Vec<&Node>, Vec<&Node>) =
            offered.iter().partition(|node| node.unusable.is_none());
        let all = usable.into_iter().chain(others);
        let count = question.count.map_or(offered.len(), |n| n as usize);
        Plan {
            schema: SCHEMA.to_owned(),
            name: name.to_owned(),
            question,
            nodes: all.map(|node| node.name.clone()).cycle().take(count).collect(),
            jobs: Vec::new(),
        }
    }

    pub fn tasks(&self) -> Vec<Task> {
        let task = |(rank, node): (usize, &String)| Task::new(rank as u64, node);
        self.nodes.iter().enumerate().map(task).collect()
    }

    /// Reads the plan in a folder. `None` if the folder has no plan.
    pub fn read(folder: &Path) -> Result<Option<Plan>, Failure> {
        let path = folder.join(FILE);
        inputs::add(&path);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(unusable(&path, &reason(&e))),
        };
        let plan: Plan = serde_json::from_str(&text).map_err(|e| unusable(&path, &e))?;
        if plan.schema == SCHEMA {
            Ok(Some(plan))
        } else {
            Err(unusable(&path, &format!("its schema is not {SCHEMA}")))
        }
    }

    /// Writes the plan to its folder.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(FILE);
        let mut text = serde_json::to_vec_pretty(self).map_err(Failure::ours)?;
        text.push(b'\n');
        replace(&path, &text, 0o644).map_err(|e| unusable(&path, &reason(&e)))
    }
}

/// Writes a file that appears when it is complete.
pub(super) fn replace(path: &PathBuf, bytes: &[u8], mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {why}", path.display())).help(
        "`yamba fleet run` writes this file: name another folder, or another fleet with --name",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: Option<u64>) -> Vec<String> {
        let node = |name: &str, is_usable: bool| Node {
            name: name.to_owned(),
            unusable: (!is_usable).then(|| "drained".to_owned()),
        };
        let offered = [node("n1", true), node("n2", false), node("n3", true)];
        let question = Question {
            with: "ssh".to_owned(),
            count,
            hosts: Vec::new(),
            names: Vec::new(),
            quick: true,
            together: false,
            target: None,
            libraries: Vec::new(),
        };
        Plan::new("june", question, &offered).nodes
    }

    #[test]
    fn usable_nodes_come_first_and_each_node_once_before_any_twice() {
        assert_eq!(nodes(Some(2)), ["n1", "n3"]);
        assert_eq!(nodes(None), ["n1", "n3", "n2"]);
        assert_eq!(nodes(Some(5)), ["n1", "n3", "n2", "n1", "n3"]);
    }
}
