//! Draws requests from a model.

use fastrand::Rng;

use crate::model::deal::Deal;
use crate::model::distribution::Distribution;
use crate::model::document::{Model, Sessions};
use crate::model::locality::Locality;
use crate::model::popularity::Popularity;

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

/// A source of objects, in deals with as many requests as the log. So each deal has about as many
/// different objects as the log. Their number decides the hit ratio of a large cache.
struct ObjectSource {
    popularity: Popularity,
    locality: Locality,
    /// Number of requests of a deal.
    requests: u64,
    deal: Deal,
}

impl ObjectSource {
    fn new(model: &Model, random: &mut Rng) -> ObjectSource {
        let (popularity, locality) = (&model.popularity, &model.locality);
        let requests = model.source.requests;
        ObjectSource {
            deal: Deal::new(locality, popularity.deal(requests, random), random),
            popularity: popularity.clone(),
            locality: locality.clone(),
            requests,
        }
    }

    fn next(&mut self, random: &mut Rng) -> usize {
        loop {
            if let Some(object) = self.deal.next(random) {
                return object;
            }
            let counts = self.popularity.deal(self.requests, random);
            self.deal = Deal::new(&self.locality, counts, random);
        }
    }
}

impl Sampler {
    /// A source of requests.
    pub fn new(model: &Model, seed: u64) -> Sampler {
        let mut random = Rng::with_seed(seed);
        Sampler {
            arrivals_s: model.arrivals_s.clone(),
            sessions: model.sessions.clone(),
            latency_s: model.latency_s.clone(),
            objects: ObjectSource::new(model, &mut random),
            random,
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

/// The sizes of all objects of a model, in bytes. They depend on the model alone, so that clients
/// and origin agree.
pub fn object_sizes(model: &Model) -> Vec<u64> {
    let mut random = Rng::with_seed(model.source.seed);
    model.sizes.draw_object_sizes(model.popularity.objects(), &mut random)
}
