//! A competitor for the processor: a thread that spins on one processor until dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A thread that spins until this value is dropped.
pub(super) struct Hog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hog {
    /// Starts the thread on this processor; `None` if the system cannot pin it there.
    pub(super) fn on(cpu: u64) -> Option<Hog> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let placed = stay_on(cpu);
            let _ = sender.send(placed);
            while placed && !seen.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let hog = Hog { stop, thread: Some(thread) };
        receiver.recv().unwrap_or(false).then_some(hog)
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(target_os = "linux")]
fn stay_on(cpu: u64) -> bool {
    let mut set = rustix::thread::CpuSet::new();
    let Ok(cpu) = usize::try_from(cpu) else {
        return false;
    };
    if cpu >= rustix::thread::CpuSet::MAX_CPU {
        return false;
    }
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn stay_on(_: u64) -> bool {
    false
}
