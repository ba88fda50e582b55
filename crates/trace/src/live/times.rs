//! The processor time of a process, a thread or a group of processes.

/// Processor time in ns. The sum of both parts is exact, their division is by clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// In user space.
    pub user_ns: f64,
    /// In the kernel.
    pub kernel_ns: f64,
}

impl Times {
    /// The times that the kernel gives for a process or thread.
    pub fn of(usage: &libc::rusage) -> Times {
        let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
        Times { user_ns: ns(usage.ru_utime), kernel_ns: ns(usage.ru_stime) }
    }

    /// User and kernel time, in ns.
    pub fn all_ns(self) -> f64 {
        self.user_ns + self.kernel_ns
    }
}
