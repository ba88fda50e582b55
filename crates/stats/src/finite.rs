//! Checks for finite numbers.

/// Whether there is at least one value and all are finite.
pub(crate) fn finite(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|x| x.is_finite())
}

/// The number if it is finite. `None` after an overflow.
pub(crate) fn defined(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
