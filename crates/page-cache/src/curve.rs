//! The miss-ratio curve of a cache.

use crate::buckets::{bucket, first};

/// The references by stack distance, and with them the hit ratio of an LRU cache of any size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Weight of the references in each bucket of distances less 1, so that a bucket ends at each
    /// power of two.
    weights: Vec<f64>,
    /// Weight of the first references to a page.
    first_references: f64,
}

impl Curve {
    /// Adds references at a distance in pages, at least 1. `None`: first references.
    pub fn add(&mut self, distance: Option<u64>, weight: f64) {
        let Some(distance) = distance else {
            self.first_references += weight;
            return;
        };
        let bucket = bucket(distance.saturating_sub(1));
        if bucket >= self.weights.len() {
            self.weights.resize(bucket + 1, 0.0);
        }
        self.weights[bucket] += weight;
    }

    /// Number of references. It is an estimate if the references were sampled.
    pub fn references(&self) -> f64 {
        self.weights.iter().sum::<f64>() + self.first_references
    }

    /// Number of different pages.
    pub fn pages(&self) -> f64 {
        self.first_references
    }

    /// The share of references that hit an LRU cache of this number of pages. `None`: there are no
    /// references.
    pub fn hit_ratio(&self, pages: u64) -> Option<f64> {
        let all = self.references();
        if all <= 0.0 {
            return None;
        }
        let last = bucket(pages);
        let whole: f64 = self.weights.iter().take(last).sum();
        let (begin, end) = (first(last), first(last + 1));
        // The distances of one bucket count as spread evenly.
        let share = (pages - begin) as f64 / (end - begin) as f64;
        let part = self.weights.get(last).map_or(0.0, |weight| weight * share);
        Some(((whole + part) / all).clamp(0.0, 1.0))
    }

    /// The number of pages from which on only first references miss.
    pub fn largest_useful(&self) -> u64 {
        let last = self.weights.iter().rposition(|weight| *weight > 0.0);
        last.map_or(0, |last| first(last + 1))
    }
}
