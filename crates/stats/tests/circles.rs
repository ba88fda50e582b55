//! Measuring circles on simulated tests: how often the answers about steadiness and independence
//! are right. All simulations have fixed seeds.

use fastrand::Rng;
use yamba_stats::circles::{Group, p_of_independence, steady_from};
use yamba_stats::normal_quantile;

const MARGIN: f64 = 0.01;
const SIGNIFICANCE: f64 = 0.05;
const SIMULATIONS: u64 = 2000;

fn normal(random: &mut Rng) -> f64 {
    normal_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12)).unwrap()
}

/// Groups of 30 tests. Each has its test size, and mean and deviation of its Y.
fn simulated(seed: u64, shapes: &[(u64, f64, f64)]) -> Vec<(u64, Vec<f64>)> {
    let mut random = Rng::with_seed(seed);
    let group = |&(size, mean, deviation): &(u64, f64, f64)| {
        let test = |_| size as f64 * (mean + deviation * normal(&mut random));
        (size, (0..30).map(test).collect())
    };
    shapes.iter().map(group).collect()
}

fn groups(table: &[(u64, Vec<f64>)]) -> Vec<Group<'_>> {
    table
        .iter()
        .map(|(test_size, accumulated)| Group { test_size: *test_size, accumulated })
        .collect()
}

/// The answers to many simulations of the same groups.
fn answers(shapes: &[(u64, f64, f64)]) -> Vec<Option<usize>> {
    let answer = |seed| steady_from(&groups(&simulated(seed, shapes)), MARGIN, SIGNIFICANCE);
    (0..SIMULATIONS).map(answer).collect()
}

fn share(answers: &[Option<usize>], wanted: impl Fn(&Option<usize>) -> bool) -> f64 {
    answers.iter().filter(|a| wanted(a)).count() as f64 / answers.len() as f64
}

#[test]
fn noise_alone_is_not_known_to_be_steady() {
    for deviation in [0.04, 0.1, 0.3, 1.0] {
        let noise: Vec<_> = (1..=6).map(|size| (size, 1000.0, 1000.0 * deviation)).collect();
        let unknown = share(&answers(&noise), Option::is_none);
        assert!(unknown >= 0.95, "{deviation}: {unknown}");
    }
}

/// The worst case: the last two means differ by exactly the margin.
#[test]
fn difference_of_the_margin_is_rarely_called_steady() {
    for deviation in [0.1, 1.0, 10.0, 50.0] {
        let shapes = [(1, 1010.0, deviation), (2, 1010.0, deviation), (3, 1000.0, deviation)];
        let unknown = share(&answers(&shapes), Option::is_none);
        // Three standard errors of a share of 95 % below it.
        assert!(unknown >= 0.95 - 3.0 * (0.95 * 0.05 / SIMULATIONS as f64).sqrt(), "{unknown}");
    }
}

/// A warm-up, then a plateau: no answer is before the plateau, and most are its beginning.
#[test]
fn plateau_is_found() {
    let means = [1300.0, 1080.0, 1000.0, 1001.0, 999.0, 1000.0];
    let shapes: Vec<_> = (1..).zip(means).map(|(size, mean)| (size, mean, 5.0)).collect();
    let answers = answers(&shapes);
    assert!(share(&answers, |a| *a == Some(2)) >= 0.95);
    assert_eq!(share(&answers, |a| a.is_some_and(|at| at < 2)), 0.0);
}

/// The same deviations from the same means, made larger, in all groups or in one.
#[test]
fn more_noise_gives_no_earlier_answer() {
    let mut later = 0;
    for seed in 0..SIMULATIONS {
        let mut random = Rng::with_seed(seed);
        let shapes: Vec<_> =
            (1..=4).map(|size| (size, 1000.0 + 30.0 * random.f64(), 20.0 * random.f64())).collect();
        let table = simulated(seed, &shapes);
        let factor = 1.0 + 4.0 * random.f64();
        let only = (random.f64() * 8.0) as usize;
        let noisy: Vec<(u64, Vec<f64>)> = table
            .iter()
            .enumerate()
            .map(|(i, (size, a))| {
                let mean = yamba_stats::mean(a).unwrap();
                let factor = if only >= table.len() || only == i { factor } else { 1.0 };
                (*size, a.iter().map(|a| mean + factor * (a - mean)).collect())
            })
            .collect();
        let place = |table: &[(u64, Vec<f64>)]| {
            steady_from(&groups(table), MARGIN, SIGNIFICANCE).unwrap_or(usize::MAX)
        };
        assert!(place(&noisy) >= place(&table), "seed {seed}");
        later += u64::from(place(&noisy) > place(&table));
    }
    assert!(later > SIMULATIONS / 20, "the noise changed only {later} answers");
}

/// Tests whose circles are independent, and tests with an error of their own.
#[test]
fn independence_is_contradicted_by_an_error_of_each_test() {
    let sizes = [1u64, 2, 4, 8, 16];
    let independent = sizes.map(|size| (size, 1000.0, 100.0 / (size as f64).sqrt()));
    let common = sizes.map(|size| (size, 1000.0, 100.0 / size as f64));
    let proportional = sizes.map(|size| (size, 1000.0, 100.0));
    let contradicted = |shapes: &[(u64, f64, f64)]| {
        let p = |seed| p_of_independence(&groups(&simulated(seed, shapes))).unwrap();
        (0..SIMULATIONS).filter(|seed| p(*seed) <= SIGNIFICANCE).count() as f64 / SIMULATIONS as f64
    };
    let false_alarms = contradicted(&independent);
    assert!((0.025..0.075).contains(&false_alarms), "{false_alarms}");
    assert!(contradicted(&common) > 0.99 && contradicted(&proportional) > 0.99);
}

#[test]
fn sizes_too_alike_test_no_independence() {
    let shapes = [(300, 1000.0, 10.0), (304, 1000.0, 100.0), (599, 1000.0, 100.0)];
    assert_eq!(p_of_independence(&groups(&simulated(1, &shapes))), None);
    assert_eq!(p_of_independence(&[]), None);
}
