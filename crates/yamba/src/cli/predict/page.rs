//! Predictions as a page.

use yamba_predict::Prediction;
use yamba_predict::Predictions;
use yamba_predict::prediction::total::{Part, Time, Total};
use yamba_report::{MeasuredBar, MissRatios, PredictedBar, PredictedPart, PredictedTime};

use super::{table, total, words};

/// The page of all predictions.
pub(super) fn page(found: &Predictions, misses: Option<&MissRatios>) -> String {
    let each = found.predictions.iter().map(|prediction| match &prediction.total {
        Some(total) => bar_of_total(total, measured_elapsed(prediction)),
        None => bar(prediction),
    });
    let sums = found.sums.iter().map(|sum| bar_of_total(sum, None));
    let bars: Vec<PredictedBar> = each.chain(sums).collect();
    yamba_report::predictions(&bars, &table::conclusions(found), misses)
}

fn bar(prediction: &Prediction) -> PredictedBar {
    let total = prediction.predicted_ns;
    PredictedBar {
        application: prediction.application.clone(),
        system: prediction.system.clone(),
        time: PredictedTime::Kernel,
        unit: prediction.unit.clone(),
        parts: parts(prediction),
        total_ns: total,
        // An open interval has no end to draw. The text and the remarks say so.
        interval_ns: prediction.interval_ns.filter(|[_, high]| high.is_finite()),
        text: words::time(total, prediction.interval_ns),
        measured: measured(prediction),
        rows: table::rows(prediction, prediction.terms.primitives.len()),
        remarks: table::remarks(prediction),
    }
}

/// A bar of elapsed time, or of processor time if the vector has no elapsed time.
fn bar_of_total(total: &Total, measured: Option<MeasuredBar>) -> PredictedBar {
    let (time, Time { ns, interval_ns, .. }) = match &total.elapsed {
        Some(elapsed) => (PredictedTime::Elapsed, elapsed),
        None => (PredictedTime::Processor, &total.processor),
    };
    let part =
        |part: &Part| PredictedPart { name: part.name.clone(), ns: part.time.ns, is_covered: true };
    PredictedBar {
        application: total.application.clone(),
        system: total.system.clone(),
        time,
        unit: total.unit.clone(),
        parts: total.parts.iter().map(part).collect(),
        total_ns: *ns,
        interval_ns: interval_ns.filter(|[_, high]| high.is_finite()),
        text: words::time(*ns, *interval_ns),
        measured,
        rows: total::rows(total),
        remarks: total::remarks(total),
    }
}

fn measured_elapsed(prediction: &Prediction) -> Option<MeasuredBar> {
    let ns = prediction.measured.as_ref()?.elapsed_ns?;
    Some(MeasuredBar { ns, interval_ns: None, text: words::time(ns, None) })
}

fn parts(prediction: &Prediction) -> Vec<PredictedPart> {
    let known = prediction.terms.primitives.iter().filter(|p| !p.is_unknown);
    let products = known.map(|product| PredictedPart {
        name: product.name.clone(),
        ns: product.product_ns,
        is_covered: product.is_covered,
    });
    let other = prediction.terms.other.iter().map(|other| PredictedPart {
        name: table::other_name(prediction),
        ns: other.product_ns,
        is_covered: false,
    });
    products.chain(other).collect()
}

fn measured(prediction: &Prediction) -> Option<MeasuredBar> {
    let measured = prediction.measured.as_ref()?;
    let error = measured
        .error
        .map_or(String::new(), |error| format!("; the prediction is {:+.1} % off", error * 100.0));
    Some(MeasuredBar {
        ns: measured.kernel_ns,
        interval_ns: Some(measured.interval_ns),
        text: words::time(measured.kernel_ns, Some(measured.interval_ns)) + &error,
    })
}
