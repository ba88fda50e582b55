//! The document of an application's file accesses, schema `yamba-files/1`.

use serde::{Deserialize, Serialize};

use crate::access::{Access, Kind, PAGE_BYTES, Page};
use crate::linux::FileShape;

/// The schema's name.
pub const SCHEMA: &str = "yamba-files/1";

/// Read-ahead of a device whose own is unknown, in bytes: the default of Linux.
pub const READ_AHEAD_BYTES: u64 = 128 << 10;

/// The accesses of an application to files, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileAccesses {
    /// Schema of the document: [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Name of the application.
    pub application: String,
    /// One unit of its work, such as `request`.
    pub unit: String,
    /// Number of units in the trace.
    pub units: f64,
    /// The method that recorded the accesses: `bpf` or `strace`. `None`: the document was written
    /// by hand.
    #[serde(default)]
    pub how: Option<String>,
    /// Number of later accesses that are missing, because the document has its largest size.
    #[serde(default)]
    pub left_out: u64,
    /// Number of accesses that are missing, because their place in the file is unknown.
    #[serde(default)]
    pub unknown: u64,
    pub files: Vec<File>,
    pub accesses: Vec<Run>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its path. `None`: unknown; it was closed before the tracer looked.
    #[serde(default)]
    pub path: Option<String>,
    /// Its device, `MAJOR:MINOR`. `None`: unknown.
    #[serde(default)]
    pub device: Option<String>,
    /// Its inode. `None`: unknown.
    #[serde(default)]
    pub inode: Option<u64>,
    /// Its length in pages of 4096 bytes at the last access. `None`: unknown; it ends with the last
    /// accessed byte.
    #[serde(default)]
    pub pages: Option<u64>,
    /// Largest read-ahead of its device, in bytes. `None`: unknown.
    #[serde(default)]
    pub read_ahead_bytes: Option<u64>,
}

/// Accesses of equal length to bytes that follow each other: number of the file, kind, first byte,
/// bytes of each access, number of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Run(pub u32, pub Kind, pub u64, pub u64, pub u64);

impl Run {
    /// The single accesses.
    pub fn each(self) -> impl Iterator<Item = Access> {
        let Run(file, kind, first, length, count) = self;
        (0..count).map(move |index| Access { file, kind, offset: first + index * length, length })
    }

    /// The byte behind the last access.
    pub fn end(self) -> u64 {
        self.2 + self.3 * self.4
    }

    /// Adds an access if it follows. Returns whether it did.
    pub fn add(&mut self, access: &Access) -> bool {
        let Run(file, kind, _, length, _) = *self;
        let follows = (file, kind, length) == (access.file, access.kind, access.length);
        let follows = follows && self.end() == access.offset;
        self.4 += u64::from(follows);
        follows
    }
}

impl From<Access> for Run {
    fn from(access: Access) -> Run {
        Run(access.file, access.kind, access.offset, access.length, 1)
    }
}

impl FileAccesses {
    /// Reads and checks a document. The error names the place and the fault.
    pub fn read(text: &str) -> Result<FileAccesses, String> {
        let document: FileAccesses = serde_json::from_str(text).map_err(|e| e.to_string())?;
        document.check()?;
        Ok(document)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            let found = &self.schema;
            return Err(format!("schema: it must be {SCHEMA:?}, not {found:?}"));
        }
        if !(self.units > 0.0 && self.units.is_finite()) {
            return Err("units: it must be a number above 0".to_owned());
        }
        for (index, Run(file, _, first, length, count)) in self.accesses.iter().enumerate() {
            let fault = |text| Err(format!("accesses[{index}]: {text}"));
            if *file as usize >= self.files.len() {
                return fault("the list of files has no such file");
            }
            let bytes = length.checked_mul(*count);
            match bytes.and_then(|bytes| first.checked_add(bytes)) {
                Some(end) if end <= LONGEST => {}
                _ => return fault("it ends beyond the longest file"),
            }
        }
        Ok(())
    }

    /// The single accesses, in their order.
    pub fn each(&self) -> impl Iterator<Item = Access> {
        self.accesses.iter().flat_map(|run| run.each())
    }

    /// The pages of all accesses, in their order.
    pub fn pages(&self) -> impl Iterator<Item = Page> {
        let pages = |access: Access| {
            let first = access.offset / PAGE_BYTES;
            let end = (access.offset + access.length).div_ceil(PAGE_BYTES);
            let file = access.file;
            (first..end).map(move |index| Page { file, index })
        };
        self.each().flat_map(pages)
    }

    /// The files as a simulated cache needs them. `read_ahead_bytes` replaces the read-ahead of all
    /// devices.
    pub fn shapes(&self, read_ahead_bytes: Option<u64>) -> Vec<FileShape> {
        let shape = |file: &File| FileShape {
            length: file.pages.unwrap_or(0).saturating_mul(PAGE_BYTES),
            read_ahead_bytes: read_ahead_bytes
                .or(file.read_ahead_bytes)
                .unwrap_or(READ_AHEAD_BYTES),
        };
        let mut shapes: Vec<FileShape> = self.files.iter().map(shape).collect();
        for run in self.accesses.iter().filter(|run| run.1 != Kind::Write) {
            let length = &mut shapes[run.0 as usize].length;
            *length = run.end().max(*length);
        }
        shapes
    }
}

/// The longest file of Linux, in bytes.
const LONGEST: u64 = i64::MAX as u64;
