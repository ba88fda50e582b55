//! The limits of a gate while it is measured: for benchmarks whose names match, or for all.

use super::run_ref::means;

/// A name or glob of benchmarks, or `None` for all, and their tolerated slowdown: 0.05 for 5 %.
pub type Limit = (Option<String>, f64);

/// The limit of a benchmark. One for all counts only if no name or glob matches; of several that
/// match, the last counts.
pub(super) fn limit_of(limits: &[Limit], name: &str) -> Option<f64> {
    let is_own = |pattern: &Option<String>| {
        pattern.as_ref().is_some_and(|pattern| means(pattern, name).unwrap_or(false))
    };
    let last = |is_meant: &dyn Fn(&Option<String>) -> bool| {
        limits.iter().rev().find(|(pattern, _)| is_meant(pattern)).map(|(_, limit)| *limit)
    };
    last(&is_own).or_else(|| last(&Option::is_none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_limit_counts_before_that_of_all() {
        let limit = |glob: Option<&str>, share| (glob.map(str::to_owned), share);
        let limits = [limit(Some("a*"), 0.1), limit(Some("ab"), 0.2), limit(None, 0.3)];
        let found = ["ab", "ac", "b"].map(|name| limit_of(&limits, name));
        assert_eq!(found, [Some(0.2), Some(0.1), Some(0.3)]);
        assert_eq!(limit_of(&limits[..2], "b"), None);
    }
}
