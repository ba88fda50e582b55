//! `yamba salvage`

use std::fs;
use std::path::PathBuf;

use clap::Args;
use yamba_store::{Location, Salvaged, salvage};

use super::Answer;
use super::failure::Failure;
use super::kept;
use super::output;
use super::store_option::StoreOption;

/// So many lost entries are named.
const NAMED: usize = 10;

/// Save what can still be read of a damaged store
///
/// Goes through a SQLite file run by run and entry by entry, and stores in another store what is certainly what was once written. The damaged file is not changed.
/// An undamaged one can be taken into another store in the same way. Meanwhile nothing may write the file.
#[derive(Args)]
#[command(after_help = "\
Examples:
  yamba salvage results.sqlite --store saved.sqlite
  yamba salvage results.sqlite --store postgresql://ann@server.example/benchmarks

Exit status: 0 all was saved, 1 something is lost, 2 nothing could be read.")]
pub(super) struct Salvage {
    /// The damaged file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreOption,
}

impl Salvage {
    pub(super) fn run(self) -> Result<Answer, Failure> {
        let place = self.file.display();
        if !self.file.is_file() {
            return Err(Failure::new(format!("{place}: there is no such file")));
        }
        if let Location::File(other) = self.store.location()?
            && fs::canonicalize(&other).ok() == fs::canonicalize(&self.file).ok()
        {
            return Err(Failure::new(format!("{place} is the store itself"))
                .help("name another, or a new file, with --store"));
        }
        let mut store = self.store.open()?;
        let mut text = String::new();
        let mut is_whole = true;
        salvage(&self.file, &mut store, |run| {
            is_whole &= run.is_whole();
            text.push_str(&told(&run));
        })?;
        if text.is_empty() {
            text = "no run is kept in it\n".to_owned();
        }
        output::result(&text)?;
        Ok(if is_whole { Answer::Done } else { Answer::No })
    }
}

/// A line for a run, and one for each thing that is lost.
fn told(run: &Salvaged) -> String {
    let id = kept::plain(&run.id);
    let mut text = match &run.refused {
        Some(why) => format!("{id}: not saved: {}\n", kept::plain(why)),
        None => format!("{id}: {} saved\n", entries(run.saved)),
    };
    let lost = run.lost.len() + run.nameless;
    if lost > 0 {
        let mut names: Vec<String> = run.lost.iter().map(|name| kept::plain(name)).collect();
        names.sort();
        names.dedup();
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("{more} other benchmarks"));
        }
        if run.nameless > 0 {
            names.push(format!(
                "{} whose names are lost too",
                entries(run.nameless)
            ));
        }
        text.push_str(&format!(
            "  lost: {} of {}\n",
            entries(lost),
            names.join(", ")
        ));
    }
    if run.lost_texts > 0 {
        text.push_str(&format!("  lost: {} of the source texts\n", run.lost_texts));
    }
    if run.unchecked > 0 {
        text.push_str(&format!(
            "  not checked: {} from before stores had checksums; figures may be wrong\n",
            entries(run.unchecked)
        ));
    }
    text
}

fn entries(n: usize) -> String {
    format!("{n} {}", if n == 1 { "entry" } else { "entries" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_named() {
        let run = Salvaged {
            id: "0a".to_owned(),
            saved: 1,
            lost: vec![
                "lat_b".to_owned(),
                "lat_a\x1b".to_owned(),
                "lat_b".to_owned(),
            ],
            nameless: 1,
            ..Salvaged::default()
        };
        assert_eq!(
            told(&run),
            "0a: 1 entry saved\n  lost: 4 entries of lat_a, lat_b, 1 entry whose names are lost too\n"
        );
    }
}
