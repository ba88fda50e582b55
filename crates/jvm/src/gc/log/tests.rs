use yamba_mutants::{Change, Form, Mutant, text};

use super::*;

const SAMPLES: [(&str, Collector, &str); 10] = [
    ("serial 17", Collector::Serial, include_str!("samples/serial-17.log")),
    ("serial 25", Collector::Serial, include_str!("samples/serial-25.log")),
    ("parallel 17", Collector::Parallel, include_str!("samples/parallel-17.log")),
    ("parallel 25", Collector::Parallel, include_str!("samples/parallel-25.log")),
    ("g1 17", Collector::G1, include_str!("samples/g1-17.log")),
    ("g1 25", Collector::G1, include_str!("samples/g1-25.log")),
    ("shenandoah 17", Collector::Shenandoah, include_str!("samples/shenandoah-17.log")),
    ("shenandoah 25", Collector::Shenandoah, include_str!("samples/shenandoah-25.log")),
    ("z 17", Collector::Z, include_str!("samples/z-17.log")),
    ("z 25", Collector::Z, include_str!("samples/z-25.log")),
];

fn sample(name: &str) -> (Collector, &'static str) {
    let (_, collector, text) = SAMPLES.iter().find(|s| s.0 == name).unwrap();
    (*collector, text)
}

fn found(name: &str) -> BTreeMap<u32, Collection> {
    let (collector, text) = sample(name);
    read(text, collector).unwrap()
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

#[test]
fn serial_collections_with_ages() {
    let found = found("serial 17");
    let young = &found[&1];
    assert_eq!(young.kind, Some(Kind::Young));
    assert_eq!(young.pauses_ns, [228.175e6]);
    assert_eq!(young.eden_bytes, 13184.0 * KIB);
    assert_eq!(young.metaspace_bytes, 135.0 * KIB);
    assert_eq!(young.copied_bytes(), (1600.0 + 15058.0 - 7243.0) * KIB);
    assert_eq!(young.bytes_by_age, [1638400.0]);
    let full = &found[&5];
    assert_eq!(full.kind, Some(Kind::Full));
    assert_eq!(full.left_bytes(), 16048.0 * KIB);
    assert_eq!(full.freed_bytes(), (14783.0 + 29891.0 - 16048.0) * KIB);
    // Serial gave up this collection, whose log has no sizes of spaces.
    assert_eq!((found[&4].kind, found[&4].copied_bytes()), (Some(Kind::Young), 0.0));
    // It gave up this one when the old generation was full. The heap grew from 32 to
    // 40 MiB.
    let failed = &found[&11];
    assert_eq!((failed.kind, &failed.pauses_ns[..]), (Some(Kind::Young), &[16.994e6][..]));
    assert_eq!(failed.copied_bytes(), 8.0 * MIB);
    assert_eq!(found[&12].old_bytes, (21957.0 * KIB, 20526.0 * KIB));
}

#[test]
fn g1_has_regions_cards_and_a_marking() {
    let found = found("g1 17");
    let marking = &found[&4];
    assert_eq!(marking.kind, Some(Kind::ConcurrentMark));
    assert_eq!(marking.pauses_ns, [0.915e6, 0.095e6]);
    let mixed = &found[&7];
    assert_eq!(mixed.kind, Some(Kind::Mixed));
    assert_eq!(mixed.copied_bytes(), 2_631_952.0);
    assert_eq!(mixed.pending_cards, 1031.0);
    assert_eq!(mixed.refined_cards, 397.0);
    assert_eq!(mixed.cards_refined_by_application, 0.0);
    assert_eq!((mixed.eden_bytes, mixed.survivor_bytes), (MIB, 0.0));
    assert_eq!(mixed.old_bytes, (25.0 * MIB, 22.0 * MIB));
    assert_eq!(found[&38].kind, Some(Kind::Full));
}

/// The end of a pause may have more words than its begin.
#[test]
fn failed_evacuation_is_a_young_collection() {
    let (_, text) = sample("g1 25");
    assert!(text.contains("(Evacuation Failure: Allocation)"));
    let found = found("g1 25");
    let kinds: Vec<_> = found.values().map(|c| c.kind.unwrap()).collect();
    assert!(kinds.contains(&Kind::Young), "{kinds:?}");
    assert!(found.values().all(|c| !c.pauses_ns.is_empty()), "{found:?}");
}

#[test]
fn concurrent_collectors_have_all_pauses() {
    let pauses = |name: &str, id: u32| {
        let collection = &found(name)[&id];
        (collection.kind.unwrap(), collection.pauses_ns.len())
    };
    assert_eq!(pauses("shenandoah 25", 0), (Kind::Cycle, 2));
    assert_eq!(pauses("shenandoah 25", 35), (Kind::Full, 1));
    assert_eq!(pauses("z 17", 0), (Kind::Cycle, 3));
    assert_eq!(pauses("z 25", 0), (Kind::Cycle, 5));
    assert_eq!(pauses("z 25", 3), (Kind::Young, 3));
}

#[test]
fn spaces_are_missing_only_after_a_failed_promotion() {
    let (_, text) = sample("serial 17");
    let lines = text.lines().filter(|line| !line.contains("Promotion failed"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let refused = read(&text, Collector::Serial).unwrap_err();
    assert!(refused.ends_with("collection 11: the sizes of a space are missing"), "{refused}");
}

/// The log that a JVM writes under nb_NO: its first lines come before it sets the locale.
#[test]
fn decimal_commas_are_refused_with_their_line() {
    let text = "\
[0.116s][info][gc,init] Heap Region Size: 1M
[0,158s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
[0,164s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->3M(64M) 4,440ms
";
    let refused = read(text, Collector::G1).unwrap_err();
    assert!(refused.contains("line 2: it does not begin with time"), "{refused}");
}

#[test]
fn pauses_of_0_are_refused() {
    let text = "\
[0.1s][info][gc,start] GC(0) Pause Init Mark
[0.2s][info][gc] GC(0) Pause Init Mark 0.000ms
[0.2s][info][gc] GC(0) Concurrent marking 3.000ms
";
    let refused = read(text, Collector::Shenandoah).unwrap_err();
    assert!(refused.ends_with("all pauses are 0"), "{refused}");
    let one = text.replace("0.000ms", "0.001ms");
    assert_eq!(read(&one, Collector::Shenandoah).unwrap()[&0].pauses_ns, [1e3]);
    assert_eq!(read("", Collector::Serial), Ok(BTreeMap::new()));
}

#[test]
fn rest_of_eden_is_the_distance_of_its_addresses() {
    let line = "[0.5s][info][gc,heap,exit ]   eden space 34944K,   2% used [0x00000000f8000000, 0x00000000f80aebf0, 0x00000000fa220000)\n";
    assert_eq!(rest_of_eden(line), Some(f64::from(0xaebf0)));
    assert_eq!(rest_of_eden(""), None);
    assert_eq!(rest_of_eden(&line.repeat(2)), None);
    assert_eq!(rest_of_eden(&line.replace("0x00000000f80aebf0", "0x")), None);
}

const FORM: Form = Form { separator: " ", fields: &["0.5", "12", "-", "(G1)", "3K", "7.250ms"] };

/// Whether a change cannot be noticed. A log without a pause of Z, or without a row of cards, is
/// that of another run. So is one in which a row of cards stands twice: JDK 17 has several.
fn is_another_log(mutant: &Mutant, lines: &[&str]) -> bool {
    let is_whole_line = matches!(mutant.change, Change::LineRemoved | Change::LineRepeated);
    let line = mutant.line.map_or("", |at| lines[at]);
    let is_record = |line: &str| {
        line.contains("Dirty Cards:")
            || line.contains(": Pause ")
            || line.contains(") Pause Mark")
            || line.contains(") Pause Relocate")
    };
    is_whole_line && is_record(line)
}

/// A log that changes, with what it says.
struct Original<'a> {
    name: &'a str,
    collector: Collector,
    lines: Vec<&'a str>,
    found: BTreeMap<u32, Collection>,
}

impl Original<'_> {
    /// Whether a mutant has lost lines of a collection: the removed line, or some of those behind
    /// its end.
    fn has_lost_lines(&self, mutant: &Mutant, id: u32) -> bool {
        let own = format!("GC({id}) ");
        let Some(at) = mutant.line else { return false };
        match mutant.change {
            Change::LineRemoved => self.lines[at].contains(&own),
            Change::Truncated => self.lines[at..].iter().any(|line| line.contains(&own)),
            _ => false,
        }
    }

    /// Whether the application can end during a collection, of which the log then has some of the
    /// pauses.
    fn may_end_within(&self, collection: &Collection) -> bool {
        let is_cycle = self.collector.is_concurrent() && collection.kind != Some(Kind::Full);
        is_cycle || collection.kind == Some(Kind::ConcurrentMark)
    }

    /// The collections of `found` are those of the original, apart from those whose lines are lost.
    fn agrees(&self, mutant: &Mutant, found: &BTreeMap<u32, Collection>) {
        let name = self.name;
        assert!(found.keys().all(|id| self.found.contains_key(id)), "{name}: {mutant:?}");
        for (id, original) in &self.found {
            let has_lost_lines = self.has_lost_lines(mutant, *id);
            let Some(collection) = found.get(id) else {
                assert!(has_lost_lines, "{name}: {id} is missing: {mutant:?}");
                continue;
            };
            let mut expected = original.clone();
            let is_cut = mutant.change == Change::Truncated && has_lost_lines;
            if is_cut && self.may_end_within(original) {
                expected.pauses_ns.truncate(collection.pauses_ns.len());
            }
            assert_eq!(*collection, expected, "{name}: {mutant:?}");
        }
    }
}

fn mutants_agree(collector: Collector) {
    let own = SAMPLES.iter().filter(|sample| sample.1 == collector);
    for (name, _, log) in own {
        let original = Original {
            name,
            collector,
            lines: log.lines().collect(),
            found: read(log, collector).unwrap(),
        };
        let mut read_count = 0;
        for mutant in text(log, FORM, 1, 10_000) {
            let found = read(&mutant.text, collector);
            assert!(found.is_ok() || !mutant.change.keeps_figures(), "{mutant:?}");
            if let Ok(found) = found
                && !is_another_log(&mutant, &original.lines)
            {
                read_count += 1;
                original.agrees(&mutant, &found);
            }
        }
        // Most changes are refused: nearly each line of Parallel's log depends on others.
        let least = match collector {
            Collector::Parallel => 400,
            _ => 1400,
        };
        assert!(read_count > least, "{name}: {read_count}");
    }
}

#[test]
fn changed_logs_of_serial_agree_or_are_refused() {
    mutants_agree(Collector::Serial);
}

#[test]
fn changed_logs_of_parallel_agree_or_are_refused() {
    mutants_agree(Collector::Parallel);
}

#[test]
fn changed_logs_of_g1_agree_or_are_refused() {
    mutants_agree(Collector::G1);
}

#[test]
fn changed_logs_of_shenandoah_agree_or_are_refused() {
    mutants_agree(Collector::Shenandoah);
}

#[test]
fn changed_logs_of_z_agree_or_are_refused() {
    mutants_agree(Collector::Z);
}
