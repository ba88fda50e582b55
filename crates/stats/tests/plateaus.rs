//! Plateaus of synthetic and measured latency curves.

use fastrand::Rng;
use yamba_stats::{Plateau, plateaus};

/// Latencies of a pointer chase against the working set, from 1 KiB in steps of a factor of sqrt 2:
/// three caches and memory, the slopes between them, and noise of a few per cent.
fn curve(noise: f64) -> Vec<f64> {
    #[rustfmt::skip]
    let clean = [
        1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, // to 32 KiB
        2.1, 3.2, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, // to 1 MiB
        6.0, 9.0, 11.0, 11.0, 11.0, 11.0, 11.0, 11.0, 11.0, // to 22 MiB
        30.0, 60.0, 80.0, 90.0, 90.0, 90.0, 90.0, 90.0,
    ];
    let mut random = Rng::with_seed(12345);
    let mut noisy = |y: f64| y * (1.0 + noise * (2.0 * random.f64() - 1.0));
    clean.iter().map(|y| noisy(*y)).collect()
}

fn found(values: &[f64]) -> Vec<Plateau> {
    plateaus(values, 0.15).unwrap()
}

fn levels(values: &[f64]) -> Vec<f64> {
    found(values).iter().map(|plateau| plateau.level).collect()
}

#[test]
fn caches_and_memory() {
    let got = found(&curve(0.0));
    let places: Vec<_> = got.iter().map(|p| (p.first, p.last, p.level)).collect();
    assert_eq!(places, [(0, 10, 1.0), (12, 20, 3.5), (23, 29, 11.0), (33, 37, 90.0)]);
}

#[test]
fn noise_does_not_move_steps() {
    for noise in [0.01, 0.02, 0.04] {
        let got = found(&curve(noise));
        let last: Vec<usize> = got.iter().map(|plateau| plateau.last).collect();
        assert_eq!(last, [10, 20, 29, 37], "noise {noise}");
        for (plateau, level) in got.iter().zip([1.0, 3.5, 11.0, 90.0]) {
            assert!((plateau.level / level - 1.0).abs() < noise, "{plateau:?}");
        }
    }
}

#[test]
fn outliers_are_not_steps() {
    let mut values = curve(0.01);
    values[4] = 40.0;
    values[17] = 0.5;
    let last: Vec<usize> = found(&values).iter().map(|plateau| plateau.last).collect();
    assert_eq!(last, [10, 20, 29, 37]);
}

/// The unit is irrelevant, and a reversed curve has reversed plateaus.
#[test]
fn scale_and_direction() {
    let values = curve(0.02);
    let in_ps: Vec<f64> = values.iter().map(|y| y * 1000.0).collect();
    let places = |values: &[f64]| -> Vec<(usize, usize)> {
        found(values).iter().map(|p| (p.first, p.last)).collect()
    };
    assert_eq!(places(&values), places(&in_ps));
    let reversed: Vec<f64> = values.iter().rev().copied().collect();
    assert_eq!(levels(&reversed).len(), 4);
}

#[test]
fn flat_curve_has_one_plateau_and_slope_none() {
    assert_eq!(levels(&[5.0; 12]), [5.0]);
    assert_eq!(levels(&[5.0, 5.2, 5.0, 5.1, 5.3, 5.2, 5.0]).len(), 1);
    let slope: Vec<f64> = (0..12).map(|i| 2f64.powi(i)).collect();
    assert_eq!(levels(&slope), []);
}

#[test]
fn small_steps_are_merged() {
    let values = [1.0, 1.0, 1.0, 1.0, 1.1, 1.1, 1.1, 1.1];
    assert_eq!(levels(&values).len(), 1);
    assert_eq!(plateaus(&values, 0.02).unwrap().len(), 2);
}

#[test]
fn undefined() {
    assert_eq!(plateaus(&[], 0.15), None);
    assert_eq!(plateaus(&[1.0, 0.0], 0.15), None);
    assert_eq!(plateaus(&[1.0, f64::NAN], 0.15), None);
    assert_eq!(plateaus(&[1.0, 2.0], 0.0), None);
    assert_eq!(levels(&[1.0, 2.0]), []);
}
