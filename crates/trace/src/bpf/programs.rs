//! Loads and attaches the programs in `trace.bpf.o`.

use std::error::Error;
use std::io;

use aya::maps::{Map, MapError};
use aya::programs::perf_event::{
    PerfEventConfig, PerfEventLink, PerfEventScope, SamplePolicy, SoftwareEvent,
};
use aya::programs::tp_btf::BtfTracePointLink;
use aya::programs::{Program, ProgramError};
use aya::util::online_cpus;
use aya::{
    Btf, BtfError, Ebpf, EbpfError, EbpfLoader, Endianness, VerifierLogLevel, include_bytes_aligned,
};

use super::names::Details;
use super::unavailable::{Unavailable, refused};

/// The programs, which `scripts/build-bpf` compiles from `trace.bpf.c`.
pub const OBJECT: &[u8] = include_bytes_aligned!("trace.bpf.o");

/// The file with the types of the running kernel (BTF).
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// aya replaces an access to a member that the kernel's struct lacks by a call of this function, so
/// that the verifier refuses it.
const MISSING_MEMBER: &str = "#195896080";

/// A program, by the name of its function.
#[derive(Debug)]
pub struct Source {
    name: &'static str,
    /// The counter of the kernel at whose events it runs. `None`: it runs at the tracepoint with
    /// its name.
    counter: Option<SoftwareEvent>,
}

/// The programs in the order in which they are attached.
const PROGRAMS: &[Source] = &[
    tracepoint("sched_process_fork"),
    tracepoint("sched_process_exit"),
    tracepoint("sched_switch"),
    tracepoint("page_fault_user"),
    tracepoint("page_fault_kernel"),
    Source { name: "minor_faults", counter: Some(SoftwareEvent::PageFaultsMin) },
    Source { name: "major_faults", counter: Some(SoftwareEvent::PageFaultsMaj) },
    tracepoint("sys_exit"),
    tracepoint("sys_enter"),
];

/// Shows the kinds of page faults.
const PAGE_PROGRAM: &[Source] = &[tracepoint("rss_stat")];

/// Record page faults of mapped files. Kernels before 6.11 lack their tracepoints.
const FILE_PROGRAMS: &[Source] =
    &[tracepoint("mm_filemap_fault"), tracepoint("mm_filemap_map_pages")];

/// Time interrupt work.
pub const INTERRUPT_PROGRAMS: &[Source] =
    &[tracepoint("softirq_exit"), tracepoint("softirq_entry")];

const fn tracepoint(name: &'static str) -> Source {
    Source { name, counter: None }
}

/// The programs, loaded into the kernel.
#[derive(Debug)]
pub struct Programs {
    object: Ebpf,
    /// The programs apart from those at interrupt work.
    pub sources: Vec<&'static Source>,
}

/// An attached program, which is detached when this is dropped.
#[derive(Debug)]
pub enum Attached {
    Tracepoint { _link: BtfTracePointLink },
    Counter { _link: PerfEventLink },
}

impl Programs {
    /// Loads the programs. With `files`, those at page faults of mapped files are among them, if
    /// the kernel has their tracepoints.
    pub fn load(details: &Details, files: bool) -> Result<Programs, Unavailable> {
        let types = Btf::parse_file(TYPES, Endianness::default());
        let types = types.map_err(|e| unavailable(TYPES, &e))?;
        let object = EbpfLoader::new()
            .btf(Some(&types))
            .allow_unsupported_maps()
            .override_global("details", details, true)
            .verifier_log_level(VerifierLogLevel::DEBUG)
            .load(OBJECT)
            .map_err(|e| unavailable(part_of(&e), &e))?;
        let mut programs = Programs { object, sources: PROGRAMS.iter().collect() };
        for source in PROGRAMS.iter().chain(INTERRUPT_PROGRAMS) {
            programs.load_one(source, &types).map_err(|e| not_loaded(source, &e))?;
        }
        for source in PAGE_PROGRAM.iter().chain(FILE_PROGRAMS.iter().filter(|_| files)) {
            match programs.load_one(source, &types) {
                Err(e) if has_no_tracepoint(&e) => {}
                Err(e) => return Err(not_loaded(source, &e)),
                Ok(()) => programs.sources.push(source),
            }
        }
        Ok(programs)
    }

    fn load_one(&mut self, source: &Source, types: &Btf) -> Result<(), ProgramError> {
        match self.object.program_mut(source.name) {
            Some(Program::BtfTracePoint(program)) => program.load(source.name, types),
            Some(Program::PerfEvent(program)) => program.load(),
            _ => Err(ProgramError::NotLoaded),
        }
    }

    /// The map with this name. It can be taken once.
    pub fn take_map(&mut self, name: &str) -> Result<Map, Unavailable> {
        self.object.take_map(name).ok_or_else(|| lacks(name))
    }

    /// Attaches a program.
    pub fn attach(
        &mut self,
        source: &Source,
        attached: &mut Vec<Attached>,
    ) -> Result<(), Unavailable> {
        self.links(source, attached).map_err(|e| unavailable(source.name, &*e))
    }

    fn links(
        &mut self,
        source: &Source,
        attached: &mut Vec<Attached>,
    ) -> Result<(), Box<dyn Error>> {
        match (self.object.program_mut(source.name), source.counter) {
            (Some(Program::BtfTracePoint(program)), None) => {
                let link = program.attach()?;
                attached.push(Attached::Tracepoint { _link: program.take_link(link)? });
            }
            (Some(Program::PerfEvent(program)), Some(event)) => {
                for cpu in online_cpus().map_err(|(_, e)| e)? {
                    let (config, scope) = (
                        PerfEventConfig::Software(event),
                        PerfEventScope::AllProcessesOneCpu { cpu },
                    );
                    let link = program.attach(config, scope, SamplePolicy::Period(1), false)?;
                    attached.push(Attached::Counter { _link: program.take_link(link)? });
                }
            }
            _ => return Err(ProgramError::NotLoaded.into()),
        }
        Ok(())
    }
}

/// Why a part is unavailable: its error, or the error of the system behind it.
pub fn unavailable(part: &str, error: &(dyn Error + 'static)) -> Unavailable {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return refused(part, error);
        }
        cause = error.source();
    }
    Unavailable::Kernel(format!("{part}: {error}"))
}

/// The part that the kernel refused.
fn part_of(error: &EbpfError) -> &'static str {
    match error {
        EbpfError::MapError(MapError::CreateError { name, .. }) if name == "events" => {
            "ring buffers"
        }
        EbpfError::MapError(MapError::CreateError { name, .. }) if name == "threads" => {
            "maps of threads"
        }
        _ => "its maps",
    }
}

fn has_no_tracepoint(error: &ProgramError) -> bool {
    matches!(error, ProgramError::Btf(BtfError::UnknownBtfTypeName { .. }))
}

fn not_loaded(source: &Source, error: &ProgramError) -> Unavailable {
    let ProgramError::LoadError { io_error, verifier_log } = error else {
        return if has_no_tracepoint(error) {
            lacks(source.name)
        } else {
            unavailable(source.name, error)
        };
    };
    let log = verifier_log.to_string();
    if let Some(line) = missing_member(&log) {
        return lacks(&format!("member for `{line}`"));
    }
    // The last line of the verifier's message has only numbers.
    match log.trim().lines().rev().nth(1) {
        Some(line) if io_error.kind() != io::ErrorKind::PermissionDenied => {
            refused(source.name, &io::Error::new(io_error.kind(), format!("{io_error}: {line}")))
        }
        _ => refused(source.name, io_error),
    }
}

/// The line of the source that reads a member which the kernel's struct lacks.
fn missing_member(log: &str) -> Option<&str> {
    let (before, _) = log.split_once(MISSING_MEMBER)?;
    before.lines().rev().find_map(|line| line.strip_prefix("; "))
}

fn lacks(part: &str) -> Unavailable {
    Unavailable::Kernel(format!("it has no {part}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of Linux 6.18.
    #[test]
    fn missing_member_is_named_by_the_line_that_reads_it() {
        let log = "; thread->since = 0; @ trace.bpf.c:297
130: (7b) *(u64 *)(r7 +0) = r1        ; R1=0 R7=map_value(map=states,ks=4,vs=192)
; u32 state = previous->__state; @ trace.bpf.c:298
131: (85) call unknown#195896080
invalid func unknown#195896080
";
        let line = "u32 state = previous->__state; @ trace.bpf.c:298";
        assert_eq!(missing_member(log), Some(line));
        assert_eq!(missing_member(&log.replace("195896080", "1")), None);
    }
}
