//! Rules about the disk of scratch files.

use yamba_record::number::bytes;

use super::{Facts, Finding, command};

const PRESSURE: f64 = 1.0;

pub(super) fn in_memory(f: &Facts<'_>) -> Option<Finding> {
    let storage = &f.details.storage;
    (storage.is_memory == Some(true)).then(|| {
        command(
            format!(
                "scratch files ({}) are in memory: no read of them ever reaches a disk",
                storage.folder
            ),
            "export TMPDIR=FOLDER_ON_A_DISK",
        )
    })
}

pub(super) fn busy(f: &Facts<'_>) -> Option<Finding> {
    let share = f.details.load.io_pressure?;
    (share >= PRESSURE).then(|| {
        command(
            format!("threads waited for a disk in {share:.1} % of the last 10 s"),
            "ps -eo state,pid,comm | grep '^D'    # who waits",
        )
    })
}

pub(super) fn read_ahead(f: &Facts<'_>) -> Option<Finding> {
    let storage = &f.details.storage;
    let size = storage.read_ahead?;
    let device = storage.device.as_deref()?;
    let of_disk = || format!("/sys/block/{device}/queue/read_ahead_kb");
    let file = storage.read_ahead_file.clone().unwrap_or_else(of_disk);
    (size > 0 && storage.is_memory == Some(false)).then(|| {
        command(format!(
                "the disk reads up to {} ahead: one access pays for its neighbours, those are then free",
                bytes(size)
            ),
            format!("echo 0 | sudo tee {file}"),
        )
    })
}
