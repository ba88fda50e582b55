//! The end of a program when the user asks for it.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Time between two looks at a program.
const PERIOD: Duration = Duration::from_millis(2);
/// Time for a program to end by itself after a signal.
const GRACE: Duration = Duration::from_secs(2);

/// The reason why a run that was stopped has no result.
pub const INTERRUPTED: &str = "interrupted before the end";

/// A flag that is set when the user asks for the end.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl From<Arc<AtomicBool>> for StopFlag {
    fn from(flag: Arc<AtomicBool>) -> StopFlag {
        StopFlag(flag)
    }
}

impl StopFlag {
    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits for a program. `None`: the flag is set, and the program has ended.
    pub(crate) fn wait(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = child.try_wait()?;
            if self.is_set() {
                end(child);
                return Ok(None);
            }
            if status.is_some() {
                return Ok(status);
            }
            sleep(PERIOD);
        }
    }
}

/// Ends a program, with time to delete its files.
pub(crate) fn end(child: &mut Child) {
    let begun = Instant::now();
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    while matches!(child.try_wait(), Ok(None)) {
        match pid {
            Some(pid) if begun.elapsed() < GRACE => {
                let _ = kill_process(pid, Signal::TERM);
                sleep(Duration::from_millis(20));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn flag_ends_the_program_that_is_waited_for() {
        let flag = Arc::new(AtomicBool::new(false));
        let stop = StopFlag::from(Arc::clone(&flag));
        let mut child = Command::new("true").spawn().unwrap();
        assert!(stop.wait(&mut child).unwrap().unwrap().success());
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        std::thread::spawn(move || {
            sleep(Duration::from_millis(50));
            flag.store(true, Ordering::SeqCst);
        });
        assert_eq!(stop.wait(&mut child).unwrap(), None);
        assert!(child.try_wait().unwrap().is_some());
    }
}
