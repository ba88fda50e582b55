//! The data that the programs in the kernel and Yamba share: `shared.h` in Rust, in the same order.
//!
//! Tests in `layout_tests.rs` fail if a field or constant is missing in one of the two files.

use std::ptr::read_unaligned;

/// Declares structs of C with their names there, and constants of its enumerations.
macro_rules! shared {
    (
        $(enum $enumeration:literal: $type:ty { $($constant:ident = $value:expr,)* })*
        ---
        $($(#[$meta:meta])* struct $name:ident = $c_name:literal { $($field:ident: $field_type:ty,)* })*
    ) => {
        // Some are for the programs in the kernel alone.
        $($(#[allow(dead_code)] pub const $constant: $type = $value;)*)*

        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $name { $(pub $field: $field_type,)* }

            // SAFETY: a struct of numbers without padding, as the test of the layouts checks.
            unsafe impl aya::Pod for $name {}
        )*

        #[cfg(test)]
        pub const CONSTANTS: &[(&str, &[(&str, u32)])] =
            &[$(($enumeration, &[$((stringify!($constant), $value as u32),)*]),)*];

        /// Structs with their lengths, and their fields with places and lengths.
        #[cfg(test)]
        pub const STRUCTS: &[(&str, usize, &[(&str, usize, usize)])] = &[$((
            $c_name,
            size_of::<$name>(),
            &[$((
                stringify!($field),
                std::mem::offset_of!($name, $field),
                size_of::<$field_type>(),
            ),)*],
        ),)*];
    };
}

shared! {
    enum "event_kind": u32 {
        CALL = 0,
        DETAILED_CALL = 1,
        BEGIN = 2,
        END = 3,
        MORE = 4,
        FILE_FAULT = 5,
        INTERRUPT = 6,
    }
    enum "event_flag": u32 {
        SHARES_FILES = 1,
        SHARES_MEMORY = 2,
        IS_THREAD = 4,
        IS_CHILD = 8,
        IS_32_BIT = 16,
        HAS_BLOCKED = 32,
        WAS_KILLED = 64,
    }
    enum "mode": u32 {
        MODE_USER = 0,
        MODE_CALL = 1,
        MODE_FAULT = 2,
        MODE_SOFTIRQ = 3,
        MODES = 4,
    }
    enum "detail": u8 {
        NO_DETAIL = 0,
        SENT_AT_ONCE = 1,
        TEXT = 2,
        TWO_DESCRIPTORS = 3,
        SIX_ARGUMENTS = 4,
        FILE_POSITION = 5,
        SENDFILE_POSITION = 6,
    }
    ---
    struct EventHead = "event_head" {
        thread: u32,
        number: u32,
        kind: u32,
        flags: u32,
        user_ns: u64,
    }
    struct CallEvent = "call_event" {
        head: EventHead,
        call_ns: u64,
        result: i64,
        arguments: [u64; 5],
        time_ns: u64,
    }
    struct DetailedCallEvent = "detailed_call_event" {
        call: CallEvent,
        detail: [u8; 24],
    }
    struct BeginEvent = "begin_event" {
        head: EventHead,
        child: u64,
    }
    struct EndEvent = "end_event" {
        head: EventHead,
        call_ns: u64,
    }
    #[derive(Default)]
    struct FaultSum = "fault_sum" {
        ns: u64,
        count: u64,
    }
    #[derive(Default)]
    struct PageFaults = "page_faults" {
        other: FaultSum,
        copy: FaultSum,
        anonymous: FaultSum,
        file: FaultSum,
        zero: FaultSum,
        major: FaultSum,
        user_faults: u32,
        call_faults: u32,
    }
    #[derive(Default)]
    struct Waits = "waits" {
        call_ns: u64,
        fault_ns: u64,
        ready_ns: u64,
    }
    struct MoreEvent = "more_event" {
        head: EventHead,
        faults: PageFaults,
        waits: Waits,
    }
    struct ShownFile = "file_place" {
        inode: u64,
        position: u64,
        device: u32,
        pages: u32,
    }
    struct FileFaultEvent = "file_fault_event" {
        head: EventHead,
        fault_pages: u64,
        place: ShownFile,
    }
    struct InterruptEvent = "interrupt_event" {
        head: EventHead,
        time_ns: u64,
    }
    struct CallKind = "call_kind" {
        thread: u32,
        number: u32,
        flags: u32,
        result: u32,
        first: u64,
    }
    struct CallSums = "counted_calls" {
        count: u64,
        call_ns: u64,
        user_ns: u64,
        result: u64,
        first: CallEvent,
    }
    struct Processor = "cpu" {
        registers: u64,
        generation: u64,
        slot: u64,
        is_crowded: u64,
        waiting: u64,
        batch: [CallEvent; 8],
        counted: CallSums,
    }
    struct Counters = "counters" {
        lost: u64,
        counted: u64,
        states: u64,
        running: u64,
        idle_since: u64,
        busy_since: u64,
        busy_ns: u64,
        thread_ns: u64,
    }
    struct ThreadStart = "thread_start" {
        slot: u64,
        since: u64,
        mode: u32,
        number: u32,
        flags: u32,
        thread: u32,
    }
    #[derive(Default)]
    struct CallDetail = "call_detail" {
        detail: u8,
        argument: u8,
    }
}

/// Numbers of calls in a table.
pub const CALLS: usize = 512;

/// The struct at the beginning of these bytes.
pub fn read<T: aya::Pod>(bytes: &[u8]) -> Option<T> {
    // SAFETY: the bytes are as long as the struct, for which all bytes are values.
    (bytes.len() >= size_of::<T>()).then(|| unsafe { read_unaligned(bytes.as_ptr().cast()) })
}

/// The bytes of a struct.
#[cfg(test)]
pub fn bytes_of<T: aya::Pod>(value: &T) -> Vec<u8> {
    // SAFETY: the memory of a struct of numbers without padding.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }.to_vec()
}
