//! Loads and attaches the programs.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::assembler::{Symbols, assemble};
use super::btf::{Types, of_map};
use super::kernel::{self, Attachment};
use super::layout::{READS_BYTES, THREAD_BYTES};
use super::programs::{
    FILE_PROGRAMS, MEMBERS, PAGE_PARAMETERS, PAGE_PROGRAM, PROGRAMS, Source, numbers,
};
use super::ring::Ring;

/// The file with the types of the running kernel (BTF).
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Length of the buffer of events, in bytes: 260 000 events.
const RING_BYTES: u32 = 32 << 20;

/// Why BPF cannot trace here.
#[derive(Debug)]
pub enum Unavailable {
    /// The user may not load programs.
    Privilege,
    /// The programs read the registers of another processor.
    Processor,
    /// The kernel lacks a part, or refuses one.
    Kernel(String),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::Privilege => {
                f.write_str("BPF needs root, or the capabilities CAP_BPF and CAP_PERFMON")
            }
            Unavailable::Processor => f.write_str("BPF traces x86_64 only"),
            Unavailable::Kernel(reason) => write!(f, "this kernel cannot trace by BPF: {reason}"),
        }
    }
}

/// The maps and programs, loaded and not yet attached.
#[derive(Debug)]
pub struct Tracer {
    /// The state of each traced thread.
    threads: OwnedFd,
    /// Events of traced threads.
    pub ring: Ring,
    lost: OwnedFd,
    programs: Vec<(&'static Source, OwnedFd)>,
    /// The attached programs, which are detached when this is dropped.
    attached: Vec<OwnedFd>,
}

impl Tracer {
    /// Loads the programs. `reads` says what an event takes from the program's memory, by number of the call. With `files`, page faults of mapped files are
    /// recorded, if the kernel can.
    pub fn new(reads: &[u8; READS_BYTES], files: bool) -> Result<Tracer, Unavailable> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Unavailable::Processor);
        }
        let lost = kernel::value_map(8).map_err(|e| refused("its maps", &e))?;
        let table = kernel::value_map(READS_BYTES as u32).map_err(|e| refused("its maps", &e))?;
        kernel::update(table.as_fd(), 0, reads).map_err(|e| refused("its maps", &e))?;
        let events = kernel::ring_buffer(RING_BYTES).map_err(|e| refused("ring buffers", &e))?;
        let threads = kernel::thread_map(THREAD_BYTES as u32, &of_map(THREAD_BYTES as u32));
        let threads = threads.map_err(|e| refused("maps of threads", &e))?;
        let types = fs::read(TYPES).map_err(|e| refused(TYPES, &e))?;
        let types = Types::read(types).ok_or_else(|| lacks(TYPES))?;
        let maps = [
            ("threads", &threads),
            ("events", &events),
            ("lost", &lost),
            ("reads", &table),
        ];
        let maps = maps.map(|(name, map)| (name.to_owned(), map.as_raw_fd()));
        let has_pages = types.parameters(&definition(&PAGE_PROGRAM)) == Some(PAGE_PARAMETERS);
        let symbols = symbols(&types, maps.into(), has_pages)?;
        let ring = Ring::new(&events, RING_BYTES as usize).map_err(|e| refused("its ring", &e))?;
        let mut programs = Vec::new();
        let page_program = has_pages.then_some(&PAGE_PROGRAM);
        for source in PROGRAMS.iter().chain(page_program) {
            programs.push((source, load(source, &types, &symbols)?));
        }
        for source in FILE_PROGRAMS.iter().filter(|_| files) {
            if types.definition(&definition(source)).is_some() {
                programs.push((source, load(source, &types, &symbols)?));
            }
        }
        Ok(Tracer {
            threads,
            ring,
            lost,
            programs,
            attached: Vec::new(),
        })
    }

    /// Attaches the programs.
    pub fn attach(&mut self) -> Result<(), Unavailable> {
        for (source, program) in &self.programs {
            let attached = match source.attachment {
                Attachment::Tracepoint => kernel::attach(program).map(|one| vec![one]),
                Attachment::Event(config) => processors()
                    .map(|processor| kernel::attach_counter(program, config, processor))
                    .collect(),
            };
            let attached = attached.map_err(|e| refused(source.target, &e))?;
            self.attached.extend(attached);
        }
        Ok(())
    }

    /// Detaches the programs.
    pub fn detach(&mut self) {
        self.attached.clear();
    }

    /// The map to which a process or thread is added.
    pub fn threads(&self) -> BorrowedFd<'_> {
        self.threads.as_fd()
    }

    /// Number of events that were lost so far.
    pub fn lost(&self) -> io::Result<u64> {
        let mut value = [0; 8];
        kernel::look_up(self.lost.as_fd(), 0, &mut value)?;
        Ok(u64::from_le_bytes(value))
    }
}

/// The numbers and maps that the programs name.
fn symbols(
    types: &Types,
    maps: HashMap<String, i32>,
    has_pages: bool,
) -> Result<Symbols, Unavailable> {
    let own = numbers(has_pages).map(|(name, value)| (name.to_owned(), value));
    let mut all: HashMap<String, i32> = own.collect();
    for (of, member) in MEMBERS {
        let offset = types.offset(of, member).and_then(|o| i32::try_from(o).ok());
        let name = format!("{of}.{member}");
        let offset = offset.ok_or_else(|| lacks(&name))?;
        all.insert(name, offset);
    }
    Ok(Symbols { numbers: all, maps })
}

fn load(source: &Source, types: &Types, symbols: &Symbols) -> Result<OwnedFd, Unavailable> {
    let target = match source.attachment {
        Attachment::Tracepoint => {
            let target = types.definition(&definition(source));
            target.ok_or_else(|| lacks(source.target))?
        }
        Attachment::Event(_) => 0,
    };
    let code = assemble(&source.text(), symbols).map_err(Unavailable::Kernel)?;
    kernel::load(&code, source.attachment, target).map_err(|e| refused(source.target, &e))
}

/// The name of the type of a tracepoint.
fn definition(source: &Source) -> String {
    format!("btf_trace_{}", source.target)
}

/// The numbers of the processors that are online.
fn processors() -> impl Iterator<Item = usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let ranges: Vec<(usize, usize)> = text.trim().split(',').filter_map(range).collect();
    ranges.into_iter().flat_map(|(first, last)| first..=last)
}

/// `0-3` or `5`
fn range(text: &str) -> Option<(usize, usize)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn lacks(part: &str) -> Unavailable {
    Unavailable::Kernel(format!("it has no {part}"))
}

fn refused(part: &str, error: &io::Error) -> Unavailable {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Unavailable::Privilege,
        io::ErrorKind::NotFound => lacks(part),
        _ => Unavailable::Kernel(format!("{part}: {error}")),
    }
}
