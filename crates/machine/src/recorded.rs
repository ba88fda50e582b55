//! Describes a machine from recorded files and answers: a bundle collects them where Yamba itself
//! does not run.

use std::collections::BTreeMap;

use yamba_record::Machine;

use super::queries::{Answers, Queried};
use super::source::Source;
use super::{describe, judge};

/// The files whose content decides a fact, as paths with `*`. Of a file after `-`, only its
/// existence matters. Lists of mounts are missing, since they may name hosts and users.
pub const FILES: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/self/status",
    "/proc/self/cgroup",
    "/proc/filesystems",
    "-/proc/modules",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/pressure/*",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/sys/kernel/sched_rt_period_us",
    "/proc/sys/kernel/sched_autogroup_enabled",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/modules_disabled",
    "/proc/sys/vm/laptop_mode",
    "/proc/device-tree/compatible",
    "/proc/device-tree/hypervisor/compatible",
    "/proc/device-tree/cpus/timebase-frequency",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/ksm/run",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/isolated",
    "/sys/devices/system/cpu/nohz_full",
    "/sys/devices/system/cpu/smt/active",
    "/sys/devices/system/cpu/smt/control",
    "/sys/devices/system/cpu/cpu*/cpu_capacity",
    "/sys/devices/system/cpu/cpu*/topology/package_cpus_list",
    "/sys/devices/system/cpu/cpu*/topology/core_cpus_list",
    "/sys/devices/system/cpu/cpu*/cache/index*/level",
    "/sys/devices/system/cpu/cpu*/cache/index*/type",
    "/sys/devices/system/cpu/cpu*/cache/index*/size",
    "/sys/devices/system/cpu/cpu*/cache/index*/coherency_line_size",
    "/sys/devices/system/cpu/cpu*/cache/index*/ways_of_associativity",
    "/sys/devices/system/cpu/cpu*/cache/index*/number_of_sets",
    "/sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list",
    "/sys/devices/system/cpu/cpu0/cpuidle/state*/name",
    "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency",
    "/sys/devices/system/cpu/cpu0/cpuidle/state*/disable",
    "/sys/devices/system/cpu/cpuidle/*",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_driver",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_min_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq",
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/vulnerabilities/*",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/node/node*/meminfo",
    "/sys/devices/system/node/node*/cpulist",
    "/sys/devices/cpu_core/cpus",
    "/sys/devices/cpu_atom/cpus",
    "/sys/devices/cpu_lowpower/cpus",
    "/sys/firmware/acpi/platform_profile",
    "/sys/hypervisor/type",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
    "-/.dockerenv",
    "-/run/.containerenv",
    "/run/systemd/container",
];

/// Recorded files by path.
struct Recorded<'a>(&'a BTreeMap<String, Vec<u8>>);

impl Source for Recorded<'_> {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.0.get(path).cloned()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let inside = self.0.keys().filter_map(|path| {
            let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
            rest.split('/').next().map(str::to_owned)
        });
        let mut names: Vec<String> = inside.collect();
        names.sort();
        names.dedup();
        names
    }

    fn resolve(&self, _: &str) -> Option<String> {
        None
    }
}

/// Describes the machine that gave these files and answers. Its programs are built for `isa` and
/// `system`. Facts that only instructions report, and those of the disk, are unknown.
pub fn recorded(
    files: &BTreeMap<String, Vec<u8>>,
    answers: Answers,
    isa: &str,
    system: &str,
) -> Machine {
    let queried = Queried { answers, ..Queried::default() };
    let mut machine = describe(&Recorded(files), &queried, isa, system);
    judge(&mut machine);
    machine
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::queries::query;
    use crate::source::Here;

    /// Notes the files that facts come from.
    #[derive(Default)]
    struct Noting {
        paths: RefCell<Vec<String>>,
    }

    impl Source for Noting {
        fn bytes(&self, path: &str) -> Option<Vec<u8>> {
            let bytes = Here.bytes(path)?;
            self.paths.borrow_mut().push(path.to_owned());
            Some(bytes)
        }

        fn list(&self, folder: &str) -> Vec<String> {
            Here.list(folder)
        }

        fn resolve(&self, path: &str) -> Option<String> {
            Here.resolve(path)
        }
    }

    fn is_match(pattern: &str, path: &str) -> bool {
        let pattern: Vec<&str> = pattern.trim_start_matches('-').split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        let is_part = |(pattern, part): (&&str, &&str)| match pattern.split_once('*') {
            Some((begin, _)) => part.starts_with(begin),
            None => pattern == part,
        };
        pattern.len() == path.len() && pattern.iter().zip(&path).all(is_part)
    }

    /// Facts about disks and control groups need the list of mounts, which a bundle does not
    /// record.
    #[test]
    fn every_file_that_this_machine_has_is_in_the_list() {
        let noting = Noting::default();
        describe(&noting, &query(), "x86_64", "linux");
        let paths = noting.paths.into_inner();
        assert!(paths.len() > 10, "{paths:?}");
        for path in paths {
            let is_of_mounts = path == "/proc/self/mountinfo"
                || ["/sys/fs/cgroup", "/sys/class/bdi", "/sys/block", "/sys/devices/virtual"]
                    .iter()
                    .any(|folder| path.starts_with(folder))
                || path.contains("/block/");
            let is_listed = FILES.iter().any(|pattern| is_match(pattern, &path));
            assert!(is_of_mounts || is_listed, "{path}");
        }
    }

    #[test]
    fn recorded_machine_equals_described_one() {
        let text = include_str!("samples/aarch64_board.txt");
        let sample = crate::sample::Sample::new(text);
        let files: BTreeMap<String, Vec<u8>> = text
            .split("== ")
            .filter_map(|part| part.split([' ', '\n']).next())
            .filter(|path| FILES.iter().any(|pattern| is_match(pattern, path)))
            .filter_map(|path| Some((path.to_owned(), sample.bytes(path)?)))
            .collect();
        let answers = Answers { cpus: 4, ..Answers::default() };
        let machine = recorded(&files, answers.clone(), "aarch64", "linux");
        let queried = Queried { answers, ..Queried::default() };
        let expected = describe(&sample, &queried, "aarch64", "linux");
        let (found, expected) = (machine.details.unwrap(), expected.details.unwrap());
        assert_eq!(found.processor, expected.processor);
        assert_eq!(found.caches, expected.caches);
        assert_eq!(found.memory, expected.memory);
        assert_eq!(found.frequency, expected.frequency);
        assert!(!found.caches.is_empty());
    }
}
