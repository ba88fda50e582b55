//! Why BPF cannot trace here.

use std::fmt;
use std::fs;
use std::io::{Error, ErrorKind};

/// Why BPF cannot trace here.
#[derive(Debug)]
pub enum Unavailable {
    /// The user may not load programs.
    Privilege,
    /// A seccomp filter refuses the call, as containers do.
    Filter,
    /// Root without the capabilities, as in containers.
    Capabilities,
    /// The programs read the registers of another processor.
    Processor,
    /// The kernel lacks a part, or refuses one.
    Kernel(String),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::Privilege => {
                f.write_str("BPF needs root, or the capabilities CAP_BPF and CAP_PERFMON")
            }
            Unavailable::Filter => f.write_str(
                "a filter refuses bpf(2), as containers do: `docker run --cap-add BPF --cap-add PERFMON`, or outside of the container",
            ),
            Unavailable::Capabilities => f.write_str(
                "root lacks the capabilities CAP_BPF and CAP_PERFMON, as in containers: `docker run --cap-add BPF --cap-add PERFMON`, or outside of the container",
            ),
            Unavailable::Processor => f.write_str("BPF traces x86_64 only"),
            Unavailable::Kernel(reason) => write!(f, "this kernel cannot trace by BPF: {reason}"),
        }
    }
}

/// The kernel's numbers of capabilities.
const SYS_ADMIN: u32 = 21;
const PERFMON: u32 = 38;
const BPF: u32 = 39;

/// `Seccomp:` of `/proc/self/status` for a process with a filter of its calls.
const FILTERED: &str = "2";

/// The reason of an error. `part` names what the kernel did not load.
pub fn refused(part: &str, error: &Error) -> Unavailable {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    reason(part, error, &status)
}

/// The reason of an error for a process with this `/proc/PID/status`.
fn reason(part: &str, error: &Error, status: &str) -> Unavailable {
    let is_filtered = value(status, "Seccomp") == Some(FILTERED);
    let is_root = value(status, "Uid").is_some_and(|ids| ids.split('\t').nth(1) == Some("0"));
    let bits = value(status, "CapEff").and_then(|bits| u64::from_str_radix(bits, 16).ok());
    let has = |capability: u32| bits.unwrap_or(0) >> capability & 1 == 1;
    let may_load = has(SYS_ADMIN) || has(BPF) && has(PERFMON);
    match error.kind() {
        ErrorKind::PermissionDenied if is_filtered && (may_load || is_root) => Unavailable::Filter,
        ErrorKind::Unsupported if is_filtered => Unavailable::Filter,
        ErrorKind::PermissionDenied if is_root && !may_load => Unavailable::Capabilities,
        ErrorKind::PermissionDenied if !may_load => Unavailable::Privilege,
        ErrorKind::NotFound => Unavailable::Kernel(format!("it has no {part}")),
        _ => Unavailable::Kernel(format!("{part}: {error}")),
    }
}

/// The value of a line of `/proc/PID/status`.
fn value<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_is_what_forbids_the_call() {
        let shown = |uid: u32, capabilities: u64, seccomp: u32, error: i32| {
            let status = format!(
                "Name:\tyamba\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nCapEff:\t{capabilities:016x}\nSeccomp:\t{seccomp}\n"
            );
            reason("its maps", &Error::from_raw_os_error(error), &status).to_string()
        };
        let (all, few) = (0x1ff_ffff_ffff, 0xa80_425fb);
        for (found, part) in [
            (shown(0, few, 2, libc::EPERM), "a filter refuses bpf"),
            (shown(0, all, 2, libc::EPERM), "a filter refuses bpf"),
            (shown(0, all, 2, libc::ENOSYS), "a filter refuses bpf"),
            (shown(0, few, 0, libc::EPERM), "lacks the capabilities CAP_BPF and CAP_PERFMON"),
            (shown(1000, 0, 0, libc::EPERM), "BPF needs root"),
            (shown(1000, 0, 2, libc::EPERM), "BPF needs root"),
            (shown(0, all, 0, libc::EPERM), "this kernel cannot trace by BPF: its maps: "),
            (shown(0, all, 0, libc::ENOENT), "it has no its maps"),
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }
}
