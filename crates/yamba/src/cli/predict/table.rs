//! Predictions as text.

use yamba_predict::document::Predictions;
use yamba_predict::prediction::{Coverage, Product};
use yamba_predict::ratio::Ratio;
use yamba_predict::{Place, Prediction};
use yamba_record::number::number;
use yamba_report::{figure, interval, short};

use crate::cli::output::{counted, table};
use crate::cli::run_ref::plain;

pub(super) fn text(found: &Predictions, width: Option<usize>) -> String {
    let mut parts: Vec<String> = found.predictions.iter().map(|p| one(p, width)).collect();
    for places in found
        .ranking
        .chunk_by(|a, b| a.application == b.application)
    {
        parts.push(ranking(places));
    }
    if !found.ratios.is_empty() {
        parts.push(found.ratios.iter().map(version).collect());
    }
    parts.join("\n")
}

/// A line without control characters: the names come from documents.
fn line(text: &str) -> String {
    plain(text) + "\n"
}

fn one(prediction: &Prediction, width: Option<usize>) -> String {
    let mut rows = vec![titles()];
    let total = prediction.predicted_ns;
    let shown = shown(&prediction.primitives, total);
    let (shown, others) = prediction.primitives.split_at(shown);
    rows.extend(shown.iter().map(|p| row(p, total)));
    if !others.is_empty() {
        rows.push(others_row(others, total));
    }
    let mut out = line(&format!(
        "{} on {}",
        prediction.application, prediction.system
    ));
    out += &table(&rows, width);
    out += &line(&format!(
        "predicted kernel time: {} {} each {}",
        figure(prediction.predicted_ns, "ns"),
        interval(prediction.interval_ns, prediction.predicted_ns, "ns"),
        prediction.unit
    ));
    if let Some(measured) = measured(prediction) {
        out += &line(&measured);
    }
    for remark in remarks(prediction) {
        out += &line(&remark);
    }
    out
}

/// The measured times. An interval of the prediction does not cover its error.
fn measured(prediction: &Prediction) -> Option<String> {
    let (kernel, user) = (prediction.measured_ns?, prediction.measured_user_ns?);
    let of_error = |error: f64| format!("; the prediction is {:+.1} % off", error * 100.0);
    Some(format!(
        "measured here: {} {} of kernel time and {} of user time, {} units per second and core{}",
        figure(kernel, "ns"),
        interval(prediction.measured_interval_ns?, kernel, "ns"),
        figure(user, "ns"),
        number(1e9 / (kernel + user)),
        prediction.error.map_or(String::new(), of_error),
    ))
}

/// Number of products to list, of all in descending order: at least ten, and those that are 99 % of the sum. A single one more is listed too.
fn shown(products: &[Product], total: f64) -> usize {
    const LEAST: usize = 10;
    let mut sum = 0.0;
    let enough = products.iter().position(|p| {
        sum += p.product_ns;
        sum >= 0.99 * total
    });
    let count = enough.map_or(products.len(), |at| at + 1).max(LEAST);
    if count + 1 >= products.len() {
        products.len()
    } else {
        count
    }
}

/// The products that are not listed, in one line.
fn others_row(others: &[Product], total: f64) -> Vec<String> {
    let sum: f64 = others.iter().map(|p| p.product_ns).sum();
    let counts: f64 = others.iter().map(|p| p.count).sum();
    let open = others.iter().filter(|p| !p.is_covered).count();
    let mark = match open {
        0 => String::new(),
        open => format!("{open} of them as a null call"),
    };
    vec![
        format!("{} others", others.len()),
        String::new(),
        number(counts),
        String::new(),
        figure(sum, "ns"),
        percent(sum / total),
        mark,
    ]
}

fn titles() -> Vec<String> {
    ["primitive", "size", "count", "cost", "product", "share", ""]
        .map(str::to_owned)
        .to_vec()
}

fn row(product: &Product, total: f64) -> Vec<String> {
    let mark = match (product.is_covered, product.is_extrapolated) {
        (false, _) if product.lacks_size => "as a null call: without a size",
        (false, _) => "as a null call",
        (true, _) if product.is_of_any_kind => "of any kind",
        (true, true) => "beyond the measured sizes",
        (true, false) => "",
    };
    vec![
        product.name.clone(),
        product.size.map_or(String::new(), size),
        number(product.count),
        figure(product.cost_ns, "ns"),
        figure(product.product_ns, "ns"),
        percent(product.product_ns / total),
        mark.to_owned(),
    ]
}

/// A size in the unit of the primitive. Whole multiples of 1024 have a binary prefix.
fn size(size: f64) -> String {
    if size.fract() == 0.0 {
        short(size as u64)
    } else {
        number(size)
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn remarks(prediction: &Prediction) -> Vec<String> {
    let mut lines = vec![covered(prediction.coverage)];
    for part in &prediction.contained {
        let (name, count) = (&part.name, number(part.count));
        lines.push(format!("{count} of {name}: part of {}", part.within));
    }
    if let Some(user) = prediction.user_ns {
        let user = figure(user, "ns");
        lines.push(format!(
            "user time where the vector was taken: {user}; it is not predicted"
        ));
    }
    if prediction.is_within_launches {
        lines.push(
            "the interval does not cover other runs: some costs are of too few launches".to_owned(),
        );
    }
    let left_out = prediction.notes.len();
    if left_out > 0 {
        let what = counted(left_out, "figure of the run is", "figures of the run are");
        lines.push(format!("{what} not used: {}", prediction.notes.join("; ")));
    }
    lines
}

fn covered(coverage: Coverage) -> String {
    let time = coverage.kernel_time.map_or(String::new(), |share| {
        format!(
            ", {} of the kernel time where the vector was taken",
            percent(share)
        )
    });
    let calls = coverage.calls.map_or("unknown".to_owned(), percent);
    format!("primitives with a cost of their own: {calls} of the uses{time}")
}

fn ranking(places: &[Place]) -> String {
    let mut out = line(&format!(
        "{}, the fastest system first",
        places[0].application
    ));
    for place in places {
        let then = match place.is_before_later {
            Some(false) => "  cannot tell from later ones: the intervals overlap",
            _ => "",
        };
        let time = figure(place.predicted_ns, "ns");
        out += &line(&format!("{}  {time}{then}", place.system));
    }
    out
}

fn version(ratio: &Ratio) -> String {
    let [low, high] = ratio
        .interval
        .map(|end| end.map_or("unknown".to_owned(), number));
    let user = ratio.with_user_time.map_or(
        "; the user time of the base is unknown".to_owned(),
        |with| format!("; {} with the user time of the base in both", number(with)),
    );
    let speedup = number(ratio.speedup);
    line(&format!(
        "{} is {speedup} [{low}, {high}] times as fast as {} in kernel time on {}{user}",
        ratio.version, ratio.base, ratio.system
    ))
}
