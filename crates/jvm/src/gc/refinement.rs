//! Refinement by G1: threads that examine dirty cards while the application runs. A card is 512
//! bytes of the heap. It is dirty after a store of a reference to another region, and after a
//! collection that promoted an object with references to younger ones.

use serde::{Deserialize, Serialize};

use crate::gc::log::{Collection, Kind};
use crate::sum;

/// Dirty cards at a collection from which on the refinement thread wakes up: 256 for each of two
/// threads that collect. G1 of JDK 20 and later sets its first target then.
const LEAST_PENDING: f64 = 512.0;
/// First version whose refinement leaves cards to the next collection, as far as that can scan them
/// in 20 ms (JDK-8137022). Applications with heaps of 24 to 240 MB never had more.
const LEAVES_CARDS_FROM: u32 = 20;
/// The benchmark whose dirty cards hold old nodes. Its nodes are those of [`NODES`].
const STORES: &str = "stores/24";
/// The benchmark of nodes in random order.
pub(crate) const NODES: &str = "random/24";

/// Cards of an application in one or more runs with G1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cards {
    /// Bytes that the application allocated until the last collection of each run.
    pub allocated_bytes: f64,
    /// Dirty cards until then: those that a collection found, and those that threads of G1 or of
    /// the application refined. A store into a card that is still dirty does not count.
    pub dirty: f64,
    /// Share of a run's collections that come after the first one with at least 512 such cards,
    /// which counts, too. The mean over the runs.
    pub woken_share: f64,
}

impl Cards {
    /// The cards by the collections of each run.
    pub fn measure(runs: &[Vec<Collection>]) -> Self {
        let woken_share = |run: &Vec<Collection>| woken(run) / pauses(run).count().max(1) as f64;
        let collections = runs.iter().flatten();
        Self {
            allocated_bytes: sum(collections.clone().map(|c| c.eden_bytes)),
            dirty: sum(collections.map(dirty)),
            woken_share: runs.iter().map(woken_share).sum::<f64>() / runs.len().max(1) as f64,
        }
    }
}

/// Costs of refinement, as processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RefinementCosts {
    /// Cost of each collection after which the thread wakes up, in ns.
    pub wake_ns: f64,
    /// Cost of a refined card, in copied bytes of the same application. `None`: the benchmark
    /// refined no cards. JDK 20 and later left them dirty in it.
    #[serde(default)]
    pub bytes_per_card: Option<f64>,
}

impl RefinementCosts {
    /// Whether these costs have what a prediction for this version needs.
    pub fn serves(&self, jvm_major: u32) -> bool {
        jvm_major >= LEAVES_CARDS_FROM || self.bytes_per_card.is_some()
    }

    /// Processor time in a run of an application. The costs serve for this version.
    pub fn cpu_ns(&self, cards: &Cards, jvm_major: u32, run: Run) -> f64 {
        let refined = if jvm_major < LEAVES_CARDS_FROM {
            cards.dirty * run.allocated_bytes / cards.allocated_bytes.max(1.0)
        } else {
            0.0
        };
        let ns_per_card = self.bytes_per_card.unwrap_or(0.0) * run.ns_per_byte;
        // A thread cannot work for longer than the application runs. The application's threads
        // refine the rest.
        let of_cards = (ns_per_card * refined).min(run.mutator_ns);
        self.wake_ns * cards.woken_share * run.collections + of_cards
    }
}

/// A predicted run of an application.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Bytes that the application allocates.
    pub allocated_bytes: f64,
    /// Time of the application without its collections, in ns.
    pub mutator_ns: f64,
    /// Number of collections.
    pub collections: f64,
    /// Time in which a young collection copies a byte, in ns.
    pub ns_per_byte: f64,
}

/// Refinement in runs of a micro-benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Refined {
    /// Processor time of the threads, in ns.
    pub cpu_ns: f64,
    /// Collections after which the thread woke up.
    pub woken: f64,
    /// Cards that the threads refined.
    pub cards: f64,
}

impl Refined {
    /// The refinement in several runs with the processor time of the threads in each. All runs
    /// count: the time varies by a factor of four, since it depends on the scheduler.
    pub fn measure(runs: &[(Vec<Collection>, f64)]) -> Self {
        let mut sum = Self::default();
        for (collections, cpu_ns) in runs {
            sum.cpu_ns += cpu_ns;
            sum.woken += woken(collections);
            sum.cards += collections.iter().map(|c| c.refined_cards).sum::<f64>();
        }
        sum
    }
}

/// The costs of refinement from runs of the micro-benchmark with their shapes. `ns_per_byte` is the
/// cost of a copied byte of nodes in random order.
pub(crate) fn fit(runs: &[(&str, Refined)], ns_per_byte: f64) -> RefinementCosts {
    let wake_ns = wake_ns(runs);
    let stores = runs.iter().filter(|(shape, _)| *shape == STORES);
    let (cpu_ns, cards) = stores.fold((0.0, 0.0), |(cpu_ns, cards), (_, refined)| {
        let of_cards = refined.cpu_ns - wake_ns * refined.woken;
        (cpu_ns + of_cards.max(0.0), cards + refined.cards)
    });
    let is_known = cards >= LEAST_PENDING && ns_per_byte > 0.0;
    RefinementCosts { wake_ns, bytes_per_card: is_known.then(|| cpu_ns / cards / ns_per_byte) }
}

/// The cost of a wake, from the runs without refined cards. It is a ratio of sums: the thread has
/// no time in many runs and much in some.
fn wake_ns(runs: &[(&str, Refined)]) -> f64 {
    let idle = runs.iter().filter(|(_, refined)| refined.cards == 0.0 && refined.woken > 0.0);
    let (cpu_ns, woken) = idle.fold((0.0, 0.0), |(cpu_ns, woken), (_, refined)| {
        (cpu_ns + refined.cpu_ns, woken + refined.woken)
    });
    if woken > 0.0 { cpu_ns / woken } else { 0.0 }
}

/// Cards that were dirty at a collection, or refined before it.
fn dirty(collection: &Collection) -> f64 {
    collection.pending_cards + collection.refined_cards + collection.cards_refined_by_application
}

fn pauses(collections: &[Collection]) -> impl Iterator<Item = &Collection> {
    let is_pause = |c: &&Collection| c.kind != Some(Kind::ConcurrentMark);
    collections.iter().filter(is_pause)
}

/// The number of collections from the first one on that found enough dirty cards to wake the
/// refinement thread. Refined cards count: JDK 25 would have left them dirty.
fn woken(collections: &[Collection]) -> f64 {
    let is_calm = |c: &&Collection| dirty(c) < LEAST_PENDING;
    pauses(collections).skip_while(is_calm).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A collection that found `pending` dirty cards, after threads refined `refined` ones and the
    /// application allocated a megabyte.
    fn collection(pending: f64, refined: f64) -> Collection {
        Collection {
            kind: Some(Kind::Young),
            eden_bytes: 1e6,
            pending_cards: pending,
            refined_cards: refined,
            ..Collection::default()
        }
    }

    #[test]
    fn thread_wakes_up_from_the_first_collection_with_512_dirty_cards_on() {
        let marking = Collection { kind: Some(Kind::ConcurrentMark), ..Collection::default() };
        let calm = [collection(511.0, 0.0), collection(438.0, 0.0)];
        assert_eq!(Cards::measure(&[calm.to_vec()]).woken_share, 0.0);
        let all = [
            collection(100.0, 0.0),
            marking,
            collection(482.0, 30.0),
            collection(10.0, 70.0),
            collection(0.0, 0.0),
        ];
        let expected = Cards { allocated_bytes: 4e6, dirty: 692.0, woken_share: 0.75 };
        assert_eq!(Cards::measure(&[all.to_vec()]), expected);
        // The thread of another run sleeps until its own first such collection.
        let two = Cards::measure(&[all.to_vec(), calm.to_vec()]);
        assert_eq!((two.allocated_bytes, two.dirty), (6e6, 692.0 + 949.0));
        assert_eq!(two.woken_share, 0.375);
    }

    /// Each collection costs 2 ms. A card of old nodes costs 600 ns, as much as 300 bytes of 2 ns;
    /// cards of other benchmarks do not count.
    #[test]
    fn costs_of_cards_and_of_wakes_are_told_apart() {
        let run = |shape, woken: f64, cards: f64, ns_per_card: f64| {
            let cpu_ns = 2e6 * woken + ns_per_card * cards;
            let refined = Refined { cpu_ns, woken, cards };
            (shape, refined)
        };
        let runs = [
            run(STORES, 10.0, 1e5, 600.0),
            run(STORES, 20.0, 3e5, 600.0),
            run(NODES, 20.0, 3e5, 1800.0),
            // Runs without refined cards.
            run(NODES, 40.0, 0.0, 0.0),
            run("list/24", 5.0, 0.0, 0.0),
            // A run without dirty cards.
            ("list/24", Refined::default()),
        ];
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-6;
        let found = fit(&runs, 2.0);
        assert!(close(found.wake_ns, 2e6), "{found:?}");
        assert!(close(found.bytes_per_card.unwrap(), 300.0), "{found:?}");
        assert!(found.serves(17));
        let without_stores = fit(&runs[2..], 2.0);
        assert_eq!(without_stores.bytes_per_card, None);
        assert!(without_stores.serves(25) && !without_stores.serves(17));
        assert_eq!(fit(&[], 1.0), RefinementCosts::default());
    }

    #[test]
    fn only_versions_before_20_refine_each_card() {
        let cards = Cards { allocated_bytes: 1e8, dirty: 1000.0, woken_share: 0.5 };
        let costs = RefinementCosts { wake_ns: 1e6, bytes_per_card: Some(300.0) };
        // 20 collections wake the thread, and twice the allocation needs 2000 cards of 600 ns.
        let at = |mutator_ns, jvm| {
            let run = Run { allocated_bytes: 2e8, mutator_ns, collections: 40.0, ns_per_byte: 2.0 };
            costs.cpu_ns(&cards, jvm, run)
        };
        assert_eq!(at(1e9, 17), 20e6 + 1.2e6);
        assert_eq!(at(1e9, 25), 20e6);
        assert_eq!(at(1e6, 17), 20e6 + 1e6);
    }
}
