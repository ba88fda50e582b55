//! Rules about missing privileges that a quiet measurement needs.

use yamba_record::machine::details::Limit;
use yamba_record::number::bytes;

use super::{Facts, Finding, advice, command};

pub(super) fn realtime(f: &Facts<'_>) -> Option<Finding> {
    let privileges = &f.details.privileges;
    if privileges.realtime != Some(false) {
        return None;
    }
    let text = "no right to real-time scheduling: other threads may interrupt a batch";
    let holds = privileges.capabilities.iter().any(|c| c == "sys_nice");
    let may = holds || !matches!(f.details.limits.realtime_priority, Some(Limit::At(0)) | None);
    Some(if may {
        advice(
            text,
            "the limits allow it, but the container or its control group does not: run outside of the container",
        )
    } else {
        command(text, "sudo prlimit --pid $$ --rtprio=99    # for this shell and its children")
    })
}

/// The limit of real-time threads. Since Linux 6.12 a deadline server runs the other threads;
/// before, the kernel throttled all real-time threads.
pub(super) fn realtime_share(f: &Facts<'_>) -> Option<Finding> {
    let kernel = &f.details.kernel;
    let (run, period) = kernel.realtime_runtime_us.zip(kernel.realtime_period_us)?;
    let period = i64::try_from(period).ok()?;
    let is_limited = run >= 0 && run < period;
    if f.details.privileges.realtime != Some(true) || !is_limited {
        return None;
    }
    let text = format!(
        "with --realtime, other threads can still take {:.0} % of each second, {} ms at a time",
        (period - run) as f64 / period as f64 * 100.0,
        (period - run) / 1000
    );
    let fix = if version(&f.machine.kernel) >= [6, 12] {
        "sudo sh -c 'for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do echo 0 > $f; done'"
    } else {
        "sudo sysctl kernel.sched_rt_runtime_us=-1"
    };
    Some(command(text, fix))
}

/// The first two numbers of a release such as `6.1.0-13-amd64`.
fn version(release: &str) -> [u32; 2] {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    [next(), next()]
}

pub(super) fn locked_memory(f: &Facts<'_>) -> Option<Finding> {
    if f.details.privileges.lock_memory != Some(false) {
        return None;
    }
    let Some(Limit::At(limit)) = f.details.limits.locked_memory else {
        return None;
    };
    Some(command(
        format!(
            "only {} may be locked in memory: the kernel may reclaim the other pages, which then fault during a batch",
            bytes(limit)
        ),
        "sudo prlimit --pid $$ --memlock=unlimited    # for this shell and its children",
    ))
}
