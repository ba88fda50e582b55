//! Intervals of figures with few launches that hold the figure of the next run. Pure.
//!
//! Two launches show little of the variance between launches. But a run has many figures, and these variances have a
//! distribution: it is estimated from all figures of the run, and moderates the variance of each (`yamba_stats::VariancePrior`).

use yamba_record::run::{IntervalScope, Launch};
use yamba_record::{Benchmark, Status};
use yamba_stats::{
    GroupVariance, NORMAL_SCALE, VariancePrior, median_absolute_deviation, median_interval,
    variance,
};

use super::estimate::{CONFIDENCE, ENOUGH_LAUNCHES};

/// Probability that an interval holds the figure of the next run with as many launches.
const NEXT_RUN: f64 = 0.9;

/// The fewest figures with two launches or more that tell the distribution of their variances. With fewer, `USUAL` stands for it.
const ENOUGH_FIGURES: usize = 30;

/// The distribution if a run has too few figures: launches differ by as much as the batches of one launch do, with heavy tails. Fitted to runs of the
/// suite on two other machines, the slope is 0.86 and 0.99, the intercept -1.0 and 0.2, and the degrees of freedom 1.0 and 1.2.
const USUAL: VariancePrior = VariancePrior {
    intercept: 0.0,
    slope: 1.0,
    degrees: 1.2,
};

/// Launches disagree if at most this share of comparable figures has launches so far apart.
const DISAGREE: f64 = 0.05;

/// Smallest relative deviation within launches that is taken for real: batches of a chain of instructions agree better than the clock resolves them.
const FINEST: f64 = 1e-4;

/// The launches of a figure, on the logarithmic scale: the effects of a launch are factors.
struct LaunchSpread {
    launches: usize,
    /// The variance between launches. Its covariate is the logarithm of the variance within them.
    between: GroupVariance,
}

/// Widens the intervals of the entries with few launches, and marks entries whose launches disagree. The entries need no batches.
pub(super) fn enter(entries: &mut [Benchmark]) {
    let value = |launch: &Launch| launch.median;
    let cycles = |launch: &Launch| launch.cycles;
    let values = Spreads::new(entries, value);
    let in_cycles = Spreads::new(entries, cycles);
    for (i, entry) in entries.iter_mut().enumerate() {
        if let Some(spread) = &values.of_entries[i] {
            entry.launches_disagree = values.disagree(spread) && are_apart(entry);
            if spread.launches < ENOUGH_LAUNCHES {
                widen(entry, values.half_width(spread));
            }
        }
        if let (Some(spread), Some(figure)) = (&in_cycles.of_entries[i], &mut entry.cycles)
            && spread.launches < ENOUGH_LAUNCHES
            && let Some(half) = in_cycles.half_width(spread)
        {
            figure.confidence_interval = at_least(figure.confidence_interval, figure.median, half);
        }
    }
}

fn widen(entry: &mut Benchmark, half: Option<f64>) {
    if let (Some(half), Some(median), Some(interval)) =
        (half, entry.median, entry.confidence_interval)
    {
        entry.confidence_interval = Some(at_least(interval, median, half));
        entry.interval_scope = Some(IntervalScope::BetweenRuns);
    }
}

/// The interval, and at least a factor of `exp(half)` on each side of the median.
fn at_least([low, high]: [f64; 2], median: f64, half: f64) -> [f64; 2] {
    [
        low.min(median * (-half).exp()),
        high.max(median * half.exp()),
    ]
}

/// The spreads of all entries, and the distribution of their variances.
struct Spreads {
    of_entries: Vec<Option<LaunchSpread>>,
    prior: VariancePrior,
}

impl Spreads {
    fn new(entries: &[Benchmark], value: impl Fn(&Launch) -> Option<f64>) -> Spreads {
        let of_entries: Vec<Option<LaunchSpread>> = entries
            .iter()
            .map(|e| LaunchSpread::new(e, &value))
            .collect();
        let groups = of_entries.iter().flatten().map(|s| s.between);
        let groups: Vec<GroupVariance> = groups.filter(|g| g.degrees > 0.0).collect();
        let own = (groups.len() >= ENOUGH_FIGURES).then(|| VariancePrior::fit(&groups));
        Spreads {
            of_entries,
            prior: own.flatten().unwrap_or(USUAL),
        }
    }

    /// Half the width of the interval, on the logarithmic scale. The next figure and this one each have the variance of a mean of launches.
    fn half_width(&self, spread: &LaunchSpread) -> Option<f64> {
        let factor = 2.0 / spread.launches as f64;
        self.prior
            .moderate(spread.between)
            .half_width(factor, NEXT_RUN)
    }

    fn disagree(&self, spread: &LaunchSpread) -> bool {
        let share = self.prior.upper_tail(spread.between);
        share.is_some_and(|share| share < DISAGREE)
    }
}

impl LaunchSpread {
    /// `None` for a figure that is not a number above 0, or whose batches do not show their spread: those of an inferred figure have none.
    fn new(entry: &Benchmark, value: impl Fn(&Launch) -> Option<f64>) -> Option<LaunchSpread> {
        if entry.status != Status::Ok || entry.lowest_curve.is_some() {
            return None;
        }
        let medians: Vec<f64> = entry.launches.iter().filter_map(value).collect();
        if medians.is_empty() || medians.iter().any(|m| *m <= 0.0) {
            return None;
        }
        let logarithms: Vec<f64> = medians.iter().map(|m| m.ln()).collect();
        let within = variance_within(entry)?;
        Some(LaunchSpread {
            launches: medians.len(),
            between: GroupVariance {
                variance: variance(&logarithms).unwrap_or(0.0),
                degrees: medians.len() as f64 - 1.0,
                covariate: (within + FINEST * FINEST).ln(),
            },
        })
    }
}

/// The samples of each launch.
fn by_launch(entry: &Benchmark) -> Option<Vec<&[f64]>> {
    let mut rest = entry.samples.as_slice();
    let mut all = Vec::new();
    for launch in &entry.launches {
        let (own, others) = rest.split_at_checked(usize::try_from(launch.samples).ok()?)?;
        all.push(own);
        rest = others;
    }
    rest.is_empty().then_some(all)
}

/// The relative variance of the samples within launches, from their median absolute deviation. `None` for less than two samples in each launch, and
/// for samples that are all equal, such as those of a size.
fn variance_within(entry: &Benchmark) -> Option<f64> {
    let first = entry.samples.first()?;
    if entry.samples.iter().all(|s| s == first) {
        return None;
    }
    let launches = by_launch(entry)?;
    let variances = launches
        .iter()
        .filter(|own| own.len() > 1)
        .filter_map(|own| {
            let deviation = NORMAL_SCALE * median_absolute_deviation(own)?;
            Some((deviation / yamba_stats::median(own)?).powi(2))
        });
    let variances: Vec<f64> = variances.filter(|v| v.is_finite()).collect();
    yamba_stats::mean(&variances)
}

/// Whether the intervals of two launches, each from its own samples, have no common value.
fn are_apart(entry: &Benchmark) -> bool {
    let launches = by_launch(entry).unwrap_or_default();
    let intervals = launches
        .iter()
        .filter_map(|own| median_interval(own, CONFIDENCE));
    let (highest_low, lowest_high) = intervals.fold((f64::MIN, f64::MAX), |(low, high), own| {
        (low.max(own.low), high.min(own.high))
    });
    highest_low > lowest_high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::no_figure;

    /// A figure whose launches have these medians, each with samples that deviate by `within` of it.
    fn figure(medians: &[f64], within: f64) -> Benchmark {
        let steps = [-1.5, -0.7, 0.0, 0.7, 1.5];
        let mut samples = Vec::new();
        for median in medians {
            samples.extend(steps.map(|step| median * (1.0 + within * step)));
        }
        let interval = median_interval(&samples, CONFIDENCE).unwrap();
        Benchmark {
            status: Status::Ok,
            median: yamba_stats::median(&samples),
            confidence_interval: Some([interval.low, interval.high]),
            interval_scope: Some(IntervalScope::WithinLaunches),
            launches: medians.iter().map(|m| launch(*m)).collect(),
            samples,
            ..no_figure("sample")
        }
    }

    fn launch(median: f64) -> Launch {
        Launch {
            median: Some(median),
            samples: 5,
            ..Launch::default()
        }
    }

    /// The relative half width of the interval.
    fn half(entry: &Benchmark) -> f64 {
        let [low, high] = entry.confidence_interval.unwrap();
        (high / low).ln() / 2.0
    }

    /// A run of figures whose launches differ by a quarter of the deviation within them.
    fn run() -> Vec<Benchmark> {
        let within = |i: usize| 1e-3 * 1.1f64.powi(i as i32);
        let one = |i: usize| figure(&[100.0, 100.0 * (1.0 + within(i) / 4.0)], within(i));
        (0..40).map(one).collect()
    }

    #[test]
    fn interval_of_two_launches_follows_the_other_figures() {
        let mut calm = run();
        enter(&mut calm);
        let mut wild = run();
        for entry in &mut wild {
            let deviation = variance_within(entry).unwrap().sqrt();
            *entry = figure(&[100.0, 100.0 * (1.0 + 8.0 * deviation)], deviation);
        }
        wild[7] = run()[7].clone();
        enter(&mut wild);
        assert_eq!(calm[7].interval_scope, Some(IntervalScope::BetweenRuns));
        assert_eq!(calm[7].median, wild[7].median);
        assert!(half(&wild[7]) > 4.0 * half(&calm[7]));
    }

    #[test]
    fn interval_is_never_narrower_than_before() {
        let mut entries = run();
        entries[3].confidence_interval = Some([1.0, 101.0]);
        let before = entries.clone();
        enter(&mut entries);
        for (old, new) in before.iter().zip(&entries) {
            let ([a, b], [c, d]) = (
                old.confidence_interval.unwrap(),
                new.confidence_interval.unwrap(),
            );
            assert!(c <= a && d >= b, "{a} {b} {c} {d}");
        }
        assert_eq!(entries[3].confidence_interval.unwrap()[0], 1.0);
    }

    #[test]
    fn launches_far_apart_are_marked() {
        let mut entries = run();
        entries[0] = figure(&[100.0, 130.0], 1e-3);
        entries[1] = figure(&[100.0, 100.0, 130.0, 100.0, 130.0, 130.0], 1e-3);
        enter(&mut entries);
        let marked = entries.iter().filter(|e| e.launches_disagree).count();
        assert_eq!(marked, 2);
        assert!(entries[0].launches_disagree && entries[1].launches_disagree);
        // Six launches keep their own interval.
        assert_eq!(
            entries[1].interval_scope,
            Some(IntervalScope::WithinLaunches)
        );
        assert!(half(&entries[0]) > 0.25);
    }

    /// A figure alone has the usual distribution: its launches differ as its batches do.
    #[test]
    fn figure_alone_has_an_interval_between_runs() {
        for medians in [&[100.0][..], &[100.0, 100.1]] {
            let mut entries = [figure(medians, 0.001)];
            enter(&mut entries);
            let scope = entries[0].interval_scope;
            assert_eq!(scope, Some(IntervalScope::BetweenRuns));
            assert!((0.001..0.02).contains(&half(&entries[0])));
        }
    }

    /// Nothing is known of the spread of a size, of an inferred figure, or of a figure that is not above 0.
    #[test]
    fn figures_without_spread_stay_as_they_are() {
        let size = figure(&[64.0, 64.0], 0.0);
        let negative = figure(&[-1.0, 2.0], 0.1);
        let mut invalid = figure(&[1.0, 2.0], 0.1);
        invalid.status = Status::Invalid;
        let mut inferred = figure(&[1.0, 2.0], 0.1);
        inferred.lowest_curve = Some(yamba_record::event::LowestCurve {
            name: "latency".to_owned(),
            x_unit: "B".to_owned(),
            x: Vec::new(),
            ns: Vec::new(),
        });
        let before = [size, negative, invalid, inferred, no_figure("none")];
        let mut after = before.clone();
        enter(&mut after);
        assert_eq!(after, before);
    }

    #[test]
    fn cycles_have_their_own_interval() {
        let mut entries = run();
        for entry in &mut entries {
            for (launch, cycles) in entry.launches.iter_mut().zip([300.0, 300.1]) {
                launch.cycles = Some(cycles);
            }
            entry.cycles = Some(yamba_record::run::Cycles {
                median: 300.05,
                confidence_interval: [300.0, 300.1],
            });
        }
        enter(&mut entries);
        let [low, high] = entries[20].cycles.unwrap().confidence_interval;
        assert!(low < 300.0 && high > 300.1, "{low} {high}");
        assert!((high / low).ln() / 2.0 < half(&entries[20]));
    }
}
