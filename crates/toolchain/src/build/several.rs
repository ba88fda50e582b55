//! Several programs at once: as many compilers as there are processors.

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

/// Builds each of `classes`, which have something to build on `target`. Their outcomes are in the same order. `built` is told how many are
/// done.
pub fn build_all(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    options: &BuildOptions,
    mut built: impl FnMut(usize),
) -> Vec<Outcome> {
    let cache = match Cache::open() {
        Ok(cache) => cache,
        // Each program's own build says why.
        Err(_) => {
            let each = classes.iter();
            let each = each.map(|class| build(analysis, *class, target, options));
            return each.collect();
        }
    };
    let cache = &cache;
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut outcomes: Vec<(usize, Outcome)> = Vec::new();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers.min(classes.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                if classes.len() > 1 {
                    // What all share is made side by side.
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

/// The first two workers begin with one piece each of what all programs are made with. If the harness cannot be built, every program's own
/// build says so; without the header it only takes longer.
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
