//! The limits of the control group and its ancestors; the tightest applies.

use std::path::PathBuf;

use super::mounts::{MOUNTINFO, Mount, mounts};
use super::source::Source;
use super::text::digits;

const GROUPS: &str = "/proc/self/cgroup";

/// The limits; `None` means no limit.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GroupLimits {
    /// CPU quota in processors.
    pub cpus: Option<f64>,
    /// Whether there is a CPU quota; `None` if no readable folder could have one.
    pub has_quota: Option<bool>,
    /// Memory limit in bytes.
    pub memory: Option<u64>,
}

pub(super) fn limits(source: &impl Source) -> GroupLimits {
    let folders = folders(source).unwrap_or_default();
    let quotas: Option<Vec<Option<f64>>> = folders.iter().map(|f| quota(source, f)).collect();
    let limits: Option<Vec<Option<u64>>> = folders.iter().map(|f| memory(source, f)).collect();
    let is_complete = quotas.is_some() && folders.iter().any(|f| may_have_quota(source, f));
    let cpus = quotas.and_then(|all| all.into_iter().flatten().reduce(f64::min));
    GroupLimits {
        cpus,
        has_quota: is_complete.then_some(cpus.is_some()),
        memory: limits.and_then(|all| all.into_iter().flatten().min()),
    }
}

/// The folders of this process's groups that have limits, and those of their ancestors.
fn folders(source: &impl Source) -> Option<Vec<String>> {
    let (mountinfo, groups) = (source.lines(MOUNTINFO)?, source.lines(GROUPS)?);
    let mounts = source.understood(MOUNTINFO, mounts(&mountinfo))?;
    let groups: Option<Vec<_>> = groups.lines().map(membership).collect();
    let groups = source.understood(GROUPS, groups)?;
    let is_listed = |m: &Mount<'_>| groups.iter().any(|(c, _)| has_limits(m, c));
    // The process is in a group of each tree: a tree without a line may have the tightest limit.
    let mut trees = mounts.iter().filter(|m| shows_limits(m));
    source.understood(GROUPS, trees.all(is_listed).then_some(()))?;
    let mut folders = Vec::new();
    for (controllers, path) in groups {
        let own = mounts.iter().filter(|m| has_limits(m, controllers));
        let shown: Vec<Vec<String>> = own.map(|mount| upwards(mount, path)).collect();
        // The system has the limits of this group, but no mount shows them.
        if !shown.is_empty() && shown.iter().all(Vec::is_empty) {
            source.omit(GROUPS);
        }
        folders.extend(shown.into_iter().flatten());
    }
    Some(folders)
}

/// Parses a line of `/proc/self/cgroup`: the number of the tree, its controllers, the path of the
/// group.
fn membership(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, ':');
    digits(parts.next()?)?;
    let (controllers, path) = (parts.next()?, parts.next()?);
    path.starts_with('/').then_some((controllers, path))
}

fn shows_limits(mount: &Mount<'_>) -> bool {
    has_limits(mount, "") || has_limits(mount, "cpu") || has_limits(mount, "memory")
}

/// Whether a mount has the group's limits. Version 2 has one tree for all controllers, version 1
/// one for each.
fn has_limits(mount: &Mount<'_>, controllers: &str) -> bool {
    if controllers.is_empty() {
        return mount.kind == "cgroup2";
    }
    let limits = |c: &str| c == "cpu" || c == "memory";
    let mut controllers = controllers.split(',').filter(|c| limits(c));
    mount.kind == "cgroup" && controllers.any(|c| mount.has_super_option(c))
}

/// The folders of the group and of its ancestors that a mount shows.
fn upwards(mount: &Mount<'_>, path: &str) -> Vec<String> {
    let Some(mut inside) = inside(&mount.root, path) else {
        return Vec::new();
    };
    let top = mount.point.trim_end_matches('/');
    let mut folders = vec![format!("{top}{inside}")];
    while let Some((above, _)) = inside.rsplit_once('/') {
        inside = above;
        folders.push(format!("{top}{inside}"));
    }
    folders
}

/// The path of a group below the root of a mount: empty, or beginning with `/`. `None` if the mount
/// does not show the group.
///
/// Both paths are relative to the root of the name space. A mount that begins above it has a root
/// such as `/../..`: it shows the group under a path that cannot be known here, but its top is an
/// ancestor of the group.
fn inside<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    let path = path.trim_end_matches('/');
    let is_below = |rest: &&str| rest.is_empty() || rest.starts_with('/');
    let is_outside = |path: &str| path.split('/').any(|part| part == "..");
    match path.strip_prefix(root).filter(is_below) {
        Some(rest) => (!is_outside(rest)).then_some(rest),
        None => is_ancestor_of_name_space(root).then_some(""),
    }
}

/// Whether a root consists of `/..` alone.
fn is_ancestor_of_name_space(root: &str) -> bool {
    root.split('/').skip(1).all(|part| part == "..")
}

/// Whether a folder belongs to a tree that controls processor time. The root of a tree has no
/// quota of its own.
fn may_have_quota(source: &impl Source, folder: &str) -> bool {
    let has = |file: &str| source.bytes(&format!("{folder}/{file}")).is_some();
    let controllers = source.word(&format!("{folder}/cgroup.controllers"));
    let is_unified = controllers.is_some_and(|c| c.split(' ').any(|name| name == "cpu"));
    is_unified || ["cpu.max", "cpu.cfs_quota_us", "cpu.shares"].into_iter().any(has)
}

/// The CPU quota of a folder in processors: `50000 100000`, or `max 100000` for none. Version 1 has
/// two files, with -1 for none. `None` if it is not understood.
fn quota(source: &impl Source, folder: &str) -> Option<Option<f64>> {
    let path = format!("{folder}/cpu.max");
    if source.bytes(&path).is_some() {
        let text = source.word(&path);
        return source.understood(&path, text.and_then(|text| unified_quota(&text)));
    }
    let path = format!("{folder}/cpu.cfs_quota_us");
    if source.bytes(&path).is_none() {
        return Some(None);
    }
    let quota: i64 = source.number(&path)?;
    let quota = source.understood(&path, Some(quota).filter(|q| *q == -1 || *q > 0))?;
    let period: u64 = source.number(&format!("{folder}/cpu.cfs_period_us"))?;
    let is_limited = quota > 0 && period > 0;
    Some(is_limited.then(|| quota as f64 / period as f64))
}

/// Parses the content of `cpu.max`.
fn unified_quota(text: &str) -> Option<Option<f64>> {
    let (quota, period) = text.split_once(' ')?;
    let period = digits(period).filter(|p| *p > 0)?;
    if quota == "max" {
        return Some(None);
    }
    Some(Some(digits(quota)? as f64 / period as f64))
}

/// The memory limit of a folder. Version 1 writes the greatest number of whole pages for none,
/// version 2 `max`. `None` if it is not understood.
fn memory(source: &impl Source, folder: &str) -> Option<Option<u64>> {
    let files = ["memory.max", "memory.limit_in_bytes"];
    let mut paths = files.iter().map(|file| format!("{folder}/{file}"));
    let Some(path) = paths.find(|path| source.bytes(path).is_some()) else {
        return Some(None);
    };
    let text = source.word(&path);
    if text.as_deref() == Some("max") {
        return Some(None);
    }
    let bytes = source.understood(&path, text.and_then(|text| digits(&text)))?;
    Some(Some(bytes).filter(|bytes| *bytes < 1 << 60))
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
    /// Whether the group has the name of the tree's root. In a name space another group may have
    /// it, too.
    pub is_named_root: bool,
}

/// The group in which `controller` accounts this process. `None` if it is not visible.
pub(super) fn own(source: &impl Source, controller: &str) -> Option<OwnGroup> {
    let (mountinfo, groups) = (source.lines(MOUNTINFO)?, source.lines(GROUPS)?);
    let mounts = mounts(&mountinfo)?;
    let of_line = |line: &str| {
        let (controllers, path) = membership(line)?;
        let is_unified = controllers.is_empty();
        if !is_unified && !controllers.split(',').any(|c| c == controller) {
            return None;
        }
        let has_controller = |m: &&Mount<'_>| match is_unified {
            true => m.kind == "cgroup2",
            false => m.kind == "cgroup" && m.has_super_option(controller),
        };
        // A mount that begins above the name space does not show where the group is.
        let shown = |m: &Mount<'_>| {
            let is_known =
                m.root == "/" || !is_ancestor_of_name_space(m.root.trim_end_matches('/'));
            let below = inside(&m.root, path).filter(|_| is_known)?;
            Some((PathBuf::from(&m.point).join(below.trim_matches('/')), below.is_empty()))
        };
        let (folder, is_top) = mounts.iter().filter(has_controller).find_map(shown)?;
        let names = || source.read(&format!("{}/cgroup.controllers", folder.display()));
        if is_unified && !names()?.split_whitespace().any(|c| c == controller) {
            return None;
        }
        Some(OwnGroup { folder, is_unified, is_top, is_named_root: path == "/" })
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
        assert_eq!(own(&Sample::new(TWO), "pids"), None, "without the controller");
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
        assert_eq!(two.has_quota, Some(true));
        let one = limits(&Sample::new(ONE));
        assert_eq!((one.cpus, one.memory), (Some(0.5), None));
        assert_eq!(limits(&Sample::new("")), GroupLimits::default());
    }

    #[test]
    fn missing_quota_is_no_limit() {
        let open = ONE.replace("\n50000\n", "\n-1\n");
        let open = limits(&Sample::new(&open));
        assert_eq!((open.cpus, open.has_quota), (None, Some(false)));
    }

    #[test]
    fn quota_is_unknown_without_a_tree_that_could_have_one() {
        assert_eq!(limits(&Sample::new("")).has_quota, None);
        let memory_alone = "== /proc/self/mountinfo\n\
            32 20 0:29 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
            == /proc/self/cgroup\n4:memory:/job\n\
            == /sys/fs/cgroup/memory/job/memory.limit_in_bytes\n9223372036854771712\n";
        assert_eq!(limits(&Sample::new(memory_alone)).has_quota, None);
        let refused = TWO.replace("\nmax 100000\n", "\nmuch\n");
        assert_eq!(limits(&Sample::new(&refused)).has_quota, None);
    }

    /// The limits of a group of version 2, as a container sees it.
    fn quota_in(root: &str, path: &str, files: &str) -> Option<f64> {
        let text = format!(
            "== /proc/self/mountinfo\n30 20 0:27 {root} /sys/fs/cgroup ro - cgroup2 cgroup rw\n\
             == /proc/self/cgroup\n0::{path}\n{files}"
        );
        limits(&Sample::new(&text)).cpus
    }

    #[test]
    fn quota_is_found_whatever_part_of_the_tree_a_mount_shows() {
        let top = "== /sys/fs/cgroup/cpu.max\n150000 100000\n";
        let below = "== /sys/fs/cgroup/job/cpu.max\n50000 100000\n";
        // A container with a name space of its own, and one without.
        assert_eq!(quota_in("/", "/", top), Some(1.5));
        assert_eq!(quota_in("/docker/abc", "/docker/abc", top), Some(1.5));
        assert_eq!(quota_in("/docker/abc", "/docker/abc/job", below), Some(0.5));
        assert_eq!(quota_in("/docker/abc", "/docker/abc/job", top), Some(1.5));
        // The mount has a name space of its own, the list of groups does not.
        assert_eq!(quota_in("/", "/docker/abc", top), Some(1.5));
        // The mount begins above the name space.
        assert_eq!(quota_in("/../..", "/", top), Some(1.5));
        assert_eq!(quota_in("/..", "/../job", below), Some(0.5));
        // Groups of others.
        assert_eq!(quota_in("/docker/abc", "/docker/abcdef", top), None);
        assert_eq!(quota_in("/docker/abc", "/user.slice", top), None);
        assert_eq!(quota_in("/", "/../job", top), None);
    }

    #[test]
    fn both_versions_at_once() {
        let hybrid = "== /proc/self/mountinfo\n\
            30 20 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
            31 20 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
            == /proc/self/cgroup\n2:cpuacct,cpu:/job\n1:name=systemd:/init.scope\n0::/init.scope\n\
            == /sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us\n-1\n\
            == /sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us\n100000\n\
            == /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us\n200000\n\
            == /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us\n100000\n";
        assert_eq!(limits(&Sample::new(hybrid)).cpus, Some(2.0));
    }
}
