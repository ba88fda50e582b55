//! Plans the measurements of a study: each benchmark is measured once at each point, even if
//! several measurements use the point.

use serde_json::Value;
use yamba_record::Workers;
use yamba_record::parameters::Written;

use super::{Measurement, Study};
use yamba_harness::{Job, Own};

/// Selects the jobs of a study from the built ones, each with its parameters.
pub(super) fn jobs(study: &Study, built: &[Job]) -> (Vec<Job>, Vec<Own>) {
    let points = each_point_once(&study.measurements).into_iter();
    let pairs = points.filter_map(|(benchmark, own)| {
        let job = built.iter().find(|j| j.class == benchmark)?;
        Some((job.clone(), own))
    });
    pairs.unzip()
}

/// The points to measure, by benchmark; no point occurs twice.
fn each_point_once(all: &[Measurement]) -> Vec<(&str, Own)> {
    // A measurement that another one covers is not needed. Of two that cover each other, the first
    // is needed.
    let is_needed = |at: &usize| {
        let has_all = |other: &usize| *other != *at && covers(&all[*other], &all[*at]);
        let mut others = (0..all.len()).filter(has_all);
        !others.any(|o| o < *at || !covers(&all[*at], &all[o]))
    };
    let needed = (0..all.len()).filter(is_needed);
    let needed: Vec<&Measurement> = needed.map(|at| &all[at]).collect();
    let each = needed.iter().enumerate().flat_map(|(place, m)| {
        let before = needed[..place].iter().filter(|b| is_comparable(b, m));
        let rest = before.map(|b| values(b)).fold(vec![values(m)], |rest, before| {
            let each = rest.iter().flat_map(|area| without(area, &before));
            each.collect()
        });
        rest.into_iter().map(|area| (m.benchmark.as_str(), own(area, m.workers)))
    });
    each.collect()
}

/// A set of points of a benchmark: the Cartesian product of the values of its parameters.
type Area = Vec<(String, Vec<String>)>;

/// The points of a measurement, without duplicate values.
fn values(m: &Measurement) -> Area {
    let set = m.set.iter().map(|(n, v)| (n.clone(), vec![v.clone()]));
    let sweep = m.sweep.iter().map(|(name, values)| {
        let mut once: Vec<String> = Vec::new();
        for value in values {
            if !once.iter().any(|known| is_same(known, value)) {
                once.push(value.clone());
            }
        }
        (name.clone(), once)
    });
    set.chain(sweep).collect()
}

fn own(area: Area, workers: Option<Workers>) -> Own {
    let mut own = Own { workers, ..Own::default() };
    for (name, mut values) in area {
        match values.len() {
            1 => own.set.push((name, values.remove(0))),
            _ => own.sweep.push((name, values)),
        }
    }
    own
}

/// The points of `area` that are not in `other`, as disjoint areas. The first area differs from
/// `other` in the first parameter. The next one has shared values of the first parameter and
/// differs in the second, and so on.
fn without(area: &Area, other: &Area) -> Vec<Area> {
    let mut rest = Vec::new();
    let mut shared = area.clone();
    for (place, (name, values)) in area.iter().enumerate() {
        let others = other.iter().find(|(n, _)| n == name);
        let is_there =
            |value: &String| others.is_some_and(|(_, all)| all.iter().any(|o| is_same(o, value)));
        let (both, alone): (Vec<String>, Vec<String>) = values.iter().cloned().partition(is_there);
        if !alone.is_empty() {
            let mut area = shared.clone();
            area[place].1 = alone;
            rest.push(area);
        }
        if both.is_empty() {
            return rest;
        }
        shared[place].1 = both;
    }
    rest
}

/// Whether two measurements may share points. A study names the same parameters in each measurement
/// of a benchmark.
fn is_comparable(one: &Measurement, other: &Measurement) -> bool {
    let count = |m: &Measurement| m.set.len() + m.sweep.len();
    one.benchmark == other.benchmark && one.workers == other.workers && count(one) == count(other)
}

/// Whether `one` contains all points of `other`.
fn covers(one: &Measurement, other: &Measurement) -> bool {
    is_comparable(one, other) && without(&values(other), &values(one)).is_empty()
}

/// Whether two texts mean one value, as `64K` and `65536` do.
fn is_same(one: &str, other: &str) -> bool {
    let value = Value::from(other);
    Written::among(one, [&value]).is(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(size: &[&str], order: &str) -> Measurement {
        let mut request = Measurement {
            benchmark: "lat_x".to_owned(),
            set: vec![("order".to_owned(), order.to_owned())],
            ..Measurement::default()
        };
        let values = || size.iter().map(|s| (*s).to_owned());
        match size.len() {
            1 => request.set.extend(values().map(|value| ("size".to_owned(), value))),
            _ => request.sweep.push(("size".to_owned(), values().collect())),
        }
        request
    }

    #[test]
    fn sweep_covers_points_of_several_measurements() {
        assert!(covers(&at(&["1", "2"], "up"), &at(&["2"], "up")));
        assert!(!covers(&at(&["2"], "up"), &at(&["1", "2"], "up")));
        assert!(!covers(&at(&["1", "2"], "up"), &at(&["3"], "up")));
        assert!(!covers(&at(&["1", "2"], "up"), &at(&["2"], "down")));
        let loaded = Measurement { workers: Some(Workers::processes(2)), ..at(&["2"], "up") };
        assert!(!covers(&at(&["1", "2"], "up"), &loaded));
        assert!(covers(&at(&["64K", "2"], "up"), &at(&["65536"], "up")));
    }

    /// All points that are measured, as text.
    fn points(all: &[Measurement]) -> Vec<String> {
        let mut points = Vec::new();
        for (_, own) in each_point_once(all) {
            let set = own.set.into_iter().map(|(n, v)| (n, vec![v]));
            let mut named = vec![String::new()];
            let mut areas: Area = set.chain(own.sweep).collect();
            areas.sort();
            for (name, values) in areas {
                let with = |point: &String| -> Vec<String> {
                    let each = values.iter();
                    each.map(|v| format!("{point} {name}={v}")).collect()
                };
                named = named.iter().flat_map(with).collect();
            }
            points.extend(named);
        }
        points
    }

    #[test]
    fn shared_points_of_sweeps_are_measured_once() {
        let all = points(&[
            at(&["1", "2", "64K"], "up"),
            at(&["2", "65536", "3"], "up"),
            at(&["2", "3"], "down"),
            at(&["3", "4", "4"], "up"),
        ]);
        let up = [1, 2].map(|n| format!(" order=up size={n}"));
        let expected: Vec<String> = up
            .into_iter()
            .chain([" order=up size=64K", " order=up size=3"].map(str::to_owned))
            .chain([2, 3].map(|n| format!(" order=down size={n}")))
            .chain([" order=up size=4".to_owned()])
            .collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn shared_points_of_overlapping_grids_are_measured_once() {
        let area = |sizes: &[&str], orders: &[&str]| Measurement {
            benchmark: "lat_x".to_owned(),
            sweep: [("size", sizes), ("order", orders)]
                .map(|(name, values)| {
                    let values = values.iter().map(|v| (*v).to_owned()).collect();
                    (name.to_owned(), values)
                })
                .to_vec(),
            ..Measurement::default()
        };
        let mut all = points(&[
            area(&["1", "2"], &["up", "down"]),
            area(&["2", "3"], &["up", "none"]),
            area(&["1", "2", "3"], &["none", "down"]),
        ]);
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!((all.len(), count), (9, 9));
    }
}
