//! The accesses of a trace to files: file, place, length and kind.

use std::collections::HashMap;

use yamba_page_cache::document::{File, FileAccesses, Run, SCHEMA};
use yamba_page_cache::{Access, Kind, PAGE_BYTES};
use yamba_predict::Vector;

use crate::call::{Call, FilePlace, Identity, Kind as DescriptorKind, Pointed};
use crate::modes::{is_direct, is_file};
use crate::positions::Positions;

/// Runs of accesses in a document at most: about 100 MB of text.
const MOST_RUNS: usize = 4_000_000;

/// Finds the path of an open file.
pub type LookUp = fn(process: u32, descriptor: i64, identity: &Identity) -> Option<String>;

/// The accesses so far.
#[derive(Debug, Default)]
pub struct FileLog {
    numbers: HashMap<Identity, u32>,
    files: Vec<File>,
    runs: Vec<Run>,
    left_out: u64,
    unknown: u64,
    positions: Positions,
    /// The last event about pages that the kernel mapped around a page fault, and its process.
    around: Option<(u32, Access)>,
    look_up: Option<LookUp>,
}

/// The place of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The position of the descriptor.
    Position,
    /// An argument. -1: the position of the descriptor.
    Argument(usize),
    /// An argument that points to it. The position of the descriptor then stays. NULL: the position
    /// of the descriptor.
    Pointer(usize),
}

/// An access of a call to a file.
struct CallAccess {
    name: &'static str,
    kind: Kind,
    /// The argument with the descriptor.
    descriptor: usize,
    place: Place,
    /// Whether the programs in the kernel record the place.
    is_placed: bool,
}

const fn access(
    name: &'static str,
    kind: Kind,
    descriptor: usize,
    place: Place,
    is_placed: bool,
) -> CallAccess {
    CallAccess { name, kind, descriptor, place, is_placed }
}

const CALLS: &[CallAccess] = &[
    access("read", Kind::Read, 0, Place::Position, true),
    access("readv", Kind::Read, 0, Place::Position, true),
    access("pread", Kind::Read, 0, Place::Argument(3), true),
    access("pread64", Kind::Read, 0, Place::Argument(3), true),
    access("preadv", Kind::Read, 0, Place::Argument(3), true),
    access("preadv2", Kind::Read, 0, Place::Argument(3), true),
    access("write", Kind::Write, 0, Place::Position, true),
    access("writev", Kind::Write, 0, Place::Position, true),
    access("pwrite", Kind::Write, 0, Place::Argument(3), true),
    access("pwrite64", Kind::Write, 0, Place::Argument(3), true),
    access("pwritev", Kind::Write, 0, Place::Argument(3), true),
    access("pwritev2", Kind::Write, 0, Place::Argument(3), true),
    access("sendfile", Kind::Read, 1, Place::Pointer(2), true),
    access("sendfile64", Kind::Read, 1, Place::Pointer(2), false),
    access("sendfile", Kind::Write, 0, Place::Position, false),
    access("sendfile64", Kind::Write, 0, Place::Position, false),
    access("copy_file_range", Kind::Read, 0, Place::Pointer(1), false),
    access("copy_file_range", Kind::Write, 2, Place::Pointer(3), false),
    access("splice", Kind::Read, 0, Place::Pointer(1), false),
    access("splice", Kind::Write, 2, Place::Pointer(3), false),
];

impl FileLog {
    /// A log that looks for the paths of files.
    pub fn looking_up(look_up: LookUp) -> FileLog {
        FileLog { look_up: Some(look_up), ..FileLog::default() }
    }

    /// Forgets the accesses so far, and records from now on.
    pub fn restart(&mut self) {
        self.runs.clear();
        self.around = None;
        (self.left_out, self.unknown) = (0, 0);
    }

    /// Records the accesses of a call that has returned, unless the trace pauses. `kind_of` finds
    /// the kind of the descriptor in an argument.
    pub fn call(
        &mut self,
        process: u32,
        call: &Call,
        is_paused: bool,
        kind_of: &mut dyn FnMut(usize) -> Option<DescriptorKind>,
    ) {
        self.positions.follow(process, call);
        let Some(length @ 1..) = call.result else {
            return;
        };
        for access in CALLS.iter().filter(|access| access.name == call.name) {
            let found = self.place(process, call, access, length);
            if is_paused {
                continue;
            }
            let kind = kind_of(access.descriptor);
            // It bypasses the page cache.
            if kind.as_ref().is_some_and(is_direct) {
                continue;
            }
            match found {
                Some((identity, Some(offset))) => {
                    self.record(process, call, access, identity, [offset, length]);
                }
                Some((_, None)) => self.unknown += 1,
                // A file, but not which one.
                None => {
                    let is_hidden =
                        !access.is_placed || !call.arguments.is_shown(access.descriptor);
                    let is_file = kind.as_ref().is_some_and(is_file);
                    self.unknown += u64::from(is_hidden && is_file);
                }
            }
        }
    }

    /// Records an access of `length` bytes from `offset` on.
    fn record(
        &mut self,
        process: u32,
        call: &Call,
        access: &CallAccess,
        identity: Identity,
        [offset, length]: [i64; 2],
    ) {
        let number =
            self.number(identity, || (process, call.arguments.descriptor(access.descriptor)));
        let place = call.arguments.file().filter(|_| access.is_placed);
        if let Some(FilePlace { pages, .. }) = place {
            self.files[number as usize].pages = Some(pages);
        }
        self.flush();
        self.push(Access {
            file: number,
            kind: access.kind,
            offset: offset.unsigned_abs(),
            length: length.unsigned_abs(),
        });
    }

    /// Counts accesses to a file whose places are unknown, if the call is one.
    pub fn count_unplaced(&mut self, call: &Call, count: u64) {
        let is_access = CALLS.iter().any(|access| access.name == call.name);
        if is_access && call.result > Some(0) {
            self.unknown += count;
        }
        self.lose();
    }

    /// Forgets the positions of open files: calls that are missing in the record may have moved
    /// them.
    pub fn lose(&mut self) {
        self.positions.forget();
    }

    /// Records a page fault of pages of a mapped file.
    pub fn fault(&mut self, process: u32, place: &FilePlace, pages: u64) {
        let number = self.number(place.identity.clone(), || (process, None));
        self.files[number as usize].pages = Some(place.pages);
        let access = Access {
            file: number,
            kind: Kind::Mapped,
            offset: place.position,
            length: pages.saturating_mul(PAGE_BYTES),
        };
        // The kernel maps cached neighbours first. If an event for a single page among them
        // follows, that page was missing, and the neighbours are not an access of their own.
        let is_within = |(other, around): &(u32, Access)| {
            let end = around.offset + around.length;
            *other == process
                && around.file == number
                && (around.offset..end).contains(&access.offset)
        };
        if pages == 1 && self.around.as_ref().is_some_and(is_within) {
            self.around = None;
        }
        self.flush();
        if pages == 1 {
            self.push(access);
        } else {
            self.around = Some((process, access));
        }
    }

    /// Records the last page fault.
    fn flush(&mut self) {
        if let Some((_, access)) = self.around.take() {
            self.push(access);
        }
    }

    /// Follows the making of a process or thread.
    pub fn begin(&mut self, parent: u32, child: u32, shares_files: bool) {
        self.positions.begin(parent, child, shares_files);
    }

    /// The file of an access, and its first byte, if that is known. `None`: it is no file.
    fn place(
        &mut self,
        process: u32,
        call: &Call,
        access: &CallAccess,
        length: i64,
    ) -> Option<(Identity, Option<i64>)> {
        let arguments = call.arguments;
        let file = arguments.file().filter(|_| access.is_placed);
        let identity = match &file {
            Some(file) => file.identity.clone(),
            None => Identity::Path(arguments.shown_path(access.descriptor)?.to_owned()),
        };
        let pointed = match access.place {
            Place::Position => Pointed::Null,
            Place::Argument(index) => match arguments.size(index) {
                Some(offset) if (0.0..i64::MAX as f64).contains(&offset) => {
                    Pointed::At(offset as i64)
                }
                Some(_) => Pointed::Null,
                None => Pointed::Hidden,
            },
            Place::Pointer(index) => arguments.position(index),
        };
        let at = match (pointed, file) {
            (Pointed::At(offset), _) => Some(offset),
            (_, Some(file)) => Some(file.position.cast_signed() - length),
            (Pointed::Null, None) => {
                self.positions.advance(process, arguments, access.descriptor, length)
            }
            (Pointed::Hidden, None) => None,
        };
        let is_possible = |at: &i64| *at >= 0 && at.checked_add(length).is_some();
        Some((identity, at.filter(is_possible)))
    }

    /// The number of a file. `open` is a process with a descriptor of it.
    fn number(&mut self, identity: Identity, open: impl Fn() -> (u32, Option<i64>)) -> u32 {
        if let Some(number) = self.numbers.get(&identity) {
            return *number;
        }
        let mut file = File::default();
        match &identity {
            Identity::Path(path) => file.path = Some(path.clone()),
            Identity::Inode(device, inode) => {
                (file.device, file.inode) = (Some(device_text(*device)), Some(*inode));
                let (process, descriptor) = open();
                let found = self.look_up.zip(descriptor);
                file.path = found.and_then(|(look_up, fd)| look_up(process, fd, &identity));
            }
        }
        let number = self.files.len() as u32;
        self.files.push(file);
        self.numbers.insert(identity, number);
        number
    }

    fn push(&mut self, access: Access) {
        let last = self.runs.last_mut();
        if last.is_some_and(|last| last.add(&access)) {
            return;
        }
        if self.runs.len() < MOST_RUNS && self.left_out == 0 {
            self.runs.push(access.into());
        } else {
            self.left_out += 1;
        }
    }

    /// The document of the accesses, with the names of the application's vector. `read_ahead` finds
    /// the read-ahead of a device, in bytes.
    pub fn document(
        mut self,
        vector: &Vector,
        read_ahead: impl Fn(&str) -> Option<u64>,
    ) -> FileAccesses {
        self.flush();
        let mut files = self.files;
        for file in &mut files {
            file.read_ahead_bytes = file.device.as_deref().and_then(&read_ahead);
        }
        FileAccesses {
            schema: SCHEMA.to_owned(),
            application: vector.application.clone(),
            unit: vector.unit.clone(),
            units: vector.units.unwrap_or(1.0),
            how: vector.traced.as_ref().map(|traced| traced.how.clone()),
            left_out: self.left_out,
            unknown: self.unknown,
            files,
            accesses: self.runs,
        }
    }
}

/// `MAJOR:MINOR` of a device, as the kernel numbers it.
fn device_text(device: u32) -> String {
    format!("{}:{}", device >> 20, device & 0xf_ffff)
}
