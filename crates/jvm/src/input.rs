//! The standard input of a program that runs several times.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Standard input that each run of a program reads from its beginning.
#[derive(Clone, Debug)]
pub struct Input(Arc<Source>);

/// The standard input of this process. It is there once, so all programs share it.
static OF_PROCESS: OnceLock<Input> = OnceLock::new();

#[derive(Debug)]
enum Source {
    Empty,
    /// A terminal: each run reads further lines.
    Terminal,
    /// A file, from this offset.
    File {
        file: File,
        start: u64,
    },
    /// A pipe. The first run reads it, and a file records the bytes for the other runs.
    Stream {
        from: File,
        record: File,
        is_begun: AtomicBool,
    },
}

impl Input {
    /// No bytes.
    pub fn empty() -> Input {
        Source::Empty.into()
    }

    /// The standard input of this process.
    ///
    /// # Errors
    /// If the folder of temporary files has no room for a record of a pipe.
    pub fn of_process() -> io::Result<Input> {
        if let Some(found) = OF_PROCESS.get() {
            return Ok(found.clone());
        }
        let stdin = io::stdin();
        let found = if stdin.is_terminal() {
            Source::Terminal.into()
        } else {
            Input::of(File::from(stdin.as_fd().try_clone_to_owned()?))?
        };
        Ok(OF_PROCESS.get_or_init(|| found).clone())
    }

    /// The standard input of this process; on a terminal, no bytes.
    ///
    /// # Errors
    /// If the folder of temporary files has no room for a record of a pipe.
    pub fn redirected() -> io::Result<Input> {
        if io::stdin().is_terminal() { Ok(Input::empty()) } else { Input::of_process() }
    }

    pub(crate) fn of(mut file: File) -> io::Result<Input> {
        // A user without the right to open the file may have inherited it. It is read as a pipe.
        if file.metadata()?.is_file() && reopened(&file, 0).is_ok() {
            let start = file.stream_position()?;
            return Ok(Source::File { file, start }.into());
        }
        let record = tempfile::tempfile()?;
        Ok(Source::Stream { from: file, record, is_begun: AtomicBool::new(false) }.into())
    }

    /// Starts a command with this input.
    ///
    /// # Errors
    /// If the command does not start.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        match &*self.0 {
            Source::Empty => command.stdin(Stdio::null()).spawn(),
            Source::Terminal => command.stdin(Stdio::inherit()).spawn(),
            Source::File { file, start } => command.stdin(reopened(file, *start)?).spawn(),
            Source::Stream { record, is_begun, .. } if is_begun.load(Ordering::Relaxed) => {
                command.stdin(reopened(record, 0)?).spawn()
            }
            Source::Stream { from, record, is_begun } => {
                let (from, record) = (from.try_clone()?, record.try_clone()?);
                let mut child = command.stdin(Stdio::piped()).spawn()?;
                is_begun.store(true, Ordering::Relaxed);
                let to = child.stdin.take();
                // A pipe may stay open for ever, so no run waits for its end.
                thread::spawn(move || to.map(|to| copy(from, record, to)));
                Ok(child)
            }
        }
    }
}

impl From<Source> for Input {
    fn from(source: Source) -> Input {
        Input(Arc::new(source))
    }
}

/// The same file with an offset of its own.
fn reopened(file: &File, start: u64) -> io::Result<File> {
    let mut own = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    own.seek(SeekFrom::Start(start))?;
    Ok(own)
}

/// Passes a pipe to a program and records it, until either ends.
fn copy(mut from: File, mut record: File, mut to: ChildStdin) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..length];
        if record.write_all(bytes).and_then(|()| to.write_all(bytes)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    fn output(input: &Input, program: &str) -> Vec<u8> {
        let child = input.spawn(Command::new(program).stdout(Stdio::piped())).unwrap();
        child.wait_with_output().unwrap().stdout
    }

    #[test]
    fn each_run_reads_a_file_from_the_offset_it_had() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"abcdef").unwrap();
        file.seek(SeekFrom::Start(2)).unwrap();
        let input = Input::of(file).unwrap();
        assert_eq!([output(&input, "cat"), output(&input, "cat")], [b"cdef", b"cdef"]);
    }

    #[test]
    fn each_run_reads_a_pipe_from_its_begin() {
        let (reader, mut writer) = io::pipe().unwrap();
        let input = Input::of(File::from(OwnedFd::from(reader))).unwrap();
        let bytes: Vec<u8> = (0..1_000_000u32).map(|n| n as u8).collect();
        let sent = bytes.clone();
        thread::spawn(move || writer.write_all(&sent));
        for _ in 0..3 {
            assert!(output(&input, "cat") == bytes);
        }
    }

    #[test]
    fn program_that_reads_nothing_ends_though_the_pipe_does_not() {
        let (reader, _writer) = io::pipe().unwrap();
        let input = Input::of(File::from(OwnedFd::from(reader))).unwrap();
        assert_eq!([output(&input, "true"), output(&input, "cat")], [b"", b""]);
    }
}
