//! Discards intervals that the system disturbed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::Batch;

use super::estimate::ENOUGH_LAUNCHES;

/// Fewest undisturbed intervals of a launch that can replace all its intervals.
const FEWEST: usize = 3;

/// Added to the note when every interval took a page fault: then the benchmark itself is the likely cause.
const MAY_FAULT: &str = "; if the benchmark takes page faults itself, add `bool may_fault() { return true; }` to the class";

/// The disturbances of an entry's intervals and their consequences.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// Number of intervals with each kind of disturbance.
    pub kinds: BTreeMap<String, u64>,
    /// Whether too few undisturbed intervals were left, so that all count.
    pub is_disturbed: bool,
    /// Only undisturbed intervals of these launches count; `None` if all intervals count.
    calm: Option<BTreeSet<u64>>,
    /// A note for the reader of the figure.
    pub note: Option<String>,
}

impl Verdict {
    /// Whether this interval counts.
    pub fn admits(&self, interval: &Batch) -> bool {
        let is_calm =
            |calm: &BTreeSet<u64>| interval.disturbed.is_empty() && calm.contains(&interval.launch);
        self.calm.as_ref().is_none_or(is_calm)
    }
}

/// Chooses the intervals that count. Under load none is discarded: the competing processes are what is measured.
pub(super) fn judge(intervals: &[Batch], processes: u64) -> Verdict {
    let mut verdict = Verdict::default();
    for kind in intervals.iter().flat_map(|i| &i.disturbed) {
        *verdict.kinds.entry(kind.clone()).or_default() += 1;
    }
    if processes > 1 || verdict.kinds.is_empty() {
        return verdict;
    }
    let mut launches: BTreeMap<u64, Vec<&Batch>> = BTreeMap::new();
    for interval in intervals {
        launches.entry(interval.launch).or_default().push(interval);
    }
    let calm = launches.iter().filter(|(_, of)| has_calm_median(of));
    let calm: BTreeSet<u64> = calm.map(|(launch, _)| *launch).collect();
    verdict.is_disturbed = calm.len() < launches.len().min(ENOUGH_LAUNCHES);
    let is_disturbed = |i: &&Batch| !i.disturbed.is_empty();
    let disturbed = intervals.iter().filter(is_disturbed).count();
    let counted = match (verdict.is_disturbed, calm.len() < launches.len()) {
        (true, _) => Some("all of them count".to_owned()),
        (_, true) => Some(format!(
            "only the others count, of {} of {} launches",
            calm.len(),
            launches.len()
        )),
        _ if 2 * disturbed >= intervals.len() => Some("only the others count".to_owned()),
        _ => None,
    };
    let total = intervals.len();
    let fix = match verdict.kinds.get("fault") {
        Some(faults) if *faults == total as u64 => MAY_FAULT,
        _ => "",
    };
    verdict.note = counted.map(|counted| {
        let kinds = in_words(&verdict.kinds);
        format!(
            "the machine is disturbed: {disturbed} of {total} intervals ({kinds}); {counted}{fix}"
        )
    });
    verdict.calm = (!verdict.is_disturbed).then_some(calm);
    verdict
}

/// Whether a launch has enough undisturbed intervals for its median. Intervals of a circle are of different tests: more than half
/// must be undisturbed.
fn has_calm_median(launch: &[&Batch]) -> bool {
    let calm = launch.iter().filter(|i| i.disturbed.is_empty()).count();
    if launch.iter().any(|i| i.group.is_some()) {
        return 2 * calm > launch.len();
    }
    calm >= FEWEST.min(launch.len())
}

/// `12 switch, 3 fault`
fn in_words(kinds: &BTreeMap<String, u64>) -> String {
    let each = kinds.iter().map(|(kind, n)| format!("{n} {kind}"));
    each.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The intervals of a launch: first `disturbed` disturbed ones, then `calm` calm ones.
    fn launch(number: u64, disturbed: usize, calm: usize) -> Vec<Batch> {
        let own = Batch {
            launch: number,
            ..Batch::default()
        };
        let mut all = vec![own; disturbed + calm];
        for interval in &mut all[..disturbed] {
            interval.disturbed = vec!["switch".to_owned()];
        }
        all
    }

    fn launches(each: &[(usize, usize)]) -> Vec<Batch> {
        let numbered = (0..).zip(each);
        let all = numbered.map(|(i, (disturbed, calm))| launch(i, *disturbed, *calm));
        all.collect::<Vec<_>>().concat()
    }

    fn admitted(intervals: &[Batch], processes: u64) -> usize {
        let verdict = judge(intervals, processes);
        intervals.iter().filter(|i| verdict.admits(i)).count()
    }

    fn said(intervals: &[Batch]) -> Option<String> {
        judge(intervals, 1).note
    }

    #[test]
    fn disturbed_intervals_are_set_aside() {
        let mut some = launches(&[(4, 6)]);
        some[0].disturbed.push("fault".to_owned());
        assert_eq!(admitted(&some, 1), 6);
        let verdict = judge(&some, 1);
        assert_eq!((verdict.kinds["switch"], verdict.kinds["fault"]), (4, 1));
        assert_eq!((verdict.note, verdict.is_disturbed), (None, false));
    }

    /// A few undisturbed intervals of every launch are better than all intervals.
    #[test]
    fn where_every_launch_has_calm_ones_they_count_alone() {
        let most = launches(&[(20, 3), (50, 4)]);
        assert_eq!(admitted(&most, 1), 7);
        assert!(!judge(&most, 1).is_disturbed);
        assert_eq!(
            said(&most).as_deref(),
            Some("the machine is disturbed: 70 of 77 intervals (70 switch); only the others count")
        );
        // Two undisturbed intervals are enough for a launch that times only two.
        assert_eq!(admitted(&launches(&[(0, 2), (9, 3)]), 1), 5);
    }

    #[test]
    fn where_a_launch_has_none_all_count_and_it_is_said() {
        for few in [(8, 2), (10, 0), (1, 1)] {
            let all = launches(&[few, (5, 5)]);
            assert_eq!(admitted(&all, 1), all.len(), "{few:?}");
            assert!(judge(&all, 1).is_disturbed, "{few:?}");
        }
        assert_eq!(
            said(&launches(&[(5, 5), (10, 0)])).as_deref(),
            Some("the machine is disturbed: 15 of 20 intervals (15 switch); all of them count")
        );
    }

    #[test]
    fn faults_in_every_interval_name_may_fault() {
        let mut all = launches(&[(10, 0)]);
        for interval in &mut all {
            interval.disturbed = vec!["fault".to_owned()];
        }
        let note = said(&all).unwrap();
        assert!(note.contains("bool may_fault() { return true; }"), "{note}");
        all[0].disturbed = vec!["switch".to_owned()];
        let note = said(&all).unwrap();
        assert!(!note.contains("may_fault"), "{note}");
    }

    /// The confidence interval needs six launches. Disturbed launches beyond six may be left out.
    #[test]
    fn launches_beyond_those_that_are_needed_may_be_left_out() {
        let mut each = vec![(1, 10); 6];
        each.push((9, 2));
        let seven = launches(&each);
        assert_eq!(admitted(&seven, 1), 60);
        let verdict = judge(&seven, 1);
        assert!(!verdict.is_disturbed);
        assert_eq!(
            verdict.note.as_deref(),
            Some(
                "the machine is disturbed: 15 of 77 intervals (15 switch); only the others count, of 6 of 7 launches"
            )
        );
        each.remove(0);
        let six = launches(&each);
        assert_eq!(admitted(&six, 1), six.len());
        assert!(judge(&six, 1).is_disturbed);
    }

    /// The intervals of a circle differ from each other: a few of them are no sample of its tests.
    #[test]
    fn of_a_circle_most_must_be_calm() {
        let circle = |disturbed, calm| {
            let mut all = launches(&[(disturbed, calm)]);
            all.iter_mut().for_each(|i| i.group = Some(0));
            all
        };
        assert_eq!(admitted(&circle(4, 5), 1), 5);
        assert_eq!(admitted(&circle(5, 5), 1), 10);
        assert!(judge(&circle(5, 5), 1).is_disturbed);
    }

    #[test]
    fn under_load_nothing_is_set_aside() {
        let loaded = launches(&[(2, 8)]);
        assert_eq!(admitted(&loaded, 2), 10);
        let verdict = judge(&loaded, 2);
        assert_eq!((verdict.note, verdict.kinds["switch"]), (None, 2));
        assert!(!verdict.is_disturbed);
    }
}
