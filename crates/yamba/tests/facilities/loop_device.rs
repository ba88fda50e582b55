//! Disk benchmarks on a block device. The kernel's own counters show what was read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Missing;
use crate::support::{Yamba, column, needs, until};

const BYTES: usize = 32 << 20;

/// A block device backed by a file.
struct Loop {
    /// Keeps the device alive. After `over` has requested the detachment, the system detaches it
    /// when no process has it open.
    held: File,
    path: PathBuf,
}

impl Loop {
    /// Creates a writable device, so that an unexpected write is counted.
    fn over(file: &Path) -> Result<Loop, String> {
        let mut losetup = Command::new("losetup");
        let made = losetup.args(["--find", "--show"]).arg(file).output();
        let made = made.map_err(|e| format!("losetup: {e}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        let path = PathBuf::from(String::from_utf8_lossy(&made.stdout).trim());
        let held = File::open(&path);
        // The device is still open, so it is detached only when it is closed.
        let detached = Command::new("losetup").arg("--detach").arg(&path).status();
        assert!(detached.is_ok_and(|s| s.success()), "{}", path.display());
        let held = held.map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Loop { held, path })
    }

    /// The device's folder in /sys.
    fn system_folder(&self) -> PathBuf {
        Path::new("/sys/block").join(self.path.file_name().unwrap())
    }

    fn counted(&self) -> Counted {
        let text = fs::read_to_string(self.system_folder().join("stat")).unwrap();
        let numbers: Vec<u64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
        Counted { reads: numbers[0], bytes_read: numbers[2] * 512, bytes_written: numbers[6] * 512 }
    }

    /// Waits until the system has written everything back to `file`. The device's number may be
    /// reused at once.
    fn detach(self, file: &Path) {
        let told = self.system_folder().join("loop/backing_file");
        drop(self.held);
        let own = file.to_str().unwrap();
        let is_gone = || fs::read_to_string(&told).is_ok_and(|f| f.trim_end() != own);
        until("it is not detached", || !told.exists() || is_gone());
    }
}

/// Kernel counters since the device was created.
struct Counted {
    reads: u64,
    bytes_read: u64,
    bytes_written: u64,
}

/// Contents in which all words differ.
fn contents() -> Vec<u8> {
    let words = 0..BYTES as u64 / 8;
    words.flat_map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()).collect()
}

/// Operations of all timed batches.
fn operations(figure: &Value) -> u64 {
    let operations = column(figure, "operations");
    operations.iter().map(|n| n.as_u64().unwrap()).sum()
}

pub fn kernel_counts_of_block_device_match_the_figure() -> Result<(), Missing> {
    needs(&["losetup"]);
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::Builder::new().tempdir_in(disk).unwrap();
    let file = folder.path().join("disk");
    fs::write(&file, contents()).unwrap();
    let device = match Loop::over(&file) {
        Ok(device) => device,
        // No package can provide loop devices.
        Err(why) => {
            return Err(Missing::new(format!("no loop device can be had here: {why}")));
        }
    };
    let mut yamba = Yamba::new().env("TMPDIR", folder.path());
    for (words, is_read) in [
        (
            "bw_disk_zone --set block=64K --set amount=256K --set width=100",
            bytes_of as fn(&Counted, &Counted) -> u64,
        ),
        ("lat_disk_seek --set distance=30", requests_of_a_block),
    ] {
        let path = device.path.display();
        let before = device.counted();
        // A small file is soon read again. This test does not check for cached reads.
        let words = format!(
            "run {words} --set path={path} --set read_again=1 --quick --launches 1 --json --raw"
        );
        let run: Value = serde_json::from_str(&yamba.run(&words).ok().out).unwrap();
        let after = device.counted();
        let figures = run["benchmarks"].as_array().unwrap();
        assert_eq!(figures.len(), 1, "{run}");
        assert_eq!(figures[0]["status"], "ok", "{}", figures[0]["notes"]);
        let (timed, counted) = (operations(&figures[0]), is_read(&before, &after));
        assert!(timed > 0 && counted >= timed, "{words}: {counted} {timed}");
        assert_eq!(before.bytes_written, after.bytes_written, "{words}");
    }
    device.detach(&file);
    assert!(fs::read(&file).unwrap() == contents(), "it was written to");
    Ok(())
}

fn bytes_of(before: &Counted, after: &Counted) -> u64 {
    after.bytes_read - before.bytes_read
}

/// The number of read requests, which must be of 4 KiB each on average.
fn requests_of_a_block(before: &Counted, after: &Counted) -> u64 {
    let reads = after.reads - before.reads;
    let mean = bytes_of(before, after) as f64 / reads as f64;
    assert!((mean / 4096.0 - 1.0).abs() < 0.01, "{mean} bytes a request");
    reads
}
