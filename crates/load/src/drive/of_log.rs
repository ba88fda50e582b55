//! The load of a log itself: at its own times, or as fast as the server answers.

use std::time::Duration;

use crate::model::Replayed;

use crate::drive::request::Request;
use crate::drive::session::{Pace, Users};

/// The requests at the times of the log, `speed` times as fast.
pub fn log_at_its_times(requests: impl Iterator<Item = Replayed> + 'static, speed: f64) -> Pace {
    let timed = requests.filter_map(move |replayed| {
        let after = Duration::try_from_secs_f64(replayed.after_s / speed).ok()?;
        Some((after, request(replayed)))
    });
    Pace::Open(Box::new(timed))
}

/// The requests in the order of the log, over this number of connections, each as soon as the one
/// before is answered.
pub fn log_at_full_speed(
    requests: impl Iterator<Item = Replayed> + 'static,
    connections: usize,
) -> Pace {
    Pace::Closed(connections, Box::new(FullSpeed(requests)))
}

fn request(replayed: Replayed) -> Request {
    Request { path: replayed.path, is_head: replayed.is_head }
}

struct FullSpeed<R>(R);

impl<R: Iterator<Item = Replayed>> Users for FullSpeed<R> {
    fn request(&mut self) -> Option<Request> {
        self.0.next().map(request)
    }

    fn session_requests(&mut self) -> u64 {
        u64::MAX
    }

    fn think(&mut self) -> Duration {
        Duration::ZERO
    }
}
