//! The commands of the pages as an ordinary user, then those of the pages for root.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::Missing;
use crate::pages::page::Page;
use crate::pages::{Cache, Installed, ORDINARY, is_root, walk};

/// The cache of the walk as an ordinary user. That walk holds the lock, so the walk as root begins
/// after it and finds the programs built.
static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

pub fn commands_of_pages_work_for_ordinary_user() {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let installed = Installed::new(Cache::for_user(is_root().then_some(ORDINARY)));
    let report = walk(&installed, |_| true);
    installed.cache.copy("gc", &Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    *cache = Some(installed.cache);
    report.check();
}

/// Waits for the walk as an ordinary user if it runs. It leaves the costs of garbage collection in
/// the cache of the other tests.
pub fn wait_for_costs() {
    drop(CACHE.lock());
}

pub fn commands_of_pages_work_for_root() -> Result<(), Missing> {
    if !is_root() {
        return Err(Missing::new("this user is not root"));
    }
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.take().map_or_else(|| Cache::for_user(None), Cache::for_root);
    walk(&Installed::new(cache), Page::is_for_root).check();
    Ok(())
}
