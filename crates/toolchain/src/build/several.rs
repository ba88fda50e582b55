//! Builds several programs in parallel, with one compiler per processor.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use yamba_lang::{Analysis, ClassId, Target};

use super::cache::Cache;
use super::error::BuildError;
use super::job::{Built, Job, build, build_with};
use super::options::BuildOptions;
use super::shared;

type Outcome = Result<Built, BuildError>;

/// Builds each of `classes`, which must have something to build on `target`. Returns the outcomes in the same order. Calls `built` with the number of
/// finished builds.
pub fn build_all(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    mut built: impl FnMut(usize),
) -> Vec<Outcome> {
    let cache = match Cache::open() {
        Ok(cache) => cache,
        // The cache cannot be opened. Each program's own build reports why.
        Err(_) => {
            let each = classes.iter();
            let each = each.map(|class| build(analysis, *class, target, options));
            return each.collect();
        }
    };
    let cache = &cache;
    // Threads beyond the CPU quota, if there is one, would only wait.
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut outcomes: Vec<(usize, Outcome)> = Vec::new();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers.min(classes.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                if classes.len() > 1 {
                    // The files that all programs share are built in parallel.
                    share(worker, cache, analysis, classes[0], target, options);
                }
                loop {
                    let own = next.fetch_add(1, Ordering::Relaxed);
                    let Some(class) = classes.get(own) else {
                        return;
                    };
                    let outcome = build_with(cache, analysis, *class, target, options);
                    if sender.send((own, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for outcome in receiver {
            outcomes.push(outcome);
            built(outcomes.len());
        }
    });
    outcomes.sort_by_key(|(own, _)| *own);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Builds the shared files: worker 0 and worker 1 each build one of them. Errors are ignored here. A harness that cannot be built is reported by
/// every program's own build; without the precompiled header builds are only slower.
fn share(
    worker: usize,
    cache: &Cache,
    analysis: &Analysis,
    class: ClassId,
    target: &Target,
    options: &BuildOptions,
) {
    let Ok(job) = Job::new(analysis, class, target, options) else {
        return;
    };
    let _ = match worker {
        0 => shared::make_header(cache, &job.lines),
        1 => shared::harness(cache, &job.lines).map(drop),
        _ => Ok(()),
    };
}
