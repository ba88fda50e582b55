//! Predictions as a page.

use yamba_predict::Prediction;
use yamba_predict::Predictions;
use yamba_report::{MeasuredBar, MissRatios, PredictedBar, PredictedPart};

use super::table;

/// The page of all predictions.
pub(super) fn page(found: &Predictions, misses: Option<&MissRatios>) -> String {
    let bars: Vec<PredictedBar> = found.predictions.iter().map(bar).collect();
    yamba_report::predictions(&bars, &table::conclusions(found), misses)
}

fn bar(prediction: &Prediction) -> PredictedBar {
    let total = prediction.predicted_ns;
    PredictedBar {
        application: prediction.application.clone(),
        system: prediction.system.clone(),
        unit: prediction.unit.clone(),
        parts: parts(prediction),
        total_ns: total,
        // An open interval has no end to draw. The text and the remarks say so.
        interval_ns: prediction.interval_ns.filter(|[_, high]| high.is_finite()),
        text: table::time(total, prediction.interval_ns),
        measured: measured(prediction),
        rows: table::rows(prediction, prediction.terms.primitives.len()),
        remarks: table::remarks(prediction),
    }
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
        text: table::time(measured.kernel_ns, Some(measured.interval_ns)) + &error,
    })
}
