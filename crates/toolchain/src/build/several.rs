//! Builds several programs in parallel, with one compiler per processor.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use yamba_lang::{Analysis, ClassId, Target};

use super::cache::Cache;
use super::error::BuildError;
use super::job::{Built, Job, build, build_with};
use super::options::BuildOptions;
use super::shared;

type Outcome = Result<Built, BuildError>;

/// Builds each of `classes`, which must have something to build on `target`. Returns the outcomes
/// in the same order. Calls `built` with the number of finished builds.
pub fn build_all(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    built: impl FnMut(usize),
) -> Vec<Outcome> {
    build_while(analysis, classes, target, options, &|_| true, built)
}

/// As [`build_all`], but begins a build only while `may_begin` holds for the number of builds that
/// have begun before. Returns the outcomes of the first classes, which were begun.
pub fn build_while(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    may_begin: &(dyn Fn(usize) -> bool + Sync),
    mut built: impl FnMut(usize),
) -> Vec<Outcome> {
    let cache = match Cache::open() {
        Ok(cache) => cache,
        // The cache cannot be opened. Each program's own build reports why.
        Err(_) => {
            let each = classes.iter().enumerate();
            let each = each.take_while(|(own, _)| may_begin(*own));
            let each = each.map(|(_, class)| build(analysis, *class, target, options));
            return each.collect();
        }
    };
    let cache = &cache;
    // Threads beyond the CPU quota, if there is one, would only wait.
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = Mutex::new(0);
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
                    let Some(own) = take(next, classes.len(), may_begin) else {
                        return;
                    };
                    let outcome = build_with(cache, analysis, classes[own], target, options);
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

/// Takes the next of `all` builds. `None`: all have begun, or no further one may.
fn take(next: &Mutex<usize>, all: usize, may_begin: &dyn Fn(usize) -> bool) -> Option<usize> {
    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
    if *next >= all || !may_begin(*next) {
        *next = all;
        return None;
    }
    *next += 1;
    Some(*next - 1)
}

/// Builds the shared files: worker 0 and worker 1 each build one of them. Errors are ignored here.
/// A harness that cannot be built is reported by every program's own build; without the precompiled
/// header builds are only slower.
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
