//! `yamba salvage`

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use super::{Answer, Failure, StoreOption, output, run_ref};
use clap::Args;
use serde_json::{Value, json};
use yamba_store::{Location, Salvaged, Store};

/// At most this many lost entries are named.
const NAMED: usize = 10;

/// Copy what can still be read of a damaged store
///
/// Goes through a SQLite file run by run and entry by entry, and stores the entries whose checksums
/// match in another store. The damaged file is not changed. Meanwhile no program may write it. An
/// undamaged file can be copied to another store in the same way.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba salvage results.sqlite --store saved.sqlite
  yamba salvage results.sqlite --store postgresql://ann@server.example/benchmarks

Exit status: 0 all was saved, 1 something is lost, 2 nothing could be read.")]
pub(super) struct Salvage {
    /// The damaged file
    #[arg(value_name = "FILE")]
    from: OsString,
    /// One JSON document: {whole, runs}; each run with the number of saved entries and the names of
    /// lost ones
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOption,
}

impl Salvage {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let from = Location::parse(&self.from)?;
        let Location::File(path) = &from else {
            return Err(Failure::new(format!("{from} is a database, and salvage reads files"))
                .help("restore the database from a backup; `pg_dump --schema=yamba` writes what the server can still read"));
        };
        if !path.is_file() {
            return Err(Failure::new(format!("{from}: there is no such file"))
                .help("name the damaged store: without --store and YAMBA_STORE it is yamba/results.sqlite in your data folder"));
        }
        if is_same(&from, &self.store.choice().location()?) {
            return Err(Failure::new(format!("{from} is the store itself"))
                .help("name another, or a new file, with --store"));
        }
        // An unreadable file must not create a store.
        let Some(mut damaged) = Store::damaged(&from)? else {
            return Err(Failure::new(format!("{from} is empty: there is nothing in it to save"))
                .help(
                    "restore it from a backup; or remove it, and the next run makes a new store",
                ));
        };
        let runs = damaged.salvage(&mut self.store.choice().open()?)?;
        let is_whole = runs.iter().all(Salvaged::is_whole);
        let documents: Vec<Value> = runs.iter().map(document).collect();
        let document = json!({"whole": is_whole, "runs": documents});
        output::json_or_text(self.json, &document, |_| {
            if runs.is_empty() {
                return "no run was found in it\n".to_owned();
            }
            runs.iter().map(summary_of).collect()
        })?;
        Ok(if is_whole { Answer::Done } else { Answer::No })
    }
}

fn document(run: &Salvaged) -> Value {
    json!({
        "id": run.id,
        "whole": run.is_whole(),
        "saved": run.saved,
        "lost": run.lost,
        "nameless": run.nameless,
        "lost_texts": run.lost_texts,
        "refused": run.refused,
    })
}

fn is_same(a: &Location, b: &Location) -> bool {
    match (a, b) {
        (Location::File(a), Location::File(b)) => {
            fs::canonicalize(a).ok() == fs::canonicalize(b).ok()
        }
        _ => a.to_string() == b.to_string(),
    }
}

/// One line for the run, and one for each kind of loss.
fn summary_of(run: &Salvaged) -> String {
    let entries = |count| output::counted(count, "entry", "entries");
    let id = run_ref::plain(&run.id);
    let mut text = match &run.refused {
        Some(why) => format!("{id}: not saved: {}\n", run_ref::plain(why)),
        None => format!("{id}: {} saved\n", entries(run.saved)),
    };
    let lost = run.lost.len() + run.nameless;
    if lost > 0 {
        let names: BTreeSet<String> = run.lost.iter().map(|name| run_ref::plain(name)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let mut of = output::listed(&names, NAMED);
        if run.nameless > 0 {
            let separator = if of.is_empty() { "" } else { ", " };
            of += &format!("{separator}{} whose names are lost too", entries(run.nameless));
        }
        text += &format!("  lost: {} of {of}\n", entries(lost));
    }
    if run.lost_texts > 0 {
        text += &format!("  lost: {} of the source texts\n", run.lost_texts);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn salvage_names_lost_entries() {
        let run = Salvaged {
            id: "0a".to_owned(),
            saved: 1,
            lost: vec!["lat_b".to_owned(), "lat_a\x1b".to_owned(), "lat_b".to_owned()],
            nameless: 1,
            ..Salvaged::default()
        };
        assert_eq!(
            summary_of(&run),
            "0a: 1 entry saved\n  lost: 4 entries of lat_a, lat_b, 1 entry whose names are lost too\n"
        );
    }
}
