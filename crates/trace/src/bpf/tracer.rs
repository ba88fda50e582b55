//! The programs in the kernel, with their maps.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use aya::maps::{Map, MapData, MapError, PerCpuArray};

use super::counted::CountedCalls;
use super::event::Event;
use super::names::Details;
use super::programs::{Attached, INTERRUPT_PROGRAMS, Programs, unavailable};
use super::ring::Ring;
use super::shared::Processor;
use super::threads::Threads;
use super::unavailable::{Unavailable, refused};

/// The loaded programs.
pub struct Tracer {
    /// The traced threads.
    pub threads: Threads,
    /// Events of traced threads.
    pub ring: Ring,
    /// Calls that were counted in the kernel.
    pub counted: CountedCalls,
    processors: PerCpuArray<MapData, Processor>,
    programs: Programs,
    attached: Vec<Attached>,
    at_interrupts: Vec<Attached>,
}

impl Tracer {
    /// Loads the programs. `details` says what they report of each call. With `files`, page faults
    /// of mapped files are recorded, if the kernel can.
    pub fn new(details: &Details, files: bool) -> Result<Tracer, Unavailable> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Unavailable::Processor);
        }
        let mut programs = Programs::load(details, files)?;
        let (storage, _) = raw(programs.take_map("threads")?)?;
        let (generation, _) = raw(programs.take_map(".data.generation")?)?;
        let (events, ring_bytes) = raw(programs.take_map("events")?)?;
        let counters = programs.take_map(".bss")?;
        let counted = CountedCalls::new(counters, programs.take_map("call_kinds")?);
        let processors = programs.take_map("cpus")?.try_into();
        Ok(Tracer {
            threads: Threads { storage, generation },
            ring: Ring::new(&events, ring_bytes).map_err(|e| refused("its ring", &e))?,
            counted: counted.map_err(|e| no_map(&e))?,
            processors: processors.map_err(|e| no_map(&e))?,
            programs,
            attached: Vec::new(),
            at_interrupts: Vec::new(),
        })
    }

    /// Attaches the programs, but for those at interrupt work. Each processor looks its thread up
    /// again.
    pub fn attach(&mut self) -> Result<(), Unavailable> {
        self.threads.renew().map_err(|e| refused("its maps", &e))?;
        self.attached = self.programs.attach()?;
        Ok(())
    }

    /// Attaches the programs at interrupt work.
    pub fn attach_to_interrupts(&mut self) -> Result<(), Unavailable> {
        while self.detach_from_interrupts() {}
        self.at_interrupts = self.programs.attach_to_interrupts()?;
        Ok(())
    }

    /// Whether a program at interrupt work is attached.
    pub fn is_at_interrupts(&self) -> bool {
        !self.at_interrupts.is_empty()
    }

    /// Whether interrupt work is timed.
    pub fn times_interrupts(&self) -> bool {
        self.at_interrupts.len() == INTERRUPT_PROGRAMS.len()
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

    /// The events that processors have not sent. No program is attached.
    pub fn unsent(&self) -> io::Result<Vec<Event>> {
        let processors = self.processors.get(&0, 0).map_err(io::Error::other)?;
        let calls = processors.iter().flat_map(|processor| {
            let waiting = usize::try_from(processor.waiting).unwrap_or(usize::MAX);
            processor.batch.into_iter().take(waiting)
        });
        Ok(calls.map(Event::plain_call).collect())
    }

    /// Number of events that were lost so far, since [`Tracer::forget_lost`].
    pub fn lost(&self) -> io::Result<u64> {
        self.counted.lost()
    }

    /// Counts lost events from zero again.
    pub fn forget_lost(&mut self) -> io::Result<()> {
        self.counted.forget_lost()
    }
}

/// A map's descriptor, and its number of entries.
fn raw(map: Map) -> Result<(OwnedFd, usize), Unavailable> {
    let (Map::Unsupported(data) | Map::Array(data) | Map::RingBuf(data)) = map else {
        return Err(no_map(&MapError::InvalidName { name: "of another type".to_owned() }));
    };
    let info = data.info().map_err(|e| no_map(&e))?;
    let descriptor = data.fd().as_fd().try_clone_to_owned();
    Ok((descriptor.map_err(|e| refused("its maps", &e))?, info.max_entries() as usize))
}

fn no_map(error: &MapError) -> Unavailable {
    unavailable("its maps", error)
}
