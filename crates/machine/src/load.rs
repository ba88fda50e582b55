//! Current system load.

use yamba_record::machine::details::Load;

use super::source::Source;

pub(super) fn load(source: &impl Source) -> Load {
    let loadavg = source.read("/proc/loadavg").unwrap_or_default();
    Load {
        average: average(&loadavg),
        running: running(&loadavg),
        cpu_pressure: pressure(source, "cpu"),
        io_pressure: pressure(source, "io"),
    }
}

/// Threads that ran at both times. Short-lived ones are not load.
pub(super) fn lasting(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).map(|(a, b)| a.min(b))
}

/// Parses the averages of `0.26 0.26 0.74 1/87 6052`.
fn average(loadavg: &str) -> Option<[f64; 3]> {
    let numbers: Vec<f64> = loadavg
        .split(' ')
        .take(3)
        .filter_map(|n| n.parse().ok())
        .collect();
    numbers.try_into().ok()
}

/// The number of running threads, without the one that reads the file.
fn running(loadavg: &str) -> Option<u64> {
    let (running, _) = loadavg.split(' ').nth(3)?.split_once('/')?;
    Some(running.parse::<u64>().ok()?.saturating_sub(1))
}

/// Parses `some avg10=1.50 avg60=...`.
fn pressure(source: &impl Source, what: &str) -> Option<f64> {
    let text = source.read(&format!("/proc/pressure/{what}"))?;
    let some = text.lines().find(|l| l.starts_with("some "))?;
    let (_, rest) = some.split_once("avg10=")?;
    rest.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn reads_load_and_pressure() {
        let sample = Sample::new(
            "== /proc/loadavg\n0.26 1.5 0.74 3/87 6052\n== /proc/pressure/cpu\nsome avg10=1.50 avg60=0.73 avg300=0.16 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        );
        let load = load(&sample);
        assert_eq!(load.average, Some([0.26, 1.5, 0.74]));
        assert_eq!(load.running, Some(2));
        assert_eq!(load.cpu_pressure, Some(1.5));
        assert_eq!(load.io_pressure, None);
        assert_eq!(average("0.26 garbage 1"), None);
    }
}
