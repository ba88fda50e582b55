//! What a list of values must be before anything is said about it.

/// Whether there is a value, and all are finite: neither NaN nor infinite.
pub(crate) fn finite(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|x| x.is_finite())
}

/// The number, if it is one: what huge values overflow to is none.
pub(crate) fn defined(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
