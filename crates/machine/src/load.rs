//! Current system load, without `tracers`.

use yamba_record::machine::details::Load;

use super::source::Source;
use super::text::{decimal, digits};

pub(super) fn load(source: &impl Source) -> Load {
    const LOADAVG: &str = "/proc/loadavg";
    let text = source.word(LOADAVG);
    let read = text.and_then(|text| source.understood(LOADAVG, loadavg(&text)));
    Load {
        average: read.map(|(average, _)| average),
        running: read.map(|(_, running)| running),
        cpu_pressure: pressure(source, "cpu"),
        io_pressure: pressure(source, "io"),
        tracers: Vec::new(),
    }
}

/// Threads that ran at both times. Short-lived ones are not load.
pub(super) fn lasting(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).map(|(a, b)| a.min(b))
}

/// Parses `0.26 0.26 0.74 1/87 6052`: the averages, and the number of running threads without the
/// one that reads the file.
fn loadavg(text: &str) -> Option<([f64; 3], u64)> {
    let fields: Vec<&str> = text.split(' ').collect();
    let [one, five, fifteen, threads, latest] = fields[..] else {
        return None;
    };
    let average = [decimal(one)?, decimal(five)?, decimal(fifteen)?];
    let (running, all) = threads.split_once('/')?;
    digits(all)?;
    digits(latest)?;
    Some((average, digits(running)?.saturating_sub(1)))
}

fn pressure(source: &impl Source, what: &str) -> Option<f64> {
    let path = format!("/proc/pressure/{what}");
    let text = source.lines(&path)?;
    source.understood(&path, text.lines().find_map(some_pressure))
}

/// Parses `some avg10=1.50 avg60=0.73 avg300=0.16 total=9`.
fn some_pressure(line: &str) -> Option<f64> {
    let fields: Vec<&str> = line.split(' ').collect();
    let ["some", ten, sixty, more, total] = fields[..] else {
        return None;
    };
    decimal(sixty.strip_prefix("avg60=")?)?;
    decimal(more.strip_prefix("avg300=")?)?;
    digits(total.strip_prefix("total=")?)?;
    decimal(ten.strip_prefix("avg10=")?)
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
        assert_eq!(loadavg("0.26 garbage 1"), None);
        assert_eq!(loadavg("0.26 1.5 0.74 3/87 6052 7"), None, "a field more");
    }
}
