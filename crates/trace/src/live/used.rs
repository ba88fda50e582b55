//! Processor time of a process or thread, as the kernel gives it.

/// Processor time of each measurement of calls, in ns. With 250 clock ticks, the kernel's part of a call is right within 4 %.
pub(super) const ENOUGH_NS: f64 = 1e9;

/// Processor time. The sum of both is exact, its division is by ticks.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// User time, in ns.
    pub user_ns: f64,
    /// Kernel time, in ns.
    pub kernel_ns: f64,
}

impl Used {
    /// The times that the kernel gives.
    pub fn of(usage: &libc::rusage) -> Used {
        let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
        Used {
            user_ns: ns(usage.ru_utime),
            kernel_ns: ns(usage.ru_stime),
        }
    }

    /// User and kernel time, in ns.
    pub fn all_ns(self) -> f64 {
        self.user_ns + self.kernel_ns
    }
}
