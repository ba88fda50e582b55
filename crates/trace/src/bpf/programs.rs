//! Loads and attaches the programs in `trace.bpf.o`.

use std::error::Error;
use std::io;

use aya::maps::{Map, MapType};
use aya::programs::perf_event::{
    PerfEventConfig, PerfEventLink, PerfEventScope, SamplePolicy, SoftwareEvent,
};
use aya::programs::tp_btf::BtfTracePointLink;
use aya::programs::{Program, ProgramError};
use aya::sys::{SyscallError, is_map_supported};
use aya::util::online_cpus;
use aya::{Btf, BtfError, Ebpf, EbpfLoader, Endianness, VerifierLogLevel, include_bytes_aligned};

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
    tracepoint("sched_waking"),
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
    sources: Vec<&'static Source>,
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
        // First: a kernel without these maps often lacks BTF, too, and the message would then name
        // BTF as the reason.
        check_maps(is_map_supported)?;
        let types = Btf::parse_file(TYPES, Endianness::default());
        let types = types.map_err(|e| unavailable(TYPES, &e))?;
        let object = EbpfLoader::new()
            .btf(Some(&types))
            .allow_unsupported_maps()
            .override_global("details", details, true)
            .verifier_log_level(VerifierLogLevel::DEBUG)
            .load(OBJECT)
            .map_err(|e| unavailable("its maps", &e))?;
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

    /// Attaches the programs apart from those at interrupt work.
    pub fn attach(&mut self) -> Result<Vec<Attached>, Unavailable> {
        attach_all(&mut self.object, self.sources.iter().copied())
    }

    /// Attaches the programs at interrupt work.
    pub fn attach_to_interrupts(&mut self) -> Result<Vec<Attached>, Unavailable> {
        attach_all(&mut self.object, INTERRUPT_PROGRAMS)
    }
}

/// Attaches programs in their order. If one is refused, those before it are detached.
fn attach_all(
    object: &mut Ebpf,
    sources: impl IntoIterator<Item = &'static Source>,
) -> Result<Vec<Attached>, Unavailable> {
    let mut attached = Vec::new();
    for source in sources {
        attach(object, source, &mut attached).map_err(|e| unavailable(source.name, &*e))?;
    }
    Ok(attached)
}

/// Attaches a program: to its tracepoint, or to its counter on each processor.
fn attach(
    object: &mut Ebpf,
    source: &Source,
    attached: &mut Vec<Attached>,
) -> Result<(), Box<dyn Error>> {
    match (object.program_mut(source.name), source.counter) {
        (Some(Program::BtfTracePoint(program)), None) => {
            let link = program.attach()?;
            attached.push(Attached::Tracepoint { _link: program.take_link(link)? });
        }
        (Some(Program::PerfEvent(program)), Some(event)) => {
            for cpu in online_cpus().map_err(|(_, e)| e)? {
                let (config, scope) =
                    (PerfEventConfig::Software(event), PerfEventScope::AllProcessesOneCpu { cpu });
                let link = program.attach(config, scope, SamplePolicy::Period(1), false)?;
                attached.push(Attached::Counter { _link: program.take_link(link)? });
            }
        }
        _ => return Err(ProgramError::NotLoaded.into()),
    }
    Ok(())
}

/// The types of maps that older kernels lack, with their names for people.
const NEWEST_MAPS: [(MapType, &str); 2] =
    [(MapType::RingBuf, "ring buffers"), (MapType::TaskStorage, "BPF storage of tasks")];

/// Refuses a kernel without one of these types of maps.
fn check_maps(
    is_supported: impl Fn(MapType) -> Result<bool, SyscallError>,
) -> Result<(), Unavailable> {
    for (map, name) in NEWEST_MAPS {
        match is_supported(map) {
            Ok(true) => {}
            Ok(false) => return Err(lacks(name)),
            Err(e) => return Err(unavailable(name, &e)),
        }
    }
    Ok(())
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

    #[test]
    fn kernel_without_a_type_of_map_is_refused_by_its_name() {
        let reason = |missing: MapType| {
            check_maps(|map| Ok(map != missing)).map_err(|reason| reason.to_string())
        };
        let lacks = |part: &str| Err(format!("this kernel cannot trace by BPF: it has no {part}"));
        assert_eq!(reason(MapType::RingBuf), lacks("ring buffers"));
        assert_eq!(reason(MapType::TaskStorage), lacks("BPF storage of tasks"));
        assert_eq!(reason(MapType::Arena), Ok(()));
        let failure = |_| {
            Err(SyscallError {
                call: "bpf_map_create",
                io_error: io::ErrorKind::OutOfMemory.into(),
            })
        };
        let text = check_maps(failure).unwrap_err().to_string();
        assert!(text.contains("ring buffers: out of memory"), "{text}");
    }

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
