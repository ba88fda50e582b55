//! The events that the programs in the kernel send.

use std::borrow::Cow;
use std::iter;

use super::shared::{
    self, BeginEvent, CallEvent, DetailedCallEvent, EndEvent, EventHead, FaultSum, FileFaultEvent,
    HAS_BLOCKED, IS_32_BIT, IS_CHILD, IS_THREAD, InterruptEvent, MoreEvent, PageFaults,
    SHARES_FILES, SHARES_MEMORY, ShownFile, read,
};
use crate::call::{Arguments, FilePlace, Identity, Kind, Property};

/// An event of a thread.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A call returned. Most calls have no detail.
    Call(DetailedCallEvent),
    /// The thread made a process or thread.
    Begin(BeginEvent),
    /// It ended.
    End(EndEvent),
    /// Other times since its last event.
    More(MoreEvent),
    /// A page fault of a mapped file.
    FileFault(FileFaultEvent),
    /// A soft interrupt in the thread's own code.
    Interrupt(InterruptEvent),
}

impl Event {
    /// Reads a record: an event that was sent alone, or several of calls without details. Events of
    /// an unknown kind are left out.
    pub fn all(mut record: &[u8]) -> impl Iterator<Item = Event> {
        iter::from_fn(move || {
            let head: EventHead = read(record)?;
            let (event, bytes) = match head.kind {
                shared::CALL => (read(record).map(Event::plain_call), size_of::<CallEvent>()),
                shared::DETAILED_CALL => (read(record).map(Event::Call), record.len()),
                shared::BEGIN => (read(record).map(Event::Begin), record.len()),
                shared::END => (read(record).map(Event::End), record.len()),
                shared::MORE => (read(record).map(Event::More), record.len()),
                shared::FILE_FAULT => (read(record).map(Event::FileFault), record.len()),
                shared::INTERRUPT => (read(record).map(Event::Interrupt), record.len()),
                _ => (None, record.len()),
            };
            record = record.get(bytes..).unwrap_or_default();
            event
        })
    }

    /// The event of a call without details.
    pub fn plain_call(call: CallEvent) -> Event {
        Event::Call(call.without_detail())
    }

    /// The part that all events have.
    pub fn head(&self) -> &EventHead {
        match self {
            Event::Call(event) => &event.call.head,
            Event::Begin(event) => &event.head,
            Event::End(event) => &event.head,
            Event::More(event) => &event.head,
            Event::FileFault(event) => &event.head,
            Event::Interrupt(event) => &event.head,
        }
    }
}

impl EventHead {
    /// Whether the event has this flag.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether the new process, which is no thread, uses its parent's memory, as after `vfork`.
    pub fn borrows_memory(&self) -> bool {
        self.has(SHARES_MEMORY) && !self.has(IS_THREAD)
    }

    /// Whether the process is one of 32 bits.
    pub fn is_32_bit(&self) -> bool {
        self.has(IS_32_BIT)
    }
}

impl CallEvent {
    /// The call with an empty detail.
    pub fn without_detail(self) -> DetailedCallEvent {
        DetailedCallEvent { call: self, detail: [0; 24] }
    }
}

impl DetailedCallEvent {
    /// Whether this is a new process or thread that returns from the call of its parent.
    pub fn is_child(&self) -> bool {
        self.call.head.has(IS_CHILD)
    }

    /// The result as a trace shows it. `None`: the kernel begins the call again, or the result is
    /// no number.
    pub fn shown_result(&self) -> Option<i64> {
        match self.call.result {
            -516..=-512 => None,
            -4095..0 => Some(self.call.result),
            0.. => Some(self.call.result),
            _ => None,
        }
    }

    /// The call and arguments behind `socketcall`, the one call for sockets of older 32-bit
    /// programs. `None`: no such call, or its arguments matter and are unknown.
    pub fn socket_call(&self) -> Option<(Cow<'static, str>, DetailedCallEvent)> {
        let has_arguments = self.call.head.kind == shared::DETAILED_CALL;
        if !has_arguments && self.call.result >= 0 {
            return None;
        }
        let call = usize::try_from(self.call.arguments[0]).ok()?.checked_sub(1)?;
        let name = SOCKET_CALLS.get(call)?;
        let mut inner = self.call;
        for (argument, bytes) in inner.arguments.iter_mut().zip(self.detail.chunks_exact(4)) {
            *argument = read::<u32>(bytes)?.into();
        }
        Some((Cow::Borrowed(name), inner.without_detail()))
    }
}

/// The calls of `socketcall`, from 1.
const SOCKET_CALLS: [&str; 20] = [
    "socket",
    "bind",
    "connect",
    "listen",
    "accept",
    "getsockname",
    "getpeername",
    "socketpair",
    "send",
    "recv",
    "sendto",
    "recvfrom",
    "shutdown",
    "setsockopt",
    "getsockopt",
    "sendmsg",
    "recvmsg",
    "accept4",
    "recvmmsg",
    "sendmmsg",
];

impl PageFaults {
    /// The minor page faults by kind. Some have no kind, such as those of shared memory.
    pub fn minor(&self) -> [(Option<&'static str>, FaultSum); 5] {
        [
            (None, self.other),
            (Some("copy"), self.copy),
            (Some("anonymous"), self.anonymous),
            (Some("file"), self.file),
            (Some("zero"), self.zero),
        ]
    }
}

impl ShownFile {
    /// The place in a file. `None`: the programs in the kernel found no regular file.
    pub fn place(&self) -> Option<FilePlace> {
        // No file has the inode 0.
        (self.inode != 0).then(|| FilePlace {
            identity: Identity::Inode(self.device, self.inode),
            position: self.position,
            pages: self.pages.into(),
        })
    }
}

/// The arguments of a call with this name.
#[derive(Debug)]
pub struct NamedCall<'a> {
    /// Name of the call.
    pub name: &'a str,
    /// The call.
    pub event: &'a DetailedCallEvent,
}

impl NamedCall<'_> {
    fn argument(&self, index: usize) -> u64 {
        self.event.call.arguments.get(index).copied().unwrap_or(0)
    }
}

impl Arguments for NamedCall<'_> {
    fn descriptor(&self, index: usize) -> Option<i64> {
        let number = self.argument(index) as u32;
        i32::try_from(number).ok().map(i64::from)
    }

    fn shown_kind(&self, _index: usize) -> Option<Kind> {
        None
    }

    fn size(&self, index: usize) -> Option<f64> {
        Some(self.argument(index) as f64)
    }

    fn path(&self) -> &str {
        let bytes = self.event.detail.split(|byte| *byte == 0).next().unwrap_or_default();
        // A path that is cut within a character, or is no UTF-8, is known by its beginning.
        str::from_utf8(bytes)
            .unwrap_or_else(|e| str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default())
    }

    fn file(&self) -> Option<FilePlace> {
        read::<ShownFile>(&self.event.detail)?.place()
    }

    fn pair(&self, _index: usize) -> Vec<i64> {
        read::<[u32; 2]>(&self.event.detail).unwrap_or_default().map(i64::from).to_vec()
    }

    fn has(&self, property: Property) -> bool {
        let head = &self.event.call.head;
        let flags_of_open = if self.name == "open" { 1 } else { 2 };
        let socket_type = self.argument(1) & 0xf;
        let is_fcntl = self.name == "fcntl" || self.name == "fcntl64";
        let set_flags = || match self.name {
            "open" | "openat" => self.argument(flags_of_open),
            _ if is_fcntl && self.argument(1) == F_SETFL => self.argument(2),
            _ => 0,
        };
        match property {
            Property::Directory => {
                let has_flags = self.name == "open" || self.name == "openat";
                has_flags && self.argument(flags_of_open) & u64::from(O_DIRECTORY) != 0
            }
            Property::Appends => set_flags() & u64::from(O_APPEND) != 0,
            Property::Direct => set_flags() & u64::from(O_DIRECT) != 0,
            Property::Synchronous => set_flags() & u64::from(O_DSYNC) != 0,
            Property::SetsFlags => is_fcntl && self.argument(1) == F_SETFL,
            Property::ClosesLater => self.argument(2) & CLOSE_RANGE_CLOEXEC != 0,
            Property::Blocked => head.has(HAS_BLOCKED),
            Property::Thread => head.has(IS_THREAD),
            Property::SharesMemory => head.borrows_memory(),
            Property::SharesFiles => head.has(SHARES_FILES),
            // F_DUPFD, F_DUPFD_CLOEXEC
            Property::Duplicates => [0, 1030].contains(&self.argument(1)),
            Property::EmptyPath => self.argument(3) & AT_EMPTY_PATH != 0,
            Property::Unix => self.argument(0) == 1,
            Property::Netlink => self.argument(0) == 16,
            Property::Stream => socket_type == 1,
            Property::Datagrams => socket_type == 2,
        }
    }
}

/// Of `fcntl`.
const F_SETFL: u64 = 4;

/// Of `close_range`.
const CLOSE_RANGE_CLOEXEC: u64 = 4;

/// Of `newfstatat`.
const AT_EMPTY_PATH: u64 = 0x1000;

/// Of x86.
const O_DIRECTORY: u32 = 0x1_0000;
const O_APPEND: u32 = 0x400;
/// `O_SYNC` contains it.
const O_DSYNC: u32 = 0x1000;
const O_DIRECT: u32 = 0x4000;

#[cfg(test)]
pub mod tests {
    use super::super::shared::bytes_of;
    use super::*;

    /// The beginning of an event of the thread 7.
    pub fn head(kind: u32, user_ns: u64) -> EventHead {
        EventHead { thread: 7, number: 0, kind, flags: 0, user_ns }
    }

    /// A call of the thread 7.
    pub fn call(arguments: [u64; 5], result: i64) -> CallEvent {
        let head = head(shared::CALL, 20);
        CallEvent { head, call_ns: 30, result, arguments, time_ns: 0 }
    }

    #[test]
    fn files_append_by_the_flags_of_open_and_of_fcntl() {
        let appends = |name, [a, b, c]: [u64; 3]| {
            let event = call([a, b, c, 0, 0], 0).without_detail();
            NamedCall { name, event: &event }.has(Property::Appends)
        };
        let flags = u64::from(O_APPEND) | 1;
        assert!(appends("openat", [0, 0, flags]) && appends("open", [0, flags, 0]));
        assert!(appends("fcntl", [3, F_SETFL, flags]) && appends("fcntl64", [3, F_SETFL, flags]));
        // F_GETFL, and a descriptor to copy to at least this number.
        assert!(!appends("fcntl", [3, 3, flags]) && !appends("fcntl", [3, 0, flags]));
        assert!(!appends("fcntl", [3, F_SETFL, 1]) && !appends("write", [3, F_SETFL, flags]));
    }

    #[test]
    fn modes_are_those_of_open_and_of_fcntl() {
        let has = |name, [a, b, c]: [u64; 3], property| {
            let event = call([a, b, c, 0, 0], 0).without_detail();
            NamedCall { name, event: &event }.has(property)
        };
        // O_SYNC, O_DSYNC, O_DIRECT, O_DIRECTORY
        for (flags, is_synchronous, is_direct) in [
            (0x10_1000, true, false),
            (0x1000, true, false),
            (0x4000, false, true),
            (0x1_0000, false, false),
        ] {
            assert_eq!(has("openat", [0, 0, flags], Property::Synchronous), is_synchronous);
            assert_eq!(has("open", [0, flags, 0], Property::Direct), is_direct);
            assert_eq!(has("fcntl", [3, F_SETFL, flags], Property::Direct), is_direct);
            assert!(!has("fcntl", [3, 3, flags], Property::Direct));
        }
        assert!(has("fcntl", [3, F_SETFL, 0], Property::SetsFlags));
        assert!(!has("fcntl", [3, 3, 0], Property::SetsFlags));
    }

    #[test]
    fn record_of_several_calls_has_each_of_them() {
        let calls = [1, 2].map(|result| call([result as u64; 5], result));
        let record: Vec<u8> = calls.iter().flat_map(bytes_of).collect();
        let events: Vec<Event> = Event::all(&record).collect();
        assert_eq!(events, calls.map(Event::plain_call));
        // A record that is cut off, and one of an unknown kind.
        assert_eq!(Event::all(&record[..record.len() - 1]).count(), 1);
        assert_eq!(Event::all(&bytes_of(&head(99, 0))).count(), 0);
    }

    #[test]
    fn socketcall_shows_its_arguments_only_with_its_detail() {
        // `send(5, ...)`: the arguments are in memory.
        let mut event = call([9, 0xdead, 0, 0, 0], 100).without_detail();
        event.detail[0] = 5;
        assert_eq!(event.socket_call(), None);
        event.call.head.kind = shared::DETAILED_CALL;
        let (name, inner) = event.socket_call().unwrap();
        assert_eq!((&*name, inner.call.arguments), ("send", [5, 0, 0, 0, 0]));
        // The kernel reads no memory after a failure, whose name is enough.
        let failed = call([9, 0xdead, 0, 0, 0], -9).without_detail();
        assert_eq!(failed.socket_call().unwrap().0, "send");
    }
}
