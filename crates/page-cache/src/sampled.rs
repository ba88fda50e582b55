//! The miss-ratio curve in one pass. Above a budget of pages, a sample of the pages stands for all.
//!
//! Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC construction with SHARDS", FAST 2015.

use std::collections::BinaryHeap;

use crate::access::Page;
use crate::curve::Curve;
use crate::stack::Stack;

/// The miss-ratio curve of references, so far.
#[derive(Clone, Debug)]
pub struct Sampled {
    stack: Stack,
    curve: Curve,
    /// Pages with a larger hash are not in the sample.
    largest_hash: u64,
    /// Largest number of pages in the sample. `None`: the share of the sample is fixed.
    budget: Option<usize>,
    /// The pages of the sample, if it has a budget; the largest hash is first.
    by_hash: BinaryHeap<(u64, Page)>,
    references: u64,
}

impl Sampled {
    /// A curve that holds at most this number of pages. It is exact as long as there are no more.
    pub fn within(pages: usize) -> Sampled {
        Sampled { budget: Some(pages.max(1)), ..Sampled::with_share(1.0) }
    }

    /// A curve from this share of the pages, above 0 and at most 1.
    pub fn with_share(share: f64) -> Sampled {
        Sampled {
            stack: Stack::default(),
            curve: Curve::default(),
            largest_hash: (share * u64::MAX as f64) as u64,
            budget: None,
            by_hash: BinaryHeap::new(),
            references: 0,
        }
    }

    /// The share of the pages in the sample.
    pub fn share(&self) -> f64 {
        self.largest_hash as f64 / u64::MAX as f64
    }

    /// Whether all pages are in the sample.
    pub fn is_exact(&self) -> bool {
        self.largest_hash == u64::MAX
    }

    /// Refers to a page.
    pub fn refer(&mut self, page: Page) {
        self.references += 1;
        if self.is_exact() {
            let distance = self.stack.refer(page).map(u64::from);
            self.curve.add(distance, 1.0);
            self.count_if_new(page, distance);
        } else if page.hash() <= self.largest_hash {
            let share = self.share();
            let distance = self.stack.refer(page);
            let distance = distance.map(|pages| (f64::from(pages) / share) as u64);
            self.curve.add(distance, 1.0 / share);
            self.count_if_new(page, distance);
        }
    }

    /// The curve of the references so far. Its sampled references are corrected to the true number
    /// of references (SHARDS-adj).
    pub fn curve(&self) -> Curve {
        let mut curve = self.curve.clone();
        if !self.is_exact() {
            curve.add(Some(1), self.references as f64 - curve.references());
        }
        curve
    }

    /// Keeps the sample within the budget after a first reference.
    fn count_if_new(&mut self, page: Page, distance: Option<u64>) {
        let (Some(budget), None) = (self.budget, distance) else {
            return;
        };
        self.by_hash.push((page.hash(), page));
        if self.by_hash.len() <= budget {
            return;
        }
        let largest = self.by_hash.peek().map_or(0, |(hash, _)| *hash);
        while let Some((hash, page)) = self.by_hash.peek() {
            if *hash < largest {
                break;
            }
            self.stack.remove(*page);
            self.by_hash.pop();
        }
        self.largest_hash = largest.saturating_sub(1);
    }
}
