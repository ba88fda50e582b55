//! Totals of elapsed and processor time as text.

use yamba_predict::prediction::MeasuredTimes;
use yamba_predict::prediction::total::{NotPredicted, Part, PartOrigin, Time, Total};
use yamba_record::number::number;
use yamba_report::figure;

use super::words::{line, percent, time};
use crate::cli::output::table;

/// Parts with a smaller share are listed together.
const SMALL: f64 = 0.005;

/// With fewer threads at once on average, the text names no parallelism.
const ALONE: f64 = 1.005;

/// The total, its parts, and the parts that nothing predicts.
pub(super) fn text(
    total: &Total,
    measured: Option<&MeasuredTimes>,
    width: Option<usize>,
) -> String {
    let mut out = line(&sum(total));
    out += &table(&rows(total), width);
    for remark in remarks(total).into_iter().chain(measured.and_then(|m| with_error(total, m))) {
        out += &line(&remark);
    }
    out
}

/// The times in a sentence.
fn sum(total: &Total) -> String {
    let Total { application, system, unit, .. } = total;
    let shown = |of: &Time, lacks_part: bool| {
        let has_no_end = of.interval_ns.is_some_and(|[_, high]| high.is_infinite());
        let bound = if lacks_part || has_no_end { "at least " } else { "" };
        format!("{bound}{}", time(of.ns, of.interval_ns))
    };
    let processor = shown(&total.processor, total.lacks_processor_time());
    match &total.elapsed {
        Some(elapsed) => format!(
            "{application} on {system}: {} elapsed, {processor} on processors, each {unit}",
            shown(elapsed, total.lacks_elapsed_time())
        ),
        None => format!("{application} on {system}: {processor} on processors, each {unit}"),
    }
}

pub(super) fn rows(total: &Total) -> Vec<Vec<String>> {
    let titles = ["part", "time", "share", ""].map(str::to_owned).to_vec();
    let (large, small): (Vec<&Part>, Vec<&Part>) =
        total.parts.iter().partition(|part| part.share >= SMALL || part.is_processor_time);
    let mut rows = vec![titles];
    rows.extend(large.iter().map(|part| row(part)));
    match small[..] {
        [] => {}
        [part] => rows.push(row(part)),
        _ => rows.push(vec![
            format!("waiting: {} other calls", small.len()),
            figure(small.iter().map(|part| part.time.ns).sum(), "ns"),
            percent(small.iter().map(|part| part.share).sum()),
            String::new(),
        ]),
    }
    rows
}

fn row(part: &Part) -> Vec<String> {
    let origin = match &part.origin {
        PartOrigin::Costs => "by costs".to_owned(),
        PartOrigin::Traced => "as traced".to_owned(),
        PartOrigin::TracedWithChanges => "as traced, with the changes".to_owned(),
        PartOrigin::SetByApplication => "the application sets it".to_owned(),
        PartOrigin::TakenAsTraced => "taken as traced".to_owned(),
        PartOrigin::ScaledBy(score) => format!("scaled by {score} alone"),
        PartOrigin::Work => "by counted work".to_owned(),
        PartOrigin::Total => String::new(),
    };
    let shown = time(part.time.ns, part.time.interval_ns);
    vec![part.name.clone(), shown, percent(part.share), origin]
}

/// Missing parts and assumptions of the total, a line each.
pub(super) fn remarks(total: &Total) -> Vec<String> {
    let at_once = total.parallelism.filter(|threads| *threads >= ALONE).map(|threads| {
        let threads = number(threads);
        format!("{threads} threads ran at once as traced: processor time counts divided by that")
    });
    let spread = total.elapsed.as_ref().unwrap_or(&total.processor).interval_ns.is_none();
    let unknown =
        spread.then(|| "the spread is unknown: trace with `--rounds` for an interval".to_owned());
    let (lacking, others): (Vec<&NotPredicted>, Vec<&NotPredicted>) =
        total.not_predicted.iter().partition(|part| !part.is_of_other_programs);
    let lines = lacking.into_iter().map(|part| format!("not predicted: {}", share(part)));
    let others = others
        .into_iter()
        .map(|part| format!("not predicted, since other programs cause it: {}", share(part)));
    lines.chain(others).chain(at_once).chain(unknown).collect()
}

fn share(part: &NotPredicted) -> String {
    match part.share_as_traced {
        Some(share) => format!("{}, {} of the elapsed time as traced", part.name, percent(share)),
        None => part.name.clone(),
    }
}

/// The measured times. A total that lacks a part has no error.
fn with_error(total: &Total, measured: &MeasuredTimes) -> Option<String> {
    let processor_ns = measured.kernel_ns + measured.user_ns;
    let off = |predicted: &Time, lacks_part: bool, ns: f64| match lacks_part {
        true => String::new(),
        false => format!(" (the prediction is {:+.1} % off)", (predicted.ns / ns - 1.0) * 100.0),
    };
    let elapsed = measured.elapsed_ns.zip(total.elapsed.as_ref()).map(|(ns, predicted)| {
        let off = off(predicted, total.lacks_elapsed_time(), ns);
        format!("{} elapsed{off}, ", figure(ns, "ns"))
    });
    Some(format!(
        "measured here: {}{} on processors{}",
        elapsed.unwrap_or_default(),
        figure(processor_ns, "ns"),
        off(&total.processor, total.lacks_processor_time(), processor_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: MeasuredTimes = MeasuredTimes {
        kernel_ns: 2e6,
        by_ticks_ns: None,
        interval_ns: [2e6; 2],
        user_ns: 3e6,
        elapsed_ns: Some(10e6),
        units: 1.0,
        error: None,
    };

    /// A time from one round.
    fn time(ns: f64) -> Time {
        let mut time = Time::default();
        time.ns = ns;
        time
    }

    fn remark(is_processor_time: bool, is_of_other_programs: bool) -> String {
        let lacking = NotPredicted {
            name: String::new(),
            share_as_traced: None,
            is_processor_time,
            is_of_other_programs,
        };
        let total = Total {
            application: String::new(),
            unit: String::new(),
            system: String::new(),
            elapsed: Some(time(11e6)),
            processor: time(6e6),
            traced_elapsed_ns: None,
            parallelism: None,
            parts: Vec::new(),
            not_predicted: vec![lacking],
        };
        with_error(&total, &MEASURED).unwrap()
    }

    #[test]
    fn time_that_lacks_a_part_has_no_error() {
        let [elapsed, processor] =
            [10, 20].map(|off| format!(" (the prediction is +{off}.0 % off)"));
        let remark_with = |elapsed: &str, processor: &str| {
            format!("measured here: 10 ms elapsed{elapsed}, 5 ms on processors{processor}")
        };
        assert_eq!(remark(false, true), remark_with(&elapsed, &processor));
        assert_eq!(remark(false, false), remark_with("", &processor));
        assert_eq!(remark(true, false), remark_with("", ""));
    }
}
