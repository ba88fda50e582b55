//! Counts the calls that dynamic linkers make at the start of programs.
//!
//! The linker of the GNU C library asks for `/etc/ld.so.preload` by one of its first calls. Its
//! last one is the first `munmap`, of the file with the places of the libraries.

use rustc_hash::FxHashMap;

use crate::call::Call;

/// The linker has asked for the file after at most this many calls.
const FIRST_CALLS: u64 = 5;

/// A start with more calls is not counted: a linker that does not map that file has no call that
/// marks its end.
const MOST_CALLS: u64 = 100;

/// The starts of programs, and the calls of the linkers of those that are over.
#[derive(Debug, Default)]
pub struct LoaderCalls {
    starts: FxHashMap<u32, Start>,
    /// Number of calls in all starts.
    pub calls: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Start {
    calls: u64,
    is_dynamic: bool,
}

impl LoaderCalls {
    /// A process has executed a program.
    fn begin(&mut self, process: u32) {
        self.starts.insert(process, Start::default());
    }

    /// Follows a call of a process. A start counts if its last call is counted.
    pub fn call(&mut self, process: u32, call: &Call, is_counted: bool) {
        if call.name == "execve" && call.result == Some(0) {
            return self.begin(process);
        }
        let Some(start) = self.starts.get_mut(&process) else {
            return;
        };
        start.calls += 1;
        start.is_dynamic |= ["access", "faccessat", "faccessat2"].contains(&&**call.name);
        let is_over = call.name == "munmap";
        if is_over && start.is_dynamic && is_counted {
            self.calls += start.calls;
        }
        let limit = if start.is_dynamic { MOST_CALLS } else { FIRST_CALLS };
        if is_over || start.calls >= limit {
            self.starts.remove(&process);
        }
    }

    /// A process has ended.
    pub fn end(&mut self, process: u32) {
        self.starts.remove(&process);
    }
}

#[cfg(test)]
mod tests {
    use crate::Request;
    use crate::tests::strace;

    fn loader_calls(lines: &str) -> Option<f64> {
        let request = Request { application: None, unit: "run".to_owned(), units: 2.0 };
        strace(lines, &request).unwrap().vector.loader_calls
    }

    const LINKER: &str = "\
7 execve(\"/bin/true\", [\"true\"], 0x7ffd) = 0
7 brk(NULL) = 0x55d0
7 access(\"/etc/ld.so.preload\", R_OK) = -1 ENOENT (No such file or directory)
7 openat(AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = 3
7 mmap(NULL, 36039, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f2d
7 close(3) = 0
";

    #[test]
    fn calls_until_the_first_munmap_are_those_of_the_linker() {
        let whole = format!(
            "{LINKER}7 munmap(0x7f2d, 36039) = 0\n7 getpid() = 7\n7 munmap(0x7f2e, 4096) = 0\n7 exit_group(0) = ?\n"
        );
        assert_eq!(loader_calls(&whole), Some(3.0));
        // It was killed.
        assert_eq!(loader_calls(LINKER), Some(0.0));
    }

    #[test]
    fn start_without_an_end_is_not_counted() {
        let calls = "7 getpid() = 7\n".repeat(100);
        let lines = format!("{LINKER}{calls}7 munmap(0x7f2d, 36039) = 0\n");
        assert_eq!(loader_calls(&lines), Some(0.0));
    }

    #[test]
    fn static_program_has_no_linker() {
        let lines = "\
7 execve(\"/bin/busybox\", [\"true\"], 0x7ffd) = 0
7 brk(NULL) = 0x55d0
7 getpid() = 7
7 getpid() = 7
7 getpid() = 7
7 getpid() = 7
7 access(\"/etc/motd\", R_OK) = 0
7 munmap(0x7f2d, 36039) = 0
";
        assert_eq!(loader_calls(lines), Some(0.0));
    }
}
