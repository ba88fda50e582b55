//! Regression against certified values and against the regressions in the Yamba paper.

use yamba_stats::{Line, line_errors, linear_regression};

fn fit(points: &[(f64, f64)]) -> Line {
    linear_regression(points).unwrap()
}

fn near(got: f64, printed: f64, last_digit: f64) {
    assert!((got - printed).abs() <= 0.5 * last_digit, "{got} instead of {printed}");
}

/// NIST Statistical Reference Datasets, Norris (y, x), with its certified values.
#[test]
fn nist_norris() {
    #[rustfmt::skip]
    let data = [
        (0.1, 0.2), (338.8, 337.4), (118.1, 118.2), (888.0, 884.6), (9.2, 10.1), (228.1, 226.5), (668.5, 666.3), (998.5, 996.3),
        (449.1, 448.6), (778.9, 777.0), (559.2, 558.2), (0.3, 0.4), (0.1, 0.6), (778.1, 775.5), (668.8, 666.9), (339.3, 338.0),
        (448.9, 447.5), (10.8, 11.6), (557.7, 556.0), (228.3, 228.1), (998.0, 995.8), (888.8, 887.6), (119.6, 120.2), (0.3, 0.3),
        (0.6, 0.3), (557.6, 556.8), (339.3, 339.1), (888.0, 887.2), (998.5, 999.0), (778.9, 779.0), (10.2, 11.1), (117.6, 118.3),
        (228.9, 229.2), (668.4, 669.1), (449.2, 448.9), (0.2, 0.5),
    ];
    let points: Vec<(f64, f64)> = data.iter().map(|&(y, x)| (x, y)).collect();
    let line = fit(&points);
    near(line.slope, 1.00211681802045, 2e-13);
    near(line.intercept, -0.262323073774029, 2e-11);
    near(line.r_squared.unwrap(), 0.999993745883712, 2e-14);
    let errors = line_errors(&points, 0.95).unwrap();
    near(errors.slope_error, 0.429796848199937e-3, 1e-15);
    near(errors.intercept_error, 0.232818234301152, 1e-12);
    near(errors.residual_deviation, 0.884796396144373, 1e-12);
}

/// Figure 8 of the paper, Linux on both computers: reproduces every printed digit.
#[test]
fn paper_figure_8_linux() {
    let c1 = fit(&[(1.00, 2542.07), (8.55, 5087.88), (32.00, 9955.01)]);
    near(c1.slope, 231.62, 0.01);
    near(c1.intercept, 2653.7, 0.1);
    near(c1.r_squared.unwrap(), 0.98816, 1e-5);
    let c2 = fit(&[(1.00, 676.75), (8.55, 882.51), (32.00, 1754.04)]);
    near(c2.slope, 35.325, 0.001);
    near(c2.intercept, 615.18, 0.01);
    near(c2.r_squared.unwrap(), 0.997, 0.001);
}

/// Figure 8, Darwin. x only ranges from 8.42 to 11, so the dropped digits of x affect the line: the
/// printed x give 32.520, 859.89 and 0.9178, not the printed 32.562, 859.45 and 0.9171. An x that
/// rounds to the printed one gives all three, and for the other computer the printed slope (to its
/// last digit) and R^2. No x gives the intercept printed there, -2025.2: its decimal point is one
/// place too far to the left.
#[test]
fn paper_figure_8_darwin() {
    let as_printed = fit(&[(8.42, 1124.16), (9.30, 1176.83), (11.00, 1212.67)]);
    near(as_printed.slope, 32.520, 0.001);
    near(as_printed.intercept, 859.89, 0.01);
    near(as_printed.r_squared.unwrap(), 0.9178, 0.0001);

    let x = [8.424489, 9.299933, 10.999594];
    let c2 = fit(&[(x[0], 1124.16), (x[1], 1176.83), (x[2], 1212.67)]);
    near(c2.slope, 32.562, 0.001);
    near(c2.intercept, 859.45, 0.01);
    near(c2.r_squared.unwrap(), 0.9171, 0.0001);
    let c1 = fit(&[(x[0], 2360.58), (x[1], 4748.56), (x[2], 9283.69)]);
    near(c1.slope, 2685.0, 2.0);
    near(c1.r_squared.unwrap(), 0.99997, 1e-5);
    near(c1.intercept, -20252.0, 5.0);
}

#[test]
fn line_needs_two_different_x() {
    assert_eq!(linear_regression(&[]), None);
    assert_eq!(linear_regression(&[(1.0, 2.0), (1.0, 3.0)]), None);
    assert_eq!(fit(&[(1.0, 2.0), (2.0, 2.0)]).r_squared, None);
}
