//! Which entries are the points of a curve, and the name of that curve.

use yamba_record::{Benchmark, Parameters, Run};

use super::rows::PointRow;

/// The entries of some rows, run by run, each with the index of its run.
pub fn entries<'a>(
    runs: &'a [Run],
    rows: &'a [&PointRow<'a>],
) -> impl Iterator<Item = (usize, &'a Benchmark)> {
    let each = move |n: usize| rows.iter().filter_map(move |r| Some((n, r.entries[n]?)));
    (0..runs.len()).flat_map(each)
}

/// The parameters of a benchmark that name its curve. `is_part` decides by the parameter's name,
/// and by whether its value differs between the points.
pub fn parameters(
    rows: &[&PointRow],
    benchmark: &Benchmark,
    is_part: impl Fn(&str, bool) -> bool,
) -> String {
    let differs = |name: &str| {
        let mut all = rows.iter().flat_map(|r| r.present());
        all.any(|b| b.parameters.get(name) != benchmark.parameters.get(name))
    };
    let parameters = benchmark.parameters.0.iter();
    let own = parameters.filter(|(name, _)| is_part(name, differs(name)));
    Parameters(own.cloned().collect()).to_string()
}
