//! Several programs at once: as many compilers as there are processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use yamba_lang::{Analysis, ClassId, Target};

use super::{BuildError, BuildOptions, Built, Job, cache};

type Outcome = Result<Built, BuildError>;

/// Builds each of `classes`, which have something to build on `target`. Their outcomes are in the same order. `built` is told how many are
/// done; when it answers `false`, no more are begun, and those are missing.
pub fn build_all(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    mut built: impl FnMut(usize) -> bool,
) -> Vec<Option<Outcome>> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut outcomes: Vec<Option<Outcome>> = classes.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers.min(classes.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                if worker == 1 {
                    // The first one begins with the header: what all share is made side by side.
                    harness(analysis, classes[0], target, options);
                }
                loop {
                    let own = next.fetch_add(1, Ordering::Relaxed);
                    let Some(class) = classes.get(own) else {
                        return;
                    };
                    let outcome = super::build(analysis, *class, target, options);
                    if sender.send((own, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (done, (own, outcome)) in receiver.iter().enumerate() {
            outcomes[own] = Some(outcome);
            if !built(done + 1) {
                next.store(classes.len(), Ordering::Relaxed);
            }
        }
    });
    outcomes
}

/// If it cannot be built, every program's own build says so.
fn harness(analysis: &Analysis, class: ClassId, target: &Target, options: &BuildOptions) {
    let cache = cache::Cache::open();
    let job = Job::new(analysis, class, target, options);
    if let (Ok(cache), Ok(job)) = (cache, job) {
        let _ = job.harness(&cache);
    }
}
