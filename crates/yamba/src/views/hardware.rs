//! The parameters of a processor: found beside claimed.

use yamba_record::hardware::HardwareParameter;
use yamba_record::number::{bytes, number};
use yamba_report::{Part, Table, View};

pub fn view(parameters: &[HardwareParameter]) -> View {
    let found = parameters.iter().filter(|p| p.found.is_some());
    let unknown: Vec<&HardwareParameter> =
        parameters.iter().filter(|p| p.found.is_none()).collect();
    let titles = ["parameter", "found", "interval", "claimed", "what"];
    let mut parts = vec![Part::Table(Table::new(&titles, found.map(row)))];
    if !unknown.is_empty() {
        let titles = ["cannot tell", "claimed", "reason"];
        parts.push(Part::Table(Table::new(&titles, unknown.into_iter().map(unknown_row))));
    }
    View::new("hardware").section("", parts)
}

fn row(p: &HardwareParameter) -> Vec<String> {
    let interval = p.interval.map(|[low, high]| {
        if low == high {
            String::new()
        } else {
            let ends =
                [low, high].map(|end| if p.unit == "B" { bytes(end as u64) } else { number(end) });
            ends.join(" to ")
        }
    });
    vec![
        p.name.clone(),
        p.found.map(|found| value(found, &p.unit)).unwrap_or_default(),
        interval.unwrap_or_default(),
        claimed(p),
        yamba_session::hardware::meaning(&p.name).to_owned(),
    ]
}

fn unknown_row(p: &HardwareParameter) -> Vec<String> {
    vec![p.name.clone(), claimed(p), p.reason.clone().unwrap_or_default()]
}

fn claimed(p: &HardwareParameter) -> String {
    p.claimed.map(|claimed| value(claimed, &p.unit)).unwrap_or_default()
}

/// A value with its unit. Bytes have prefixes.
fn value(value: f64, unit: &str) -> String {
    match unit {
        "B" => bytes(value as u64),
        _ => format!("{} {unit}", number(value)),
    }
}
