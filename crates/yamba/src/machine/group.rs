//! The limits that a control group sets, its ancestors' too: the tightest holds.

use super::mounts::{Mount, mounts};
use super::source::Source;

/// What the group may use; none without a limit.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GroupLimits {
    /// Processors' worth of time.
    pub cpus: Option<f64>,
    /// Bytes.
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

/// The second version has one tree and names no controllers, the first a tree for each.
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

/// The group's folder and those above it, as far as they can be seen.
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

/// `50000 100000`, or `max 100000` without a limit; the first version has two files, -1 without a limit.
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

/// The first version writes the greatest number of whole pages for no limit.
fn memory(source: &impl Source, folder: &str) -> Option<u64> {
    let new = source.number::<u64>(&format!("{folder}/memory.max"));
    let old = || source.number::<u64>(&format!("{folder}/memory.limit_in_bytes"));
    new.or_else(old).filter(|bytes| *bytes < 1 << 60)
}

#[cfg(test)]
mod tests {
    use super::super::source::Sample;
    use super::*;

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
    fn the_tightest_of_a_group_and_those_above_it_holds() {
        let two = limits(&Sample::new(TWO));
        assert_eq!((two.cpus, two.memory), (Some(1.5), Some(1 << 30)));
        let one = limits(&Sample::new(ONE));
        assert_eq!((one.cpus, one.memory), (Some(0.5), None));
        assert_eq!(limits(&Sample::new("")), GroupLimits::default());
    }

    #[test]
    fn without_a_quota_there_is_no_limit() {
        let open = ONE.replace("\n50000\n", "\n-1\n");
        assert_eq!(limits(&Sample::new(&open)).cpus, None);
    }
}
