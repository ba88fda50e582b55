//! Which intervals are set aside because the system disturbed them. Pure.

use std::collections::BTreeMap;

use yamba_record::Interval;

/// What the disturbances of an entry's intervals amount to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// How often each kind was seen.
    pub kinds: BTreeMap<String, u64>,
    /// Whether disturbed intervals are set aside. Not under load, where others are what is measured; nor where most are
    /// disturbed: the few others would be no sample of this machine.
    pub sets_aside: bool,
    /// What a reader must know.
    pub note: Option<String>,
}

impl Verdict {
    /// Whether this interval may count.
    pub fn admits(&self, interval: &Interval) -> bool {
        !self.sets_aside || interval.disturbed.is_empty()
    }
}

pub(super) fn judge(intervals: &[Interval], processes: u64) -> Verdict {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for kind in intervals.iter().flat_map(|i| &i.disturbed) {
        *kinds.entry(kind.clone()).or_default() += 1;
    }
    let total = intervals.len();
    let disturbed = intervals.iter().filter(|i| !i.disturbed.is_empty());
    let disturbed = disturbed.count();
    let alone = processes == 1;
    let most = alone && disturbed > 0 && 2 * disturbed >= total;
    let note = most.then(|| {
        format!(
            "the machine is disturbed: {disturbed} of {total} intervals ({}); all of them count",
            in_words(&kinds)
        )
    });
    Verdict {
        kinds,
        sets_aside: alone && !most,
        note,
    }
}

/// `12 switch, 3 fault`
fn in_words(kinds: &BTreeMap<String, u64>) -> String {
    let each = kinds.iter().map(|(kind, n)| format!("{n} {kind}"));
    each.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(disturbed: usize, calm: usize) -> Vec<Interval> {
        let mut all = vec![Interval::default(); disturbed + calm];
        for (i, interval) in all[..disturbed].iter_mut().enumerate() {
            let kinds: &[&str] = if i == 0 {
                &["fault", "switch"]
            } else {
                &["switch"]
            };
            interval.disturbed = kinds.iter().map(|k| (*k).to_owned()).collect();
        }
        all
    }

    fn admitted(intervals: &[Interval], processes: u64) -> usize {
        let verdict = judge(intervals, processes);
        intervals.iter().filter(|i| verdict.admits(i)).count()
    }

    #[test]
    fn a_few_are_set_aside() {
        let some = intervals(4, 5);
        assert_eq!(admitted(&some, 1), 5);
        let verdict = judge(&some, 1);
        assert_eq!((verdict.kinds["switch"], verdict.kinds["fault"]), (4, 1));
        assert_eq!(verdict.note, None);
    }

    #[test]
    fn where_most_are_disturbed_all_count_and_it_is_said() {
        let most = intervals(5, 5);
        assert_eq!(admitted(&most, 1), 10);
        assert_eq!(
            judge(&most, 1).note.as_deref(),
            Some(
                "the machine is disturbed: 5 of 10 intervals (1 fault, 5 switch); all of them count"
            )
        );
    }

    #[test]
    fn under_load_nothing_is_set_aside() {
        let loaded = intervals(2, 8);
        assert_eq!(admitted(&loaded, 2), 10);
        let verdict = judge(&loaded, 2);
        assert_eq!((verdict.note, verdict.kinds["switch"]), (None, 2));
    }
}
