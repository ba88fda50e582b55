//! Ends a run early: on Ctrl-C, or at a point in time. Results so far are kept.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A request to end the run early.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    is_requested: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Stop {
    /// Requests a stop on Ctrl-C or a request to terminate. A second signal ends the process at
    /// once.
    pub fn on_signals() -> io::Result<Stop> {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                Arc::clone(&stop.is_requested),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&stop.is_requested))?;
        }
        Ok(stop)
    }

    /// Requests a stop.
    pub fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
    }

    /// The same stop for a run whose time is over at this point.
    #[must_use]
    pub fn until(&self, end: Instant) -> Stop {
        Stop { is_requested: Arc::clone(&self.is_requested), until: Some(end) }
    }

    /// Whether a stop was requested.
    pub fn requested(&self) -> bool {
        self.is_requested.load(Ordering::SeqCst)
    }

    /// Whether the time of the run is over, which is no interruption.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.until.is_some_and(|end| Instant::now() >= end)
    }
}
