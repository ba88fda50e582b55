//! The processor: model, topology, kinds of core.

use yamba_record::machine::details::{CoreKind, Processor};

use super::arm;
use super::source::Source;
use super::text::{as_cpu_list, cpu_list, value};

const CPU: &str = "/sys/devices/system/cpu";

/// The processor as its own instructions name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub signature: Option<String>,
}

impl Identity {
    fn of_cpuinfo(cpuinfo: &str) -> Identity {
        Identity {
            vendor: vendor(cpuinfo),
            model: model(cpuinfo),
            signature: signature(cpuinfo),
        }
    }
}

/// The processor's names: those of the kernel, else of the instructions. User-Mode Linux puts its own name in the place of the processor's.
pub(super) fn identity(cpuinfo: &str, instructions: Option<&Identity>) -> Identity {
    match instructions {
        Some(own) if is_user_mode_linux(cpuinfo) => own.clone(),
        _ => Identity::of_cpuinfo(cpuinfo),
    }
}

/// Whether the kernel is User-Mode Linux: a program of another kernel, on the same processor.
pub(super) fn is_user_mode_linux(cpuinfo: &str) -> bool {
    value(cpuinfo, "vendor_id") == Some("User Mode Linux")
}

/// The processor's model. x86 and RISC-V report a name, Arm only numbers.
fn model(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "Model", "uarch", "cpu model"];
    if let Some(name) = named.iter().find_map(|key| value(cpuinfo, key)) {
        return Some(name.to_owned());
    }
    let maker = value(cpuinfo, "CPU implementer")?;
    let part = value(cpuinfo, "CPU part")?;
    Some(format!("implementer {maker} part {part}"))
}

pub(super) fn processor(source: &impl Source, cpuinfo: &str, identity: &Identity) -> Processor {
    let word = |name: &str| source.word(&format!("{CPU}/{name}"));
    let online = word("online");
    let cpus = cpu_list(online.as_deref().unwrap_or_default());
    let status = source.read("/proc/self/status").unwrap_or_default();
    let smt = word("smt/active").map(|active| active == "1");
    Processor {
        vendor: identity.vendor.clone(),
        signature: identity.signature.clone(),
        microcode: value(cpuinfo, "microcode").map(str::to_owned),
        packages: distinct(source, &cpus, "package_cpus_list"),
        cores: distinct(source, &cpus, "core_cpus_list"),
        allowed: value(&status, "Cpus_allowed_list").map(str::to_owned),
        isolated: word("isolated"),
        tickless: word("nohz_full").filter(|list| list != "(null)"),
        smt,
        smt_control: word("smt/control"),
        kinds: kinds(source, cpuinfo, &cpus),
        throttled: throttled(source, &cpus),
        online,
    }
}

fn vendor(cpuinfo: &str) -> Option<String> {
    if let Some(name) = value(cpuinfo, "vendor_id") {
        return Some(name.to_owned());
    }
    if let Some(number) = value(cpuinfo, "CPU implementer") {
        return Some(arm::maker(number).map_or_else(|| number.to_owned(), str::to_owned));
    }
    value(cpuinfo, "mvendorid").map(str::to_owned)
}

/// The numbers that distinguish revisions of a model.
fn signature(cpuinfo: &str) -> Option<String> {
    let forms: [&[(&str, &str)]; 3] = [
        &[
            ("family", "cpu family"),
            ("model", "model"),
            ("stepping", "stepping"),
        ],
        &[
            ("part", "CPU part"),
            ("variant", "CPU variant"),
            ("revision", "CPU revision"),
        ],
        &[("marchid", "marchid"), ("mimpid", "mimpid")],
    ];
    forms.iter().find_map(|form| {
        let parts: Option<Vec<String>> = form
            .iter()
            .map(|(name, key)| Some(format!("{name} {}", value(cpuinfo, key)?)))
            .collect();
        parts.map(|parts| parts.join(" "))
    })
}

/// Number of distinct sets of processors in `file`, such as cores or sockets.
fn distinct(source: &impl Source, cpus: &[u64], file: &str) -> Option<u64> {
    let mut sets: Vec<String> = cpus
        .iter()
        .filter_map(|cpu| source.word(&format!("{CPU}/cpu{cpu}/topology/{file}")))
        .collect();
    sets.sort();
    sets.dedup();
    (!sets.is_empty()).then_some(sets.len() as u64)
}

fn kinds(source: &impl Source, cpuinfo: &str, cpus: &[u64]) -> Vec<CoreKind> {
    let hybrid = hybrid(source);
    let mut kinds: Vec<(Option<String>, Option<u64>, Vec<u64>)> = Vec::new();
    for &cpu in cpus {
        let pmu = hybrid.iter().find(|(_, list)| list.contains(&cpu));
        let name = match pmu {
            Some((name, _)) => Some((*name).to_owned()),
            None => block(cpuinfo, cpu).and_then(core_name),
        };
        let capacity = source.number(&format!("{CPU}/cpu{cpu}/cpu_capacity"));
        let same = kinds
            .iter_mut()
            .find(|(n, c, _)| *n == name && *c == capacity);
        match same {
            Some((_, _, list)) => list.push(cpu),
            None => kinds.push((name, capacity, vec![cpu])),
        }
    }
    kinds
        .into_iter()
        .map(|(name, capacity, list)| CoreKind {
            name,
            cpus: as_cpu_list(&list),
            capacity,
        })
        .collect()
}

/// Kinds of core of Intel's hybrid processors. Each has a counter unit, for which the kernel lists the processors.
fn hybrid(source: &impl Source) -> Vec<(&'static str, Vec<u64>)> {
    let units = [
        ("cpu_core", "performance"),
        ("cpu_atom", "efficiency"),
        ("cpu_lowpower", "low power"),
    ];
    units
        .into_iter()
        .filter_map(|(unit, name)| {
            let list = source.word(&format!("/sys/devices/{unit}/cpus"))?;
            Some((name, cpu_list(&list)))
        })
        .collect()
}

/// The lines of a processor.
fn block(cpuinfo: &str, cpu: u64) -> Option<&str> {
    let number = cpu.to_string();
    cpuinfo
        .split("\n\n")
        .find(|block| value(block, "processor") == Some(&number))
}

/// The name of a core where those of one machine differ: Arm's parts, RISC-V's microarchitectures.
fn core_name(block: &str) -> Option<String> {
    if let Some(name) = value(block, "uarch") {
        return Some(name.to_owned());
    }
    let maker = value(block, "CPU implementer")?;
    let part = value(block, "CPU part")?;
    let name = arm::core(maker, part).map(str::to_owned);
    Some(name.unwrap_or_else(|| format!("implementer {maker} part {part}")))
}

fn throttled(source: &impl Source, cpus: &[u64]) -> Option<u64> {
    let counts = cpus.iter().filter_map(|cpu| {
        source.number::<u64>(&format!(
            "{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count"
        ))
    });
    counts.max()
}
