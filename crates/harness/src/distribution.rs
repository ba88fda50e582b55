//! The distribution of the times of single operations. Pure.

use hdrhistogram::Histogram;
use yamba_record::distribution::{Distribution, Percentile, Singles};
use yamba_record::number::number;
use yamba_record::{Benchmark, Note};
use yamba_stats::median;

/// The percentiles of a distribution.
const PERCENTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// A percentile needs this many operations above it: fewer would say little of the next run.
const ABOVE: f64 = 10.0;

/// Units of the histogram in a ns.
const PER_NS: f64 = 10.0;

/// Significant digits of the histogram.
const DIGITS: u8 = 3;

/// Least median time of an operation, as a multiple of the cost of timing it: the error of the
/// subtracted cost then is small beside it.
const LEAST_COSTS: f64 = 10.0;

/// Adds the distribution of `singles`, one for each complete launch, to a valid entry. Otherwise
/// adds a note with the reason.
pub(super) fn enter(benchmark: &mut Benchmark, singles: &[Singles]) {
    match distribution(singles) {
        Ok(distribution) => benchmark.details.distribution = Some(distribution),
        Err(reason) => {
            let reason = unsuitable(benchmark).unwrap_or(reason);
            benchmark.notes.push(Note::Text(format!("no percentiles: {reason}")));
        }
    }
}

/// Why no program times single operations of this entry.
fn unsuitable(benchmark: &Benchmark) -> Option<String> {
    let operations = benchmark.details.operations.unwrap_or(1.0);
    if benchmark.declaration.figure.as_deref() != Some("latency") {
        let figure = benchmark.declaration.figure.as_deref().unwrap_or("value");
        return Some(format!("the figure is a {figure}, not the time of an operation"));
    }
    if benchmark.workers().are_several() {
        return Some("single operations are timed with one process".to_owned());
    }
    (operations != 1.0).then(|| {
        format!("a pass has {} operations, which cannot be timed alone", number(operations))
    })
}

/// The distribution of all operations. The error is the reason why they have no distribution.
fn distribution(singles: &[Singles]) -> Result<Distribution, String> {
    let cost_ns = singles.iter().map(|s| s.dummy_ns).collect::<Vec<f64>>();
    let Some(cost_ns) = median(&cost_ns) else {
        return Err("the program times no single operations".to_owned());
    };
    let launches: Vec<Histogram<u64>> = singles.iter().map(|s| histogram(&s.ns, cost_ns)).collect();
    let mut all = empty();
    for launch in &launches {
        all += launch;
    }
    let typical = all.value_at_quantile(0.5) as f64 / PER_NS;
    if typical < LEAST_COSTS * cost_ns {
        return Err(format!(
            "an operation takes {} ns, too short to be timed alone: reading the clock and calling it takes {} ns",
            number(typical),
            number(cost_ns)
        ));
    }
    let times = singles.iter().flat_map(|s| &s.ns);
    let max_ns = times.fold(0.0, |max: f64, ns| max.max(ns - cost_ns));
    Ok(Distribution {
        count: all.len(),
        cost_ns,
        percentiles: percentiles(&all, &launches, max_ns),
        max_ns,
        histogram: buckets(&all, max_ns),
    })
}

/// A histogram without values. It grows as far as necessary.
fn empty() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("the number of digits is valid")
}

fn histogram(ns: &[f64], cost_ns: f64) -> Histogram<u64> {
    let mut histogram = empty();
    for time in ns {
        let value = ((time - cost_ns) * PER_NS).max(0.0).round() as u64;
        let is_recorded = histogram.record(value);
        is_recorded.expect("the histogram grows");
    }
    histogram
}

/// The value of a bucket is its upper limit, but at most the longest time.
fn percentiles(all: &Histogram<u64>, launches: &[Histogram<u64>], max_ns: f64) -> Vec<Percentile> {
    // 0.1 % of 10 000 is a little less than 10 in binary numbers.
    const ROUNDING: f64 = 1e-6;
    let above = |of: &Histogram<u64>, percent: f64| of.len() as f64 * (100.0 - percent) / 100.0;
    let has_enough = |of: &Histogram<u64>, percent: f64| above(of, percent) >= ABOVE - ROUNDING;
    let value = |of: &Histogram<u64>, percent: f64| {
        (of.value_at_quantile(percent / 100.0) as f64 / PER_NS).min(max_ns)
    };
    let range = |percent: f64| {
        let has_all = launches.iter().all(|launch| has_enough(launch, percent));
        let each = launches.iter().map(|launch| value(launch, percent));
        let widen = |[low, high]: [f64; 2], ns: f64| [low.min(ns), high.max(ns)];
        has_all.then(|| each.fold([f64::INFINITY, 0.0], widen))
    };
    let each = PERCENTS.into_iter().filter(|p| has_enough(all, *p));
    each.map(|percent| Percentile { percent, ns: value(all, percent), launches: range(percent) })
        .collect()
}

fn buckets(all: &Histogram<u64>, max_ns: f64) -> Vec<(f64, u64)> {
    let each = all.iter_recorded();
    each.map(|bucket| {
        let highest = bucket.value_iterated_to() as f64 / PER_NS;
        (highest.min(max_ns), bucket.count_at_value())
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use yamba_record::Status;

    use super::*;

    /// Operations of 1001, 1002, ... ns, `count` of them.
    fn ramp(count: u64) -> Singles {
        Singles { ns: (1..=count).map(|i| (1000 + i) as f64).collect(), dummy_ns: 0.0 }
    }

    fn percentile(of: &Distribution, percent: f64) -> Option<f64> {
        let found = of.percentiles.iter().find(|p| p.percent == percent);
        found.map(|p| p.ns)
    }

    #[test]
    fn percentiles_of_evenly_spread_times() {
        let found = distribution(&[ramp(10_000)]).unwrap();
        assert_eq!((found.count, found.max_ns), (10_000, 11_000.0));
        for (percent, ns) in [(50.0, 6000.0), (90.0, 10_000.0), (99.0, 10_900.0), (99.9, 10_990.0)]
        {
            let value = percentile(&found, percent).unwrap();
            assert!((value / ns - 1.0).abs() < 0.001, "{percent}: {value}");
        }
        let counted: u64 = found.histogram.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 10_000);
        assert!(found.histogram.iter().all(|(ns, _)| *ns <= found.max_ns));
    }

    #[test]
    fn percentile_with_few_operations_above_it_is_left_out() {
        let found = distribution(&[ramp(1000)]).unwrap();
        assert!(percentile(&found, 99.0).is_some() && percentile(&found, 99.9).is_none());
        let found = distribution(&[ramp(99)]).unwrap();
        let percents: Vec<f64> = found.percentiles.iter().map(|p| p.percent).collect();
        assert_eq!(percents, [50.0]);
    }

    #[test]
    fn cost_is_subtracted_and_launches_are_compared() {
        let launch = |ns: f64, dummy_ns: f64| Singles { ns: vec![ns; 100], dummy_ns };
        let found = distribution(&[launch(530.0, 30.0), launch(1030.0, 31.0), launch(530.0, 29.0)]);
        let found = found.unwrap();
        assert_eq!((found.cost_ns, found.count), (30.0, 300));
        let median = &found.percentiles[0];
        assert!((median.ns - 500.0).abs() < 0.5, "{median:?}");
        let [low, high] = median.launches.unwrap();
        assert!((low - 500.0).abs() < 0.5 && (high - 1000.0).abs() < 1.0);
        // Each launch alone has too few operations above its 99th percentile.
        assert_eq!(found.percentiles.len(), 2);
    }

    #[test]
    fn short_operation_has_no_percentiles_but_a_reason() {
        let singles = Singles { ns: vec![40.0; 100], dummy_ns: 30.0 };
        let mut benchmark = Benchmark::ended("short", Status::Ok, Vec::new());
        benchmark.declaration.figure = Some("latency".to_owned());
        enter(&mut benchmark, &[singles]);
        assert_eq!(benchmark.details.distribution, None);
        assert!(
            benchmark.notes[0].to_string().starts_with("no percentiles: an operation takes 10 ns")
        );
        // A pass of many operations is never timed alone.
        let mut chain = Benchmark::ended("chain", Status::Ok, Vec::new());
        chain.declaration.figure = Some("latency".to_owned());
        chain.details.operations = Some(64.0);
        enter(&mut chain, &[]);
        assert!(chain.notes[0].to_string().contains("a pass has 64 operations"));
    }
}
