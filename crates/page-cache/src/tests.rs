//! Known answers, and comparisons with caches that are simulated step by step.

use fastrand::Rng;

use crate::{Page, Sampled, Stack};

/// An LRU stack as a list: the page of the last reference is the last one.
#[derive(Default)]
struct List(Vec<Page>);

impl List {
    fn refer(&mut self, page: Page) -> Option<u32> {
        let place = self.0.iter().rposition(|known| *known == page);
        let distance = place.map(|place| {
            self.0.remove(place);
            (self.0.len() - place + 1) as u32
        });
        self.0.push(page);
        distance
    }
}

fn page(index: u64) -> Page {
    Page { file: 0, index }
}

/// Draws numbers below `count`, the number i with a probability proportional to (i + 1)^-exponent.
pub struct Zipf(Vec<f64>);

impl Zipf {
    pub fn new(count: usize, exponent: f64) -> Zipf {
        let mut sum = 0.0;
        let weights = (1..=count).map(|rank| {
            sum += (rank as f64).powf(-exponent);
            sum
        });
        Zipf(weights.collect())
    }

    pub fn draw(&self, random: &mut Rng) -> u64 {
        let at = random.f64() * self.0.last().unwrap();
        self.0.partition_point(|sum| *sum <= at) as u64
    }
}

/// References as applications make them: runs of pages, a hot set and single pages of several
/// files.
fn mixture(random: &mut Rng, count: usize, pages: u64) -> Vec<Page> {
    let mut references = Vec::new();
    while references.len() < count {
        let file = random.u32(0..3) * 1000;
        let start = random.u64(0..pages);
        let length = [1, 1, random.u64(1..200)][random.usize(0..3)];
        let hot = random.bool();
        let start = if hot { start % 10 } else { start << 20 };
        references.extend((start..start + length).map(|index| Page { file, index }));
    }
    references
}

#[test]
fn distances_of_a_short_sequence_are_known() {
    let mut stack = Stack::default();
    let distances: Vec<_> = "abcabbda".bytes().map(|b| stack.refer(page(b.into()))).collect();
    let known = [None, None, None, Some(3), Some(3), Some(1), None, Some(3)];
    assert_eq!(distances, known);
    assert_eq!(stack.len(), 4);
    stack.remove(page(b'b'.into()));
    assert_eq!(stack.refer(page(b'c'.into())), Some(3), "a, d and itself");
    assert_eq!(stack.refer(page(b'b'.into())), None);
}

#[test]
fn distances_are_those_of_a_list() {
    for seed in 0..2 {
        let mut random = Rng::with_seed(seed);
        let (mut stack, mut list) = (Stack::default(), List::default());
        // More references than a new stack has slots, so that they are renumbered.
        for (at, page) in mixture(&mut random, 150_000, 3).into_iter().enumerate() {
            assert_eq!(stack.refer(page), list.refer(page), "{seed}: {at}");
            if at % 97 == 0 {
                let place = random.usize(0..list.0.len());
                stack.remove(list.0.remove(place));
            }
        }
        assert_eq!(stack.len(), list.0.len());
    }
}

#[test]
fn curve_has_the_hits_of_simulated_caches() {
    let mut random = Rng::with_seed(1);
    let references = mixture(&mut random, 60_000, 4);
    let mut sampled = Sampled::within(usize::MAX);
    references.iter().for_each(|page| sampled.refer(*page));
    let curve = sampled.curve();
    for size in [1, 2, 9, 10, 30, 200, 500, 1500] {
        let (mut list, mut hits) = (List::default(), 0);
        for page in &references {
            hits += u32::from(list.refer(*page).is_some());
            if list.0.len() > size {
                list.0.remove(0);
            }
        }
        let expected = f64::from(hits) / references.len() as f64;
        let found = curve.hit_ratio(size as u64).unwrap();
        assert!((found - expected).abs() < 1e-12, "{size}: {found} {expected}");
    }
}

#[test]
fn loop_hits_only_a_cache_that_holds_it() {
    const PAGES: u64 = 8192;
    let mut sampled = Sampled::within(usize::MAX);
    for _ in 0..4 {
        (0..PAGES).for_each(|index| sampled.refer(page(index)));
    }
    let curve = sampled.curve();
    assert_eq!(curve.hit_ratio(0), Some(0.0));
    assert_eq!(curve.hit_ratio(PAGES - PAGES / 1024), Some(0.0));
    assert_eq!(curve.hit_ratio(PAGES), Some(0.75));
    assert_eq!((curve.pages(), curve.largest_useful()), (PAGES as f64, PAGES));
    assert_eq!(Sampled::within(1).curve().hit_ratio(5), None);
}

/// The difference of two curves, averaged over sizes from 1 % to all of the pages.
fn mean_error(exact: &Sampled, sampled: &Sampled) -> f64 {
    let (exact, found) = (exact.curve(), sampled.curve());
    let step = exact.largest_useful() / 100;
    let sizes = (1..=100).map(|part| part * step);
    let errors = sizes.map(|size| exact.hit_ratio(size).unwrap() - found.hit_ratio(size).unwrap());
    errors.map(f64::abs).sum::<f64>() / 100.0
}

/// The publication of SHARDS has an average error below 0.01 for a sample of 8192 pages, and for 1
/// % of the pages.
#[test]
fn sample_of_zipf_has_the_published_error() {
    let mut random = Rng::with_seed(7);
    for exponent in [0.6, 0.9, 1.2] {
        let zipf = Zipf::new(1 << 20, exponent);
        let mut all = Sampled::within(usize::MAX);
        let mut samples = [Sampled::within(8192), Sampled::with_share(0.01)];
        for _ in 0..2_000_000 {
            let page = page(zipf.draw(&mut random));
            all.refer(page);
            samples.iter_mut().for_each(|sample| sample.refer(page));
        }
        for sample in &samples {
            assert!(!sample.is_exact() && sample.share() < 0.1);
            let error = mean_error(&all, sample);
            assert!(error < 0.01, "{exponent}: {error}");
            let references = sample.curve().references();
            assert!((references - 2e6).abs() < 1.0, "{references}");
        }
    }
}
