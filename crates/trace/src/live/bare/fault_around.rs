//! Fault-around: at a page fault on a file that is in memory, Linux also maps the pages around it.
//! They then cause no faults of their own.
//!
//! Linux does not map around where a userfaultfd tracks writes (`uffd_disable_fault_around` of its
//! `mm/memory.c`). So each process gets a userfaultfd for its mappings of files, which tracks no
//! page and stops no thread: writes are recorded by the kernel itself (`UFFD_FEATURE_WP_ASYNC`,
//! Linux 6.7). Linux permits no userfaultfd for shared mappings of files that were opened for
//! reading only.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use libc::user_regs_struct as Registers;
use linux_raw_sys::general::{
    UFFD_API, UFFD_FEATURE_WP_ASYNC, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFD_FEATURE_WP_UNPOPULATED,
    UFFD_USER_MODE_ONLY, UFFDIO_REGISTER_MODE_WP, uffdio_api, uffdio_range, uffdio_register,
};
use rustix::io::Errno;
use rustix::ioctl::{Updater, ioctl, opcode};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::inject::{CallError, Caller, ThreadEnd, instruction_of_vdso, range};
use super::ptrace::{CALL, CS_32, EVENT_STOP, Stop, message, registers};

/// The value of `rax` in a syscall-entry stop. The calls that are looked at never return this
/// error.
const AT_ENTRY: u64 = (-(libc::ENOSYS as i64)).cast_unsigned();

/// Disables fault-around in traced processes.
pub struct FaultAround<'a> {
    /// The file for the reason of a failure.
    report: &'a Path,
    has_failed: bool,
    /// The userfaultfd of each process.
    userfaultfds: BTreeMap<c_int, OwnedFd>,
    /// Threads that have stopped before.
    threads: BTreeSet<c_int>,
    /// Processes with a new address space that have no userfaultfd yet.
    without: BTreeSet<c_int>,
}

impl FaultAround<'_> {
    /// For a process that is about to run a new program, and its descendants.
    pub fn new(first: c_int, report: &Path) -> FaultAround<'_> {
        FaultAround {
            report,
            has_failed: false,
            userfaultfds: BTreeMap::new(),
            threads: BTreeSet::from([first]),
            without: BTreeSet::from([first]),
        }
    }

    /// Whether fault-around could not be disabled in a process. Then no more processes are changed.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Takes note of the end of a thread.
    pub fn ended(&mut self, thread: c_int) {
        self.userfaultfds.remove(&thread);
        self.threads.remove(&thread);
        self.without.remove(&thread);
    }

    /// Changes the process of a thread that has stopped, if needed. Returns the end of the thread
    /// if that came first.
    ///
    /// # Errors
    /// If the reason of a failure cannot be written.
    pub fn stopped(&mut self, thread: c_int, stop: Stop) -> io::Result<Option<ThreadEnd>> {
        if self.has_failed {
            return Ok(None);
        }
        match self.change(thread, stop) {
            Ok(()) => {}
            Err(CallError::Ended(end)) => return Ok(Some(end)),
            // A process that was killed in its stop has no memory any more. Its end is reported
            // later.
            Err(CallError::System(_)) if registers(thread).is_err() => {}
            Err(CallError::System(e)) => {
                self.has_failed = true;
                // A userfaultfd that is closed tracks no more mappings.
                self.userfaultfds.clear();
                fs::write(self.report, e.to_string())?;
            }
        }
        Ok(None)
    }

    fn change(&mut self, thread: c_int, stop: Stop) -> Result<(), CallError> {
        if stop.event == libc::PTRACE_EVENT_EXEC {
            return Ok(self.executed(thread)?);
        }
        let is_call = stop.event == 0 && stop.signal == CALL;
        let is_other_event = stop.event != 0 && stop.event != EVENT_STOP;
        let is_new = !is_other_event && self.threads.insert(thread);
        if is_other_event || !(is_new || is_call || self.without.contains(&thread)) {
            return Ok(());
        }
        let registers = registers(thread)?;
        if registers.cs == CS_32 {
            return Err(io::Error::other("a process runs a 32-bit program").into());
        }
        if is_new && !shares_memory(thread, &registers)? {
            return self.add(thread, registers, registers.rip - 2);
        }
        if registers.rax == AT_ENTRY {
            return Ok(());
        }
        if self.without.contains(&thread) {
            return self.add(thread, registers, instruction_of_vdso(thread)?);
        }
        if let Some(part) = changed(&registers) {
            // A child of vfork uses the memory of its parent until it executes a program.
            let process = process_of(thread)?;
            if let Some(file) = self.userfaultfds.get(&process) {
                register_part(file, process, &part)?;
            }
        }
        Ok(())
    }

    /// Takes note of a new program, with new memory. The process has the number of its first
    /// thread, whichever thread made the call.
    fn executed(&mut self, process: c_int) -> io::Result<()> {
        let before = message(process)?;
        if let Ok(before) = c_int::try_from(before) {
            self.threads.remove(&before);
        }
        self.threads.insert(process);
        self.userfaultfds.remove(&process);
        self.without.insert(process);
        Ok(())
    }

    /// Gives a process a userfaultfd for all its mappings of files.
    fn add(
        &mut self,
        process: c_int,
        registers: Registers,
        instruction: u64,
    ) -> Result<(), CallError> {
        if has_filter(process)? {
            return Err(io::Error::other("a process has a seccomp filter").into());
        }
        let file = open(process, registers, instruction)?;
        register_files(&file, process, &ALL)?;
        self.userfaultfds.insert(process, file);
        self.without.remove(&process);
        Ok(())
    }
}

/// Memory that a call has mapped or moved.
struct Part {
    addresses: Range<u64>,
    /// Whether the call mapped a file or shared memory to all of it. Otherwise it may have other
    /// mappings, too.
    is_of_file: bool,
}

/// All addresses of a process.
const ALL: Range<u64> = 0..u64::MAX;

/// The memory that a call may have given to a file.
fn changed(registers: &Registers) -> Option<Part> {
    let start = registers.rax;
    let has_failed = start > (-4096_i64).cast_unsigned();
    let to = |length: u64| start.saturating_add(length);
    match registers.orig_rax.cast_signed() {
        _ if has_failed => None,
        libc::SYS_mmap => {
            let has = |flag: c_int| registers.r10 & flag as u64 != 0;
            let is_own = has(libc::MAP_ANONYMOUS) && has(libc::MAP_PRIVATE);
            let page = rustix::param::page_size() as u64;
            (!is_own).then(|| Part {
                addresses: start..to(registers.rsi.next_multiple_of(page)),
                is_of_file: true,
            })
        }
        // A moved mapping has no userfaultfd any more.
        libc::SYS_mremap => Some(Part { addresses: start..to(registers.rdx), is_of_file: false }),
        // The length is no argument of the call.
        libc::SYS_shmat => Some(Part { addresses: start..ALL.end, is_of_file: false }),
        _ => None,
    }
}

/// Whether a new thread uses the memory of its parent. It stops in the call that made it, with its
/// arguments.
fn shares_memory(thread: c_int, registers: &Registers) -> io::Result<bool> {
    if process_of(thread)? != thread {
        return Ok(true);
    }
    let flags = match registers.orig_rax.cast_signed() {
        libc::SYS_fork => return Ok(false),
        libc::SYS_vfork => return Ok(true),
        libc::SYS_clone => registers.rdi,
        libc::SYS_clone3 => {
            let mut flags = [0; 8];
            let memory = fs::File::open(format!("/proc/{thread}/mem"))?;
            memory.read_exact_at(&mut flags, registers.rdi)?;
            u64::from_le_bytes(flags)
        }
        other => {
            let text = format!("a process was made by call {other}");
            return Err(io::Error::other(text));
        }
    };
    Ok(flags & libc::CLONE_VM as u64 != 0)
}

/// Opens a userfaultfd for the memory of a stopped process. The process does not keep it.
fn open(process: c_int, registers: Registers, instruction: u64) -> Result<OwnedFd, CallError> {
    let mut caller = Caller::new(process, registers, instruction)?;
    let opened = open_by(&mut caller, process);
    if let Err(CallError::Ended(_)) = opened {
        return opened;
    }
    caller.finish()?;
    let file = opened?;
    let features =
        UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    let mut api = uffdio_api { api: UFFD_API.into(), features: features.into(), ioctls: 0 };
    // SAFETY: the operation reads and writes `api`, which has the type that it expects.
    let answer = unsafe {
        ioctl(&file, Updater::<{ opcode::read_write::<uffdio_api>(0xaa, 0x3f) }, _>::new(&mut api))
    };
    answer.map_err(|e| match e {
        Errno::INVAL => io::Error::other("userfaultfd: Linux 6.7 or newer is needed"),
        e => e.into(),
    })?;
    Ok(file)
}

/// Lets the process open a userfaultfd, and takes it from the process.
fn open_by(caller: &mut Caller, process: c_int) -> Result<OwnedFd, CallError> {
    let flags = u64::from(UFFD_USER_MODE_ONLY) | libc::O_CLOEXEC as u64;
    let number = caller.call(libc::SYS_userfaultfd, flags).map_err(|e| match e {
        CallError::System(e) => io::Error::other(format!("userfaultfd: {e}")).into(),
        ended @ CallError::Ended(_) => ended,
    })?;
    let copied = copy(process, number);
    caller.call(libc::SYS_close, number)?;
    Ok(copied?)
}

/// Copies an open file of another process.
fn copy(process: c_int, number: u64) -> io::Result<OwnedFd> {
    let process = Pid::from_raw(process).ok_or(io::ErrorKind::InvalidInput)?;
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    let number = i32::try_from(number).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(pidfd_getfd(handle.as_fd(), number, PidfdGetfdFlags::empty())?)
}

/// How often the mappings of a process are read if none of the attempts to register them succeeds.
const ATTEMPTS: u32 = 64;

/// A mapping of a file, or of shared memory.
struct Mapping {
    addresses: Range<u64>,
    is_shared: bool,
}

impl Mapping {
    /// The mapping of a line of `/proc/PID/maps`. `None`: it has no file.
    fn of_file(line: &str) -> Option<Mapping> {
        let mut words = line.split_ascii_whitespace();
        let (permissions, path) = (words.nth(1)?, words.nth(3)?);
        let (start, end) = range(line)?;
        path.starts_with('/')
            .then(|| Mapping { addresses: start..end, is_shared: permissions.ends_with('s') })
    }

    fn overlaps(&self, addresses: &Range<u64>) -> bool {
        self.addresses.start < addresses.end && addresses.start < self.addresses.end
    }

    /// Disables fault-around, where Linux permits that.
    fn register(&self, userfaultfd: &OwnedFd) -> Result<(), Errno> {
        match register(userfaultfd, &self.addresses) {
            // The file was opened for reading only.
            Err(Errno::PERM) if self.is_shared => Ok(()),
            done => done,
        }
    }
}

/// Disables fault-around in memory that a call has mapped or moved.
fn register_part(userfaultfd: &OwnedFd, process: c_int, part: &Part) -> io::Result<()> {
    if part.is_of_file && register(userfaultfd, &part.addresses).is_ok() {
        return Ok(());
    }
    register_files(userfaultfd, process, &part.addresses)
}

/// Disables fault-around in the mappings of files that have some of the addresses.
///
/// Other threads of the process run meanwhile. A call of theirs may remove or replace a mapping
/// after it was read, so that the mapping cannot be registered. After a failure, the mappings are
/// read again. Each other thread can end only one call before it stops and waits for this tracer,
/// so at most one failure per thread has this cause.
fn register_files(userfaultfd: &OwnedFd, process: c_int, addresses: &Range<u64>) -> io::Result<()> {
    let mut outcome = Ok(());
    for _ in 0..ATTEMPTS {
        let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
        let files = maps.lines().filter_map(Mapping::of_file);
        outcome = files
            .filter(|file| file.overlaps(addresses))
            .try_for_each(|file| file.register(userfaultfd));
        if outcome.is_ok() {
            break;
        }
    }
    outcome.map_err(|e| io::Error::other(format!("a mapping has no userfaultfd: {e}")))
}

/// Disables fault-around at some addresses. Only some of them need to have a mapping.
fn register(userfaultfd: &OwnedFd, addresses: &Range<u64>) -> Result<(), Errno> {
    let mut part = uffdio_register {
        range: uffdio_range { start: addresses.start, len: addresses.end - addresses.start },
        mode: UFFDIO_REGISTER_MODE_WP.into(),
        ioctls: 0,
    };
    // SAFETY: the operation reads and writes `part`, which has the type that it expects. It changes
    // no memory of this process.
    unsafe {
        ioctl(
            userfaultfd,
            Updater::<{ opcode::read_write::<uffdio_register>(0xaa, 0) }, _>::new(&mut part),
        )
    }
}

/// Whether a seccomp filter decides about the calls of a process. It may kill the process for a
/// call.
fn has_filter(process: c_int) -> io::Result<bool> {
    Ok(status(process, "Seccomp:")? != 0)
}

/// The process of a thread.
fn process_of(thread: c_int) -> io::Result<c_int> {
    status(thread, "Tgid:")
}

/// A number of `/proc/PID/status`.
fn status(thread: c_int, name: &str) -> io::Result<c_int> {
    let status = fs::read_to_string(format!("/proc/{thread}/status"))?;
    let number = status.lines().find_map(|line| line.strip_prefix(name));
    let number = number.and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
