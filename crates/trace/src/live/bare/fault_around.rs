//! Fault-around: at a page fault on a file that is in memory, Linux also maps the pages around it. They then cause no faults of their own.
//!
//! Linux does not map around where a userfaultfd tracks writes (`uffd_disable_fault_around` of its `mm/memory.c`). So each process gets a userfaultfd for its mappings of files, which tracks no page and
//! stops no thread: writes are recorded by the kernel itself (`UFFD_FEATURE_WP_ASYNC`, Linux 6.7). Linux permits no userfaultfd for shared mappings of files that were opened for reading only.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use linux_raw_sys::general::{
    UFFD_API, UFFD_FEATURE_WP_ASYNC, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFD_FEATURE_WP_UNPOPULATED,
    UFFD_USER_MODE_ONLY, UFFDIO_REGISTER_MODE_WP, uffdio_api, uffdio_range, uffdio_register,
};
use rustix::io::Errno;
use rustix::ioctl::{Updater, ioctl, opcode};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::inject::{Caller, Ended, Fault, range};
use super::ptrace::{CALL, CS_32, EVENT_STOP, Stop, is_gone, registers};

/// The value of `rax` at the begin of a system call.
const BEGINS: u64 = (-(libc::ENOSYS as i64)).cast_unsigned();

/// Disables fault-around in traced processes.
pub struct FaultAround<'a> {
    /// The file for the reason of a failure.
    report: &'a Path,
    has_failed: bool,
    /// The userfaultfd of each process.
    files: BTreeMap<c_int, OwnedFd>,
    /// Threads that have stopped before.
    known: BTreeSet<c_int>,
    /// Processes with a new address space that have no userfaultfd yet.
    fresh: BTreeSet<c_int>,
}

impl FaultAround<'_> {
    /// For a process that is about to run a new program, and its descendants.
    pub fn new(first: c_int, report: &Path) -> FaultAround<'_> {
        FaultAround {
            report,
            has_failed: false,
            files: BTreeMap::new(),
            known: BTreeSet::from([first]),
            fresh: BTreeSet::from([first]),
        }
    }

    /// Whether fault-around could not be disabled in a process. Then no more processes are changed.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Takes note of the end of a thread.
    pub fn ended(&mut self, thread: c_int) {
        self.files.remove(&thread);
        self.known.remove(&thread);
        self.fresh.remove(&thread);
    }

    /// Changes the process of a thread that has stopped, if needed. Returns the end of the thread if that came first.
    ///
    /// # Errors
    /// If the reason of a failure cannot be written.
    pub fn stopped(&mut self, thread: c_int, stop: Stop) -> io::Result<Option<Ended>> {
        if self.has_failed {
            return Ok(None);
        }
        match self.change(thread, stop) {
            Ok(()) => {}
            Err(Fault::Ended(end)) => return Ok(Some(end)),
            // Its end is reported later.
            Err(Fault::System(e)) if is_gone(&e) => {}
            Err(Fault::System(e)) => {
                self.has_failed = true;
                // A userfaultfd that is closed tracks no more mappings.
                self.files.clear();
                fs::write(self.report, e.to_string())?;
            }
        }
        Ok(None)
    }

    fn change(&mut self, thread: c_int, stop: Stop) -> Result<(), Fault> {
        if stop.event == libc::PTRACE_EVENT_EXEC {
            self.files.remove(&thread);
            self.fresh.insert(thread);
            return Ok(());
        }
        let is_event = stop.event != 0 && stop.event != EVENT_STOP;
        if is_event {
            return Ok(());
        }
        let is_new = self.known.insert(thread);
        if !is_new && stop.signal != CALL && !self.fresh.contains(&thread) {
            return Ok(());
        }
        let registers = registers(thread)?;
        if registers.cs == CS_32 {
            return Err(io::Error::other("a process runs a 32-bit program").into());
        }
        if is_new && !shares_memory(thread, &registers)? {
            self.fresh.insert(thread);
        }
        if registers.rax == BEGINS {
            return Ok(());
        }
        if self.fresh.contains(&thread) {
            let file = open(thread, registers)?;
            for (start, end) in files(thread)? {
                register(&file, start, end - start)?;
            }
            self.files.insert(thread, file);
            self.fresh.remove(&thread);
        } else if let Some((start, length)) = mapped(&registers) {
            // A child of vfork uses the memory of its parent until it executes a program.
            if let Some(file) = self.files.get(&process_of(thread)?) {
                register(file, start, length)?;
            }
        }
        Ok(())
    }
}

/// The address and the length of a mapping that a call has made, if it may be one of a file.
fn mapped(registers: &libc::user_regs_struct) -> Option<(u64, u64)> {
    let is_mmap = registers.orig_rax == libc::SYS_mmap.cast_unsigned();
    let is_anonymous = registers.r10 & libc::MAP_ANONYMOUS as u64 != 0;
    let has_failed = registers.rax > (-4096_i64).cast_unsigned();
    (is_mmap && !has_failed && !is_anonymous)
        .then(|| (registers.rax, registers.rsi.next_multiple_of(page_size())))
}

fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Whether a new thread uses the memory of its parent. It stops in the call that made it, with its arguments.
fn shares_memory(thread: c_int, registers: &libc::user_regs_struct) -> io::Result<bool> {
    let flags = match registers.orig_rax.cast_signed() {
        libc::SYS_vfork => return Ok(true),
        libc::SYS_clone => registers.rdi,
        libc::SYS_clone3 => {
            let mut flags = [0; 8];
            let memory = fs::File::open(format!("/proc/{thread}/mem"))?;
            std::os::unix::fs::FileExt::read_exact_at(&memory, &mut flags, registers.rdi)?;
            u64::from_le_bytes(flags)
        }
        _ => return Ok(false),
    };
    Ok(flags & libc::CLONE_VM as u64 != 0)
}

/// Opens a userfaultfd for the memory of a stopped process. The process does not keep it.
fn open(process: c_int, registers: libc::user_regs_struct) -> Result<OwnedFd, Fault> {
    let mut caller = Caller::new(process, registers)?;
    let opened = caller.call(
        libc::SYS_userfaultfd,
        u64::from(UFFD_USER_MODE_ONLY) | libc::O_CLOEXEC as u64,
    );
    let number = match opened {
        Err(Fault::System(e)) => {
            caller.finish()?;
            return Err(io::Error::other(format!("userfaultfd: {e}")).into());
        }
        opened => opened?,
    };
    let copied = copy(process, number);
    caller.call(libc::SYS_close, number)?;
    caller.finish()?;
    let file = copied?;
    let features =
        UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    let mut api = uffdio_api {
        api: UFFD_API.into(),
        features: features.into(),
        ioctls: 0,
    };
    // SAFETY: the operation reads and writes `api`, which has the type that it expects.
    let answer = unsafe {
        ioctl(
            &file,
            Updater::<{ opcode::read_write::<uffdio_api>(0xaa, 0x3f) }, _>::new(&mut api),
        )
    };
    answer.map_err(|e| match e {
        Errno::INVAL => io::Error::other("userfaultfd: Linux 6.7 or newer is needed"),
        e => e.into(),
    })?;
    Ok(file)
}

/// Copies an open file of another process.
fn copy(process: c_int, number: u64) -> io::Result<OwnedFd> {
    let process = Pid::from_raw(process).ok_or(io::ErrorKind::InvalidInput)?;
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let number = i32::try_from(number).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(pidfd_getfd(
        handle.as_fd(),
        number,
        PidfdGetfdFlags::empty(),
    )?)
}

/// Disables fault-around in a part of the memory.
fn register(file: &OwnedFd, start: u64, length: u64) -> io::Result<()> {
    let mut part = uffdio_register {
        range: uffdio_range { start, len: length },
        mode: UFFDIO_REGISTER_MODE_WP.into(),
        ioctls: 0,
    };
    // SAFETY: the operation reads and writes `part`, which has the type that it expects. It changes no memory of this process.
    let answer = unsafe {
        ioctl(
            file,
            Updater::<{ opcode::read_write::<uffdio_register>(0xaa, 0) }, _>::new(&mut part),
        )
    };
    match answer {
        // A file that was opened for reading only.
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(e) => Err(io::Error::other(format!(
            "a mapping has no userfaultfd: {e}"
        ))),
    }
}

/// The addresses of the mappings of files of a process.
fn files(process: c_int) -> io::Result<Vec<(u64, u64)>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let of_file = |line: &&str| {
        let path = line.split_ascii_whitespace().nth(5);
        path.is_some_and(|path| path.starts_with('/'))
    };
    Ok(maps.lines().filter(of_file).filter_map(range).collect())
}

/// The process of a thread.
fn process_of(thread: c_int) -> io::Result<c_int> {
    let status = fs::read_to_string(format!("/proc/{thread}/status"))?;
    let number = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    let number = number.and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
