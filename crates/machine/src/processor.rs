//! The processor: model, topology, kinds of core.

use yamba_record::machine::details::{CoreKind, Processor};

use super::arm;
use super::source::Source;
use super::text::{as_cpu_list, cpu_list, entry, is_number, parsed_cpu_list, value};

const CPU: &str = "/sys/devices/system/cpu";
const CPUINFO: &str = "/proc/cpuinfo";

/// The processor as the kernel names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub signature: Option<String>,
}

impl Identity {
    /// Whether no part is missing.
    pub fn is_complete(&self) -> bool {
        self.vendor.is_some() && self.model.is_some() && self.signature.is_some()
    }

    pub fn from_cpuinfo(cpuinfo: &str) -> Identity {
        Identity { vendor: vendor(cpuinfo), model: model(cpuinfo), signature: signature(cpuinfo) }
    }
}

/// The processor's model. x86 and RISC-V report a name, Arm only numbers.
fn model(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "Model", "uarch", "cpu model"];
    if let Some(name) = named.iter().find_map(|key| value(cpuinfo, key)) {
        return Some(name.to_owned());
    }
    let first = first_block(cpuinfo);
    let maker = value(first, "CPU implementer").filter(|n| is_number(n))?;
    let part = value(first, "CPU part").filter(|n| is_number(n))?;
    Some(format!("implementer {maker} part {part}"))
}

pub(super) fn processor(source: &impl Source, cpuinfo: &str, identity: &Identity) -> Processor {
    const STATUS: &str = "/proc/self/status";
    let path = |name: &str| format!("{CPU}/{name}");
    let online = source.cpus(&path("online"));
    let cpus = cpu_list(online.as_deref().unwrap_or_default());
    let status = source.lines(STATUS);
    let allowed = |status: String| {
        let list = value(&status, "Cpus_allowed_list");
        let list = list.filter(|list| parsed_cpu_list(list).is_some());
        source.understood(STATUS, list.map(str::to_owned))
    };
    let microcode = entry(cpuinfo, "microcode").and_then(|text| {
        let number = is_number(text).then(|| text.to_owned());
        source.understood(CPUINFO, number)
    });
    Processor {
        vendor: identity.vendor.clone(),
        signature: identity.signature.clone(),
        microcode,
        packages: distinct(source, &cpus, "package_cpus_list"),
        cores: distinct(source, &cpus, "core_cpus_list"),
        allowed: status.and_then(allowed),
        isolated: source.cpus(&path("isolated")),
        tickless: tickless(source),
        smt: source.is_on(&path("smt/active")),
        smt_control: source.name(&path("smt/control")),
        kinds: kinds(source, cpuinfo, &cpus),
        throttled: throttled(source, &cpus),
        online,
    }
}

/// The processors without a tick. Kernels before 6.8 write `(null)` for none.
fn tickless(source: &impl Source) -> Option<String> {
    let path = format!("{CPU}/nohz_full");
    let is_none = source.word(&path)? == "(null)";
    if is_none { None } else { source.cpus(&path) }
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
        &[("family", "cpu family"), ("model", "model"), ("stepping", "stepping")],
        &[("part", "CPU part"), ("variant", "CPU variant"), ("revision", "CPU revision")],
        &[("marchid", "marchid"), ("mimpid", "mimpid")],
    ];
    let first = first_block(cpuinfo);
    forms.iter().find_map(|form| {
        let number = |key: &str| value(first, key).filter(|n| is_number(n));
        let parts: Option<Vec<String>> =
            form.iter().map(|(name, key)| Some(format!("{name} {}", number(key)?))).collect();
        parts.map(|parts| parts.join(" "))
    })
}

/// Number of distinct sets of processors in `file`, such as cores or sockets.
fn distinct(source: &impl Source, cpus: &[u64], file: &str) -> Option<u64> {
    let paths: Vec<String> = cpus
        .iter()
        .map(|cpu| format!("{CPU}/cpu{cpu}/topology/{file}"))
        .filter(|path| source.bytes(path).is_some())
        .collect();
    let sets: Option<Vec<String>> = paths.iter().map(|path| source.cpus(path)).collect();
    // A processor without its set would be counted as none.
    let mut sets = sets.filter(|sets| sets.len() == cpus.len())?;
    sets.sort();
    sets.dedup();
    (!sets.is_empty()).then_some(sets.len() as u64)
}

fn kinds(source: &impl Source, cpuinfo: &str, cpus: &[u64]) -> Vec<CoreKind> {
    let hybrid = hybrid(source);
    let (names, capacities) =
        (core_names(source, cpuinfo, cpus, &hybrid), core_capacities(source, cpus));
    let mut kinds: Vec<(Option<String>, Option<u64>, Vec<u64>)> = Vec::new();
    for (i, &cpu) in cpus.iter().enumerate() {
        let name = names.get(i).cloned();
        let capacity = capacities.get(i).copied();
        let same = kinds.iter_mut().find(|(n, c, _)| *n == name && *c == capacity);
        match same {
            Some((_, _, list)) => list.push(cpu),
            None => kinds.push((name, capacity, vec![cpu])),
        }
    }
    kinds
        .into_iter()
        .map(|(name, capacity, list)| CoreKind { name, cpus: as_cpu_list(&list), capacity })
        .collect()
}

/// The names of all cores. Empty if one is unknown: it would be a kind of its own.
fn core_names(
    source: &impl Source,
    cpuinfo: &str,
    cpus: &[u64],
    hybrid: &[(&'static str, Vec<u64>)],
) -> Vec<String> {
    let name = |cpu: &u64| {
        let unit = hybrid.iter().find(|(_, list)| list.contains(cpu));
        match unit {
            Some((name, _)) => Some((*name).to_owned()),
            None => block(cpuinfo, *cpu).and_then(core_name),
        }
    };
    let names: Vec<Option<String>> = cpus.iter().map(name).collect();
    let has_some = names.iter().any(Option::is_some);
    let all: Option<Vec<String>> = names.into_iter().collect();
    if has_some && all.is_none() {
        source.omit(if hybrid.is_empty() { CPUINFO } else { "/sys/devices/cpu_core/cpus" });
    }
    all.unwrap_or_default()
}

/// The capacities of all cores. Empty if one is unknown.
fn core_capacities(source: &impl Source, cpus: &[u64]) -> Vec<u64> {
    let paths = cpus.iter().map(|cpu| format!("{CPU}/cpu{cpu}/cpu_capacity"));
    let all: Vec<u64> = source.numbers(paths).unwrap_or_default();
    if all.len() == cpus.len() { all } else { Vec::new() }
}

/// Kinds of core of Intel's hybrid processors. Each has a counter unit, for which the kernel lists
/// the processors.
fn hybrid(source: &impl Source) -> Vec<(&'static str, Vec<u64>)> {
    let units =
        [("cpu_core", "performance"), ("cpu_atom", "efficiency"), ("cpu_lowpower", "low power")];
    units
        .into_iter()
        .filter_map(|(unit, name)| {
            let list = source.cpus(&format!("/sys/devices/{unit}/cpus"))?;
            Some((name, cpu_list(&list)))
        })
        .collect()
}

/// The lines of the first processor. A later one may be of another kind.
fn first_block(cpuinfo: &str) -> &str {
    cpuinfo.split("\n\n").next().unwrap_or_default()
}

/// The lines of a processor.
fn block(cpuinfo: &str, cpu: u64) -> Option<&str> {
    let number = cpu.to_string();
    cpuinfo.split("\n\n").find(|block| value(block, "processor") == Some(&number))
}

/// The name of a core where those of one machine differ: Arm's parts, RISC-V's microarchitectures.
fn core_name(block: &str) -> Option<String> {
    if let Some(name) = value(block, "uarch") {
        return Some(name.to_owned());
    }
    let maker = value(block, "CPU implementer").filter(|n| is_number(n))?;
    let part = value(block, "CPU part").filter(|n| is_number(n))?;
    let name = arm::core(maker, part).map(str::to_owned);
    Some(name.unwrap_or_else(|| format!("implementer {maker} part {part}")))
}

/// The most throttling events of a core.
fn throttled(source: &impl Source, cpus: &[u64]) -> Option<u64> {
    let paths =
        cpus.iter().map(|cpu| format!("{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count"));
    source.numbers(paths)?.into_iter().max()
}
