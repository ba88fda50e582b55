//! A system call, in the form that all sources of a trace produce.

use std::borrow::Cow;

/// The kind of a descriptor: `file`, `tcp`.
pub type Kind = Cow<'static, str>;

/// A call that has returned.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Name of the system call.
    pub name: &'a Cow<'static, str>,
    /// The result; below 0 if the call failed. `None`: the call does not return, or its result is
    /// an address.
    pub result: Option<i64>,
    /// Its arguments.
    pub arguments: &'a dyn Arguments,
}

/// The arguments of a call, as far as primitives depend on them.
pub trait Arguments {
    /// A descriptor. `None`: the argument is no descriptor.
    fn descriptor(&self, index: usize) -> Option<i64>;
    /// The kind of a descriptor, if the record shows it itself.
    fn shown_kind(&self, index: usize) -> Option<Kind>;
    /// A length or number.
    fn size(&self, index: usize) -> Option<f64>;
    /// The beginning of the first argument that is a path.
    fn path(&self) -> &str;
    /// Two descriptors that the call has written.
    fn pair(&self, index: usize) -> Vec<i64>;
    /// A position in a file to which an argument points, before the call.
    fn position(&self, _index: usize) -> Pointed {
        Pointed::Hidden
    }
    /// Whether the record shows what a descriptor is, if it is a file.
    fn is_shown(&self, _index: usize) -> bool {
        true
    }
    /// Whether the call has this property.
    fn has(&self, property: Property) -> bool;
    /// The file of a descriptor and the place in it, if the record shows them itself.
    fn file(&self) -> Option<FilePlace> {
        None
    }
    /// The path of a descriptor's file, if the record shows it itself.
    fn shown_path(&self, _index: usize) -> Option<&str> {
        None
    }
}

/// The identity of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Device, as the kernel numbers it, and inode.
    Inode(u32, u64),
    /// Path.
    Path(String),
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The file.
    pub identity: Identity,
    /// The position of the descriptor after the call, or the place of a page fault, in bytes.
    pub position: u64,
    /// Length of the file, in pages.
    pub pages: u64,
}

/// A position in a file to which an argument may point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// The argument is no pointer: the position of the descriptor counts.
    Null,
    /// The position, in bytes.
    At(i64),
    /// The record does not show it.
    Hidden,
}

/// A property that arguments give to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Opens a directory.
    Directory,
    /// The thread slept in the call. Only the programs in the kernel see it.
    Blocked,
    /// Makes a thread.
    Thread,
    /// The new process shares the memory.
    SharesMemory,
    /// The new process or thread shares the descriptors.
    SharesFiles,
    /// Opens a file so that writes go to its end, or changes an open file to that.
    Appends,
    /// Opens a file so that each write waits for storage (`O_SYNC`, `O_DSYNC`).
    Synchronous,
    /// Opens a file so that its data bypass the page cache (`O_DIRECT`), or changes an open file to
    /// that.
    Direct,
    /// Closes descriptors only when a program is executed (`CLOSE_RANGE_CLOEXEC`).
    ClosesLater,
    /// Sets the flags of an open file (`F_SETFL`).
    SetsFlags,
    /// Copies a descriptor.
    Duplicates,
    /// Asks about a descriptor, although the call takes a path.
    EmptyPath,
    /// Makes a Unix socket.
    Unix,
    /// Makes a netlink socket.
    Netlink,
    /// Makes a socket of type `SOCK_STREAM`.
    Stream,
    /// Makes a socket of type `SOCK_DGRAM`.
    Datagrams,
}
