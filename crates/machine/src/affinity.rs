//! The processors that this process may run on, by its affinity mask. A CPU quota does not change
//! their number.

use std::ffi::c_ulong;
use std::io;

/// Upper bound on the number of processors; larger masks are not tried.
const MOST_PROCESSORS: usize = 1 << 20;

/// A set of processors in the system's format: one bit each.
type Mask = [c_ulong];

/// Numbers of the processors that this process and its children may run on.
///
/// # Errors
/// If the system does not report its mask.
pub fn allowed_processors() -> io::Result<Vec<u64>> {
    allowed(affinity)
}

/// How many processors this process may run on; 1 if the system does not report it.
/// `std::thread::available_parallelism` is not this number: it rounds a CPU quota down.
#[must_use]
pub fn processor_count() -> u64 {
    allowed_processors().map_or(1, |all| all.len().max(1) as u64)
}

/// `read` returns `InvalidInput` for a mask that is too small for this system's processor numbers;
/// a mask of twice the size is tried then.
fn allowed(read: impl Fn(&mut Mask) -> io::Result<()>) -> io::Result<Vec<u64>> {
    const WORD: usize = c_ulong::BITS as usize;
    let mut mask = vec![0; 1024 / WORD];
    while let Err(e) = read(&mut mask) {
        let is_small = e.kind() == io::ErrorKind::InvalidInput;
        if !is_small || mask.len() * WORD >= MOST_PROCESSORS {
            return Err(e);
        }
        mask = vec![0; mask.len() * 2];
    }
    let is_set = |cpu: &usize| mask[cpu / WORD] >> (cpu % WORD) & 1 == 1;
    let all = (0..mask.len() * WORD).filter(is_set);
    Ok(all.map(|cpu| cpu as u64).collect())
}

/// On other systems, a process cannot be restricted to some processors, so all are allowed.
#[cfg(not(target_os = "linux"))]
fn affinity(mask: &mut Mask) -> io::Result<()> {
    let bits = c_ulong::BITS as usize;
    for cpu in 0..std::thread::available_parallelism()?.get().min(mask.len() * bits) {
        mask[cpu / bits] |= 1 << (cpu % bits);
    }
    Ok(())
}

/// Calls the system directly: the C library's `cpu_set_t` ends at 1024 processors, the system call
/// has no such limit.
#[cfg(target_os = "linux")]
fn affinity(mask: &mut Mask) -> io::Result<()> {
    let bytes = size_of_val(mask);
    // SAFETY: the system writes at most `bytes` bytes into the mask.
    let done = unsafe { libc::sched_getaffinity(0, bytes, mask.as_mut_ptr().cast()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_numbers_may_be_large() {
        let read = |mask: &mut Mask| {
            if size_of_val(mask) < 1024 {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
            let word = c_ulong::BITS as usize;
            for cpu in [0, 63, 64, 1500, 8191] {
                mask[cpu / word] |= 1 << (cpu % word);
            }
            Ok(())
        };
        assert_eq!(allowed(read).unwrap(), [0, 63, 64, 1500, 8191]);
        for kind in [io::ErrorKind::InvalidInput, io::ErrorKind::PermissionDenied] {
            assert!(allowed(|_: &mut Mask| Err(kind.into())).is_err());
        }
    }

    #[test]
    fn own_affinity_mask_is_not_empty() {
        assert!(!allowed_processors().unwrap().is_empty());
    }
}
