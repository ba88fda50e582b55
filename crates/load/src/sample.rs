//! Draws requests from a model.

use fastrand::Rng;

use crate::distribution::Distribution;
use crate::model::{Model, Sessions};
use crate::popularity::{Popularity, draw};

/// A source of requests. Two sources with one seed give equal requests.
pub struct Sampler {
    arrivals_s: Distribution,
    sessions: Sessions,
    latency_s: Option<Distribution>,
    random: Rng,
    objects: ObjectSource,
    head_share: f64,
}

/// A request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Index of the object in the order of popularity.
    pub object: usize,
    /// Whether the method is HEAD instead of GET.
    pub is_head: bool,
}

/// A source of objects.
enum ObjectSource {
    /// Objects are drawn independently, by cumulative shares.
    Shares(Vec<f64>),
    /// Each object as often as the log has it, in random order, then all again. As many requests as in the log so have as many different objects, which decides the hit ratio of a cache.
    Deck { cards: Vec<u32>, next: usize },
}

impl ObjectSource {
    fn of(popularity: &Popularity) -> ObjectSource {
        let Popularity::Empirical { counts } = popularity else {
            return ObjectSource::Shares(popularity.cumulative());
        };
        let each = counts.iter().enumerate();
        let cards =
            each.flat_map(|(object, count)| std::iter::repeat_n(object as u32, *count as usize));
        let cards: Vec<u32> = cards.collect();
        ObjectSource::Deck {
            next: cards.len(),
            cards,
        }
    }

    fn next(&mut self, random: &mut Rng) -> usize {
        match self {
            ObjectSource::Shares(cumulative) => draw(cumulative, random),
            ObjectSource::Deck { cards, next } => {
                if *next == cards.len() {
                    random.shuffle(cards);
                    *next = 0;
                }
                *next += 1;
                cards[*next - 1] as usize
            }
        }
    }
}

impl Sampler {
    /// A source of requests.
    pub fn new(model: &Model, seed: u64) -> Sampler {
        Sampler {
            arrivals_s: model.arrivals_s.clone(),
            sessions: model.sessions.clone(),
            latency_s: model.latency_s.clone(),
            random: Rng::with_seed(seed),
            objects: ObjectSource::of(&model.popularity),
            head_share: model.head_share(),
        }
    }

    /// The next request.
    pub fn request(&mut self) -> Drawn {
        let object = self.objects.next(&mut self.random);
        let is_head = self.head_share > 0.0 && self.random.f64() < self.head_share;
        Drawn { object, is_head }
    }

    /// The time to the next request of all clients, in seconds.
    pub fn gap_s(&mut self) -> f64 {
        self.arrivals_s.sample(&mut self.random)
    }

    /// The number of requests of the next session.
    pub fn session_requests(&mut self) -> u64 {
        self.sessions.requests.sample(&mut self.random)
    }

    /// The pause between two requests of a session, in seconds. 0 if the log has no such pause.
    pub fn think_s(&mut self) -> f64 {
        let think = self.sessions.think_s.as_ref();
        think.map_or(0.0, |think| think.sample(&mut self.random))
    }

    /// The time that the server of the log took, in seconds. `None`: the log does not have it.
    pub fn latency_s(&mut self) -> Option<f64> {
        let latency = self.latency_s.as_ref()?;
        Some(latency.sample(&mut self.random))
    }
}

/// The sizes of all objects of a model, in bytes. They depend on the model alone, so that clients and origin agree.
pub fn object_sizes(model: &Model) -> Vec<u64> {
    let mut random = Rng::with_seed(model.source.seed);
    model
        .sizes
        .of_objects(model.popularity.objects(), &mut random)
}
