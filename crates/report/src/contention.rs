//! How much of a run's time another hardware thread used the same core.

use yamba_record::run::Launch;
use yamba_record::{Benchmark, Run};

/// Shares below this are not worth a sentence: single interrupts lengthen probes, too.
const WORTH_SAYING: f64 = 0.02;

/// The kind of disturbance of a batch beside a neighbour.
const NEIGHBOUR: &str = "neighbour";

/// The share of the probed time in which another hardware thread used the core, from 0 to 1. `None`
/// if the run has no probes, or no quiet width.
fn contended_share(run: &Run) -> Option<f64> {
    let (mut contended, mut total) = (0.0, 0.0);
    for (launch, share) in probed(run) {
        let took = launch.took_ns as f64;
        contended += share * took;
        total += took;
    }
    (total > 0.0).then(|| contended / total)
}

/// The launches with probes, and their contended shares.
pub(crate) fn probed(run: &Run) -> impl Iterator<Item = (&Launch, f64)> {
    let launches = run.benchmarks.iter().flat_map(|b| &b.launches);
    launches.filter_map(|l| Some((l, l.contended?)))
}

/// The contended share of a figure that a neighbour disturbed. `None` for other figures: switches
/// and faults may disturb one, too.
pub fn disturbing_share(benchmark: &Benchmark) -> Option<f64> {
    // An inferred figure has no kinds of disturbance: only a neighbour disturbs it.
    let kinds = &benchmark.interference.disturbed;
    let is_by_neighbour =
        benchmark.interference.is_disturbed && (kinds.is_empty() || kinds.contains_key(NEIGHBOUR));
    let share = benchmark.interference.contended.filter(|s| *s >= WORTH_SAYING)?;
    is_by_neighbour.then_some(share)
}

/// Sentences about neighbours of a run, and about processes that traced the kernel meanwhile.
/// `None` if their share is negligible or unknown.
pub fn disturbance_sentences(run: &Run) -> Option<String> {
    let all: Vec<String> = of_neighbours(run).into_iter().chain(of_tracers(run)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn of_tracers(run: &Run) -> Option<String> {
    let tracers = &run.machine.details.as_ref()?.load.tracers;
    let names = tracers.iter().map(|t| format!("`{}`", t.name.as_deref().unwrap_or("unknown")));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "The kernel ran programs of {} at its trace points: system calls, page faults and switches may have taken longer (`yamba machine` lists them).",
            names.join(", ")
        )
    })
}

fn of_neighbours(run: &Run) -> Option<String> {
    if run.plan.counts_neighbours {
        let text = "Batches beside another hardware thread count (YAMBA_NEIGHBOURS=count): figures may be far too high.";
        return Some(text.to_owned());
    }
    contended_sentence(run)
}

/// A sentence about the contended share of a run. `None` if it is negligible or unknown.
pub(crate) fn contended_sentence(run: &Run) -> Option<String> {
    let share = contended_share(run).filter(|s| *s >= WORTH_SAYING)?;
    let marked = run.benchmarks.iter();
    let marked: Vec<&Benchmark> = marked.filter(|b| disturbing_share(b).is_some()).collect();
    let consequence = match marked.len() {
        0 => "the batches of that time are discarded".to_owned(),
        1 => format!("1 figure is disturbed by it{}", bounded(&marked)),
        n => format!("{n} figures are disturbed by it{}", bounded(&marked)),
    };
    let percent = (share * 100.0).round();
    Some(format!(
        "Another hardware thread used the same core for {percent} % of the time: {consequence}."
    ))
}

/// How many of the disturbed figures can be used by their intervals.
fn bounded(disturbed: &[&Benchmark]) -> String {
    let bounded = disturbed.iter().filter(|b| b.is_sound()).count();
    match (bounded, disturbed.len()) {
        (0, _) => String::new(),
        (1, 1) => "; its interval also holds the value of a quiet machine".to_owned(),
        (all, of) if all == of => {
            "; their intervals also hold the values of a quiet machine".to_owned()
        }
        (some, _) => format!("; the intervals of {some} also hold the value of a quiet machine"),
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;
    use yamba_record::machine::Details;
    use yamba_record::machine::details::Tracer;

    use super::*;

    fn run(launches: &[(u64, Option<f64>)], is_disturbed: bool) -> Run {
        let mut run: Run =
            serde_json::from_str(include_str!("../../../tests/records/every-kind.json")).unwrap();
        run.benchmarks.truncate(1);
        let entry = &mut run.benchmarks[0];
        let launch = |(took_ns, contended): &(u64, Option<f64>)| Launch {
            took_ns: *took_ns,
            contended: *contended,
            ..Launch::default()
        };
        entry.launches = launches.iter().map(launch).collect();
        entry.interference.is_disturbed = is_disturbed;
        entry.interference.contended = Some(0.5);
        entry.interference.disturbed = [(NEIGHBOUR.to_owned(), 7)].into();
        run
    }

    #[test]
    fn share_is_weighted_by_time_and_said_if_it_matters() {
        let some = run(&[(100, Some(0.9)), (300, Some(0.1)), (1000, None)], false);
        assert_eq!(contended_share(&some), Some(0.3));
        assert_eq!(
            contended_sentence(&some).as_deref(),
            Some(
                "Another hardware thread used the same core for 30 % of the time: the batches of that time are discarded."
            )
        );
        let most = contended_sentence(&run(&[(100, Some(1.0))], true)).unwrap();
        assert!(most.ends_with("100 % of the time: 1 figure is disturbed by it."), "{most}");
        let mut bounded = run(&[(100, Some(1.0))], true);
        bounded.benchmarks[0].interference.is_bounded = true;
        let text = contended_sentence(&bounded).unwrap();
        assert!(
            text.ends_with("; its interval also holds the value of a quiet machine."),
            "{text}"
        );
        bounded.benchmarks.push(bounded.benchmarks[0].clone());
        let text = contended_sentence(&bounded).unwrap();
        assert!(
            text.contains("2 figures are disturbed by it; their intervals also hold"),
            "{text}"
        );
        bounded.benchmarks[0].interference.is_bounded = false;
        let text = contended_sentence(&bounded).unwrap();
        assert!(text.contains("; the intervals of 1 also hold"), "{text}");
        assert_eq!(contended_sentence(&run(&[(100, Some(0.01))], false)), None);
        assert_eq!(contended_share(&run(&[(100, None)], false)), None);
    }

    #[test]
    fn figure_is_disturbed_by_its_own_kinds() {
        let mut run = run(&[(100, Some(0.4))], true);
        let entry = &mut run.benchmarks[0];
        assert_eq!(disturbing_share(entry), Some(0.5));
        // A probe that a context switch lengthened is no neighbour.
        entry.interference.contended = Some(0.003);
        assert_eq!(disturbing_share(entry), None);
        entry.interference.contended = Some(0.5);
        entry.interference.disturbed = [("switch".to_owned(), 30)].into();
        assert_eq!(disturbing_share(entry), None);
        let sentence = contended_sentence(&run).unwrap();
        assert!(sentence.ends_with("of that time are discarded."), "{sentence}");
        // A neighbour that disturbs an inferred figure has no batches.
        run.benchmarks[0].interference.disturbed.clear();
        assert_eq!(disturbing_share(&run.benchmarks[0]), Some(0.5));
    }

    #[test]
    fn run_that_counts_neighbours_says_so() {
        let mut run = run(&[(100, Some(0.4))], true);
        assert_eq!(disturbance_sentences(&run), contended_sentence(&run));
        run.plan.counts_neighbours = true;
        let sentence = disturbance_sentences(&run).unwrap();
        assert!(sentence.contains("YAMBA_NEIGHBOURS=count"), "{sentence}");
    }

    #[test]
    fn processes_that_trace_the_kernel_are_named() {
        let mut run = Run::new(Machine::default());
        assert_eq!(disturbance_sentences(&run), None);
        let mut details = Details::default();
        let name = Some("agent".to_owned());
        details.load.tracers = vec![Tracer { name, ..Tracer::default() }];
        run.machine.details = Some(Box::new(details));
        let text = disturbance_sentences(&run).unwrap();
        assert!(
            text.starts_with("The kernel ran programs of `agent` at its trace points"),
            "{text}"
        );
    }
}
