//! Regression on several variables against certified values and published regressions.

use yamba_stats::{Fit, least_squares, line_errors, linear_regression};

fn close(got: f64, expected: f64, share: f64, what: &str) {
    let error = (got - expected).abs();
    assert!(error <= share * expected.abs(), "{what}: {got} instead of {expected}");
}

fn fit(rows: &[Vec<f64>], ys: &[f64]) -> Option<Fit> {
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    least_squares(&rows, ys, 0.95)
}

/// NIST Statistical Reference Datasets, Longley, at the highest level of difficulty for linear
/// regression: y, then the six variables.
#[test]
fn nist_longley() {
    #[rustfmt::skip]
    let data = [
        [60323.0, 83.0, 234289.0, 2356.0, 1590.0, 107608.0, 1947.0], [61122.0, 88.5, 259426.0, 2325.0, 1456.0, 108632.0, 1948.0],
        [60171.0, 88.2, 258054.0, 3682.0, 1616.0, 109773.0, 1949.0], [61187.0, 89.5, 284599.0, 3351.0, 1650.0, 110929.0, 1950.0],
        [63221.0, 96.2, 328975.0, 2099.0, 3099.0, 112075.0, 1951.0], [63639.0, 98.1, 346999.0, 1932.0, 3594.0, 113270.0, 1952.0],
        [64989.0, 99.0, 365385.0, 1870.0, 3547.0, 115094.0, 1953.0], [63761.0, 100.0, 363112.0, 3578.0, 3350.0, 116219.0, 1954.0],
        [66019.0, 101.2, 397469.0, 2904.0, 3048.0, 117388.0, 1955.0], [67857.0, 104.6, 419180.0, 2822.0, 2857.0, 118734.0, 1956.0],
        [68169.0, 108.4, 442769.0, 2936.0, 2798.0, 120445.0, 1957.0], [66513.0, 110.8, 444546.0, 4681.0, 2637.0, 121950.0, 1958.0],
        [68655.0, 112.6, 482704.0, 3813.0, 2552.0, 123366.0, 1959.0], [69564.0, 114.2, 502601.0, 3931.0, 2514.0, 125368.0, 1960.0],
        [69331.0, 115.7, 518173.0, 4806.0, 2572.0, 127852.0, 1961.0], [70551.0, 116.9, 554894.0, 4007.0, 2827.0, 130081.0, 1962.0],
    ];
    let certified = [
        (-3482258.63459582, 890420.383607373),
        (15.0618722713733, 84.9149257747669),
        (-0.358191792925910e-1, 0.334910077722432e-1),
        (-2.02022980381683, 0.488399681651699),
        (-1.03322686717359, 0.214274163161675),
        (-0.511041056535807e-1, 0.226073200069370),
        (1829.15146461355, 455.478499142212),
    ];
    let rows: Vec<Vec<f64>> = data.iter().map(|row| row[1..].to_vec()).collect();
    let ys: Vec<f64> = data.iter().map(|row| row[0]).collect();
    let got = fit(&rows, &ys).unwrap();
    for (got, (value, error)) in got.coefficients.iter().zip(certified) {
        assert!((got.value / value - 1.0).abs() < 1e-8, "{}", got.value);
        assert!((got.error / error - 1.0).abs() < 1e-8, "{}", got.error);
    }
    close(got.residual_deviation, 304.854073561965, 1e-9, "deviation");
    close(got.r_squared.unwrap(), 0.995479004577296, 1e-12, "R^2");
}

/// One variable gives the simple regression, intervals included.
#[test]
fn one_variable_matches_simple_regression() {
    let points = [(1.0, 2.1), (2.0, 3.9), (3.0, 6.2), (5.0, 9.7), (8.0, 16.4)];
    let rows: Vec<Vec<f64>> = points.iter().map(|p| vec![p.0]).collect();
    let ys: Vec<f64> = points.iter().map(|p| p.1).collect();
    let got = fit(&rows, &ys).unwrap();
    let line = linear_regression(&points).unwrap();
    let errors = line_errors(&points, 0.95).unwrap();
    let [intercept, slope] = got.coefficients[..] else {
        panic!("{got:?}");
    };
    close(slope.value, line.slope, 1e-13, "slope");
    close(intercept.value, line.intercept, 1e-13, "intercept");
    close(slope.error, errors.slope_error, 1e-13, "slope's error");
    close(slope.interval.1, errors.slope.1, 1e-12, "slope's end");
    close(intercept.interval.0, errors.intercept.0, 1e-12, "intercept's end");
    close(got.r_squared.unwrap(), line.r_squared.unwrap(), 1e-13, "R^2");
    close(got.residual_deviation, errors.residual_deviation, 1e-13, "deviation");
}

/// Figures that HBench:JGC prints for the SPARC (section 5.4.2): 3.75 ms per megabyte of heap,
/// 229.1 ms for 512 x 512 live objects and 108.6 ms for as many dead ones. These are 874 ns and 414
/// ns per object: the thesis's "0.9 ns" and "0.4 ns" are microseconds.
#[test]
fn hbench_collection_costs() {
    let objects = 512.0 * 512.0;
    let (live, dead) = (229.1 / objects, 108.6 / objects);
    assert_eq!(format!("{:.1} {:.1}", 1e3 * live, 1e3 * dead), "0.9 0.4");
    let mut rows = Vec::new();
    for heap in [64.0, 96.0, 128.0] {
        rows.push(vec![heap, 0.0, 0.0]);
        rows.push(vec![heap, objects, 0.0]);
        rows.push(vec![heap, 0.0, objects]);
        rows.push(vec![heap, objects / 4.0, objects / 2.0]);
    }
    let time = |row: &Vec<f64>| 0.02 + 3.75 * row[0] + live * row[1] + dead * row[2];
    let times: Vec<f64> = rows.iter().map(time).collect();
    let got = fit(&rows, &times).unwrap();
    for (got, expected) in got.coefficients.iter().zip([0.02, 3.75, live, dead]) {
        assert!((got.value - expected).abs() < 1e-11, "{got:?}");
    }
}

#[test]
fn undefined() {
    let row = |x: f64| vec![x, 2.0 * x + 1.0];
    let dependent: Vec<Vec<f64>> = (0..9).map(|i| row(f64::from(i))).collect();
    let ys = [1.0, 2.0, 4.0, 3.0, 5.0, 5.0, 6.0, 9.0, 7.0];
    assert_eq!(fit(&dependent, &ys), None);
    assert_eq!(fit(&[], &[]), None);
    assert_eq!(fit(&[vec![1.0], vec![2.0]], &[1.0, 2.0]), None);
    assert_eq!(fit(&[vec![1.0], vec![2.0], vec![]], &[1.0, 2.0, 3.0]), None);
    assert_eq!(fit(&[vec![3.0], vec![3.0], vec![3.0]], &[1.0, 2.0, 3.0]), None);
    assert_eq!(fit(&[vec![0.0], vec![0.0], vec![0.0]], &[1.0, 2.0, 3.0]), None);
    assert_eq!(fit(&[vec![1.0], vec![2.0], vec![f64::NAN]], &ys[..3]), None);
    assert_eq!(fit(&[vec![1.0], vec![2.0], vec![4.0]], &ys[..2]), None);
    assert_eq!(line_errors(&[(1.0, 2.0), (2.0, 3.0)], 0.95), None);
    assert_eq!(linear_regression(&[(1.0, f64::NAN), (2.0, 3.0)]), None);
}
