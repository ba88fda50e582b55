//! Rules about quantities that cannot be measured here, based on attempts only.

use super::{Facts, Finding, Rule, advice, command};

/// The rules by what cannot be measured.
pub(super) const RULES: [(&str, Rule); 6] = [
    ("hardware counters (core cycles do without)", counters),
    ("two priorities on one processor", priorities),
    (
        "how a figure grows with processors, and threads that wake each other across them",
        processors,
    ),
    ("reading with another read-ahead, or after all caches were dropped", root),
    ("files over a network", network),
    ("guests of the kernel's hypervisor", guests),
];

fn counters(f: &Facts<'_>) -> Option<Finding> {
    let privileges = &f.details.privileges;
    if privileges.counters != Some(false) {
        return None;
    }
    let error = privileges.counters_error.as_deref().unwrap_or_default();
    let in_guest = f.machine.virtual_machine == Some(true);
    Some(match error {
        "EACCES" | "EPERM" => forbidden(f),
        "ENOSYS" => advice(
            "perf_event_open is not there: the kernel lacks it, or a filter hides it",
            "a kernel built with CONFIG_PERF_EVENTS; outside of a container",
        ),
        "zero" => advice(
            "the counter opens, and stays at zero",
            "at the host: give the guest a working counter unit (QEMU: `-cpu host,pmu=on`)",
        ),
        _ if in_guest => advice(
            format!("the host gives the guest none ({error})"),
            "at the host: give the guest a counter unit (QEMU: `-cpu host,pmu=on`)",
        ),
        _ => advice(
            format!("the kernel finds none ({error})"),
            "a kernel with a driver for this processor's counters",
        ),
    })
}

/// A user may count events of his own programs in user space up to level 2; some distributions have
/// levels 3 and 4.
fn forbidden(f: &Facts<'_>) -> Finding {
    match f.details.kernel.perf_event_paranoid {
        Some(level) if level > 2 => command(
            format!("kernel.perf_event_paranoid is {level}"),
            "sudo sysctl kernel.perf_event_paranoid=2",
        ),
        _ => advice(
            "a filter refuses perf_event_open, as containers do",
            "`docker run --cap-add PERFMON`, or outside of the container",
        ),
    }
}

fn priorities(f: &Facts<'_>) -> Option<Finding> {
    (f.details.privileges.realtime == Some(false))
        .then(|| command("no right to real-time scheduling", "sudo prlimit --pid $$ --rtprio=99"))
}

fn processors(f: &Facts<'_>) -> Option<Finding> {
    (f.machine.cpus == 1).then(|| advice("this process has one processor", "give it more"))
}

fn root(f: &Facts<'_>) -> Option<Finding> {
    (!f.machine.root).then(|| command("only root may set them", "sudo yamba run NAME"))
}

fn network(f: &Facts<'_>) -> Option<Finding> {
    const WHY: &str = "the kernel knows no network file system now";
    let known = f.details.privileges.network_file_systems.as_ref()?;
    known.is_empty().then(|| match f.details.kernel.modules {
        Some(false) => advice(WHY, "another kernel: this one loads no modules"),
        _ => command(WHY, "sudo modprobe nfs"),
    })
}

fn guests(f: &Facts<'_>) -> Option<Finding> {
    let in_guest = f.machine.virtual_machine == Some(true);
    let fix = if in_guest {
        "nested virtualisation, which the host must allow"
    } else {
        "switch virtualisation on in the firmware, and join the group `kvm`"
    };
    let is_denied = f.details.privileges.guests == Some(false);
    is_denied.then(|| advice("/dev/kvm is not there, or not for this user", fix))
}
