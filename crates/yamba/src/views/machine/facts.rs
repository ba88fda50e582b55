//! The groups of facts. Unknown parts are omitted from their line.

use std::fmt::Display;

use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::{Cache, CoreKind, Limit, Mitigation, Node, Tlb};
use yamba_record::number::{bytes, counted, number};

use yamba_report::hardware::value;
use yamba_report::{Part, Table};
use yamba_session::hardware::names;

use super::Page;

/// A part with its name in front.
fn named<T: Display>(name: &str, value: Option<T>) -> Option<String> {
    value.map(|value| format!("{name} {value}"))
}

/// A part with its name in front, and `words` for yes and no.
fn switch(name: &str, value: Option<bool>, words: [&str; 2]) -> Option<String> {
    named(name, value.map(|on| words[usize::from(!on)]))
}

/// One of two words.
fn either(value: Option<bool>, words: [&str; 2]) -> Option<String> {
    value.map(|is| words[usize::from(!is)].to_owned())
}

/// A list as one part; `None` if it is empty.
fn joined(list: &[String], between: &str) -> Option<String> {
    (!list.is_empty()).then(|| list.join(between))
}

fn count(number: Option<u64>, one: &str, many: &str) -> Option<String> {
    number.map(|n| counted(n, one, many))
}

/// Formats a frequency: `2.6 GHz`, `24 MHz`.
fn hertz(rate: u64) -> String {
    let rate = rate as f64;
    let units = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")];
    let unit = units.into_iter().find(|(size, _)| rate >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "Hz"));
    format!("{} {unit}", number(rate / size))
}

pub(super) fn processor(page: &mut Page, machine: &Machine, details: &Details) {
    let p = &details.processor;
    page.section("Processor");
    page.line("model", machine.cpu.as_deref().unwrap_or_default());
    let identity = [
        Some(machine.isa.clone()),
        p.vendor.clone(),
        p.signature.clone(),
        named("microcode", p.microcode.as_ref()),
    ];
    page.parts("identity", identity);
    let others = p.allowed.as_ref().filter(|a| Some(*a) != p.online.as_ref());
    let processors = [
        named("online", p.online.as_ref()),
        named("allowed", others),
        count(p.cores, "core", "cores"),
        count(p.packages, "socket", "sockets"),
        switch("SMT", p.smt, ["on", "off"]),
        named("isolated", p.isolated.as_ref()),
        named("tickless", p.tickless.as_ref()),
    ];
    page.parts("processors", processors);
    if p.kinds.len() > 1 || p.kinds.iter().any(|k| k.name.is_some()) {
        let kinds: Vec<String> = p.kinds.iter().map(kind).collect();
        page.line("kinds of core", &kinds.join("; "));
    }
    frequency(page, details);
    for cache in &details.caches {
        one_cache(page, cache);
    }
    if details.caches.is_empty() {
        page.line("caches", "");
    }
    if details.tlbs.is_empty() {
        page.line("TLBs", "");
    }
    let is_same = |a: &Tlb, b: &Tlb| a.level == b.level && a.kind == b.kind;
    for group in details.tlbs.chunk_by(is_same) {
        let sizes: Vec<String> = group.iter().map(one_tlb).collect();
        page.line(&tlb_name(&group[0]), &sizes.join("; "));
    }
}

fn kind(kind: &CoreKind) -> String {
    let name = kind.name.as_deref().unwrap_or("unnamed");
    let capacity = kind.capacity.map(|c| format!(", capacity {c}"));
    let capacity = capacity.unwrap_or_default();
    format!("{name}, processors {}{capacity}", kind.cpus)
}

fn frequency(page: &mut Page, details: &Details) {
    let f = &details.frequency;
    let range = |low: Option<u64>, high: Option<u64>| {
        let ends = low.zip(high);
        ends.map(|(low, high)| format!("{} to {}", hertz(low), hertz(high)))
    };
    let allowed = (f.lowest_allowed, f.highest_allowed);
    let is_limited = allowed != (f.min, f.max);
    let allowed = range(allowed.0, allowed.1).filter(|_| is_limited);
    let parts = [
        range(f.min, f.max),
        named("allowed", allowed),
        named("governor", joined(&f.governors, " and ")),
        named("driver", f.driver.as_ref()),
        named("preference", joined(&f.preferences, " and ")),
        switch("turbo", f.turbo, ["on", "off"]),
        named("profile", f.profile.as_ref()),
        either(f.on_battery, ["on battery", "on mains"]),
    ];
    page.parts("frequency", parts);
    let idle = &details.idle;
    let states = idle.states.iter().map(|s| match s.wake_us {
        Some(us) => format!("{} {us} us", s.name),
        None => s.name.clone(),
    });
    let chosen_by =
        [named("driver", idle.driver.as_ref()), named("governor", idle.governor.as_ref())];
    page.parts("sleep states", chosen_by.into_iter().chain(states.map(Some)));
}

fn one_cache(page: &mut Page, cache: &Cache) {
    let kind = match cache.kind.as_str() {
        "data" => "d",
        "instruction" => "i",
        _ => "",
    };
    page.parts(
        &format!("L{}{kind} cache", cache.level),
        [
            cache.bytes.map(bytes),
            cache.ways.map(|w| format!("{w}-way")),
            cache.line.map(|l| format!("lines of {l} B")),
            named("of processors", cache.shared_by.as_ref()),
        ],
    );
}

fn tlb_name(tlb: &Tlb) -> String {
    let level = tlb.level.map(|l| format!("L{l} ")).unwrap_or_default();
    let kind = match tlb.kind.as_str() {
        "instruction" => "code",
        other => other,
    };
    format!("{level}TLB {kind}")
}

fn one_tlb(tlb: &Tlb) -> String {
    if let Some(words) = &tlb.description {
        return words.clone();
    }
    let pages: Vec<String> = tlb.pages.iter().map(|p| bytes(*p)).collect();
    let entries = tlb.entries.unwrap_or_default();
    let ways = match tlb.ways {
        Some(ways) if ways == entries => " full".to_owned(),
        Some(ways) => format!(" {ways}-way"),
        None => String::new(),
    };
    format!("{entries} of {}{ways}", pages.join(" or "))
}

/// `node 2: 64 GiB without processors`
fn memory_node(node: &Node) -> String {
    let number = node.node.map(|number| format!("node {number}: ")).unwrap_or_default();
    let total = node.total.map(bytes).unwrap_or_default();
    match node.cpus.as_str() {
        "" => format!("{number}{total} without processors"),
        cpus => format!("{number}{total} at processors {cpus}"),
    }
}

pub(super) fn memory(page: &mut Page, machine: &Machine, details: &Details) {
    let m = &details.memory;
    page.section("Memory");
    let mut size = vec![m.total.map(bytes), m.available.map(|b| format!("{} available", bytes(b)))];
    match m.nodes.len() {
        0 => {}
        1 => size.push(Some("1 node".to_owned())),
        _ => size.extend(m.nodes.iter().map(|n| Some(memory_node(n)))),
    }
    page.parts("size", size);
    let is_used = m.swap_total != Some(0);
    let swap = m.swap_total.map(bytes).filter(|_| is_used);
    let used = m.swap_used.filter(|_| is_used);
    let swap = [
        swap.or((!is_used).then(|| "none".to_owned())),
        used.map(|b| format!("{} in use", bytes(b))),
    ];
    page.parts("swap", swap);
    let pages = [
        Some(bytes(machine.page_size)),
        named("huge", m.huge_page.map(bytes)),
        m.huge_pages.map(|n| format!("{n} of them reserved")),
        named("transparent huge pages", m.transparent_huge_pages.as_ref()),
    ];
    page.parts("pages", pages);
}

pub(super) fn kernel(page: &mut Page, machine: &Machine, details: &Details) {
    let k = &details.kernel;
    page.section("System");
    let randomisation = k.layout_randomisation.map(|n| match n {
        0 => "off",
        1 => "without the heap",
        _ => "full",
    });
    let kernel = [
        Some(format!("{} {}", machine.system, machine.kernel)),
        named("preemption", k.preemption.as_ref()),
        named("tick", k.tick_hz.map(hertz)),
        named("address randomisation", randomisation),
    ];
    page.parts("kernel", kernel);
    mitigations(page, &k.mitigations);
    let v = &details.virtualisation;
    let hypervisor = named("virtual machine under", v.hypervisor.as_ref());
    let unnamed = either(machine.virtual_machine, ["virtual machine", "no hypervisor"]);
    let virtualisation = [
        hypervisor.or(unnamed),
        named("container", v.container.as_ref()),
        v.cpu_quota.map(|q| format!("quota {q} processors")),
        (v.has_cpu_quota == Some(false)).then(|| "no CPU quota".to_owned()),
        named("memory limit", v.memory_limit.map(bytes)),
        v.stolen.map(|s| format!("stolen {:.2} %", s * 100.0)),
    ];
    page.parts("virtualisation", virtualisation);
}

/// Lists each vulnerability that is mitigated or open, and counts the others.
fn mitigations(page: &mut Page, all: &[Mitigation]) {
    let (spared, affected): (Vec<_>, Vec<_>) = all.iter().partition(|m| m.state == "Not affected");
    let affected = affected.iter();
    let mut lines: Vec<String> = affected
        .map(|m| format!("{}: {}", m.name, m.state.trim_start_matches("Mitigation: ")))
        .collect();
    if !spared.is_empty() {
        lines.push(format!("not affected by {} others", spared.len()));
    }
    page.line("mitigations", lines.first().map_or("", String::as_str));
    for line in lines.iter().skip(1) {
        page.line("", line);
    }
}

pub(super) fn timers(page: &mut Page, details: &Details) {
    let t = &details.timers;
    page.section("Timers");
    let mut others = t.available.clone();
    others.retain(|name| Some(name) != t.source.as_ref());
    let source = [
        t.source.clone(),
        named("could be", joined(&others, ", ")),
        t.resolution_ns.map(|ns| format!("step {ns} ns")),
    ];
    page.parts("clock source", source);
    let counter = [
        t.counter.clone(),
        Some(t.counter_hz.map_or("unknown rate".to_owned(), hertz)),
        either(t.counter_invariant, ["invariant", "not invariant"]),
    ];
    page.parts("counter", counter);
}

pub(super) fn storage(page: &mut Page, details: &Details) {
    let s = &details.storage;
    page.section(&format!("Storage of scratch files ({})", s.folder));
    let free = s.total.zip(s.free);
    let system = [
        s.file_system.clone(),
        (s.is_memory == Some(true)).then(|| "in memory".to_owned()),
        free.map(|(all, free)| format!("{} free of {}", bytes(free), bytes(all))),
    ];
    let options = s.options.iter().cloned().map(Some);
    page.parts("file system", system.into_iter().chain(options));
    let disk = [
        s.device.clone(),
        s.model.clone(),
        either(s.rotational, ["rotational", "not rotational"]),
        named("scheduler", s.scheduler.as_ref()),
        named("cache", s.write_cache.as_ref()),
    ];
    page.parts("disk", disk);
    page.parts("read-ahead", [s.read_ahead.map(bytes)]);
}

fn limit(name: &str, limit: Option<Limit>, show: fn(u64) -> String) -> Option<String> {
    let text = limit.map(|l| match l {
        Limit::At(number) => show(number),
        Limit::Not(_) => "unlimited".to_owned(),
    });
    named(name, text)
}

pub(super) fn rights(page: &mut Page, machine: &Machine, details: &Details) {
    let (l, p) = (&details.limits, &details.privileges);
    page.section("Rights");
    let user = [
        either(Some(machine.root), ["root", "not root"]),
        named("capabilities", joined(&p.capabilities, " ")),
    ];
    page.parts("user", user);
    let may = |what: &str, value: Option<bool>| switch(what, value, ["yes", "no"]);
    let may = [
        may("real time", p.realtime),
        may("lock all memory", p.lock_memory),
        may("hardware counters", p.counters),
        may("guests", p.guests),
    ];
    page.parts("may", may);
    let plain = |n: u64| n.to_string();
    let limits = [
        limit("locked memory", l.locked_memory, bytes),
        limit("real-time priority", l.realtime_priority, plain),
        limit("open files", l.open_files, plain),
        limit("processes", l.processes, plain),
        limit("stack", l.stack, bytes),
    ];
    page.parts("limits", limits);
}

pub(super) fn load(page: &mut Page, details: &Details) {
    let l = &details.load;
    page.section("Now");
    let average = l.average;
    let load = [
        average.map(|[a, b, c]| format!("{a} in 1 min, {b} in 5, {c} in 15")),
        l.running.map(|n| format!("{n} other threads running")),
    ];
    page.parts("load", load);
    let waits = [
        l.cpu_pressure.map(|p| format!("for a processor {p} %")),
        l.io_pressure.map(|p| format!("for a disk {p} %")),
    ];
    page.parts("waits, last 10 s", waits);
}

/// The processors that share a core by the test of an earlier run.
pub(super) fn core_pairs(page: &mut Page, machine: &Machine, now: f64) {
    let Some(found) = machine.core_pairs.as_ref() else {
        return;
    };
    let tested = found.pairs.len();
    if tested == 0 {
        return;
    }
    let shared = found.pairs.iter().filter(|pair| pair.shared == Some(true));
    let shared = shared.map(|pair| format!("{} and {}", pair.one, pair.other));
    let shared = shared.collect::<Vec<String>>().join(", ");
    let unclear = found.pairs.iter().filter(|pair| pair.shared.is_none()).count();
    let hidden = "hidden by neighbours";
    let (shared, rest) = if unclear == tested {
        (hidden.to_owned(), String::new())
    } else if unclear > 0 {
        (shared, format!("; {unclear} not known"))
    } else {
        (shared, String::new())
    };
    let shared = if shared.is_empty() { "none" } else { &shared };
    let pairs = counted(tested, "pair", "pairs");
    let when = age(now - found.unix_s);
    page.line(
        "shared cores",
        &format!("{shared}, by a test of {pairs} of processors, {when} ago{rest}"),
    );
}

/// The use of each processor's core by another hardware thread, by the files of earlier runs.
pub(super) fn neighbours(page: &mut Page, machine: &Machine, now: f64) {
    let (widths, contention) = (&machine.quiet_widths, &machine.contention);
    let mut processors: Vec<&String> = widths.keys().chain(contention.keys()).collect();
    processors.sort_by_key(|cpu| (cpu.len(), *cpu));
    processors.dedup();
    if processors.is_empty() {
        page.line("neighbours", "not known: no run has probed this machine");
    }
    let mut label = "neighbours";
    for cpu in processors {
        let latest = contention.get(cpu).map(|c| {
            let percent = (100.0 * c.contended).round();
            let when = age(now - c.unix_s);
            format!("{percent} % contended {when} ago")
        });
        let width = match widths.get(cpu) {
            Some(width) => format!("quiet width {width:.0}"),
            None => "never quiet".to_owned(),
        };
        let slower = contention.get(cpu).and_then(|c| c.lengthening);
        let slower = slower.map(|l| format!("up to {:.0} % slower", 100.0 * l));
        let parts = latest.into_iter().chain(slower).chain([width]);
        let parts = parts.collect::<Vec<String>>().join(", ");
        page.line(label, &format!("processor {cpu}: {parts}"));
        label = "";
    }
}

/// The data caches, if a run has measured them.
pub(super) fn measured_caches(page: &mut Page, machine: &Machine, now: f64) {
    let Some(caches) = &machine.measured_caches else {
        return;
    };
    let levels = caches.levels.iter().map(|level| {
        let size = bytes(level.bytes as u64);
        format!("{size} with {:.1} ns", level.latency_ns)
    });
    let memory = format!("memory with {:.0} ns", caches.memory_ns);
    let when = format!("{} ago", age(now - caches.unix_s));
    let parts = levels.chain([memory, when]);
    page.line("measured caches", &parts.collect::<Vec<String>>().join(", "));
}

/// Claims of the processor beside the findings of `yamba hardware`.
pub(super) fn hardware(page: &mut Page, machine: &Machine, now: f64) {
    page.section("Claimed and found");
    if machine.hardware.is_empty() {
        page.line("", "not measured: run `yamba hardware`");
        return;
    }
    let kept = |name: &str| machine.hardware.iter().find(|k| k.parameter.name == name);
    let row = |(name, unit): (&str, &str)| {
        let claimed = value(machine.claimed(name)?, unit);
        let found = match kept(name) {
            None => ["not measured".to_owned(), String::new()],
            Some(kept) => {
                let found = kept.parameter.found.map(|found| value(found, unit));
                let when = format!("{} ago", age(now - kept.unix_s));
                [found.unwrap_or_else(|| "cannot tell".to_owned()), when]
            }
        };
        Some([vec![name.to_owned(), claimed], found.to_vec()].concat())
    };
    let titles = ["parameter", "claimed", "found", "when"];
    page.add(Part::Table(Table::new(&titles, names().filter_map(row))));
}

/// `5 min`, `3 h`, `12 days`
fn age(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_without_processors_says_so() {
        let mut node = Node { node: Some(2), cpus: "0-1".to_owned(), total: Some(1 << 20) };
        assert_eq!(memory_node(&node), "node 2: 1 MiB at processors 0-1");
        node.cpus.clear();
        assert_eq!(memory_node(&node), "node 2: 1 MiB without processors");
    }

    #[test]
    fn rates_are_short() {
        assert_eq!(hertz(24_000_000), "24 MHz");
        assert_eq!(hertz(2_596_132_000), "2.596 GHz");
        assert_eq!(hertz(4_000_000_000), "4 GHz");
        assert_eq!(hertz(250), "250 Hz");
    }
}
