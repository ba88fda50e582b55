//! The cost of dead objects in a collection of the whole heap: Serial walks over each of them.

use std::collections::BTreeMap;

use crate::gc::log::{Collection, Kind};
use crate::gc::observation::Observation;

/// The medians of freed bytes and pause of the collections of the whole heap in a run. `None`: it
/// had none.
fn median_full(run: &Observation) -> Option<(f64, f64)> {
    let is_full = |c: &&Collection| c.kind == Some(Kind::Full);
    let median = |value: fn(&Collection) -> f64| {
        let mut values: Vec<f64> = run.collections.iter().filter(is_full).map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let freed = median(Collection::freed_bytes)?;
    Some((freed, median(|c| c.pauses_ns.iter().sum())?))
}

/// The weight of a dead byte: the median over the shapes that ran with two amounts of dead bytes
/// beside the same live ones; 0 without such shapes.
pub(crate) fn dead_weight(observations: &[Observation]) -> f64 {
    let empty = observations.iter().filter(|o| o.live_bytes == 0.0);
    let fixed_ns = empty.filter_map(median_full).next().map_or(0.0, |f| f.1);
    let mut by_objects: BTreeMap<(&str, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for run in observations.iter().filter(|o| o.live_bytes > 0.0) {
        if let Some(found) = median_full(run) {
            let objects = (run.shape.as_str(), run.live_bytes as u64);
            by_objects.entry(objects).or_default().push(found);
        }
    }
    let weight = |((_, live_bytes), runs): ((&str, u64), Vec<(f64, f64)>)| {
        let [(some, short_ns), (more, long_ns)] = runs[..] else {
            return None;
        };
        // Both pauses are `fixed + price (live + weight dead)`.
        let (short_ns, long_ns) = (short_ns - fixed_ns, long_ns - fixed_ns);
        let rest = short_ns * more - long_ns * some;
        (rest > 0.0).then(|| live_bytes as f64 * (long_ns - short_ns) / rest)
    };
    let mut weights: Vec<f64> = by_objects.into_iter().filter_map(weight).collect();
    weights.sort_by(f64::total_cmp);
    let median = weights.get(weights.len() / 2);
    median.map_or(0.0, |w| w.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run whose collections of the whole heap free `freed` bytes in pauses of these ms.
    fn run(shape: &str, live_bytes: f64, freed: f64, pauses_ms: &[f64]) -> Observation {
        let collection = |ms: &f64| Collection {
            kind: Some(Kind::Full),
            pauses_ns: vec![ms * 1e6],
            young_bytes: (freed, 0.0),
            old_bytes: (live_bytes, live_bytes),
            ..Collection::default()
        };
        Observation {
            shape: shape.to_owned(),
            live_bytes,
            gc_cpu_ns: 0.0,
            marking_cpu_ns: 0.0,
            refined: Default::default(),
            collections: pauses_ms.iter().map(collection).collect(),
        }
    }

    /// A collection takes 1 ms, 2 ns for each of 10 MB that are alive, and 0.5 ns for each dead
    /// byte: a quarter. A disturbed pause does not count.
    #[test]
    fn weight_follows_from_two_amounts_of_dead_bytes() {
        let mut runs = vec![
            run("a", 0.0, 0.0, &[1.0, 1.0, 1.5]),
            run("a", 10e6, 20e6, &[31.0, 31.0, 90.0]),
            run("a", 10e6, 50e6, &[46.0, 46.0, 46.0]),
        ];
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        assert!(close(dead_weight(&runs), 0.25));
        // Two other shapes have more and less.
        runs.push(run("b", 10e6, 20e6, &[13.0]));
        runs.push(run("b", 10e6, 50e6, &[16.0]));
        runs.push(run("c", 10e6, 20e6, &[71.0]));
        runs.push(run("c", 10e6, 50e6, &[121.0]));
        assert!(close(dead_weight(&runs), 0.25));
        // Other live bytes are no second amount of dead ones.
        let mut other = run("a", 5e6, 50e6, &[46.0]);
        other.live_bytes = 5e6;
        assert_eq!(dead_weight(&[runs[0].clone(), runs[1].clone(), other]), 0.0);
        // One amount only.
        assert_eq!(dead_weight(&runs[..2]), 0.0);
    }
}
