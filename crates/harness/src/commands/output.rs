//! Where the output of a command goes, and the threads that empty its pipes.

use std::fs::{File, Metadata};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Last bytes of standard error that are kept for a message.
const TAIL: usize = 1 << 16;

/// Bytes that a pipe holds, if the system allows it. A command then waits less often for its reader
/// than with the usual 64 KiB.
#[cfg(target_os = "linux")]
const PIPE: usize = 1 << 20;

/// Bytes that one call takes from a pipe.
const CHUNK: usize = 1 << 20;

/// Where a timed command's standard output goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CommandOutput {
    /// Into a pipe that this process empties.
    #[default]
    Pipe,
    /// To `/dev/null`.
    Null,
    /// To the standard output of this process.
    Inherit,
    /// Into this file, which each run makes empty first.
    File(PathBuf),
}

impl CommandOutput {
    /// Whether the output goes to `/dev/null`, under whatever name. Programs can see that, and some
    /// then skip work.
    #[must_use]
    pub fn is_null(&self) -> bool {
        let target = match self {
            CommandOutput::Pipe => return false,
            CommandOutput::Null => return true,
            CommandOutput::Inherit => {
                let own = io::stdout().as_fd().try_clone_to_owned();
                own.and_then(|own| File::from(own).metadata())
            }
            CommandOutput::File(path) => path.metadata(),
        };
        let is_device = |m: &Metadata| m.file_type().is_char_device();
        match (target, std::fs::metadata("/dev/null")) {
            (Ok(target), Ok(null)) => is_device(&target) && target.rdev() == null.rdev(),
            _ => false,
        }
    }

    /// The standard output of the next process: without a pipe it needs no reader.
    pub(super) fn without_pipe(&self) -> io::Result<Option<Stdio>> {
        Ok(match self {
            CommandOutput::Pipe => None,
            CommandOutput::Null => Some(Stdio::null()),
            CommandOutput::Inherit => Some(Stdio::inherit()),
            CommandOutput::File(path) => Some(File::create(path)?.into()),
        })
    }
}

/// First lines of an [`excerpt`].
const FIRST_LINES: usize = 3;

/// Characters of a line of an [`excerpt`].
const LONGEST_LINE: usize = 400;

/// The first lines and the last lines of an output, about `most` together: some programs name the
/// cause of a failure before they explain their options, others after their results.
#[must_use]
pub fn excerpt(output: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    let shown = |lines: &[&str]| lines.iter().map(|l| shortened(l)).collect::<Vec<_>>().join("\n");
    if lines.len() <= most.max(FIRST_LINES) + 1 {
        return shown(&lines);
    }
    let (first, others) = lines.split_at(FIRST_LINES);
    let left_out = lines.len() - most.max(FIRST_LINES);
    format!("{}\n... {left_out} lines ...\n{}", shown(first), shown(&others[left_out..]))
}

/// The beginning and the end of a long line.
fn shortened(line: &str) -> String {
    let left_out = line.chars().count().saturating_sub(LONGEST_LINE);
    if left_out == 0 {
        return line.to_owned();
    }
    let beginning: String = line.chars().take(LONGEST_LINE / 2).collect();
    let end: String = line.chars().skip(LONGEST_LINE / 2 + left_out).collect();
    format!("{beginning}...{end}")
}

/// A thread that empties one pipe after the other. Each run has its own pipe: a program can change
/// the state of its standard output, as to non-blocking.
pub(super) struct Drain {
    kind: Kind,
    pipes: Sender<PipeReader>,
    emptied: Receiver<()>,
    /// Whether a pipe was made since the last call of `finish`.
    is_open: bool,
    tail: Arc<Mutex<Vec<u8>>>,
}

/// How the bytes are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Discard,
    KeepTail,
}

impl Drain {
    pub fn new(kind: Kind) -> Drain {
        let (pipes, next) = channel::<PipeReader>();
        let (done, emptied) = channel();
        let tail = Arc::default();
        let kept = Arc::clone(&tail);
        std::thread::spawn(move || {
            for pipe in next {
                match kind {
                    Kind::Discard => discard(pipe),
                    Kind::KeepTail => keep_tail(pipe, &kept),
                }
                if done.send(()).is_err() {
                    return;
                }
            }
        });
        Drain { kind, pipes, emptied, is_open: false, tail }
    }

    /// A new pipe for one process. The thread reads it until all its writers have ended.
    pub fn pipe(&mut self) -> io::Result<PipeWriter> {
        let (reader, writer) = io::pipe()?;
        #[cfg(target_os = "linux")]
        if self.kind == Kind::Discard {
            // Beyond the limit of the user, the pipe stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE);
        }
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.pipes.send(reader).map_err(io::Error::other)?;
        self.is_open = true;
        Ok(writer)
    }

    /// Waits until the latest pipe is empty and closed. If a process has it open for longer, its
    /// thread goes on reading, so that this process does not block, and the next pipe gets another
    /// thread.
    pub fn finish(&mut self, patience: Duration) {
        let is_open = std::mem::take(&mut self.is_open);
        if is_open && self.emptied.recv_timeout(patience).is_err() {
            let tail = self.tail();
            *self = Drain::new(self.kind);
            *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = tail;
        }
    }

    /// The last bytes of the latest pipe.
    pub fn tail(&self) -> Vec<u8> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Moves the content of a pipe to `/dev/null` without copying it, where the system can.
#[cfg(target_os = "linux")]
fn discard(pipe: PipeReader) {
    use rustix::io::Errno;
    use rustix::pipe::{SpliceFlags, splice};

    let Ok(null) = File::options().write(true).open("/dev/null") else {
        return discard_copies(pipe);
    };
    loop {
        match splice(&pipe, None, &null, None, CHUNK, SpliceFlags::empty()) {
            Ok(0) => return,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return discard_copies(pipe),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn discard(pipe: PipeReader) {
    discard_copies(pipe);
}

fn discard_copies(pipe: PipeReader) {
    read_all(pipe, |_| {});
}

fn keep_tail(pipe: PipeReader, tail: &Mutex<Vec<u8>>) {
    read_all(pipe, |bytes| {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    });
}

fn read_all(mut pipe: PipeReader, mut with: impl FnMut(&[u8])) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => with(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A busy machine needs less to read a pipe.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn drain_survives_pipe_that_stays_open() {
        let mut drain = Drain::new(Kind::KeepTail);
        let mut held = drain.pipe().unwrap();
        held.write_all(b"first").unwrap();
        let begun = std::time::Instant::now();
        while drain.tail() != b"first" && begun.elapsed() < LONG {
            std::thread::yield_now();
        }
        drain.finish(Duration::ZERO);
        assert_eq!(drain.tail(), b"first");
        let mut next = drain.pipe().unwrap();
        next.write_all(&[b'x'; 3 * TAIL]).unwrap();
        next.write_all(b"\xff end").unwrap();
        drop(next);
        drain.finish(LONG);
        assert_eq!(drain.tail().len(), TAIL);
        assert!(drain.tail().ends_with(b"x\xff end"));
        // Its reader is still there.
        held.write_all(&vec![0; 4 << 20]).unwrap();
        // Nothing to wait for.
        drain.finish(LONG);
    }

    #[test]
    fn discarded_output_never_blocks_its_writer() {
        let mut drain = Drain::new(Kind::Discard);
        for length in [0, 1, 5 << 20] {
            drain.pipe().unwrap().write_all(&vec![7; length]).unwrap();
            drain.finish(LONG);
            assert_eq!(drain.tail(), b"");
        }
    }

    #[test]
    fn null_device_is_found_under_other_names() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let file = |path: PathBuf| CommandOutput::File(path).is_null();
        assert!(CommandOutput::Null.is_null() && !CommandOutput::Pipe.is_null());
        assert!(file("/dev/null".into()) && file(link));
        assert!(!file("/dev/zero".into()) && !file(folder.path().join("new")));
    }
}
