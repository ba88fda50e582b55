//! Estimators over plain slices, each with its formula and its source. No benchmark, no printing, no randomness.
//!
//! Every function takes finite numbers in any order and returns `None` where the estimate is not defined.

mod median_interval;
mod moments;
mod quantile;
mod regression;

pub use median_interval::{MedianInterval, median_interval};
pub use moments::{coefficient_of_variation, mean, standard_deviation};
pub use quantile::{median, quantile, sorted};
pub use regression::{Line, linear_regression};
