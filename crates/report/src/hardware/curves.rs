//! Drawings of curves: the memory mountain, the matrix between processors, and the
//! latency of memory under load.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::event::LowestCurve;
use yamba_record::number::{bytes, number, rounded};
use yamba_record::{Benchmark, Run};

use crate::chart::{Chart, Curve, Point};
use crate::letters::run_letter;
use crate::ticks::ends;
use crate::view::{Matrix, Part};

/// A point of a curve over two dimensions is this many times the first, plus the second.
const ROW: f64 = 10_000.0;
/// The units of such points.
const PAIR: &str = "pair";
const MOUNTAIN: &str = "KiB, stride";

/// The curves of latency under load, and of the bytes that the load has read.
const LATENCY: &str = "loaded_latency";
const READS: &str = "loaded_reads";

/// Bytes of a word of the memory mountain, if the machine's pointers have 64 bits.
const WORD: f64 = 8.0;
const WORD_OF_32_BITS: f64 = 4.0;

/// From this multiple of the unloaded latency on, memory counts as saturated.
const SATURATED: f64 = 1.5;

/// Colours of a matrix span at least this ratio, so that noise has no contrast.
const LEAST_RATIO: f64 = 2.0;

/// Whether [`parts`] draw the curve of this benchmark, so that no chart of its points has to.
pub(crate) fn is_drawn(runs: &[Run], benchmark: &Benchmark) -> bool {
    let curve = benchmark.details.lowest_curve.as_ref();
    curve.is_some_and(|c| c.x_unit == PAIR || c.x_unit == MOUNTAIN)
        || ([LATENCY, READS].contains(&benchmark.name.as_str()) && loaded(runs).is_some())
}

pub(super) fn parts(runs: &[Run]) -> Vec<Part> {
    let mountains = matrices(runs, MOUNTAIN, mountain);
    let pairs = matrices(runs, PAIR, between_processors);
    let loaded = loaded(runs).map(|chart| Part::Charts(vec![chart]));
    mountains.into_iter().chain(pairs).map(Part::Matrix).chain(loaded).collect()
}

/// The points of a curve by row and column, with the time in ns.
type Cells = BTreeMap<(u64, u64), f64>;

/// The matrices of all runs whose points have this unit, with colours on one scale.
fn matrices(runs: &[Run], unit: &str, draw: impl Fn(&Run, &Cells) -> Matrix) -> Vec<Matrix> {
    let each = runs.iter().enumerate().filter_map(|(number, run)| {
        let curve = curves(run).find(|(_, curve)| curve.x_unit == unit)?.1;
        let points = curve.x.iter().zip(&curve.ns);
        let cells = points.map(|(x, ns)| (((x / ROW) as u64, (x % ROW) as u64), *ns)).collect();
        let mut matrix = draw(run, &cells);
        let name = run_letter(runs, number, "");
        if !name.is_empty() {
            matrix.caption = format!("{name}: {}", matrix.caption);
        }
        Some(matrix)
    });
    let mut all: Vec<Matrix> = each.collect();
    let (low, high) = ends(all.iter().flat_map(|m| &m.values).flatten().flatten().copied());
    all.iter_mut().for_each(|m| m.ends = [low, high.max(LEAST_RATIO * low)]);
    all
}

/// The recorded curves of a run, with their benchmarks.
fn curves(run: &Run) -> impl Iterator<Item = (&Benchmark, &LowestCurve)> {
    run.benchmarks.iter().filter_map(|b| Some((b, b.details.lowest_curve.as_ref()?)))
}

/// Throughput by stride and size.
fn mountain(run: &Run, cells: &Cells) -> Matrix {
    let sizes: BTreeSet<u64> = cells.keys().map(|(size, _)| *size).collect();
    let strides: BTreeSet<u64> = cells.keys().map(|(_, stride)| *stride).collect();
    let word = if is_of_32_bits(run) { WORD_OF_32_BITS } else { WORD };
    let throughput = |size: u64, stride: u64| cells.get(&(size, stride)).map(|ns| word / ns);
    let row = |stride: &u64| sizes.iter().map(|size| throughput(*size, *stride)).collect();
    Matrix {
        caption: "Memory mountain: GB/s of one processor that reads words, by the distance of the words and the size of the buffer.".to_owned(),
        corner: "stride".to_owned(),
        rows: strides.iter().map(|stride| bytes(*stride)).collect(),
        columns: sizes.iter().map(|size| bytes(size * 1024)).collect(),
        values: strides.iter().map(row).collect(),
        ..Matrix::default()
    }
}

fn is_of_32_bits(run: &Run) -> bool {
    run.machine.isa.ends_with("32")
}

/// The time between each two processors, numbered from 0.
fn between_processors(_: &Run, cells: &Cells) -> Matrix {
    let all: BTreeSet<u64> = cells.keys().flat_map(|(one, other)| [*one, *other]).collect();
    let time = |one, other| cells.get(&(one, other)).or_else(|| cells.get(&(other, one))).copied();
    let row = |one: &u64| all.iter().map(|other| time(*one, *other)).collect();
    let names: Vec<String> = all.iter().map(|one| (one - 1).to_string()).collect();
    Matrix {
        caption: "Core to core: ns until a write of one processor is seen by another one. The processors are those that the process may use, counted from 0.".to_owned(),
        corner: "processor".to_owned(),
        rows: names.clone(),
        columns: names,
        values: all.iter().map(row).collect(),
        ..Matrix::default()
    }
}

/// The latency of memory against what others read at the same time. `None` if no run has both.
fn loaded(runs: &[Run]) -> Option<Chart> {
    let mut findings = Vec::new();
    let mut all = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let points = loaded_points(run);
        if points.len() < 2 {
            continue;
        }
        let name = run_letter(runs, number, "");
        let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
        findings.push(knee(&of, &points));
        let drawn = points.iter().map(|(x, y)| Point {
            text: format!("{} ns at {} MB/s", number_of(*y), number_of(*x)),
            ..Point::new(*x, *y, None)
        });
        all.push(Curve::new(name, drawn));
    }
    let chart = Chart::new(
        "loaded_latency",
        "latency of memory",
        "ns",
        "reads of the other processors (MB/s)",
        all,
    );
    (!chart.curves.is_empty()).then_some(Chart { findings, ..chart })
}

/// Pairs of MB/s and ns, ascending. The unloaded latency is at 0 MB/s.
fn loaded_points(run: &Run) -> Vec<(f64, f64)> {
    let curve = |name: &str| curves(run).find(|(b, _)| b.name == name).map(|(_, curve)| curve);
    let (Some(latency), Some(reads)) = (curve(LATENCY), curve(READS)) else {
        return Vec::new();
    };
    let bandwidth = |x: f64| {
        let place = reads.x.iter().position(|one| *one == x)?;
        Some(1024.0 * 1e3 / reads.ns[place])
    };
    let first = latency.x.first().copied();
    let points = latency.x.iter().zip(&latency.ns).filter_map(|(x, ns)| {
        let unloaded = (Some(*x) == first).then_some(0.0);
        Some((bandwidth(*x).or(unloaded)?, *ns))
    });
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Where the latency leaves that of unloaded memory for good.
fn knee(of: &str, points: &[(f64, f64)]) -> String {
    let limit = SATURATED * points[0].1;
    let below = points.iter().rposition(|(_, ns)| *ns < limit).unwrap_or(0);
    match points.get(below + 1) {
        Some((at, _)) => format!(
            "Knee{of} at {} MB/s: from there on a load takes at least half as long again as without reads",
            number_of(*at)
        ),
        None => format!(
            "No knee{of} up to {} MB/s: a load never takes half as long again as without reads",
            number_of(points[below].0)
        ),
    }
}

fn number_of(value: f64) -> String {
    number(rounded(value, 3))
}

#[cfg(test)]
mod tests {
    use yamba_record::Machine;

    use super::*;

    /// Name, unit, and points of a curve.
    type Recorded<'a> = (&'a str, &'a str, &'a [(f64, f64)]);

    fn run(curves: &[Recorded]) -> Run {
        let mut run = Run::new(Machine { isa: "x86_64".to_owned(), ..Machine::default() });
        for (name, unit, points) in curves {
            let text = r#"{"name":"","class":"","ports":[],"parameters":{},"processes":1,"status":"ok",
                "valid":true,"unit":"ns","operations":1,"median":null,"confidence_interval":null,"samples":[],"evidence":{},"notes":[]}"#;
            let mut entry: Benchmark = serde_json::from_str(text).unwrap();
            entry.name = (*name).to_owned();
            let (x, ns) = points.iter().copied().unzip();
            entry.details.lowest_curve =
                Some(LowestCurve { name: String::new(), x_unit: (*unit).to_owned(), x, ns });
            run.benchmarks.push(entry);
        }
        run
    }

    #[test]
    fn pairs_become_a_symmetric_matrix() {
        let run = run(&[("core_to_core", PAIR, &[(10_002.0, 50.0), (10_003.0, 180.0)])]);
        let [Part::Matrix(matrix)] = &parts(&[run])[..] else { panic!() };
        assert_eq!(matrix.columns, ["0", "1", "2"]);
        let expected =
            [[None, Some(50.0), Some(180.0)], [Some(50.0), None, None], [Some(180.0), None, None]];
        assert_eq!(matrix.values, expected);
        assert_eq!(matrix.ends, [50.0, 180.0]);
    }

    #[test]
    fn mountain_has_throughput_by_stride_and_size() {
        let points = [(160_008.0, 0.5), (160_064.0, 1.0), (320_008.0, 2.0), (320_064.0, 4.0)];
        let a = run(&[("memory_mountain", MOUNTAIN, &points)]);
        let parts = parts(&[a.clone(), a]);
        let [Part::Matrix(matrix), Part::Matrix(other)] = &parts[..] else { panic!() };
        assert_eq!(matrix.rows, ["8 B", "64 B"]);
        assert_eq!(matrix.columns, ["16 KiB", "32 KiB"]);
        assert_eq!(matrix.values[0], [Some(16.0), Some(4.0)]);
        assert_eq!(matrix.values[1], [Some(8.0), Some(2.0)]);
        assert!(other.caption.starts_with("B: Memory mountain"));
    }

    #[test]
    fn latency_stands_against_bandwidth_with_its_knee() {
        let mut latency = vec![(1.0, 100.0), (50.0, 110.0), (100.0, 160.0)];
        let reads = [(50.0, 0.1), (100.0, 0.05)];
        let chart = |latency: &[(f64, f64)]| {
            loaded(&[run(&[(LATENCY, "%", latency), (READS, "%", &reads)])]).unwrap()
        };
        let drawn = chart(&latency);
        let points: Vec<(f64, f64)> = drawn.points().map(|p| (p.x, p.y)).collect();
        assert_eq!(points, [(0.0, 100.0), (10_240_000.0, 110.0), (20_480_000.0, 160.0)]);
        assert!(drawn.findings[0].starts_with("Knee at 20500000 MB/s"), "{:?}", drawn.findings);
        latency[2].1 = 140.0;
        assert!(chart(&latency).findings[0].starts_with("No knee up to"));
        assert!(loaded(&[run(&[(LATENCY, "%", &latency)])]).is_none());
    }
}
