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
        profile: source.word("/sys/firmware/acpi/platform_profile"),
        on_battery: on_battery(source),
        ..Frequency::default()
    };
    let names = source.list(CPUFREQ);
    for policy in names.iter().filter(|name| name.starts_with("policy")) {
        let path = |file: &str| format!("{CPUFREQ}/{policy}/{file}");
        let hertz = |file: &str| source.number::<u64>(&path(file)).map(|khz| khz * 1000);
        add(&mut all.governors, source.word(&path("scaling_governor")));
        add(
            &mut all.preferences,
            source.word(&path("energy_performance_preference")),
        );
        all.driver = all.driver.or_else(|| source.word(&path("scaling_driver")));
        all.min = least(all.min, hertz("cpuinfo_min_freq"));
        all.max = all.max.max(hertz("cpuinfo_max_freq"));
        all.lowest_allowed = least(all.lowest_allowed, hertz("scaling_min_freq"));
        all.highest_allowed = all.highest_allowed.max(hertz("scaling_max_freq"));
    }
    for (switch, on) in TURBO {
        if let Some(is_set) = source.is_on(switch) {
            all.turbo = Some(is_set == on);
            all.turbo_switch = Some(switch.to_owned());
            break;
        }
    }
    all
}

/// The minimum of the known values.
fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

/// Whether the machine runs on battery: a battery discharges and no supply is online. `None` without power supplies.
fn on_battery(source: &impl Source) -> Option<bool> {
    const SUPPLIES: &str = "/sys/class/power_supply";
    let (mut fed, mut discharging, mut known) = (false, false, false);
    for supply in source.list(SUPPLIES) {
        let word = |file: &str| source.word(&format!("{SUPPLIES}/{supply}/{file}"));
        // Batteries of devices such as mice do not count.
        if word("scope").is_some_and(|scope| scope == "Device") {
            continue;
        }
        match word("type").as_deref() {
            Some("Mains" | "USB") => fed |= word("online").is_some_and(|o| o == "1"),
            Some("Battery") => discharging |= word("status").is_some_and(|s| s == "Discharging"),
            _ => continue,
        }
        known = true;
    }
    known.then_some(discharging && !fed)
}

pub(super) fn idle(source: &impl Source) -> Idle {
    let word = |file: &str| source.word(&format!("{CPUIDLE}/{file}"));
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
            if source.is_on(&path("disable")) == Some(true) {
                return None;
            }
            Some(IdleState {
                name: source.word(&path("name"))?,
                wake_us: source.number(&path("latency")),
            })
        })
        .collect()
}
