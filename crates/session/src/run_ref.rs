//! Loads stored runs and run documents by the references that users write.

use std::path::Path;

use yamba_record::{Benchmark, Run};
use yamba_store::{Detail, Listed, Store, import};

use super::select;
use super::{Failure, StoreChoice};

/// Length of a displayed id; longer only if several runs share the prefix.
const SHORT: usize = 8;

/// Loads runs by reference: a stored run or a document file.
pub struct Runs {
    choice: StoreChoice,
    /// Opened when the first stored run is loaded.
    store: Option<Store>,
}

impl Runs {
    /// Loads runs from this store and from files.
    pub fn new(choice: StoreChoice) -> Runs {
        Runs { choice, store: None }
    }

    /// Loads the document if `reference` names a file, otherwise the stored run. `detail` says how
    /// much of the run is read.
    pub fn load(&mut self, reference: &str, detail: Detail) -> Result<Run, Failure> {
        let path = Path::new(reference);
        if path.is_file() || is_folder(reference) {
            return Ok(import::read(path, import::LARGEST, detail)?);
        }
        if is_path(reference) {
            let why = if path.exists() { "it is no regular file" } else { "there is no such file" };
            return Err(Failure::new(format!("{reference}: {why}")).help(
                "name the file of a run's document, or a stored run: `yamba runs` lists them",
            ));
        }
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(self.choice.existing()?),
        };
        let id = store.find(reference)?;
        Ok(store.run(&id, detail)?)
    }
}

/// Whether `reference` means a folder with results of another program. A word without a slash may
/// be a tag.
fn is_folder(reference: &str) -> bool {
    reference.contains('/') && Path::new(reference).is_dir()
}

/// Whether `reference` means a file. Ids, tags and `latest~1` neither begin like a path nor end in
/// `.json`.
pub fn is_path(reference: &str) -> bool {
    Path::new(reference).is_file()
        || is_folder(reference)
        || reference.starts_with(['/', '.'])
        || reference.ends_with(".json")
}

/// Finds the stored run that `reference` means, with its summary for lists.
pub fn find(store: &mut Store, reference: &str) -> Result<Listed, Failure> {
    let id = store.find(reference)?;
    store.listed(&id)?.ok_or_else(|| {
        Failure::new(format!("{reference}: the run was removed meanwhile"))
            .help("`yamba runs` shows what there is")
    })
}

/// Keeps in each run only the entries that `names` select, by name or glob; without names, all. A
/// name that matches no entry of any run is an error.
pub fn choose(runs: &mut [&mut Run], names: &[String]) -> Result<(), Failure> {
    for name in names {
        let mut known = runs.iter().flat_map(|run| &run.benchmarks);
        let is_known = |found, b: &Benchmark| Ok::<_, Failure>(found | means(name, &b.name)?);
        if !known.try_fold(false, is_known)? {
            let runs: Vec<&Run> = runs.iter().map(|run| &**run).collect();
            return Err(unknown(name, &runs));
        }
    }
    for run in runs.iter_mut().filter(|_| !names.is_empty()) {
        let is_meant = |b: &Benchmark, name: &String| means(name, &b.name).is_ok_and(|m| m);
        run.benchmarks.retain(|b| names.iter().any(|name| is_meant(b, name)));
    }
    Ok(())
}

/// Whether `pattern` selects `name`. Equality is tested first, since a benchmark's name may contain
/// glob characters.
pub fn means(pattern: &str, name: &str) -> Result<bool, Failure> {
    if pattern == name || !pattern.contains(['*', '?', '[', '{']) {
        return Ok(pattern == name);
    }
    Ok(select::glob(pattern)?.is_match(name))
}

/// The failure for a name that no entry has.
pub fn unknown(name: &str, runs: &[&Run]) -> Failure {
    let entries = runs.iter().flat_map(|run| &run.benchmarks);
    let known: Vec<String> = entries.map(|b| b.name.clone()).collect();
    let who = match runs.len() {
        1 => "the run has no",
        _ => "neither run has a",
    };
    Failure::new(format!("{who} benchmark {name}")).help(
        select::did_you_mean(name, &known)
            .unwrap_or_else(|| "`yamba runs` shows what each run measured".to_owned()),
    )
}

/// The shortest prefix of `id`, at least `SHORT` characters long, that is unique among `ids`.
pub fn short<'a>(id: &'a str, ids: &[&str]) -> &'a str {
    let is_alone = |head: &&str| !ids.iter().any(|i| *i != id && i.starts_with(head));
    let heads = (SHORT..id.len()).filter_map(|n| id.get(..n));
    heads.into_iter().find(is_alone).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_id_is_shortest_unique_prefix() {
        let ids = ["0123456789abcdef", "0123456780abcdef", "fedcba9876543210"];
        assert_eq!(short(ids[0], &ids), "0123456789");
        assert_eq!(short(ids[2], &ids), "fedcba98");
        assert_eq!(short("x", &["x"]), "x");
    }

    #[test]
    fn exact_name_takes_precedence_over_glob() {
        assert!(means("statement/a[i]", "statement/a[i]").is_ok_and(|m| m));
        assert!(means("lat_*", "lat_pipe").is_ok_and(|m| m));
        assert!(means("lat_", "lat_pipe").is_ok_and(|m| !m));
        assert!(means("lat_[", "lat_pipe").is_err());
    }
}
