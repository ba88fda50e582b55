//! Main memory.

use yamba_record::machine::details::{Memory, Node};

use super::source::Source;
use super::text::{chosen, kibibytes, value};

pub(super) fn memory(source: &impl Source) -> Memory {
    let meminfo = source.read("/proc/meminfo").unwrap_or_default();
    let bytes = |key: &str| kibibytes(&meminfo, key);
    let swap_free = bytes("SwapFree");
    let huge = source.word("/sys/kernel/mm/transparent_hugepage/enabled");
    Memory {
        total: bytes("MemTotal"),
        available: bytes("MemAvailable"),
        swap_total: bytes("SwapTotal"),
        swap_used: bytes("SwapTotal")
            .zip(swap_free)
            .map(|(all, free)| all.saturating_sub(free)),
        transparent_huge_pages: huge.and_then(|text| chosen(&text).map(str::to_owned)),
        huge_page: bytes("Hugepagesize"),
        huge_pages: value(&meminfo, "HugePages_Total").and_then(|n| n.parse().ok()),
        nodes: nodes(source),
        node_balancing: source.is_on("/proc/sys/kernel/numa_balancing"),
        merging: source
            .number::<u64>("/sys/kernel/mm/ksm/run")
            .map(|run| run == 1),
    }
}

/// Memory in bytes that can be allocated without swapping.
pub(super) fn available(source: &impl Source) -> Option<u64> {
    kibibytes(&source.read("/proc/meminfo")?, "MemAvailable")
}

fn nodes(source: &impl Source) -> Vec<Node> {
    const NODES: &str = "/sys/devices/system/node";
    let names = source.list(NODES);
    let numbered = names.iter().filter(|name| {
        let number = name.strip_prefix("node");
        number.is_some_and(|n| n.parse::<u64>().is_ok())
    });
    numbered
        .map(|node| {
            let text = source.read(&format!("{NODES}/{node}/meminfo"));
            Node {
                cpus: source
                    .word(&format!("{NODES}/{node}/cpulist"))
                    .unwrap_or_default(),
                total: text.as_deref().and_then(node_total),
            }
        })
        .collect()
}

/// Parses `Node 0 MemTotal:       1024 kB`.
fn node_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|l| l.contains("MemTotal:"))?;
    let (_, rest) = line.split_once("MemTotal")?;
    kibibytes(&format!("MemTotal{rest}"), "MemTotal")
}
