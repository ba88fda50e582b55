//! Rules about quantities that cannot be measured here, based on attempts only.

use yamba_record::machine::details::{Cannot, Mend};

use super::Facts;

pub(super) type Rule = fn(&Facts<'_>) -> Option<Cannot>;

pub(super) const RULES: [Rule; 6] = [counters, priorities, processors, root, network, guests];

fn command(what: &str, why: impl Into<String>, command: &str) -> Option<Cannot> {
    Some(Cannot {
        what: what.to_owned(),
        why: why.into(),
        mend: Mend::Command(command.to_owned()),
    })
}

fn advice(what: &str, why: impl Into<String>, advice: &str) -> Option<Cannot> {
    Some(Cannot {
        what: what.to_owned(),
        why: why.into(),
        mend: Mend::Advice(advice.to_owned()),
    })
}

fn counters(f: &Facts<'_>) -> Option<Cannot> {
    const WHAT: &str = "hardware counters (core cycles do without)";
    let privileges = &f.details.privileges;
    if privileges.counters != Some(false) {
        return None;
    }
    let error = privileges.counters_error.as_deref().unwrap_or_default();
    let in_guest = f.machine.virtual_machine == Some(true);
    match error {
        "EACCES" | "EPERM" => forbidden(WHAT, f),
        "ENOSYS" => advice(
            WHAT,
            "perf_event_open is not there: the kernel lacks it, or a filter hides it",
            "a kernel built with CONFIG_PERF_EVENTS; outside of a container",
        ),
        "zero" => advice(
            WHAT,
            "the counter opens, and stays at zero",
            "at the host: give the guest a working counter unit (QEMU: `-cpu host,pmu=on`)",
        ),
        _ if in_guest => advice(
            WHAT,
            format!("the host gives the guest none ({error})"),
            "at the host: give the guest a counter unit (QEMU: `-cpu host,pmu=on`)",
        ),
        _ => advice(
            WHAT,
            format!("the kernel finds none ({error})"),
            "a kernel with a driver for this processor's counters",
        ),
    }
}

/// A user may count events of his own programs in user space up to level 2; some distributions have levels 3 and 4.
fn forbidden(what: &str, f: &Facts<'_>) -> Option<Cannot> {
    match f.details.kernel.perf_event_paranoid {
        Some(level) if level > 2 => command(
            what,
            format!("kernel.perf_event_paranoid is {level}"),
            "sudo sysctl kernel.perf_event_paranoid=2",
        ),
        _ => advice(
            what,
            "a filter refuses perf_event_open, as containers do",
            "`docker run --cap-add PERFMON`, or outside of the container",
        ),
    }
}

fn priorities(f: &Facts<'_>) -> Option<Cannot> {
    (f.details.privileges.realtime == Some(false)).then_some(())?;
    command(
        "two priorities on one processor",
        "no right to real-time scheduling",
        "sudo prlimit --pid $$ --rtprio=99",
    )
}

fn processors(f: &Facts<'_>) -> Option<Cannot> {
    (f.machine.cpus == 1).then_some(())?;
    advice(
        "how a figure grows with processors, and threads that wake each other across them",
        "this process has one processor",
        "give it more",
    )
}

fn root(f: &Facts<'_>) -> Option<Cannot> {
    (!f.machine.root).then_some(())?;
    command(
        "reading with another read-ahead, or after all caches were dropped",
        "only root may set them",
        "sudo yamba run NAME",
    )
}

fn network(f: &Facts<'_>) -> Option<Cannot> {
    const WHAT: &str = "files over a network";
    const WHY: &str = "the kernel knows no network file system now";
    let known = f.details.privileges.network_file_systems.as_ref()?;
    known.is_empty().then_some(())?;
    match f.details.kernel.modules {
        Some(false) => advice(WHAT, WHY, "another kernel: this one loads no modules"),
        _ => command(WHAT, WHY, "sudo modprobe nfs"),
    }
}

fn guests(f: &Facts<'_>) -> Option<Cannot> {
    (f.details.privileges.guests == Some(false)).then_some(())?;
    let in_guest = f.machine.virtual_machine == Some(true);
    let fix = if in_guest {
        "nested virtualisation, which the host must allow"
    } else {
        "switch virtualisation on in the firmware, and join the group `kvm`"
    };
    advice(
        "guests of the kernel's hypervisor",
        "/dev/kvm is not there, or not for this user",
        fix,
    )
}
