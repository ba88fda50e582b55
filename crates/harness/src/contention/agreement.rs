//! Finds launches whose quiet batches do not agree with each other. Pure.
//!
//! A neighbour's turn may begin and end between the probes of a batch. If such turns are frequent, most batches with quiet probes
//! contain one, and their median is the neighbour's. Their times then spread by as much as the neighbour lengthens them, while
//! batches of a quiet core agree within a small part of that.

use std::collections::BTreeSet;

use yamba_record::Batch;
use yamba_stats::median;

use super::{CONTENDED, QuietWidth, WIDTH_TOLERANCE, contended_share};

/// Fewest quiet batches by which a launch is judged alone. Launches with fewer are judged together.
const ENOUGH: usize = 12;

/// More than this share of the quiet batches must lie within [`WIDTH_TOLERANCE`] of the median of their launch.
const LEAST_AGREEING: f64 = 0.5;

/// The launches beside a neighbour whose quiet batches do not agree. A benchmark whose time varies by nature is among them, since
/// nothing shows then that the neighbour does not cause it.
pub(crate) fn disagreeing_launches(
    batches: &[Batch],
    width: impl Fn(&Batch) -> QuietWidth,
) -> BTreeSet<u64> {
    let launches = batches.chunk_by(|a, b| a.launch == b.launch);
    let is_contended =
        |launch: &&[Batch]| contended_share(launch, &width).is_some_and(|share| share > CONTENDED);
    // The tests of a circle are of different sizes.
    let is_of_circle = |launch: &&[Batch]| launch.iter().any(|batch| batch.group.is_some());
    let launches = launches.filter(|launch| is_contended(launch) && !is_of_circle(launch));
    let deviations = launches.map(|launch| (launch[0].launch, deviations(launch)));
    let (long, short): (Vec<_>, Vec<_>) = deviations.partition(|(_, all)| all.len() >= ENOUGH);
    let groups = long.into_iter().map(|launch| vec![launch]).chain([short]);
    let disagree = |group: &Vec<(u64, Vec<f64>)>| {
        let all = || group.iter().flat_map(|(_, deviations)| deviations);
        let agreeing = all()
            .filter(|deviation| **deviation <= WIDTH_TOLERANCE)
            .count() as f64;
        agreeing < LEAST_AGREEING * all().count() as f64
    };
    let launches = groups.filter(disagree).flatten();
    launches.map(|(launch, _)| launch).collect()
}

/// The relative distances of the quiet batches' samples from their median.
fn deviations(launch: &[Batch]) -> Vec<f64> {
    let quiet = launch.iter().filter(|batch| batch.disturbed.is_empty());
    let samples: Vec<f64> = quiet.filter_map(|batch| batch.sample).collect();
    let Some(middle) = median(&samples).filter(|middle| *middle != 0.0) else {
        return Vec::new();
    };
    samples
        .iter()
        .map(|sample| (sample / middle - 1.0).abs())
        .collect()
}
