//! Describes scaling with the number of processes or threads: throughput, efficiency, and the point
//! where more no longer help. No I/O.

use yamba_record::Benchmark;
use yamba_report::figure;
use yamba_stats::{ScalingPoint, scaling};

/// The lines below the last of the entries that differ only in their number of processes or
/// threads; none for a single entry. Invalid entries are not points of the curve.
pub(super) fn lines(entries: &[&Benchmark]) -> Vec<String> {
    let Some(letter) = letter(entries) else {
        return Vec::new();
    };
    let valid = entries.iter().filter(|b| b.valid);
    let points = valid.filter_map(|b| {
        let throughput = b.details.throughput.as_ref()?;
        let count = b.workers().count();
        Some((count, throughput.sum, throughput.unit.as_str()))
    });
    let mut points: Vec<(u64, f64, &str)> = points.collect();
    points.sort_by_key(|p| p.0);
    // A repeated number is a repeated measurement, so there is no curve.
    let is_again = points.windows(2).any(|w| w[0].0 == w[1].0);
    if points.len() < 2 || is_again {
        return Vec::new();
    }
    let curve = points
        .iter()
        .map(|(workers, sum, _)| ScalingPoint { workers: *workers as usize, throughput: *sum });
    let scaling = scaling(&curve.collect::<Vec<ScalingPoint>>());
    let most = points.last().map_or(1, |p| p.0);
    let digits = most.to_string().len();
    let lines = points.iter().enumerate().map(|(i, (workers, sum, unit))| {
        let mut line = format!("{letter}={workers:<digits$}  {}", figure(*sum, unit));
        if let Some(scaling) = &scaling {
            line += &format!("  efficiency {:.2}", scaling.efficiency[i]);
            if scaling.bend as u64 == *workers && *workers < most {
                line += "  bend: more add less than half each";
            }
        }
        line
    });
    lines.collect()
}

/// `P` if the entries differ in their number of processes, `T` if they differ in that of threads.
/// `None` if they differ in both.
fn letter(entries: &[&Benchmark]) -> Option<char> {
    let has_processes = entries.iter().any(|b| b.environment.processes > 1);
    let has_threads = entries.iter().any(|b| b.environment.threads > 1);
    match (has_processes, has_threads) {
        (true, true) => None,
        (_, true) => Some('T'),
        _ => Some('P'),
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::Status;
    use yamba_record::run::Throughput;

    use super::*;

    fn entry(processes: u64, sum: f64, unit: &str) -> Benchmark {
        let mut b = Benchmark::ended("sample", Status::Ok, Vec::new());
        (b.environment.processes, b.valid) = (processes, true);
        b.details.throughput = Some(Throughput { sum, unit: unit.to_owned() });
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
    fn threads_have_a_curve_of_their_own() {
        let mut curve = [1, 2].map(|t| entry(1, 1e6 * t as f64, "operations/s"));
        curve[1].environment.threads = 2;
        let lines = scaled(&curve);
        assert_eq!(lines[1], "T=2  2 M operations/s  efficiency 1.00");
        curve[0].environment.processes = 2;
        assert_eq!(scaled(&curve), Vec::<String>::new());
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
