//! Predictions as text.

use yamba_predict::Predictions;
use yamba_predict::prediction::Origin;
use yamba_predict::prediction::product::{Other, Product};
use yamba_predict::prediction::several::Ratio;
use yamba_predict::{Place, Prediction, Unclear};
use yamba_record::number::{counted, number};
use yamba_report::{figure, interval, short};

use super::files::sentence;
use super::total;
use super::words::{Words, disturbed, line, percent, time};
use crate::cli::output::table;

pub(super) fn text(found: &Predictions, width: Option<usize>) -> String {
    let mut parts: Vec<String> = found.predictions.iter().map(|p| one(p, width)).collect();
    parts.extend(found.sums.iter().map(|sum| total::text(sum, None, width)));
    for places in rankings(found) {
        let lines = ranking(found, places);
        parts.push(lines.iter().map(|text| line(text)).collect());
    }
    if !found.ratios.is_empty() {
        let versions = found.ratios.iter().map(|ratio| line(&version(found, ratio)));
        parts.push(versions.collect());
    }
    if !found.file_times.is_empty() {
        let times = found.file_times.iter().map(|time| line(&sentence(time)));
        parts.push(times.collect());
    }
    parts.join("\n")
}

/// The ranking of each application.
fn rankings(found: &Predictions) -> impl Iterator<Item = &[Place]> {
    let places = &found.ranking;
    places.chunk_by(|a, b| a.application == b.application)
}

/// Rankings, ratios and times of file reads as sentences.
pub(super) fn conclusions(found: &Predictions) -> Vec<String> {
    let ranked = rankings(found).map(|places| {
        let lines = ranking(found, places);
        format!("{}: {}", lines[0], lines[1..].join("; "))
    });
    let ratios = found.ratios.iter().map(|ratio| version(found, ratio));
    let file_times = found.file_times.iter().map(sentence);
    ranked.chain(ratios).chain(file_times).collect()
}

fn one(prediction: &Prediction, width: Option<usize>) -> String {
    let Some(total) = &prediction.total else {
        return kernel_time(prediction, width);
    };
    let mut out = total::text(total, prediction.measured.as_ref(), width);
    out += &prediction.user.remark.as_deref().map_or(String::new(), line);
    out += &line(&basis(prediction));
    out + &disturbed(&prediction.caveats.disturbed).map_or(String::new(), |text| line(&text))
}

fn kernel_time(prediction: &Prediction, width: Option<usize>) -> String {
    let mut out = line(&format!("{} on {}", prediction.application, prediction.system));
    let shown = shown(&prediction.terms.primitives, prediction.predicted_ns);
    out += &table(&rows(prediction, shown), width);
    out += &line(&sum(prediction));
    out += &measured(prediction).map_or(String::new(), |text| line(&text));
    for remark in remarks(prediction) {
        out += &line(&remark);
    }
    out
}

/// The titles, the first `shown` terms, the others in one row, and the time outside of them.
pub(super) fn rows(prediction: &Prediction, shown: usize) -> Vec<Vec<String>> {
    let mut rows = vec![titles()];
    let (shown, others) = prediction.terms.primitives.split_at(shown);
    rows.extend(shown.iter().map(|p| row(p, prediction)));
    if !others.is_empty() {
        rows.push(others_row(others, prediction));
    }
    let other = prediction.terms.other.filter(|other| other.traced_ns > 0.0);
    rows.extend(other.map(|other| other_row(other, prediction)));
    let empty = match prediction.trace() {
        None => FACTOR..FACTOR + 1,
        Some(_) if !has_costs(prediction) => COST..FACTOR + 1,
        Some(_) => 0..0,
    };
    rows.iter_mut().for_each(|row| drop(row.drain(empty.clone())));
    rows
}

fn has_costs(prediction: &Prediction) -> bool {
    prediction.terms.primitives.iter().any(|product| product.cost_ns.is_some())
}

fn sum(prediction: &Prediction) -> String {
    let total = prediction.predicted_ns;
    let name = Words::for_platform(prediction.platform).time;
    let what = if prediction.trace().is_some_and(|t| t.is_as_traced && !t.is_changed) {
        format!("{name} as traced")
    } else {
        format!("predicted {name}")
    };
    let unit = &prediction.unit;
    format!("{what}: {} each {unit}", time(total, prediction.interval_ns))
}

/// The measured times. An interval of the prediction does not cover its error.
pub(super) fn measured(prediction: &Prediction) -> Option<String> {
    let measured = prediction.measured.as_ref()?;
    let (kernel, user) = (measured.kernel_ns, measured.user_ns);
    let words = Words::for_platform(prediction.platform);
    let by_ticks = measured
        .by_ticks_ns
        .map_or(String::new(), |ns| format!(" ({} by clock ticks alone)", figure(ns, "ns")));
    let of_error = |error: f64| format!("; the prediction is {:+.1} % off", error * 100.0);
    Some(format!(
        "measured here: {} {} of {}{by_ticks} and {} of {}, {} units per second and core{}",
        figure(kernel, "ns"),
        interval(measured.interval_ns, kernel, "ns"),
        words.time,
        figure(user, "ns"),
        words.user_time,
        number(1e9 / (kernel + user)),
        measured.error.map_or(String::new(), of_error),
    ))
}

/// Number of products to list, of all in descending order: at least ten, and as many as make up 99
/// % of the sum. If only one would be left, it is listed, too.
fn shown(products: &[Product], total: f64) -> usize {
    const LEAST: usize = 10;
    let mut sum = 0.0;
    let enough = products.iter().position(|p| {
        sum += p.product_ns;
        sum >= 0.99 * total
    });
    let count = enough.map_or(products.len(), |at| at + 1).max(LEAST);
    if count + 1 >= products.len() { products.len() } else { count }
}

/// The products that are not listed, in one line.
fn others_row(others: &[Product], prediction: &Prediction) -> Vec<String> {
    let sum: f64 = others.iter().map(|p| p.product_ns).sum();
    let counts: f64 = others.iter().map(|p| p.count).sum();
    let open = others.iter().filter(|p| !p.is_covered && !p.is_unknown);
    let open = if has_costs(prediction) { open.count() } else { 0 };
    let unknown = others.iter().filter(|p| p.is_unknown).count();
    let how = match prediction.trace() {
        None => "as a null call",
        Some(_) => "without a cost of their own",
    };
    let marks = [(open, how), (unknown, "unknown")];
    let marks = marks.into_iter().filter(|(count, _)| *count > 0);
    let marks: Vec<String> = marks.map(|(count, how)| format!("{count} of them {how}")).collect();
    vec![
        format!("{} others", others.len()),
        String::new(),
        number(counts),
        String::new(),
        String::new(),
        figure(sum, "ns"),
        percent(sum / prediction.predicted_ns),
        marks.join(", "),
    ]
}

/// Kernel time outside of the primitives.
fn other_row(other: Other, prediction: &Prediction) -> Vec<String> {
    let mark = if prediction.is_as_traced() { "" } else { AS_THE_OTHERS };
    vec![
        other_name(prediction),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        figure(other.product_ns, "ns"),
        percent(other.product_ns / prediction.predicted_ns),
        mark.to_owned(),
    ]
}

/// The place of the cost in a row. Predictions from traced times need none.
const COST: usize = 3;

/// The place of the factor in a row, which only predictions from traced times have.
const FACTOR: usize = 4;

/// The name of the platform's time outside of the primitives.
pub(super) fn other_name(prediction: &Prediction) -> String {
    format!("other {}", Words::for_platform(prediction.platform).time)
}

const AS_THE_OTHERS: &str = "no cost: scaled as the others";

fn titles() -> Vec<String> {
    ["primitive", "size", "count", "cost", "factor", "product", "share", ""]
        .map(str::to_owned)
        .to_vec()
}

fn row(product: &Product, prediction: &Prediction) -> Vec<String> {
    vec![
        product.name.clone(),
        product.size.map_or(String::new(), size),
        number(product.count),
        product.cost_ns.map_or(String::new(), |cost| figure(cost, "ns")),
        product.context_factor.map_or(String::new(), factor),
        if product.is_unknown { "unknown".to_owned() } else { figure(product.product_ns, "ns") },
        if product.is_unknown {
            String::new()
        } else {
            percent(product.product_ns / prediction.predicted_ns)
        },
        mark(product, prediction.is_as_traced()),
    ]
}

fn mark(product: &Product, is_as_traced: bool) -> String {
    let mut marks: Vec<String> = Vec::new();
    let mut add = |applies: bool, mark: &str| marks.extend(applies.then(|| mark.to_owned()));
    let (is_scaled, details) = (!is_as_traced, product.marks);
    if product.is_carried_over {
        add(is_scaled && details.lacks_size, "without a size");
        add(is_scaled && details.is_unmeasured, "not measured yet");
        add(is_scaled, AS_THE_OTHERS);
    } else if product.is_unknown {
        add(details.is_unmeasured, "not measured yet");
        add(!details.is_unmeasured, "no cost, and it may wait");
        add(details.lacks_size, "without a size");
    } else if !product.is_covered {
        add(!details.lacks_size, "as a null call");
        add(details.lacks_size, "as a null call: without a size");
    } else {
        add(details.is_of_any_kind, "of any kind");
        let is_by_own_size = is_scaled || product.scaled_by.is_none();
        let is_beyond = details.is_extrapolated && !details.is_of_any_kind && is_by_own_size;
        add(is_beyond, "beyond the measured sizes");
    }
    if let Some(whole) = product.scaled_by.as_ref().filter(|_| is_scaled) {
        let is_kind = whole.starts_with(&format!("{}(", product.name));
        let how = if is_kind { "" } else { ", which contains it" };
        add(true, &format!("scaled as {whole}{how}"));
    }
    add(details.is_factor_of_others, "no traced time: factor of others");
    marks.join("; ")
}

/// A factor, to two digits behind the point.
fn factor(factor: f64) -> String {
    format!("{factor:.2}")
}

/// A size in the unit of the primitive. Whole multiples of 1024 have a binary prefix.
fn size(size: f64) -> String {
    if size.fract() == 0.0 { short(size as u64) } else { number(size) }
}

pub(super) fn remarks(prediction: &Prediction) -> Vec<String> {
    let mut lines = vec![basis(prediction)];
    // On the machine of the trace, costs only show how far the calls are from benchmarks.
    if !prediction.is_as_traced() || prediction.terms.coverage.calls > Some(0.0) {
        lines.push(covered(prediction));
    } else if !has_costs(prediction) {
        lines.push(NO_COSTS.to_owned());
    }
    let unbounded = prediction.unbounded.iter();
    lines.extend(unbounded.map(|reason| format!("the time has no upper bound: {reason}")));
    for part in &prediction.terms.contained {
        let (name, count) = (&part.name, number(part.count));
        lines.push(format!("{count} of {name}: part of {}", part.within));
    }
    lines.extend(leaving(prediction));
    lines.extend(user(prediction));
    lines.extend(prediction.user.remark.clone());
    let caveats = &prediction.caveats;
    if caveats.is_within_launches {
        lines.push(
            "the interval does not cover other runs: some costs are of too few launches".to_owned(),
        );
    }
    lines.extend(disturbed(&caveats.disturbed));
    lines.extend(caveats.waits.clone());
    lines.extend(caveats.limits.iter().cloned());
    let left_out = caveats.notes.len();
    if left_out > 0 {
        let what = counted(left_out, "figure of the run is", "figures of the run are");
        lines.push(format!("{what} not used: {}", caveats.notes.join("; ")));
    }
    lines
}

/// The origin of the times.
fn basis(prediction: &Prediction) -> String {
    let system = &prediction.system;
    let trace = match &prediction.origin {
        Origin::Traced(trace) => trace,
        Origin::Benchmarks { no_context } => {
            return format!(
                "from benchmarks alone, which {}: usually too low ({})",
                Words::for_platform(prediction.platform).warm,
                no_context.as_deref().unwrap_or("no trace")
            );
        }
    };
    if let Some(other) = &trace.context_from {
        let scaled = if trace.is_as_traced {
            String::new()
        } else {
            format!(", scaled by the costs on {system}")
        };
        return format!(
            "each call takes as long as in the trace of {other}{scaled}; a call that {other} does not make takes its cost times the factor of similar ones. The interval does not cover that {other} may differ from the changed application"
        );
    }
    let has_spread = trace.trace_spread.is_some();
    if trace.is_as_traced {
        let times = match trace.is_changed {
            true => "the times without the changes are",
            false => "its times are",
        };
        let spread = match has_spread {
            true => {
                "with the spread of its rounds and the uncertain border of user and kernel time"
            }
            false => "whose spread is unknown",
        };
        return format!("the vector was traced on {system}: {times} those of the trace, {spread}");
    }
    let traced_on = &trace.traced_on;
    let spread = match has_spread {
        true => {
            ", the spread of the trace's rounds and the uncertain border of user and kernel time"
        }
        false => ", not the spread of the trace",
    };
    format!(
        "the traced time, scaled by the costs on {system} to those on {traced_on}, where it was traced; the interval covers the costs{spread}"
    )
}

/// The effect of removed work on the other calls.
fn leaving(prediction: &Prediction) -> Option<String> {
    let less = figure(prediction.trace()?.leaving_ns?, "ns");
    let covered = match prediction.interval_ns {
        Some(_) => "the interval covers that",
        None => "no interval covers that: trace with `--rounds`",
    };
    Some(format!(
        "the calls that remain may take up to {less} less, since the removed ones displaced their data from the caches: {covered}"
    ))
}

fn user(prediction: &Prediction) -> Option<String> {
    let traced = figure(prediction.user.user_ns?, "ns");
    let name = Words::for_platform(prediction.platform).user_time;
    let Some(user) = &prediction.user.predicted else {
        return Some(format!("{name} where the vector was taken: {traced}; it is not predicted"));
    };
    let how = match (&user.scaled_by, user.interval_ns) {
        (Some(benchmark), Some(ends)) => format!(
            "{} {}, scaled by {benchmark} from {traced}",
            figure(user.ns, "ns"),
            interval(ends, user.ns, "ns")
        ),
        (None, Some(ends)) => format!(
            "{} {}, by its work from {traced}",
            figure(user.ns, "ns"),
            interval(ends, user.ns, "ns")
        ),
        _ => format!("{traced}, as traced"),
    };
    let rate = number(user.per_second_and_core);
    Some(format!("{name}: {how}; {rate} units per second and core"))
}

fn covered(prediction: &Prediction) -> String {
    let coverage = prediction.terms.coverage;
    let name = Words::for_platform(prediction.platform).time;
    let time = coverage.kernel_time.map_or(String::new(), |share| {
        let share = percent(share);
        format!(", {share} of the {name} where the vector was taken")
    });
    let calls = coverage.calls.map_or("unknown".to_owned(), percent);
    format!("primitives that benchmarks cover: {calls} of the uses{time}")
}

const NO_COSTS: &str = "no costs are known here to compare with: `yamba run --only-tag primitive --quick` measures them";

fn ranking(found: &Predictions, places: &[Place]) -> Vec<String> {
    let application = &places[0].application;
    let words = Words::for_application(found, application);
    let by = match &places[0] {
        Place { predicted_elapsed_ns: Some(_), .. } => "elapsed time",
        Place { predicted_user_ns: Some(_), .. } => words.both,
        _ => words.time,
    };
    let mut lines = vec![format!("{application}, the fastest system first, by {by}")];
    for place in places {
        let then = match place.unclear {
            Some(Unclear::IntervalsOverlap) => {
                "  cannot tell from later ones: the intervals overlap"
            }
            Some(Unclear::MayLackTime) => "  cannot tell from later ones: time may be missing",
            Some(Unclear::IntervalUnknown) => {
                "  cannot tell from later ones: an interval is unknown; trace with --rounds"
            }
            None => "",
        };
        let user = place.predicted_user_ns.unwrap_or(0.0);
        let ns = place.predicted_elapsed_ns.unwrap_or(place.predicted_ns + user);
        let time = figure(ns, "ns");
        lines.push(format!("{}  {time}{then}", place.system));
    }
    lines
}

fn version(found: &Predictions, ratio: &Ratio) -> String {
    let words = Words::for_application(found, &ratio.version);
    let user_time = words.user_time;
    let interval = match ratio.interval {
        [None, None] => String::new(),
        ends => {
            let [low, high] = ends.map(|end| end.map_or("unknown".to_owned(), number));
            format!(" [{low}, {high}]")
        }
    };
    let user =
        ratio.with_user_time.map_or(format!("; the {user_time} of the base is unknown"), |with| {
            format!("; {} with the {user_time} of the base in both", number(with))
        });
    let speedup = number(ratio.speedup);
    format!(
        "{} is {speedup}{interval} times as fast as {} in {} on {}{user}",
        ratio.version, ratio.base, words.time, ratio.system
    )
}
