//! A control group for the processes of an application, by which Linux counts their processor time
//! without bias.
//!
//! `/proc/PID/stat` and `wait4` give all time of a process to the user if no clock tick hit it in
//! the kernel. A command that ends within a few ticks therefore seems to spend nearly all of its
//! time in user space. A control group adds the ticks of all its processes, so the bias vanishes
//! with their number.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Processor time in ns. The sum of both parts is exact, their division is by clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// In user space.
    pub user_ns: f64,
    /// In the kernel.
    pub kernel_ns: f64,
}

impl Times {
    /// User and kernel time, in ns.
    pub fn all_ns(self) -> f64 {
        self.user_ns + self.kernel_ns
    }
}

/// A control group of version 2. It is removed when it is dropped.
#[derive(Debug)]
pub struct ControlGroup(PathBuf);

impl ControlGroup {
    /// Makes a group below that of this process. The error says why it cannot, for example because
    /// this user may not.
    pub fn new() -> io::Result<ControlGroup> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let parent = parent(&mounts, &own).ok_or(io::ErrorKind::NotFound)?;
        let path = parent.join(format!("yamba-{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = ControlGroup(path);
        group.times()?;
        Ok(group)
    }

    /// The file that takes the number of a process as a new member.
    pub fn members(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }

    /// The processor time of all members so far.
    pub fn times(&self) -> io::Result<Times> {
        let text = fs::read_to_string(self.0.join("cpu.stat"))?;
        times(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A member that was just killed may not be gone yet.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            sleep(Duration::from_millis(10));
        }
    }
}

/// The folder of this process's group.
fn parent(mounts: &str, own: &str) -> Option<PathBuf> {
    let mut fields = mounts.lines().map(|line| line.split(' '));
    let folder = fields.find_map(|mut fields| {
        let folder = fields.nth(1)?;
        (fields.next()? == "cgroup2").then_some(folder)
    })?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(folder).join(path))
}

fn times(text: &str) -> Option<Times> {
    let value = |key: &str| {
        let mut lines = text.lines();
        let text = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        Some(text.parse::<f64>().ok()? * 1e3)
    };
    Some(Times { user_ns: value("user_usec")?, kernel_ns: value("system_usec")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_of_this_process_is_found() {
        let mounts =
            "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        for (own, expected) in [
            ("8:pids:/x\n0::/\n", "/sys/fs/cgroup/unified/"),
            ("0::/user.slice/a\n", "/sys/fs/cgroup/unified/user.slice/a"),
        ] {
            assert_eq!(parent(mounts, own), Some(PathBuf::from(expected)));
        }
        assert_eq!(parent("", "0::/\n"), None);
        assert_eq!(parent(mounts, "8:pids:/\n"), None);
    }

    #[test]
    fn times_are_in_microseconds() {
        let text = "usage_usec 30\nuser_usec 10\nsystem_usec 20\nnr_periods 0\n";
        let expected = Times { user_ns: 1e4, kernel_ns: 2e4 };
        assert_eq!(times(text), Some(expected));
        assert_eq!(times("usage_usec 1\n"), None);
    }
}
