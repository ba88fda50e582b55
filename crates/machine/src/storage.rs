//! The scratch folder and its disk.

use std::path::PathBuf;

use yamba_record::machine::details::Storage;

use super::mounts::{MOUNTINFO, Mount, holding, mounts};
use super::source::Source;
use super::text::chosen;

/// The scratch folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Name of the folder for the user.
    pub name: String,
    /// Path with symbolic links resolved.
    pub path: String,
    pub total: Option<u64>,
    pub free: Option<u64>,
}

/// The folder for scratch files, with the name of its origin: `TMPDIR`, else `/var/tmp`, since
/// `/tmp` is often in memory.
pub fn scratch_folder() -> (&'static str, PathBuf) {
    match std::env::var_os("TMPDIR").filter(|d| !d.is_empty()) {
        Some(folder) => ("$TMPDIR", PathBuf::from(folder)),
        None => ("/var/tmp", PathBuf::from("/var/tmp")),
    }
}

/// Mount options that affect performance. Others may contain names of hosts, users and volumes.
const OPTIONS: [&str; 16] = [
    "ro",
    "sync",
    "dirsync",
    "noatime",
    "relatime",
    "strictatime",
    "lazytime",
    "discard",
    "nobarrier",
    "data=journal",
    "data=ordered",
    "data=writeback",
    "compress",
    "compress-force",
    "nodatacow",
    "volatile",
];

pub(super) fn storage(source: &impl Source, folder: &Folder) -> Storage {
    let mountinfo = source.lines(MOUNTINFO).unwrap_or_default();
    let mounts = source.understood(MOUNTINFO, mounts(&mountinfo));
    let mounts = mounts.unwrap_or_default();
    let mut storage = Storage {
        folder: folder.name.clone(),
        total: folder.total,
        free: folder.free,
        ..Storage::default()
    };
    let Some(mount) = holding(&mounts, &folder.path) else {
        return storage;
    };
    storage.file_system = Some(mount.kind.to_owned());
    storage.options = options(mount);
    if let Some(disk) = disk(source, mount) {
        describe(source, &disk, &mut storage);
    }
    storage.is_memory = is_memory(mount.kind, storage.device.as_deref());
    own_read_ahead(source, mount, &mut storage);
    storage
}

/// Enters the read-ahead of a file system that has one of its own, whatever its disk has. Since
/// Linux 4.12, the file of most of them has the name of their kind and a count: `btrfs-1`. With
/// several of a kind it is not known which one is that of this mount.
fn own_read_ahead(source: &impl Source, mount: &Mount<'_>, storage: &mut Storage) {
    const OWN: &str = "/sys/class/bdi";
    let file = |name: &str| format!("{OWN}/{name}/read_ahead_kb");
    let by_number = file(mount.device);
    let own = if source.bytes(&by_number).is_some() {
        Some(by_number)
    } else if mount.device.starts_with("0:") {
        let kind = format!("{}-", mount.kind);
        let names = source.list(OWN);
        let mut of_kind = names.iter().filter(|name| name.starts_with(&kind));
        let first = of_kind.next();
        first.filter(|_| of_kind.next().is_none()).map(|only| file(only))
    } else {
        return;
    };
    storage.read_ahead = own.as_ref().and_then(|file| read_ahead(source, file));
    storage.read_ahead_file = own;
}

fn options(mount: &Mount<'_>) -> Vec<String> {
    let all = mount.options.split(',').chain(mount.super_options.split(','));
    let mut kept: Vec<String> = Vec::new();
    for option in all {
        let name = option.split(['=', ':']).next().unwrap_or(option);
        let is_known = OPTIONS.contains(&option) || OPTIONS.contains(&name);
        if is_known && !kept.iter().any(|k| k == option) {
            kept.push(option.to_owned());
        }
    }
    kept
}

/// The disk's folder under /sys, from the device of the file system or else from the name of the
/// mounted device (btrfs has a device number without a disk). For a partition: the folder of its
/// disk.
fn disk(source: &impl Source, mount: &Mount<'_>) -> Option<String> {
    let by_number = source.resolve(&format!("/sys/dev/block/{}", mount.device));
    let by_name = || {
        let device = source.resolve(mount.source.strip_prefix("/dev").map(|_| mount.source)?)?;
        let name = device.rsplit('/').next()?;
        source.resolve(&format!("/sys/class/block/{name}"))
    };
    let folder = by_number.or_else(by_name)?;
    match source.bytes(&format!("{folder}/partition")) {
        Some(_) => folder.rsplit_once('/').map(|(above, _)| above.to_owned()),
        None => Some(folder),
    }
}

fn describe(source: &impl Source, disk: &str, storage: &mut Storage) {
    let word = |file: &str| source.word(&format!("{disk}/{file}"));
    storage.device = disk.rsplit('/').next().map(str::to_owned);
    storage.model = word("device/model");
    storage.rotational = source.is_on(&format!("{disk}/queue/rotational"));
    let scheduler = format!("{disk}/queue/scheduler");
    storage.scheduler = source.word(&scheduler).and_then(|text| {
        // A disk with one scheduler has its name alone.
        let is_name = !text.contains(|c: char| c.is_whitespace() || "[]".contains(c));
        let own = if is_name { Some(text.as_str()) } else { chosen(&text) };
        source.understood(&scheduler, own.map(str::to_owned))
    });
    storage.read_ahead = read_ahead(source, &format!("{disk}/queue/read_ahead_kb"));
    storage.write_cache = word("queue/write_cache");
}

/// Bytes that are read ahead, from a file with their number in KiB.
fn read_ahead(source: &impl Source, path: &str) -> Option<u64> {
    source.number::<u64>(path)?.checked_mul(1024)
}

/// Whether the file system is in memory. `None` for a layered file system without a disk of its
/// own.
fn is_memory(kind: &str, device: Option<&str>) -> Option<bool> {
    match (kind, device) {
        ("tmpfs" | "ramfs", _) => Some(true),
        (_, Some(device)) => Some(device.starts_with("zram") || device.starts_with("ram")),
        ("nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p", None) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    fn storage_at(path: &str, text: &str) -> Storage {
        let folder =
            Folder { name: "/var/tmp".to_owned(), path: path.to_owned(), ..Folder::default() };
        storage(&Sample::new(text), &folder)
    }

    const DISK: &str = "== /sys/block/nvme0n1/queue/rotational\n0\n\
        == /sys/block/nvme0n1/queue/scheduler\n[none] mq-deadline\n\
        == /sys/block/nvme0n1/queue/read_ahead_kb\n128\n\
        == /sys/block/nvme0n1/queue/write_cache\nwrite back\n\
        == /sys/block/nvme0n1/device/model\nSome SSD 980                 \n\
        == /sys/block/nvme0n1/nvme0n1p2/partition\n2\n";

    #[test]
    fn disk_of_partition_is_described() {
        let text = format!(
            "== /proc/self/mountinfo\n27 1 259:2 / / rw,noatime - ext4 /dev/root rw,data=ordered,resuid=7\n\
             == /sys/dev/block/259:2 -> /sys/block/nvme0n1/nvme0n1p2\n{DISK}"
        );
        let storage = storage_at("/var/tmp", &text);
        assert_eq!(storage.device.as_deref(), Some("nvme0n1"));
        assert_eq!(storage.model.as_deref(), Some("Some SSD 980"));
        assert_eq!(storage.options, ["noatime", "data=ordered"]);
        assert_eq!(storage.scheduler.as_deref(), Some("none"));
        assert_eq!(storage.read_ahead, Some(128 << 10));
        assert_eq!((storage.rotational, storage.is_memory), (Some(false), Some(false)));
    }

    #[test]
    fn btrfs_disk_is_found_by_device_name_with_own_read_ahead() {
        let text = format!(
            "== /proc/self/mountinfo\n27 1 0:24 /@ / rw - btrfs /dev/mapper/vg rw,compress=zstd:3\n\
             == /dev/mapper/vg -> /dev/nvme0n1p2\n\
             == /sys/class/block/nvme0n1p2 -> /sys/block/nvme0n1/nvme0n1p2\n\
             == /sys/class/bdi/0:24/read_ahead_kb\n4096\n{DISK}"
        );
        let storage = storage_at("/home/x", &text);
        assert_eq!(storage.device.as_deref(), Some("nvme0n1"));
        assert_eq!(storage.read_ahead, Some(4 << 20));
        assert_eq!(storage.options, ["compress=zstd:3"]);
    }

    /// Since Linux 4.12, btrfs counts its file systems.
    #[test]
    fn read_ahead_of_a_counted_file_system_is_not_that_of_its_disk() {
        let with = |bdi: &[u32]| {
            let bdi =
                bdi.iter().map(|n| format!("== /sys/class/bdi/btrfs-{n}/read_ahead_kb\n4096\n"));
            let text = format!(
                "== /proc/self/mountinfo\n27 1 0:24 /@ / rw - btrfs /dev/mapper/vg rw\n\
                 == /dev/mapper/vg -> /dev/nvme0n1p2\n\
                 == /sys/class/block/nvme0n1p2 -> /sys/block/nvme0n1/nvme0n1p2\n\
                 {}{DISK}",
                bdi.collect::<String>()
            );
            let storage = storage_at("/home/x", &text);
            (storage.read_ahead, storage.read_ahead_file)
        };
        let file = "/sys/class/bdi/btrfs-1/read_ahead_kb".to_owned();
        assert_eq!(with(&[1]), (Some(4 << 20), Some(file)));
        assert_eq!(with(&[1, 2]), (None, None));
        assert_eq!(with(&[]), (None, None));
    }

    #[test]
    fn memory_and_servers_have_no_disk() {
        let mounts = "== /proc/self/mountinfo\n27 1 0:30 / /tmp rw - tmpfs tmpfs rw\n\
                      28 1 0:31 / /nfs rw - nfs4 host:/x rw,addr=10.0.0.1,sync\n\
                      29 1 0:32 / / rw - overlay overlay rw,lowerdir=/x\n";
        assert_eq!(storage_at("/tmp", mounts).is_memory, Some(true));
        let nfs = storage_at("/nfs/a", mounts);
        assert_eq!((nfs.is_memory, nfs.options), (Some(false), vec!["sync".to_owned()]));
        assert_eq!(storage_at("/var/tmp", mounts).is_memory, None);
        assert_eq!(storage_at("/var/tmp", "").file_system, None);
    }
}
