//! The load of a model: at a rate, or by users.

use std::time::Duration;

use crate::model::{Model, Sampler};

use crate::drive::request::Request;
use crate::drive::session::{Pace, TimedRequests, Users};

/// Requests at this rate per second: the model's times between requests, scaled. At most `most`
/// requests.
pub fn model_at_rate(model: &Model, rate: f64, most: u64, seed: u64) -> Pace {
    let scale = model.rate() / rate;
    let mut sampler = Sampler::new(model, seed);
    let mut at_s = 0.0;
    let timed = std::iter::from_fn(move || {
        at_s += sampler.gap_s() * scale;
        let after = Duration::try_from_secs_f64(at_s).ok()?;
        Some((after, request(&mut sampler)))
    });
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    Pace::Open(Box::new(timed.take(most)) as TimedRequests)
}

/// This number of users with the model's sessions. Without `thinks`, they send the next request at
/// once, over the same connection. At most `most` requests of all users.
pub fn model_users(model: &Model, users: usize, thinks: bool, most: u64, seed: u64) -> Pace {
    let sampler = Sampler::new(model, seed);
    Pace::Closed(users, Box::new(ModelUsers { sampler, thinks, left: most }))
}

fn request(sampler: &mut Sampler) -> Request {
    let drawn = sampler.request();
    Request { path: drawn.object, is_head: drawn.is_head }
}

struct ModelUsers {
    sampler: Sampler,
    thinks: bool,
    /// Number of requests that are still to be sent.
    left: u64,
}

impl Users for ModelUsers {
    fn request(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        Some(request(&mut self.sampler))
    }

    fn session_requests(&mut self) -> u64 {
        if self.thinks { self.sampler.session_requests() } else { u64::MAX }
    }

    fn think(&mut self) -> Duration {
        if !self.thinks {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(self.sampler.think_s()).unwrap_or(Duration::MAX)
    }
}
