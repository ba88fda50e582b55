//! Primitives that have a benchmark and were not measured on a system yet.

use crate::blocked;
use crate::cost::Costs;

impl Costs {
    /// Whether a benchmark that was not measured yet would give the cost of a primitive, or of a
    /// kind of it.
    pub(crate) fn is_unmeasured(&self, name: &str) -> bool {
        let call = blocked::call(name);
        let is_kind = |other: &String| {
            let kind = other.strip_prefix(call);
            kind.is_some_and(|kind| kind.is_empty() || kind.starts_with('('))
        };
        !self.has(name) && self.unmeasured.iter().any(is_kind)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{cost, costs};

    #[test]
    fn benchmark_that_was_not_measured_is_that_of_the_call_and_of_its_kinds() {
        let mut costs = costs(&[("dup", None, cost(1.0, 0.0))]);
        let names = ["dup", "page_fault(copy)", "poll"].map(str::to_owned);
        costs.unmeasured = names.into();
        for name in ["page_fault", "page_fault(copy)", "poll(blocked)"] {
            assert!(costs.is_unmeasured(name), "{name}");
        }
        for name in ["dup", "dup2", "page"] {
            assert!(!costs.is_unmeasured(name), "{name}");
        }
    }
}
