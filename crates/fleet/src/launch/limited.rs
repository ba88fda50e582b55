//! A process with a time limit.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
};

/// Time between the request to end a process and its forced end.
const GRACE: Duration = Duration::from_secs(10);

/// A process that is asked to end at its limit (SIGTERM), and forced to some time later (SIGKILL).
/// It is also asked to end when this process has ended: a task that went on would run beside the
/// one that `--resume` starts. It stays in the process group of this process, so that an interrupt
/// from the terminal reaches it.
pub(crate) struct LimitedChild {
    child: Child,
    limit: Duration,
    grace: Duration,
    started: Instant,
    is_asked_to_end: bool,
}

impl LimitedChild {
    /// Starts the process. The thread that calls this must live as long as the process: Linux sends
    /// the signal when that thread ends.
    pub fn spawn(command: &mut Command, limit: Duration) -> io::Result<LimitedChild> {
        let parent = getpid();
        // SAFETY: the closure only makes system calls.
        unsafe {
            command.pre_exec(move || end_with(parent));
        }
        Ok(LimitedChild {
            child: command.spawn()?,
            limit,
            grace: GRACE,
            started: Instant::now(),
            is_asked_to_end: false,
        })
    }

    /// The exit status, or the reason for the lack of one. `None`: it runs.
    pub fn ended(&mut self) -> Option<Result<ExitStatus, String>> {
        match self.child.try_wait() {
            Ok(None) => {
                self.keep_limit();
                None
            }
            Ok(Some(_)) if self.is_asked_to_end => {
                let seconds = self.limit.as_secs();
                Some(Err(format!("took longer than its limit of {seconds} s")))
            }
            Ok(Some(status)) => Some(Ok(status)),
            Err(e) => Some(Err(e.to_string())),
        }
    }

    fn keep_limit(&mut self) {
        let took = self.started.elapsed();
        if took > self.limit && !self.is_asked_to_end {
            self.is_asked_to_end = true;
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        } else if took > self.limit + self.grace {
            let _ = self.child.kill();
        }
    }
}

/// Runs in the child: asks for a signal at the end of the parent.
fn end_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if getppid() == Some(parent) {
        return Ok(());
    }
    Err(io::ErrorKind::BrokenPipe.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell with a limit and a grace time, once it has written its first line. Returns how
    /// it ended.
    fn run(text: &str, limit: Duration, grace: Duration) -> Result<ExitStatus, String> {
        use std::io::Read;
        let mut shell = Command::new("sh");
        shell.args(["-c", text]).stdout(std::process::Stdio::piped());
        let mut child = LimitedChild::spawn(&mut shell, limit).unwrap();
        child.grace = grace;
        let mut ready = [0];
        child.child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        loop {
            if let Some(ended) = child.ended() {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    const LATE: &str = "took longer than its limit of 0 s";

    #[test]
    fn process_within_its_limit_has_its_status() {
        let ended = run("echo; exit 3", Duration::from_secs(60), GRACE);
        assert_eq!(ended.unwrap().code(), Some(3));
    }

    #[test]
    fn process_is_asked_to_end_before_it_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("asked");
        let asked = format!(
            "trap 'echo >{}; exit' TERM; echo; while :; do sleep 0.01; done",
            file.display()
        );
        assert_eq!(run(&asked, Duration::ZERO, Duration::from_secs(60)).unwrap_err(), LATE);
        assert!(file.exists());
        let deaf = "trap '' TERM; echo; while :; do sleep 0.01; done";
        assert_eq!(run(deaf, Duration::ZERO, Duration::ZERO).unwrap_err(), LATE);
    }
}
