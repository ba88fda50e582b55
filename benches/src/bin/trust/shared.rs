//! Runs that stand in several comparisons.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use yamba_store::{Listed, Location, Store, StoreError};

use crate::round::Round;

/// A run that began longer ago is of another sitting, and shared no more.
const SITTING_S: f64 = 3600.0;

/// What the runs of side A and those of side B are named.
const TAGS: [&str; 2] = ["side-a", "side-b"];

/// The ids of each side's whole runs of this sitting; none where there is no store yet.
pub fn runs(store: &Path) -> Result<[Vec<String>; 2], String> {
    let Some(mut store) = opened(store)? else {
        return Ok([Vec::new(), Vec::new()]);
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = now.map_or(0.0, |d| d.as_secs_f64()) - SITTING_S;
    let listed = store.runs().map_err(|e| e.to_string())?;
    Ok(TAGS.map(|tag| tagged(&listed, tag, since)))
}

fn tagged(listed: &[Listed], tag: &str, since: f64) -> Vec<String> {
    let is_meant = |run: &&Listed| {
        let is_recent = run.started_unix_s.is_some_and(|started| started >= since);
        run.complete && is_recent && run.head.tags.iter().any(|t| t == tag)
    };
    let meant = listed.iter().filter(is_meant);
    meant.map(|run| run.id.clone()).collect()
}

/// The run that was just made is one of side A, 0, or side B, 1.
pub fn add(store: &Path, side: usize) -> Result<(), String> {
    let tag = |store: &mut Store| -> Result<bool, StoreError> {
        let id = store.find("latest")?;
        let is_whole = store.listed(&id)?.is_some_and(|run| run.complete);
        if is_whole {
            store.tag(&id, TAGS[side], true)?;
        }
        Ok(is_whole)
    };
    let mut store = opened(store)?.ok_or("the run was not kept")?;
    match tag(&mut store) {
        Ok(true) => Ok(()),
        Ok(false) => Err("the run was stopped; the comparisons before are kept".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

fn opened(store: &Path) -> Result<Option<Store>, String> {
    let location = Location::parse(store.as_os_str()).map_err(|e| e.to_string())?;
    Store::existing(&location).map_err(|e| e.to_string())
}

/// A run of each side that no round has compared.
pub fn new_pair([a, b]: &[Vec<String>; 2], before: &[Round]) -> Option<[String; 2]> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| [a, b]));
    let pairs = pairs.map(|pair| pair.map(String::clone));
    let is_new = |pair: &[String; 2]| before.iter().all(|round| round.runs != *pair);
    pairs.into_iter().find(is_new)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs are made one by one, of the side that has fewer, and each is compared with all of the other side.
    #[test]
    fn nine_runs_are_twenty_comparisons() {
        let mut runs = [Vec::new(), Vec::new()];
        let mut rounds = Vec::new();
        while rounds.len() < 20 {
            match new_pair(&runs, &rounds) {
                Some(pair) => rounds.push(Round {
                    runs: pair,
                    ..Round::default()
                }),
                None => {
                    let side = usize::from(runs[1].len() < runs[0].len());
                    let id = format!("{side}{}", runs[side].len());
                    runs[side].push(id);
                }
            }
        }
        assert_eq!((runs[0].len(), runs[1].len()), (5, 4));
        assert_eq!(new_pair(&runs, &rounds), None);
    }
}
