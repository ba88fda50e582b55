//! The timeline of contention: when another hardware thread used the core during a run.

use std::fmt::Write as _;

use maud::{Markup, html as markup};
use yamba_record::Run;
use yamba_record::number::number;

use crate::contention::{contended_sentence, probed};

/// Number of bars.
const SLOTS: usize = 120;
const HEIGHT: f64 = 60.0;

/// Height of the bar of a quiet part.
const LINE: f64 = 1.0;

/// The timelines of the runs that have a contended share worth a sentence.
pub fn timelines(runs: &[Run]) -> Markup {
    markup! { @for run in runs { (timeline(run)) } }
}

fn timeline(run: &Run) -> Markup {
    let Some(sentence) = contended_sentence(run) else {
        return markup! {};
    };
    let slots = Slots::new(run);
    let seconds = number(slots.seconds);
    markup! {
        figure.samples.timeline {
            svg viewBox={ "0 0 " (SLOTS) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label="Timeline of contention" {
                path d=(slots.path()) {}
            }
            figcaption {
                (sentence) " The bars are the share in each part of " (seconds) " s."
                @if slots.has_gaps() { " Parts without a bar have no probes." }
            }
        }
    }
}

/// Consecutive parts of the run, of equal duration.
struct Slots {
    /// Duration of a part.
    seconds: f64,
    /// The contended share of each part. `None` if nothing was probed.
    shares: Vec<Option<f64>>,
}

impl Slots {
    fn new(run: &Run) -> Slots {
        let end = probed(run).map(|(l, _)| l.started_ns + l.took_ns).max();
        let slot_ns = (end.unwrap_or(0) as f64 / SLOTS as f64).max(1.0);
        let mut sums = vec![(0.0, 0.0); SLOTS];
        for (launch, share) in probed(run) {
            let (begin, took) = (launch.started_ns as f64, launch.took_ns as f64);
            for (slot, (contended, total)) in sums.iter_mut().enumerate() {
                let from = begin.max(slot as f64 * slot_ns);
                let to = (begin + took).min((slot + 1) as f64 * slot_ns);
                let overlap = (to - from).max(0.0);
                *contended += share * overlap;
                *total += overlap;
            }
        }
        let share = |(contended, total): &(f64, f64)| (*total > 0.0).then(|| contended / total);
        Slots { seconds: slot_ns / 1e9, shares: sums.iter().map(share).collect() }
    }

    fn has_gaps(&self) -> bool {
        self.shares.contains(&None)
    }

    /// A bar for each probed part, from the bottom. A quiet part has a line, to differ from a gap.
    fn path(&self) -> String {
        let mut path = String::new();
        let probed = self.shares.iter().enumerate();
        for (slot, share) in probed.filter_map(|(slot, share)| Some((slot, (*share)?))) {
            let height = number((HEIGHT * share).max(LINE));
            let _ = write!(path, "M{slot} {HEIGHT}v-{height}h1v{height}z");
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::run::Launch;

    use super::*;

    #[test]
    fn parts_have_the_share_of_their_own_launches() {
        let text = include_str!("../../../../tests/records/every-kind.json");
        let mut run: Run = serde_json::from_str(text).unwrap();
        run.benchmarks.truncate(1);
        let launch = |started: u64, contended| Launch {
            started_ns: started * 1_000_000_000,
            took_ns: 30_000_000_000,
            contended: Some(contended),
            ..Launch::default()
        };
        run.benchmarks[0].launches = vec![launch(0, 0.0), launch(60, 0.8), launch(90, 0.4)];
        let slots = Slots::new(&run);
        assert_eq!((slots.seconds, slots.shares.len()), (1.0, 120));
        assert_eq!(slots.shares[29], Some(0.0));
        assert_eq!(slots.shares[30], None);
        assert_eq!([slots.shares[60], slots.shares[119]], [Some(0.8), Some(0.4)]);
        let page = timelines(&[run]).into_string();
        assert!(page.contains("The bars are the share in each part of 1 s."), "{page}");
        assert!(page.contains("M60 60v-48h1v48z"), "{page}");
        assert!(page.contains("M29 60v-1h1v1z"), "{page}");
        assert!(!page.contains("M30 60"), "{page}");
        assert!(page.contains("Parts without a bar have no probes."), "{page}");
    }
}
