//! Loads and attaches the programs.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use super::assembler::{Symbols, assemble};
use super::btf::{Types, of_map};
use super::counted::CountedCalls;
use super::kernel::{self, Attachment};
use super::layout::{
    CONTROL_BYTES, CONTROL_READS, COUNTED_BYTES, COUNTED_KINDS, CPU, CPU_BYTES, KEY_BYTES,
    PLACE_BYTES, READS_BYTES, RING_BYTES, SLOTS, THREAD_BYTES, value,
};
use super::programs::{
    FILE_PROGRAMS, INTERRUPT_PROGRAMS, MEMBERS, PAGE_PARAMETERS, PAGE_PROGRAM, PROGRAMS, Source,
    numbers,
};
use super::ring::Ring;
use super::threads::Threads;
use super::unavailable::{Unavailable, refused};

/// The file with the types of the running kernel (BTF).
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// The file with the numbers of all processors that the kernel may use.
const POSSIBLE_PROCESSORS: &str = "/sys/devices/system/cpu/possible";

/// The maps and programs, loaded and not yet attached.
#[derive(Debug)]
pub struct Tracer {
    /// The traced threads.
    pub threads: Threads,
    /// Events of traced threads.
    pub ring: Ring,
    lost: OwnedFd,
    /// Calls that were counted in the kernel.
    pub counted: CountedCalls,
    /// The data of each processor.
    cpus: OwnedFd,
    programs: Vec<Loaded>,
    /// The attached programs, which are detached when this is dropped.
    attached: Vec<OwnedFd>,
    interrupt_programs: Vec<Loaded>,
    /// Those of them that are attached.
    at_interrupts: Vec<OwnedFd>,
}

/// A program that the kernel has loaded.
#[derive(Debug)]
struct Loaded {
    source: &'static Source,
    program: OwnedFd,
}

impl Tracer {
    /// Loads the programs. `reads` says what an event takes from the program's memory, by number of
    /// the call. With `files`, page faults of mapped files are recorded, if the kernel can.
    pub fn new(reads: &[u8; READS_BYTES], files: bool) -> Result<Tracer, Unavailable> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Unavailable::Processor);
        }
        let types = fs::read(TYPES).map_err(|e| refused(TYPES, &e))?;
        let types = Types::read(types).ok_or_else(|| lacks(TYPES))?;
        let events = kernel::ring_buffer(RING_BYTES).map_err(|e| refused("ring buffers", &e))?;
        let ring = Ring::new(&events, RING_BYTES as usize).map_err(|e| refused("its ring", &e))?;
        let storage = kernel::thread_map(PLACE_BYTES as u32, &of_map(PLACE_BYTES as u32));
        let storage = storage.map_err(|e| refused("maps of threads", &e))?;
        let mut control_value = [0; CONTROL_BYTES];
        control_value[CONTROL_READS..].copy_from_slice(reads);
        let Maps { lost, control, cpus, counted, kinds, maps } =
            Maps::new(&control_value).map_err(|e| refused("its maps", &e))?;
        let named = maps.iter().map(|(name, map)| (*name, map)).chain([
            ("events", &events),
            ("threads", &storage),
            ("lost", &lost),
            ("control", &control),
            ("cpus", &cpus),
            ("counted", &counted),
            ("kinds", &kinds),
        ]);
        let named = named.map(|(name, map)| (name.to_owned(), map.as_raw_fd()));
        let has_pages = types.parameters(&definition(&PAGE_PROGRAM)) == Some(PAGE_PARAMETERS);
        let symbols = symbols(&types, named.collect(), has_pages)?;
        let load = |source| load(source, &types, &symbols);
        let page_program = has_pages.then_some(&PAGE_PROGRAM);
        let has_definition = |source: &&Source| types.definition(&definition(source)).is_some();
        let file_programs = FILE_PROGRAMS.iter().filter(|_| files);
        let programs = PROGRAMS.iter().chain(page_program);
        let programs = programs.chain(file_programs.filter(has_definition));
        Ok(Tracer {
            programs: programs.map(load).collect::<Result<_, _>>()?,
            interrupt_programs: INTERRUPT_PROGRAMS.iter().map(load).collect::<Result<_, _>>()?,
            threads: Threads { storage, control, control_value },
            ring,
            lost,
            counted: CountedCalls::new(counted, kinds),
            cpus,
            attached: Vec::new(),
            at_interrupts: Vec::new(),
        })
    }

    /// Attaches the programs, but for those at interrupt work. Each processor looks its thread up
    /// again.
    pub fn attach(&mut self) -> Result<(), Unavailable> {
        let renewed = self.threads.renew();
        renewed.map_err(|e| refused("its maps", &e))?;
        attach(&self.programs, &mut self.attached)
    }

    /// Attaches the programs at interrupt work.
    pub fn attach_to_interrupts(&mut self) -> Result<(), Unavailable> {
        while self.detach_from_interrupts() {}
        attach(&self.interrupt_programs, &mut self.at_interrupts)
    }

    /// Whether a program at interrupt work is attached.
    pub fn is_at_interrupts(&self) -> bool {
        !self.at_interrupts.is_empty()
    }

    /// Whether interrupt work is timed.
    pub fn times_interrupts(&self) -> bool {
        self.at_interrupts.len() == self.interrupt_programs.len()
    }

    /// Detaches one program at interrupt work: first the one at its beginning. The other one still
    /// ends the interrupt work that has begun, so it must stay longer. Returns whether one is left.
    pub fn detach_from_interrupts(&mut self) -> bool {
        self.at_interrupts.pop();
        !self.at_interrupts.is_empty()
    }

    /// Detaches all programs, those at calls before those at switches.
    pub fn detach(&mut self) {
        while self.detach_from_interrupts() {}
        while self.attached.pop().is_some() {}
    }

    /// The records that processors have not sent. No program is attached.
    pub fn unsent(&self) -> io::Result<Vec<Vec<u8>>> {
        let possible = fs::read_to_string(POSSIBLE_PROCESSORS)?;
        let number = numbers_in(&possible).max().map_or(1, |last| last + 1);
        let mut values = vec![0; number * CPU_BYTES];
        kernel::look_up(self.cpus.as_fd(), 0, &mut values)?;
        let each = values.chunks_exact(CPU_BYTES).map(|of_cpu| {
            let at = |name| value(CPU, name) as usize;
            let mut filled = [0; 8];
            filled.copy_from_slice(&of_cpu[at("cpu.filled")..][..8]);
            let filled = u64::from_le_bytes(filled) as usize;
            of_cpu[at("cpu.batch")..][..filled].to_vec()
        });
        Ok(each.filter(|record| !record.is_empty()).collect())
    }

    /// Number of events that were lost so far.
    pub fn lost(&self) -> io::Result<u64> {
        let mut value = [0; 8];
        kernel::look_up(self.lost.as_fd(), 0, &mut value)?;
        Ok(u64::from_le_bytes(value))
    }
}

/// Maps of the programs, of which Yamba uses those with a name, too.
struct Maps {
    lost: OwnedFd,
    control: OwnedFd,
    cpus: OwnedFd,
    counted: OwnedFd,
    kinds: OwnedFd,
    maps: Vec<(&'static str, OwnedFd)>,
}

impl Maps {
    fn new(control_value: &[u8; CONTROL_BYTES]) -> io::Result<Maps> {
        let control = kernel::value_map(CONTROL_BYTES as u32)?;
        kernel::update(control.as_fd(), 0, control_value)?;
        Ok(Maps {
            lost: kernel::value_map(8)?,
            control,
            cpus: kernel::cpu_map(CPU_BYTES as u32)?,
            counted: kernel::value_map(8)?,
            kinds: kernel::hash_map(KEY_BYTES as u32, COUNTED_BYTES as u32, COUNTED_KINDS)?,
            maps: vec![
                ("used", kernel::value_map(8)?),
                ("free", kernel::stack_map(SLOTS)?),
                ("states", kernel::array_map(THREAD_BYTES as u32, SLOTS)?),
            ],
        })
    }
}

fn attach(programs: &[Loaded], attached: &mut Vec<OwnedFd>) -> Result<(), Unavailable> {
    for Loaded { source, program } in programs {
        let done = match source.attachment {
            Attachment::Tracepoint => kernel::attach(program).map(|one| vec![one]),
            Attachment::Event(config) => processors()
                .map(|processor| kernel::attach_counter(program, config, processor))
                .collect(),
        };
        attached.extend(done.map_err(|e| refused(source.target, &e))?);
    }
    Ok(())
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

fn load(source: &'static Source, types: &Types, symbols: &Symbols) -> Result<Loaded, Unavailable> {
    let target = match source.attachment {
        Attachment::Tracepoint => {
            let target = types.definition(&definition(source));
            target.ok_or_else(|| lacks(source.target))?
        }
        Attachment::Event(_) => 0,
    };
    let code = assemble(&source.text(), symbols).map_err(Unavailable::Kernel)?;
    let program = kernel::load(&code, source.attachment, target);
    let program = program.map_err(|e| refused(source.target, &e))?;
    Ok(Loaded { source, program })
}

/// The name of the type of a tracepoint.
fn definition(source: &Source) -> String {
    format!("btf_trace_{}", source.target)
}

/// The numbers of the processors that are online.
fn processors() -> impl Iterator<Item = usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    numbers_in(&text)
}

/// The numbers in `0-3,5`.
fn numbers_in(text: &str) -> impl Iterator<Item = usize> + use<> {
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
