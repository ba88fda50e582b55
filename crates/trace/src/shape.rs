//! The forms of arguments that strace shows. A call whose arguments have another form was shown by
//! other options, or is damaged.

use crate::call::Arguments;
use crate::shown_call::{ENDS, Outcome, ShownCall, number, split, text_of};

/// The form of the arguments of a call, a letter for each:
///
/// - `f` a descriptor, `d` the same or `AT_FDCWD`, `m` the same or -1, `q` two descriptors;
/// - `t` a text or NULL;
/// - `n` a number, `l` a number that is at least the result, `o` a number or -1;
/// - `p` a pointer to a position: `NULL`, `[4096]` or `[4096] => [5096]`;
/// - `F` names of flags;
/// - `.` anything, and `*` at the end any further arguments.
const FORMS: &[(&str, &str)] = &[
    ("read", "f.l"),
    ("readv", "f.n"),
    ("pread", "f.ln"),
    ("pread64", "f.ln"),
    ("preadv", "f.nn"),
    ("preadv2", "f.no."),
    ("write", "f.l"),
    ("writev", "f.n"),
    ("pwrite", "f.ln"),
    ("pwrite64", "f.ln"),
    ("pwritev", "f.nn"),
    ("pwritev2", "f.no."),
    ("recv", "f.n."),
    ("recvfrom", "f.n..."),
    ("recvmsg", "f.."),
    ("recvmmsg", "f.n.."),
    ("recvmmsg_time64", "f.n.."),
    ("send", "f.l."),
    ("sendto", "f.l..."),
    ("sendmsg", "f.."),
    ("sendmmsg", "f.n."),
    ("sendfile", "ffpl"),
    ("sendfile64", "ffpl"),
    ("splice", "fpfpl."),
    ("copy_file_range", "fpfpl."),
    ("close", "f"),
    ("fstat", "f."),
    ("fstat64", "f."),
    ("lseek", "f.."),
    ("_llseek", "f..."),
    ("fsync", "f"),
    ("fdatasync", "f"),
    ("ftruncate", "f."),
    ("ftruncate64", "f*"),
    ("fallocate", "f..."),
    ("fadvise64", "f*"),
    ("fadvise64_64", "f*"),
    ("flock", "f."),
    ("fcntl", "fF*"),
    ("fcntl64", "fF*"),
    ("ioctl", "f*"),
    ("connect", "f.."),
    ("accept", "f.."),
    ("accept4", "f..."),
    ("bind", "f.."),
    ("listen", "f."),
    ("shutdown", "f."),
    ("setsockopt", "f*"),
    ("getsockopt", "f*"),
    ("getsockname", "f.."),
    ("getpeername", "f.."),
    ("getdents64", "f.n"),
    ("dup", "f"),
    ("dup2", "ff"),
    ("dup3", "ff."),
    ("pipe", "q"),
    ("pipe2", "q."),
    ("socketpair", "FF.q"),
    ("socket", "FF."),
    ("open", "tF*"),
    ("openat", "dtF*"),
    ("openat2", "dtF."),
    ("creat", "t."),
    ("stat", "t."),
    ("lstat", "t."),
    ("stat64", "t."),
    ("lstat64", "t."),
    ("newfstatat", "dt.."),
    ("fstatat64", "dt.."),
    ("statx", "dt..."),
    ("access", "t."),
    ("faccessat", "dt.*"),
    ("faccessat2", "dt.."),
    ("mmap", ".n..m."),
    ("mmap2", ".n..m."),
    ("munmap", ".n"),
    ("poll", ".n."),
    ("ppoll", ".n..."),
    ("ppoll_time64", ".n..."),
    ("getrandom", ".l."),
    ("execve", "t.*"),
    ("clone", "*"),
    ("clone3", "F."),
];

/// Names that strace shows and the tables of x86 lack: of its older versions, and of other
/// instruction sets.
const OTHER_NAMES: [&str; 11] = [
    "pread",
    "pwrite",
    "recv",
    "send",
    "fstatat64",
    "sendfile64",
    "arm_fadvise64_64",
    "arm_sync_file_range",
    "cacheflush",
    "set_tls",
    "riscv_flush_icache",
];

/// Reads a whole call. `None`: it does not have the form of a call, or not that of this call.
pub fn call(text: &str) -> Option<ShownCall<'_>> {
    split(text).filter(fits)
}

/// Whether the first argument is a descriptor whose file is not shown.
pub fn hides_file(call: &ShownCall) -> bool {
    let form = FORMS.iter().find(|(name, _)| *name == call.name);
    let takes_descriptor = form.is_some_and(|(_, form)| form.starts_with(['f', 'd', 'm']));
    takes_descriptor && call.descriptor(0).is_some() && !call.is_shown(0)
}

/// Whether the name, the result and the arguments are those of a call of Linux.
fn fits(call: &ShownCall) -> bool {
    let form = FORMS.iter().find(|(name, _)| *name == call.name);
    let returns_from_end = ENDS.contains(&call.name) && call.outcome != Outcome::None;
    if form.is_none() && !is_call(call.name) || returns_from_end {
        return false;
    }
    // Of a failed call, and of one that did not return, only the name counts.
    if matches!(call.outcome, Outcome::Failed | Outcome::None) {
        return true;
    }
    if call.name == "clone" {
        let mut flags = call.arguments.iter().filter(|a| a.starts_with("flags="));
        return flags.next().is_some_and(|flags| has_names(flags)) && call.result() >= Some(0);
    }
    form.is_none_or(|(_, form)| has_form(call, form))
}

/// Whether Linux has a call of this name. strace shows other calls as `syscall_0x1d0`.
fn is_call(name: &str) -> bool {
    let unnamed = name.strip_prefix("syscall_0x");
    unnamed.is_some_and(|number| u32::from_str_radix(number, 16).is_ok())
        || name.parse::<syscalls::x86_64::Sysno>().is_ok()
        || name.parse::<syscalls::x86::Sysno>().is_ok()
        || OTHER_NAMES.contains(&name)
}

fn has_form(call: &ShownCall, form: &str) -> bool {
    let (form, takes_more) = match form.strip_suffix('*') {
        Some(form) => (form, true),
        None => (form, false),
    };
    let count = call.arguments.len();
    let has_count = count == form.len() || takes_more && count > form.len();
    let mut letters = form.chars().enumerate();
    has_count && letters.all(|(index, letter)| has_letter(call, index, letter))
}

fn has_letter(call: &ShownCall, index: usize, letter: char) -> bool {
    let text = call.argument(index);
    let is_number = || text.parse::<u64>().is_ok() && text.bytes().all(|b| b.is_ascii_digit());
    match letter {
        'f' => is_descriptor(text),
        'd' => is_descriptor(text) || text.starts_with("AT_FDCWD"),
        'm' => is_descriptor(text) || text == "-1",
        'q' => call.pair(index).len() == 2,
        't' => text_of(text).is_some() || text == "NULL",
        'n' => is_number(),
        'l' => is_number() && call.result() <= call.size(index).map(|size| size as i64),
        'o' => is_number() || text == "-1",
        'p' => is_position(text),
        'F' => has_names(text),
        _ => true,
    }
}

fn is_descriptor(text: &str) -> bool {
    let shown = text.find('<').map_or("", |at| &text[at..]);
    let is_shown = shown.is_empty() || shown.ends_with('>') || shown.ends_with(">(deleted)");
    number(text).is_some() && is_shown
}

fn is_position(text: &str) -> bool {
    let is_pointed = |text: &str| {
        let number = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = text.split(" => ");
    text == "NULL" || text.starts_with("0x") || parts.all(is_pointed)
}

/// Whether flags are shown by their names: `O_RDONLY`, `{flags=CLONE_VM|CLONE_VFORK`, `0x80000 /*
/// O_CLOEXEC */`. Some are 0.
fn has_names(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_uppercase();
    let flags = text.split("flags=").nth(1).unwrap_or(text);
    flags.starts_with(is_letter) || flags.contains("/* ") || flags.starts_with("0,") || flags == "0"
}
