//! Ends the children of a test, whatever fails.
//!
//! `std` leaves a child running when its [`Child`] is dropped, so a failed assertion would leave an
//! endless program behind.

use std::ops::{Deref, DerefMut};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output};

use rustix::process::{Pid, Signal, kill_process_group};

/// A child in a process group of its own. The group is killed when this value is dropped, unless
/// the child has ended and was waited for.
#[derive(Debug)]
pub struct Guarded(Option<Child>);

/// Starts a child that ends with this test.
pub trait StartGuarded {
    /// Starts the program.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    fn start(&mut self) -> Guarded;
}

impl StartGuarded for Command {
    fn start(&mut self) -> Guarded {
        let child = self.process_group(0).spawn();
        let child = child.unwrap_or_else(|e| panic!("{:?}: {e}", self.get_program()));
        Guarded(Some(child))
    }
}

impl Guarded {
    /// Waits for the end of the child and collects its piped output.
    pub fn finish(mut self) -> Output {
        let child = self.0.take().expect("only this method takes the child");
        child.wait_with_output().expect("the child can be waited for")
    }
}

impl Deref for Guarded {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("only `finish` takes the child")
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("only `finish` takes the child")
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let Some(child) = &mut self.0 else { return };
        // While the child is not waited for, no other group can have its number.
        if matches!(child.try_wait(), Ok(None)) {
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::panic::catch_unwind;
    use std::process::Stdio;

    use super::*;

    /// A shell and its child, which writes its process number first.
    fn shell() -> (Guarded, Pid) {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 600 & echo $!; wait"])
            .stdout(Stdio::piped())
            .start();
        let mut line = String::new();
        let output = shell.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let child = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        (shell, child)
    }

    fn runs(pid: Pid) -> bool {
        // A killed grandchild may stay a zombie until its new parent waits for it.
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        status.is_ok_and(|text| !text.contains(") Z "))
    }

    #[test]
    fn failed_assertion_ends_child_and_grandchild() {
        let mut pids = None;
        let result = catch_unwind(std::panic::AssertUnwindSafe(|| {
            let (shell, grandchild) = shell();
            pids = Some((Pid::from_child(&shell), grandchild));
            panic!("a failed assertion");
        }));
        assert!(result.is_err());
        let (child, grandchild) = pids.unwrap();
        assert!(!runs(child));
        while runs(grandchild) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn finished_child_keeps_its_status_and_output() {
        let child =
            Command::new("sh").args(["-c", "echo out; exit 3"]).stdout(Stdio::piped()).start();
        let output = child.finish();
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(3), &b"out\n"[..]));
    }
}
