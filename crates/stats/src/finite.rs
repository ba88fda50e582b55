//! What a list of values must be before anything is said about it.

/// Whether there is a value, and all are finite: neither NaN nor infinite.
pub(crate) fn finite(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|x| x.is_finite())
}
