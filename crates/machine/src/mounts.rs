//! Parser of `/proc/self/mountinfo`.

use super::text::digits;

#[derive(Debug, PartialEq)]
pub(super) struct Mount<'a> {
    /// Device number: `major:minor`.
    pub device: &'a str,
    /// The mounted folder of the file system.
    pub root: String,
    pub point: String,
    pub options: &'a str,
    pub kind: &'a str,
    pub source: &'a str,
    pub super_options: &'a str,
}

impl Mount<'_> {
    pub fn has_super_option(&self, option: &str) -> bool {
        self.super_options.split([',', ' ']).any(|o| o == option)
    }
}

/// The list of mounts of this process.
pub(super) const MOUNTINFO: &str = "/proc/self/mountinfo";

/// Parses lines such as `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root
/// rw,errors=continue`. `None` if a line has another form: the mount that it describes may hide
/// another one.
pub(super) fn mounts(mountinfo: &str) -> Option<Vec<Mount<'_>>> {
    mountinfo.lines().map(mount).collect()
}

fn mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let [id, parent, device, root, point, options, tags @ ..] = &left[..] else {
        return None;
    };
    // WSL writes spaces in the options of a file system as they are: `path=C:\Program Files`.
    let right: Vec<&str> = right.splitn(3, ' ').collect();
    let [kind, source, super_options] = right[..] else {
        return None;
    };
    digits(id)?;
    digits(parent)?;
    let (major, minor) = device.split_once(':')?;
    digits(major)?;
    digits(minor)?;
    // A name space or a pipe as root has a name without `/`: `net:[4026532281]`.
    let has_root = root.starts_with('/') || root.contains(":[");
    let is_kind =
        kind.starts_with(|c: char| c.is_ascii_alphanumeric()) && !kind.contains([',', '/', ':']);
    let are_well_formed = has_root
        && point.starts_with('/')
        && is_kind
        && has_access(options)
        && has_access(super_options)
        && tags.iter().all(|tag| is_tag(tag));
    are_well_formed.then(|| Mount {
        device,
        root: plain(root),
        point: plain(point),
        options,
        kind,
        source,
        super_options,
    })
}

/// Whether mount options begin with the kind of access, as all do.
fn has_access(options: &str) -> bool {
    matches!(options.split(',').next(), Some("rw" | "ro"))
}

/// Whether an optional field is one that Linux writes, such as `shared:2` or `unbindable`.
fn is_tag(field: &str) -> bool {
    let numbered = ["shared:", "master:", "propagate_from:"];
    let number = numbered.iter().find_map(|tag| field.strip_prefix(tag));
    field == "unbindable" || number.and_then(digits).is_some()
}

/// The mount that contains a path without links. A later mount on the same point hides an earlier
/// one.
pub(super) fn holding<'a>(mounts: &'a [Mount<'a>], path: &str) -> Option<&'a Mount<'a>> {
    let around = mounts.iter().filter(|m| is_inside(path, &m.point));
    around.max_by_key(|m| m.point.len())
}

fn is_inside(path: &str, point: &str) -> bool {
    match path.strip_prefix(point) {
        Some(rest) => point == "/" || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// Decodes the bytes that the kernel writes as a backslash and three octal digits: white space,
/// `\\` and `#`.
fn plain(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, left) = escaped(rest).unwrap_or((*first, after));
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte of an escape at the beginning of a text, and the rest of the text.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', left @ ..] = text else {
        return None;
    };
    Some((((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'), left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_another_form_is_refused() {
        let line = "27 1 254:0 / / rw,noatime shared:2 - ext4 /dev/vda rw";
        assert!(mount(line).is_some());
        for (from, to) in [
            (" rw,noatime", ""),
            ("shared:2", "0.5"),
            ("254:0", "0.5 254:0"),
            ("ext4 /dev/vda", "/dev/vda ext4"),
            (" - ", " "),
            (" - ext4", " - x ext4"),
            ("/dev/vda rw", "/dev/vda"),
            ("254:0", "-254:0"),
        ] {
            assert_eq!(mount(&line.replace(from, to)), None, "{to}");
        }
    }

    /// A mount of Docker Desktop in WSL 2.
    #[test]
    fn options_of_file_system_may_have_spaces() {
        let line = r"2260 190 0:311 / /Docker/host rw,noatime - 9p drvfs rw,dirsync,aname=drvfs;path=C:\Program Files\Docker\Docker\resources;symlinkroot=/mnt/,mmap";
        let mount = mount(line).unwrap();
        assert_eq!((mount.kind, mount.source), ("9p", "drvfs"));
        assert!(mount.has_super_option("mmap") && mount.has_super_option("dirsync"));
    }

    #[test]
    fn escapes_are_decoded_once() {
        for (written, path) in [
            (r"/my\040disk", "/my disk"),
            (r"/a\012b\011c\043d", "/a\nb\tc#d"),
            (r"/back\134040slash", r"/back\040slash"),
            (r"/end\04", r"/end\04"),
            (r"/\303\251t\303\251", "/été"),
        ] {
            assert_eq!(plain(written), path);
        }
    }

    #[test]
    fn nearest_and_latest_mount_contains_path() {
        let text = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                    30 27 0:30 / /var rw,noatime shared:2 - tmpfs none rw\n\
                    31 27 0:31 /sub /var rw - xfs /dev/sdb1 rw\n\
                    32 27 0:32 / /mnt/my\\040disk rw - nfs4 server:/x rw\n";
        let mounts = mounts(text).unwrap();
        let kind = |path: &str| holding(&mounts, path).map(|m| m.kind);
        assert_eq!(kind("/var/tmp"), Some("xfs"));
        assert_eq!(kind("/variety"), Some("ext4"));
        assert_eq!(kind("/mnt/my disk/a"), Some("nfs4"));
        assert_eq!(mounts[2].root, "/sub");
        assert_eq!(mounts[1].options, "rw,noatime");
        assert_eq!(holding(&mounts[1..2], "/tmp"), None);
    }
}
