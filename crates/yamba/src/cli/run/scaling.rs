//! Describes scaling with the number of processes: throughput, efficiency, and the point where more processes no longer help. No I/O.

use yamba_record::Benchmark;
use yamba_report::figure;
use yamba_stats::{ScalingPoint, scaling};

/// The lines below the last of the entries that differ only in their number of processes; none for a single entry. Invalid entries are not points of
/// the curve.
pub(super) fn lines(entries: &[&Benchmark]) -> Vec<String> {
    let valid = entries.iter().filter(|b| b.valid);
    let points = valid.filter_map(|b| {
        let throughput = b.throughput.as_ref()?;
        Some((b.processes, throughput.sum, throughput.unit.as_str()))
    });
    let mut points: Vec<(u64, f64, &str)> = points.collect();
    points.sort_by_key(|p| p.0);
    // A repeated number of processes is a repeated measurement, so there is no curve.
    let is_again = points.windows(2).any(|w| w[0].0 == w[1].0);
    if points.len() < 2 || is_again {
        return Vec::new();
    }
    let curve = points.iter().map(|(processes, sum, _)| ScalingPoint {
        processes: *processes as usize,
        throughput: *sum,
    });
    let scaling = scaling(&curve.collect::<Vec<ScalingPoint>>());
    let most = points.last().map_or(1, |p| p.0);
    let digits = most.to_string().len();
    let lines = points
        .iter()
        .enumerate()
        .map(|(i, (processes, sum, unit))| {
            let mut line = format!("P={processes:<digits$}  {}", figure(*sum, unit));
            if let Some(scaling) = &scaling {
                line += &format!("  efficiency {:.2}", scaling.efficiency[i]);
                if scaling.bend as u64 == *processes && *processes < most {
                    line += "  bend: more add less than half each";
                }
            }
            line
        });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use yamba_record::Status;
    use yamba_record::run::Throughput;

    use super::*;

    fn entry(processes: u64, sum: f64, unit: &str) -> Benchmark {
        let mut b = Benchmark::ended("sample", Status::Ok, Vec::new());
        (b.processes, b.valid) = (processes, true);
        b.throughput = Some(Throughput {
            sum,
            unit: unit.to_owned(),
        });
        b
    }

    fn scaled(entries: &[Benchmark]) -> Vec<String> {
        lines(&entries.iter().collect::<Vec<&Benchmark>>())
    }

    #[test]
    fn scaling_curve_marks_its_bend() {
        let curve = [1, 2, 4, 16].map(|p| entry(p, 1.5e6 * p.min(2) as f64, "operations/s"));
        assert_eq!(
            scaled(&curve),
            [
                "P=1   1.5 M operations/s  efficiency 1.00",
                "P=2   3 M operations/s  efficiency 1.00  bend: more add less than half each",
                "P=4   3 M operations/s  efficiency 0.50",
                "P=16  3 M operations/s  efficiency 0.12",
            ]
        );
    }

    #[test]
    fn curve_without_single_process_has_no_efficiency() {
        let two = [entry(2, 10.0, "GB/s"), entry(4, 18.0, "GB/s")];
        assert_eq!(scaled(&two), ["P=2  10 GB/s", "P=4  18 GB/s"]);
        assert_eq!(scaled(&two[..1]), Vec::<String>::new());
        let again = [two[0].clone(), two[0].clone()];
        assert_eq!(scaled(&again), Vec::<String>::new());
        let mut invalid = two.clone();
        invalid[1].valid = false;
        assert_eq!(scaled(&invalid), Vec::<String>::new());
    }
}
