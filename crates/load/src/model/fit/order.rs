//! The order of the requests, and how well a generated order has the log's stack distances.

use fastrand::Rng;
use yamba_stats::{kolmogorov_p_value, smirnov_distance, sorted};

use crate::model::deal::Deal;
use crate::model::goodness::Compared;
use crate::model::locality::{self, Locality};
use crate::model::log::Entry;

use super::objects::Object;

/// The family that stands for the histogram of the log.
const STACK: &str = "stack distances";

/// The family of requests without an order.
const RANDOM: &str = "random order";

/// The locality of a log, compared with it.
pub(super) struct Order {
    pub locality: Locality,
    /// Number of requests that are not the first for their object.
    pub repeats: usize,
    /// The generated order against the log. `None`: no object has two requests.
    pub compared: Option<Compared>,
    /// Other orders against the log.
    pub others: Vec<Compared>,
}

/// The order of these requests for these objects.
pub(super) fn find(entries: &[Entry], objects: &[Object], paths: usize, random: &mut Rng) -> Order {
    let requests = by_object(entries, objects, paths);
    let counts: Vec<u64> = objects.iter().map(|object| object.requests).collect();
    let distances = locality::distances(&requests, counts.len());
    let locality = locality::measure(&requests, &distances, &counts);
    let log = repeated(&distances);
    let compared = |family: &str, requests: &[u32]| {
        let generated = repeated(&locality::distances(requests, counts.len()));
        compare(family, &log, &generated)
    };
    let stack = compared(STACK, &dealt(&locality, &counts, random));
    let mut shuffled = requests.clone();
    random.shuffle(&mut shuffled);
    Order {
        repeats: log.len(),
        compared: stack,
        others: compared(RANDOM, &shuffled).into_iter().collect(),
        locality,
    }
}

/// The object of each request.
fn by_object(entries: &[Entry], objects: &[Object], paths: usize) -> Vec<u32> {
    let mut object_of_path = vec![0; paths];
    for (index, object) in objects.iter().enumerate() {
        object_of_path[object.path as usize] = index as u32;
    }
    let each = entries.iter();
    each.map(|entry| object_of_path[entry.path as usize]).collect()
}

/// Requests as the model orders them.
fn dealt(locality: &Locality, counts: &[u64], random: &mut Rng) -> Vec<u32> {
    let mut deal = Deal::new(locality, counts.to_vec(), random);
    std::iter::from_fn(|| deal.next(random).map(|object| object as u32)).collect()
}

/// The stack distances of requests that are not the first for their object, ascending.
fn repeated(distances: &[Option<u64>]) -> Vec<f64> {
    let distances = distances.iter().flatten().map(|distance| *distance as f64);
    sorted(&distances.collect::<Vec<f64>>())
}

fn compare(family: &str, log: &[f64], generated: &[f64]) -> Option<Compared> {
    let distance = smirnov_distance(log, generated)?;
    let (n, m) = (log.len() as f64, generated.len() as f64);
    Some(Compared {
        family: family.to_owned(),
        distance,
        p_value: kolmogorov_p_value(distance, n * m / (n + m))?,
        mean_ratio: None,
    })
}
