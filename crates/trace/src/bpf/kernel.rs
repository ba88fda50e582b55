//! The calls of the system that load BPF programs. See bpf(2).

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::assembler::Instruction;

/// Commands of bpf(2).
const MAP_CREATE: i32 = 0;
const MAP_LOOK_UP: i32 = 1;
const MAP_UPDATE: i32 = 2;
const MAP_NEXT_KEY: i32 = 4;
const PROGRAM_LOAD: i32 = 5;
const ATTACH: i32 = 17;
const TYPES_LOAD: i32 = 18;

/// Types of maps.
const HASH: u32 = 1;
const ARRAY: u32 = 2;
const CPU_ARRAY: u32 = 6;
const STACK: u32 = 23;
const RING_BUFFER: u32 = 27;
const TASK_STORAGE: u32 = 29;

/// Types of programs: for a tracepoint by its number among the kernel's types, and for a counter.
const TRACING: u32 = 26;
const COUNTER: u32 = 7;

/// The attach type of programs for a tracepoint (`BPF_TRACE_RAW_TP`).
const AT_TRACEPOINT: u32 = 23;

/// The counters of the kernel's own events, see perf_event_open(2).
const SOFTWARE: u32 = 1;
const COUNTER_BYTES: u32 = 64;
const CLOSE_ON_EXEC: usize = 8;
const SET_PROGRAM: libc::Ioctl = 0x4004_2408;

/// The key must have no value.
const WITHOUT_VALUE: u64 = 1;

/// Task storage is allocated when it is needed.
const WITHOUT_ALLOCATION: u32 = 1;

/// The licence that the kernel asks for, since the programs call functions that it offers to
/// compatible licences only. Yamba's is MIT or Apache-2.0.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";

/// Bytes of the verifier's message.
const LOG_BYTES: usize = 1 << 16;

/// Where a program is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// At a tracepoint.
    Tracepoint,
    /// At each event that this counter of the kernel counts, `PERF_COUNT_SW_...`.
    Event(u64),
}

#[repr(C)]
#[derive(Default)]
struct MapRequest {
    map_type: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner_map: u32,
    numa_node: u32,
    name: [u8; 16],
    interface: u32,
    types: u32,
    key_type: u32,
    value_type: u32,
}

#[repr(C)]
struct ElementRequest {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl ElementRequest {
    fn of(map: BorrowedFd, key: &u32, value: *const u8, flags: u64) -> ElementRequest {
        ElementRequest::of_bytes(map, std::ptr::from_ref(key).cast(), value, flags)
    }

    fn of_bytes(map: BorrowedFd, key: *const u8, value: *const u8, flags: u64) -> ElementRequest {
        ElementRequest {
            map: map.as_raw_fd().unsigned_abs(),
            unused: 0,
            key: key.addr() as u64,
            value: value.addr() as u64,
            flags,
        }
    }
}

#[repr(C)]
#[derive(Default)]
struct ProgramRequest {
    program_type: u32,
    count: u32,
    code: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attachment: u32,
    types: u32,
    function_info_bytes: u32,
    function_info: u64,
    function_info_count: u32,
    line_info_bytes: u32,
    line_info: u64,
    line_info_count: u32,
    target: u32,
    target_program: u32,
    unused: u32,
}

#[repr(C)]
#[derive(Default)]
struct AttachRequest {
    name: u64,
    program: u32,
    unused: u32,
}

/// The first version of `struct perf_event_attr`.
#[repr(C)]
#[derive(Default)]
struct CounterRequest {
    counter_type: u32,
    bytes: u32,
    config: u64,
    period: u64,
    unused: [u64; 5],
}

#[repr(C)]
#[derive(Default)]
struct TypesRequest {
    data: u64,
    log: u64,
    bytes: u32,
    log_bytes: u32,
    log_level: u32,
    unused: u32,
}

/// A map of threads, whose values end with the thread.
pub fn thread_map(value_bytes: u32, types: &[u8]) -> io::Result<OwnedFd> {
    let types = load_types(types)?;
    create(&MapRequest {
        map_type: TASK_STORAGE,
        key_bytes: 4,
        value_bytes,
        flags: WITHOUT_ALLOCATION,
        types: number(&types),
        key_type: 1,
        value_type: 2,
        ..MapRequest::default()
    })
}

/// A map with one value of this length.
pub fn value_map(bytes: u32) -> io::Result<OwnedFd> {
    array(ARRAY, bytes, 1)
}

/// A map with `entries` values of this length, by number.
pub fn array_map(bytes: u32, entries: u32) -> io::Result<OwnedFd> {
    array(ARRAY, bytes, entries)
}

/// A map with up to `entries` values of this length, by keys of any bytes.
pub fn hash_map(key_bytes: u32, value_bytes: u32, entries: u32) -> io::Result<OwnedFd> {
    create(&MapRequest { map_type: HASH, key_bytes, value_bytes, entries, ..MapRequest::default() })
}

/// A map with one value of this length for each processor.
pub fn cpu_map(bytes: u32) -> io::Result<OwnedFd> {
    array(CPU_ARRAY, bytes, 1)
}

fn array(map_type: u32, value_bytes: u32, entries: u32) -> io::Result<OwnedFd> {
    create(&MapRequest { map_type, key_bytes: 4, value_bytes, entries, ..MapRequest::default() })
}

/// A stack of up to `entries` numbers of 32 bits.
pub fn stack_map(entries: u32) -> io::Result<OwnedFd> {
    create(&MapRequest { map_type: STACK, value_bytes: 4, entries, ..MapRequest::default() })
}

/// A ring buffer of this length, which is a power of two and a multiple of a page.
pub fn ring_buffer(bytes: u32) -> io::Result<OwnedFd> {
    create(&MapRequest { map_type: RING_BUFFER, entries: bytes, ..MapRequest::default() })
}

/// Sets the value of a key. Allocates nothing, so that a forked child may use it.
pub fn update(map: BorrowedFd, key: u32, value: &[u8]) -> io::Result<()> {
    let request = ElementRequest::of(map, &key, value.as_ptr(), 0);
    bpf(MAP_UPDATE, &request).map(drop)
}

/// Sets the value of a key that has none. Allocates nothing, so that a forked child may use it.
pub fn insert(map: BorrowedFd, key: u32, value: &[u8]) -> io::Result<()> {
    let request = ElementRequest::of(map, &key, value.as_ptr(), WITHOUT_VALUE);
    bpf(MAP_UPDATE, &request).map(drop)
}

/// Reads the value of a key. `value` has its length: for a map with values for each processor, that
/// of the values of all possible processors, each rounded up to 8 bytes.
pub fn look_up(map: BorrowedFd, key: u32, value: &mut [u8]) -> io::Result<()> {
    let request = ElementRequest::of(map, &key, value.as_mut_ptr(), 0);
    bpf(MAP_LOOK_UP, &request).map(drop)
}

/// Passes each key of a hash map, with its value, to `each`. Keys that are added meanwhile may be
/// missing.
pub fn each_of<const KEY: usize, const VALUE: usize>(
    map: BorrowedFd,
    mut each: impl FnMut(&[u8; KEY], &[u8; VALUE]),
) -> io::Result<()> {
    let (mut before, mut key, mut value) = (None, [0; KEY], [0; VALUE]);
    loop {
        let last = before.as_ref().map_or(std::ptr::null(), |key: &[u8; KEY]| key.as_ptr());
        let request = ElementRequest::of_bytes(map, last, key.as_mut_ptr(), 0);
        match bpf(MAP_NEXT_KEY, &request) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        let request = ElementRequest::of_bytes(map, key.as_ptr(), value.as_mut_ptr(), 0);
        bpf(MAP_LOOK_UP, &request)?;
        each(&key, &value);
        before = Some(key);
    }
}

/// Loads a program. `target` is the number of its tracepoint among the kernel's types, and 0 for a
/// counter. The error has the last lines of the verifier's message.
pub fn load(code: &[Instruction], attachment: Attachment, target: u32) -> io::Result<OwnedFd> {
    let mut log = vec![0u8; LOG_BYTES];
    let mut request = ProgramRequest {
        program_type: match attachment {
            Attachment::Tracepoint => TRACING,
            Attachment::Event(_) => COUNTER,
        },
        count: code.len() as u32,
        code: code.as_ptr().addr() as u64,
        licence: LICENCE.as_ptr().addr() as u64,
        attachment: match attachment {
            Attachment::Tracepoint => AT_TRACEPOINT,
            Attachment::Event(_) => 0,
        },
        target,
        ..ProgramRequest::default()
    };
    if let Ok(program) = bpf(PROGRAM_LOAD, &request) {
        return Ok(owned(program));
    }
    // The verifier explains a refusal only if asked, and that is slow.
    request.log_level = 1;
    request.log_bytes = LOG_BYTES as u32;
    request.log = log.as_mut_ptr().addr() as u64;
    bpf(PROGRAM_LOAD, &request).map(owned).map_err(|e| {
        let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        match text.trim().lines().rev().nth(1) {
            Some(line) if e.kind() != io::ErrorKind::PermissionDenied => {
                io::Error::new(e.kind(), format!("{e}: {line}"))
            }
            _ => e,
        }
    })
}

/// Attaches a program to a counter on this processor. It is detached when the result is dropped, or
/// when this process ends.
pub fn attach_counter(program: &OwnedFd, config: u64, processor: usize) -> io::Result<OwnedFd> {
    let request = CounterRequest {
        counter_type: SOFTWARE,
        bytes: COUNTER_BYTES,
        config,
        period: 1,
        ..CounterRequest::default()
    };
    // SAFETY: the request has the layout and length of the first version of `struct
    // perf_event_attr`, and the kernel only reads it.
    let counter = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const request,
            -1,
            processor,
            -1,
            CLOSE_ON_EXEC,
        )
    };
    let counter = owned(result(counter)?);
    // SAFETY: this command takes the number of a descriptor.
    let set = unsafe { libc::ioctl(counter.as_raw_fd(), SET_PROGRAM, program.as_raw_fd()) };
    result(set.into()).map(|_| counter)
}

/// Attaches a program to its tracepoint. It is detached when the result is dropped, or when this
/// process ends.
pub fn attach(program: &OwnedFd) -> io::Result<OwnedFd> {
    let request = AttachRequest { program: number(program), ..AttachRequest::default() };
    bpf(ATTACH, &request).map(owned)
}

fn load_types(data: &[u8]) -> io::Result<OwnedFd> {
    let request = TypesRequest {
        data: data.as_ptr().addr() as u64,
        bytes: data.len() as u32,
        ..TypesRequest::default()
    };
    bpf(TYPES_LOAD, &request).map(owned)
}

fn create(request: &MapRequest) -> io::Result<OwnedFd> {
    bpf(MAP_CREATE, request).map(owned)
}

/// One call of bpf(2).
fn bpf<T>(command: i32, request: &T) -> io::Result<i32> {
    let pointer: *const c_void = (&raw const *request).cast();
    // SAFETY: the request has the layout of the command's part of `union bpf_attr`, and the length
    // that is passed. The memory to which it points lives in the caller until the call returns;
    // the kernel writes only to the log and to the value of a look-up, which are mutable.
    let status = unsafe { libc::syscall(libc::SYS_bpf, command, pointer, size_of::<T>()) };
    result(status)
}

/// The result of a call: below 0, it failed.
fn result(status: libc::c_long) -> io::Result<i32> {
    match i32::try_from(status) {
        Ok(status @ 0..) => Ok(status),
        _ => Err(io::Error::last_os_error()),
    }
}

fn owned(descriptor: i32) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor, so that it has no other owner.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn number(descriptor: &OwnedFd) -> u32 {
    descriptor.as_raw_fd().unsigned_abs()
}
