//! Leaves out points of a sweep if there is no time for all. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

/// Minimum time for a point: less shows nothing.
pub(super) const LEAST: Duration = Duration::from_millis(100);

/// The values of the swept parameters at one point.
type Values = [(String, String)];

/// Chooses points so that each can be measured for at least [`LEAST`] with each of `shares` numbers
/// of processes, in `time` altogether.
///
/// Repeatedly leaves out every second value of the parameter where that saves most. The first and
/// last value always stay, even if the time is then too short.
pub(super) fn subsample(points: &[&Values], shares: usize, time: Duration) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..points.len()).collect();
    let fits = |n: usize| LEAST.saturating_mul((n * shares) as u32) <= time;
    while !fits(kept.len()) {
        let parameters = kept.iter().map(|i| points[*i].len()).max().unwrap_or(0);
        let coarser = (0..parameters).map(|p| every_second(points, &kept, p));
        match coarser.min_by_key(Vec::len) {
            Some(fewer) if fewer.len() < kept.len() => kept = fewer,
            _ => break,
        }
    }
    kept
}

/// Number of values that a run of the whole suite measures of a numeric sweep.
const FEW: usize = 3;

/// Chooses the points for a run of the whole suite. A parameter swept over more than three numbers
/// keeps its first, a middle and its last value. If more than three points remain, only the ends
/// stay. All names stay: each is a different thing to measure.
pub(super) fn few(points: &[&Values]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..points.len()).collect();
    let parameters = points.iter().map(|p| p.len()).max().unwrap_or(0);
    for parameter in (0..parameters).filter(|p| is_number(points, *p)) {
        while values(points, &kept, parameter) > FEW {
            kept = every_second(points, &kept, parameter);
        }
    }
    for parameter in (0..parameters).filter(|p| is_number(points, *p)) {
        if kept.len() > FEW {
            kept = every_second(points, &kept, parameter);
        }
    }
    kept
}

fn is_number(points: &[&Values], parameter: usize) -> bool {
    let each = points.iter().filter_map(|p| p.get(parameter));
    each.map(|(_, value)| value).all(|v| v.parse::<f64>().is_ok())
}

/// Length of the parameter's longest row.
fn values(points: &[&Values], kept: &[usize], parameter: usize) -> usize {
    let rows = rows(points, kept, parameter);
    rows.values().map(Vec::len).max().unwrap_or(0)
}

/// Every second point of each row, and its last. A row is the points that differ in this parameter
/// only.
fn every_second(points: &[&Values], kept: &[usize], parameter: usize) -> Vec<usize> {
    let rows = rows(points, kept, parameter);
    let mut fewer: Vec<usize> = Vec::new();
    for row in rows.values() {
        let last = row.len() - 1;
        let stays = |place: usize| place.is_multiple_of(2) || place == last;
        fewer.extend((0..row.len()).filter(|p| stays(*p)).map(|p| row[p]));
    }
    fewer.sort_unstable();
    fewer
}

type Rows<'a> = BTreeMap<Vec<&'a (String, String)>, Vec<usize>>;

fn rows<'a>(points: &[&'a Values], kept: &[usize], parameter: usize) -> Rows<'a> {
    let mut rows = Rows::new();
    for i in kept {
        let others = points[*i].iter().enumerate();
        let others = others.filter(|(p, _)| *p != parameter).map(|(_, v)| v);
        rows.entry(others.collect()).or_default().push(*i);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(values: &[(&str, u32)]) -> Vec<(String, String)> {
        let own = |(n, v): &(&str, u32)| ((*n).to_owned(), v.to_string());
        values.iter().map(own).collect()
    }

    fn kept(points: &[Vec<(String, String)>], shares: usize, ms: u64) -> Vec<usize> {
        let points: Vec<&Values> = points.iter().map(Vec::as_slice).collect();
        subsample(&points, shares, Duration::from_millis(ms))
    }

    #[test]
    fn subsampled_sweep_has_both_ends() {
        let points: Vec<_> = (0..8).map(|a| point(&[("a", a)])).collect();
        assert_eq!(kept(&points, 1, 800).len(), 8);
        assert_eq!(kept(&points, 1, 700), [0, 2, 4, 6, 7]);
        assert_eq!(kept(&points, 1, 300), [0, 4, 7]);
        assert_eq!(kept(&points, 2, 600), [0, 4, 7]);
        assert_eq!(kept(&points, 1, 1), [0, 7], "ends stay in any case");
        assert_eq!(kept(&[point(&[])], 1, 1), [0]);
    }

    fn kept_few(points: &[Vec<(String, String)>]) -> Vec<usize> {
        let points: Vec<&Values> = points.iter().map(Vec::as_slice).collect();
        few(&points)
    }

    #[test]
    fn whole_run_measures_ends_and_middle_of_numbers_and_all_names() {
        let one = |n: u32| (0..n).map(|a| point(&[("a", a)])).collect::<Vec<_>>();
        assert_eq!(kept_few(&one(14)), [0, 8, 13]);
        assert_eq!(kept_few(&one(4)), [0, 2, 3]);
        assert_eq!(kept_few(&one(3)), [0, 1, 2]);
        let names = ["same", "apart", "free", "near"];
        let named = |name: &str, b: u32| {
            let mut point = point(&[("b", b)]);
            point.insert(0, ("placement".to_owned(), name.to_owned()));
            point
        };
        let all: Vec<_> = names.iter().map(|n| named(n, 1)).collect();
        assert_eq!(kept_few(&all).len(), 4);
        let grid = names[..2].iter();
        let grid: Vec<_> = grid.flat_map(|n| (0..3).map(|b| named(n, b))).collect();
        assert_eq!(kept_few(&grid), [0, 2, 3, 5], "of several points the ends");
        assert_eq!(kept_few(&[point(&[])]), [0]);
    }

    /// The longer of two sweeps is subsampled first. All curves keep the same points.
    #[test]
    fn subsampled_grid_is_a_grid() {
        let mut points = Vec::new();
        for a in 0..2 {
            points.extend((0..5).map(|b| point(&[("a", a), ("b", b)])));
        }
        assert_eq!(kept(&points, 1, 900), [0, 2, 4, 5, 7, 9]);
        assert_eq!(kept(&points, 1, 400), [0, 4, 5, 9]);
    }
}
