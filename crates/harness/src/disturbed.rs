//! Discards batches that the system disturbed. Pure.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::number::number;
use yamba_record::{Batch, Workers};

use super::contention::agreement::QuietBatches;
use super::contention::{NEIGHBOUR, is_free_of_others};
use super::estimate::ENOUGH_LAUNCHES;

/// Fewest undisturbed batches of a launch that can replace all its batches.
const FEWEST: usize = 3;

/// For a figure beside neighbours: the fewest quiet batches of all launches, and their least share
/// in each launch, among the batches without another disturbance. A neighbour may work only between
/// two probes. If most batches are contended, most batches that look quiet are of this kind.
const FEWEST_QUIET: usize = 12;
const LEAST_QUIET: f64 = 0.1;

/// If more than two of three launches have a neighbour that comes and goes during each batch, the
/// others probably have it, too. That was so for 10 of 152 latencies of instructions beside such
/// neighbours. Of the 10, 5 were off by 0.3 to 2.9 %; of the other 142, 8 were.
const MOST_BLIND: (usize, usize) = (2, 3);

/// Added to the note when every batch took a page fault: then the benchmark itself is the likely
/// cause.
const MAY_FAULT: &str = "; if the benchmark takes page faults itself, add `bool may_fault() { return true; }` to the class";

/// The disturbances of an entry's batches and their consequences.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DisturbanceVerdict {
    /// Number of batches with each kind of disturbance.
    pub kinds: BTreeMap<String, u64>,
    /// Whether too few undisturbed batches were left, so that all count.
    pub is_disturbed: bool,
    /// Only undisturbed batches of these launches count; `None` if all batches count.
    calm: Option<BTreeSet<u64>>,
    /// A note for the reader of the figure.
    pub note: Option<String>,
}

impl DisturbanceVerdict {
    /// Whether this batch counts.
    pub fn admits(&self, batch: &Batch) -> bool {
        let is_calm =
            |calm: &BTreeSet<u64>| batch.disturbed.is_empty() && calm.contains(&batch.launch);
        self.calm.as_ref().is_none_or(is_calm)
    }

    /// The verdict of workers that share less time than they could use, by the CPU quota of their
    /// control group: then the quota stops them, and not other processes.
    pub fn under_quota(mut self, workers: Workers, quota: Option<f64>) -> DisturbanceVerdict {
        let count = workers.count();
        if let Some(quota) = quota.filter(|quota| workers.are_several() && *quota < count as f64) {
            let share = format!(
                "{count} {} share the time of {} processors, the CPU quota of the control group",
                workers.kinds(),
                number(quota)
            );
            self.note = Some(match self.kinds.get("queue").filter(|_| self.is_disturbed) {
                Some(queued) => format!(
                    "the machine is disturbed: {share}, and waited for it in {queued} batches; all of them count"
                ),
                None => share,
            });
        }
        self
    }
}

/// Chooses the batches that count. Where several workers run, none is discarded: their competition
/// is what is measured. `beside` has the launches beside a neighbour: no batch of a doubtful one
/// counts as calm, and those of an agreeing one do however few they are.
pub(super) fn judge(
    batches: &[Batch],
    workers: Workers,
    beside: &QuietBatches,
) -> DisturbanceVerdict {
    let blind = &beside.doubtful;
    let mut verdict = DisturbanceVerdict::default();
    for kind in batches.iter().flat_map(|i| &i.disturbed) {
        *verdict.kinds.entry(kind.clone()).or_default() += 1;
    }
    if verdict.kinds.is_empty() {
        return verdict;
    }
    if workers.are_several() {
        return judge_parallel(batches, verdict);
    }
    let mut launches: BTreeMap<u64, Vec<&Batch>> = BTreeMap::new();
    for batch in batches {
        launches.entry(batch.launch).or_default().push(batch);
    }
    let has_median_of_calm = |of: &[&Batch]| has_median(of, is_calm);
    let is_beside = |launch: &u64, of: &[&Batch]| {
        blind.contains(launch) || is_contended(of, beside.agreeing.contains(launch))
    };
    let calm = launches.iter();
    let calm = calm.filter(|(launch, of)| !is_beside(launch, of) && has_median_of_calm(of));
    let calm: BTreeSet<u64> = calm.map(|(launch, _)| *launch).collect();
    // Contended launches are left out of the required number of calm launches: a neighbour leaves
    // sooner than other kinds of disturbance end.
    let contended = launches.iter();
    let contended = contended.filter(|(launch, of)| is_beside(launch, of)).count();
    let wanted = (launches.len() - contended).clamp(1, ENOUGH_LAUNCHES);
    let is_mostly_blind = MOST_BLIND.1 * blind.len() > MOST_BLIND.0 * launches.len();
    verdict.is_disturbed =
        calm.len() < wanted || is_mostly_blind || has_too_few_quiet(batches, &calm);
    let disturbed = batches.iter().filter(|i| !is_calm(i)).count();
    // The run as a whole says how much of its time was contended.
    let by_others = batches.iter().filter(|i| !is_free_of_others(i)).count();
    let counted = match (
        verdict.is_disturbed,
        calm.len() + contended < launches.len(),
    ) {
        (true, _) if is_mostly_blind || (calm.is_empty() && !blind.is_empty()) => Some(
            "another hardware thread may have used the core in turns that are shorter than a batch; all of them count"
                .to_owned(),
        ),
        (true, _) => Some("all of them count".to_owned()),
        (_, true) => Some(format!(
            "only the others count, of {} of {} launches",
            calm.len(),
            launches.len()
        )),
        _ if 2 * by_others >= batches.len() => Some("only the others count".to_owned()),
        _ => None,
    };
    let total = batches.len();
    let fix = match verdict.kinds.get("fault") {
        Some(faults) if *faults == total as u64 => MAY_FAULT,
        _ => "",
    };
    verdict.note = counted.map(|counted| {
        let kinds = in_words(&verdict.kinds);
        format!(
            "the machine is disturbed: {disturbed} of {total} batches ({kinds}); {counted}{fix}"
        )
    });
    verdict.calm = (!verdict.is_disturbed).then_some(calm);
    verdict
}

/// Figures of parallel workers: all batches count. If others had the processor of a worker in half
/// of its batches, they decide its median, and the throughput of all.
fn judge_parallel(batches: &[Batch], mut verdict: DisturbanceVerdict) -> DisturbanceVerdict {
    let is_queued = |batch: &Batch| batch.disturbed.iter().any(|kind| kind == "queue");
    let mut workers: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for batch in batches {
        let [queued, all] = workers.entry((batch.process, batch.thread)).or_default();
        *queued += usize::from(is_queued(batch));
        *all += 1;
    }
    verdict.is_disturbed = workers.values().any(|[queued, all]| 2 * queued >= *all);
    let (queued, total) =
        (workers.values().map(|[queued, _]| queued).sum::<usize>(), batches.len());
    verdict.note = verdict.is_disturbed.then(|| {
        format!("the machine is disturbed: other processes had a processor in {queued} of {total} batches; all of them count")
    });
    verdict
}

/// Whether a launch has enough calm batches for its median. Batches of a circle are of different
/// tests: more than half must be calm.
fn has_median(launch: &[&Batch], is_calm: impl Fn(&Batch) -> bool) -> bool {
    let calm = launch.iter().filter(|i| is_calm(i)).count();
    if launch.iter().any(|i| i.group.is_some()) {
        return 2 * calm > launch.len();
    }
    calm >= FEWEST.min(launch.len())
}

/// Whether a launch has too few undisturbed batches only because of a neighbour.
fn is_contended(launch: &[&Batch], is_agreeing: bool) -> bool {
    let count = |counts: &dyn Fn(&Batch) -> bool| launch.iter().filter(|b| counts(b)).count();
    let is_rare = (count(&is_calm) as f64) < LEAST_QUIET * count(&is_free_of_others) as f64;
    ((is_rare && !is_agreeing) || !has_median(launch, is_calm))
        && has_median(launch, is_free_of_others)
}

fn is_calm(batch: &Batch) -> bool {
    batch.disturbed.is_empty()
}

/// Whether neighbours left only few quiet batches in the `calm` launches. A neighbour that the
/// probes did not see may then decide the figure.
fn has_too_few_quiet(batches: &[Batch], calm: &BTreeSet<u64>) -> bool {
    if !batches.iter().any(|b| b.disturbed.iter().any(|kind| kind == NEIGHBOUR)) {
        return false;
    }
    let of_calm = batches.iter().filter(|b| calm.contains(&b.launch));
    let free = of_calm.clone().filter(|b| is_free_of_others(b)).count();
    let quiet = of_calm.filter(|b| is_calm(b)).count();
    quiet < FEWEST_QUIET.min(free.div_ceil(2))
}

/// `12 switch, 3 fault`
fn in_words(kinds: &BTreeMap<String, u64>) -> String {
    let each = kinds.iter().map(|(kind, n)| format!("{n} {kind}"));
    each.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_figure_is_disturbed_if_others_run_in_half_of_the_batches_of_a_worker() {
        // Two workers, each with ten batches; the first `queued` of one are disturbed.
        let verdict = |queued: usize| {
            let mut all = vec![Batch::default(); 20];
            for (index, batch) in all.iter_mut().enumerate() {
                batch.process = index as u64 / 10;
                let kind = (index < queued).then(|| "queue".to_owned());
                batch.disturbed = kind.into_iter().collect();
            }
            judge(&all, Workers { processes: 2, threads: 1 }, &QuietBatches::default())
        };
        assert!(!verdict(4).is_disturbed && verdict(4).note.is_none());
        assert!(verdict(5).is_disturbed && verdict(5).note.unwrap().contains("in 5 of 20 batches"));
        // All count.
        assert_eq!(verdict(5).calm, None);
    }

    #[test]
    fn quota_of_parallel_workers_is_named_instead_of_other_processes() {
        let queued = Batch { disturbed: vec!["queue".to_owned()], ..Batch::default() };
        let note = |batches: &[Batch], workers: Workers, quota: f64| {
            let verdict = judge(batches, workers, &QuietBatches::default());
            verdict.under_quota(workers, Some(quota)).note.unwrap_or_default()
        };
        let (two, batches) = (Workers::processes(2), vec![queued; 24]);
        let named = note(&batches, two, 0.5);
        assert!(named.contains("2 processes share the time of 0.5 processors"), "{named}");
        assert!(named.contains("in 24 batches") && !named.contains("other processes"), "{named}");
        assert!(note(&batches, two, 2.0).contains("other processes"));
        assert_eq!(note(&[Batch::default()], Workers::ONE, 0.5), "");
        let calm = note(&[Batch::default()], Workers::threads(4), 1.5);
        assert!(calm.starts_with("4 threads share the time of 1.5 processors"), "{calm}");
    }

    /// The batches of a launch: first `disturbed` disturbed ones, then `calm` calm ones.
    fn launch(number: u64, disturbed: usize, calm: usize) -> Vec<Batch> {
        let own = Batch { launch: number, ..Batch::default() };
        let mut all = vec![own; disturbed + calm];
        for batch in &mut all[..disturbed] {
            batch.disturbed = vec!["switch".to_owned()];
        }
        all
    }

    fn launches(each: &[(usize, usize)]) -> Vec<Batch> {
        let numbered = (0..).zip(each);
        let all = numbered.map(|(i, (disturbed, calm))| launch(i, *disturbed, *calm));
        all.collect::<Vec<_>>().concat()
    }

    fn admitted(batches: &[Batch], processes: u64) -> usize {
        let verdict = judge(batches, Workers::processes(processes), &QuietBatches::default());
        batches.iter().filter(|i| verdict.admits(i)).count()
    }

    fn doubtful(count: u64) -> QuietBatches {
        QuietBatches { doubtful: (0..count).collect(), ..QuietBatches::default() }
    }

    fn said(batches: &[Batch]) -> Option<String> {
        judge(batches, Workers::ONE, &QuietBatches::default()).note
    }

    #[test]
    fn disturbed_batches_are_discarded() {
        let mut some = launches(&[(4, 6)]);
        some[0].disturbed.push("fault".to_owned());
        assert_eq!(admitted(&some, 1), 6);
        let verdict = judge(&some, Workers::ONE, &QuietBatches::default());
        assert_eq!((verdict.kinds["switch"], verdict.kinds["fault"]), (4, 1));
        assert_eq!((verdict.note, verdict.is_disturbed), (None, false));
    }

    /// A few undisturbed batches of every launch are better than all batches.
    #[test]
    fn only_undisturbed_batches_count_if_every_launch_has_some() {
        let most = launches(&[(20, 3), (50, 4)]);
        assert_eq!(admitted(&most, 1), 7);
        assert!(!judge(&most, Workers::ONE, &QuietBatches::default()).is_disturbed);
        assert_eq!(
            said(&most).as_deref(),
            Some("the machine is disturbed: 70 of 77 batches (70 switch); only the others count")
        );
        // Two undisturbed batches are enough for a launch that times only two.
        assert_eq!(admitted(&launches(&[(0, 2), (9, 3)]), 1), 5);
    }

    #[test]
    fn all_batches_count_if_too_few_are_undisturbed() {
        for few in [(8, 2), (10, 0), (1, 1)] {
            let all = launches(&[few, (5, 5)]);
            assert_eq!(admitted(&all, 1), all.len(), "{few:?}");
            assert!(judge(&all, Workers::ONE, &QuietBatches::default()).is_disturbed, "{few:?}");
        }
        assert_eq!(
            said(&launches(&[(5, 5), (10, 0)])).as_deref(),
            Some("the machine is disturbed: 15 of 20 batches (15 switch); all of them count")
        );
    }

    #[test]
    fn page_fault_in_every_batch_suggests_may_fault() {
        let mut all = launches(&[(10, 0)]);
        for batch in &mut all {
            batch.disturbed = vec!["fault".to_owned()];
        }
        let note = said(&all).unwrap();
        assert!(note.contains("bool may_fault() { return true; }"), "{note}");
        // The suggested fix for page faults stays in the note beside a neighbour.
        for batch in &mut all {
            batch.disturbed.push("neighbour".to_owned());
        }
        let note = judge(&all, Workers::ONE, &doubtful(1)).note.unwrap();
        assert!(note.contains("another hardware thread"), "{note}");
        assert!(note.contains("bool may_fault()"), "{note}");
        all[0].disturbed = vec!["switch".to_owned()];
        let note = said(&all).unwrap();
        assert!(!note.contains("may_fault"), "{note}");
    }

    #[test]
    fn few_launches_beside_blind_ones_do_not_count() {
        let six = launches(&[(1, 10); 6]);
        let with_blind = |count: u64| judge(&six, Workers::ONE, &doubtful(count));
        assert!(!with_blind(4).is_disturbed);
        let verdict = with_blind(5);
        assert!(verdict.is_disturbed);
        assert!(verdict.note.unwrap().contains("shorter than a batch; all of them count"));
    }

    /// The confidence interval needs six launches. Disturbed launches beyond six may be left out.
    #[test]
    fn surplus_disturbed_launches_are_left_out() {
        let mut each = vec![(1, 10); 6];
        each.push((9, 2));
        let seven = launches(&each);
        assert_eq!(admitted(&seven, 1), 60);
        let verdict = judge(&seven, Workers::ONE, &QuietBatches::default());
        assert!(!verdict.is_disturbed);
        assert_eq!(
            verdict.note.as_deref(),
            Some(
                "the machine is disturbed: 15 of 77 batches (15 switch); only the others count, of 6 of 7 launches"
            )
        );
        each.remove(0);
        let six = launches(&each);
        assert_eq!(admitted(&six, 1), six.len());
        assert!(judge(&six, Workers::ONE, &QuietBatches::default()).is_disturbed);
    }

    /// The batches of a circle differ from each other: a few of them are no sample of its tests.
    #[test]
    fn circle_needs_mostly_undisturbed_batches() {
        let circle = |disturbed, calm| {
            let mut all = launches(&[(disturbed, calm)]);
            all.iter_mut().for_each(|i| i.group = Some(0));
            all
        };
        assert_eq!(admitted(&circle(4, 5), 1), 5);
        assert_eq!(admitted(&circle(5, 5), 1), 10);
        assert!(judge(&circle(5, 5), Workers::ONE, &QuietBatches::default()).is_disturbed);
    }

    #[test]
    fn no_batch_is_discarded_under_load() {
        let loaded = launches(&[(2, 8)]);
        assert_eq!(admitted(&loaded, 2), 10);
        let verdict = judge(&loaded, Workers::threads(2), &QuietBatches::default());
        assert_eq!((verdict.note, verdict.kinds["switch"]), (None, 2));
        assert!(!verdict.is_disturbed);
    }
}
