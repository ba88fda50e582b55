//! Judges launches by how well their quiet batches agree with each other. Pure.
//!
//! A neighbour's turn may begin and end between the probes of a batch. If such turns are frequent,
//! most batches with quiet probes contain one, and their median is the neighbour's. Their times
//! then spread by as much as the neighbour lengthens them, while batches of a quiet core agree
//! within a small part of that.

use std::collections::BTreeSet;

use yamba_record::Batch;
use yamba_stats::median;

use super::blind::blind_launches;
use super::{CONTENDED, QuietWidth, WIDTH_TOLERANCE, contended_share};

/// Fewest quiet batches by which a launch is judged alone. Launches with fewer are judged together.
const ENOUGH: usize = 12;

/// At least this share of the quiet batches must lie within [`WIDTH_TOLERANCE`] of the median of
/// their launch.
const LEAST_AGREEING: f64 = 0.5;

/// Fewest quiet batches, and their least share that agrees, of a launch that counts however few
/// they are among its batches.
const FEWEST_TO_TRUST: usize = 8;
const AGREEING: f64 = 2.0 / 3.0;

/// The launches beside a neighbour, judged by their probes and by the times of their quiet batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QuietBatches {
    /// The launches whose quiet batches may contain turns of the neighbour.
    pub doubtful: BTreeSet<u64>,
    /// The launches whose quiet batches agree so well that few of them contain one. Batches much
    /// longer than the turns agree, too, so these launches may be doubtful.
    pub agreeing: BTreeSet<u64>,
}

/// Judges the quiet batches of each launch. Those of a benchmark whose time varies by nature are
/// doubtful, since nothing shows then that the neighbour does not cause it.
pub(crate) fn quiet_batches(
    batches: &[Batch],
    width: impl Fn(&Batch) -> QuietWidth,
) -> QuietBatches {
    let launches = batches.chunk_by(|a, b| a.launch == b.launch);
    let is_contended =
        |launch: &&[Batch]| contended_share(launch, &width).is_some_and(|share| share > CONTENDED);
    // The tests of a circle are of different sizes.
    let is_of_circle = |launch: &&[Batch]| launch.iter().any(|batch| batch.group.is_some());
    let launches = launches.filter(|launch| is_contended(launch) && !is_of_circle(launch));
    let launches: Vec<(u64, Vec<f64>)> =
        launches.map(|launch| (launch[0].launch, deviations(launch))).collect();
    let trusted = launches.iter().filter(|(_, deviations)| {
        deviations.len() >= FEWEST_TO_TRUST && agreeing_share(deviations) >= AGREEING
    });
    let agreeing: BTreeSet<u64> = trusted.map(|(launch, _)| *launch).collect();
    let doubtful = &blind_launches(batches, width) | &disagreeing(launches);
    QuietBatches { doubtful, agreeing }
}

/// The launches in which too few of the quiet batches agree.
fn disagreeing(launches: Vec<(u64, Vec<f64>)>) -> BTreeSet<u64> {
    let (long, short): (Vec<_>, Vec<_>) =
        launches.into_iter().partition(|(_, deviations)| deviations.len() >= ENOUGH);
    let groups = long.into_iter().map(|launch| vec![launch]).chain([short]);
    let disagree = |group: &Vec<(u64, Vec<f64>)>| {
        let all: Vec<f64> = group.iter().flat_map(|(_, deviations)| deviations).copied().collect();
        agreeing_share(&all) < LEAST_AGREEING
    };
    groups.filter(disagree).flatten().map(|(launch, _)| launch).collect()
}

/// The share of these deviations within the tolerance; 1 without any.
fn agreeing_share(deviations: &[f64]) -> f64 {
    if deviations.is_empty() {
        return 1.0;
    }
    let agreeing = deviations.iter().filter(|deviation| **deviation <= WIDTH_TOLERANCE);
    agreeing.count() as f64 / deviations.len() as f64
}

/// The relative distances of the quiet batches' samples from their median.
fn deviations(launch: &[Batch]) -> Vec<f64> {
    let quiet = launch.iter().filter(|batch| batch.disturbed.is_empty());
    let samples: Vec<f64> = quiet.filter_map(|batch| batch.sample).collect();
    let Some(middle) = median(&samples).filter(|middle| *middle != 0.0) else {
        return Vec::new();
    };
    samples.iter().map(|sample| (sample / middle - 1.0).abs()).collect()
}
