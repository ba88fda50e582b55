//! The groups of facts. Unknown parts are omitted from their line.

use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::{Cache, CoreKind, Limit, Mitigation, Tlb};
use yamba_record::number::bytes;

use super::layout::{Page, hertz};

/// The parts of a line.
#[derive(Default)]
struct Parts(Vec<String>);

impl Parts {
    fn add(&mut self, part: Option<String>) {
        self.0.extend(part);
    }

    fn joined(&self) -> String {
        self.0.join(", ")
    }
}

fn yes(value: Option<bool>, name: &str) -> Option<String> {
    value.map(|on| format!("{name} {}", if on { "on" } else { "off" }))
}

fn counted(number: Option<u64>, one: &str, many: &str) -> Option<String> {
    number.map(|n| format!("{n} {}", if n == 1 { one } else { many }))
}

pub(super) fn processor(page: &mut Page, machine: &Machine, details: &Details) {
    let p = &details.processor;
    page.section("Processor");
    page.line("model", machine.cpu.as_deref().unwrap_or_default());
    let mut identity = Parts(vec![machine.isa.clone()]);
    identity.add(p.vendor.clone());
    identity.add(p.signature.clone());
    identity.add(p.microcode.as_ref().map(|m| format!("microcode {m}")));
    page.line("identity", &identity.joined());
    let mut count = Parts::default();
    count.add(p.online.as_ref().map(|list| format!("online {list}")));
    let others = p.allowed.as_ref().filter(|a| Some(*a) != p.online.as_ref());
    count.add(others.map(|list| format!("allowed {list}")));
    count.add(counted(p.cores, "core", "cores"));
    count.add(counted(p.packages, "socket", "sockets"));
    count.add(yes(p.smt, "SMT"));
    count.add(p.isolated.as_ref().map(|list| format!("isolated {list}")));
    count.add(p.tickless.as_ref().map(|list| format!("tickless {list}")));
    page.line("processors", &count.joined());
    if p.kinds.len() > 1 || p.kinds.iter().any(|k| k.name.is_some()) {
        let kinds: Vec<String> = p.kinds.iter().map(kind).collect();
        page.line("kinds of core", &kinds.join("; "));
    }
    frequency(page, details);
    for cache in &details.caches {
        page.line(&cache_name(cache), &one_cache(cache));
    }
    if details.caches.is_empty() {
        page.line("caches", "");
    }
    if details.tlbs.is_empty() {
        page.line("TLBs", "");
    }
    for group in details
        .tlbs
        .chunk_by(|a, b| a.level == b.level && a.kind == b.kind)
    {
        let sizes: Vec<String> = group.iter().map(one_tlb).collect();
        page.line(&tlb_name(&group[0]), &sizes.join("; "));
    }
}

fn kind(kind: &CoreKind) -> String {
    let mut parts = Parts::default();
    parts.add(Some(
        kind.name.clone().unwrap_or_else(|| "unnamed".to_owned()),
    ));
    parts.add(Some(format!("processors {}", kind.cpus)));
    parts.add(kind.capacity.map(|c| format!("capacity {c}")));
    parts.joined()
}

fn frequency(page: &mut Page, details: &Details) {
    let f = &details.frequency;
    let mut parts = Parts::default();
    parts.add(
        f.min
            .zip(f.max)
            .map(|(low, high)| format!("{} to {}", hertz(low), hertz(high))),
    );
    if (f.lowest_allowed, f.highest_allowed) != (f.min, f.max) {
        let now = f.lowest_allowed.zip(f.highest_allowed);
        parts.add(now.map(|(low, high)| format!("allowed {} to {}", hertz(low), hertz(high))));
    }
    if !f.governors.is_empty() {
        parts.add(Some(format!("governor {}", f.governors.join(" and "))));
    }
    parts.add(f.driver.as_ref().map(|d| format!("driver {d}")));
    if !f.preferences.is_empty() {
        parts.add(Some(format!("preference {}", f.preferences.join(" and "))));
    }
    parts.add(yes(f.turbo, "turbo"));
    parts.add(f.profile.as_ref().map(|p| format!("profile {p}")));
    parts.add(
        f.on_battery
            .map(|on| if on { "on battery" } else { "on mains" }.to_owned()),
    );
    page.line("frequency", &parts.joined());
    let states = details.idle.states.iter().map(|s| match s.wake_us {
        Some(us) => format!("{} {us} us", s.name),
        None => s.name.clone(),
    });
    let mut idle = Parts::default();
    idle.add(details.idle.driver.as_ref().map(|d| format!("driver {d}")));
    idle.add(
        details
            .idle
            .governor
            .as_ref()
            .map(|g| format!("governor {g}")),
    );
    idle.0.extend(states);
    page.line("sleep states", &idle.joined());
}

fn cache_name(cache: &Cache) -> String {
    let kind = match cache.kind.as_str() {
        "data" => "d",
        "instruction" => "i",
        _ => "",
    };
    format!("L{}{kind} cache", cache.level)
}

fn one_cache(cache: &Cache) -> String {
    let mut parts = Parts::default();
    parts.add(cache.bytes.map(bytes));
    parts.add(cache.ways.map(|w| format!("{w}-way")));
    parts.add(cache.line.map(|l| format!("lines of {l} B")));
    let shared = cache.shared_by.as_ref();
    parts.add(shared.map(|list| format!("of processors {list}")));
    parts.joined()
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

pub(super) fn memory(page: &mut Page, machine: &Machine, details: &Details) {
    let m = &details.memory;
    page.section("Memory");
    let mut size = Parts::default();
    size.add(m.total.map(bytes));
    size.add(m.available.map(|b| format!("{} available", bytes(b))));
    if m.nodes.len() > 1 {
        let nodes = m.nodes.iter().map(|n| {
            let total = n.total.map(bytes).unwrap_or_default();
            format!("{total} at processors {}", n.cpus)
        });
        size.0.extend(nodes);
    } else {
        size.add(counted(
            Some(m.nodes.len() as u64).filter(|n| *n > 0),
            "node",
            "nodes",
        ));
    }
    page.line("size", &size.joined());
    let mut swap = Parts::default();
    swap.add(
        m.swap_total
            .map(|b| if b == 0 { "none".to_owned() } else { bytes(b) }),
    );
    let used = m.swap_used.filter(|_| m.swap_total != Some(0));
    swap.add(used.map(|b| format!("{} in use", bytes(b))));
    page.line("swap", &swap.joined());
    let mut pages = Parts(vec![bytes(machine.page_size)]);
    pages.add(m.huge_page.map(|b| format!("huge {}", bytes(b))));
    pages.add(m.huge_pages.map(|n| format!("{n} of them set aside")));
    let unasked = m.transparent_huge_pages.as_ref();
    pages.add(unasked.map(|when| format!("transparent huge pages {when}")));
    page.line("pages", &pages.joined());
}

pub(super) fn kernel(page: &mut Page, machine: &Machine, details: &Details) {
    let k = &details.kernel;
    page.section("System");
    let mut parts = Parts(vec![format!("{} {}", machine.system, machine.kernel)]);
    parts.add(k.preemption.as_ref().map(|p| format!("preemption {p}")));
    parts.add(k.tick_hz.map(|hz| format!("tick {}", hertz(hz))));
    parts.add(k.layout_randomisation.map(|n| {
        let how = ["off", "without the heap"]
            .get(n as usize)
            .unwrap_or(&"full");
        format!("address randomisation {how}")
    }));
    page.line("kernel", &parts.joined());
    mitigations(page, &k.mitigations);
    let v = &details.virtualisation;
    let mut between = Parts::default();
    between.add(match (&v.hypervisor, machine.virtual_machine) {
        (Some(name), _) => Some(format!("virtual machine under {name}")),
        (None, Some(true)) => Some("virtual machine".to_owned()),
        (None, Some(false)) => Some("no hypervisor".to_owned()),
        (None, None) => None,
    });
    between.add(v.container.as_ref().map(|c| format!("container {c}")));
    between.add(v.cpu_quota.map(|q| format!("quota {q} processors")));
    between.add(v.memory_limit.map(|b| format!("memory limit {}", bytes(b))));
    between.add(v.stolen.map(|s| format!("stolen {:.2} %", s * 100.0)));
    page.line("virtualisation", &between.joined());
}

/// Lists each vulnerability that is mitigated or open, and counts the others.
fn mitigations(page: &mut Page, all: &[Mitigation]) {
    let (spared, affected): (Vec<_>, Vec<_>) = all.iter().partition(|m| m.state == "Not affected");
    let mut lines: Vec<String> = affected
        .iter()
        .map(|m| format!("{}: {}", m.name, m.state.trim_start_matches("Mitigation: ")))
        .collect();
    if !spared.is_empty() {
        lines.push(format!("not affected by {} others", spared.len()));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    for (i, line) in lines.iter().enumerate() {
        page.line(if i == 0 { "mitigations" } else { "" }, line);
    }
}

pub(super) fn timers(page: &mut Page, details: &Details) {
    let t = &details.timers;
    page.section("Timers");
    let mut source = Parts::default();
    source.add(t.source.clone());
    let others: Vec<&str> = t
        .available
        .iter()
        .map(String::as_str)
        .filter(|name| Some(*name) != t.source.as_deref())
        .collect();
    source.add((!others.is_empty()).then(|| format!("could be {}", others.join(", "))));
    source.add(t.resolution_ns.map(|ns| format!("step {ns} ns")));
    page.line("clock source", &source.joined());
    let mut counter = Parts::default();
    counter.add(t.counter.clone());
    counter.add(Some(t.counter_hz.map_or("rate not told".to_owned(), hertz)));
    counter.add(
        t.counter_invariant
            .map(|is| if is { "invariant" } else { "not invariant" }.to_owned()),
    );
    page.line("counter", &counter.joined());
}

pub(super) fn storage(page: &mut Page, details: &Details) {
    let s = &details.storage;
    page.section(&format!("Storage of scratch files ({})", s.folder));
    let mut system = Parts::default();
    system.add(s.file_system.clone());
    system.add((s.is_memory == Some(true)).then(|| "in memory".to_owned()));
    system.add(
        s.total
            .zip(s.free)
            .map(|(all, free)| format!("{} free of {}", bytes(free), bytes(all))),
    );
    system.0.extend(s.options.iter().cloned());
    page.line("file system", &system.joined());
    let mut disk = Parts::default();
    disk.add(s.device.clone());
    disk.add(s.model.clone());
    disk.add(s.rotational.map(|turns| {
        if turns {
            "rotational"
        } else {
            "not rotational"
        }
        .to_owned()
    }));
    disk.add(s.scheduler.as_ref().map(|name| format!("scheduler {name}")));
    disk.add(s.write_cache.as_ref().map(|how| format!("cache {how}")));
    page.line("disk", &disk.joined());
    page.line("read-ahead", &s.read_ahead.map(bytes).unwrap_or_default());
}

fn limit(limit: Option<Limit>, show: impl Fn(u64) -> String) -> Option<String> {
    limit.map(|l| match l {
        Limit::At(number) => show(number),
        Limit::Not(_) => "unlimited".to_owned(),
    })
}

pub(super) fn rights(page: &mut Page, machine: &Machine, details: &Details) {
    let (l, p) = (&details.limits, &details.privileges);
    page.section("Rights");
    let mut rights = Parts(vec![
        if machine.root { "root" } else { "not root" }.to_owned(),
    ]);
    if !p.capabilities.is_empty() {
        rights.add(Some(format!("capabilities {}", p.capabilities.join(" "))));
    }
    page.line("user", &rights.joined());
    let may = |value: Option<bool>, what: &str| {
        value.map(|yes| format!("{what} {}", if yes { "yes" } else { "no" }))
    };
    let mut tried = Parts::default();
    tried.add(may(p.realtime, "real time"));
    tried.add(may(p.lock_memory, "lock all memory"));
    tried.add(may(p.counters, "hardware counters"));
    tried.add(may(p.guests, "guests"));
    page.line("may", &tried.joined());
    let mut limits = Parts::default();
    let plain = |n: u64| n.to_string();
    let mut add = |name: &str, text: Option<String>| {
        limits.add(text.map(|t| format!("{name} {t}")));
    };
    add("locked memory", limit(l.locked_memory, bytes));
    add("real-time priority", limit(l.realtime_priority, plain));
    add("open files", limit(l.open_files, plain));
    add("processes", limit(l.processes, plain));
    add("stack", limit(l.stack, bytes));
    page.line("limits", &limits.joined());
}

pub(super) fn load(page: &mut Page, details: &Details) {
    let l = &details.load;
    page.section("Now");
    let mut parts = Parts::default();
    parts.add(
        l.average
            .map(|[a, b, c]| format!("{a} in 1 min, {b} in 5, {c} in 15")),
    );
    parts.add(l.running.map(|n| format!("{n} other threads running")));
    page.line("load", &parts.joined());
    let mut waits = Parts::default();
    waits.add(l.cpu_pressure.map(|p| format!("for a processor {p} %")));
    waits.add(l.io_pressure.map(|p| format!("for a disk {p} %")));
    page.line("waits, last 10 s", &waits.joined());
}
