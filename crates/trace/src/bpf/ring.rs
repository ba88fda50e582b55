//! Reads a ring buffer of the kernel. See the kernel's `Documentation/bpf/ringbuf.rst`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

/// A record whose writer has not finished.
const BUSY: u32 = 1 << 31;
/// A record that its writer has taken back.
const DISCARDED: u32 = 1 << 30;
/// Bytes before each record.
const HEADER: usize = 8;

/// A ring buffer, mapped into memory.
#[derive(Debug)]
pub struct Ring {
    /// A page with the place of the reader.
    reader: Mapping,
    /// A page with the place of the writers, and the data twice, so that a record at the end is in
    /// one piece.
    written: Mapping,
    page: usize,
    bytes: usize,
}

impl Ring {
    /// Maps a ring buffer of this length.
    pub fn new(map: &OwnedFd, bytes: usize) -> io::Result<Ring> {
        let page = rustix::param::page_size();
        Ok(Ring {
            reader: Mapping::new(map, page, ProtFlags::READ | ProtFlags::WRITE, 0)?,
            written: Mapping::new(map, page + 2 * bytes, ProtFlags::READ, page as u64)?,
            page,
            bytes,
        })
    }

    /// Hands over all records that are there. Returns their number.
    pub fn read(&mut self, mut take: impl FnMut(&[u8])) -> usize {
        let mut count = 0;
        let mut at = self.reader.word64(0).load(Ordering::Relaxed);
        while at < self.written.word64(0).load(Ordering::Acquire) {
            let begin = self.page + (at as usize & (self.bytes - 1));
            let header = self.written.word32(begin).load(Ordering::Acquire);
            if header & BUSY != 0 {
                break;
            }
            let length = (header & !DISCARDED) as usize;
            if header & DISCARDED == 0 {
                take(self.written.bytes(begin + HEADER, length));
                count += 1;
            }
            at += (HEADER + length.next_multiple_of(8)) as u64;
            self.reader.word64(0).store(at, Ordering::Release);
        }
        count
    }
}

/// Memory that the kernel shares. It is unmapped when it is dropped.
#[derive(Debug)]
struct Mapping {
    begin: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(map: &OwnedFd, length: usize, access: ProtFlags, offset: u64) -> io::Result<Mapping> {
        // SAFETY: a new mapping at an address that the kernel chooses, over no other memory.
        let begin =
            unsafe { mmap(null_mut(), length, access, MapFlags::SHARED, map.as_fd(), offset) };
        let begin = NonNull::new(begin?.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Mapping { begin, length };
        // A traced program would otherwise spend a millisecond of its first `execve` on unmapping
        // it.
        // SAFETY: the mapping above. Forked processes do not use it.
        unsafe { madvise(begin.as_ptr().cast(), length, Advice::LinuxDontFork)? };
        Ok(mapping)
    }

    fn word64(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.length);
        // SAFETY: within the mapping and aligned, as the line above checks; it lives as long as
        // `self`. The kernel changes it, hence atomic.
        unsafe { &*self.begin.add(at).as_ptr().cast() }
    }

    fn word32(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.length);
        // SAFETY: as for `word64`.
        unsafe { &*self.begin.add(at).as_ptr().cast() }
    }

    fn bytes(&self, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= self.length);
        // SAFETY: within the mapping. The kernel does not change a finished record until the place
        // of the reader is behind it.
        unsafe { slice::from_raw_parts(self.begin.add(at).as_ptr(), length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no reference outlives it.
        let _ = unsafe { munmap(self.begin.as_ptr().cast(), self.length) };
    }
}
