//! Rules about the clock rate and the depth of idle states.

use super::{Facts, Finding, advice, command};

/// Exit latencies above this affect every benchmark that waits, such as a round trip through a
/// pipe.
const LONG_WAKE_US: u64 = 20;

/// The governor, unless the range has a single frequency.
pub(super) fn governor(f: &Facts<'_>) -> Option<Finding> {
    let frequency = &f.details.frequency;
    let others: Vec<&str> =
        frequency.governors.iter().map(String::as_str).filter(|g| *g != "performance").collect();
    let range = frequency.lowest_allowed.zip(frequency.highest_allowed);
    let is_fixed = range.is_some_and(|(low, high)| low == high);
    (!others.is_empty() && !is_fixed).then(|| {
        command(
            format!(
                "the frequency governor is `{}`: the clock rises only after the work has begun",
                others.join("`, `")
            ),
            "echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        )
    })
}

pub(super) fn turbo(f: &Facts<'_>) -> Option<Finding> {
    let frequency = &f.details.frequency;
    if frequency.turbo != Some(true) {
        return None;
    }
    let switch = frequency.turbo_switch.as_deref()?;
    let off = if switch.ends_with("no_turbo") { 1 } else { 0 };
    Some(command(
        "turbo is on: the clock follows the heat and what the other cores do",
        format!("echo {off} | sudo tee {switch}"),
    ))
}

pub(super) fn profile(f: &Facts<'_>) -> Option<Finding> {
    let profile = f.details.frequency.profile.as_deref()?;
    let saves = ["low-power", "quiet", "cool"].contains(&profile);
    saves.then(|| {
        command(
            format!("the firmware's profile is `{profile}`: it lowers the clock"),
            "echo performance | sudo tee /sys/firmware/acpi/platform_profile",
        )
    })
}

pub(super) fn battery(f: &Facts<'_>) -> Option<Finding> {
    let on_battery = f.details.frequency.on_battery == Some(true);
    let spares = f.details.kernel.laptop_mode == Some(true);
    match (on_battery, spares) {
        (true, _) => Some(advice(
            "the machine runs on its battery: firmware and kernel lower the clock as they see fit",
            "plug it in",
        )),
        (false, true) => Some(command(
            "laptop mode is on: writes gather until the disk is awake",
            "sudo sysctl vm.laptop_mode=0",
        )),
        (false, false) => None,
    }
}

pub(super) fn heat(f: &Facts<'_>) -> Option<Finding> {
    let times = f.details.processor.throttled?;
    (times > 0).then(|| {
        advice(format!("heat slowed a core down {times} times since the system started"),
            "cool the machine, or hold the clock lower: `sudo cpupower frequency-set --max FREQUENCY`",
        )
    })
}

pub(super) fn deep_sleep(f: &Facts<'_>) -> Option<Finding> {
    let states = f.details.idle.states.iter();
    let longest = states.filter_map(|s| s.wake_us).max()?;
    (longest > LONG_WAKE_US).then(|| {
        command(format!(
                "an idle processor needs up to {longest} us to wake: it is part of whatever waits for another thread"
            ),
            format!("sudo cpupower idle-set --disable-by-latency {LONG_WAKE_US}"),
        )
    })
}
