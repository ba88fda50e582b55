//! The tables of the Kanata Bench paper (N. Korovkina, 2022): every printed statistic is reproduced
//! to the last digit. No printed figure of tables 3.4, 3.5, A.2.1, A.2.2 and A.2.3 is wrong.

use yamba_stats::MeanInterval;
use yamba_stats::circles::{Group, group_statistics, p_of_independence, primary, steady_from};

/// The groups (or runs) of a table: test size, and one value for each test.
fn table(text: &str) -> Vec<(u64, Vec<f64>)> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let sizes = lines.next().expect("test sizes").split_whitespace();
    let mut groups: Vec<(u64, Vec<f64>)> =
        sizes.map(|size| (size.parse().expect("a size"), Vec::new())).collect();
    for line in lines {
        for (group, value) in groups.iter_mut().zip(line.split_whitespace()) {
            group.1.push(value.parse().expect("a latency"));
        }
    }
    assert!(groups.iter().all(|group| group.1.len() == 30));
    groups
}

fn groups(table: &[(u64, Vec<f64>)]) -> Vec<Group<'_>> {
    table
        .iter()
        .map(|(test_size, accumulated)| Group { test_size: *test_size, accumulated })
        .collect()
}

/// Formats a number like the paper, with two decimals.
fn printed(value: f64) -> String {
    format!("{value:.2}")
}

/// Half the width, as a share of the mean.
fn relative_half_width(interval: MeanInterval) -> f64 {
    (interval.high - interval.low) / 2.0 / interval.mean
}

fn check_groups(data: &str, expected: [[&str; 4]; 5]) {
    let table = table(data);
    for (group, expected) in groups(&table).into_iter().zip(expected) {
        let got = group_statistics(group).unwrap();
        let got = [
            got.mean,
            got.standard_deviation,
            100.0 * got.coefficient_of_variation.unwrap(),
            got.mean_per_circle,
        ];
        assert_eq!(got.map(printed), expected, "test size {}", group.test_size);
    }
}

#[test]
fn table_3_4() {
    check_groups(
        include_str!("data/kanata_3_4.txt"),
        [
            ["5100.97", "461.51", "9.05", "5100.97"],
            ["9605.60", "262.10", "2.73", "4802.80"],
            ["14508.03", "420.36", "2.90", "4836.01"],
            ["19060.23", "471.02", "2.47", "4765.06"],
            ["23549.47", "389.48", "1.65", "4709.89"],
        ],
    );
}

#[test]
fn table_3_5() {
    check_groups(
        include_str!("data/kanata_3_5.txt"),
        [
            ["137687.70", "1074.86", "0.78", "4589.59"],
            ["142024.37", "765.63", "0.54", "4581.43"],
            ["146716.50", "708.86", "0.48", "4584.89"],
            ["151142.77", "748.74", "0.50", "4580.08"],
            ["155520.90", "799.66", "0.51", "4574.14"],
        ],
    );
}

/// The paper's conclusion, checked by a test: the means no longer change from tests of 30 circles
/// on. Tests of 1 to 5 circles are steady within 5 % only from 2 on; within 1 % it is not known.
#[test]
fn warm_up() {
    let cold = table(include_str!("data/kanata_3_4.txt"));
    assert_eq!(steady_from(&groups(&cold), 0.01, 0.05), None);
    assert_eq!(steady_from(&groups(&cold), 0.05, 0.05), Some(1));
    let warm = table(include_str!("data/kanata_3_5.txt"));
    assert_eq!(steady_from(&groups(&warm), 0.01, 0.05), Some(0));
    // In both tables together the small tests are still cold.
    let both = [groups(&cold), groups(&warm)].concat();
    assert_eq!(steady_from(&both, 0.01, 0.05), Some(5));
}

/// Table 3.4 does not contradict the paper's model. The sizes of table 3.5 are too alike.
/// SciPy 1.17: `scipy.stats.levene(..., center='median')` of the columns divided by the root of N.
#[test]
fn independence() {
    let cold = table(include_str!("data/kanata_3_4.txt"));
    let p = p_of_independence(&groups(&cold)).unwrap();
    assert!((p - 0.107194026239).abs() < 1e-10, "{p}");
    let warm = table(include_str!("data/kanata_3_5.txt"));
    assert_eq!(p_of_independence(&groups(&warm)), None);
}

#[test]
fn table_a_2_1() {
    let runs = table(include_str!("data/kanata_a_2_1.txt"));
    let expected =
        [["1361987.77", "6227560.94"], ["1362333.17", "7777320.14"], ["1361994.33", "6874037.68"]];
    for ((_, run), expected) in runs.iter().zip(expected) {
        let got = [yamba_stats::mean(run), yamba_stats::variance(run)];
        assert_eq!(got.map(|x| printed(x.unwrap())), expected);
    }
}

/// Each value is that of table A.2.1 divided by the test size, rounded: 1363962 / 300 is 4546.54.
#[test]
fn table_a_2_2_values() {
    let runs = table(include_str!("data/kanata_a_2_1.txt"));
    let divided = table(include_str!("data/kanata_a_2_2.txt"));
    for (run, expected) in groups(&runs).iter().zip(&divided) {
        for (got, expected) in run.per_circle().unwrap().iter().zip(&expected.1) {
            assert_eq!(printed(*got), printed(*expected));
        }
    }
}

#[test]
fn table_a_2_2_statistics() {
    let runs = table(include_str!("data/kanata_a_2_1.txt"));
    // Mean, variance, standard deviation, variation in %, both ends, half-width in %.
    let expected = [
        ["4539.96", "69.20", "8.32", "0.18", "4537.46", "4542.46", "0.06"],
        ["4541.11", "86.41", "9.30", "0.20", "4538.32", "4543.90", "0.06"],
        ["4539.98", "76.38", "8.74", "0.19", "4537.36", "4542.61", "0.06"],
    ];
    for (run, expected) in groups(&runs).into_iter().zip(expected) {
        let got = primary(run, 0.9, 0.02).unwrap();
        let deviation = got.variance_of_mean.sqrt();
        let got = [
            got.mean.mean,
            got.variance_of_mean,
            deviation,
            100.0 * deviation / got.mean.mean,
            got.mean.low,
            got.mean.high,
            100.0 * relative_half_width(got.mean),
        ];
        assert_eq!(got.map(printed), expected);
    }
}

#[test]
fn table_a_2_3() {
    let runs = table(include_str!("data/kanata_a_2_1.txt"));
    // Variance, standard deviation, variation in %.
    let expected = [
        ["20758.54", "144.08", "3.17"],
        ["25924.40", "161.01", "3.55"],
        ["22913.46", "151.37", "3.33"],
    ];
    for (run, expected) in groups(&runs).into_iter().zip(expected) {
        let got = primary(run, 0.9, 0.02).unwrap();
        let got =
            [got.variance, got.variance.sqrt(), 100.0 * got.coefficient_of_variation.unwrap()];
        assert_eq!(got.map(printed), expected);
    }
}

/// 2 % needs no larger sample than the 30 tests, as the paper concludes: one would do. A hundredth
/// of that width needs ten thousand times as many, and a sample of that size has that width.
#[test]
fn tests_needed() {
    let runs = table(include_str!("data/kanata_a_2_1.txt"));
    let run = groups(&runs)[0];
    let got = primary(run, 0.9, 0.02).unwrap().tests_needed.unwrap();
    // (2495.5082 x 1.645 / (1361987.77 x 0.02))^2
    assert!((got - 0.02271).abs() < 0.00001, "{got}");
    let finer = primary(run, 0.9, 0.0002).unwrap().tests_needed.unwrap();
    assert!((finer / got - 10000.0).abs() < 1e-6);
    let half = relative_half_width(primary(run, 0.9, 0.02).unwrap().mean);
    let as_wide = primary(run, 0.9, half).unwrap();
    assert!((as_wide.tests_needed.unwrap() - 30.0).abs() < 1e-9);
}

/// For 30 tests Student's t interval is wider by the factor 1.699 / 1.645.
#[test]
fn interval_by_t_is_wider() {
    let runs = table(include_str!("data/kanata_a_2_1.txt"));
    let got = primary(groups(&runs)[0], 0.9, 0.02).unwrap();
    let wider = (got.mean_by_t.high - got.mean_by_t.low) / (got.mean.high - got.mean.low);
    assert!((wider - 1.699127 / 1.644854).abs() < 1e-6, "{wider}");
}

#[test]
fn undefined() {
    let group = |test_size, accumulated| Group { test_size, accumulated };
    assert_eq!(group_statistics(group(1, &[1.0])), None);
    assert_eq!(group_statistics(group(0, &[1.0, 2.0])), None);
    assert_eq!(primary(group(5, &[]), 0.9, 0.02), None);
    assert_eq!(primary(group(5, &[1.0, f64::NAN]), 0.9, 0.02), None);
    assert_eq!(primary(group(5, &[1.0, 2.0]), 1.0, 0.02), None);
    assert_eq!(steady_from(&[], 0.01, 0.05), None);
    assert_eq!(steady_from(&[group(1, &[1.0, 2.0])], 0.01, 0.05), None);
}

/// A coarse clock may give no spread at all.
#[test]
fn constant_groups() {
    let group = |test_size, accumulated| Group { test_size, accumulated };
    let (cold, warm, later) = ([900.0; 5], [1000.0; 5], [2000.0; 5]);
    let groups = [group(1, &cold[..]), group(2, &warm), group(4, &later)];
    assert_eq!(steady_from(&groups, 0.01, 0.05), Some(1));
    assert_eq!(steady_from(&groups[..2], 0.01, 0.05), None);
    let got = primary(groups[1], 0.9, 0.02).unwrap();
    assert_eq!((got.mean.low, got.mean.high, got.variance), (500.0, 500.0, 0.0));
    assert_eq!(got.tests_needed, Some(0.0));
}
