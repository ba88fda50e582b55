//! The accesses of a trace to files: file, place, length and kind.

use std::collections::HashMap;

use yamba_page_cache::document::{File, FileAccesses, Run, SCHEMA};
use yamba_page_cache::{Access, Kind, PAGE_BYTES};
use yamba_predict::Vector;

use crate::call::{Call, FilePlace, Identity};
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

/// The part of a call's arguments that has the place of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The position of the descriptor.
    Position,
    /// An argument.
    Argument(usize),
}

/// Calls that access a file: the kind, the argument with the descriptor, and the place.
const CALLS: &[(&str, Kind, usize, Place)] = &[
    ("read", Kind::Read, 0, Place::Position),
    ("readv", Kind::Read, 0, Place::Position),
    ("pread64", Kind::Read, 0, Place::Argument(3)),
    ("preadv", Kind::Read, 0, Place::Argument(3)),
    ("preadv2", Kind::Read, 0, Place::Argument(3)),
    ("sendfile", Kind::Read, 1, Place::Position),
    ("write", Kind::Write, 0, Place::Position),
    ("writev", Kind::Write, 0, Place::Position),
    ("pwrite64", Kind::Write, 0, Place::Argument(3)),
    ("pwritev", Kind::Write, 0, Place::Argument(3)),
    ("pwritev2", Kind::Write, 0, Place::Argument(3)),
];

impl FileLog {
    /// A log that looks for the paths of files.
    pub fn looking_up(look_up: LookUp) -> FileLog {
        FileLog {
            look_up: Some(look_up),
            ..FileLog::default()
        }
    }

    /// Forgets the accesses so far, and records from now on.
    pub fn restart(&mut self) {
        self.runs.clear();
        self.around = None;
        (self.left_out, self.unknown) = (0, 0);
    }

    /// Records a call that has returned, if it accesses a file, unless the trace pauses.
    pub fn call(&mut self, process: u32, call: &Call, is_paused: bool) {
        self.positions.follow(process, call);
        let known = CALLS.iter().find(|(name, ..)| name == call.name);
        let (Some((_, kind, descriptor, place)), Some(length @ 1..)) = (known, call.result) else {
            return;
        };
        let Some((identity, at)) = self.place(process, call, *descriptor, *place, length) else {
            return;
        };
        if is_paused {
            return;
        }
        let Some(offset) =
            at.filter(|offset| offset.checked_add_unsigned(length.unsigned_abs()).is_some())
        else {
            self.unknown += 1;
            return;
        };
        let place = call.arguments.file();
        let number = self.number(identity, || {
            (process, call.arguments.descriptor(*descriptor))
        });
        if let Some(FilePlace { pages, .. }) = place {
            self.files[number as usize].pages = Some(pages);
        }
        self.flush();
        self.push(Access {
            file: number,
            kind: *kind,
            offset: offset.unsigned_abs(),
            length: length.unsigned_abs(),
        });
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
        // The kernel maps cached neighbours first. If an event for a single page among them follows, that page was missing, and the neighbours are not an
        // access of their own.
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

    /// The file of a call, and the first byte of its access. `None`: it is no file.
    fn place(
        &mut self,
        process: u32,
        call: &Call,
        descriptor: usize,
        place: Place,
        length: i64,
    ) -> Option<(Identity, Option<i64>)> {
        let arguments = call.arguments;
        let file = arguments.file();
        let identity = match &file {
            Some(file) => file.identity.clone(),
            None => Identity::Path(arguments.shown_path(descriptor)?.to_owned()),
        };
        let argument = match place {
            Place::Argument(index) => arguments.size(index).filter(|offset| *offset >= 0.0),
            Place::Position => None,
        };
        let at = match (argument, file) {
            (Some(offset), _) => Some(offset as i64),
            (None, Some(file)) => Some(file.position.cast_signed() - length),
            (None, None) => self
                .positions
                .advance(process, arguments, descriptor, length),
        };
        Some((identity, at.filter(|at| *at >= 0)))
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

    /// The document of the accesses, with the names of the application's vector. `read_ahead` finds the read-ahead of a device, in bytes.
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
