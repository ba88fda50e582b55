//! Compares each estimator with an independent implementation, SciPy or statsmodels;
//! data/reference.py wrote the data.

mod data;

use data::{Reference, close};
use yamba_stats::*;

/// Checks the relative error, even for very small numbers.
fn precise(got: f64, expected: f64, share: f64, what: &str) {
    assert!(
        (got - expected).abs() <= share * expected.abs() + 1e-300,
        "{what}: {got:e} instead of {expected:e}"
    );
}

#[test]
fn normal_distribution() {
    let reference = Reference::read();
    for line in reference.all("normal_quantile") {
        close(normal_quantile(line[0]).unwrap(), line[1], 1e-12, "quantile");
    }
    for line in reference.all("normal_cdf") {
        precise(normal_cdf(line[0]).unwrap(), line[1], 1e-10, "cdf");
    }
}

#[test]
fn student_distribution() {
    let reference = Reference::read();
    for line in reference.all("student_t_quantile") {
        let got = student_t_quantile(line[0], line[1]).unwrap();
        precise(got, line[2], 1e-9, &format!("quantile {line:?}"));
    }
    for line in reference.all("student_t_cdf") {
        let got = student_t_cdf(line[0], line[1]).unwrap();
        precise(got, line[2], 1e-9, &format!("cdf {line:?}"));
    }
}

#[test]
fn chi_squared_distribution() {
    for line in Reference::read().all("chi_squared_upper") {
        let got = chi_squared_upper(line[0], line[1]).unwrap();
        close(got, line[2], 1e-11, &format!("{line:?}"));
    }
}

#[test]
fn median_absolute_deviation_matches_scipy() {
    let reference = Reference::read();
    for (name, sample) in reference.under("sample.") {
        let expected = reference.get(&format!("mad.{name}"))[0];
        close(median_absolute_deviation(sample).unwrap(), expected, 1e-12, name);
    }
}

#[test]
fn intervals_of_the_mean() {
    let reference = Reference::read();
    for (name, sample) in reference.under("sample.") {
        for line in reference.all(&format!("t_interval.{name}")) {
            let got = mean_t_interval(sample, line[0]).unwrap();
            close(got.low, line[1], 1e-11, name);
            close(got.high, line[2], 1e-11, name);
        }
        for line in reference.all(&format!("z_interval.{name}")) {
            let got = mean_z_interval(sample, line[0]).unwrap();
            close(got.low, line[1], 1e-11, name);
            close(got.high, line[2], 1e-11, name);
        }
    }
}

#[test]
fn two_samples() {
    let reference = Reference::read();
    for (pair, line) in reference.under("mann_whitney.") {
        let (a, b) = pair_of(&reference, pair);
        let got = mann_whitney(a, b).unwrap();
        assert_eq!(got.u, line[0], "{pair}");
        close(got.p, line[1], 1e-11, pair);
    }
    for (pair, line) in reference.under("launch_ratio.") {
        let (a, b) = pair_of(&reference, pair);
        let got = launch_ratio(a, b, 0.99, 0.0).unwrap();
        for (got, &expected) in [got.ratio, got.low, got.high, got.p].iter().zip(line) {
            close(*got, expected, 1e-9, pair);
        }
    }
}

fn pair_of<'a>(reference: &'a Reference, pair: &str) -> (&'a [f64], &'a [f64]) {
    let (a, b) = pair.split_once('.').expect("two names");
    let sample = |name: &str| reference.get(&format!("sample.{name}"));
    (sample(a), sample(b))
}

#[test]
fn many_tests() {
    let reference = Reference::read();
    let got = holm(reference.get("holm.p")).unwrap();
    for (got, &expected) in got.iter().zip(reference.get("holm.adjusted")) {
        close(*got, expected, 1e-14, "holm");
    }
}

#[test]
fn line_with_errors() {
    let reference = Reference::read();
    let (x, y) = (reference.get("line.x"), reference.get("line.y"));
    let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    let line = linear_regression(&points).unwrap();
    let errors = line_errors(&points, 0.95).unwrap();
    let got = [
        line.slope,
        line.intercept,
        line.r_squared.unwrap(),
        errors.slope_error,
        errors.intercept_error,
    ];
    for (got, &expected) in got.iter().zip(reference.get("line.fit")) {
        close(*got, expected, 1e-11, "fit");
    }
    let got = [errors.slope.0, errors.slope.1, errors.intercept.0, errors.intercept.1];
    for (got, &expected) in got.iter().zip(reference.get("line.intervals")) {
        close(*got, expected, 1e-10, "interval");
    }
}
