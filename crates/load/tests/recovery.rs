//! Logs with known parameters, written by generators of their own: the fit recovers the parameters,
//! and generated requests have the log's distributions.

use std::fmt::Write;

use fastrand::Rng;
use yamba_load::model::{
    Distribution, Fitted, Model, Options, Popularity, Sampler, SessionLength, Sizes, fit, log,
    object_sizes,
};
use yamba_stats::{kolmogorov_p_value, smirnov_distance};

/// A normal random number: G. E. P. Box and M. E. Muller (1958). The product inverts the
/// distribution function instead.
fn normal(random: &mut Rng) -> f64 {
    let (u, v) = (1.0 - random.f64(), random.f64());
    (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

/// An object by Zipf's law, by rejection from the density `x^-exponent`.
fn zipf(exponent: f64, objects: usize, random: &mut Rng) -> usize {
    let power = 1.0 - exponent;
    let whole = ((objects + 1) as f64).powf(power) - 1.0;
    loop {
        let x = (1.0 + random.f64() * whole).powf(1.0 / power);
        let rank = x.floor();
        let ratio = (rank / x).powf(-exponent);
        // The density at the rank is at most 2^exponent times the one at x.
        if random.f64() * 2f64.powf(exponent) <= ratio {
            return rank as usize;
        }
    }
}

/// A size with a lognormal body below the cut and a Pareto tail above.
fn size(mu: f64, sigma: f64, share: f64, cut: f64, exponent: f64, random: &mut Rng) -> u64 {
    if random.f64() >= share {
        return (cut * (1.0 - random.f64()).powf(-1.0 / exponent)).round() as u64;
    }
    loop {
        let x = (mu + sigma * normal(random)).exp();
        if x < cut {
            return x.round().max(1.0) as u64;
        }
    }
}

/// Times of day for a log of at most some weeks from 1 May 2024.
fn stamp(at_s: f64) -> String {
    let whole = at_s as u64;
    let (day, rest) = (whole / 86_400, whole % 86_400);
    assert!(day < 31, "{day}");
    format!(
        "{:02}/May/2024:{:02}:{:02}:{:02} +0000",
        day + 1,
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// A log of requests `(time in s, client, object)`, in Combined Log Format.
fn written(mut requests: Vec<(f64, usize, usize)>, sizes: &[u64]) -> String {
    requests.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut text = String::new();
    for (at, client, object) in requests {
        let (time, bytes) = (stamp(at), sizes[object - 1]);
        writeln!(
            text,
            "10.0.{}.{} - - [{time}] \"GET /{object} HTTP/1.1\" 200 {bytes} \"-\" \"agent\"",
            client / 250,
            client % 250
        )
        .unwrap();
    }
    text
}

fn fitted(text: &str) -> Fitted {
    let log = log::read(text).unwrap();
    assert_eq!(log.refused_count, 0, "{:?}", log.refused);
    fit(&log, Options { names_paths: true, seed: 1 }).unwrap()
}

/// Each distribution of the model passes the test at 1 %.
fn all_pass(model: &Model) {
    for marginal in &model.goodness {
        assert!(marginal.chosen.passes(), "{marginal:?}");
    }
}

/// Generated requests have the distributions of the log `text`: the two-sample test of Smirnov at 1
/// %.
fn generates(model: &Model, text: &str) {
    let log = log::read(text).unwrap();
    let count = log.entries.len().min(50_000);
    let mut sampler = Sampler::new(model, 77);
    let sizes = object_sizes(model);
    let mut rank_of_path = vec![0.0; log.paths.len()];
    for (rank, path) in model.objects.paths.iter().enumerate() {
        rank_of_path[log.paths.iter().position(|p| p == path).unwrap()] = rank as f64;
    }
    let of_log = |of: &dyn Fn(&log::Entry) -> f64| log.entries.iter().map(of).collect::<Vec<f64>>();
    let gaps: Vec<f64> = log.entries.windows(2).map(|pair| pair[1].at_s - pair[0].at_s).collect();
    // First requests come as early as in the log, so only a whole deal has the log's distribution:
    // `count` requests spread over it.
    let deal = (0..log.entries.len()).map(|_| sampler.request().object as f64);
    let drawn: Vec<f64> = deal.step_by(log.entries.len() / count).collect();
    // Times in whole seconds have the gaps of whole seconds.
    let mut at_s = 0.0;
    let mut seconds = Vec::new();
    for _ in 0..count {
        at_s += sampler.gap_s();
        seconds.push(f64::floor(at_s));
    }
    let drawn_gaps: Vec<f64> = seconds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut bytes: Vec<f64> = log.paths.iter().map(|_| 0.0).collect();
    log.entries.iter().for_each(|e| bytes[e.path as usize] = e.bytes as f64);
    let drawn_bytes: Vec<f64> = sizes.iter().map(|b| *b as f64).collect();
    for (what, mut log, mut drawn) in [
        ("ranks", of_log(&|e| rank_of_path[e.path as usize]), drawn),
        ("gaps", gaps, drawn_gaps),
        ("sizes", bytes, drawn_bytes),
    ] {
        log.sort_by(f64::total_cmp);
        drawn.sort_by(f64::total_cmp);
        let distance = smirnov_distance(&log, &drawn).unwrap();
        let (n, m) = (log.len() as f64, drawn.len() as f64);
        let p = kolmogorov_p_value(distance, n * m / (n + m)).unwrap();
        assert!(p >= 0.01, "{what}: distance {distance}, p {p}; {:?}", model.goodness);
    }
}

fn close(what: &str, found: f64, truth: f64) {
    assert!((found / truth - 1.0).abs() < 0.05, "{what}: {found} instead of {truth}");
}

fn sizes_are(model: &Model, mu: f64, sigma: f64, share: f64, cut: f64, exponent: f64) {
    let Sizes::LognormalPareto(found) = &model.sizes else {
        panic!("{:?}", model.goodness);
    };
    close("mu", found.mu, mu);
    close("sigma", found.sigma, sigma);
    close("share of the body", found.body_share, share);
    close("cut", found.cut_bytes.unwrap(), cut);
    close("tail", found.tail_exponent.unwrap(), exponent);
}

fn popularity_is(model: &Model, truth: f64, of: usize) {
    let Popularity::Zipf { exponent, objects } = model.popularity else {
        panic!("{:?}", model.goodness);
    };
    close("zipf", exponent, truth);
    close("objects", objects as f64, of as f64);
}

#[test]
fn poisson_arrivals_with_zipf_popularity() {
    let mut random = Rng::with_seed(21);
    let sizes: Vec<u64> =
        (0..2000).map(|_| size(9.0, 1.3, 1.0, f64::INFINITY, 1.0, &mut random)).collect();
    let mut at = 0.0;
    let mut requests = Vec::new();
    for _ in 0..150_000 {
        at += -4.0 * (1.0 - random.f64()).ln();
        requests.push((at, random.usize(0..3000), zipf(0.8, 2000, &mut random)));
    }
    let text = written(requests, &sizes);
    let model = fitted(&text).model;
    all_pass(&model);
    generates(&model, &text);
    popularity_is(&model, 0.8, 2000);
    let Distribution::Exponential { mean } = model.arrivals_s else {
        panic!("{:?}", model.goodness);
    };
    close("mean", mean, 4.0);
    let Sizes::LognormalPareto(found) = &model.sizes else {
        panic!("{:?}", model.goodness);
    };
    assert_eq!(found.cut_bytes, None);
    close("mu", found.mu, 9.0);
    close("sigma", found.sigma, 1.3);
}

#[test]
fn weibull_arrivals_with_a_tail_of_sizes() {
    let mut random = Rng::with_seed(22);
    let objects = 12_000;
    let sizes: Vec<u64> =
        (0..objects).map(|_| size(8.5, 1.1, 0.7, 12_000.0, 1.2, &mut random)).collect();
    let mut at = 0.0;
    let mut requests = Vec::new();
    for i in 0..400_000 {
        at += 5.0 * (-(1.0 - random.f64()).ln()).powf(1.0 / 0.75);
        // Each object is requested at least once.
        let object = if i < objects { i + 1 } else { zipf(0.6, objects, &mut random) };
        requests.push((at, random.usize(0..50), object));
    }
    let text = written(requests, &sizes);
    let model = fitted(&text).model;
    all_pass(&model);
    generates(&model, &text);
    sizes_are(&model, 8.5, 1.1, 0.7, 12_000.0, 1.2);
    let Distribution::Weibull { shape, scale } = model.arrivals_s else {
        panic!("{:?}", model.goodness);
    };
    close("shape", shape, 0.75);
    close("scale", scale, 5.0);
}

#[test]
fn sessions_with_geometric_lengths_and_lognormal_think_times() {
    let mut random = Rng::with_seed(23);
    let sizes: Vec<u64> =
        (0..1000).map(|_| size(9.0, 1.0, 1.0, f64::INFINITY, 1.0, &mut random)).collect();
    let mut requests = Vec::new();
    for client in 0..12_000 {
        let mut at = random.f64() * 86_400.0 * 20.0;
        loop {
            requests.push((at, client, zipf(1.2, 1000, &mut random)));
            if random.f64() < 0.125 {
                break;
            }
            at += (3.4 + 0.9 * normal(&mut random)).exp();
        }
    }
    let text = written(requests, &sizes);
    let Fitted { model, curves } = fitted(&text);
    all_pass(&model);
    generates(&model, &text);
    popularity_is(&model, 1.2, 1000);
    let SessionLength::Geometric { mean } = model.sessions.requests else {
        panic!("{:?}", model.goodness);
    };
    close("requests", mean, 8.0);
    let Some(Distribution::Lognormal { mu, sigma }) = model.sessions.think_s else {
        panic!("{:?}", model.goodness);
    };
    close("mu", mu, 3.4);
    close("sigma", sigma, 0.9);
    assert_eq!(curves.len(), 5);
    assert_eq!(Model::read(&serde_json::to_string(&model).unwrap()).as_ref(), Ok(&model));
}
