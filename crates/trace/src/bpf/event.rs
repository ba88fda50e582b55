//! The events that the programs in the kernel send.

use std::array;
use std::borrow::Cow;

use super::layout::{
    CALL_BYTES, EVENT_BYTES, FAULT_KINDS, KIND_MASK, TEXT_BYTES, flag, place, place_of_more,
};
use crate::call::{Arguments, FilePlace, Identity, Kind, Property};
use crate::tally::Made;

/// An event of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Number of the thread.
    pub thread: u32,
    /// Number of its call.
    pub number: u32,
    /// Its time on a processor in its own code since its last event, in ns.
    pub user_ns: u64,
    /// The cause of the event.
    pub content: Content,
}

/// The cause of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A call returned.
    Call(Returned),
    /// It made a process or thread.
    Begin {
        /// Number of the new thread.
        child: u32,
        /// How it was made.
        made: Made,
    },
    /// It ended.
    End {
        /// Time of its last call and of its end, in ns.
        call_ns: u64,
        /// Whether its process is one of 32 bits.
        is_32_bit: bool,
    },
    /// Other times since its last event.
    More(More),
    /// A soft interrupt in the thread's own code, with its time in ns.
    Interrupt(u64),
    /// A page fault of a mapped file, and the number of its pages. `None`: the pages belong to no
    /// file.
    Fault(Option<FilePlace>, u64),
}

/// A call that returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// Its result, as the kernel returns it.
    pub result: i64,
    /// Its time on a processor, in ns.
    pub call_ns: u64,
    /// When it returned, by the kernel's monotonic clock, in ns.
    pub time_ns: u64,
    /// Whether this is a new process or thread that returns from the call of its parent.
    pub is_child: bool,
    /// Whether the process is one of 32 bits.
    pub is_32_bit: bool,
    arguments: [u64; 5],
    text: [u8; TEXT_BYTES],
    flags: u32,
}

/// Times and counts outside of calls, apart from user time, and of page faults within calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct More {
    /// Time of page faults without reading from storage, in ns, by kind.
    pub minor_ns: [u64; FAULT_KINDS],
    /// Time of page faults that read from storage, in ns.
    pub major_ns: u64,
    /// Number of minor page faults by kind.
    pub minor_faults: [u32; FAULT_KINDS],
    /// Number of minor page faults outside of calls.
    pub user_faults: u32,
    /// Number of minor page faults within calls.
    pub call_faults: u32,
    /// Number of major page faults.
    pub major_faults: u32,
}

impl Event {
    /// Reads a record: an event that was sent alone, or several of calls without a text. Events of
    /// an unknown kind are left out.
    pub fn all(record: &[u8]) -> impl Iterator<Item = Event> {
        let each = match record.len() {
            EVENT_BYTES => EVENT_BYTES,
            _ => CALL_BYTES,
        };
        record.chunks_exact(each).filter_map(move |part| {
            let mut bytes = [0; EVENT_BYTES];
            bytes[..each].copy_from_slice(part);
            Event::read(&bytes)
        })
    }

    /// The event of a call with this result and these times instead of its own. `None`: it is no
    /// call.
    pub fn mean(
        bytes: &[u8; EVENT_BYTES],
        result: i64,
        call_ns: u64,
        user_ns: u64,
    ) -> Option<Event> {
        let mut event = Event::read(bytes)?;
        let Content::Call(returned) = &mut event.content else {
            return None;
        };
        (returned.result, returned.call_ns) = (result, call_ns);
        event.user_ns = user_ns;
        Some(event)
    }

    fn read(bytes: &[u8; EVENT_BYTES]) -> Option<Event> {
        let flags = word(bytes, place("event.flags"));
        let call_ns = long(bytes, place("event.call"));
        let is_32_bit = flags & flag("IS_32_BIT") != 0;
        let kind = flags & KIND_MASK;
        let content = if kind == flag("CALL") {
            Content::Call(Returned::read(bytes, flags))
        } else if kind == flag("BEGIN") {
            let is_thread = flags & flag("IS_THREAD") != 0;
            Content::Begin {
                child: word(bytes, place("event.child")),
                made: Made {
                    shares_files: flags & flag("SHARES_FILES") != 0,
                    borrows: flags & flag("SHARES_MEMORY") != 0 && !is_thread,
                    is_thread,
                },
            }
        } else if kind == flag("END") {
            Content::End { call_ns, is_32_bit }
        } else if kind == flag("MORE") {
            Content::More(More::read(bytes))
        } else if kind == flag("FAULT") {
            let place = file_place(&bytes[place("event.text")..][..TEXT_BYTES]);
            Content::Fault(place, call_ns)
        } else if kind == flag("INTERRUPT") {
            Content::Interrupt(long(bytes, place("event.interrupt")))
        } else {
            return None;
        };
        let has_user =
            !matches!(content, Content::Begin { .. } | Content::Fault(..) | Content::Interrupt(_));
        Some(Event {
            thread: word(bytes, place("event.ids")),
            number: word(bytes, place("event.number")),
            user_ns: if has_user { long(bytes, place("event.user")) } else { 0 },
            content,
        })
    }
}

impl Returned {
    fn read(bytes: &[u8], flags: u32) -> Returned {
        let mut arguments = [0; 5];
        for (index, argument) in arguments.iter_mut().enumerate() {
            *argument = long(bytes, place("event.arguments") + 8 * index);
        }
        let mut text = [0; TEXT_BYTES];
        text.copy_from_slice(&bytes[place("event.text")..][..TEXT_BYTES]);
        Returned {
            result: long(bytes, place("event.result")).cast_signed(),
            call_ns: long(bytes, place("event.call")),
            time_ns: long(bytes, place("event.time")),
            is_child: flags & flag("IS_CHILD") != 0,
            is_32_bit: flags & flag("IS_32_BIT") != 0,
            arguments,
            text,
            flags,
        }
    }

    /// The result as a trace shows it. `None`: the kernel begins the call again, or the result is
    /// no number.
    pub fn shown_result(&self) -> Option<i64> {
        match self.result {
            -516..=-512 => None,
            -4095..0 => Some(self.result),
            0.. => Some(self.result),
            _ => None,
        }
    }

    /// The call and arguments behind `socketcall`, the one call for sockets of older 32-bit
    /// programs.
    pub fn socket_call(&self) -> Option<(Cow<'static, str>, Returned)> {
        let name = SOCKET_CALLS.get(usize::try_from(self.arguments[0]).ok()?.checked_sub(1)?)?;
        let mut inner = self.clone();
        for (index, argument) in inner.arguments.iter_mut().enumerate() {
            *argument = word(&self.text, 4 * index).into();
        }
        inner.text = [0; TEXT_BYTES];
        Some((Cow::Borrowed(name), inner))
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

impl More {
    fn read(bytes: &[u8]) -> More {
        let time = |name, index: usize| long(bytes, place_of_more(name) + 8 * index);
        let count = |name, index: usize| word(bytes, place_of_more(name) + 4 * index);
        More {
            minor_ns: array::from_fn(|kind| time("thread.minor", kind)),
            major_ns: time("thread.major", 0),
            minor_faults: array::from_fn(|kind| count("thread.minor_faults", kind)),
            user_faults: count("thread.user_faults", 0),
            call_faults: count("thread.call_faults", 0),
            major_faults: count("thread.major_faults", 0),
        }
    }
}

/// The arguments of a call with this name.
#[derive(Debug)]
pub struct NamedCall<'a> {
    /// Name of the call.
    pub name: &'a str,
    /// The call.
    pub returned: &'a Returned,
}

impl NamedCall<'_> {
    fn argument(&self, index: usize) -> u64 {
        self.returned.arguments.get(index).copied().unwrap_or(0)
    }

    fn has_flag(&self, name: &str) -> bool {
        self.returned.flags & flag(name) != 0
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
        let text = &self.returned.text;
        let bytes = text.split(|byte| *byte == 0).next().unwrap_or_default();
        // A path that is cut within a character, or is no UTF-8, is known by its beginning.
        str::from_utf8(bytes)
            .unwrap_or_else(|e| str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default())
    }

    fn file(&self) -> Option<FilePlace> {
        file_place(&self.returned.text)
    }

    fn pair(&self, _index: usize) -> Vec<i64> {
        [0, 4].map(|at| word(&self.returned.text, at).into()).to_vec()
    }

    fn has(&self, property: Property) -> bool {
        let flags_of_open = if self.name == "open" { 1 } else { 2 };
        let socket_type = self.argument(1) & 0xf;
        match property {
            Property::Directory => {
                let has_flags = self.name == "open" || self.name == "openat";
                has_flags && self.argument(flags_of_open) & u64::from(O_DIRECTORY) != 0
            }
            Property::Appends => {
                let flags = match self.name {
                    "open" | "openat" => self.argument(flags_of_open),
                    "fcntl" | "fcntl64" if self.argument(1) == F_SETFL => self.argument(2),
                    _ => 0,
                };
                flags & u64::from(O_APPEND) != 0
            }
            Property::Blocked => self.has_flag("HAS_BLOCKED"),
            Property::Thread => self.has_flag("IS_THREAD"),
            Property::SharesMemory => self.has_flag("SHARES_MEMORY") && !self.has_flag("IS_THREAD"),
            Property::SharesFiles => self.has_flag("SHARES_FILES"),
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

/// Of `newfstatat`.
const AT_EMPTY_PATH: u64 = 0x1000;

/// Of x86.
const O_DIRECTORY: u32 = 0x1_0000;
const O_APPEND: u32 = 0x400;

/// The place in a file that the programs in the kernel write as a text: inode, position, device and
/// number of pages. No file has the inode 0.
fn file_place(text: &[u8]) -> Option<FilePlace> {
    let inode = long(text, 0);
    (inode != 0).then(|| FilePlace {
        identity: Identity::Inode(word(text, 16), inode),
        position: long(text, 8),
        pages: word(text, 20).into(),
    })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut long = [0; 8];
    long.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(long)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An event that is sent alone, with these numbers at the places of these fields.
    pub fn record(flags: u32, fields: &[(usize, u64)]) -> [u8; EVENT_BYTES] {
        let mut bytes = [0; EVENT_BYTES];
        bytes[place("event.flags")..][..4].copy_from_slice(&flags.to_ne_bytes());
        for (at, number) in fields {
            bytes[*at..at + 8].copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn files_append_by_the_flags_of_open_and_of_fcntl() {
        let appends = |name, arguments: [u64; 3]| {
            let at = place("event.arguments");
            let fields: Vec<_> = (0..3).map(|i| (at + 8 * i, arguments[i])).collect();
            let event = Event::all(&record(flag("CALL"), &fields)).next().unwrap();
            let Content::Call(returned) = &event.content else { panic!("{event:?}") };
            let call = NamedCall { name, returned };
            call.has(Property::Appends)
        };
        let flags = u64::from(O_APPEND) | 1;
        assert!(appends("openat", [0, 0, flags]) && appends("open", [0, flags, 0]));
        assert!(appends("fcntl", [3, F_SETFL, flags]) && appends("fcntl64", [3, F_SETFL, flags]));
        // F_GETFL, and a descriptor to copy to at least this number.
        assert!(!appends("fcntl", [3, 3, flags]) && !appends("fcntl", [3, 0, flags]));
        assert!(!appends("fcntl", [3, F_SETFL, 1]) && !appends("write", [3, F_SETFL, flags]));
    }

    #[test]
    fn events_that_are_sent_together_are_those_that_are_sent_alone() {
        let one = |result| {
            let places = ["event.ids", "event.user", "event.call", "event.result"];
            let numbers = [7, 20, 30, result];
            let fields: Vec<_> = places.map(place).into_iter().zip(numbers).collect();
            record(flag("CALL") | flag("HAS_BLOCKED"), &fields)
        };
        let both: Vec<u8> =
            [one(1), one(2)].iter().flat_map(|e| e[..CALL_BYTES].to_vec()).collect();
        let together: Vec<Event> = Event::all(&both).collect();
        let alone: Vec<Event> = [one(1), one(2)].iter().flat_map(|e| Event::all(e)).collect();
        assert_eq!(together, alone);
        let results = together.iter().map(|event| match &event.content {
            Content::Call(call) => (event.thread, event.user_ns, call.call_ns, call.result),
            other => panic!("{other:?}"),
        });
        assert_eq!(results.collect::<Vec<_>>(), [(7, 20, 30, 1), (7, 20, 30, 2)]);
    }
}
