//! Ends a run early: on Ctrl-C, or at a point in time. Results so far are kept.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::exit;

/// Signals within this time of the first one are the same request: `timeout` sends each signal to
/// the process, and then to its group.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// A request to end the run early.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    is_requested: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Stop {
    /// Requests a stop on Ctrl-C or a request to terminate. A later signal, more than half a second
    /// after the first one, ends the process at once.
    pub fn on_signals() -> io::Result<Stop> {
        let stop = Stop::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let requested = stop.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut first = None;
            for signal in signals.forever() {
                requested.request();
                if first.get_or_insert_with(Instant::now).elapsed() > SAME_REQUEST {
                    exit(128 + signal);
                }
            }
        })?;
        Ok(stop)
    }

    /// Requests a stop.
    pub fn request(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
    }

    /// The flag that is set when a stop is requested.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_requested)
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
