//! Modes of samples that are made to have them.

use yamba_stats::{Mode, modes};

/// About normal values of mean 0 and deviation 1: the sum of twelve uniform ones less 6. The seed is the test's.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    (0..n)
        .map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0)
        .collect()
}

fn at(center: f64, deviation: f64, n: usize, seed: u64) -> Vec<f64> {
    noise(n, seed)
        .iter()
        .map(|x| center + deviation * x)
        .collect()
}

fn found(values: &[f64]) -> Vec<Mode> {
    modes(values, 0.0, 0.01, 1).unwrap()
}

#[test]
fn one_mode() {
    for seed in 1..=10 {
        assert_eq!(found(&at(50.0, 2.0, 60, seed)).len(), 1, "seed {seed}");
    }
}

#[test]
fn two_modes_are_two() {
    let values = [at(100.0, 1.0, 40, 1), at(110.0, 1.0, 20, 2)].concat();
    let [low, high] = found(&values)[..] else {
        panic!("{:?}", found(&values));
    };
    assert!((low.center - 100.0).abs() < 0.7, "{low:?}");
    assert!((high.center - 110.0).abs() < 0.7, "{high:?}");
    assert!((low.share - 40.0 / 60.0).abs() < 1e-12);
    assert!((high.share - 20.0 / 60.0).abs() < 1e-12);
    assert!(low.high < 105.0 && high.low > 105.0);
}

#[test]
fn three_modes_in_order() {
    let values = [
        at(30.0, 1.0, 40, 1),
        at(10.0, 1.0, 40, 2),
        at(20.0, 1.0, 40, 3),
    ]
    .concat();
    let centers: Vec<f64> = found(&values)
        .iter()
        .map(|mode| mode.center.round())
        .collect();
    assert_eq!(centers, [10.0, 20.0, 30.0]);
}

/// Disturbed values are outliers, not a mode, however far off they are.
#[test]
fn outliers_are_no_mode() {
    let values = [at(100.0, 1.0, 60, 1), vec![150.0, 900.0]].concat();
    assert_eq!(found(&values).len(), 1);
    let with_outlier = [at(100.0, 1.0, 30, 1), at(110.0, 1.0, 30, 2), vec![9000.0]].concat();
    let centers: Vec<f64> = found(&with_outlier)
        .iter()
        .map(|mode| mode.center.round())
        .collect();
    assert_eq!(centers, [100.0, 110.0]);
}

/// Values rounded to a clock's step look like as many heaps as there are steps, until the resolution is told.
#[test]
fn steps_of_the_clock_are_no_modes() {
    let rounded: Vec<f64> = at(40.0, 8.0, 80, 1)
        .iter()
        .map(|x| (x / 10.0).round() * 10.0)
        .collect();
    assert!(modes(&rounded, 0.0, 0.01, 1).unwrap().len() > 1);
    assert_eq!(modes(&rounded, 10.0, 0.01, 1).unwrap().len(), 1);
    assert_eq!(modes(&[7.0; 50], 0.0, 0.01, 1).unwrap().len(), 1);
}

#[test]
fn few_values_have_one_mode() {
    assert_eq!(found(&[1.0, 1.0, 9.0, 9.0]).len(), 1);
    let one = found(&[3.0])[0];
    assert_eq!(
        (one.center, one.low, one.high, one.share),
        (3.0, 3.0, 3.0, 1.0)
    );
}

#[test]
fn undefined() {
    assert_eq!(modes(&[], 0.0, 0.01, 1), None);
    assert_eq!(modes(&[1.0, f64::NAN], 0.0, 0.01, 1), None);
    assert_eq!(modes(&[1.0], -1.0, 0.01, 1), None);
    assert_eq!(modes(&[1.0], 0.0, f64::NAN, 1), None);
}
