//! A stop at a point in time, or when the user stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use yamba_harness::Stop;

/// How often the time and the user's stop are looked at.
const TICK: Duration = Duration::from_millis(20);

/// Requests a stop at the deadline, until this is dropped.
pub(super) struct Deadline {
    /// The stop, for a measurement.
    pub stop: Stop,
    is_over: Arc<AtomicBool>,
}

impl Deadline {
    pub fn at(until: Instant, user: &Stop) -> Deadline {
        let (stop, is_over) = (Stop::default(), Arc::new(AtomicBool::new(false)));
        let (own, user, ended) = (stop.clone(), user.clone(), Arc::clone(&is_over));
        thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                if user.requested() || Instant::now() >= until {
                    return own.request();
                }
                thread::sleep(TICK);
            }
        });
        Deadline { stop, is_over }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
