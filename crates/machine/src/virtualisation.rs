//! Hypervisor, container and limits of the control group.

use yamba_record::machine::details::Virtualisation;

use super::group;
use super::source::Source;
use super::text::{digits, value};

const STAT: &str = "/proc/stat";

/// `reported` is the hypervisor that the processor reports, `container` the value of the
/// environment variable.
pub(super) fn virtualisation(
    source: &impl Source,
    reported: Option<&str>,
    container: Option<&str>,
) -> Virtualisation {
    let limits = group::limits(source);
    Virtualisation {
        hypervisor: reported.map(str::to_owned).or_else(|| hypervisor(source)),
        container: container.map(str::to_owned).or_else(|| self::container(source)),
        cpu_quota: limits.cpus,
        has_cpu_quota: limits.has_quota,
        memory_limit: limits.memory,
        stolen: source.lines(STAT).and_then(|text| stolen(source, &text)),
    }
}

/// The flag of x86 hypervisors; `None` on other architectures.
pub(super) fn flag(cpuinfo: &str) -> Option<bool> {
    value(cpuinfo, "flags").map(|flags| flags.split(' ').any(|f| f == "hypervisor"))
}

/// The hypervisor from the firmware's table or device tree, where no instruction reports it.
fn hypervisor(source: &impl Source) -> Option<String> {
    if let Some(kind) = source.word("/sys/hypervisor/type") {
        return Some(kind);
    }
    if let Some(kind) = source.word("/proc/device-tree/hypervisor/compatible") {
        return Some(kind.trim_start_matches("linux,").to_owned());
    }
    let tree = source.word("/proc/device-tree/compatible");
    if tree.is_some_and(|t| t.contains("riscv-virtio") || t.contains("dummy-virt")) {
        return Some("qemu".to_owned());
    }
    let makers = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("innotek", "virtualbox"),
        ("Xen", "xen"),
        ("Parallels", "parallels"),
    ];
    let names: Vec<String> = ["sys_vendor", "product_name", "bios_vendor"]
        .iter()
        .filter_map(|file| source.word(&format!("/sys/class/dmi/id/{file}")))
        .collect();
    let known = makers.iter().find(|(maker, _)| names.iter().any(|word| word.starts_with(maker)));
    known.map(|(_, name)| (*name).to_owned())
}

fn container(source: &impl Source) -> Option<String> {
    if let Some(kind) = source.word("/run/systemd/container") {
        return Some(kind);
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, kind)) = marks.iter().find(|(file, _)| source.bytes(file).is_some()) {
        return Some((*kind).to_owned());
    }
    let groups = source.read("/proc/self/cgroup")?;
    let kinds = [("kubepods", "kubernetes"), ("/docker", "docker"), ("/lxc", "lxc")];
    let kind = kinds.iter().find(|(mark, _)| groups.contains(mark));
    kind.map(|(_, kind)| (*kind).to_owned())
}

/// Stolen time since the start of the machine, as a share of non-idle time.
fn stolen(source: &impl Source, stat: &str) -> Option<f64> {
    let ticks = source.understood(STAT, ticks(stat))?;
    ticks.stolen_since(ProcessorTicks::default())
}

/// Ticks of all processors since the start of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTicks {
    /// Ticks in which something wanted to run, stolen ones included.
    wanted: u64,
    /// Ticks that the hypervisor gave to other virtual machines.
    stolen: u64,
}

impl ProcessorTicks {
    /// Stolen time since an earlier reading, as a share of the time in which something wanted to
    /// run. `None` if nothing did.
    #[must_use]
    pub fn stolen_since(self, earlier: ProcessorTicks) -> Option<f64> {
        let wanted = self.wanted.checked_sub(earlier.wanted)?;
        let stolen = self.stolen.checked_sub(earlier.stolen)?;
        (wanted > 0).then(|| stolen as f64 / wanted as f64)
    }
}

/// The ticks of all processors until now. `None` on systems without `/proc/stat`.
#[must_use]
pub fn processor_ticks() -> Option<ProcessorTicks> {
    ticks(&std::fs::read_to_string(STAT).ok()?)
}

/// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`. A line with more or
/// fewer numbers is not understood: since Linux 2.6.33 it has these.
fn ticks(stat: &str) -> Option<ProcessorTicks> {
    let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
    let ticks: Option<Vec<u64>> = line.split_whitespace().map(digits).collect();
    let [user, nice, system, _idle, _waiting, irq, soft, stolen, _guest, _nice_guest] = ticks?[..]
    else {
        return None;
    };
    let all = [user, nice, system, irq, soft, stolen];
    let wanted = all.into_iter().try_fold(0_u64, u64::checked_add)?;
    Some(ProcessorTicks { wanted, stolen })
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn stolen_time_is_share_of_non_idle_time() {
        let stat = "cpu  50 10 20 1000 30 5 5 10 0 0\ncpu0 50 10 20 1000 30 5 5 10 0 0\n";
        let stolen = |stat: &str| stolen(&Sample::new(""), stat);
        assert_eq!(stolen(stat), Some(0.1));
        assert_eq!(stolen("cpu  1 2 3\n"), None);
        assert_eq!(stolen("cpu  50 10 20 1000 30 5 5 10 0 0 0\n"), None);
        assert_eq!(stolen("cpu  18446744073709551615 1 0 0 0 0 0 0 0 0\n"), None);
        assert_eq!(stolen("intr 5\n"), None);
    }

    #[test]
    fn hypervisor_and_container_are_detected_from_files() {
        let found = |text: &str| virtualisation(&Sample::new(text), None, None);
        let arm = found("== /proc/device-tree/compatible\nlinux,dummy-virt\n");
        assert_eq!(arm.hypervisor.as_deref(), Some("qemu"));
        let xen = found("== /proc/device-tree/hypervisor/compatible\nxen\n");
        assert_eq!(xen.hypervisor.as_deref(), Some("xen"));
        let board = found("== /sys/class/dmi/id/sys_vendor\nSupermicro\n== /.dockerenv\n");
        assert_eq!(board.hypervisor, None);
        assert_eq!(board.container.as_deref(), Some("docker"));
        let pod = found("== /proc/self/cgroup\n0::/kubepods/burstable/x\n");
        assert_eq!(pod.container.as_deref(), Some("kubernetes"));
        let reported = virtualisation(&Sample::new(""), Some("kvm"), Some("podman"));
        assert_eq!(reported.hypervisor.as_deref(), Some("kvm"));
        assert_eq!(reported.container.as_deref(), Some("podman"));
        assert_eq!(flag("flags\t\t: fpu hypervisor sse\n"), Some(true));
        assert_eq!(flag("flags\t\t: fpu sse\n"), Some(false));
        assert_eq!(flag("Features\t: fp asimd\n"), None);
    }
}
