//! Builds and measures the benchmarks of the self-test, and derives its answer. A
//! competitor for the processor is a part of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use yamba_harness::{Job, NoProgram, Stop};
use yamba_machine as machine;
use yamba_record::run::Provenance;
use yamba_toolchain::build::host;

use super::super::contention::Contention;
use super::super::jobs::job;
use super::super::select::{self, Names, Selection};
use super::super::{Failure, Observer};
use super::{Answer, Checked, Means, answer, selftest};

/// The suite of the self-test, ready to be built and measured.
pub struct Prepared {
    selection: Selection,
}

/// The checks and the answer.
pub struct Answered {
    pub checked: Checked,
    /// Whether figures can be trusted.
    pub answer: Answer,
}

/// Reads the suite; classes in `libraries` take precedence over those of the suite.
///
/// # Errors
/// If one of the files has an error.
pub fn prepare(libraries: Vec<PathBuf>, observer: &dyn Observer) -> Result<Prepared, Failure> {
    let names = Names { libraries, ..Names::default() };
    let selection = select::select(&names, observer)?;
    Ok(Prepared { selection })
}

impl Prepared {
    /// Builds each benchmark when its check begins, and makes all checks.
    ///
    /// # Errors
    /// If no benchmark has a figure.
    pub fn measure(&self, stop: &Stop, observer: &dyn Observer) -> Result<Answered, Failure> {
        let target = host();
        let build = |class: &str| -> Job {
            let analysis = &self.selection.analysis;
            let build = |found| job(analysis, found, &target, observer).ok();
            let built = analysis.find_class(class).and_then(build);
            built.unwrap_or_else(|| Job {
                class: class.to_owned(),
                program: Err(NoProgram::Absent(format!("there is no class {class}"))),
                provenance: Provenance::default(),
                texts: Default::default(),
            })
        };
        let mut progress = observer.progress();
        let mut means = Means {
            job: &build,
            target: &target,
            progress: progress.as_mut(),
            stop,
            has_figure: false,
            contention: Contention::default(),
        };
        let probed = machine::probe(&target.isa, &target.system);
        let checked = selftest(&mut means, &probed)?;
        if !means.has_figure && !stop.requested() {
            let mut notes = checked.checks.iter().filter_map(|c| c.note.as_deref());
            let why = notes.next().unwrap_or("no benchmark has a figure");
            let text = format!("nothing could be measured: {why}");
            return Err(Failure::new(text).help("`yamba run known_time` shows more"));
        }
        let answer = answer(&checked.checks, stop.requested());
        Ok(Answered { checked, answer })
    }
}

/// A thread that spins until this value is dropped.
pub(super) struct Hog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hog {
    /// Starts the thread on this processor; `None` if the system cannot pin it there.
    pub(super) fn on(cpu: u64) -> Option<Hog> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let placed = stay_on(cpu);
            let _ = sender.send(placed);
            while placed && !seen.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let hog = Hog { stop, thread: Some(thread) };
        receiver.recv().unwrap_or(false).then_some(hog)
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(target_os = "linux")]
fn stay_on(cpu: u64) -> bool {
    let mut set = rustix::thread::CpuSet::new();
    let Ok(cpu) = usize::try_from(cpu) else {
        return false;
    };
    if cpu >= rustix::thread::CpuSet::MAX_CPU {
        return false;
    }
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn stay_on(_: u64) -> bool {
    false
}
