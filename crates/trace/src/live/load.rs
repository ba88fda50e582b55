//! The command that loads a server, and the output of processes.

use std::io::{self, Read, Write};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::group;

/// Bytes of each output that are searched for the number of units.
const KEPT: usize = 1 << 20;

/// A running load. It is killed when it is dropped.
pub struct Load {
    child: Child,
    output: Output,
    has_ended: bool,
}

impl Load {
    /// Starts a command line in the shell. Its output is passed on and kept.
    pub fn start(line: &str, hides_output: bool) -> io::Result<Load> {
        let mut command = group("sh");
        command.args(["-c", line]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        Ok(Load { output: Output::read_from(&mut child, hides_output), child, has_ended: false })
    }

    /// Number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended. It is not yet reaped, so that its processor time is not among that of
    /// Yamba's children.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        if !self.has_ended {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options)?;
            self.has_ended = status.is_some();
        }
        Ok(self.has_ended)
    }

    /// Reaps the ended load, and kills the processes of its group that are left. Returns how it
    /// failed, if it did, and its output.
    pub fn finish(mut self) -> (Option<String>, String) {
        self.kill();
        let end = match self.child.wait() {
            Ok(status) if status.success() => None,
            Ok(status) => Some(status.to_string()),
            Err(e) => Some(e.to_string()),
        };
        (end, self.output.text())
    }

    /// Kills its group. The child must not be reaped yet: afterwards its number may be reused.
    fn kill(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// The outputs of a process, which threads pass on and keep.
#[derive(Debug, Default)]
pub struct Output(Vec<JoinHandle<Vec<u8>>>);

impl Output {
    /// Takes the piped outputs of a process.
    pub fn read_from(child: &mut Child, hides_output: bool) -> Output {
        let mut threads = Vec::new();
        if let Some(output) = child.stdout.take() {
            threads.push(std::thread::spawn(move || match hides_output {
                true => copy(output, io::stderr()),
                false => copy(output, io::stdout()),
            }));
        }
        if let Some(errors) = child.stderr.take() {
            threads.push(std::thread::spawn(move || copy(errors, io::stderr())));
        }
        Output(threads)
    }

    /// The end of each output, when all its writers have ended.
    pub fn text(&mut self) -> String {
        let mut text = String::new();
        for thread in self.0.drain(..) {
            let bytes = thread.join().unwrap_or_default();
            text += &String::from_utf8_lossy(&bytes);
            text.push('\n');
        }
        text
    }
}

fn copy(mut from: impl Read, mut to: impl Write) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 65536]);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        // The output is only shown. If its other end is closed, no reader needs it.
        let _ = to.write_all(&buffer[..length]).and_then(|()| to.flush());
        kept.extend_from_slice(&buffer[..length]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    kept
}
