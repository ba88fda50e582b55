//! Estimators, intervals and tests over plain slices, each with its formula and its source. No
//! benchmark, no printing, no hidden randomness: functions that draw random numbers take a seed.
//!
//! Every function returns `None` if its result is undefined: for no values, for too few, and for
//! NaN or infinite ones. A result is in the unit of the values unless stated otherwise.
//! Confidences, shares and probabilities are between 0 and 1.

#![warn(missing_docs)]

mod bounded_line;
mod brown_forsythe;
mod change_points;
pub mod circles;
mod distribution;
mod holm;
mod kolmogorov;
mod launch_ratio;
mod lower_mode;
mod moderated;
mod modes;
mod moments;
mod paired_ratio;
mod plateaus;
mod qn;
mod quantile;
mod rank_test;
mod regression;
mod scaling;
mod tail;

pub use bounded_line::{BoundedLine, BoundedPoint, bounded_line};
pub use brown_forsythe::brown_forsythe;
pub use change_points::{ChangePoint, change_points};
pub use distribution::{
    chi_squared_quantile, chi_squared_upper, normal_cdf, normal_quantile, share_at_most,
    student_t_cdf, student_t_quantile,
};
pub use holm::holm;
pub use kolmogorov::{kolmogorov_distance, kolmogorov_p_value, kolmogorov_scale, smirnov_distance};
pub use launch_ratio::{
    BoundedLaunches, Ratio, bounded_launch_ratio, launch_interval, launch_level, launch_ratio,
};
pub use lower_mode::{LowerMode, lower_mode};
pub use moderated::{GroupVariance, ModeratedVariance, VariancePrior};
pub use modes::{ModeRule, modes};
pub use moments::{
    MeanInterval, coefficient_of_variation, mean, mean_t_interval, mean_z_interval,
    samples_for_mean, standard_deviation, variance, variation_interval,
};
pub use paired_ratio::paired_launch_ratio;
pub use plateaus::{Plateau, plateaus};
pub use qn::qn;
pub use quantile::{
    MedianInterval, NORMAL_SCALE, median, median_absolute_deviation, median_interval, quantile,
    quantile_of_sorted, sorted,
};
pub use rank_test::{MannWhitney, mann_whitney};
pub use regression::{Line, LineErrors, line_errors, linear_regression, r_squared_interval};
pub use scaling::{Scaling, ScalingPoint, scaling};
pub use tail::{Tail, upper_tails};
