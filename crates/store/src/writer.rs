//! Identity of the process that measures a run. It distinguishes a run in progress from a killed
//! one.

use std::fs;

/// This process on Linux: boot id, PID namespace, PID and start time. `None` on other systems.
pub(crate) fn own() -> Option<String> {
    let pid = std::process::id();
    Some(format!("{} {pid} {}", surroundings()?, start(pid)?))
}

/// Whether the process still runs. `None` if that cannot be determined here: it ran on another
/// machine, before a reboot, or in another container.
pub(crate) fn lives(writer: &str) -> Option<bool> {
    let here = writer.strip_prefix(&surroundings()?)?.strip_prefix(' ')?;
    let (pid, started) = here.split_once(' ')?;
    let now = start(pid.parse().ok()?);
    Some(now.is_some_and(|now| now == started))
}

/// The scope of a PID: boot id and PID namespace.
fn surroundings() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let names = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), names.display()))
}

/// Start time of a process in clock ticks since boot (proc(5), field 22). `None` if the process
/// does not exist or is dead. `yamba-harness` parses this file for itself: the only crate below
/// both is `yamba-record`, which knows documents and not the system.
fn start(pid: u32) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The command name before this point may contain spaces, parentheses, and a cut character.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let has_died = matches!(state, "Z" | "X");
    fields.nth(18).filter(|_| !has_died).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn process_with_reused_pid_is_distinguished() {
        let own = own().unwrap();
        assert_eq!(lives(&own), Some(true));
        assert_eq!(lives(&format!("{own}0")), Some(false));
        assert_eq!(lives(&own.replacen(' ', "x ", 1)), None);
        assert_eq!(lives(""), None);

        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (before, _) = own.rsplit_once(' ').unwrap();
        let (before, _) = before.rsplit_once(' ').unwrap();
        let other = format!("{before} {} {}", child.id(), start(child.id()).unwrap());
        assert_eq!(lives(&other), Some(true));
        child.kill().unwrap();
        // The process is dead before or right after `wait` returns.
        child.wait().unwrap();
        assert_eq!(lives(&other), Some(false));
    }
}
