//! Intervals that hold the figure of the next run. Pure.
//!
//! Two launches show little of the variance between launches. But a run has many figures, and these
//! variances have a distribution: it is estimated from all figures of the run, and moderates the
//! variance of each (`yamba_stats::VariancePrior`). Where there are figures of earlier runs, their
//! variance between runs is taken in the same way: launches of one run are more alike than those of
//! two.

use yamba_record::run::{IntervalScope, Launch};
use yamba_record::{Benchmark, Status};
use yamba_stats::{
    GroupVariance, NORMAL_SCALE, VariancePrior, median_absolute_deviation, median_interval,
    variance,
};

use super::earlier_figures::{EarlierFigure, EarlierFigures};
use super::estimate::{CONFIDENCE, ENOUGH_LAUNCHES};

/// Probability that an interval holds the figure of the next run with as many launches.
const NEXT_RUN: f64 = 0.9;

/// Most earlier figures that count. The machine of long ago says little.
const MOST_RUNS: usize = 10;

/// Variance of a median, as a multiple of that of a mean of as many normal values; the limit for
/// many. Up to two launches the two are the same.
const MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// The fewest figures that tell the distribution of their variances. With fewer, `USUAL` stands for
/// it.
const ENOUGH_FIGURES: usize = 30;

/// The distribution if a run has too few figures: launches differ by as much as the batches of one
/// launch do, with heavy tails. Fitted to runs of the suite on two other machines, the slope is
/// 0.86 and 0.99, the intercept -1.0 and 0.2, and the degrees of freedom 1.0 and 1.2.
const USUAL: VariancePrior = VariancePrior { intercept: 0.0, slope: 1.0, degrees: 1.2 };

/// Launches disagree if at most this share of comparable figures has launches so far apart.
const DISAGREE: f64 = 0.05;

/// Smallest relative deviation within launches that is taken for real: batches of a chain of
/// instructions agree better than the clock resolves them.
const FINEST: f64 = 1e-4;

/// The spread of a figure on the logarithmic scale: the effects of a launch and of a run are
/// factors.
struct FigureSpread {
    launches: usize,
    /// The variance between launches. Its covariate is the logarithm of the variance within them.
    between_launches: GroupVariance,
    /// The variance between this figure and those of earlier runs, with the same covariate.
    between_runs: Option<GroupVariance>,
}

/// Widens the intervals of the entries, and marks entries whose launches disagree. Returns which
/// entries have changed.
pub(super) fn enter(entries: &mut [Benchmark], earlier: &EarlierFigures) -> Vec<bool> {
    let values = Spreads::new(entries, earlier, &Scale::OWN);
    let in_cycles = Spreads::new(entries, earlier, &Scale::CYCLES);
    let figure = |b: &Benchmark| {
        (
            b.interference.launches_disagree,
            b.confidence_interval,
            b.interval_scope,
            b.details.cycles,
        )
    };
    let widened = entries.iter_mut().enumerate().map(|(i, entry)| {
        let before = figure(entry);
        if let Some(spread) = &values.of_entries[i] {
            entry.interference.launches_disagree = values.disagree(spread) && are_apart(entry);
            widen(entry, spread.launches, values.half_width(spread));
        }
        if let (Some(spread), Some(cycles)) = (&in_cycles.of_entries[i], &mut entry.details.cycles)
            && let Some(half) = in_cycles.half_width(spread)
        {
            cycles.confidence_interval = at_least(cycles.confidence_interval, cycles.median, half);
        }
        before != figure(entry)
    });
    widened.collect()
}

fn widen(entry: &mut Benchmark, launches: usize, half: Option<f64>) {
    if let (Some(half), Some(median), Some(interval)) =
        (half, entry.median, entry.confidence_interval)
    {
        entry.confidence_interval = Some(at_least(interval, median, half));
        if launches < ENOUGH_LAUNCHES {
            entry.interval_scope = Some(IntervalScope::BetweenRuns);
        }
    }
}

/// The interval, and at least a factor of `exp(half)` on each side of the median.
fn at_least([low, high]: [f64; 2], median: f64, half: f64) -> [f64; 2] {
    [low.min(median * (-half).exp()), high.max(median * half.exp())]
}

/// The unit in which figures are compared.
struct Scale {
    of_launch: fn(&Launch) -> Option<f64>,
    of_entry: fn(&Benchmark) -> Option<f64>,
    of_earlier: fn(&EarlierFigure) -> Option<f64>,
}

impl Scale {
    const OWN: Scale = Scale {
        of_launch: |launch| launch.median,
        of_entry: |entry| entry.median,
        of_earlier: |figure| Some(figure.median),
    };
    const CYCLES: Scale = Scale {
        of_launch: |launch| launch.cycles,
        of_entry: |entry| Some(entry.details.cycles?.median),
        of_earlier: |figure| figure.cycles,
    };
}

/// The spreads of all entries, and the distributions of their variances.
struct Spreads {
    of_entries: Vec<Option<FigureSpread>>,
    launches: VariancePrior,
    /// `None` if too few entries have earlier figures.
    runs: Option<VariancePrior>,
}

impl Spreads {
    fn new(entries: &[Benchmark], earlier: &EarlierFigures, scale: &Scale) -> Spreads {
        let each = entries.iter();
        let of_entries: Vec<Option<FigureSpread>> =
            each.map(|e| FigureSpread::new(e, earlier.figures(e), scale)).collect();
        let known = || of_entries.iter().flatten();
        let launches = prior(known().map(|s| s.between_launches));
        let runs = prior(known().filter_map(|s| s.between_runs));
        Spreads { launches: launches.unwrap_or(USUAL), runs, of_entries }
    }

    /// Half the width of the interval, on the logarithmic scale. The next figure and this one have
    /// the same variance, which adds up.
    fn half_width(&self, spread: &FigureSpread) -> Option<f64> {
        let of_figure = spread.variance_of_figure();
        let (prior, group, factor) = match spread.between_runs {
            Some(runs) => (self.runs.unwrap_or(scaled(self.launches, of_figure)), runs, 1.0),
            None => (self.launches, spread.between_launches, of_figure),
        };
        prior.moderate(group).half_width(2.0 * factor, NEXT_RUN)
    }

    fn disagree(&self, spread: &FigureSpread) -> bool {
        let share = self.launches.upper_tail(spread.between_launches);
        share.is_some_and(|share| share < DISAGREE)
    }
}

/// The distribution of these variances, if they are enough to tell it.
fn prior(groups: impl Iterator<Item = GroupVariance>) -> Option<VariancePrior> {
    let groups: Vec<GroupVariance> = groups.filter(|g| g.degrees > 0.0).collect();
    let are_enough = groups.len() >= ENOUGH_FIGURES;
    are_enough.then(|| VariancePrior::fit(&groups)).flatten()
}

/// The distribution of variances that are `factor` times as large.
fn scaled(prior: VariancePrior, factor: f64) -> VariancePrior {
    VariancePrior { intercept: prior.intercept + factor.ln(), ..prior }
}

impl FigureSpread {
    /// `None` for a figure that is not a number above 0, or whose batches do not show their spread:
    /// those of an inferred figure have none.
    fn new(entry: &Benchmark, earlier: &[EarlierFigure], scale: &Scale) -> Option<FigureSpread> {
        if entry.status != Status::Ok || entry.details.lowest_curve.is_some() {
            return None;
        }
        let medians: Vec<f64> = entry.launches.iter().filter_map(scale.of_launch).collect();
        let covariate = (variance_within(entry)? + FINEST * FINEST).ln();
        let between_launches = log_variance(&medians, covariate)?;
        // A disturbed figure differs from others by more. An undisturbed one is compared with its
        // like.
        let comparable = earlier.iter().rev();
        let comparable = comparable.filter(|f| entry.interference.is_disturbed || !f.is_disturbed);
        let mut figures: Vec<f64> =
            comparable.filter_map(scale.of_earlier).take(MOST_RUNS).collect();
        figures.push((scale.of_entry)(entry)?);
        let between_runs = log_variance(&figures, covariate);
        Some(FigureSpread {
            launches: medians.len(),
            between_launches,
            between_runs: between_runs.filter(|g| g.degrees > 0.0),
        })
    }

    /// The variance of the figure, as a multiple of that between launches.
    fn variance_of_figure(&self) -> f64 {
        let count = self.launches as f64;
        if self.launches <= 2 { 1.0 / count } else { MEDIAN / count }
    }
}

/// The variance of the logarithms. `None` without values, and if one is not above 0.
fn log_variance(values: &[f64], covariate: f64) -> Option<GroupVariance> {
    if values.is_empty() || values.iter().any(|v| *v <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    Some(GroupVariance {
        variance: variance(&logarithms).unwrap_or(0.0),
        degrees: values.len() as f64 - 1.0,
        covariate,
    })
}

/// The samples of each launch.
fn by_launch(entry: &Benchmark) -> Option<Vec<&[f64]>> {
    let mut rest = entry.details.samples.as_slice();
    let mut all = Vec::new();
    for launch in &entry.launches {
        let (own, others) = rest.split_at_checked(usize::try_from(launch.samples).ok()?)?;
        all.push(own);
        rest = others;
    }
    rest.is_empty().then_some(all)
}

/// The relative variance of the samples within launches, from their median absolute deviation.
/// `None` for less than two samples in each launch, and for samples that are all equal, such as
/// those of a size.
fn variance_within(entry: &Benchmark) -> Option<f64> {
    let first = entry.details.samples.first()?;
    if entry.details.samples.iter().all(|s| s == first) {
        return None;
    }
    let launches = by_launch(entry)?;
    let variances = launches.iter().filter(|own| own.len() > 1).filter_map(|own| {
        let deviation = NORMAL_SCALE * median_absolute_deviation(own)?;
        Some((deviation / yamba_stats::median(own)?).powi(2))
    });
    let variances: Vec<f64> = variances.filter(|v| v.is_finite()).collect();
    yamba_stats::mean(&variances)
}

/// Whether the intervals of two launches, each from its own samples, have no common value.
fn are_apart(entry: &Benchmark) -> bool {
    let launches = by_launch(entry).unwrap_or_default();
    let intervals = launches.iter().filter_map(|own| median_interval(own, CONFIDENCE));
    let (highest_low, lowest_high) = intervals
        .fold((f64::MIN, f64::MAX), |(low, high), own| (low.max(own.low), high.min(own.high)));
    highest_low > lowest_high
}

#[cfg(test)]
mod tests;
