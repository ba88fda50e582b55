//! Privileges that must be tried: groups, namespaces and filters may deny operations that the
//! limits allow.

#[cfg(target_os = "linux")]
pub(super) use linux::{counters, realtime};

#[cfg(not(target_os = "linux"))]
pub(super) fn realtime() -> Option<bool> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn counters() -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::FromRawFd;

    /// Whether a thread can get a real-time class. The attempt uses a thread of its own, which ends
    /// at once.
    pub fn realtime() -> Option<bool> {
        std::thread::spawn(|| {
            let lowest = libc::sched_param { sched_priority: 1 };
            // SAFETY: the argument outlives the call; 0 is the calling thread.
            unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &lowest) == 0 }
        })
        .join()
        .ok()
    }

    /// The first published version of `struct perf_event_attr`, which every kernel accepts.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup: u32,
        breakpoint: u32,
        config_1: u64,
        config_2: u64,
    }

    const HARDWARE: u32 = 0;
    const CYCLES: u64 = 0;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

    /// The error of a counter of core cycles; empty if it opens and counts. On some hypervisors it
    /// stays at 0.
    pub fn counters() -> Option<String> {
        let attributes = Attributes {
            kind: HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: CYCLES,
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Attributes::default()
        };
        // SAFETY: the structure has the size that it names; this thread (0) on any processor (-1),
        // in no group (-1).
        let opened = unsafe { libc::syscall(libc::SYS_perf_event_open, &attributes, 0, -1, -1, 0) };
        if opened < 0 {
            let error = io::Error::last_os_error().raw_os_error();
            return Some(name(error.unwrap_or_default()));
        }
        // SAFETY: the descriptor is new and has no other owner.
        let mut counter = unsafe { File::from_raw_fd(opened as i32) };
        let mut count = [0; 8];
        match counter.read_exact(&mut count) {
            Ok(()) if u64::from_ne_bytes(count) > 0 => Some(String::new()),
            _ => Some("zero".to_owned()),
        }
    }

    fn name(error: i32) -> String {
        let known = [
            (libc::ENOENT, "ENOENT"),
            (libc::EACCES, "EACCES"),
            (libc::EPERM, "EPERM"),
            (libc::ENOSYS, "ENOSYS"),
            (libc::EOPNOTSUPP, "EOPNOTSUPP"),
            (libc::ENODEV, "ENODEV"),
            (libc::EBUSY, "EBUSY"),
        ];
        let found = known.iter().find(|(number, _)| *number == error);
        found.map_or_else(|| format!("errno {error}"), |(_, name)| (*name).to_owned())
    }
}
