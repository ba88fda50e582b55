//! Memory by which page faults are caused.

use std::ffi::c_void;
use std::io;
use std::ptr::null_mut;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A mapping of pages that are not present. The first write to each is a page fault.
#[derive(Debug)]
pub struct Pages {
    start: *mut c_void,
    bytes: usize,
    page_bytes: usize,
}

impl Pages {
    /// Maps this number of pages.
    pub fn map(count: usize) -> io::Result<Pages> {
        let page_bytes = rustix::param::page_size();
        let bytes = count * page_bytes;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses the address of the new mapping.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, access, flags)? };
        // A huge page would take one fault for many pages. Kernels without huge pages refuse the
        // advice.
        // SAFETY: the range is the mapping.
        let _ = unsafe { madvise(start, bytes, Advice::LinuxNoHugepage) };
        Ok(Pages { start, bytes, page_bytes })
    }

    /// Writes to a page. If the page is not present, the kernel's number of the process's pages
    /// changes, which the tracer sees.
    pub fn touch(&self, index: usize) {
        let place = index * self.page_bytes;
        assert!(place < self.bytes, "there is no page {index}");
        // SAFETY: within the mapping, as the line above checks, which can be written and has no
        // other references.
        unsafe { self.start.cast::<u8>().add(place).write_volatile(1) };
    }

    /// Gives all pages back to the kernel: none is present afterwards.
    pub fn release(&self) {
        // SAFETY: the range is the mapping, to which no reference exists. Its pages read as 0
        // afterwards.
        let _ = unsafe { madvise(self.start, self.bytes, Advice::LinuxDontNeed) };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no reference to it exists.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minor page faults of this thread.
    fn faults() -> i64 {
        // SAFETY: all bytes 0 are a valid value of this struct of numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a value of the right type.
        let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        assert_eq!(status, 0);
        usage.ru_minflt
    }

    #[test]
    fn each_page_takes_a_fault_at_its_first_write_and_after_its_release() {
        const PAGES: usize = 1000;
        let pages = Pages::map(PAGES).unwrap();
        let touched = || {
            let before = faults();
            (0..PAGES).for_each(|page| pages.touch(page));
            faults() - before
        };
        assert!(touched() >= 1000);
        // Other faults of this thread are few: those of its stack and code.
        assert!(touched() < 100);
        pages.release();
        assert!(touched() >= 1000);
    }

    #[test]
    #[should_panic(expected = "there is no page 2")]
    fn page_behind_the_mapping_is_refused() {
        Pages::map(2).unwrap().touch(2);
    }
}
