//! Which process measures a run, so that a run in progress and one that was killed are told apart.

use std::fs;

/// This process, as Linux tells it: the boot, the namespace of process numbers, the number, the moment of its start. None elsewhere.
pub(crate) fn own() -> Option<String> {
    let pid = std::process::id();
    Some(format!("{} {pid} {}", surroundings()?, start(pid)?))
}

/// Whether the process still runs. None if that cannot be known here: it ran on another machine, before a reboot, or in another container.
pub(crate) fn lives(writer: &str) -> Option<bool> {
    let here = writer.strip_prefix(&surroundings()?)?.strip_prefix(' ')?;
    let (pid, started) = here.split_once(' ')?;
    let now = start(pid.parse().ok()?);
    Some(now.is_some_and(|now| now == started))
}

/// What a process number means something in.
fn surroundings() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let names = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), names.display()))
}

/// When a process started, in clock ticks since the boot (proc(5), field 22); none if there is no such process or it has died.
fn start(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may have spaces and parentheses in it.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let has_died = matches!(state, "Z" | "X");
    fields.nth(18).filter(|_| !has_died).map(str::to_owned)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_one_that_has_its_number() {
        let own = own().unwrap();
        assert_eq!(lives(&own), Some(true));
        assert_eq!(lives(&format!("{own}0")), Some(false));
        assert_eq!(lives(&own.replacen(' ', "x ", 1)), None);
        assert_eq!(lives(""), None);

        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let (before, _) = own.rsplit_once(' ').unwrap();
        let (before, _) = before.rsplit_once(' ').unwrap();
        let other = format!("{before} {} {}", child.id(), start(child.id()).unwrap());
        assert_eq!(lives(&other), Some(true));
        child.kill().unwrap();
        // It has died as soon as it is waited for, and perhaps before.
        child.wait().unwrap();
        assert_eq!(lives(&other), Some(false));
    }
}
