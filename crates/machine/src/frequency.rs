//! The clock rate, the settings that control it, and idle states.

use yamba_record::machine::details::{Frequency, Idle, IdleState};

use super::source::Source;
use super::text::add;

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
const CPUIDLE: &str = "/sys/devices/system/cpu/cpuidle";

/// Switches of turbo: the file, and its value when turbo is on.
const TURBO: [(&str, bool); 2] = [
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", false),
    ("/sys/devices/system/cpu/cpufreq/boost", true),
];

pub(super) fn frequency(source: &impl Source) -> Frequency {
    let mut all = Frequency {
        profile: source.name("/sys/firmware/acpi/platform_profile"),
        on_battery: on_battery(source),
        ..Frequency::default()
    };
    let names = source.list(CPUFREQ);
    let policies: Vec<&String> = names.iter().filter(|n| n.starts_with("policy")).collect();
    let paths = |file: &'static str| policies.iter().map(move |p| format!("{CPUFREQ}/{p}/{file}"));
    // The ends of all policies are unknown if one policy is not understood.
    let hertz = |file: &'static str| {
        let khz: Option<Vec<u64>> = source.numbers(paths(file));
        let hertz = khz.unwrap_or_default().into_iter();
        hertz.filter_map(|khz| khz.checked_mul(1000)).collect::<Vec<u64>>()
    };
    for path in paths("scaling_governor") {
        add(&mut all.governors, source.name(&path));
    }
    for path in paths("energy_performance_preference") {
        add(&mut all.preferences, source.name(&path));
    }
    all.driver = paths("scaling_driver").next().and_then(|path| source.name(&path));
    all.min = hertz("cpuinfo_min_freq").into_iter().min();
    all.max = hertz("cpuinfo_max_freq").into_iter().max();
    all.lowest_allowed = hertz("scaling_min_freq").into_iter().min();
    all.highest_allowed = hertz("scaling_max_freq").into_iter().max();
    for (switch, on) in TURBO {
        if source.bytes(switch).is_some() {
            all.turbo = source.is_on(switch).map(|is_set| is_set == on);
            all.turbo_switch = all.turbo.map(|_| switch.to_owned());
            break;
        }
    }
    all
}

/// Whether the machine runs on battery: a battery discharges and no supply is online. `None`
/// without power supplies.
fn on_battery(source: &impl Source) -> Option<bool> {
    const SUPPLIES: &str = "/sys/class/power_supply";
    const STATUSES: [&str; 5] = ["Unknown", "Charging", "Discharging", "Not charging", "Full"];
    let (mut fed, mut discharging, mut known) = (false, false, false);
    for supply in source.list(SUPPLIES) {
        let path = |file: &str| format!("{SUPPLIES}/{supply}/{file}");
        let word = |file: &str| source.word(&path(file));
        // Batteries of devices such as mice do not count.
        if word("scope").is_some_and(|scope| scope == "Device") {
            continue;
        }
        let kind = source.name(&path("type"));
        match kind.as_deref() {
            Some("Mains" | "USB") => fed |= source.is_on(&path("online"))?,
            Some("Battery") => {
                let status = word("status");
                let known = status.filter(|s| STATUSES.contains(&s.as_str()));
                discharging |= source.understood(&path("status"), known)? == "Discharging";
            }
            // Without the kind of one supply, nothing is known of all.
            None => return None,
            _ => continue,
        }
        known = true;
    }
    known.then_some(discharging && !fed)
}

pub(super) fn idle(source: &impl Source) -> Idle {
    let word = |file: &str| source.name(&format!("{CPUIDLE}/{file}"));
    Idle {
        driver: word("current_driver").filter(|driver| driver != "none"),
        governor: word("current_governor").or_else(|| word("current_governor_ro")),
        states: states(source),
    }
}

fn states(source: &impl Source) -> Vec<IdleState> {
    const STATES: &str = "/sys/devices/system/cpu/cpu0/cpuidle";
    let names = source.list(STATES);
    names
        .iter()
        .filter_map(|state| {
            let path = |file: &str| format!("{STATES}/{state}/{file}");
            let has_switch = source.bytes(&path("disable")).is_some();
            if has_switch && source.is_on(&path("disable"))? {
                return None;
            }
            Some(IdleState {
                // Some have a space: `haltpoll idle`.
                name: source.word(&path("name"))?,
                wake_us: source.number(&path("latency")),
            })
        })
        .collect()
}
