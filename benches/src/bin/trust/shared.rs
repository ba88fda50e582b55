//! Runs that stand in several comparisons.

use std::path::Path;

use yamba_record::Run;
use yamba_store::{Detail, Listed, Location, Store, StoreError};

use crate::round::Round;

/// Runs that began further apart are of two sittings, and not compared.
const SITTING_S: f64 = 3600.0;

/// What the runs of side A and those of side B are named.
const TAGS: [&str; 2] = ["side-a", "side-b"];

/// A whole run of one side.
#[derive(Clone, Debug)]
pub struct Sat {
    id: String,
    /// When it began, in seconds of the Unix epoch.
    began: f64,
}

/// Each side's whole runs; none where there is no store yet.
pub fn runs(store: &Path) -> Result<[Vec<Sat>; 2], String> {
    let Some(mut store) = opened(store)? else {
        return Ok([Vec::new(), Vec::new()]);
    };
    let listed = store.runs().map_err(|e| e.to_string())?;
    Ok(TAGS.map(|tag| tagged(&listed, tag)))
}

fn tagged(listed: &[Listed], tag: &str) -> Vec<Sat> {
    let meant = listed
        .iter()
        .filter(|run| run.complete && run.head.tags.iter().any(|t| t == tag));
    let told = meant.filter_map(|run| {
        let id = run.id.clone();
        run.started_unix_s.map(|began| Sat { id, began })
    });
    told.collect()
}

/// All whole runs that are kept there for a person: those of both sides, and nothing that a comparison measured anew.
pub fn runs_of(store: &Path) -> Result<Vec<Run>, String> {
    let Some(mut store) = opened(store)? else {
        return Ok(Vec::new());
    };
    let mut read = || {
        let mut listed = store.runs()?;
        listed.retain(|l| l.complete && l.head.producer.for_another_command().is_none());
        let each = listed.iter().map(|l| store.run(&l.id, Detail::Figures));
        each.collect::<Result<Vec<Run>, StoreError>>()
    };
    read().map_err(|e| e.to_string())
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

/// A run of each side, of one sitting, that no round has compared.
pub fn new_pair([a, b]: &[Vec<Sat>; 2], before: &[Round]) -> Option<[String; 2]> {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| [a, b]));
    let mut of_one_sitting = pairs
        .filter(|[a, b]| (a.began - b.began).abs() <= SITTING_S)
        .map(|pair| pair.map(|run| run.id.clone()));
    of_one_sitting.find(|pair| before.iter().all(|round| round.runs != *pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs are made one by one, each so many seconds after the one before, of the side that has fewer, and each is compared with all of the
    /// other side's.
    fn runs_for(comparisons: usize, apart_s: f64) -> [usize; 2] {
        let mut runs = [Vec::new(), Vec::new()];
        let mut rounds = Vec::new();
        while rounds.len() < comparisons {
            match new_pair(&runs, &rounds) {
                Some(pair) => rounds.push(Round {
                    runs: pair,
                    ..Round::default()
                }),
                None => {
                    let side = usize::from(runs[1].len() < runs[0].len());
                    let made = runs[0].len() + runs[1].len();
                    runs[side].push(Sat {
                        id: format!("{side}{}", runs[side].len()),
                        began: apart_s * made as f64,
                    });
                }
            }
        }
        assert!(new_pair(&runs, &rounds).is_none());
        runs.map(|side| side.len())
    }

    #[test]
    fn nine_runs_are_twenty_comparisons() {
        assert_eq!(runs_for(20, 68.0), [5, 4]);
    }

    #[test]
    fn long_runs_are_compared_with_their_neighbours() {
        assert_eq!(runs_for(5, 2100.0), [3, 3]);
    }
}
