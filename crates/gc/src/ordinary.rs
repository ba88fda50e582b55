//! The cost of an application's objects, from its collections in an ordinary run with Serial.

use serde::{Deserialize, Serialize};

use crate::costs::Terms;
use crate::log::{Collection, Kind};

/// The collections of one sort in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Work {
    /// Number of collections.
    pub collections: f64,
    /// Bytes that they copied; of collections of the whole heap, bytes that were alive.
    pub bytes: f64,
    /// Their processor time, in ns.
    pub cpu_ns: f64,
    /// Their pauses, in ns.
    pub pause_ns: f64,
}

/// A run with Serial and a heap of fixed size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OrdinaryRun {
    /// Size of the heap, in bytes.
    pub heap_bytes: f64,
    /// Young collections.
    pub young: Work,
    /// Collections of the whole heap.
    pub full: Work,
}

/// At least this share of a time counts as the cost of bytes: the fixed costs of the benchmarks may exceed those of the application.
const LEAST_SHARE: f64 = 0.2;

impl Work {
    fn add(&mut self, bytes: f64, pauses_ns: f64) {
        self.collections += 1.0;
        self.bytes += bytes;
        self.pause_ns += pauses_ns;
    }

    /// The processor time for a byte beyond the fixed costs of the collections, in ns. `None`: no byte was processed.
    pub fn cpu_ns_per_byte(&self, terms: &Terms) -> Option<f64> {
        self.ns_per_byte(self.cpu_ns, terms)
    }

    /// The pause for a byte beyond the fixed pauses of the collections, in ns. `None`: no byte was processed.
    pub fn pause_ns_per_byte(&self, terms: &Terms) -> Option<f64> {
        self.ns_per_byte(self.pause_ns, terms)
    }

    fn ns_per_byte(&self, all_ns: f64, terms: &Terms) -> Option<f64> {
        let fixed_ns = self.collections * terms.fixed_ns;
        let of_bytes = (all_ns - fixed_ns).max(LEAST_SHARE * all_ns);
        (self.bytes > 0.0).then(|| of_bytes / self.bytes)
    }
}

impl OrdinaryRun {
    /// The run by the collections of its log. Serial has one thread, which works in pauses only, so the pauses divide its processor time.
    pub fn of(heap_bytes: f64, collections: &[Collection], gc_cpu_ns: f64) -> Self {
        let mut run = Self {
            heap_bytes,
            ..Self::default()
        };
        for collection in collections {
            let pauses_ns = collection.pauses_ns.iter().sum();
            match collection.kind {
                Some(Kind::Full) => {
                    let alive = collection.survivor_bytes + collection.old_bytes.1;
                    run.full.add(alive, pauses_ns);
                }
                _ => run.young.add(collection.copied_bytes(), pauses_ns),
            }
        }
        let pauses_ns = run.young.pause_ns + run.full.pause_ns;
        if pauses_ns > 0.0 {
            let cpu_share = gc_cpu_ns / pauses_ns;
            run.young.cpu_ns = run.young.pause_ns * cpu_share;
            run.full.cpu_ns = run.full.pause_ns * cpu_share;
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection(kind: Kind, bytes: f64, pause_ns: f64) -> Collection {
        Collection {
            kind: Some(kind),
            pauses_ns: vec![pause_ns],
            survivor_bytes: bytes,
            ..Collection::default()
        }
    }

    #[test]
    fn processor_time_is_divided_by_pauses() {
        let all = [
            collection(Kind::Young, 1e6, 1e6),
            collection(Kind::Young, 3e6, 2e6),
            collection(Kind::Full, 10e6, 9e6),
        ];
        // Half of each pause was a wait for a processor.
        let run = OrdinaryRun::of(64e6, &all, 6e6);
        let young = Work {
            collections: 2.0,
            bytes: 4e6,
            cpu_ns: 1.5e6,
            pause_ns: 3e6,
        };
        assert_eq!(run.young, young);
        assert_eq!((run.full.bytes, run.full.cpu_ns), (10e6, 4.5e6));
        let terms = |fixed_ns: f64| Terms {
            fixed_ns,
            ..Terms::default()
        };
        assert_eq!(run.young.cpu_ns_per_byte(&terms(0.25e6)), Some(0.25));
        assert_eq!(run.young.pause_ns_per_byte(&terms(0.5e6)), Some(0.5));
        // The fixed cost leaves at least a fifth.
        assert_eq!(run.young.cpu_ns_per_byte(&terms(1e6)), Some(0.075));
        assert_eq!(Work::default().cpu_ns_per_byte(&terms(0.0)), None);
    }
}
