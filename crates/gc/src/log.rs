//! Reads the output of `-Xlog:gc*,gc+age=trace`.

use std::collections::BTreeMap;

/// The work of a GC id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Marks objects while the application runs; reclaims nothing by itself. A cycle of G1.
    ConcurrentMark,
    /// Collects while the application runs: Shenandoah and Z.
    Cycle,
    /// Collects the young generation.
    #[default]
    Young,
    /// Collects the young generation and some old regions of G1.
    Mixed,
    /// Collects the whole heap in one pause.
    Full,
}

/// A collection or a concurrent cycle: the data of one GC id in a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collection {
    /// The highest kind among its phases.
    pub kind: Option<Kind>,
    /// Duration of each pause, in ns.
    pub pauses_ns: Vec<f64>,
    /// Bytes in Eden before, for collectors with an Eden.
    pub eden_bytes: f64,
    /// Bytes in Eden and the survivor spaces before and after. Only of Serial and Parallel.
    pub young_bytes: (f64, f64),
    /// Bytes in the survivor spaces after the collection.
    pub survivor_bytes: f64,
    /// Bytes in the old generation before and after.
    pub old_bytes: (f64, f64),
    /// Bytes that it copied, as the log says. Only of G1 with `gc+phases=debug`.
    pub logged_copied_bytes: Option<f64>,
    /// Cards that were dirty at the start. Only of G1 with `gc+phases=debug`.
    pub pending_cards: f64,
    /// Cards that threads of G1 refined since the collection before. Only with `gc+refine+stats=debug`.
    pub refined_cards: f64,
    /// Cards that threads of the application refined, since there were too many.
    pub cards_refined_by_application: f64,
    /// Bytes of class metadata.
    pub metaspace_bytes: f64,
    /// Survivors by age; index 0 is age 1. Only with `gc+age=trace`.
    pub bytes_by_age: Vec<f64>,
}

impl Collection {
    /// Bytes that a young or mixed collection copied: to a survivor space or to the old generation. Without a log of them, those that mixed collections move within the old
    /// generation are unknown.
    pub fn copied_bytes(&self) -> f64 {
        let grown = self.survivor_bytes + (self.old_bytes.1 - self.old_bytes.0).max(0.0);
        self.logged_copied_bytes.unwrap_or(grown)
    }

    /// Bytes in the heap after the collection. Only of Serial and Parallel.
    pub fn left_bytes(&self) -> f64 {
        self.young_bytes.1 + self.old_bytes.1
    }

    /// Bytes that the collection freed. Only of Serial and Parallel.
    pub fn freed_bytes(&self) -> f64 {
        (self.young_bytes.0 + self.old_bytes.0 - self.left_bytes()).max(0.0)
    }
}

/// The collections of a log, by GC id. Lines that belong to no collection are ignored.
pub fn read(text: &str) -> BTreeMap<u32, Collection> {
    let mut found: BTreeMap<u32, Collection> = BTreeMap::new();
    let mut region_bytes = 0.0;
    for line in text.lines() {
        if let Some(at) = line.split("Heap Region Size: ").nth(1) {
            region_bytes = bytes(at);
        }
        if let Some((id, rest)) = of_collection(line) {
            add(found.entry(id).or_default(), rest, region_bytes);
        }
    }
    found.retain(|_, c| c.kind.is_some());
    found
}

fn of_collection(line: &str) -> Option<(u32, &str)> {
    let (id, rest) = line.split_once("] GC(")?.1.split_once(") ")?;
    let rest = rest.trim_start();
    let rest = ["y: ", "Y: ", "O: "]
        .iter()
        .fold(rest, |r, p| r.strip_prefix(p).unwrap_or(r));
    Some((id.parse().ok()?, rest.trim_end()))
}

fn add(to: &mut Collection, rest: &str, region_bytes: f64) {
    if let Some(kind) = kind(rest) {
        to.kind = to.kind.max(Some(kind));
    }
    if rest.starts_with("Pause ")
        && let Some(ns) = milliseconds(rest)
    {
        to.pauses_ns.push(ns);
    }
    if let Some((name, change)) = rest.split_once(": ") {
        space(to, name, change, region_bytes);
    }
    if rest.starts_with("Copied Bytes") {
        to.logged_copied_bytes = number_after(rest, "Sum: ");
    }
    if rest.starts_with("Dirty Cards:") {
        to.pending_cards += number_after(rest, "Sum: ").unwrap_or(0.0);
    }
    if rest.starts_with("Concurrent refinement: ") {
        to.refined_cards += number_after(rest, " refined: ").unwrap_or(0.0);
    }
    if rest.starts_with("Mutator refinement: ") {
        to.cards_refined_by_application += number_after(rest, " refined: ").unwrap_or(0.0);
    }
    if let Some(age) = rest.strip_prefix("- age ") {
        by_age(to, age);
    }
}

fn kind(rest: &str) -> Option<Kind> {
    let kinds = [
        ("Pause Young (Mixed)", Kind::Mixed),
        ("Pause Young", Kind::Young),
        ("Pause Full", Kind::Full),
        ("Pause Degenerated", Kind::Full),
        ("Concurrent Mark Cycle", Kind::ConcurrentMark),
        ("Concurrent Undo Cycle", Kind::ConcurrentMark),
        ("Garbage Collection (", Kind::Cycle),
        ("Minor Collection (", Kind::Young),
        ("Major Collection (", Kind::Cycle),
        ("Concurrent marking", Kind::Cycle),
    ];
    kinds
        .into_iter()
        .find(|(b, _)| rest.starts_with(b))
        .map(|(_, k)| k)
}

fn milliseconds(rest: &str) -> Option<f64> {
    let last = rest.rsplit(' ').next()?;
    Some(last.strip_suffix("ms")?.parse::<f64>().ok()? * 1e6)
}

/// A line like `DefNew: 1K(9K)->0K(9K) Eden: 1K(8K)->0K(8K) From: 0K(1K)->0K(1K)`, or `Eden regions: 24->0(20)`.
fn space(to: &mut Collection, name: &str, change: &str, region_bytes: f64) {
    match name {
        "DefNew" | "PSYoungGen" => {
            to.young_bytes = before_after(change);
            to.eden_bytes = part(change, "Eden: ").0;
            to.survivor_bytes = part(change, "From: ").1;
        }
        "Tenured" | "ParOldGen" => to.old_bytes = before_after(change),
        "Metaspace" => to.metaspace_bytes = before_after(change).0,
        "Eden regions" => to.eden_bytes = regions(change).0 * region_bytes,
        // Each worker leaves its last region partly empty: about one region in all.
        "Survivor regions" => to.survivor_bytes = (regions(change).1 - 1.0).max(0.0) * region_bytes,
        "Old regions" => {
            let (before, after) = regions(change);
            to.old_bytes = (before * region_bytes, after * region_bytes);
        }
        _ => {}
    }
}

fn part(change: &str, name: &str) -> (f64, f64) {
    change
        .split_once(name)
        .map_or((0.0, 0.0), |(_, rest)| before_after(rest))
}

fn before_after(change: &str) -> (f64, f64) {
    let (before, after) = change.split_once("->").unwrap_or((change, "0"));
    (bytes(before), bytes(after))
}

fn regions(change: &str) -> (f64, f64) {
    let number = |text: &str| text.split('(').next().and_then(|n| n.parse().ok());
    let (before, after) = change.split_once("->").unwrap_or((change, "0"));
    (number(before).unwrap_or(0.0), number(after).unwrap_or(0.0))
}

/// The number after a name in a line.
fn number_after(rest: &str, name: &str) -> Option<f64> {
    rest.split(name).nth(1).map(bytes)
}

/// `123K`, `4M` and `1G` at the beginning of a text.
fn bytes(text: &str) -> f64 {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: f64 = text[..digits].parse().unwrap_or(0.0);
    let unit = match text[digits..].chars().next() {
        Some('K') => 1024.0,
        Some('M') => 1024.0 * 1024.0,
        Some('G') => 1024.0 * 1024.0 * 1024.0,
        _ => 1.0,
    };
    number * unit
}

/// `   1:    4800000 bytes,    4800000 total`
fn by_age(to: &mut Collection, text: &str) {
    let Some((age, rest)) = text.split_once(':') else {
        return;
    };
    let age: usize = age.trim().parse().unwrap_or(0);
    let size = rest.trim().split(' ').next().and_then(|n| n.parse().ok());
    if let (1..=15, Some(size)) = (age, size) {
        to.bytes_by_age.resize(to.bytes_by_age.len().max(age), 0.0);
        to.bytes_by_age[age - 1] = size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_collection_with_ages() {
        let text = "\
[0.372s][info ][gc,start    ] GC(40) Pause Young (WhiteBox Initiated Young GC)
[0.375s][trace][gc,age      ] GC(40) - age   1:    4800000 bytes,    4800000 total
[0.375s][trace][gc,age      ] GC(40) - age  15:    1199520 bytes,    5999520 total
[0.375s][info ][gc,heap     ] GC(40) DefNew: 89745K(2097152K)->5858K(2097152K) Eden: 83886K(1048576K)->0K(1048576K) From: 5858K(1048576K)->5858K(1048576K)
[0.375s][info ][gc,heap     ] GC(40) Tenured: 7K(131072K)->9K(131072K)
[0.375s][info ][gc          ] GC(40) Pause Young (WhiteBox Initiated Young GC) 87M->5M(2176M) 2.438ms
";
        let found = &read(text)[&40];
        assert_eq!(found.kind, Some(Kind::Young));
        assert_eq!(found.pauses_ns, [2.438e6]);
        assert_eq!(found.eden_bytes, 83886.0 * 1024.0);
        assert_eq!(found.copied_bytes(), 5860.0 * 1024.0);
        assert_eq!(found.left_bytes(), 5867.0 * 1024.0);
        assert_eq!(found.freed_bytes(), 83885.0 * 1024.0);
        assert_eq!(
            (found.bytes_by_age[0], found.bytes_by_age[14]),
            (4.8e6, 1199520.0)
        );
    }

    #[test]
    fn regions_of_g1_and_pauses_of_a_concurrent_cycle() {
        let text = "\
[0.005s][info][gc,init] Heap Region Size: 2M
[0.335s][info][gc,heap     ] GC(12) Eden regions: 25->0(17)
[0.335s][info][gc,heap     ] GC(12) Survivor regions: 5->4(4)
[0.335s][info][gc,heap     ] GC(12) Old regions: 61->72
[0.335s][debug][gc,phases   ] GC(11)         Copied Bytes                   Min: 674096, Avg: 1844036.0, Max: 3013976, Diff: 2339880, Sum: 3688072, Workers: 2
[0.335s][debug][gc,phases   ] GC(11)       Dirty Cards:                   Min: 0, Avg:  0.0, Max: 0, Diff: 0, Sum: 0, Workers: 2
[0.335s][debug][gc,phases   ] GC(11)       Dirty Cards:                   Min: 10036, Avg: 10910.5, Max: 11785, Diff: 1749, Sum: 21821, Workers: 2
[0.335s][debug][gc,refine,stats] GC(11) Mutator refinement: 0.60ms, refined: 768, precleaned: 0, dirtied: 4383
[0.335s][debug][gc,refine,stats] GC(11) Concurrent refinement: 7.65ms, refined: 3942, precleaned: 3, dirtied: 0
[0.335s][debug][gc,refine,stats] GC(11) Total refinement: 8.24ms, refined: 4710, precleaned: 3, dirtied: 4383
[0.335s][info][gc          ] GC(11) Pause Young (Mixed) (G1 Evacuation Pause) 90M->75M(128M) 15.431ms
[0.335s][info][gc          ] GC(12) Pause Young (Mixed) (G1 Evacuation Pause) 90M->75M(128M) 15.431ms
[0.336s][info][gc          ] GC(13) Concurrent Mark Cycle
[0.337s][info][gc          ] GC(13) Pause Remark 80M->80M(128M) 1.500ms
[0.338s][info][gc          ] GC(13) Pause Cleanup 80M->80M(128M) 0.500ms
[0.473s][info][gc,phases   ] GC(14) y: Pause Mark Start 0.009ms
[0.474s][info][gc          ] GC(14) Minor Collection (Allocation Stall) 80M(62%)->84M(66%) 0.053s
";
        let found = read(text);
        assert_eq!(found[&12].kind, Some(Kind::Mixed));
        assert_eq!(found[&11].copied_bytes(), 3688072.0);
        assert_eq!(found[&11].pending_cards, 21821.0);
        assert_eq!(found[&11].refined_cards, 3942.0);
        assert_eq!(found[&11].cards_refined_by_application, 768.0);
        assert_eq!(found[&12].copied_bytes(), 14.0 * 2.0 * 1024.0 * 1024.0);
        assert_eq!(found[&13].kind, Some(Kind::ConcurrentMark));
        assert_eq!(found[&13].pauses_ns, [1.5e6, 0.5e6]);
        assert_eq!(
            (found[&14].kind, found[&14].pauses_ns.len()),
            (Some(Kind::Young), 1)
        );
    }
}
