//! Generated requests have the hit ratios of their log in LRU caches of any size, and each object
//! as often as the log.

use std::fmt::Write;

use fastrand::Rng;
use yamba_load::model::{Model, Options, Popularity, Sampler, fit, log};

const REQUESTS: usize = 30_000;
const OBJECTS: usize = 1500;

/// Independent requests by Zipf's law: the inverse of the sums.
fn independent(exponent: f64, random: &mut Rng) -> Vec<usize> {
    let mut sum = 0.0;
    let mut sums = Vec::new();
    for rank in 1..=OBJECTS {
        sum += (rank as f64).powf(-exponent);
        sums.push(sum);
    }
    (0..REQUESTS)
        .map(|_| {
            let at = random.f64() * sum;
            sums.iter().position(|s| *s > at).unwrap()
        })
        .collect()
}

/// Each second request is for one of the last 20 objects.
fn repeating(exponent: f64, random: &mut Rng) -> Vec<usize> {
    let mut requests = independent(exponent, random);
    for i in 20..REQUESTS {
        if random.bool() {
            requests[i] = requests[i - 1 - random.usize(0..20)];
        }
    }
    requests
}

fn model(requests: &[usize]) -> Model {
    let mut text = String::new();
    for (at, object) in requests.iter().enumerate() {
        let (hour, minute, second) = (at / 3600, at / 60 % 60, at % 60);
        let time = format!("17/May/2015:{hour:02}:{minute:02}:{second:02} +0000");
        writeln!(text, "a - - [{time}] \"GET /{object} HTTP/1.1\" 200 5").unwrap();
    }
    let options = Options { names_paths: true, seed: 1 };
    fit(&log::read(&text).unwrap(), options).unwrap().model
}

fn generated(model: &Model, requests: usize, seed: u64) -> Vec<usize> {
    let mut sampler = Sampler::new(model, seed);
    let object = |_| sampler.request().object;
    (0..requests).map(object).collect()
}

/// The share of the requests that an LRU cache of this many objects has: a list, most recent first.
fn hit_ratio(requests: &[usize], cache: usize) -> f64 {
    let mut list: Vec<usize> = Vec::new();
    let mut hits = 0;
    for object in requests {
        if let Some(at) = list.iter().position(|o| o == object) {
            list.remove(at);
            hits += 1;
        }
        list.insert(0, *object);
        list.truncate(cache);
    }
    f64::from(hits) / requests.len() as f64
}

/// Hit ratios within 5 % or a point of those of the log.
fn hits_as_often(requests: &[usize]) {
    let model = model(requests);
    let objects = model.popularity.objects();
    for seed in 1..=3 {
        let generated = generated(&model, requests.len(), seed);
        for percent in [1, 5, 10, 20, 50] {
            let cache = objects * percent / 100;
            let (log, found) = (hit_ratio(requests, cache), hit_ratio(&generated, cache));
            assert!(
                (found - log).abs() <= f64::max(0.05 * log, 0.01),
                "cache of {percent} %, seed {seed}: {found} instead of {log}"
            );
        }
    }
}

#[test]
fn hit_ratios_without_locality_are_those_of_the_log() {
    for exponent in [0.6, 1.0] {
        hits_as_often(&independent(exponent, &mut Rng::with_seed(31)));
    }
}

#[test]
fn hit_ratios_with_locality_are_those_of_the_log() {
    for exponent in [0.6, 1.0] {
        hits_as_often(&repeating(exponent, &mut Rng::with_seed(32)));
    }
}

#[test]
fn each_deal_has_the_counts_of_the_log() {
    let requests = repeating(0.6, &mut Rng::with_seed(33));
    let model = model(&requests);
    let Popularity::Empirical { counts } = &model.popularity else {
        panic!("{:?}", model.goodness);
    };
    let deals = generated(&model, 2 * requests.len(), 7);
    for deal in deals.chunks(requests.len()) {
        let mut found = vec![0; counts.len()];
        deal.iter().for_each(|object| found[*object] += 1);
        assert_eq!(&found, counts);
    }
}

#[test]
fn log_without_a_second_request_for_any_object_has_a_model() {
    let requests: Vec<usize> = (0..50).collect();
    let model = model(&requests);
    assert!(model.goodness.iter().all(|m| m.name != "locality"));
    let found = generated(&model, 200, 1);
    assert!(found.iter().all(|object| *object < 50), "{found:?}");
}
