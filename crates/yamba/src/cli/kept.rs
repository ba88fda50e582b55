//! Runs that are kept, as a person names them and reads of them.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use yamba_record::{Benchmark, Run};
use yamba_report::Place;
use yamba_store::{Detail, Listed, Store, import};

use super::failure::Failure;
use super::select;
use super::store_option::{StoreOption, writable};

/// So much of an id is shown, and more only where several runs begin so.
const SHORT: usize = 8;

/// Runs that a person names: each is kept, or a document in a file.
pub(super) struct Runs<'a> {
    option: &'a StoreOption,
    /// Opened when the first run of it is wanted.
    store: Option<Store>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(option: &'a StoreOption) -> Runs<'a> {
        Runs {
            option,
            store: None,
        }
    }

    /// The document where there is a file of that name, else the run that is kept; as much of it as `detail` says.
    pub(super) fn load(&mut self, reference: &str, detail: Detail) -> Result<Run, Failure> {
        let path = Path::new(reference);
        if path.is_file() {
            return Ok(import::read(path, import::LARGEST, detail)?);
        }
        if is_path(reference) {
            let why = match path.exists() {
                true => "it is no regular file",
                false => "there is no such file",
            };
            return Err(Failure::new(format!("{reference}: {why}")).help(
                "name the file of a run's document, or a kept run: `yamba runs` lists them",
            ));
        }
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(self.option.existing()?),
        };
        let id = store.find(reference)?;
        Ok(store.run(&id, detail)?)
    }

    /// Where `load` reads it, as a command names it that is given elsewhere and another day.
    pub(super) fn place(&self, reference: &str) -> Result<Place, Failure> {
        if !is_path(reference) {
            return self.option.place();
        }
        let path = std::fs::canonicalize(reference).unwrap_or_else(|_| reference.into());
        Ok(Place::File(writable(path, "document")?))
    }
}

/// Whether a file is meant. Ids, tags and `latest~1` have neither the beginning of a path nor the ending of a document.
pub(super) fn is_path(reference: &str) -> bool {
    Path::new(reference).is_file()
        || reference.starts_with(['/', '.'])
        || reference.ends_with(".json")
}

/// The run that a person means, with what is listed of it.
pub(super) fn find(store: &mut Store, reference: &str) -> Result<Listed, Failure> {
    let id = store.find(reference)?;
    store.listed(&id)?.ok_or_else(|| {
        Failure::new(format!("{reference}: the run was removed meanwhile"))
            .help("`yamba runs` shows what there is")
    })
}

/// The whole document of a run that no store takes, in a file of its own among the temporary ones.
pub(super) fn rescue<B: Serialize>(run: &Run<B>) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new()
        .prefix(&format!("yamba-run-{}-", run.id))
        .suffix(".json")
        .tempfile()?;
    let mut out = BufWriter::new(&mut file);
    serde_json::to_writer(&mut out, run)?;
    out.flush()?;
    drop(out);
    Ok(file.keep().map_err(|e| e.error)?.1)
}

/// The beginning of an id that tells it from all of `ids`.
pub(super) fn short<'a>(id: &'a str, ids: &[&str]) -> &'a str {
    let is_alone = |head: &&str| !ids.iter().any(|i| *i != id && i.starts_with(head));
    let heads = (SHORT..id.len()).filter_map(|n| id.get(..n));
    heads.into_iter().find(is_alone).unwrap_or(id)
}

/// A moment; none if it is not known, or is none that a calendar has.
pub(super) fn moment(unix_s: Option<f64>) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis((unix_s? * 1e3).round() as i64)
}

/// As RFC 3339 writes it, in UTC.
pub(super) fn rfc3339(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Leaves of each run the entries that `names` mean, by name or glob; all of them without names. A name that means none in any run is an error.
pub(super) fn choose(runs: &mut [&mut Run], names: &[String]) -> Result<(), Failure> {
    for name in names {
        let mut known = runs.iter().flat_map(|run| &run.benchmarks);
        if !known.try_fold(false, |found, b| {
            Ok::<_, Failure>(found | means(name, &b.name)?)
        })? {
            return Err(unknown(
                name,
                &runs.iter().map(|r| &**r).collect::<Vec<_>>(),
            ));
        }
    }
    if !names.is_empty() {
        let is_meant = |b: &Benchmark| {
            names
                .iter()
                .any(|name| means(name, &b.name).is_ok_and(|m| m))
        };
        runs.iter_mut()
            .for_each(|run| run.benchmarks.retain(is_meant));
    }
    Ok(())
}

/// A benchmark's own name may hold what a glob would read otherwise.
pub(super) fn means(pattern: &str, name: &str) -> Result<bool, Failure> {
    if pattern == name || !pattern.contains(['*', '?', '[', '{']) {
        return Ok(pattern == name);
    }
    Ok(select::glob(pattern)?.is_match(name))
}

/// For a name that no entry has.
pub(super) fn unknown(name: &str, runs: &[&Run]) -> Failure {
    let entries = runs.iter().flat_map(|run| &run.benchmarks);
    let known: Vec<String> = entries.map(|b| b.name.clone()).collect();
    let who = if runs.len() == 1 {
        "the run has no"
    } else {
        "neither run has a"
    };
    Failure::new(format!("{who} benchmark {name}")).help(
        select::did_you_mean(name, &known)
            .unwrap_or_else(|| "`yamba runs` shows what each run measured".to_owned()),
    )
}

/// A text from a document that anybody may have written: nothing in it moves a terminal's cursor.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_as_short_as_it_can_be() {
        let ids = ["0123456789abcdef", "0123456780abcdef", "fedcba9876543210"];
        assert_eq!(short(ids[0], &ids), "0123456789");
        assert_eq!(short(ids[2], &ids), "fedcba98");
        assert_eq!(short("x", &["x"]), "x");
    }

    #[test]
    fn moments_are_told_in_utc() {
        let told = |s| moment(Some(s)).map(rfc3339);
        assert_eq!(told(1.7e9), Some("2023-11-14T22:13:20.000Z".to_owned()));
        assert_eq!(told(0.25), Some("1970-01-01T00:00:00.250Z".to_owned()));
        assert_eq!(told(1e300), None);
        assert_eq!(moment(None), None);
    }

    #[test]
    fn a_name_goes_before_a_glob() {
        assert!(means("statement/a[i]", "statement/a[i]").is_ok_and(|m| m));
        assert!(means("lat_*", "lat_pipe").is_ok_and(|m| m));
        assert!(means("lat_", "lat_pipe").is_ok_and(|m| !m));
        assert!(means("lat_[", "lat_pipe").is_err());
    }
}
