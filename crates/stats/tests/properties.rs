//! Properties for all values, and the handling of NaN and infinity.

use proptest::prelude::*;
use yamba_stats::circles::{Group, group_statistics, p_of_independence, primary, steady_from};
use yamba_stats::*;

fn values() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0..1e6f64, 2..40)
}

/// Times from a clock with whole nanoseconds, with many ties.
fn ticks() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((1..12u8).prop_map(f64::from), 2..40)
}

/// Any double.
fn anything() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop::num::f64::ANY, 0..12)
}

fn shuffled() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    values().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-300)
}

/// Each run draws new cases.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn intervals_contain_estimate(values in values()) {
        let median_held = median_interval(&values, 0.95).unwrap();
        let middle = median(&values).unwrap();
        prop_assert!(median_held.low <= middle && middle <= median_held.high);
        for held in [mean_t_interval(&values, 0.9), mean_z_interval(&values, 0.9)] {
            let held = held.unwrap();
            prop_assert!(held.low <= held.mean && held.mean <= held.high);
        }
    }

    #[test]
    fn higher_confidence_widens_interval(values in values()) {
        let width = |confidence| {
            let got = mean_t_interval(&values, confidence).unwrap();
            got.high - got.low
        };
        prop_assert!(width(0.8) <= width(0.9) && width(0.9) <= width(0.99));
    }

    /// Statistics of a set of values are independent of their order.
    #[test]
    fn statistics_ignore_order((values, other) in shuffled()) {
        prop_assert_eq!(median(&values), median(&other));
        prop_assert_eq!(quantile(&values, 0.0), quantile(&other, 0.0));
        prop_assert_eq!(median_absolute_deviation(&values), median_absolute_deviation(&other));
        prop_assert_eq!(launch_interval(&values, 0.95), launch_interval(&other, 0.95));
        prop_assert!(near(mean(&values).unwrap(), mean(&other).unwrap()));
        prop_assert!(near(variance(&values).unwrap(), variance(&other).unwrap()));
    }

    /// Relative statistics are independent of the unit of time.
    #[test]
    fn relative_statistics_ignore_unit(a in values(), b in values(), unit in 1e-6..1e6f64) {
        let scaled = |values: &[f64]| values.iter().map(|x| x * unit).collect::<Vec<_>>();
        let (scaled_a, scaled_b) = (scaled(&a), scaled(&b));
        if let Some(ratio) = launch_ratio(&a, &b, 0.95, 1e-6) {
            let other = launch_ratio(&scaled_a, &scaled_b, 0.95, 1e-6).unwrap();
            prop_assert!(near(ratio.ratio, other.ratio) && near(ratio.low, other.low));
        }
        let variation = coefficient_of_variation(&a).unwrap();
        prop_assert!((variation - coefficient_of_variation(&scaled_a).unwrap()).abs() < 1e-9);
    }

    /// Exchanging the sides inverts the result.
    #[test]
    fn exchanging_sides_inverts_result(a in ticks(), b in ticks()) {
        let (one, other) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
        prop_assert!(near(one.u + other.u, (a.len() * b.len()) as f64));
        prop_assert!((one.p - other.p).abs() < 1e-12 && (0.0..=1.0).contains(&one.p));
        let one = launch_ratio(&a, &b, 0.95, 1e-4).unwrap();
        let other = launch_ratio(&b, &a, 0.95, 1e-4).unwrap();
        prop_assert!(near(one.ratio * other.ratio, 1.0) && near(one.low * other.high, 1.0));
        prop_assert!((one.p - other.p).abs() < 1e-9);
        // The interval excludes 1 exactly if the p-value is small enough.
        prop_assert_eq!(one.low > 1.0 || one.high < 1.0, one.p < 0.05);
    }

    /// Four times the variance floor makes the interval twice as wide, if the floor applies.
    #[test]
    fn variance_floor_widens_interval(a in prop::collection::vec(99.0..101.0f64, 6), b in prop::collection::vec(99.0..101.0f64, 6)) {
        let width = |floor| {
            let got = launch_ratio(&a, &b, 0.99, floor).unwrap();
            got.high - got.low
        };
        let spread = |side: &[f64]| variance(&side.iter().map(|x| x.ln()).collect::<Vec<_>>()).unwrap();
        // Trimming increases the error of a side over that from its variance by a factor of at most
        // 2.5.
        let most = 2.5 * spread(&a).max(spread(&b));
        prop_assert!(width(4.0 * most) >= width(most) * 1.9);
    }

    #[test]
    fn adjusted_p_values_are_no_less(p_values in prop::collection::vec(0.0..1.0f64, 0..20)) {
        let adjusted = holm(&p_values).unwrap();
        for (p, adjusted) in p_values.iter().zip(&adjusted) {
            prop_assert!(p <= adjusted && *adjusted <= 1.0);
            prop_assert!(*adjusted <= p * p_values.len() as f64 + 1e-15);
        }
    }

    #[test]
    fn plateaus_are_in_order_and_apart(values in values()) {
        let found = plateaus(&values, 0.2).unwrap();
        for plateau in &found {
            prop_assert!(plateau.last >= plateau.first + 2 && plateau.last < values.len());
        }
        prop_assert!(found.windows(2).all(|w| w[0].last < w[1].first));
    }

    /// No function panics, and all results are finite.
    #[test]
    fn any_doubles_give_finite_results(a in anything(), b in anything(), x in prop::num::f64::ANY, y in prop::num::f64::ANY) {
        let finite = |result: Option<f64>| result.is_none_or(f64::is_finite);
        let spoilt = a.is_empty() || a.iter().any(|v| !v.is_finite());
        for result in [mean(&a), variance(&a), standard_deviation(&a), median(&a), quantile(&a, 0.0)] {
            prop_assert!(finite(result));
            prop_assert!(!spoilt || result.is_none());
        }
        for (place, result) in [
            coefficient_of_variation(&a),
            median_absolute_deviation(&a),
            quantile(&a, x),
            normal_quantile(x),
            normal_cdf(x),
            student_t_quantile(x, y),
            student_t_cdf(x, y),
            chi_squared_upper(x, y),
            samples_for_mean(x, y, 0.1, 0.9),
            mann_whitney(&a, &b).map(|test| test.p),
            launch_ratio(&a, &b, 0.9, x).map(|ratio| ratio.high),
            mean_t_interval(&a, x).map(|interval| interval.high),
            mean_z_interval(&a, x).map(|interval| interval.low),
            median_interval(&a, x).map(|interval| interval.coverage),
        ].into_iter().enumerate() {
            prop_assert!(finite(result), "result {} is {:?}", place, result);
        }
        let points: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        prop_assert!(finite(linear_regression(&points).map(|line| line.intercept)));
        prop_assert!(finite(line_errors(&points, 0.9).map(|errors| errors.intercept.1)));
        let bounded = a.iter().zip(&b).zip(b.iter().rev()).map(|((&x, &y), bound)| BoundedPoint { x, y, bound: bound.abs() });
        let bounded: Vec<BoundedPoint> = bounded.collect();
        let line = bounded_line(&bounded, 0.9);
        prop_assert!(finite(line.map(|line| line.slope_interval.0)));
        prop_assert!(finite(line.and_then(|line| line.r_squared_interval).map(|ends| ends.0)));
        let side = |medians| BoundedLaunches { medians, bounds: Some([x, y]) };
        prop_assert!(finite(bounded_launch_ratio(side(&a), side(&b), 0.9, 1e-6).map(|ratio| ratio.p)));
        prop_assert!(!spoilt || plateaus(&a, 0.1).is_none());
        let _ = (plateaus(&a, x), holm(&a));
        let groups = [(3, &a), (7, &b)].map(|(test_size, accumulated)| Group { test_size, accumulated });
        prop_assert!(finite(group_statistics(groups[0]).map(|group| group.mean_per_circle)));
        prop_assert!(finite(primary(groups[0], 0.9, x).map(|primary| primary.variance)));
        prop_assert!(steady_from(&groups, x.abs(), y).is_none_or(|place| place == 0));
        prop_assert!(finite(p_of_independence(&groups)));
        prop_assert!(finite(brown_forsythe(&[&a, &b])));
        let throughputs: Vec<ScalingPoint> = (1..)
            .zip(&a)
            .map(|(workers, &throughput)| ScalingPoint { workers, throughput })
            .collect();
        prop_assert!(scaling(&throughputs).is_none_or(|told| told.bend <= a.len()));
    }
}
