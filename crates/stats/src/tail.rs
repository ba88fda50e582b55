//! How heavy the tail of a distribution is.

use std::sync::LazyLock;

use crate::distribution::student_t_cdf;

/// Width and number of the bins. Values beyond the last bin do not count, because they may be outliers of another kind.
const WIDTH: f64 = 0.1;
const BINS: usize = 45;

/// Degrees of freedom, from the lightest tail, which is that of the normal distribution.
const DEGREES: [f64; 12] = [
    1e11, 100.0, 50.0, 30.0, 20.0, 15.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.0,
];

/// The scales are those of a t distribution whose values have a robust standard deviation of about 1.
const SCALES: usize = 24;
const LEAST_SCALE: f64 = 0.6;
const SCALE_STEP: f64 = 0.025;

/// A lighter tail is rejected if its log-likelihood is lower by more than this: the 99 % quantile of chi-squared with one degree of freedom, halved.
const REJECTED: f64 = 3.317;

/// Student's t distribution, scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Degrees of freedom. The normal distribution has `1e11`.
    pub degrees: f64,
    /// The scale, in the unit of the values.
    pub scale: f64,
}

impl Tail {
    /// The normal distribution with a standard deviation of 1.
    pub const NORMAL: Tail = Tail {
        degrees: DEGREES[0],
        scale: 1.0,
    };
}

/// The logarithms of the bins' probabilities for each scale of each number of degrees.
static LOGARITHMS: LazyLock<Vec<Vec<[f64; BINS]>>> = LazyLock::new(|| {
    let of_scale = |degrees: f64, scale: f64| {
        let cdf = |edge: usize| student_t_cdf(WIDTH * edge as f64 / scale, degrees).unwrap_or(1.0);
        let whole = (cdf(BINS) - 0.5).ln();
        std::array::from_fn(|bin| (cdf(bin + 1) - cdf(bin)).max(1e-300).ln() - whole)
    };
    let of_degrees = |degrees: &f64| {
        let scales = (0..SCALES).map(scale);
        scales.map(|scale| of_scale(*degrees, scale)).collect()
    };
    DEGREES.iter().map(of_degrees).collect()
});

fn scale(number: usize) -> f64 {
    LEAST_SCALE + SCALE_STEP * number as f64
}

/// Fits the upper half of a distribution. `values` are distances from its median in units of its robust standard deviation; negative ones, and those beyond 4.5, do not
/// count. The result is the lightest tail among t distributions with 3 to 100 degrees of freedom and the normal distribution that a likelihood ratio test at 1 % does not reject.
///
/// The likelihood is that of values truncated at 4.5 in bins of 0.1, so outliers of another kind have no influence. K. L. Lange, R. J. A. Little and J. M. G. Taylor,
/// "Robust Statistical Modeling Using the t Distribution", Journal of the American Statistical Association 84 (1989) 881-896, estimate degrees of freedom and scale together. Few values reject nothing: the result is then normal.
pub fn upper_half_tail<'a>(values: impl Iterator<Item = &'a f64>) -> Tail {
    let mut counts = [0_u32; BINS];
    for value in values.filter(|value| **value >= 0.0) {
        if let Some(count) = counts.get_mut((value / WIDTH) as usize) {
            *count += 1;
        }
    }
    let likelihood = |bins: &[f64; BINS]| -> f64 {
        let terms = bins.iter().zip(&counts);
        terms.map(|(log, count)| log * f64::from(*count)).sum()
    };
    let best = LOGARITHMS.iter().map(|scales| {
        let each = scales.iter().map(likelihood).enumerate();
        each.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    });
    let best: Vec<(usize, f64)> = best.collect();
    let most = best.iter().map(|(_, l)| *l).fold(f64::MIN, f64::max);
    let lightest = best.iter().position(|(_, l)| *l >= most - REJECTED);
    let lightest = lightest.unwrap_or(0);
    if counts.iter().all(|count| *count == 0) {
        return Tail::NORMAL;
    }
    Tail {
        degrees: DEGREES[lightest],
        scale: scale(best[lightest].0),
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::{median, qn, student_t_quantile};

    fn found(degrees: f64, count: usize, slow: usize, random: &mut Rng) -> Tail {
        let draw = |random: &mut Rng| {
            student_t_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12), degrees).unwrap()
        };
        let mut values: Vec<f64> = (0..count).map(|_| draw(random)).collect();
        values[..slow].iter_mut().for_each(|x| *x += 8.0);
        let (middle, spread) = (median(&values).unwrap(), qn(&values).unwrap());
        let distances: Vec<f64> = values.iter().map(|x| (x - middle) / spread).collect();
        upper_half_tail(distances.iter())
    }

    #[test]
    fn normal_values_have_a_normal_tail_and_heavy_ones_a_heavy_tail() {
        let mut random = Rng::with_seed(1);
        let mut heavy = 0;
        for _ in 0..50 {
            let normal = found(1e11, 4000, 40, &mut random);
            heavy += usize::from(normal.degrees < 20.0);
            let t5 = found(5.0, 4000, 40, &mut random);
            assert!(t5.degrees <= 10.0, "{t5:?}");
            let t3 = found(3.0, 4000, 0, &mut random);
            assert!(t3.degrees <= 5.0, "{t3:?}");
        }
        assert!(heavy <= 3, "{heavy} of 50");
    }

    #[test]
    fn no_values_reject_nothing() {
        assert_eq!(upper_half_tail([].iter()), Tail::NORMAL);
        assert_eq!(upper_half_tail([-1.0, 77.0].iter()), Tail::NORMAL);
    }
}
