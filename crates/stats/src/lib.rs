//! Estimators, intervals and tests over plain slices, each with its formula and its source. No
//! benchmark, no printing, no hidden randomness: functions that draw random numbers take a seed.
//!
//! Every function returns `None` if its result is undefined: for no values, for too few, and for
//! NaN or infinite ones. A result is in the unit of the values unless stated otherwise.
//! Confidences, shares and probabilities are between 0 and 1.

#![warn(missing_docs)]

mod bootstrap;
mod bounded_line;
mod brown_forsythe;
mod change_points;
pub mod circles;
mod deviation;
mod distribution;
mod finite;
mod holm;
mod kolmogorov;
mod launch_interval;
mod launch_ratio;
mod least_squares;
mod lower_mode;
mod mean_interval;
mod median_interval;
mod moderated;
mod modes;
mod moments;
mod paired_ratio;
mod plateaus;
mod qn;
mod quantile;
mod quantile_interval;
mod rank_test;
mod regression;
mod sample_size;
mod scaling;
mod share;
mod tail;
mod variation;
mod welch;

pub use bootstrap::{BootstrapRatio, bootstrap_ratio};
pub use bounded_line::{BoundedLine, BoundedPoint, bounded_line};
pub use brown_forsythe::brown_forsythe;
pub use change_points::{ChangePoint, change_points};
pub use deviation::{NORMAL_SCALE, median_absolute_deviation};
pub use distribution::{
    chi_squared_quantile, chi_squared_upper, normal_cdf, normal_quantile, student_t_cdf,
    student_t_quantile,
};
pub use holm::holm;
pub use kolmogorov::{kolmogorov_distance, kolmogorov_p_value, kolmogorov_scale, smirnov_distance};
pub use launch_interval::launch_interval;
pub use launch_ratio::{BoundedLaunches, Ratio, bounded_launch_ratio, launch_level, launch_ratio};
pub use least_squares::{Coefficient, Fit, least_squares};
pub use lower_mode::{LowerMode, lower_mode};
pub use mean_interval::{MeanInterval, mean_t_interval, mean_z_interval};
pub use median_interval::{MedianInterval, median_interval};
pub use moderated::{GroupVariance, ModeratedVariance, VariancePrior};
pub use modes::{ModeRule, modes};
pub use moments::{coefficient_of_variation, mean, standard_deviation, variance};
pub use paired_ratio::paired_launch_ratio;
pub use plateaus::{Plateau, plateaus};
pub use qn::qn;
pub use quantile::{median, quantile, quantile_of_sorted, sorted};
pub use quantile_interval::{QuantileInterval, quantile_interval};
pub use rank_test::{MannWhitney, mann_whitney};
pub use regression::{Line, LineErrors, line_errors, linear_regression, r_squared_interval};
pub use sample_size::samples_for_mean;
pub use scaling::{Scaling, ScalingPoint, scaling};
pub use share::share_at_most;
pub use tail::{Tail, upper_tails};
pub use variation::variation_interval;
pub use welch::{Difference, welch_t};
