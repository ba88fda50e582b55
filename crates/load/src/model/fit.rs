//! Fits a model to a log.

mod objects;
mod order;

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::model::curves::{Curve, curves};
use crate::model::distribution::Distribution;
use crate::model::document::{Marginal, Mix, Model, Objects, Refused, SCHEMA, Sessions, Source};
use crate::model::gaps::{Stamps, choose, spread};
use crate::model::goodness::Chosen;
use crate::model::log::{Entry, Log};
use crate::model::popularity::{self, Popularity};
use crate::model::sessions::{self, SessionLength};
use crate::model::sizes::{self, Sizes};
use objects::Object;
use order::Order;

/// Fewest requests of a log.
pub const FEWEST_REQUESTS: usize = 20;

/// A model with the curves of the log and of the model.
pub struct Fitted {
    pub model: Model,
    /// For each distribution, the log and the model as curves.
    pub curves: Vec<Curve>,
}

/// The options of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether the model names the paths of the objects.
    pub names_paths: bool,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Why a log has no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It has too few requests with GET or HEAD: this many.
    TooFewRequests(usize),
    /// All of its requests with GET or HEAD, this many, have the same time.
    SameTime(usize),
}

/// Fits a model to the requests of a log with GET and HEAD.
///
/// # Errors
/// If the log has fewer than [`FEWEST_REQUESTS`] of them, or all have the same time.
pub fn fit(log: &Log, options: Options) -> Result<Fitted, Unfit> {
    let mut random = Rng::with_seed(options.seed);
    let entries = log.entries.iter().filter(|e| log.is_safe(e));
    let entries: Vec<Entry> = entries.copied().collect();
    if entries.len() < FEWEST_REQUESTS {
        return Err(Unfit::TooFewRequests(entries.len()));
    }
    // Spreading would give them times that the log does not have.
    let same_time = Unfit::SameTime(entries.len());
    if entries.iter().all(|entry| entry.at_s == entries[0].at_s) {
        return Err(same_time);
    }
    let mut at_s: Vec<f64> = entries.iter().map(|e| e.at_s).collect();
    spread(&mut at_s, log.resolution_s, &mut random);
    let values = Values::new(&entries, &at_s, log);
    let fits = Fits::new(&values, log, &entries, &mut random).ok_or(same_time)?;
    let goodness = fits.goodness(&values, entries.len());
    let model = Model {
        schema: SCHEMA.to_owned(),
        source: source(log, &entries, options.seed),
        popularity: fits.popularity.distribution,
        locality: fits.order.locality,
        sizes: fits.sizes.distribution,
        objects: values.named(log, options.names_paths),
        arrivals_s: fits.arrivals.distribution,
        sessions: Sessions {
            pause_s: sessions::PAUSE_S,
            count: values.lengths.len() as u64,
            requests: fits.lengths.distribution,
            think_s: fits.think.map(|t| t.distribution),
        },
        mix: mix(log),
        latency_s: fits.latency.map(|l| l.distribution),
        goodness,
    };
    let curves = curves(&model, &values.for_curves());
    Ok(Fitted { model, curves })
}

/// The distributions of a log.
struct Fits {
    arrivals: Chosen<Distribution>,
    think: Option<Chosen<Distribution>>,
    latency: Option<Chosen<Distribution>>,
    popularity: Chosen<Popularity>,
    sizes: Chosen<Sizes>,
    lengths: Chosen<SessionLength>,
    order: Order,
}

impl Fits {
    /// `None` if all requests have the same time.
    fn new(values: &Values, log: &Log, entries: &[Entry], random: &mut Rng) -> Option<Fits> {
        let (gaps, think, step) = (&values.gaps_s, &values.think_s, log.resolution_s);
        // The order is that of the random numbers, so that a seed always gives the same model.
        Some(Fits {
            arrivals: choose(gaps, Stamps::Series, step, random)?,
            think: choose(think, Stamps::Pairs, step, random),
            latency: values.latency(log.took_step_s, random),
            popularity: popularity::choose(&values.counts(), random),
            sizes: sizes::choose(&values.bytes(), random),
            lengths: sessions::choose(&values.lengths, random),
            order: order::find(entries, &values.objects, log.paths.len(), random),
        })
    }

    /// How well each distribution describes the log.
    fn goodness(&self, values: &Values, requests: usize) -> Vec<Marginal> {
        let (think, latency) = (self.think.as_ref(), self.latency.as_ref());
        let order = self.order.compared.clone().map(|chosen| Marginal {
            name: "locality".to_owned(),
            values: self.order.repeats as u64,
            chosen,
            candidates: self.order.others.clone(),
        });
        let all = [
            Some(marginal("popularity", requests, &self.popularity)),
            Some(marginal("sizes", values.objects.len(), &self.sizes)),
            Some(marginal("arrivals", values.gaps_s.len(), &self.arrivals)),
            Some(marginal("session requests", values.lengths.len(), &self.lengths)),
            think.map(|t| marginal("think times", values.think_s.len(), t)),
            latency.map(|l| marginal("latency", values.took_s.len(), l)),
            order,
        ];
        all.into_iter().flatten().collect()
    }
}

fn marginal<T>(name: &str, values: usize, chosen: &Chosen<T>) -> Marginal {
    Marginal {
        name: name.to_owned(),
        values: values as u64,
        chosen: chosen.compared.clone(),
        candidates: chosen.candidates.clone(),
    }
}

fn source(log: &Log, entries: &[Entry], seed: u64) -> Source {
    let mut clients: Vec<u32> = entries.iter().map(|e| e.client).collect();
    clients.sort_unstable();
    clients.dedup();
    let ends = entries.first().zip(entries.last());
    Source {
        lines: log.lines,
        refused_lines: log.refused_count,
        refused_by: log
            .refused_by
            .iter()
            .map(|(reason, lines)| Refused { reason: reason.to_string(), lines: *lines })
            .collect(),
        requests: entries.len() as u64,
        other_requests: (log.entries.len() - entries.len()) as u64,
        clients: clients.len() as u64,
        span_s: ends.map_or(0.0, |(first, last)| last.at_s - first.at_s),
        resolution_s: log.resolution_s,
        seed,
    }
}

/// Methods of all requests of a log, and statuses of those with GET and HEAD: no load has others.
pub fn mix(log: &Log) -> Mix {
    let mut methods: BTreeMap<&str, u64> = BTreeMap::new();
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for entry in &log.entries {
        *methods.entry(&log.methods[entry.method as usize]).or_default() += 1;
        if log.is_safe(entry) {
            *statuses.entry(entry.status).or_default() += 1;
        }
    }
    let methods = methods.into_iter().map(|(name, count)| (name.to_owned(), count));
    let mut mix = Mix { methods: methods.collect(), statuses: statuses.into_iter().collect() };
    mix.methods.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    mix.statuses.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    mix
}

/// The values of a log to which distributions are fitted.
struct Values {
    objects: Vec<Object>,
    gaps_s: Vec<f64>,
    lengths: Vec<u64>,
    think_s: Vec<f64>,
    took_s: Vec<f64>,
}

impl Values {
    fn new(entries: &[Entry], at_s: &[f64], log: &Log) -> Values {
        let sessions = sessions::find(entries, at_s);
        Values {
            objects: objects::find(entries, &log.methods, log.paths.len()),
            gaps_s: at_s.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            lengths: sessions.lengths,
            think_s: sessions.think_s,
            took_s: entries.iter().filter_map(|e| e.took_s).collect(),
        }
    }

    fn counts(&self) -> Vec<u64> {
        self.objects.iter().map(|o| o.requests).collect()
    }

    fn bytes(&self) -> Vec<u64> {
        self.objects.iter().map(|o| o.bytes).collect()
    }

    fn named(&self, log: &Log, names_paths: bool) -> Objects {
        let path = |object: &Object| log.paths[object.path as usize].clone();
        let paths = self.objects.iter().map(path);
        Objects {
            paths: if names_paths { paths.collect() } else { Vec::new() },
            statuses: self.objects.iter().map(|o| o.status).collect(),
        }
    }

    /// The distribution of the times in which the server answered. They are spread within the log's
    /// step.
    fn latency(&self, step_s: f64, random: &mut Rng) -> Option<Chosen<Distribution>> {
        let spread: Vec<f64> = self.took_s.iter().map(|t| t + step_s * random.f64()).collect();
        if spread.len() < FEWEST_REQUESTS {
            return None;
        }
        choose(&spread, Stamps::Rounded, step_s, random)
    }

    fn for_curves(&self) -> Vec<(&'static str, Vec<f64>)> {
        let numbers = |values: Vec<u64>| values.into_iter().map(|v| v as f64).collect();
        vec![
            ("popularity", numbers(self.counts())),
            ("sizes", numbers(self.bytes())),
            ("arrivals", self.gaps_s.clone()),
            ("session requests", numbers(self.lengths.clone())),
            ("think times", self.think_s.clone()),
            ("latency", self.took_s.clone()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::log::read;

    /// Each POST of a form is redirected.
    #[test]
    fn statuses_are_those_of_requests_that_a_load_sends() {
        let line = |method: &str, status: u16| {
            format!("a - - [17/May/2015:10:05:43 +0000] \"{method} /x HTTP/1.1\" {status} 5\n")
        };
        let text = [line("GET", 200), line("POST", 302), line("HEAD", 404)].concat();
        let mix = mix(&read(&text).unwrap());
        assert_eq!(mix.methods.len(), 3);
        assert_eq!(mix.statuses, [(200, 1), (404, 1)]);
        assert_eq!(mix.share(|status| status == 404), 0.5);
    }
}
