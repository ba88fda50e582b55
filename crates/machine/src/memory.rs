//! Main memory.

use yamba_record::machine::details::{Memory, Node};

use super::source::Source;
use super::text::{chosen, digits, entry, kibibytes, value};

const MEMINFO: &str = "/proc/meminfo";

pub(super) fn memory(source: &impl Source) -> Memory {
    const HUGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    let meminfo = source.lines(MEMINFO);
    let is_well_formed = |text: &str| text.lines().all(is_entry);
    if meminfo.as_deref().is_some_and(|text| !is_well_formed(text)) {
        source.omit(MEMINFO);
    }
    let bytes = |key: &str| {
        let bytes = kibibytes(meminfo.as_deref()?, key);
        source.understood(MEMINFO, bytes)
    };
    let huge = source.word(HUGE);
    Memory {
        total: bytes("MemTotal"),
        available: bytes("MemAvailable"),
        swap_total: bytes("SwapTotal"),
        swap_used: bytes("SwapTotal")
            .zip(bytes("SwapFree"))
            .map(|(all, free)| all.saturating_sub(free)),
        transparent_huge_pages: huge.and_then(|text| {
            let chosen = chosen(&text).map(str::to_owned);
            source.understood(HUGE, chosen)
        }),
        // Kernels without huge pages have neither line.
        huge_page: meminfo.as_deref().and_then(|m| optional(source, m, "Hugepagesize", kibibytes)),
        huge_pages: meminfo
            .as_deref()
            .and_then(|m| optional(source, m, "HugePages_Total", |m, key| digits(value(m, key)?))),
        nodes: nodes(source),
        node_balancing: source.is_on("/proc/sys/kernel/numa_balancing"),
        merging: source.number::<u64>("/sys/kernel/mm/ksm/run").map(|run| run == 1),
    }
}

/// Whether a line has a name without white space, and a number.
fn is_entry(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else {
        return false;
    };
    let value = value.trim();
    let number = value.strip_suffix(" kB").unwrap_or(value);
    !name.contains(char::is_whitespace) && digits(number).is_some()
}

/// A line that some kernels do not write.
fn optional(
    source: &impl Source,
    meminfo: &str,
    key: &str,
    read: impl Fn(&str, &str) -> Option<u64>,
) -> Option<u64> {
    entry(meminfo, key)?;
    source.understood(MEMINFO, read(meminfo, key))
}

/// Memory in bytes that can be allocated without swapping.
pub(super) fn available(source: &impl Source) -> Option<u64> {
    kibibytes(&source.lines(MEMINFO)?, "MemAvailable")
}

fn nodes(source: &impl Source) -> Vec<Node> {
    const NODES: &str = "/sys/devices/system/node";
    let names = source.list(NODES);
    let numbers = names.iter().filter_map(|name| name.strip_prefix("node")?.parse().ok());
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers
        .into_iter()
        .map(|node| {
            let (list, info) =
                (format!("{NODES}/node{node}/cpulist"), format!("{NODES}/node{node}/meminfo"));
            let text = source.lines(&info);
            Node {
                node: Some(node),
                // A node without processors has an empty list.
                cpus: source.cpus(&list).unwrap_or_default(),
                total: text.and_then(|text| source.understood(&info, node_total(&text))),
            }
        })
        .collect()
}

/// Parses `Node 0 MemTotal:       1024 kB`.
fn node_total(meminfo: &str) -> Option<u64> {
    let own = |line: &str| {
        let (node, rest) = line.strip_prefix("Node ")?.split_once(' ')?;
        digits(node)?;
        kibibytes(rest, "MemTotal")
    };
    meminfo.lines().find_map(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    /// Some machines have gaps in the numbers, or nodes of memory alone.
    #[test]
    fn nodes_are_in_the_order_of_their_numbers() {
        let node = |number: u64, cpus: &str, total: u64| {
            format!(
                "== /sys/devices/system/node/node{number}/cpulist\n{cpus}\n\
                 == /sys/devices/system/node/node{number}/meminfo\nNode {number} MemTotal: {total} kB\n"
            )
        };
        let text = [node(0, "0-1", 8), node(10, "2-3", 4), node(2, "", 1)].concat();
        let found: Vec<_> =
            nodes(&Sample::new(&text)).into_iter().map(|n| (n.node, n.cpus, n.total)).collect();
        let expected = [(0, "0-1", 8192), (2, "", 1024), (10, "2-3", 4096)]
            .map(|(number, cpus, total)| (Some(number), cpus.to_owned(), Some(total)));
        assert_eq!(found, expected);
    }
}
