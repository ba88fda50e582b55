//! Waits until an instant, by a timer of the kernel: tokio's own timers have steps of a
//! millisecond.

use std::io;
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

pub(crate) struct Timer(AsyncFd<std::os::fd::OwnedFd>);

impl Timer {
    pub(crate) fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: The `AsyncFd` owns the descriptor. An `OwnedFd` is open until it is dropped, and
        // its number never changes.
        let timer = unsafe { AsyncFd::register(timer) };
        Ok(Timer(timer.map_err(io::Error::from)?))
    }

    /// Returns at `instant`, at once if it is over.
    pub(crate) async fn until(&self, instant: Instant) -> io::Result<()> {
        let left = instant.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let once = Itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(left) };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        loop {
            let mut ready = self.0.readable().await?;
            let mut expirations = [0; 8];
            let read = ready.try_io(|timer| Ok(rustix::io::read(timer, &mut expirations)?));
            match read {
                Ok(read) => return read.map(drop),
                Err(_not_ready) => continue,
            }
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: i64::from(duration.subsec_nanos()) }
}
