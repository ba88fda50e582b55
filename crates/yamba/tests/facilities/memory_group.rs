//! Memory limits, as in a container.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Missing;
use crate::support::{Answer, Yamba, behind};

/// A memory control group within that of this process. It is removed when dropped.
pub struct MemoryGroup(PathBuf);

impl MemoryGroup {
    pub fn new(name: &str, bytes: u64) -> Result<MemoryGroup, Missing> {
        let group = MemoryGroup::try_new(name, bytes);
        group.ok_or_else(|| Missing::new("no memory control group can be made here"))
    }

    fn try_new(name: &str, bytes: u64) -> Option<MemoryGroup> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let first = own.lines().find_map(|line| line.split_once(":memory:"));
        let second = own.lines().find_map(|line| line.strip_prefix("0::"));
        let (above, limit) = match (first, second) {
            (Some((_, path)), _) => {
                (format!("/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes")
            }
            (None, Some(path)) => (format!("/sys/fs/cgroup{path}"), "memory.max"),
            (None, None) => return None,
        };
        let folder = Path::new(&above).join(format!("test.{name}.{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = MemoryGroup(folder);
        fs::write(group.0.join(limit), bytes.to_string()).ok()?;
        Some(group)
    }

    /// The command prefix that runs a command in the group.
    pub fn entered(&self) -> [&str; 4] {
        let enter = "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"";
        ["sh", "-c", enter, self.0.to_str().unwrap()]
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn entries(answer: &Answer) -> Vec<Value> {
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    run["benchmarks"].as_array().unwrap().clone()
}

/// As in a container, exceeding the limit kills the process. Benchmarks that use all available
/// memory must request less.
pub fn memory_limit_of_control_group_is_respected() -> Result<(), Missing> {
    let group = MemoryGroup::new("limit", 160 << 20)?;
    let yamba = Yamba::new();
    let run = "run stream_copy --time 500ms --launches 1 --json";
    let run: Vec<&str> = run.split(' ').collect();
    yamba.command(&["build", "stream_copy"]).output().unwrap();
    let answer = behind(&group.entered(), &yamba, &run);
    let entries = entries(&answer);
    assert!(!entries.is_empty(), "{}", answer.err);
    for entry in entries {
        assert_ne!(entry["status"], "crashed", "{}", entry["notes"]);
    }
    Ok(())
}
