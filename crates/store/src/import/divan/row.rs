//! The cells of a row of divan's table.

use super::super::words::decimal;
use super::Figure;

/// Names of the columns, in their order.
const COLUMNS: [&str; 6] = ["fastest", "slowest", "median", "mean", "samples", "iters"];

/// The place of the median.
const MEDIAN: usize = 2;

/// Units of time with their length in nanoseconds.
const TIMES: [(&str, i32, f64); 7] = [
    ("ns", 0, 1.0),
    ("µs", 3, 1.0),
    ("ms", 6, 1.0),
    ("s", 9, 1.0),
    ("m", 9, 60.0),
    ("h", 9, 3600.0),
    ("d", 9, 86_400.0),
];

type RateKind = (&'static str, &'static str, Figure, &'static str);

/// A counted quantity: the text of its rate without a prefix, the name of the figure, its kind and
/// unit.
const RATES: [RateKind; 4] = [
    ("B/s", "bytes_per_second", Figure::Bandwidth, "B/s"),
    ("item/s", "items_per_second", Figure::Rate, "items/s"),
    ("char/s", "chars_per_second", Figure::Rate, "chars/s"),
    ("Hz", "cycles_per_second", Figure::Rate, "cycles/s"),
];

/// Prefixes of rates as powers of ten, and of two.
const PREFIXES: [(&str, i32); 6] = [("", 0), ("K", 1), ("M", 2), ("G", 3), ("T", 4), ("P", 5)];

/// The figures of a benchmark.
pub(super) struct Times {
    pub(super) median_ns: f64,
    pub(super) samples: u64,
}

/// A rate of a benchmark.
pub(super) struct Rate {
    pub(super) counter: &'static str,
    pub(super) figure: Figure,
    pub(super) unit: &'static str,
    pub(super) median: f64,
}

/// The name of the root in the head of a table. `None`: another line.
pub(super) fn head(line: &str) -> Option<&str> {
    let cells: Vec<&str> = line.split('│').map(str::trim).collect();
    let name = cells[0].strip_suffix(COLUMNS[0])?;
    (cells[1..] == COLUMNS[1..] && name.ends_with(' ')).then(|| name.trim())
}

/// The cells of a row, and the text before them. The first cell ends with a number and its unit, or
/// is empty.
pub(super) fn cells(text: &str) -> Option<(&str, [&str; 6])> {
    let parts: Vec<&str> = text.split('│').collect();
    let parts: [&str; 6] = parts.try_into().ok()?;
    let mut cells = parts.map(str::trim);
    let first = parts[0].trim_end();
    if cells[1..].iter().all(|cell| cell.is_empty()) {
        let name = first.strip_suffix("(ignored)").unwrap_or(first);
        cells[0] = &first[name.len()..];
        return Some((name.trim_end(), cells));
    }
    let unit = first.rfind(' ')?;
    let number = first[..unit].trim_end().rfind(' ').map_or(0, |at| at + 1);
    cells[0] = &first[number..];
    Some((first[..number].trim_end(), cells))
}

/// Parses the cells of a benchmark. The error says why they have no figure.
pub(super) fn times(cells: &[&str; 6]) -> Result<Times, String> {
    let time = |at: usize| {
        nanoseconds(cells[at]).ok_or_else(|| format!("{} is {:?}", COLUMNS[at], cells[at]))
    };
    let count = |at: usize| {
        let is_plain = cells[at].bytes().all(|b| b.is_ascii_digit());
        let number = cells[at].parse::<u64>().ok().filter(|count| is_plain && *count > 0);
        number.ok_or_else(|| format!("{} is {:?}", COLUMNS[at], cells[at]))
    };
    let (fastest, slowest, median, mean) = (time(0)?, time(1)?, time(MEDIAN)?, time(3)?);
    let (samples, iterations) = (count(4)?, count(5)?);
    let range = fastest..=slowest;
    if !range.contains(&median) || !range.contains(&mean) || iterations < samples {
        return Err("its columns contradict each other".to_owned());
    }
    Ok(Times { median_ns: median, samples })
}

/// Parses the cells of a rate, which has neither samples nor iterations. `None`: another row.
pub(super) fn rate(cells: &[&str; 6]) -> Option<Rate> {
    if !cells[4].is_empty() || !cells[5].is_empty() {
        return None;
    }
    let rates = cells[..4].iter().map(|cell| rate_of_cell(cell));
    let rates = rates.collect::<Option<Vec<_>>>()?;
    let (_, (_, counter, figure, unit)) = rates[0];
    let is_one = rates.iter().all(|(_, kind)| kind.1 == counter);
    is_one.then(|| Rate { counter, figure, unit, median: rates[MEDIAN].0 })
}

fn nanoseconds(cell: &str) -> Option<f64> {
    let (number, unit) = cell.split_once(' ')?;
    let (_, power, factor) = TIMES.into_iter().find(|(name, ..)| *name == unit)?;
    Some(shifted(number, power)? * factor)
}

/// The number times a power of ten, without a further rounding.
fn shifted(number: &str, power: i32) -> Option<f64> {
    decimal(number)?;
    format!("{number}e{power}").parse().ok()
}

fn rate_of_cell(cell: &str) -> Option<(f64, RateKind)> {
    let (number, unit) = cell.split_once(' ')?;
    let (kind, prefix) =
        RATES.into_iter().find_map(|kind| Some((kind, unit.strip_suffix(kind.0)?)))?;
    let (binary, prefix) = match prefix.strip_suffix('i') {
        Some(prefix) => (true, prefix),
        None => (false, prefix),
    };
    let (_, power) = PREFIXES.into_iter().find(|(name, _)| *name == prefix)?;
    if !binary {
        return Some((shifted(number, 3 * power)?, kind));
    }
    let is_known = power > 0 && kind.0 == RATES[0].0;
    Some((decimal(number)? * 1024f64.powi(power), kind)).filter(|_| is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_converted_exactly() {
        for (cell, ns) in [
            ("0.675 ns", 0.675),
            ("2.684 µs", 2684.0),
            ("1.1 ms", 1_100_000.0),
            ("1.5 m", 90e9),
            ("17 s", 17e9),
        ] {
            assert_eq!(nanoseconds(cell), Some(ns), "{cell}");
        }
        for cell in ["0.675", "0,675 ns", "-1 ns", "1e3 ns", "nan ns", "1 us", "1 2 ns", "ns", ""] {
            assert_eq!(nanoseconds(cell), None, "{cell}");
        }
        let rate = |cell| rate_of_cell(cell).map(|(value, kind)| (value, kind.1));
        assert_eq!(rate("1.808 GB/s"), Some((1.808e9, "bytes_per_second")));
        assert_eq!(rate("1.5 KiB/s"), Some((1536.0, "bytes_per_second")));
        assert_eq!(rate("267.7 Mitem/s"), Some((267.7e6, "items_per_second")));
        assert_eq!(rate("3 char/s"), Some((3.0, "chars_per_second")));
        assert_eq!(rate("2.5 GHz"), Some((2.5e9, "cycles_per_second")));
        for cell in ["inf B/s", "1.5 iB/s", "1 Kiitem/s", "1 XB/s", "1 B", "5 ns"] {
            assert_eq!(rate(cell), None, "{cell}");
        }
    }

    #[test]
    fn name_may_have_spaces() {
        let row = "Vec<i32, A>   1 ns     │ 3 ns │ 2 ns │ 2 ns │ 100 │ 200";
        let (name, cells) = super::cells(row).unwrap();
        assert_eq!((name, cells[0], cells[5]), ("Vec<i32, A>", "1 ns", "200"));
        let (name, cells) = super::cells("fib 10 ns   │  │  │  │  │ ").unwrap();
        assert_eq!((name, cells[0]), ("fib 10 ns", ""));
        let (name, cells) = super::cells("slow   (ignored)  │  │  │  │  │ ").unwrap();
        assert_eq!((name, cells[0]), ("slow", "(ignored)"));
        assert!(super::cells("add  1 ns │ 3 ns │ 2 ns").is_none());
    }
}
