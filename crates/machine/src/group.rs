//! The limits of the control group and its ancestors; the tightest applies.

use std::path::PathBuf;

use super::mounts::{Mount, mounts};
use super::source::Source;

/// The limits; `None` means no limit.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GroupLimits {
    /// CPU quota in processors.
    pub cpus: Option<f64>,
    /// Memory limit in bytes.
    pub memory: Option<u64>,
}

pub(super) fn limits(source: &impl Source) -> GroupLimits {
    let mountinfo = source.read("/proc/self/mountinfo").unwrap_or_default();
    let groups = source.read("/proc/self/cgroup").unwrap_or_default();
    let mounts = mounts(&mountinfo);
    let mut limits = GroupLimits::default();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let Some(mount) = mounts.iter().find(|m| holds(m, controllers)) else {
            continue;
        };
        for folder in upwards(mount, path) {
            limits.tighten(cpus(source, &folder), memory(source, &folder));
        }
    }
    limits
}

impl GroupLimits {
    fn tighten(&mut self, cpus: Option<f64>, memory: Option<u64>) {
        self.cpus = self.cpus.into_iter().chain(cpus).reduce(f64::min);
        self.memory = self.memory.into_iter().chain(memory).min();
    }
}

/// Whether a mount has the group for these controllers. Version 2 has one tree for all controllers, version 1 one for each.
fn holds(mount: &Mount<'_>, controllers: &str) -> bool {
    match controllers {
        "" => mount.kind == "cgroup2",
        _ => {
            let wanted = controllers.split(',').any(|c| c == "cpu" || c == "memory");
            let mut options = mount.super_options.split(',');
            wanted
                && mount.kind == "cgroup"
                && options.any(|o| controllers.split(',').any(|c| c == o))
        }
    }
}

/// The group's folder and its visible ancestors.
fn upwards(mount: &Mount<'_>, path: &str) -> Vec<String> {
    let inside = path
        .strip_prefix(mount.root.trim_end_matches('/'))
        .unwrap_or("");
    let mut inside = inside.trim_end_matches('/');
    let mut folders = vec![format!("{}{inside}", mount.point)];
    while let Some((above, _)) = inside.rsplit_once('/') {
        inside = above;
        folders.push(format!("{}{inside}", mount.point));
    }
    folders
}

/// The CPU quota: `50000 100000`, or `max 100000` for none. Version 1 has two files, with -1 for none.
fn cpus(source: &impl Source, folder: &str) -> Option<f64> {
    let (quota, period) = match source.word(&format!("{folder}/cpu.max")) {
        Some(text) => {
            let (quota, period) = text.split_once(' ')?;
            (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
        }
        None => (
            source.number(&format!("{folder}/cpu.cfs_quota_us"))?,
            source.number(&format!("{folder}/cpu.cfs_period_us"))?,
        ),
    };
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// The memory limit. Version 1 writes the greatest number of whole pages for none.
fn memory(source: &impl Source, folder: &str) -> Option<u64> {
    let new = source.number::<u64>(&format!("{folder}/memory.max"));
    let old = || source.number::<u64>(&format!("{folder}/memory.limit_in_bytes"));
    new.or_else(old).filter(|bytes| *bytes < 1 << 60)
}

/// The control group of this process in one tree.
#[derive(Debug, PartialEq)]
pub struct OwnGroup {
    /// The folder of the group in the mounted tree.
    pub folder: PathBuf,
    /// Whether the tree is of version 2, which has one tree for all controllers.
    pub is_unified: bool,
    /// Whether the group is the top of what is mounted here.
    pub is_top: bool,
    /// Whether the group has the name of the tree's root. In a name space another group may have it, too.
    pub is_named_root: bool,
}

/// The group in which `controller` accounts this process. `None` if it is not visible.
pub(super) fn own(source: &impl Source, controller: &str) -> Option<OwnGroup> {
    let mountinfo = source.read("/proc/self/mountinfo")?;
    let groups = source.read("/proc/self/cgroup")?;
    let mounts = mounts(&mountinfo);
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_unified = controllers.is_empty();
        if !is_unified && !controllers.split(',').any(|c| c == controller) {
            return None;
        }
        let has = |m: &&Mount<'_>| {
            if is_unified {
                m.kind == "cgroup2"
            } else {
                m.kind == "cgroup"
                    && m.super_options
                        .split(',')
                        .any(|option| option == controller)
            }
        };
        let mount = mounts.iter().find(has)?;
        let inside = path.strip_prefix(mount.root.trim_end_matches('/'))?;
        let inside = inside.trim_matches('/');
        if inside.split('/').any(|part| part == "..") {
            return None;
        }
        let folder = PathBuf::from(&mount.point).join(inside);
        let names = || source.read(&format!("{}/cgroup.controllers", folder.display()));
        if is_unified && !names()?.split_whitespace().any(|c| c == controller) {
            return None;
        }
        Some(OwnGroup {
            folder,
            is_unified,
            is_top: inside.is_empty(),
            is_named_root: path == "/",
        })
    };
    groups.lines().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn own_group_is_found_in_either_version() {
        let one = own(&Sample::new(ONE), "memory").unwrap();
        assert_eq!(one.folder, PathBuf::from("/sys/fs/cgroup/memory"));
        assert!(!one.is_unified && one.is_top && !one.is_named_root);
        assert_eq!(own(&Sample::new(ONE), "pids"), None);
        let two =
            format!("{TWO}== /sys/fs/cgroup/work.slice/job/cgroup.controllers\ncpu memory pids\n");
        let two = own(&Sample::new(&two), "pids").unwrap();
        assert_eq!(two.folder, PathBuf::from("/sys/fs/cgroup/work.slice/job"));
        assert!(two.is_unified && !two.is_top);
        assert_eq!(
            own(&Sample::new(TWO), "pids"),
            None,
            "without the controller"
        );
        let outside = TWO.replace("0::/work.slice/job", "0::/../job");
        assert_eq!(own(&Sample::new(&outside), "pids"), None);
    }

    const TWO: &str = "== /proc/self/mountinfo\n\
        30 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
        == /proc/self/cgroup\n0::/work.slice/job\n\
        == /sys/fs/cgroup/work.slice/job/cpu.max\nmax 100000\n\
        == /sys/fs/cgroup/work.slice/cpu.max\n150000 100000\n\
        == /sys/fs/cgroup/work.slice/job/memory.max\n1073741824\n\
        == /sys/fs/cgroup/work.slice/memory.max\nmax\n";

    const ONE: &str = "== /proc/self/mountinfo\n\
        31 20 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
        32 20 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
        == /proc/self/cgroup\n4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n\
        == /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us\n50000\n\
        == /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us\n100000\n\
        == /sys/fs/cgroup/memory/memory.limit_in_bytes\n9223372036854771712\n";

    #[test]
    fn tightest_limit_of_group_and_ancestors_applies() {
        let two = limits(&Sample::new(TWO));
        assert_eq!((two.cpus, two.memory), (Some(1.5), Some(1 << 30)));
        let one = limits(&Sample::new(ONE));
        assert_eq!((one.cpus, one.memory), (Some(0.5), None));
        assert_eq!(limits(&Sample::new("")), GroupLimits::default());
    }

    #[test]
    fn missing_quota_is_no_limit() {
        let open = ONE.replace("\n50000\n", "\n-1\n");
        assert_eq!(limits(&Sample::new(&open)).cpus, None);
    }
}
