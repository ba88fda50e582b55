//! The descriptors that are open when a trace begins, from `/proc`.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use yamba_page_cache::FileAccesses;
use yamba_predict::Vector;

use crate::call::{Identity, Kind};
use crate::descriptors::{Descriptors, shown_kind};
use crate::files::FileLog;
use crate::modes::{file_kind, is_file};

/// The descriptors that a child of this process begins with: standard input, output and error.
pub fn inherited() -> Descriptors {
    let mut kinds = kinds("self").unwrap_or_default();
    kinds.retain(|number, _| *number <= 2);
    Descriptors::beginning_with(kinds)
}

/// Adds the threads and descriptors of a running process. Returns the numbers of the threads.
pub fn add_running(process: u32, descriptors: &mut Descriptors) -> io::Result<Vec<u32>> {
    let kinds = kinds(&process.to_string())?;
    let threads = numbers(&format!("/proc/{process}/task"))?;
    let threads: Vec<u32> = threads.iter().filter_map(|n| u32::try_from(*n).ok()).collect();
    descriptors.add(&threads, kinds);
    Ok(threads)
}

/// The kind of a descriptor of a running process.
pub fn kind(process: u32, descriptor: i64) -> Option<Kind> {
    let shown = fs::read_link(format!("/proc/{process}/fd/{descriptor}")).ok()?;
    let shown = shown.to_string_lossy();
    let socket = match shown.starts_with("socket:") {
        true => sockets(&process.to_string()).remove(shown.as_ref()),
        false => None,
    };
    Some(socket.unwrap_or_else(|| with_modes(&process.to_string(), descriptor, shown_kind(&shown))))
}

/// The kind of a descriptor with the modes of an open file. It may be closed meanwhile.
fn with_modes(process: &str, descriptor: i64, kind: Kind) -> Kind {
    if !is_file(&kind) {
        return kind;
    }
    let text = fs::read_to_string(format!("/proc/{process}/fdinfo/{descriptor}"));
    let text = text.unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u64::from_str_radix(octal.trim(), 8).ok());
    let has = |flag: rustix::fs::OFlags| flags.is_some_and(|all| all & u64::from(flag.bits()) != 0);
    file_kind(has(rustix::fs::OFlags::DIRECT), has(rustix::fs::OFlags::DSYNC))
}

/// A log of accesses to the files of running processes.
pub fn log() -> FileLog {
    FileLog::looking_up(path)
}

/// The document of a log, with the read-ahead of the devices here.
pub fn document(log: FileLog, vector: &Vector) -> FileAccesses {
    log.document(vector, |device| {
        let text = fs::read_to_string(format!("/sys/class/bdi/{device}/read_ahead_kb"));
        let kib: u64 = text.ok()?.trim().parse().ok()?;
        Some(kib * 1024)
    })
}

/// The path of a descriptor, if it is still that file.
fn path(process: u32, descriptor: i64, identity: &Identity) -> Option<String> {
    let link = format!("/proc/{process}/fd/{descriptor}");
    let found = fs::metadata(&link).ok()?;
    let is_it = matches!(identity, Identity::Inode(_, inode) if *inode == found.ino());
    let path = fs::read_link(link).ok().filter(|_| is_it)?;
    Some(path.to_string_lossy().into_owned())
}

fn kinds(process: &str) -> io::Result<HashMap<i64, Kind>> {
    let sockets = sockets(process);
    let folder = format!("/proc/{process}/fd");
    let mut kinds = HashMap::new();
    for number in numbers(&folder)? {
        // It may be closed meanwhile.
        let Ok(shown) = fs::read_link(format!("{folder}/{number}")) else {
            continue;
        };
        let shown = shown.to_string_lossy();
        let kind = sockets.get(shown.as_ref()).cloned();
        let kind = kind.unwrap_or_else(|| with_modes(process, number, shown_kind(&shown)));
        kinds.insert(number, kind);
    }
    Ok(kinds)
}

/// The kinds of the sockets in the process's network: `socket:[INODE]` and its kind.
fn sockets(process: &str) -> HashMap<String, Kind> {
    // The column of the inode in each table, from 0.
    const TABLES: [(&str, &str, usize); 6] = [
        ("tcp", "tcp", 9),
        ("tcp6", "tcp", 9),
        ("udp", "udp", 9),
        ("udp6", "udp", 9),
        ("unix", "unix", 6),
        ("netlink", "netlink", 9),
    ];
    let mut found = HashMap::new();
    for (table, kind, column) in TABLES {
        let text = fs::read_to_string(format!("/proc/{process}/net/{table}"));
        for line in text.unwrap_or_default().lines().skip(1) {
            if let Some(inode) = line.split_whitespace().nth(column) {
                found.insert(format!("socket:[{inode}]"), Kind::Borrowed(kind));
            }
        }
    }
    found
}

/// The entries of a folder whose names are numbers.
fn numbers(folder: &str) -> io::Result<Vec<i64>> {
    let entries = fs::read_dir(folder)?.flatten();
    let names = entries.filter_map(|e| e.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn kinds_of_own_descriptors() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let (unix, _other) = UnixDatagram::pair().unwrap();
        let (pipe, _writer) = io::pipe().unwrap();
        let file = tempfile::tempfile().unwrap();
        let found = kinds("self").unwrap();
        for (number, kind) in [
            (tcp.as_raw_fd(), "tcp"),
            (unix.as_raw_fd(), "unix"),
            (pipe.as_raw_fd(), "pipe"),
            (file.as_raw_fd(), "file"),
        ] {
            assert_eq!(found[&i64::from(number)], kind);
        }
    }
}
