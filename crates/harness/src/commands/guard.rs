//! Ends the running processes if this process is killed.
//!
//! A parent-death signal would end only the started process, not what that has started. It also
//! needs a fork, whose time is part of the measured one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

use crate::orphans::{self, Started};

/// Waits for the end of its standard input, then kills the process groups in the first line of the
/// file that is its standard output.
const SCRIPT: &str = r#"
while read -r line; do :; done
read -r groups <&1
for group in $groups; do kill -9 "-$group"; done"#;

/// A process that outlives this one, and kills its process groups then. None if it did not start.
pub(super) struct Guard(Option<Running>);

struct Running {
    child: Child,
    started: Started,
    /// The line with the groups. Writing to it wakes no process, as writing to a pipe would.
    groups: File,
}

impl Guard {
    /// Starts the process. If that fails, nothing is killed.
    pub fn new() -> Guard {
        Guard(Running::start().ok())
    }

    /// Replaces the groups to kill.
    pub fn watch(&self, groups: impl Iterator<Item = Pid>) {
        let Some(Running { groups: file, .. }) = &self.0 else { return };
        let mut line: String = groups.map(|group| format!("{} ", group.as_raw_nonzero())).collect();
        line.push('\n');
        let _ = file.write_all_at(line.as_bytes(), 0);
    }
}

impl Running {
    fn start() -> io::Result<Running> {
        let groups = in_memory()?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(groups.try_clone()?)
            .stderr(Stdio::null())
            // A signal to the process group of this process must not end it.
            .process_group(0);
        let (child, started) = orphans::start(&mut command)?;
        Ok(Running { child, started, groups })
    }
}

/// A file without a name. A write to a disk's file system may wait for its journal.
#[cfg(target_os = "linux")]
fn in_memory() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("yamba-guard", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn in_memory() -> io::Result<File> {
    tempfile::tempfile()
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.watch(std::iter::empty());
        if let Some(Running { mut child, started, .. }) = self.0.take() {
            // `wait` closes its input first.
            let _ = child.wait();
            orphans::forget(started);
        }
    }
}
