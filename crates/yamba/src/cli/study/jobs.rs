//! What is measured for a study: each benchmark at each setting once, although several measurements may look at it.

use crate::run::{Job, Own};
use crate::study::{Measurement, Study};

/// The jobs of a study among those that were built, and what each is told.
pub(super) fn jobs(study: &Study, built: &[Job]) -> (Vec<Job>, Vec<Own>) {
    let all = &study.measurements;
    // Of two that cover each other, the first.
    let is_needed = |at: &usize| {
        let has_all = |other: &usize| *other != *at && covers(&all[*other], &all[*at]);
        let mut others = (0..all.len()).filter(has_all);
        !others.any(|o| o < *at || !covers(&all[*at], &all[o]))
    };
    let needed = (0..all.len()).filter(is_needed).map(|at| &all[at]);
    let told = needed.filter_map(|m| {
        let job = built.iter().find(|j| j.class == m.benchmark)?;
        let own = Own {
            set: m.set.clone(),
            sweep: m.sweep.clone(),
            processes: m.processes,
        };
        Some((job.clone(), own))
    });
    told.unzip()
}

/// Whether measuring the one measures all that the other asks for.
fn covers(one: &Measurement, other: &Measurement) -> bool {
    let values = |m: &Measurement| -> Vec<(String, Vec<String>)> {
        let set = m.set.iter().map(|(n, v)| (n.clone(), vec![v.clone()]));
        set.chain(m.sweep.iter().cloned()).collect()
    };
    let (has, wants) = (values(one), values(other));
    let has_all = |(name, wanted): &(String, Vec<String>)| {
        let found = has.iter().find(|(n, _)| n == name);
        found.is_some_and(|(_, values)| wanted.iter().all(|v| values.contains(v)))
    };
    one.benchmark == other.benchmark
        && one.processes == other.processes
        && has.len() == wants.len()
        && wants.iter().all(has_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(size: &[&str], order: &str) -> Measurement {
        let mut asked = Measurement {
            benchmark: "lat_x".to_owned(),
            set: vec![("order".to_owned(), order.to_owned())],
            ..Measurement::default()
        };
        let values = || size.iter().map(|s| (*s).to_owned());
        match size.len() {
            1 => asked
                .set
                .extend(values().map(|value| ("size".to_owned(), value))),
            _ => asked.sweep.push(("size".to_owned(), values().collect())),
        }
        asked
    }

    #[test]
    fn a_sweep_covers_its_points() {
        assert!(covers(&at(&["1", "2"], "up"), &at(&["2"], "up")));
        assert!(!covers(&at(&["2"], "up"), &at(&["1", "2"], "up")));
        assert!(!covers(&at(&["1", "2"], "up"), &at(&["3"], "up")));
        assert!(!covers(&at(&["1", "2"], "up"), &at(&["2"], "down")));
        let loaded = Measurement {
            processes: Some(2),
            ..at(&["2"], "up")
        };
        assert!(!covers(&at(&["1", "2"], "up"), &loaded));
    }
}
