//! Measures how many references a second the miss-ratio curve takes.
//!
//! `cargo run --release -p yamba-benches --bin page_cache`

use std::hint::black_box;
use std::time::Instant;

use fastrand::Rng;
use yamba_page_cache::{Page, Sampled};

/// References of each pattern.
const REFERENCES: usize = 20_000_000;

/// Different pages of each pattern: 4 GiB.
const PAGES: u64 = 1 << 20;

/// Pages that the curve holds at most, if it is sampled.
const BUDGET: usize = 1 << 16;

fn main() {
    println!("million references a second, {PAGES} pages");
    println!("{:<12} {:>8} {:>8}", "pattern", "exact", "sampled");
    for (name, pages) in patterns() {
        let exact = rate(&pages, Sampled::within(usize::MAX));
        let sampled = rate(&pages, Sampled::within(BUDGET));
        println!("{name:<12} {exact:>8.1} {sampled:>8.1}");
    }
}

/// The numbers of the pages, in the order of their references.
fn patterns() -> [(&'static str, Vec<u64>); 3] {
    let mut random = Rng::with_seed(1);
    // The density of the pages falls with the reciprocal of their number, as that of Zipf's law.
    let zipf = |random: &mut Rng| (PAGES as f64).powf(random.f64()) as u64;
    [
        ("loop", (0..REFERENCES as u64).map(|i| i % PAGES).collect()),
        ("Zipf", (0..REFERENCES).map(|_| spread(zipf(&mut random))).collect()),
        ("uniform", (0..REFERENCES).map(|_| random.u64(..PAGES)).collect()),
    ]
}

/// Places pages with neighbouring numbers far from each other.
fn spread(index: u64) -> u64 {
    index.wrapping_mul(0x9e37_79b1) % PAGES
}

fn rate(pages: &[u64], mut sampled: Sampled) -> f64 {
    let begun = Instant::now();
    for index in pages {
        sampled.refer(Page { file: 1, index: *index });
    }
    black_box(sampled.curve());
    pages.len() as f64 / begun.elapsed().as_secs_f64() / 1e6
}
