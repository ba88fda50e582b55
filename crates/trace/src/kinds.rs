//! The kinds of one table of descriptors.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::call::Kind;

/// Number of kinds that are remembered of one descriptor. A call that arrives after more changes
/// has an unknown kind. That takes a thread that computes for long after it has used a descriptor,
/// while others open different kinds with the same number.
const REMEMBERED: usize = 16;

/// The kinds that descriptors have and had.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    entries: FxHashMap<i64, Entry>,
}

/// The kinds of a descriptor.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Each kind and its beginning, in ns.
    kinds: Vec<(u64, Kind)>,
    /// When it was opened last, in ns.
    opened_ns: u64,
    /// When it was closed, in ns. `None`: it is open.
    closed_ns: Option<u64>,
}

impl Kinds {
    /// Descriptors that have these kinds from the beginning.
    pub fn new(kinds: HashMap<i64, Kind>) -> Kinds {
        let mut all = Kinds::default();
        for (number, kind) in kinds {
            all.open(number, kind, 0);
        }
        all
    }

    /// The kind of a descriptor at a time, in ns. `None`: no call has shown it.
    pub fn get(&self, number: i64, time_ns: u64) -> Option<&Kind> {
        let entry = self.entries.get(&number)?;
        if entry.closed_ns.is_some_and(|closed| time_ns >= closed) {
            return None;
        }
        let begun = entry.kinds.iter().rev();
        let mut begun = begun.filter(|(begin_ns, _)| *begin_ns <= time_ns);
        begun.next().map(|(_, kind)| kind)
    }

    /// The open descriptors with their present kinds, as a new process gets them.
    pub fn copied(&self) -> Kinds {
        let open = self.entries.iter();
        let open = open.filter(|(_, entry)| entry.closed_ns.is_none());
        let copies = open.filter_map(|(number, entry)| {
            let copy = Entry {
                kinds: vec![entry.kinds.last()?.clone()],
                opened_ns: entry.opened_ns,
                closed_ns: None,
            };
            Some((*number, copy))
        });
        Kinds { entries: copies.collect() }
    }

    /// A descriptor has this kind from a time on, in ns, until the next one that is known.
    pub fn open(&mut self, number: i64, kind: Kind, time_ns: u64) {
        let entry = self.entries.entry(number).or_default();
        let place = entry.kinds.partition_point(|(begin, _)| *begin <= time_ns);
        entry.opened_ns = entry.opened_ns.max(time_ns);
        entry.closed_ns = entry.closed_ns.filter(|closed| time_ns < *closed);
        let before = place.checked_sub(1).map(|before| &entry.kinds[before].1);
        if before == Some(&kind) {
            return;
        }
        entry.kinds.insert(place, (time_ns, kind));
        if entry.kinds.len() > REMEMBERED {
            entry.kinds.remove(0);
        }
    }

    /// The descriptors in this range are closed at a time, in ns.
    pub fn close_range(&mut self, first: i64, last: i64, time_ns: u64) {
        let numbers: Vec<i64> =
            self.entries.keys().copied().filter(|n| (first..=last).contains(n)).collect();
        numbers.into_iter().for_each(|number| self.close(number, time_ns));
    }

    /// A descriptor is closed at a time, in ns.
    pub fn close(&mut self, number: i64, time_ns: u64) {
        let Some(entry) = self.entries.get_mut(&number) else {
            return;
        };
        // The number may have been opened again, and that call arrived first.
        if entry.opened_ns <= time_ns {
            entry.closed_ns = Some(time_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_time() {
        let mut kinds = Kinds::new(HashMap::from([(3, Kind::from("file"))]));
        let at = |kinds: &Kinds, time_ns| kinds.get(3, time_ns).map(ToString::to_string);
        assert_eq!(at(&kinds, 0).as_deref(), Some("file"));
        kinds.close(3, 10);
        assert_eq!(at(&kinds, 9).as_deref(), Some("file"));
        assert_eq!(at(&kinds, 10), None);
        kinds.open(3, Kind::from("tcp"), 20);
        kinds.close(3, 30);
        kinds.open(3, Kind::from("tcp"), 40);
        kinds.open(3, Kind::from("file"), 50);
        for (time_ns, expected) in [(9, "file"), (20, "tcp"), (49, "tcp"), (50, "file")] {
            assert_eq!(at(&kinds, time_ns).as_deref(), Some(expected));
        }
        assert_eq!(kinds.get(4, 20), None);
        // The call that closed the one before arrives late.
        kinds.close(3, 48);
        assert_eq!(at(&kinds, 50).as_deref(), Some("file"));
        // A late call has shown what it was.
        kinds.open(3, Kind::from("pipe"), 45);
        for (time_ns, expected) in [(44, "tcp"), (45, "pipe"), (50, "file")] {
            assert_eq!(at(&kinds, time_ns).as_deref(), Some(expected));
        }
    }

    #[test]
    fn few_kinds_are_remembered() {
        let mut kinds = Kinds::default();
        for time_ns in 0..100 {
            kinds.open(3, Kind::from(time_ns.to_string()), time_ns);
        }
        assert_eq!(kinds.get(3, 90).map(AsRef::as_ref), Some("90"));
        assert_eq!(kinds.entries[&3].kinds.len(), REMEMBERED);
    }
}
