//! Parser of `/proc/self/mountinfo`.

/// A mount.
#[derive(Debug, PartialEq)]
pub(super) struct Mount<'a> {
    /// Device number: `major:minor`.
    pub device: &'a str,
    /// The mounted folder of the file system.
    pub root: String,
    /// The mount point.
    pub point: String,
    pub options: &'a str,
    pub kind: &'a str,
    pub source: &'a str,
    pub super_options: &'a str,
}

/// Parses lines such as `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
pub(super) fn mounts(mountinfo: &str) -> Vec<Mount<'_>> {
    mountinfo.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let right: Vec<&str> = right.split(' ').collect();
    Some(Mount {
        device: left.get(2)?,
        root: plain(left.get(3)?),
        point: plain(left.get(4)?),
        options: left.get(5)?,
        kind: right.first()?,
        source: right.get(1)?,
        super_options: right.get(2).copied().unwrap_or_default(),
    })
}

/// The mount that contains a path without links. A later mount on the same point hides an earlier one.
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

/// Decodes white space, which is written in octal.
fn plain(path: &str) -> String {
    path.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_and_latest_mount_contains_path() {
        let text = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                    30 27 0:30 / /var rw,noatime shared:2 - tmpfs none rw\n\
                    31 27 0:31 /sub /var rw - xfs /dev/sdb1 rw\n\
                    32 27 0:32 / /mnt/my\\040disk rw - nfs4 server:/x rw\n";
        let mounts = mounts(text);
        let of = |path: &str| holding(&mounts, path).map(|m| m.kind);
        assert_eq!(of("/var/tmp"), Some("xfs"));
        assert_eq!(of("/variety"), Some("ext4"));
        assert_eq!(of("/mnt/my disk/a"), Some("nfs4"));
        assert_eq!(mounts[2].root, "/sub");
        assert_eq!(mounts[1].options, "rw,noatime");
        assert_eq!(holding(&mounts[1..2], "/tmp"), None);
    }
}
